//! Removing what has been cumulatively acknowledged.

use super::ack_summary::SendTimes;
use super::{AckSummary, Delivered, PriorAckState, Scoreboard};
use crate::seq::SeqNo;
use crate::units::Bytes;

impl Scoreboard {
    /// Removes everything before `ack`; `each` is called for what had not been reported before, of a row for its last.
    #[inline]
    pub(crate) fn advance(
        &mut self,
        ack: SeqNo,
        prior: PriorAckState,
        summary: &mut AckSummary,
        mut each: impl FnMut(&Delivered),
    ) {
        self.advance_plainly(ack, prior, summary, &mut each);
        if self.segments.front().is_some_and(|head| head.seq < ack) {
            self.advance_one_by_one(ack, prior, summary, &mut each);
        }
        // Only RACK's search removes entries too, so they are removed here for the others.
        while self.retransmissions.front().is_some_and(|sent| sent.seq < ack) {
            self.retransmissions.pop_front();
        }
    }

    /// The common case: a row of whole segments that were sent once and never reported or marked lost. They were sent in
    /// this order, so the last of them stands for all.
    #[inline]
    fn advance_plainly(
        &mut self,
        ack: SeqNo,
        prior: PriorAckState,
        summary: &mut AckSummary,
        each: &mut impl FnMut(&Delivered),
    ) {
        let mut count = 0;
        while self.segments.get(count).is_some_and(|sent| sent.is_plain() && sent.end() <= ack) {
            count += 1;
        }
        if count == 0 {
            return;
        }
        let (first, last) = (&self.segments[0], &self.segments[count - 1]);
        let bytes = last.end() - first.seq;
        self.flight -= bytes.0;
        summary.acked += bytes;
        summary.acked_in_flight += bytes;
        summary.delivered += bytes;
        summary.acked_in_flight_segments += count as u32;
        summary.acked_segments += count as u32;
        summary.delivered_segments += count as u32;
        summary.acked_sent = Some(SendTimes { first: first.sent_at, last: last.sent_at });
        summary.on_original(first.seq, first.end(), prior);
        each(&Delivered { bytes, ..last.delivered() });
        for _ in 0..count {
            self.segments.pop_front();
        }
        self.first_unrepaired = self.first_unrepaired.saturating_sub(count);
        self.first_undecided = self.first_undecided.saturating_sub(count);
    }

    #[inline(never)]
    fn advance_one_by_one(
        &mut self,
        ack: SeqNo,
        prior: PriorAckState,
        summary: &mut AckSummary,
        each: &mut impl FnMut(&Delivered),
    ) {
        while let Some(head) = self.segments.front_mut() {
            if head.seq >= ack {
                break;
            }
            let covered = head.bytes().min((ack - head.seq).0);
            self.flight -= covered;
            self.sacked -= if head.sacked { covered } else { 0 };
            self.lost -= if head.lost { covered } else { 0 };
            self.retransmitted -= if head.retransmitted { covered } else { 0 };
            summary.acked += Bytes(covered);
            let was_unrepaired = head.is_unrepaired();
            summary.acked_in_flight += if was_unrepaired { Bytes::ZERO } else { Bytes(covered) };
            summary.delivered += if head.sacked { Bytes::ZERO } else { Bytes(covered) };
            if covered < head.bytes() {
                head.seq += Bytes(covered);
                head.len -= covered as u32;
                break;
            }
            summary.acked_in_flight_segments += u32::from(!was_unrepaired);
            summary.acked_segments += 1;
            summary.newest_resent = head.transmissions > 1;
            if head.transmissions > 1 {
                summary.retransmission_acked = true;
            } else if !head.sacked {
                summary.acked_sent = Some(SendTimes::extended(summary.acked_sent, head.sent_at));
                summary.on_original(head.seq, head.end(), prior);
            }
            if head.sacked {
                self.sacked_segments -= 1;
            } else {
                summary.delivered_segments += 1;
                each(&head.delivered());
            }
            self.segments.pop_front();
            self.first_unrepaired = self.first_unrepaired.saturating_sub(1);
            self.first_undecided = self.first_undecided.saturating_sub(1);
        }
    }
}
