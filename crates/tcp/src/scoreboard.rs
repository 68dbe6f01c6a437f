//! What was sent and not yet cumulatively acknowledged: one entry per segment, in sequence order.
//!
//! Gives flight (RFC 5681: sent, not acked) and pipe (RFC 6675: estimated to be in the network).

use std::collections::VecDeque;

use crate::units::{Bytes, Span, Time};

/// A sent segment.
#[derive(Clone, Copy, Debug)]
struct Sent {
    seq: u64,
    /// Sequence numbers occupied, a FIN included.
    len: u32,
    fin: bool,
    /// Considered lost; stays set while a retransmission is out.
    lost: bool,
    /// A retransmission of the lost segment is believed in the network.
    retransmitted: bool,
    transmissions: u32,
    /// Of the latest transmission.
    sent_at: Time,
}

/// A segment to be sent: a stretch of the sequence space.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Chunk {
    pub(crate) seq: u64,
    /// Payload bytes.
    pub(crate) len: u32,
    pub(crate) fin: bool,
}

impl Chunk {
    /// Sequence numbers occupied.
    pub(crate) fn sequence_len(&self) -> u64 {
        u64::from(self.len) + u64::from(self.fin)
    }
}

/// What a cumulative ACK took off the board.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Advance {
    pub(crate) bytes: Bytes,
    /// Of these, what was believed in the network; the rest had been written off and arrived before that.
    pub(crate) delivered: Bytes,
    /// Segments of `delivered`.
    pub(crate) segments: u32,
    /// Time since the oldest and the newest of them were sent; absent if any had been sent twice (Karn).
    pub(crate) rtt: Option<(Span, Span)>,
}

/// The board.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scoreboard {
    segments: VecDeque<Sent>,
    flight: u64,
    lost: u64,
    retransmitted: u64,
    /// No segment before this index is lost and waiting.
    first_waiting: usize,
}

impl Scoreboard {
    pub(crate) fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// FlightSize (RFC 5681): sent and not cumulatively acknowledged.
    pub(crate) fn flight(&self) -> Bytes {
        Bytes(self.flight)
    }

    /// Estimated to be in the network (RFC 6675 §4): not lost, or sent again since.
    pub(crate) fn pipe(&self) -> Bytes {
        Bytes(self.flight - self.lost + self.retransmitted)
    }

    /// Notes new data on its way.
    pub(crate) fn push(&mut self, now: Time, chunk: Chunk) {
        let len = chunk.len + u32::from(chunk.fin);
        self.flight += u64::from(len);
        self.segments.push_back(Sent {
            seq: chunk.seq,
            len,
            fin: chunk.fin,
            lost: false,
            retransmitted: false,
            transmissions: 1,
            sent_at: now,
        });
    }

    /// Takes everything before `ack` off the board.
    pub(crate) fn advance(&mut self, now: Time, ack: u64) -> Advance {
        let mut result = Advance::default();
        let (mut oldest, mut newest, mut clean) = (None, None, true);
        while let Some(head) = self.segments.front_mut() {
            if head.seq >= ack {
                break;
            }
            let covered = u64::from(head.len).min(ack - head.seq);
            self.flight -= covered;
            self.lost -= if head.lost { covered } else { 0 };
            self.retransmitted -= if head.retransmitted { covered } else { 0 };
            result.bytes += Bytes(covered);
            let written_off = head.lost && !head.retransmitted;
            result.delivered += if written_off { Bytes::ZERO } else { Bytes(covered) };
            if covered < u64::from(head.len) {
                head.seq += covered;
                head.len -= covered as u32;
                break;
            }
            result.segments += u32::from(!written_off);
            clean &= head.transmissions == 1;
            oldest = oldest.or(Some(now.since(head.sent_at)));
            newest = Some(now.since(head.sent_at));
            self.segments.pop_front();
            self.first_waiting = self.first_waiting.saturating_sub(1);
        }
        result.rtt = oldest.zip(newest).filter(|_| clean);
        result
    }

    /// Marks the oldest segment lost, even if it was sent again already.
    pub(crate) fn mark_head_lost(&mut self) {
        self.mark(0..1.min(self.segments.len()));
    }

