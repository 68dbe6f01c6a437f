//! Sizes of network-layer and transport-layer headers.

use tcp::units::Bytes;

/// IPv4 without options (RFC 791 §3.1).
pub(crate) const IP_HEADER: Bytes = Bytes(20);
/// RFC 768.
pub(crate) const UDP_HEADER: Bytes = Bytes(8);
