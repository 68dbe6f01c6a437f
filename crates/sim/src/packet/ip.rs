//! Network-layer packets.

use tcp::units::{Bytes, Time};
use tcp::{Ecn, Segment};

use crate::ids::{EndpointId, NodeId};

/// The payload of a packet.
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
