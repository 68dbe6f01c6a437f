//! What is sent again: the first lost segment, a hole, the highest one, or the last as a probe.

use super::{Chunk, Retransmission, Scoreboard, SentSegment, TxState};
use crate::units::Time;

impl Scoreboard {
    /// The first segment that is lost and not sent again, if any.
    pub(crate) fn next_lost(&mut self) -> Option<Chunk> {
        if self.lost == 0 {
            return None;
        }
        let from = self.first_unrepaired.min(self.segments.len());
        let found = self.segments.range(from..).position(SentSegment::is_unrepaired);
        let Some(index) = found.map(|offset| from + offset) else {
            self.first_unrepaired = self.segments.len();
            return None;
        };
        self.first_unrepaired = index;
        Some(self.chunk(index))
    }

    fn chunk(&self, index: usize) -> Chunk {
        let sent = &self.segments[index];
        let fin = sent.end() == self.fin_end;
        Chunk { seq: sent.seq, len: sent.len - u32::from(fin), fin }
    }

    /// Notes that the segment which [`Scoreboard::next_lost`] gave was sent again. True if it is the oldest.
    pub(crate) fn resent(&mut self, now: Time, tx: TxState) -> bool {
        self.note_retransmission(self.first_unrepaired, now, tx);
        self.first_unrepaired += 1;
        self.first_unrepaired == 1
    }

    /// Sends the last segment again, as a probe (RFC 8985 §7.3).
    pub(crate) fn resend_last(&mut self, now: Time, tx: TxState) -> Option<Chunk> {
        let index = self.segments.len().checked_sub(1)?;
        self.note_retransmission(index, now, tx);
        Some(self.chunk(index))
    }

    /// Sends the first hole below the highest report again that has not been (RFC 6675 §4, NextSeg rule 3).
    pub(crate) fn resend_hole(&mut self, now: Time, tx: TxState) -> Option<Chunk> {
        let below = self.highest_sacked();
        let hole = |sent: &SentSegment| !sent.sacked && !sent.retransmitted && !sent.lost && sent.end() < below;
        let index = self.segments.iter().position(hole)?;
        self.note_retransmission(index, now, tx);
        Some(self.chunk(index))
    }

    /// Sends the highest segment again that has not been reported (rule 4).
    pub(crate) fn resend_highest(&mut self, now: Time, tx: TxState) -> Option<Chunk> {
        let index = self.segments.iter().rposition(|sent| !sent.sacked && !sent.retransmitted)?;
        self.note_retransmission(index, now, tx);
        Some(self.chunk(index))
    }

    fn note_retransmission(&mut self, index: usize, now: Time, tx: TxState) {
        let sent = &mut self.segments[index];
        if !sent.retransmitted {
            self.retransmitted += sent.bytes();
        }
        sent.retransmitted = true;
        sent.transmissions = sent.transmissions.saturating_add(1);
        sent.sent_at = now;
        sent.tx = tx;
        self.retransmissions.push_back(Retransmission { seq: sent.seq, sent_at: now });
    }
}
