//! A TCP segment in parsed form, with the ECN field of the IP packet that carries it. Payload is counted, not carried.
//!
//! Sequence numbers are 64 bits and start at 0 with the SYN, so the first data byte is number 1. They do not wrap
//! (`docs/models.md`); exporters wrap them. Options are fields; [`Segment::header`] is their size on the wire.

use crate::seq::{SeqNo, SeqRange};
use crate::units::Bytes;

/// Control bits of RFC 9293 §3.1 that the model uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Flags(u8);

impl Flags {
    /// Synchronize sequence numbers; occupies one sequence number.
    pub const SYN: Flags = Flags(1);
    /// The acknowledgment field is valid.
    pub const ACK: Flags = Flags(2);
    /// No more data from sender; occupies one sequence number.
    pub const FIN: Flags = Flags(4);
    /// Reset the connection.
    pub const RST: Flags = Flags(8);
    /// ECN echo: congestion was experienced (RFC 3168 §6.1); lowest bit of the ACE counter with AccECN (RFC 9768).
    pub const ECE: Flags = Flags(16);
    /// Congestion window reduced (RFC 3168 §6.1.2); middle bit of the ACE counter with AccECN.
    pub const CWR: Flags = Flags(32);
    /// Accurate ECN (RFC 9768 §3.1); highest bit of the ACE counter.
    pub const AE: Flags = Flags(64);
    /// Push: the sender had no more to send at this moment (RFC 9293 §3.9.1.2).
    pub const PSH: Flags = Flags(128);

    /// Both sets of bits.
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }

    /// Those bits that are in `mask`.
    pub const fn only(self, mask: Flags) -> Flags {
        Flags(self.0 & mask.0)
    }

    /// True if every bit of `other` is set.
    pub const fn contains(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// True if any bit of `other` is set.
    pub(crate) const fn intersects(self, other: Flags) -> bool {
        self.0 & other.0 != 0
    }
}

/// The ECN field of the IP header (RFC 3168 §5), with its two bits there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ecn {
    /// Not ECN-capable.
    #[default]
    NotEct = 0b00,
    /// ECN-capable, with L4S semantics (RFC 9331).
    Ect1 = 0b01,
    /// ECN-capable.
    Ect0 = 0b10,
    /// Congestion experienced: marked by a queue.
    Ce = 0b11,
}

impl Ecn {
    /// The two bits.
    #[inline]
    pub const fn field(self) -> u8 {
        self as u8
    }

    /// What the lower two bits of the byte of the traffic class say.
    #[inline]
    pub fn of_field(byte: u8) -> Ecn {
        [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][usize::from(byte & 0b11)]
    }
}

/// The timestamps option (RFC 7323 §3), in milliseconds of the sender's clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timestamps {
    /// TSval: when the segment was sent.
    pub value: u32,
    /// TSecr: the peer's TSval that it echoes.
    pub echo: u32,
}

/// The SACK option (RFC 2018): up to four blocks `[start, end)`. The first may report a duplicate (RFC 2883).
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Sack {
    /// Start of the first block; the others are stored by their distance, to keep segments small.
    base: SeqNo,
    /// Distances of start and end from `base`.
    blocks: [(i32, i32); 4],
    len: u8,
}

impl std::fmt::Debug for Sack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.blocks()).finish()
    }
}

impl Sack {
    /// Adds a block; false if the option is full, or if the block is more than 2 GiB from the first.
    pub fn push(&mut self, range: SeqRange) -> bool {
        let base = if self.len == 0 { range.start } else { self.base };
        let distance = |number: SeqNo| i32::try_from(number.0.wrapping_sub(base.0) as i64);
        let free = self.blocks.get_mut(usize::from(self.len));
        let (Some(block), Ok(start), Ok(end)) = (free, distance(range.start), distance(range.end)) else {
            return false;
        };
        self.base = base;
        *block = (start, end);
        self.len += 1;
        true
    }

    /// The blocks in order.
    pub fn blocks(&self) -> impl ExactSizeIterator<Item = SeqRange> + '_ {
        let number = |distance: i32| SeqNo(self.base.0.wrapping_add_signed(i64::from(distance)));
        self.blocks[..usize::from(self.len)].iter().map(move |(start, end)| SeqRange::new(number(*start), number(*end)))
    }

    /// At most so many of the blocks, the first ones.
    pub(crate) fn first(mut self, most: usize) -> Sack {
        self.len = self.len.min(most as u8);
        self
    }

    /// True if there are no blocks.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// Options that only a SYN carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SynOptions {
    /// Largest payload its sender accepts in a segment without options (RFC 9293 §3.7.1).
    pub mss: u32,
    /// Window scale shift (RFC 7323 §2).
    pub window_scale: Option<u8>,
    /// SACK may be used (RFC 2018 §2).
    pub sack_permitted: bool,
}

