//! Packets, and why they are lost. They live in the slab of `store.rs`.

pub(crate) mod header;
pub(crate) mod message;
mod store;

use tcp::units::{Bytes, Time};
use tcp::{Ecn, Segment};

use crate::ids::{EndpointId, NodeId};

pub(crate) use store::{ForwardingHeader, PacketStore};

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

/// What a packet says whatever it carries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PacketHeader {
    pub(crate) to: EndpointId,
    pub(crate) destination: NodeId,
    pub(crate) size: Bytes,
    pub(crate) sent_at: Time,
    pub(crate) retransmission: bool,
    pub(crate) ttl: u8,
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
    Reassociation,
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
        DropReason::Reassociation,
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
            DropReason::Reassociation => "reassociation",
            DropReason::Access => "access",
            DropReason::TooLong => "too_long",
            DropReason::Reassembly => "reassembly",
        }
    }
}
