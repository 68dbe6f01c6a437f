//! Packets, and the reasons why they are dropped.

pub(crate) mod header;
pub(crate) mod message;
mod store;

use tcp::units::{Bytes, Time};
use tcp::{Ecn, Segment};

use crate::ids::{EndpointId, NodeId};

pub(crate) use store::{ForwardingHeader, PacketStore};

/// Initial TTL (RFC 1700).
pub(crate) const TTL: u8 = 64;

/// The payload of a packet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Payload {
    /// A TCP segment.
    Tcp(Segment),
    /// A UDP datagram of this many payload bytes.
    Udp(Bytes),
}

/// The header of a packet, whatever its payload.
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
    /// The receiving endpoint; identifies the flow as well.
    pub to: EndpointId,
    /// The node of that endpoint.
    pub destination: NodeId,
    /// Size of the IP datagram.
    pub size: Bytes,
    /// Time at which the transport sent it.
    pub sent_at: Time,
    /// True if its bytes have been sent before.
    pub retransmission: bool,
    /// Time to live, in hops.
    pub ttl: u8,
    /// Its payload.
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

    /// The ECN field of its IP header (RFC 3168 §5). UDP datagrams are not ECN-capable.
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

/// Why the network dropped a packet.
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
    /// Active queue management dropped it (RFC 7567).
    Aqm,
    /// The MAC reached its retry limit.
    Retry,
    /// Its lifetime in the queue of a station expired.
    Expired,
    /// Its TTL expired.
    Ttl,
    /// It waited for a route too long, or with too many others.
    RouteWait,
    /// It waited for address resolution of the next hop.
    Arp,
    /// It waited at an access point for a station that has associated with another.
    Handoff,
    /// Channel access failure: every CCA found the medium busy (IEEE 802.15.4).
    Access,
    /// It did not fit into a frame, or into the fragments that the link allows.
    TooLong,
    /// Its reassembly timed out.
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
