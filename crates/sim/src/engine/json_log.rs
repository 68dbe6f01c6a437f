//! The trace as JSON lines, for programs: one object a record, with the names and units that the summary has.

use std::fmt::Write as _;

use serde::Serialize;
use tcp::units::Time;
use tcp::{Ecn, Flags, Told};

use super::trace::{AirFrame, Record, Sink};
use crate::ids::FlowId;
use crate::packet::{Packet, Payload};

const FLAGS: [(Flags, &str); 8] = [
    (Flags::SYN, "syn"),
    (Flags::FIN, "fin"),
    (Flags::ACK, "ack"),
    (Flags::RST, "rst"),
    (Flags::PSH, "psh"),
    (Flags::ECE, "ece"),
    (Flags::CWR, "cwr"),
    (Flags::AE, "ae"),
];

/// Writes a JSON object per record and line.
#[derive(Debug, Default)]
pub struct JsonLog(String);

/// What stands in a line about a packet.
#[derive(Serialize)]
struct PacketLine<'a> {
    t_s: f64,
    event: &'a str,
    flow: u32,
    /// The end of the flow that it is for.
    towards: &'a str,
    size_bytes: u64,
    /// When its transport sent it: with flow, direction and numbers this tells packets apart.
    sent_at_s: f64,
    retransmission: bool,
    #[serde(flatten)]
    transport: Transport,
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

/// The header of the transport layer. Numbers of TCP count from 0, the SYN.
#[derive(Serialize)]
#[serde(tag = "transport", rename_all = "lowercase")]
enum Transport {
    Tcp {
        flags: Vec<&'static str>,
        seq: u64,
        payload_bytes: u32,
        ack: Option<u64>,
        window_bytes: u64,
        /// Start and end of each SACK block.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        sack: Vec<(u64, u64)>,
        /// ECN field of the IP header.
        #[serde(skip_serializing_if = "Option::is_none")]
        ecn: Option<&'static str>,
    },
    Udp {
        payload_bytes: u64,
    },
    /// Of a whole transport that is not ours.
    Native {
        payload_bytes: u64,
    },
}

/// What stands in a line about what a source has found out.
#[derive(Serialize)]
struct ToldLine {
    t_s: f64,
    flow: u32,
    #[serde(flatten)]
    told: ToldEvent,
}

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
enum ToldEvent {
    /// It marks a segment lost.
    Lost { seq: u64, payload_bytes: u64, sent_at_s: f64, trigger: &'static str },
    /// It takes something as a sign of congestion.
    Congestion { cause: &'static str },
}

/// What stands in a line about a frame.
#[derive(Serialize)]
struct FrameLine<'a> {
    t_s: f64,
    event: &'a str,
    channel: u32,
    from: u32,
    /// Nothing for a broadcast.
    to: Option<u32>,
    kind: &'a str,
    sequence: u32,
    size_bytes: u64,
    rate_bps: u64,
    airtime_s: f64,
}

impl Sink for JsonLog {
    fn record(&mut self, now: Time, record: &Record<'_>) {
        let line = match *record {
            Record::Sent { packet } => line(now, "sent", packet, None, None),
            Record::Transmitted { packet, link } => line(now, "transmitted", packet, Some(link.0), None),
            Record::Marked { packet, link } => line(now, "marked", packet, Some(link.0), None),
            Record::Dropped { packet, reason, link } => {
                line(now, "dropped", packet, link.map(|link| link.0), Some(reason.name()))
            }
            Record::Delivered { packet } => line(now, "delivered", packet, None, None),
            Record::Frame { frame, .. } => frame_line(now, &frame),
        };
        let _ = writeln!(self.0, "{line}");
    }

    fn told(&mut self, now: Time, flow: FlowId, told: &Told) {
        let told = match *told {
            Told::Lost { seq, bytes, sent_at, trigger } => ToldEvent::Lost {
                seq: seq.0,
                payload_bytes: bytes.0,
                sent_at_s: sent_at.as_secs_f64(),
                trigger: trigger.name(),
            },
            Told::Congestion(cause) => ToldEvent::Congestion { cause: cause.name() },
        };
        let line = ToldLine { t_s: now.as_secs_f64(), flow: flow.0, told };
        let line = serde_json::to_string(&line).expect("a line is plain data");
        let _ = writeln!(self.0, "{line}");
    }

    fn finish(self: Box<Self>) -> String {
        self.0
    }
}

fn line(now: Time, event: &str, packet: &Packet, link: Option<u32>, reason: Option<&str>) -> String {
    let transport = match &packet.payload {
        Payload::Tcp(segment) => {
            let flags = FLAGS.iter().filter(|(flag, _)| segment.flags.contains(*flag)).map(|(_, name)| *name).collect();
            Transport::Tcp {
                flags,
                seq: segment.seq.0,
                payload_bytes: segment.len,
                ack: segment.flags.contains(Flags::ACK).then_some(segment.ack.0),
                window_bytes: segment.window.0,
                sack: segment.sack.blocks().map(|block| (block.start.0, block.end.0)).collect(),
                ecn: match segment.ecn {
                    Ecn::NotEct => None,
                    Ecn::Ect1 => Some("ect1"),
                    Ecn::Ect0 => Some("ect0"),
                    Ecn::Ce => Some("ce"),
                },
            }
        }
        Payload::Udp(datagram) if datagram.carried => Transport::Native { payload_bytes: datagram.bytes.0 },
        Payload::Udp(datagram) => Transport::Udp { payload_bytes: datagram.bytes.0 },
    };
    let line = PacketLine {
        t_s: now.as_secs_f64(),
        event,
        flow: packet.to.flow().0,
        towards: if packet.to.is_source() { "source" } else { "sink" },
        size_bytes: packet.size.0,
        sent_at_s: packet.sent_at.as_secs_f64(),
        retransmission: packet.retransmission,
        transport,
        link,
        reason,
    };
    serde_json::to_string(&line).expect("a line is plain data")
}

fn frame_line(now: Time, frame: &AirFrame) -> String {
    let line = FrameLine {
        t_s: now.as_secs_f64(),
        event: "frame",
        channel: frame.channel,
        from: frame.from,
        to: frame.to,
        kind: frame.kind.name(),
        sequence: frame.sequence,
        size_bytes: frame.size.0,
        rate_bps: frame.rate.as_bps(),
        airtime_s: frame.airtime.as_secs_f64(),
    };
    serde_json::to_string(&line).expect("a line is plain data")
}
