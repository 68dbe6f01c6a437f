//! The receiving half: puts segments in order and decides when to acknowledge (RFC 9293 §3.8.6.3, RFC 5681 §4.2).
//!
//! The application reads at once, so the advertised window is the whole buffer.

use crate::config::DelayedAck;
use crate::segment::{Flags, Segment};
use crate::units::{Bytes, Time};

/// What an arriving segment asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AckWish {
    /// Nothing to acknowledge.
    None,
    /// An ACK at once.
    Now,
    /// An ACK by this time at the latest.
    By(Time),
}

/// The receiving half.
#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    policy: DelayedAck,
    buffer: Bytes,
    /// Next byte expected.
    pub(crate) rcv_nxt: u64,
    /// Stretches received beyond a gap: sorted, apart from each other.
    beyond: Vec<(u64, u64)>,
    /// In-order segments not yet acknowledged.
    unacknowledged: u32,
    /// Where the FIN is, once it has been seen.
    fin_at: Option<u64>,
}

impl Receiver {
    /// Expects `rcv_nxt` first.
    pub(crate) fn new(policy: DelayedAck, buffer: Bytes, rcv_nxt: u64) -> Receiver {
        Receiver { policy, buffer, rcv_nxt, beyond: Vec::new(), unacknowledged: 0, fin_at: None }
    }

    /// The window to advertise.
    pub(crate) fn window(&self) -> Bytes {
        self.buffer
    }

    /// True once everything up to and including the FIN has arrived.
    pub(crate) fn finished(&self) -> bool {
        self.fin_at.is_some_and(|fin| self.rcv_nxt > fin)
    }

    /// Payload bytes received in order so far; the SYN is number 0.
    pub(crate) fn in_order(&self) -> u64 {
        self.rcv_nxt - 1 - u64::from(self.finished())
    }

    /// Takes a segment with payload or FIN.
    pub(crate) fn on_segment(&mut self, now: Time, segment: &Segment) -> AckWish {
        if segment.sequence_len() == 0 {
            return AckWish::None;
        }
        if segment.flags.contains(Flags::FIN) {
            self.fin_at = Some(segment.end() - 1);
        }
        // What lies beyond the window is cut off. If nothing new is left, the ACK tells the sender where we are
        // (RFC 9293 §3.10.7.4).
        let end = segment.end().min(self.rcv_nxt + self.buffer.0);
        if end <= segment.seq.max(self.rcv_nxt) {
            return AckWish::Now;
        }
        if segment.seq > self.rcv_nxt {
            // RFC 5681 §4.2: an out-of-order segment is acknowledged at once.
            self.insert(segment.seq, end);
            return AckWish::Now;
        }
        self.rcv_nxt = end;
        let filled = self.absorb();
        self.unacknowledged += 1;
        // RFC 5681 §4.2: at once when a gap is filled in part or whole, and at the latest for every second segment.
        if filled || !self.beyond.is_empty() || self.finished() || self.unacknowledged >= self.policy.segments {
            AckWish::Now
        } else {
            AckWish::By(now + self.policy.timeout)
        }
    }

    /// Notes that an acknowledgment is leaving.
    pub(crate) fn on_ack_sent(&mut self) {
        self.unacknowledged = 0;
    }

    /// Adds a stretch beyond the gap, merged with what it touches.
    fn insert(&mut self, start: u64, end: u64) {
        let from = self.beyond.partition_point(|range| range.1 < start);
        let to = self.beyond.partition_point(|range| range.0 <= end);
        let merged = self.beyond[from..to].iter().fold((start, end), |m, r| (m.0.min(r.0), m.1.max(r.1)));
        self.beyond.splice(from..to, [merged]);
    }

    /// Moves past stretches that the gap no longer separates; true if there were any.
    fn absorb(&mut self) -> bool {
        let touched = self.beyond.partition_point(|range| range.0 <= self.rcv_nxt);
        for (_, end) in self.beyond.drain(..touched) {
            self.rcv_nxt = self.rcv_nxt.max(end);
        }
        touched > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;

    fn receiver(segments: u32) -> Receiver {
        Receiver::new(DelayedAck { segments, timeout: Span::from_millis(200), quick: 0, compression: Span::ZERO }, Bytes(100_000), 1)
    }

    fn data(seq: u64, len: u32) -> Segment {
        Segment { seq, len, flags: Flags::ACK, ..Segment::default() }
    }

    #[test]
    fn every_second_segment_is_acknowledged() {
        let mut r = receiver(2);
        assert_eq!(r.on_segment(Time::ZERO, &data(1, 100)), AckWish::By(Time::ZERO + Span::from_millis(200)));
        assert_eq!(r.on_segment(Time::ZERO, &data(101, 100)), AckWish::Now);
        r.on_ack_sent();
        assert!(matches!(r.on_segment(Time::ZERO, &data(201, 100)), AckWish::By(_)));
    }

    #[test]
    fn gaps_are_acknowledged_at_once_and_filled_in_any_order() {
        let mut r = receiver(2);
        for seq in [301, 101, 501] {
            assert_eq!(r.on_segment(Time::ZERO, &data(seq, 100)), AckWish::Now);
        }
        assert_eq!((r.rcv_nxt, r.beyond.len()), (1, 3));
        assert_eq!(r.on_segment(Time::ZERO, &data(1, 100)), AckWish::Now);
        assert_eq!(r.rcv_nxt, 201);
        r.on_segment(Time::ZERO, &data(201, 100));
        assert_eq!(r.rcv_nxt, 401);
        r.on_segment(Time::ZERO, &data(401, 100));
        assert_eq!((r.rcv_nxt, r.in_order(), r.beyond.len()), (601, 600, 0));
    }

    #[test]
    fn duplicates_and_data_outside_the_window_change_nothing() {
        let mut r = receiver(1);
        r.on_segment(Time::ZERO, &data(1, 100));
        assert_eq!(r.on_segment(Time::ZERO, &data(1, 100)), AckWish::Now);
        assert_eq!(r.on_segment(Time::ZERO, &data(200_000, 100)), AckWish::Now);
        assert_eq!((r.rcv_nxt, r.beyond.len()), (101, 0));
    }

    #[test]
    fn the_fin_counts_one_number_and_no_byte() {
        let mut r = receiver(2);
        let fin = Segment { seq: 101, len: 0, flags: Flags::ACK.with(Flags::FIN), ..Segment::default() };
        r.on_segment(Time::ZERO, &fin);
        assert!(!r.finished());
        r.on_segment(Time::ZERO, &data(1, 100));
        assert!(r.finished());
        assert_eq!((r.rcv_nxt, r.in_order()), (102, 100));
    }
}