/// The AccECN option (RFC 9768 §3.2.3): payload bytes received by ECN field, since the start. Counts wrap.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EcnBytes {
    /// With ECT(0).
    pub ect0: u32,
    /// With CE.
    pub ce: u32,
    /// With ECT(1).
    pub ect1: u32,
}

/// One TCP segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Segment {
    /// SEG.SEQ: sequence number of the first byte (or of the SYN or FIN).
    pub seq: SeqNo,
    /// SEG.ACK: next sequence number expected from the peer; valid with [`Flags::ACK`].
    pub ack: SeqNo,
    /// Payload bytes.
    pub len: u32,
    /// Control bits.
    pub flags: Flags,
    /// ECN field of the IP packet.
    pub ecn: Ecn,
    /// SEG.WND: advertised window in bytes, scaling applied.
    pub window: Bytes,
    /// Timestamps option.
    pub timestamps: Option<Timestamps>,
    /// SACK option; empty if absent.
    pub sack: Sack,
    /// Options of a SYN.
    pub syn: Option<SynOptions>,
    /// AccECN option.
    pub ecn_bytes: Option<EcnBytes>,
}

impl Segment {
    /// Size of a TCP header without options (RFC 9293 §3.1).
    pub const BARE_HEADER: Bytes = Bytes(20);
    /// Size of the timestamps option, padded.
    pub const TIMESTAMPS: Bytes = Bytes(12);
    /// Size of the AccECN option with three counters, padded.
    pub const ECN_BYTES: Bytes = Bytes(12);

    /// Size of the TCP header with its options, each padded to four bytes as senders do.
    pub fn header(&self) -> Bytes {
        let timestamps = if self.timestamps.is_some() { Segment::TIMESTAMPS } else { Bytes::ZERO };
        let has_others = !self.sack.is_empty() || self.ecn_bytes.is_some() || self.syn.is_some();
        Segment::BARE_HEADER + timestamps + if has_others { self.other_options() } else { Bytes::ZERO }
    }

    /// Size of the options other than timestamps.
    #[inline(never)]
    fn other_options(&self) -> Bytes {
        let optional = |present: bool, bytes: u64| if present { bytes } else { 0 };
        let blocks = self.sack.blocks().len() as u64;
        let mut options =
            optional(blocks > 0, 4 + 8 * blocks) + optional(self.ecn_bytes.is_some(), Segment::ECN_BYTES.0);
        if let Some(syn) = self.syn {
            // SACK-permitted fits into the padding of the timestamps.
            let alone = syn.sack_permitted && self.timestamps.is_none();
            options += 4 + optional(syn.window_scale.is_some(), 4) + optional(alone, 4);
        }
        Bytes(options)
    }

    /// Maximum number of SACK blocks beside the other options, which share 40 bytes (RFC 9293 §3.1).
    pub(crate) fn max_sack_blocks(&self) -> usize {
        let options = self.header() - Segment::BARE_HEADER;
        ((40 - options.0 - 4) / 8) as usize
    }

    /// Sequence numbers occupied: payload, plus one each for SYN and FIN.
    pub fn sequence_len(&self) -> Bytes {
        let occupies = |flag| u64::from(self.flags.contains(flag));
        Bytes(u64::from(self.len) + occupies(Flags::SYN) + occupies(Flags::FIN))
    }

    /// The sequence number after this segment.
    pub fn end(&self) -> SeqNo {
        self.seq + self.sequence_len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_lengths_are_those_on_the_wire() {
        let timestamps = Some(Timestamps { value: 1, echo: 2 });
        let mut segment = Segment::default();
        assert_eq!(segment.header(), Bytes(20));
        segment.timestamps = timestamps;
        assert_eq!(segment.header(), Bytes(32));
        for blocks in 1..=3 {
            assert!(segment.sack.push(SeqRange::new(SeqNo(blocks * 10), SeqNo(blocks * 10 + 5))));
            assert_eq!(segment.header(), Bytes(36 + 8 * blocks));
        }
        let syn = SynOptions { mss: 1460, window_scale: Some(7), sack_permitted: true };
        let full = Segment { timestamps, syn: Some(syn), ..Segment::default() };
        assert_eq!(full.header(), Bytes(40));
        assert_eq!(Segment { timestamps: None, ..full }.header(), Bytes(32));
    }

    #[test]
    fn a_fifth_block_is_refused() {
        let mut sack = Sack::default();
        for i in 0..5 {
            assert_eq!(sack.push(SeqRange::new(SeqNo(i), SeqNo(i + 1))), i < 4);
        }
        assert_eq!(sack.blocks().count(), 4);
    }
}