    /// Marks everything lost: what a time-out means without SACK (RFC 6298 §5.4, go-back-N).
    pub(crate) fn mark_all_lost(&mut self) {
        self.mark(0..self.segments.len());
    }

    fn mark(&mut self, range: std::ops::Range<usize>) {
        self.first_waiting = self.first_waiting.min(range.start);
        for sent in self.segments.range_mut(range) {
            self.lost += if sent.lost { 0 } else { u64::from(sent.len) };
            self.retransmitted -= if sent.retransmitted { u64::from(sent.len) } else { 0 };
            sent.lost = true;
            sent.retransmitted = false;
        }
    }

    /// The first segment that is lost and not sent again, if any.
    pub(crate) fn next_lost(&mut self) -> Option<Chunk> {
        if self.lost == self.retransmitted {
            return None;
        }
        let waiting = |s: &Sent| s.lost && !s.retransmitted;
        let index = (self.first_waiting..self.segments.len()).find(|i| waiting(&self.segments[*i]))?;
        self.first_waiting = index;
        let sent = &self.segments[index];
        Some(Chunk { seq: sent.seq, len: sent.len - u32::from(sent.fin), fin: sent.fin })
    }

    /// Notes that the segment which [`Scoreboard::next_lost`] gave was sent again.
    pub(crate) fn resent(&mut self, now: Time) {
        let sent = &mut self.segments[self.first_waiting];
        sent.retransmitted = true;
        sent.transmissions += 1;
        sent.sent_at = now;
        self.retransmitted += u64::from(sent.len);
        self.first_waiting += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(segments: u64) -> Scoreboard {
        let mut board = Scoreboard::default();
        for i in 0..segments {
            board.push(Time::from_nanos(i), Chunk { seq: 1 + 100 * i, len: 100, fin: false });
        }
        board
    }

    #[test]
    fn pipe_counts_what_is_believed_in_the_network() {
        let mut board = board(10);
        board.mark_head_lost();
        assert_eq!((board.flight(), board.pipe()), (Bytes(1000), Bytes(900)));
        let chunk = board.next_lost().unwrap();
        assert_eq!(chunk.seq, 1);
        board.resent(Time::from_nanos(50));
        assert_eq!((board.pipe(), board.next_lost()), (Bytes(1000), None));
        board.mark_all_lost();
        assert_eq!(board.pipe(), Bytes::ZERO);
        assert_eq!(board.next_lost().unwrap().seq, 1);
    }

    #[test]
    fn lost_segments_are_offered_in_order_once() {
        let mut board = board(3);
        board.mark_all_lost();
        for seq in [1, 101, 201] {
            assert_eq!(board.next_lost().unwrap().seq, seq);
            board.resent(Time::ZERO);
        }
        assert_eq!(board.next_lost(), None);
    }

    #[test]
    fn karn_no_sample_from_an_ack_that_covers_a_retransmission() {
        let mut board = board(3);
        board.mark_head_lost();
        board.next_lost();
        board.resent(Time::from_nanos(10));
        assert!(board.advance(Time::from_nanos(20), 201).rtt.is_none());
        let rest = board.advance(Time::from_nanos(20), 301);
        assert_eq!(rest.rtt, Some((Span::from_nanos(18), Span::from_nanos(18))));
        assert!(board.is_empty() && board.pipe() == Bytes::ZERO);
    }

    #[test]
    fn what_a_time_out_wrote_off_and_had_arrived_is_not_delivered_again() {
        let mut board = board(10);
        board.mark_all_lost();
        board.next_lost();
        board.resent(Time::ZERO);
        let advance = board.advance(Time::ZERO, 1001);
        assert_eq!((advance.bytes, advance.delivered, advance.segments), (Bytes(1000), Bytes(100), 1));
    }

    #[test]
    fn an_ack_inside_a_segment_trims_it() {
        let mut board = board(2);
        assert_eq!(board.advance(Time::ZERO, 51).bytes, Bytes(50));
        board.mark_head_lost();
        let chunk = board.next_lost().unwrap();
        assert_eq!((chunk.seq, chunk.len), (51, 50));
    }
}
