//! What a capture on a host, on a link or of a radio channel would hold: the headers of each packet or frame that passes, for
//! pcapng files.

mod ieee80211;
mod ieee802154;

use std::fmt::Write as _;

use tcp::units::Time;

use crate::engine::trace::{AirFrame, Mpdu, Record, Sink};
use crate::host::foreign::Foreign;
use crate::ids::{FlowId, NodeId};
use crate::packet::wire::{Socket, UDP, address, carried, headers, sockets};
use crate::packet::{Packet, Payload};
use crate::scenario::{ChannelDef, ScenarioError, Standard};
use crate::simulation::Simulation;
use crate::wireless::WirelessSubnet;
use ieee80211::Ieee80211;
use ieee802154::Ieee802154;

/// LINKTYPE_RAW: a packet begins with its IP header.
const RAW_IP: u16 = 101;
const HEXADECIMAL: &[u8; 16] = b"0123456789abcdef";

/// Where packets are seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CapturePoint {
    /// The nodes of transports: what they send and what they receive.
    Hosts,
    /// Links, as they begin to transmit.
    Links,
    /// Radio channels: every frame, as its transmission begins.
    Channels,
}

impl CapturePoint {
    /// The point with this name.
    pub fn named(name: &str) -> Option<CapturePoint> {
        match name {
            "hosts" => Some(CapturePoint::Hosts),
            "links" => Some(CapturePoint::Links),
            "channels" => Some(CapturePoint::Channels),
            _ => None,
        }
    }
}

/// Writes the headers of each packet or frame. Node n has the address 10.0.0.0 + n + 1; every flow has a port of its own.
#[derive(Debug)]
pub struct Capture {
    point: CapturePoint,
    flows: Flows,
    channels: Vec<Channel>,
    lines: String,
    /// The bytes of the packet that the next record is about, if they are carried.
    payload: Vec<u8>,
}

/// The flows by number.
#[derive(Debug)]
struct Flows(Vec<Ends>);

/// Both ends of a flow.
#[derive(Clone, Copy, Debug)]
struct Ends {
    nodes: [NodeId; 2],
    sockets: [Socket; 2],
    /// The window scale that the SYN of each has offered; in force if both did (RFC 7323 §2.2).
    scales: [Option<u8>; 2],
    /// Of a whole transport.
    protocol: u8,
}

/// How the frames of a radio channel are written.
#[derive(Debug)]
enum Channel {
    Dcf(Ieee80211),
    Lrwpan(Ieee802154),
}

/// A packet or frame as far as it is stored.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Captured {
    bytes: Vec<u8>,
    /// Bytes that follow.
    rest: u64,
}

impl Capture {
    /// A capture of this simulation.
    ///
    /// # Errors
    ///
    /// If it has no such place.
    pub fn new(point: CapturePoint, simulation: &Simulation) -> Result<Capture, ScenarioError> {
        let network = &simulation.world.network;
        let missing = match point {
            CapturePoint::Links if network.links.is_empty() => Some("has no links to capture at"),
            CapturePoint::Channels if network.channels.is_empty() => Some("has no radio channels to capture at"),
            CapturePoint::Hosts | CapturePoint::Links | CapturePoint::Channels => None,
        };
        if let Some(missing) = missing {
            return Err(ScenarioError::new("network", missing).with_hint("every network has hosts"));
        }
        let protocol = |flow: u32| simulation.world.hosts.flows[flow as usize].foreign().map_or(UDP, Foreign::protocol);
        let ends = |(flow, (source, sink))| Ends { protocol: protocol(flow), ..Ends::new(flow, source, sink) };
        let flows = (0..).zip(simulation.ends()).map(ends).collect();
        let channels = if point == CapturePoint::Channels { channels(simulation) } else { Vec::new() };
        let lines = String::from("point,link_type,t_ns,bytes,headers\n");
        Ok(Capture { point, flows: Flows(flows), channels, lines, payload: Vec::new() })
    }

    fn packet(&mut self, now: Time, point: u32, packet: &Packet) {
        let bytes = match packet.payload {
            Payload::Udp(datagram) if datagram.carried => self.flows.carried(packet, &self.payload),
            _ => self.flows.headers(packet),
        };
        let rest = packet.size.0.saturating_sub(bytes.len() as u64);
        self.line(now, point, RAW_IP, &Captured { bytes, rest });
    }

