//! Marking what is lost: by duplicate ACKs, by SACK (RFC 6675), by time (RFC 8985), by a time-out.

use super::{Loss, Scoreboard, Sent};
use crate::units::{Bytes, Span, Time};

/// What a search for lost segments found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Detected {
    /// A retransmission was among what is lost.
    pub(crate) retransmission: bool,
    /// Some may turn out lost if nothing more arrives for this long.
    pub(crate) wait: Option<Span>,
}

impl Scoreboard {
    /// Marks the oldest segment lost, even if it was sent again already.
    pub(crate) fn mark_head_lost(&mut self) {
        if !self.segments.is_empty() {
            self.mark(0);
        }
    }

    /// Marks the oldest segment lost unless it is already.
    pub(crate) fn mark_head_lost_once(&mut self) {
        if self.segments.front().is_some_and(|head| !head.lost) {
            self.mark(0);
        }
    }

    /// Marks everything lost: what a time-out means without SACK (RFC 6298 §5.4, go-back-N).
    pub(crate) fn mark_all_lost(&mut self) {
        (0..self.segments.len()).for_each(|index| self.mark(index));
    }

    /// Marks the oldest segment lost and everything sent before `now - age` (RFC 8985 §6.3).
    pub(crate) fn mark_lost_by_time_out(&mut self, now: Time, age: Option<Span>) {
        for index in 0..self.segments.len() {
            let old = age.is_none_or(|age| self.segments[index].sent_at + age <= now);
            if index == 0 || old {
                self.mark(index);
            }
        }
    }

    /// Marks what lies below more than `threshold - 1` segments of reported data (RFC 6675 §4, IsLost).
    pub(crate) fn mark_lost_by_sack(&mut self, threshold: u32, mss: Bytes) {
        let enough = mss.0 * u64::from(threshold.saturating_sub(1));
        let (mut above, mut stretches, mut in_stretch) = (0, 0, false);
        let is_below = |sent: &Sent| {
            stretches += u32::from(sent.sacked && !in_stretch);
            in_stretch = sent.sacked;
            above += if sent.sacked { sent.bytes() } else { 0 };
            !sent.sacked && (above > enough || stretches >= threshold)
        };
        let Some(offset) = self.segments.iter().rev().position({
            let mut is_below = is_below;
            move |sent| is_below(sent)
        }) else {
            return;
        };
        let last = self.segments.len() - 1 - offset;
        for index in self.first_open..=last {
            let sent = &self.segments[index];
            if !sent.sacked && !sent.lost {
                self.mark(index);
            }
        }
        self.first_open = self.first_open.max(last + 1);
    }

    /// Marks what was sent before `newest` (time, end) and is older than `age` (RFC 8985 §6.2 step 5).
    pub(crate) fn mark_lost_by_time(&mut self, now: Time, newest: (Time, u64), age: Span) -> Detected {
        let mut found = Detected::default();
        self.judge_originals(now, newest, age, &mut found);
        self.judge_retransmissions(now, newest, age, &mut found);
        found
    }

    fn judge_originals(&mut self, now: Time, newest: (Time, u64), age: Span, found: &mut Detected) {
        let mut all_judged = true;
        for index in self.first_open..self.segments.len() {
            let sent = &self.segments[index];
            if sent.transmissions == 1 && !sent.sacked && !sent.lost {
                if (sent.sent_at, sent.end()) > newest {
                    break;
                }
                let due = sent.sent_at + age;
                if due <= now {
                    self.mark(index);
                } else {
                    found.wait = found.wait.max(Some(due.since(now)));
                    all_judged = false;
                }
            } else if sent.transmissions == 1 && (sent.sent_at, sent.end()) > newest {
                break;
            }
            if all_judged {
                self.first_open = index + 1;
            }
        }
    }

    fn judge_retransmissions(&mut self, now: Time, newest: (Time, u64), age: Span, found: &mut Detected) {
        let mut kept = 0;
        while let Some(&(seq, sent_at)) = self.retransmissions.get(kept) {
            let index = self.segments.partition_point(|sent| sent.seq < seq);
            let current = |sent: &&Sent| sent.seq == seq && sent.sent_at == sent_at && sent.retransmitted;
            let Some(sent) = self.segments.get(index).filter(current) else {
                self.retransmissions.remove(kept);
                continue;
            };
            if (sent_at, sent.end()) > newest {
                break;
            }
            let due = sent_at + age;
            if due <= now {
                self.retransmissions.remove(kept);
                self.mark(index);
                found.retransmission = true;
            } else {
                found.wait = found.wait.max(Some(due.since(now)));
                kept += 1;
            }
        }
    }

    /// Takes all marks back (an undone episode); what was sent again stays in the network.
    pub(crate) fn unmark_lost(&mut self) {
        self.segments.iter_mut().for_each(|sent| sent.lost = false);
        self.lost = 0;
        self.first_waiting = 0;
        self.first_open = 0;
    }

    fn mark(&mut self, index: usize) {
        let sent = &mut self.segments[index];
        if sent.sacked || sent.waits() {
            return;
        }
        self.first_waiting = self.first_waiting.min(index);
        let bytes = sent.bytes();
        self.lost += if sent.lost { 0 } else { bytes };
        self.retransmitted -= if sent.retransmitted { bytes } else { 0 };
        self.lost_in_all += bytes;
        sent.lost = true;
        sent.retransmitted = false;
        let (seq, sent_at, stamp) = (sent.seq, sent.sent_at, sent.stamp);
        self.losses.push(Loss { seq, bytes: Bytes(bytes), sent_at, stamp, total: Bytes(self.lost_in_all) });
    }
}
