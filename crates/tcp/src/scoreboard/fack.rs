//! Forward acknowledgment: how far below the highest report a segment lies decides. The agent of Linux has it.

use super::Scoreboard;
use crate::seq::SeqNo;
use crate::told::LossTrigger;
use crate::units::Bytes;

impl Scoreboard {
    /// Marks what was sent once and begins at least `reach` before `highest`, the end of the highest report.
    pub(crate) fn mark_lost_before(&mut self, highest: SeqNo, reach: Bytes) {
        while self.segments.get(self.first_undecided).is_some_and(|sent| sent.seq + reach <= highest) {
            let sent = &self.segments[self.first_undecided];
            if !sent.sacked && !sent.lost {
                self.mark(self.first_undecided, LossTrigger::ReorderingThreshold);
            }
            self.first_undecided += 1;
        }
    }

    /// Marks the segment at `seq`.
    pub(crate) fn mark_lost_at(&mut self, seq: SeqNo) {
        self.mark(self.index_from(seq), LossTrigger::ReorderingThreshold);
    }

    /// True if the outstanding segment at `seq` has been reported.
    pub(crate) fn is_sacked(&self, seq: SeqNo) -> bool {
        self.segments.get(self.index_from(seq)).is_some_and(|sent| sent.sacked)
    }

    /// Forgets all that was reported, marked and sent again: what is outstanding counts as in the network.
    pub(crate) fn forget_reports(&mut self) {
        self.unmark_lost();
        self.forget_sacked();
        self.segments.iter_mut().for_each(|sent| sent.retransmitted = false);
        self.retransmitted = 0;
    }
}
