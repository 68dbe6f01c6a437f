//! What a capture on a host or on a link would hold: the headers of each packet that passes, for pcapng files.

use std::fmt::Write as _;
use std::net::Ipv4Addr;

use tcp::units::Time;

use crate::engine::trace::{Record, Sink};
use crate::ids::{FlowId, NodeId};
use crate::packet::wire::{Socket, headers};
use crate::packet::{Packet, Payload};

/// First port that is nobody's (RFC 6335 §6), and how many there are.
const DYNAMIC_PORTS: (u16, u32) = (49152, 16384);
const SINK_PORT: u16 = 5001;
/// 10.0.0.0/8, private (RFC 1918 §3).
const NETWORK: u32 = 10 << 24;

/// Where packets are seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CapturePoint {
    /// The nodes of transports: what they send and what they receive.
    Hosts,
    /// Links, as they begin to transmit.
    Links,
}

/// Writes the headers of each packet. Node n has the address 10.0.0.0 + n + 1; every flow has a port of its own.
#[derive(Debug)]
pub struct Capture {
    point: CapturePoint,
    flows: Vec<Ends>,
    lines: String,
}

/// Both ends of a flow.
#[derive(Clone, Copy, Debug)]
struct Ends {
    nodes: [NodeId; 2],
    sockets: [Socket; 2],
    /// The window scale that the SYN of each has offered; in force if both did (RFC 7323 §2.2).
    scales: [Option<u8>; 2],
}

impl Capture {
    /// A capture of flows with these sources and sinks (`Simulation::ends`).
    pub fn new(point: CapturePoint, ends: &[(NodeId, NodeId)]) -> Capture {
        let flows = (0..).zip(ends).map(|(flow, (source, sink))| Ends::new(flow, *source, *sink)).collect();
        Capture { point, flows, lines: String::from("point,t_ns,bytes,headers\n") }
    }

    fn packet(&mut self, now: Time, point: u32, packet: &Packet) {
        let ends = &mut self.flows[packet.to.flow().index()];
        let [from, to] = if packet.to.is_source() { [1, 0] } else { [0, 1] };
        if let Payload::Tcp(segment) = &packet.payload
            && let Some(syn) = segment.syn
        {
            ends.scales[from] = syn.window_scale;
        }
        let shift = ends.scales[to].and(ends.scales[from]).unwrap_or(0);
        let _ = write!(self.lines, "{point},{},{},", now.as_nanos(), packet.size.0);
        for byte in headers(packet, ends.sockets[from], ends.sockets[to], shift) {
            let _ = write!(self.lines, "{byte:02x}");
        }
        self.lines.push('\n');
    }
}

impl Ends {
    fn new(flow: u32, source: NodeId, sink: NodeId) -> Ends {
        let (first, count) = DYNAMIC_PORTS;
        let address = |node: NodeId| Ipv4Addr::from_bits(NETWORK + node.0 + 1);
        let ports = [first + (flow % count) as u16, SINK_PORT + (flow / count) as u16];
        let sockets =
            [(source, ports[0]), (sink, ports[1])].map(|(node, port)| Socket { address: address(node), port });
        Ends { nodes: [source, sink], sockets, scales: [None; 2] }
    }
}

impl Sink for Capture {
    fn record(&mut self, now: Time, record: &Record<'_>) {
        let end = |packet: &Packet, index: usize| self.flows[packet.to.flow().index()].nodes[index].0;
        match (self.point, record) {
            (CapturePoint::Hosts, Record::Sent { packet }) => {
                self.packet(now, end(packet, usize::from(packet.to.is_source())), packet);
            }
            (CapturePoint::Hosts, Record::Delivered { packet }) => self.packet(now, packet.destination.0, packet),
            (CapturePoint::Links, Record::Transmitted { packet, link }) => self.packet(now, link.0, packet),
            _ => {}
        }
    }

    fn open(&mut self, flow: FlowId, [source, sink]: [NodeId; 2]) {
        self.flows.push(Ends::new(flow.0, source, sink));
    }

    /// CSV: the node or the link, time, size of the datagram, headers as hexadecimal digits.
    fn finish(self: Box<Self>) -> String {
        self.lines
    }
}