    fn frame(&mut self, now: Time, frame: &AirFrame, mpdus: &[Mpdu]) {
        let (link_type, seen) = match &mut self.channels[frame.channel as usize] {
            Channel::Dcf(dcf) => (ieee80211::LINK_TYPE, dcf.frames(now, frame, mpdus, &self.flows)),
            Channel::Lrwpan(lrwpan) => (ieee802154::LINK_TYPE, vec![lrwpan.frame(frame)]),
        };
        seen.iter().for_each(|captured| self.line(now, frame.channel, link_type, captured));
    }

    fn line(&mut self, now: Time, point: u32, link_type: u16, Captured { bytes, rest }: &Captured) {
        let size = bytes.len() as u64 + rest;
        let _ = write!(self.lines, "{point},{link_type},{},{size},", now.as_nanos());
        // Formatted one by one they would take most of the time of a run.
        let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
        self.lines.extend(digits.map(|digit| char::from(HEXADECIMAL[usize::from(digit)])));
        self.lines.push('\n');
    }
}

/// The channels of a simulation.
fn channels(simulation: &Simulation) -> Vec<Channel> {
    let world = &simulation.world;
    let channel = |index: u32, subnet: &WirelessSubnet, def: &ChannelDef| {
        let nodes = subnet.nodes.clone();
        if def.radio.standard == Some(Standard::Lrwpan) {
            return Channel::Lrwpan(Ieee802154::new(index, &def.radio, nodes));
        }
        let is_access_point =
            |station| subnet.access_points().is_some_and(|access_points| access_points.is_access_point(station));
        let access_points = subnet.stations().map(is_access_point).collect();
        Channel::Dcf(Ieee80211::new(index, &def.radio, nodes, access_points))
    };
    let defined = world.network.channels.iter().zip(&world.graph.channel);
    (0..).zip(defined).map(|(index, (subnet, def))| channel(index, subnet, def)).collect()
}

impl Ends {
    fn new(flow: u32, source: NodeId, sink: NodeId) -> Ends {
        let sockets = sockets(flow, [source, sink]);
        Ends { nodes: [source, sink], sockets, scales: [None; 2], protocol: UDP }
    }
}

impl Flows {
    fn of(&self, packet: &Packet) -> &Ends {
        &self.0[packet.to.flow().index()]
    }

    /// Takes note of what a SYN offers.
    fn on_sent(&mut self, packet: &Packet) {
        if let Payload::Tcp(segment) = &packet.payload
            && let Some(syn) = segment.syn
        {
            self.0[packet.to.flow().index()].scales[usize::from(packet.to.is_source())] = syn.window_scale;
        }
    }

    /// A packet with the bytes that it carries.
    fn carried(&self, packet: &Packet, payload: &[u8]) -> Vec<u8> {
        let Ends { sockets, protocol, .. } = *self.of(packet);
        let [from, to] = if packet.to.is_source() { [1, 0] } else { [0, 1] };
        carried(packet, sockets[from], sockets[to], protocol, payload)
    }

    /// The headers of a packet from IPv4 on.
    fn headers(&self, packet: &Packet) -> Vec<u8> {
        let Ends { sockets, scales, .. } = self.of(packet);
        let [from, to] = if packet.to.is_source() { [1, 0] } else { [0, 1] };
        let shift = scales[to].and(scales[from]).unwrap_or(0);
        headers(packet, sockets[from], sockets[to], shift)
    }
}

impl Sink for Capture {
    fn record(&mut self, now: Time, record: &Record<'_>) {
        if let Record::Sent { packet } = record {
            self.flows.on_sent(packet);
        }
        match (self.point, record) {
            (CapturePoint::Hosts, Record::Sent { packet }) => {
                let end = usize::from(packet.to.is_source());
                self.packet(now, self.flows.of(packet).nodes[end].0, packet);
            }
            (CapturePoint::Hosts, Record::Delivered { packet }) => self.packet(now, packet.destination.0, packet),
            (CapturePoint::Links, Record::Transmitted { packet, link }) => self.packet(now, link.0, packet),
            (CapturePoint::Channels, Record::Frame { frame, mpdus }) => self.frame(now, frame, mpdus),
            _ => {}
        }
    }

    fn payload(&mut self, bytes: &[u8]) {
        self.payload.clear();
        self.payload.extend(bytes);
    }

    fn open(&mut self, flow: FlowId, [source, sink]: [NodeId; 2], protocol: u8) {
        self.flows.0.push(Ends { protocol, ..Ends::new(flow.0, source, sink) });
    }

    /// CSV: the node, link or channel, link type of pcapng, time, size, headers as hexadecimal digits.
    fn finish(self: Box<Self>) -> String {
        self.lines
    }
}
