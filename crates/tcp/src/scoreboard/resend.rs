//! What is sent again: the first lost segment, a hole, the highest one, or the last as a probe.

use super::{Chunk, Scoreboard, Sent};
use crate::rate::Stamp;
use crate::units::Time;

impl Scoreboard {
    /// The first segment that is lost and not sent again, if any.
    pub(crate) fn next_lost(&mut self) -> Option<Chunk> {
        if self.lost == 0 {
            return None;
        }
        let from = self.first_waiting.min(self.segments.len());
        let found = self.segments.range(from..).position(Sent::waits);
        let Some(index) = found.map(|offset| from + offset) else {
            self.first_waiting = self.segments.len();
            return None;
        };
        self.first_waiting = index;
        Some(self.chunk(index))
    }

    fn chunk(&self, index: usize) -> Chunk {
        let sent = &self.segments[index];
        let fin = sent.end() == self.fin_end;
        Chunk { seq: sent.seq, len: sent.len - u32::from(fin), fin }
    }

    /// Notes that the segment which [`Scoreboard::next_lost`] gave was sent again. True if it is the oldest.
    pub(crate) fn resent(&mut self, now: Time, stamp: Stamp) -> bool {
        self.note_retransmission(self.first_waiting, now, stamp);
        self.first_waiting += 1;
        self.first_waiting == 1
    }

    /// Sends the last segment again, as a probe (RFC 8985 §7.3).
    pub(crate) fn resend_last(&mut self, now: Time, stamp: Stamp) -> Option<Chunk> {
        let index = self.segments.len().checked_sub(1)?;
        self.note_retransmission(index, now, stamp);
        Some(self.chunk(index))
    }

    /// Sends the first hole below the highest report again that has not been (RFC 6675 §4, NextSeg rule 3).
    pub(crate) fn resend_hole(&mut self, now: Time, stamp: Stamp) -> Option<Chunk> {
        let below = self.highest_sacked();
        let hole = |sent: &Sent| !sent.sacked && !sent.retransmitted && !sent.lost && sent.end() < below;
        let index = self.segments.iter().position(hole)?;
        self.note_retransmission(index, now, stamp);
        Some(self.chunk(index))
    }

    /// Sends the highest segment again that has not been reported (rule 4).
    pub(crate) fn resend_highest(&mut self, now: Time, stamp: Stamp) -> Option<Chunk> {
        let index = self.segments.iter().rposition(|sent| !sent.sacked && !sent.retransmitted)?;
        self.note_retransmission(index, now, stamp);
        Some(self.chunk(index))
    }

    fn note_retransmission(&mut self, index: usize, now: Time, stamp: Stamp) {
        let sent = &mut self.segments[index];
        if !sent.retransmitted {
            self.retransmitted += sent.bytes();
        }
        sent.retransmitted = true;
        sent.transmissions = sent.transmissions.saturating_add(1);
        sent.sent_at = now;
        sent.stamp = stamp;
        self.retransmissions.push_back((sent.seq, now));
    }
}
