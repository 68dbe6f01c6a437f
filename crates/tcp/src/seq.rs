//! Sequence numbers and ranges of them.
//!
//! They are 64 bits wide and start at 0 with the SYN: they do not wrap (`docs/models.md`).

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

use crate::units::Bytes;

/// A sequence number of one direction; a FIN and a SYN occupy one each.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct SeqNo(pub u64);

/// The sequence numbers from `start` to before `end`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SeqRange {
    /// The first number.
    pub start: SeqNo,
    /// The number after the last.
    pub end: SeqNo,
}

impl SeqNo {
    /// The number of the SYN.
    pub const SYN: SeqNo = SeqNo(0);
    /// The number of the first data byte.
    pub const FIRST_DATA: SeqNo = SeqNo(1);

    /// Sequence numbers from `earlier` to this one; none if it is not earlier.
    pub const fn since(self, earlier: SeqNo) -> Bytes {
        Bytes(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Bytes> for SeqNo {
    type Output = SeqNo;

    #[inline]
    fn add(self, bytes: Bytes) -> SeqNo {
        SeqNo(self.0 + bytes.0)
    }
}

impl AddAssign<Bytes> for SeqNo {
    #[inline]
    fn add_assign(&mut self, bytes: Bytes) {
        self.0 += bytes.0;
    }
}

impl Sub for SeqNo {
    type Output = Bytes;

    #[inline]
    fn sub(self, earlier: SeqNo) -> Bytes {
        Bytes(self.0 - earlier.0)
    }
}

impl fmt::Display for SeqNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl SeqRange {
    /// From `start` to before `end`.
    pub const fn new(start: SeqNo, end: SeqNo) -> SeqRange {
        SeqRange { start, end }
    }

    /// True if it holds no number.
    pub fn is_empty(self) -> bool {
        self.start >= self.end
    }

    /// How many numbers it holds.
    pub const fn len(self) -> Bytes {
        self.end.since(self.start)
    }

    /// True if all of `other` lies inside.
    pub fn contains(self, other: SeqRange) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}

impl fmt::Display for SeqRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.start, self.end)
    }
}
