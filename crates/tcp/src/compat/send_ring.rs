//! The ring in which ns-2.35's Vegas notes when it sent its segments. Measured by running ns-2 beside it.

use crate::cc::Head;
use crate::seq::SeqNo;
use crate::units::{Bytes, Span, Time};

/// The window of ns-2's agents (`window_`), and the length of Vegas' ring.
const RING: usize = 20;

/// When the last 20 segments were sent and how often: Vegas' fine timer. What one ACK acknowledges is cleared only if its places
/// do not pass the end of the ring; what remains counts as a retransmission later.
#[derive(Clone, Copy, Debug)]
pub(super) struct SendRing {
    mss: Bytes,
    sent_at: [Option<Time>; RING],
    /// Those times by a clock of doubles, in seconds.
    sent_at_s: [f64; RING],
    transmissions: [u32; RING],
    /// When the first segment was sent; Vegas counts time from there.
    origin: Time,
    /// The first ACK starts the estimator instead of giving it a sample.
    started: bool,
}

impl SendRing {
    pub(super) fn new(mss: Bytes) -> SendRing {
        SendRing {
            mss,
            sent_at: [None; RING],
            sent_at_s: [0.0; RING],
            transmissions: [0; RING],
            origin: Time::ZERO,
            started: false,
        }
    }

    fn place(&self, seq: SeqNo) -> usize {
        (seq.since(SeqNo::FIRST_DATA).0 / self.mss.0) as usize % RING
    }

    pub(super) fn on_sent(&mut self, seq: SeqNo, now: Time, now_s: f64) {
        if seq == SeqNo::FIRST_DATA {
            self.origin = now;
        }
        let place = self.place(seq);
        self.sent_at[place] = Some(now);
        self.sent_at_s[place] = now_s;
        self.transmissions[place] += 1;
    }

    /// The RTT of the newest segment that an ACK of everything from `from` to `to` acknowledges, if its place says that it was sent
    /// once.
    pub(super) fn on_advance(&mut self, from: SeqNo, to: SeqNo, now: Time, now_s: f64) -> Option<AgentRtt> {
        let (first, last) = (self.place(from), self.place(SeqNo(to.0.saturating_sub(self.mss.0))));
        let sample =
            self.sent_at[last].map(|at| AgentRtt { rtt: now.since(at), seconds: now_s - self.sent_at_s[last] });
        let once = self.transmissions[last] == 1;
        let count = (to.since(from).0 / self.mss.0) as usize;
        for place in (first..=last).take(count) {
            self.sent_at[place] = None;
            self.transmissions[place] = 0;
        }
        let starts = !std::mem::replace(&mut self.started, true);
        sample.filter(|_| once || starts)
    }

    /// The oldest segment that is not acknowledged, sent or not. Where nothing is noted it looks a second older than the first.
    pub(super) fn head(&self, snd_una: SeqNo) -> Head {
        let place = self.place(snd_una);
        let before = Time::from_nanos(self.origin.as_nanos().saturating_sub(1_000_000_000));
        let sent_at = self.sent_at[place].unwrap_or(before);
        Head { sent_at, transmissions: self.transmissions[place] }
    }
}

/// An RTT, also as a difference of sums of doubles.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct AgentRtt {
    pub(super) rtt: Span,
    pub(super) seconds: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ACK of places 18 to 1 clears none of them: their next segments count as sent twice.
    #[test]
    fn an_ack_past_the_end_of_the_ring_clears_nothing() {
        let mss = Bytes(1000);
        let mut ring = SendRing::new(mss);
        let at = |index: u64| SeqNo::FIRST_DATA + mss * index;
        let ms = |count: u64| Time::from_nanos(count * 1_000_000);
        (0..22).for_each(|index| ring.on_sent(at(index), ms(index), 0.0));
        let rtt = ring.on_advance(at(18), at(20), ms(30), 0.0).map(|sample| sample.rtt);
        assert_eq!(rtt, Some(Span::from_millis(11)));
        assert_eq!(ring.head(at(38)).transmissions, 0);
        assert_eq!(ring.on_advance(at(20), at(22), ms(30), 0.0), None, "places 0 and 1 were used before");
        let mut ring = SendRing::new(mss);
        (0..22).for_each(|index| ring.on_sent(at(index), ms(index), 0.0));
        ring.on_advance(at(19), at(22), ms(30), 0.0);
        assert_eq!(ring.head(at(39)).transmissions, 1);
    }
}
