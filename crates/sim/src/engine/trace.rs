//! The trace: one record for each thing that happens to a packet, given to a [`Sink`].

use std::fmt::{Debug, Write as _};

use tcp::units::{Bytes, Rate, Span, Time};
use tcp::{Flags, Segment, Told};

use crate::ids::{FlowId, LinkId, NodeId};
use crate::packet::message::Message;
use crate::packet::{DropReason, Packet, Payload};

/// Something that happened to a packet.
#[derive(Clone, Copy, Debug)]
pub enum Record<'a> {
    /// A transport handed it to the network.
    Sent {
        /// The packet.
        packet: &'a Packet,
    },
    /// A link began to transmit it.
    Transmitted {
        /// The packet.
        packet: &'a Packet,
        /// The link.
        link: LinkId,
    },
    /// The queue of a link marked it CE.
    Marked {
        /// The packet.
        packet: &'a Packet,
        /// The link.
        link: LinkId,
    },
    /// It was lost.
    Dropped {
        /// The packet.
        packet: &'a Packet,
        /// Why.
        reason: DropReason,
        /// The link that it was on, if any.
        link: Option<LinkId>,
    },
    /// Its destination received it.
    Delivered {
        /// The packet.
        packet: &'a Packet,
    },
    /// A station of a channel began to send a frame.
    Frame {
        /// The frame.
        frame: AirFrame,
        /// The MPDUs in it that carry something, several of an A-MPDU.
        mpdus: &'a [Mpdu],
    },
}

impl<'a> Record<'a> {
    /// The packet that it is about.
    pub(super) fn packet(&self) -> Option<&'a Packet> {
        match *self {
            Record::Sent { packet }
            | Record::Transmitted { packet, .. }
            | Record::Marked { packet, .. }
            | Record::Dropped { packet, .. }
            | Record::Delivered { packet } => Some(packet),
            Record::Frame { .. } => None,
        }
    }

    /// This record about another packet.
    pub(super) fn about<'b>(&self, packet: &'b Packet) -> Record<'b>
    where
        'a: 'b,
    {
        match *self {
            Record::Sent { .. } => Record::Sent { packet },
            Record::Transmitted { link, .. } => Record::Transmitted { packet, link },
            Record::Marked { link, .. } => Record::Marked { packet, link },
            Record::Dropped { reason, link, .. } => Record::Dropped { packet, reason, link },
            Record::Delivered { .. } => Record::Delivered { packet },
            Record::Frame { frame, mpdus } => Record::Frame { frame, mpdus },
        }
    }
}

/// A frame on the air.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AirFrame {
    /// Index of the channel in the expanded scenario.
    pub channel: u32,
    /// Its sender: an index into the channel's stations.
    pub from: u32,
    /// Its receiver; none for a broadcast.
    pub to: Option<u32>,
    /// What it is for.
    pub kind: FrameKind,
    /// Counts the data frames of the sender; a retransmission keeps its number. 0 for the other kinds.
    pub sequence: u32,
    /// Size of the network-layer packet in it; of 802.15.4, where it may be cut, of the frame itself.
    pub size: Bytes,
    /// Its rate.
    pub rate: Rate,
    /// Its airtime.
    pub airtime: Span,
    /// How long it reserves the medium after its end: the Duration field of 802.11.
    pub duration: Span,
}

/// An MPDU that carries something.
#[derive(Clone, PartialEq, Debug)]
pub struct Mpdu {
    /// A retransmission keeps its number.
    pub sequence: u32,
    /// Size of the network-layer packet in it.
    pub size: Bytes,
    pub(crate) content: MpduContent,
}

/// What an MPDU carries.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum MpduContent {
    Packet(Packet),
    /// What the receiver already has: the acknowledgment of an earlier transmission was lost.
    Repeated,
    Message(Message),
}

/// What a frame is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FrameKind {
    /// Request to send.
    Rts,
    /// Clear to send.
    Cts,
    /// Acknowledgment.
    Ack,
    /// Data, of users or of routing.
    Data,
    /// Block acknowledgment (802.11n).
    BlockAck {
        /// Everything below has been received or given up.
        start: u32,
        /// Bit i tells of `start + i`.
        received: u64,
    },
    /// Request for one.
    BlockAckRequest {
        /// The oldest sequence number that is asked about.
        start: u32,
    },
}

impl FrameKind {
    /// As written in logs.
    pub fn name(self) -> &'static str {
        match self {
            FrameKind::Rts => "rts",
            FrameKind::Cts => "cts",
            FrameKind::Ack => "ack",
            FrameKind::Data => "data",
            FrameKind::BlockAck { .. } => "block_ack",
            FrameKind::BlockAckRequest { .. } => "block_ack_request",
        }
    }
}

