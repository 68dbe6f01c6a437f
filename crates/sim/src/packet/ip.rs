//! Network-layer packets.

use tcp::units::{Bytes, Time};
use tcp::{Ecn, Segment};

use crate::ids::{EndpointId, NodeId};

/// The payload of a packet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Payload {
    /// A TCP segment.
    Tcp(Segment),
    /// A UDP datagram.
    Udp(Datagram),
}

/// A UDP datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Datagram {
    /// Payload bytes.
    pub bytes: Bytes,
    /// The ECN field of its IP header.
    pub ecn: Ecn,
    /// Its number among those that an application numbers, from 0; of a carried one that of its payload.
    pub number: u64,
    /// Its bytes are those of a whole transport, and not zeros.
    pub carried: bool,
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
            Payload::Udp(datagram) => datagram.bytes,
        }
    }

    /// The ECN field of its IP header (RFC 3168 §5).
    pub fn ecn(&self) -> Ecn {
        match &self.payload {
            Payload::Tcp(segment) => segment.ecn,
            Payload::Udp(datagram) => datagram.ecn,
        }
    }

    /// True if it carries application bytes.
    pub fn has_data(&self) -> bool {
        self.payload_bytes() > Bytes::ZERO
    }
}
