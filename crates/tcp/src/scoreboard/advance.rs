//! Taking off the board what has been cumulatively acknowledged.

use super::news::widen;
use super::{Delivered, News, Scoreboard, Seen, delivered};
use crate::units::Bytes;

impl Scoreboard {
    /// Takes everything before `ack` off the board; `each` sees what had not been reported before, or the last of a row.
    #[inline]
    pub(crate) fn advance(&mut self, ack: u64, seen: Seen, news: &mut News, mut each: impl FnMut(&Delivered)) {
        self.advance_plainly(ack, seen, news, &mut each);
        if self.segments.front().is_some_and(|head| head.seq < ack) {
            self.advance_one_by_one(ack, seen, news, &mut each);
        }
        // What is off the board needs no verdict; only RACK asks for one, so nobody else would tidy up.
        while self.retransmissions.front().is_some_and(|(seq, _)| *seq < ack) {
            self.retransmissions.pop_front();
        }
    }

    /// The common case: a row of whole segments that were sent once and never reported or given up. They left in this
    /// order, so the last of them tells `each` as much as all of them.
    #[inline]
    fn advance_plainly(&mut self, ack: u64, seen: Seen, news: &mut News, each: &mut impl FnMut(&Delivered)) {
        let mut count = 0;
        while self.segments.get(count).is_some_and(|sent| sent.is_plain() && sent.end() <= ack) {
            count += 1;
        }
        if count == 0 {
            return;
        }
        let (first, last) = (&self.segments[0], &self.segments[count - 1]);
        let bytes = Bytes(last.end() - first.seq);
        self.flight -= bytes.0;
        news.advanced += bytes;
        news.believed += bytes;
        news.delivered += bytes;
        news.believed_segments += count as u32;
        news.acked_segments += count as u32;
        news.delivered_segments += count as u32;
        news.acked_sent = Some((first.sent_at, last.sent_at));
        news.on_original(first.seq, first.end(), seen);
        each(&Delivered { bytes, ..delivered(last) });
        for _ in 0..count {
            self.segments.pop_front();
        }
        self.first_waiting = self.first_waiting.saturating_sub(count);
        self.first_open = self.first_open.saturating_sub(count);
    }

    #[inline(never)]
    fn advance_one_by_one(&mut self, ack: u64, seen: Seen, news: &mut News, each: &mut impl FnMut(&Delivered)) {
        while let Some(head) = self.segments.front_mut() {
            if head.seq >= ack {
                break;
            }
            let covered = head.bytes().min(ack - head.seq);
            self.flight -= covered;
            self.sacked -= if head.sacked { covered } else { 0 };
            self.lost -= if head.lost { covered } else { 0 };
            self.retransmitted -= if head.retransmitted { covered } else { 0 };
            news.advanced += Bytes(covered);
            let written_off = head.waits();
            news.believed += if written_off { Bytes::ZERO } else { Bytes(covered) };
            news.delivered += if head.sacked { Bytes::ZERO } else { Bytes(covered) };
            if covered < head.bytes() {
                head.seq += covered;
                head.len -= covered as u32;
                break;
            }
            news.believed_segments += u32::from(!written_off);
            news.acked_segments += 1;
            if head.transmissions > 1 {
                news.retransmission_acked = true;
            } else if !head.sacked {
                widen(&mut news.acked_sent, head.sent_at);
                news.on_original(head.seq, head.end(), seen);
            }
            if head.sacked {
                self.sacked_segments -= 1;
            } else {
                news.delivered_segments += 1;
                each(&delivered(head));
            }
            self.segments.pop_front();
            self.first_waiting = self.first_waiting.saturating_sub(1);
            self.first_open = self.first_open.saturating_sub(1);
        }
    }
}
