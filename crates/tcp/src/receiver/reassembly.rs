//! Reassembly: what has arrived in order and beyond gaps, and how that is reported (RFC 2018 §4, RFC 2883).

use std::collections::VecDeque;

use crate::segment::Sack;

/// Numbers `[start, end)`.
pub(crate) type Stretch = (u64, u64);

/// What has arrived.
/// Fields lie in memory as written, those of every segment together.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Reassembly {
    /// Next number expected.
    pub(crate) rcv_nxt: u64,
    /// Received twice and not yet reported.
    duplicate: Option<Stretch>,
    /// Stretches received beyond a gap: sorted, apart from each other. They go at the front and come at the back, thousands
    /// of them where a long queue has overflown.
    beyond: VecDeque<Stretch>,
    /// Those of them last reported, latest first; an empty one ends the list.
    reported: [Stretch; Reassembly::REPORTED],
}

impl Reassembly {
    /// Room for blocks in the SACK option (RFC 2018 §3).
    const REPORTED: usize = 4;

    pub(crate) fn new(rcv_nxt: u64) -> Reassembly {
        Reassembly { rcv_nxt, beyond: VecDeque::new(), reported: Default::default(), duplicate: None }
    }

    /// True while something is missing.
    pub(crate) fn has_gap(&self) -> bool {
        !self.beyond.is_empty()
    }

    /// Takes a stretch that reaches beyond `rcv_nxt` and begins at or before it. True if it closed or shortened a gap.
    pub(crate) fn advance(&mut self, start: u64, end: u64) -> bool {
        if start < self.rcv_nxt {
            self.duplicate = Some((start, self.rcv_nxt));
        }
        let had_gap = self.has_gap();
        // RFC 2883 §4.2: what lies beyond the gap and has come a second time.
        if let Some(first) = self.beyond.front().filter(|first| first.0 < end) {
            self.duplicate = Some((first.0, end.min(first.1)));
        }
        self.rcv_nxt = end;
        if had_gap {
            self.absorb();
        }
        had_gap
    }

    /// Moves past stretches that the gap no longer separates.
    #[inline(never)]
    fn absorb(&mut self) {
        let touched = self.beyond.partition_point(|range| range.0 <= self.rcv_nxt);
        for (_, end) in self.beyond.drain(..touched) {
            self.rcv_nxt = self.rcv_nxt.max(end);
        }
        let rcv_nxt = self.rcv_nxt;
        self.keep_reported(|range| range.0 > rcv_nxt);
    }

    /// Takes a stretch beyond a gap. True if all of it was there already.
    #[inline(never)]
    pub(crate) fn insert(&mut self, start: u64, end: u64) -> bool {
        let from = self.beyond.partition_point(|range| range.1 < start);
        let to = self.beyond.partition_point(|range| range.0 <= end);
        let touched = || self.beyond.range(from..to);
        // RFC 2883 §4.1.2, §4.2: the part received twice; of several parts the first.
        let overlap = |range: &Stretch| (start.max(range.0), end.min(range.1));
        self.duplicate = touched().map(overlap).find(|part| part.0 < part.1).or(self.duplicate);
        let known = touched().any(|range| range.0 <= start && end <= range.1);
        let merged = touched().fold((start, end), |m, r| (m.0.min(r.0), m.1.max(r.1)));
        if from == to {
            self.beyond.insert(from, merged);
        } else {
            self.beyond[from] = merged;
            self.beyond.drain(from + 1..to);
        }
        self.report_first(merged);
        known
    }

    /// Notes a stretch that has been acknowledged before.
    pub(crate) fn on_duplicate(&mut self, start: u64, end: u64) {
        self.duplicate = Some((start, end));
    }

    /// RFC 2018 §4: the block around the segment that brings the ACK comes first, then those reported before it.
    fn report_first(&mut self, first: Stretch) {
        self.keep_reported(|range| range.1 < first.0 || first.1 < range.0);
        self.reported.rotate_right(1);
        self.reported[0] = first;
    }

    fn keep_reported(&mut self, keep: impl Fn(&Stretch) -> bool) {
        let mut kept = [Stretch::default(); Reassembly::REPORTED];
        let still = self.reported.iter().filter(|range| range.1 > 0 && keep(range));
        kept.iter_mut().zip(still).for_each(|(slot, range)| *slot = *range);
        self.reported = kept;
    }

    /// True if there is a duplicate or something beyond a gap to report.
    pub(crate) fn has_report(&self) -> bool {
        self.duplicate.is_some() || self.has_gap()
    }

    /// The SACK option of an ACK that leaves now, of at most `room` blocks. A duplicate is reported once (RFC 2883 §4).
    #[inline(never)]
    pub(crate) fn report(&mut self, room: usize) -> Sack {
        let mut sack = Sack::default();
        let blocks = self.reported.into_iter().filter(|range| range.1 > 0);
        for (start, end) in self.duplicate.take().into_iter().chain(blocks).take(room) {
            sack.push(start, end);
        }
        sack
    }
}

#[cfg(test)]
mod tests;