/// A consumer of records.
pub trait Sink: Debug + Send {
    /// Receives one record.
    fn record(&mut self, now: Time, record: &Record<'_>);
    /// The bytes of the packet that the next record is about, if they are carried: those of a whole transport.
    fn payload(&mut self, _bytes: &[u8]) {}
    /// The source of a flow has found out something.
    fn told(&mut self, _now: Time, _flow: FlowId, _told: &Told) {}
    /// A flow of a workload arrives, between these nodes, with this protocol number of IP. Its own number, which its packets have
    /// in records, is the next one.
    fn open(&mut self, _flow: FlowId, _ends: [NodeId; 2], _protocol: u8) {}
    /// A link has made a copy of a packet, which goes its own way from now on.
    fn copied(&mut self, _packet: &Packet) {}
    /// Returns what was gathered, as text.
    fn finish(self: Box<Self>) -> String;
}

/// Writes a line per record: the debugger of a run.
#[derive(Debug, Default)]
pub struct TextLog(String);

/// Hashes every record of a packet: the fingerprint of a run.
#[derive(Debug)]
pub struct HashLog(u64);

impl Default for HashLog {
    fn default() -> HashLog {
        // Offset basis of FNV-1a.
        HashLog(0xcbf2_9ce4_8422_2325)
    }
}

impl Sink for TextLog {
    fn record(&mut self, now: Time, record: &Record<'_>) {
        let line = match record {
            Record::Sent { packet } => format!("{now} sent        {}", Show(packet)),
            Record::Transmitted { packet, link } => format!("{now} transmitted {} link={}", Show(packet), link.0),
            Record::Marked { packet, link } => format!("{now} marked      {} link={}", Show(packet), link.0),
            Record::Dropped { packet, reason, link } => {
                let on_link = link.map_or(String::new(), |l| format!(" link={}", l.0));
                format!("{now} dropped     {} reason={}{on_link}", Show(packet), reason.name())
            }
            Record::Delivered { packet } => format!("{now} delivered   {}", Show(packet)),
            Record::Frame { frame, .. } => {
                let to = frame.to.map_or("all".into(), |to| to.to_string());
                let AirFrame { channel, from, sequence, size, rate, airtime, .. } = frame;
                let kind = frame.kind.name();
                format!(
                    "{now} frame       channel={channel} {from} > {to} {kind} {sequence} {}B {rate} {airtime}",
                    size.0
                )
            }
        };
        let _ = writeln!(self.0, "{line}");
    }

    fn told(&mut self, now: Time, flow: FlowId, told: &Told) {
        let line = match told {
            Told::Lost { seq, bytes, trigger, .. } => {
                format!("lost        flow={} {seq}({}) {}", flow.0, bytes.0, trigger.name())
            }
            Told::Congestion(cause) => format!("congestion  flow={} {}", flow.0, cause.name()),
        };
        let _ = writeln!(self.0, "{now} {line}");
    }

    fn finish(self: Box<Self>) -> String {
        self.0
    }
}

impl Sink for HashLog {
    fn record(&mut self, now: Time, record: &Record<'_>) {
        let (kind, packet, detail) = match record {
            Record::Sent { packet } => (1, packet, 0),
            Record::Transmitted { packet, link } => (2, packet, u64::from(link.0)),
            Record::Dropped { packet, reason, .. } => (3, packet, *reason as u64),
            Record::Delivered { packet } => (4, packet, 0),
            Record::Marked { packet, link } => (5, packet, u64::from(link.0)),
            // The fingerprint covers packets, not the frames that carry them.
            Record::Frame { .. } => return,
        };
        let number = match &packet.payload {
            Payload::Tcp(segment) => segment.seq.0 ^ segment.ack.0.rotate_left(32),
            Payload::Udp(datagram) => datagram.bytes.0,
        };
        for word in [kind, now.as_nanos(), u64::from(packet.to.0), packet.size.0, number, detail] {
            self.0 = (self.0 ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(29);
        }
    }

    fn finish(self: Box<Self>) -> String {
        format!("{:016x}", self.0)
    }
}

/// Prints a packet.
struct Show<'a>(&'a Packet);

impl std::fmt::Display for Show<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let packet = self.0;
        let towards = if packet.to.is_source() { "<" } else { ">" };
        write!(f, "flow={} {towards} {}B", packet.to.flow().0, packet.size.0)?;
        match &packet.payload {
            Payload::Tcp(segment) => {
                write!(f, " {} {}:{}({})", flags(segment), segment.seq, segment.end(), segment.len)?;
                if segment.flags.contains(Flags::ACK) { write!(f, " ack {}", segment.ack) } else { Ok(()) }
            }
            Payload::Udp(datagram) if datagram.carried => write!(f, " native({})", datagram.bytes.0),
            Payload::Udp(datagram) => write!(f, " udp({})", datagram.bytes.0),
        }
    }
}

fn flags(segment: &Segment) -> String {
    let mut text = String::new();
    for (flag, letter) in [(Flags::SYN, 'S'), (Flags::FIN, 'F'), (Flags::ACK, '.')] {
        if segment.flags.contains(flag) {
            text.push(letter);
        }
    }
    text
}
