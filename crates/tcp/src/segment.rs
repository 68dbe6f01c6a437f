//! A TCP segment, always parsed. Payload is counted, not carried.
//!
//! Sequence numbers are 64 bits and start at 0 with the SYN, so the first data byte is number 1. Wrapping is not what
//! this laboratory studies (`docs/models.md`); exporters wrap.

use crate::units::Bytes;

/// Control bits of RFC 9293 §3.1 that the model uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Flags(u8);

impl Flags {
    /// Synchronise: opens a direction and occupies one sequence number.
    pub const SYN: Flags = Flags(1);
    /// The acknowledgment field is valid.
    pub const ACK: Flags = Flags(2);
    /// No more data from the sender; occupies one sequence number.
    pub const FIN: Flags = Flags(4);
    /// Reset: the connection is gone.
    pub const RST: Flags = Flags(8);

    /// Both sets of bits.
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }

    /// True if every bit of `other` is set.
    pub const fn contains(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }
}

/// One TCP segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Segment {
    /// Number of the first byte (or of the SYN or FIN).
    pub seq: u64,
    /// Next byte expected from the other side; valid with [`Flags::ACK`].
    pub ack: u64,
    /// Payload bytes.
    pub len: u32,
    /// Control bits.
    pub flags: Flags,
    /// Advertised receive window in bytes, scaling already applied.
    pub window: Bytes,
}

impl Segment {
    /// Bytes of a TCP header without options (RFC 9293 §3.1).
    pub const HEADER: Bytes = Bytes(20);

    /// Sequence numbers occupied: payload, plus one each for SYN and FIN.
    pub fn sequence_len(&self) -> u64 {
        let occupies = |flag| u64::from(self.flags.contains(flag));
        u64::from(self.len) + occupies(Flags::SYN) + occupies(Flags::FIN)
    }

    /// The sequence number after this segment.
    pub fn end(&self) -> u64 {
        self.seq + self.sequence_len()
    }
}
