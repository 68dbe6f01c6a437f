//! Reassembly: data received in order and out of order, and the SACK option that reports it (RFC 2018 §4, RFC 2883).

use std::collections::VecDeque;

use crate::segment::Sack;
use crate::seq::{SeqNo, SeqRange};

/// The received sequence space.
#[derive(Clone, Debug)]
// Hot fields first; see connection.rs.
#[repr(C)]
pub(crate) struct Reassembly {
    /// RCV.NXT: next sequence number expected.
    pub(crate) rcv_nxt: SeqNo,
    /// A duplicate received and not yet reported (RFC 2883).
    dsack: Option<SeqRange>,
    /// What was received beyond a gap; absent before the first gap.
    beyond: Option<Box<Beyond>>,
}

/// What was received beyond a gap.
#[derive(Clone, Debug, Default)]
struct Beyond {
    /// Ranges: sorted, disjoint. They leave at the front and arrive at the back, thousands of them after a long queue has overflowed.
    ranges: VecDeque<SeqRange>,
    /// The most recently reported of them, latest first; an empty one ends the list.
    reported: [SeqRange; Reassembly::MAX_BLOCKS],
    /// The option of an ACK that was held back and leaves now.
    released: Option<Sack>,
}

impl Reassembly {
    /// Maximum number of blocks in the SACK option (RFC 2018 §3).
    const MAX_BLOCKS: usize = 4;
    /// Blocks that one more ACK tells again, in case this one is lost.
    const KEPT_BLOCKS: usize = 2;

    pub(crate) fn new(rcv_nxt: SeqNo) -> Reassembly {
        Reassembly { rcv_nxt, beyond: None, dsack: None }
    }

    /// True while a gap is open.
    pub(crate) fn has_gap(&self) -> bool {
        self.beyond.as_ref().is_some_and(|beyond| !beyond.ranges.is_empty())
    }

    /// True if all of a range has been received.
    pub(crate) fn has(&self, range: SeqRange) -> bool {
        let held = |beyond: &Beyond| {
            let after = beyond.ranges.partition_point(|held| held.start <= range.start);
            after > 0 && beyond.ranges[after - 1].contains(range)
        };
        range.end <= self.rcv_nxt || self.beyond.as_deref().is_some_and(held)
    }

    /// Adds a range that begins at or before `rcv_nxt` and ends beyond it. True if it filled a gap in part or whole.
    pub(crate) fn advance(&mut self, SeqRange { start, end }: SeqRange) -> bool {
        let had_gap = self.has_gap();
        // RFC 2883 §4.2.3: of several parts that had been received already the first is reported.
        let beyond = self.beyond.as_ref().and_then(|beyond| beyond.ranges.front()).filter(|first| first.start < end);
        if start < self.rcv_nxt {
            self.dsack = Some(SeqRange::new(start, self.rcv_nxt));
        } else if let Some(first) = beyond {
            self.dsack = Some(SeqRange::new(first.start, end.min(first.end)));
        }
        self.rcv_nxt = end;
        if had_gap {
            self.absorb();
        }
        had_gap
    }

    /// Advances `rcv_nxt` over the ranges that now follow it without a gap.
    #[inline(never)]
    fn absorb(&mut self) {
        let Some(beyond) = &mut self.beyond else { return };
        let touched = beyond.ranges.partition_point(|range| range.start <= self.rcv_nxt);
        for range in beyond.ranges.drain(..touched) {
            self.rcv_nxt = self.rcv_nxt.max(range.end);
        }
        let rcv_nxt = self.rcv_nxt;
        beyond.retain_reported(|range| range.start > rcv_nxt);
    }

    /// Adds a range beyond a gap. True if all of it had been received already.
    #[inline(never)]
    pub(crate) fn insert(&mut self, new: SeqRange) -> bool {
        let beyond = self.beyond.get_or_insert_default();
        let from = beyond.ranges.partition_point(|range| range.end < new.start);
        let to = beyond.ranges.partition_point(|range| range.start <= new.end);
        let touched = || beyond.ranges.range(from..to);
        // RFC 2883 §4.1.2, §4.2: the part received twice; the first of several.
        let overlap = |range: &SeqRange| SeqRange::new(new.start.max(range.start), new.end.min(range.end));
        self.dsack = touched().map(overlap).find(|part| !part.is_empty()).or(self.dsack);
        let known = touched().any(|range| range.contains(new));
        let merged =
            touched().fold(new, |all, range| SeqRange::new(all.start.min(range.start), all.end.max(range.end)));
        if from == to {
            beyond.ranges.insert(from, merged);
        } else {
            beyond.ranges[from] = merged;
            beyond.ranges.drain(from + 1..to);
        }
        beyond.put_first(merged);
        known
    }

    /// True if neither of the two blocks reported first takes in a range: an ACK that was held back would tell less of them once the range
    /// is in front (Linux since 5.8, `TCP_SACK_BLOCKS_EXPECTED`).
    pub(crate) fn displaces(&self, new: SeqRange) -> bool {
        let apart = |range: &SeqRange| !range.is_empty() && (range.end < new.start || new.end < range.start);
        self.beyond.as_ref().is_some_and(|beyond| beyond.reported[..Reassembly::KEPT_BLOCKS].iter().all(apart))
    }

    /// Keeps the option of an ACK that leaves before the next range is added.
    pub(crate) fn release(&mut self) {
        let sack = self.sack_option(Reassembly::MAX_BLOCKS);
        if let Some(beyond) = &mut self.beyond {
            beyond.released = Some(sack);
        }
    }

    /// The option of an ACK that was held back and leaves now.
    pub(crate) fn take_released(&mut self) -> Option<Sack> {
        self.beyond.as_mut()?.released.take()
    }

    /// Records the duplicate of a range below `rcv_nxt`.
    pub(crate) fn on_duplicate(&mut self, range: SeqRange) {
        self.dsack = Some(range);
    }

    /// A duplicate not yet reported is not reported any more.
    pub(crate) fn forget_duplicate(&mut self) {
        self.dsack = None;
    }

    /// True if an ACK would carry a SACK option.
    pub(crate) fn has_sack(&self) -> bool {
        self.dsack.is_some() || self.has_gap()
    }

    /// The SACK option of the next ACK, in at most `room` blocks. A duplicate is reported once (RFC 2883 §4).
    #[inline(never)]
    pub(crate) fn sack_option(&mut self, room: usize) -> Sack {
        let mut sack = Sack::default();
        let reported = self.beyond.iter().flat_map(|beyond| beyond.reported);
        let blocks = reported.filter(|range| !range.is_empty());
        for range in self.dsack.take().into_iter().chain(blocks).take(room) {
            sack.push(range);
        }
        sack
    }
}

impl Beyond {
    /// RFC 2018 §4: the block that contains the segment that triggered the ACK comes first, then those reported before.
    fn put_first(&mut self, first: SeqRange) {
        self.retain_reported(|range| range.end < first.start || first.end < range.start);
        self.reported.rotate_right(1);
        self.reported[0] = first;
    }

    fn retain_reported(&mut self, keep: impl Fn(&SeqRange) -> bool) {
        let mut kept = [SeqRange::default(); Reassembly::MAX_BLOCKS];
        let still = self.reported.iter().filter(|range| !range.is_empty() && keep(range));
        kept.iter_mut().zip(still).for_each(|(slot, range)| *slot = *range);
        self.reported = kept;
    }
}

#[cfg(test)]
mod tests;
