//! Packets and the slab they live in.

use tcp::units::{Bytes, Time};
use tcp::{Ecn, Segment};

use crate::event::{EndpointId, NodeId};

/// Index of a packet in the slab; used again after the packet is gone.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct PacketId(u32);

/// Nodes that may pass a packet on (RFC 1700).
pub(crate) const TTL: u8 = 64;

/// What a packet carries.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Payload {
    /// A TCP segment.
    Tcp(Segment),
    /// A UDP datagram of this many payload bytes.
    Udp(Bytes),
}

/// A network-layer packet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Packet {
    /// Who gets it; names the flow as well.
    pub to: EndpointId,
    /// Where that is.
    pub destination: NodeId,
    /// Size of the IP datagram.
    pub size: Bytes,
    /// When the transport handed it to the network.
    pub sent_at: Time,
    /// Its bytes have been sent before.
    pub retransmission: bool,
    /// Nodes that may still pass it on.
    pub ttl: u8,
    /// What it carries.
    pub payload: Payload,
}

impl Packet {
    /// Application bytes carried.
    pub fn payload_bytes(&self) -> Bytes {
        match &self.payload {
            Payload::Tcp(segment) => Bytes(u64::from(segment.len)),
            Payload::Udp(bytes) => *bytes,
        }
    }

    /// The ECN field of its IP header (RFC 3168 §5). Datagrams of UDP do not take marks.
    pub fn ecn(&self) -> Ecn {
        match &self.payload {
            Payload::Tcp(segment) => segment.ecn,
            Payload::Udp(_) => Ecn::NotEct,
        }
    }

    /// True if it carries application bytes.
    pub fn has_data(&self) -> bool {
        self.payload_bytes() > Bytes::ZERO
    }
}

/// Why the network did not deliver a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DropReason {
    /// The queue was full.
    Queue,
    /// The medium lost it.
    Loss,
    /// The link was down, or went down under it.
    LinkDown,
    /// No route to the destination.
    NoRoute,
    /// The queue's discipline dropped it to keep the queue short.
    Aqm,
    /// The MAC gave up: too many attempts.
    Retry,
    /// It had waited too long for its turn.
    Expired,
    /// It had passed too many nodes.
    Ttl,
    /// It waited for a route: too long, or with too many others.
    RouteWait,
    /// It waited for the address of the next station.
    Arp,
    /// It waited at an access point for a station that has joined another.
    Handoff,
    /// The medium was busy at every assessment (802.15.4).
    Access,
    /// It did not fit into a frame, or into the fragments that a link takes.
    TooLong,
    /// Some of its fragments never came.
    Reassembly,
}

impl DropReason {
    /// All of them, in the order of their counters.
    pub const ALL: [DropReason; 14] = [
        DropReason::Queue,
        DropReason::Loss,
        DropReason::LinkDown,
        DropReason::NoRoute,
        DropReason::Aqm,
        DropReason::Retry,
        DropReason::Expired,
        DropReason::Ttl,
        DropReason::RouteWait,
        DropReason::Arp,
        DropReason::Handoff,
        DropReason::Access,
        DropReason::TooLong,
        DropReason::Reassembly,
    ];

    /// As written in tables.
    pub fn name(self) -> &'static str {
        match self {
            DropReason::Queue => "queue",
            DropReason::Loss => "loss",
            DropReason::LinkDown => "link_down",
            DropReason::NoRoute => "no_route",
            DropReason::Aqm => "aqm",
            DropReason::Retry => "retry",
            DropReason::Expired => "expired",
            DropReason::Ttl => "ttl",
            DropReason::RouteWait => "route_wait",
            DropReason::Arp => "arp",
            DropReason::Handoff => "handoff",
            DropReason::Access => "access",
            DropReason::TooLong => "too_long",
            DropReason::Reassembly => "reassembly",
        }
    }
}

/// The packets that exist.
#[derive(Debug, Default)]
pub(crate) struct Slab {
    packets: Vec<Packet>,
    /// Parallel to `packets`: true while the packet exists.
    alive: Vec<bool>,
    free: Vec<PacketId>,
}

impl Slab {
    /// Takes a packet in.
    pub(crate) fn insert(&mut self, packet: Packet) -> PacketId {
        match self.free.pop() {
            Some(id) => {
                self.packets[id.0 as usize] = packet;
                self.alive[id.0 as usize] = true;
                id
            }
            None => {
                let id = u32::try_from(self.packets.len()).expect("fewer than 2^32 packets exist at once");
                self.packets.push(packet);
                self.alive.push(true);
                PacketId(id)
            }
        }
    }

    /// Gives a packet up.
    pub(crate) fn remove(&mut self, id: PacketId) -> Packet {
        debug_assert!(self.alive[id.0 as usize], "a packet leaves the network once");
        self.alive[id.0 as usize] = false;
        self.free.push(id);
        self.packets[id.0 as usize]
    }

    /// A packet that exists.
    pub(crate) fn get(&self, id: PacketId) -> &Packet {
        debug_assert!(self.alive[id.0 as usize], "the packet has left the network");
        &self.packets[id.0 as usize]
    }

    /// One node more has a packet; false if it has passed too many.
    pub(crate) fn pass_on(&mut self, id: PacketId) -> bool {
        let ttl = &mut self.packets[id.0 as usize].ttl;
        *ttl = ttl.saturating_sub(1);
        *ttl > 0
    }

    /// No more than `most` nodes may still pass a packet on.
    pub(crate) fn limit_ttl(&mut self, id: PacketId, most: u8) {
        let ttl = &mut self.packets[id.0 as usize].ttl;
        *ttl = most.min(*ttl);
    }

    /// Sets CE in a packet that takes marks; gives the packet as it is then.
    pub(crate) fn mark(&mut self, id: PacketId) -> Packet {
        let packet = &mut self.packets[id.0 as usize];
        if let Payload::Tcp(segment) = &mut packet.payload {
            segment.ecn = Ecn::Ce;
        }
        *packet
    }

    /// The packets that exist now.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Packet> {
        self.packets.iter().zip(&self.alive).filter_map(|(packet, alive)| alive.then_some(packet))
    }
}
