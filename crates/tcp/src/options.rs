//! What the two ends agree on in the handshake (RFC 9293 §3.7.1, RFC 7323, RFC 2018, RFC 3168).

use crate::config::{EcnMode, TcpConfig};
use crate::units::Bytes;

/// The outcome of the handshake for one end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Agreed {
    /// Largest payload of a segment to the other side.
    pub(crate) mss: Bytes,
    /// SACK may be used.
    pub(crate) sack: bool,
    /// Every segment carries timestamps.
    pub(crate) timestamps: bool,
    /// How marks are echoed.
    pub(crate) ecn: EcnMode,
}

impl Agreed {
    /// Everything that `config` would offer.
    pub(crate) fn all(config: &TcpConfig) -> Agreed {
        Agreed { mss: config.mss, sack: config.sack, timestamps: config.timestamps, ecn: config.ecn }
    }
}
