//! The header of a packet, and the sizes of network-layer and transport-layer headers.

use tcp::units::{Bytes, Time};

use crate::ids::{EndpointId, NodeId};

/// IPv4 without options (RFC 791 §3.1).
pub(crate) const IP_HEADER: Bytes = Bytes(20);
/// RFC 768.
pub(crate) const UDP_HEADER: Bytes = Bytes(8);
/// Initial TTL (RFC 1700).
pub(crate) const TTL: u8 = 64;

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
