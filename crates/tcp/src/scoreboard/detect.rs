//! Marking what is lost: by duplicate ACKs, by SACK (RFC 6675), by time (RFC 8985), by a time-out.

use super::rack_timeout::{RackTimeout, RackVerdict};
use super::{LostSegment, Retransmission, Scoreboard, SentSegment};
use crate::told::{LossTrigger, Told};
use crate::units::{Bytes, Span, Time};

/// What a search for lost segments found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Detected {
    /// A retransmission was among what is lost: what had been delivered in all when the last such was sent.
    pub(crate) retransmission: Option<Bytes>,
    /// Some segments will be lost if nothing more arrives for this long.
    pub(crate) wait: Option<Span>,
}

impl Scoreboard {
    /// Marks the oldest segment lost, even if it was sent again already.
    pub(crate) fn mark_head_lost(&mut self, trigger: LossTrigger) {
        if !self.segments.is_empty() {
            self.mark(0, trigger);
        }
    }

    /// Marks the oldest segment lost unless it is already.
    pub(crate) fn mark_head_lost_once(&mut self) {
        if self.segments.front().is_some_and(|head| !head.lost) {
            self.mark(0, LossTrigger::ReorderingThreshold);
        }
    }

    /// Marks everything lost: go-back-N, as after a time-out without SACK (RFC 5681 §3.1).
    pub(crate) fn mark_all_lost(&mut self, trigger: LossTrigger) {
        (0..self.segments.len()).for_each(|index| self.mark(index, trigger));
    }

    /// After a time-out: marks the oldest segment lost and everything sent `timeout` ago or earlier (RFC 8985 §6.3);
    /// without `timeout` everything.
    pub(crate) fn mark_lost_by_time_out(&mut self, now: Time, timeout: Option<Span>) {
        for index in 0..self.segments.len() {
            let old = timeout.is_none_or(|timeout| self.segments[index].sent_at + timeout <= now);
            if index == 0 || old {
                self.mark(index, LossTrigger::PtoExpired);
            }
        }
    }

    /// Marks what lies below more than `threshold - 1` segments of reported data (RFC 6675 §4, IsLost).
    pub(crate) fn mark_lost_by_sack(&mut self, threshold: u32, mss: Bytes) {
        let enough = mss.0 * u64::from(threshold.saturating_sub(1));
        let (mut above, mut stretches, mut in_stretch) = (0, 0, false);
        // Above the highest report nothing is, and of thousands in flight most may lie there.
        let end = self.index_from(self.highest_sacked());
        let mut is_below = |sent: &SentSegment| {
            stretches += u32::from(sent.sacked && !in_stretch);
            in_stretch = sent.sacked;
            above += if sent.sacked { sent.bytes() } else { 0 };
            !sent.sacked && (above > enough || stretches >= threshold)
        };
        let first = self.first_undecided.min(end);
        let Some(offset) = self.segments.range(first..end).rev().position(&mut is_below) else { return };
        let last = end - 1 - offset;
        for index in self.first_undecided..=last {
            let sent = &self.segments[index];
            if !sent.sacked && !sent.lost {
                self.mark(index, LossTrigger::ReorderingThreshold);
            }
        }
        self.first_undecided = self.first_undecided.max(last + 1);
    }

    /// Marks the segments that RACK considers lost (RFC 8985 §6.2 step 5).
    pub(crate) fn mark_lost_by_time(&mut self, rack: &RackTimeout) -> Detected {
        let mut found = Detected::default();
        self.judge_originals(rack, &mut found);
        self.judge_retransmissions(rack, &mut found);
        found
    }

    fn judge_originals(&mut self, rack: &RackTimeout, found: &mut Detected) {
        let mut all_decided = true;
        for index in self.first_undecided..self.segments.len() {
            let sent = &self.segments[index];
            if sent.transmissions == 1 {
                let verdict = rack.judge(sent.order());
                if verdict == RackVerdict::SentLater {
                    break;
                }
                if !sent.sacked && !sent.lost {
                    match verdict {
                        RackVerdict::Wait(wait) => {
                            found.wait = found.wait.max(Some(wait));
                            all_decided = false;
                        }
                        _ => self.mark(index, LossTrigger::TimeThreshold),
                    }
                }
            }
            if all_decided {
                self.first_undecided = index + 1;
            }
        }
    }

    fn judge_retransmissions(&mut self, rack: &RackTimeout, found: &mut Detected) {
        let mut kept = 0;
        while let Some(&Retransmission { seq, sent_at }) = self.retransmissions.get(kept) {
            let index = self.index_from(seq);
            let current = |sent: &&SentSegment| sent.seq == seq && sent.sent_at == sent_at && sent.retransmitted;
            let Some(sent) = self.segments.get(index).filter(current) else {
                self.retransmissions.remove(kept);
                continue;
            };
            match rack.judge(sent.order()) {
                RackVerdict::SentLater => break,
                RackVerdict::Wait(wait) => {
                    found.wait = found.wait.max(Some(wait));
                    kept += 1;
                }
                RackVerdict::Lost => {
                    found.retransmission = found.retransmission.max(Some(sent.tx.delivered));
                    self.retransmissions.remove(kept);
                    self.mark(index, LossTrigger::TimeThreshold);
                }
            }
        }
    }

    /// Clears all loss marks (an undone episode); retransmissions stay in the network.
    pub(crate) fn unmark_lost(&mut self) {
        self.segments.iter_mut().for_each(|sent| sent.lost = false);
        self.lost = 0;
        self.first_unrepaired = 0;
        self.first_undecided = 0;
    }

    pub(super) fn mark(&mut self, index: usize, trigger: LossTrigger) {
        let sent = &mut self.segments[index];
        if sent.sacked || sent.is_unrepaired() {
            return;
        }
        self.first_unrepaired = self.first_unrepaired.min(index);
        let bytes = sent.bytes();
        self.lost += if sent.lost { 0 } else { bytes };
        self.retransmitted -= if sent.retransmitted { bytes } else { 0 };
        self.lost_total += bytes;
        sent.lost = true;
        sent.retransmitted = false;
        let (seq, bytes, sent_at, tx) = (sent.seq, Bytes(bytes), sent.sent_at, sent.tx);
        self.newly_lost.push(LostSegment { seq, bytes, sent_at, tx, lost_total: Bytes(self.lost_total) });
        self.tell(Told::Lost { seq, bytes, sent_at, trigger });
    }
}
