//! What ns-2.35's one-way agents have of their own: a clock of ticks that times one segment at a time, a ring in which Vegas notes
//! when segments were sent, and a limited transmit that lasts for an ACK. Measured by running ns-2 beside it.

use super::tick_timer::TickTimer;
use crate::cc::Head;
use crate::seq::SeqNo;
use crate::settings::RtoBounds;
use crate::units::{Bytes, Span, Time};

/// The window of ns-2's agents (`window_`), and the length of Vegas' ring.
const RING: usize = 20;
/// The retransmission timer: whole ticks of a clock that began at a random part of one, and one segment timed at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TickClock {
    tick: Span,
    phase: Span,
    /// The end of the segment that is timed, and when it was sent.
    timed: Option<(SeqNo, Time)>,
    timer: TickTimer,
}

impl TickClock {
    pub(crate) fn new(bounds: RtoBounds, phase: Span) -> TickClock {
        TickClock {
            tick: bounds.granularity,
            phase,
            timed: None,
            timer: TickTimer::new(bounds, bounds.granularity, false),
        }
    }

    /// What the SYN has shown: its RTT, or how often it timed out.
    pub(crate) fn after_handshake(&mut self, rtt: Option<Span>, timeouts: u32, now: Time) {
        match rtt {
            Some(rtt) => self.sample(Time::from_nanos(now.as_nanos().saturating_sub(rtt.as_nanos())), now),
            None => self.timer.after_time_outs(timeouts),
        }
    }

    /// New data was sent that ends at `end`.
    pub(crate) fn on_new_data(&mut self, end: SeqNo, now: Time) {
        self.timed.get_or_insert((end, now));
    }

    /// Everything before `snd_una` has been acknowledged. Back-off ends with a sample only.
    pub(crate) fn on_advance(&mut self, snd_una: SeqNo, now: Time) {
        if let Some((_, sent_at)) = self.timed.take_if(|(end, _)| snd_una >= *end) {
            self.sample(sent_at, now);
        }
    }

    /// A loss: nothing is timed until new data is sent.
    pub(crate) fn abandon(&mut self) {
        self.timed = None;
    }

    fn sample(&mut self, sent_at: Time, now: Time) {
        let ticks = |at: Time| (at + self.phase).as_nanos() / self.tick.as_nanos();
        self.timer.sample(ticks(now) - ticks(sent_at));
    }

    pub(crate) fn back_off(&mut self) {
        self.timer.back_off();
    }

    /// The time-out now.
    pub(crate) fn rto(&self) -> Span {
        self.timer.rto()
    }
}

/// When the last 20 segments were sent and how often: Vegas' fine timer. What one ACK acknowledges is cleared only if its places
/// do not pass the end of the ring; what remains counts as a retransmission later.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SendRing {
    mss: Bytes,
    sent_at: [Option<Time>; RING],
    /// The same by a clock of doubles, in seconds.
    sent_at_s: [f64; RING],
    transmissions: [u32; RING],
    /// When the first segment was sent; Vegas counts time from there.
    origin: Time,
    /// The first ACK starts the estimator instead of giving it a sample.
    started: bool,
}

impl SendRing {
    fn new(mss: Bytes) -> SendRing {
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

    fn on_sent(&mut self, seq: SeqNo, now: Time, now_s: f64) {
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
    fn on_advance(&mut self, from: SeqNo, to: SeqNo, now: Time, now_s: f64) -> Option<AgentRtt> {
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
    fn head(&self, snd_una: SeqNo) -> Head {
        let place = self.place(snd_una);
        let before = Time::from_nanos(self.origin.as_nanos().saturating_sub(1_000_000_000));
        let sent_at = self.sent_at[place].unwrap_or(before);
        Head { sent_at, transmissions: self.transmissions[place] }
    }
}

/// An RTT, and the same as a difference of sums of doubles.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct AgentRtt {
    pub(crate) rtt: Span,
    pub(crate) seconds: f64,
}

/// What a one-way agent keeps beside the recovery that it has in common with others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OneWayAgent {
    pub(crate) clock: TickClock,
    ring: Option<SendRing>,
    /// The duplicate ACK just processed lets one segment go beyond cwnd, now or never.
    pub(crate) one_more: bool,
    /// The next segment is sent twice: by Vegas' look at a segment that the window does not count as sent, and by the window.
    pub(crate) sends_twice: bool,
    /// The next new segment goes whatever the window says, written or not: nothing was outstanding at that look.
    pub(crate) sends_ahead: bool,
    /// The time in doubles of the input under way, where time is kept so.
    pub(crate) double_now: Option<f64>,
}

impl OneWayAgent {
    pub(crate) fn new(clock: TickClock, mss: Bytes, vegas: bool) -> OneWayAgent {
        OneWayAgent {
            clock,
            ring: vegas.then(|| SendRing::new(mss)),
            one_more: false,
            sends_twice: false,
            sends_ahead: false,
            double_now: None,
        }
    }

    /// The time in seconds.
    pub(crate) fn now_s(&self, now: Time) -> f64 {
        self.double_now.unwrap_or(now.as_nanos() as f64 / 1e9)
    }

    /// A segment was sent, for the first time or again.
    pub(crate) fn on_sent(&mut self, seq: SeqNo, now: Time) {
        self.one_more = false;
        let now_s = self.now_s(now);
        if let Some(ring) = &mut self.ring {
            ring.on_sent(seq, now, now_s);
        }
    }

    /// `snd_una` has moved. Vegas' sample.
    pub(crate) fn on_advance(&mut self, from: SeqNo, to: SeqNo, now: Time) -> Option<AgentRtt> {
        self.clock.on_advance(to, now);
        let now_s = self.now_s(now);
        self.ring.as_mut().and_then(|ring| ring.on_advance(from, to, now, now_s))
    }

    /// Vegas' oldest segment.
    pub(crate) fn head(&self, snd_una: SeqNo) -> Option<Head> {
        self.ring.as_ref().map(|ring| ring.head(snd_una))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(phase_us: u64) -> TickClock {
        let ms = Span::from_millis;
        let bounds = RtoBounds { initial: ms(3000), min: ms(200), max: ms(60_000), granularity: ms(10) };
        TickClock::new(bounds, Span::from_micros(phase_us))
    }

    /// A time of 8 ms is no tick or one, by the phase; less than one counts as one.
    #[test]
    fn rtts_are_whole_ticks_of_a_clock_with_a_phase() {
        for (phase_us, ticks) in [(0, 2), (5_000, 3)] {
            let mut clock = clock(phase_us);
            clock.on_new_data(SeqNo(1001), Time::from_nanos(1_000_000_000));
            clock.on_new_data(SeqNo(2001), Time::from_nanos(1_001_000_000));
            clock.on_advance(SeqNo(1001), Time::from_nanos(1_026_000_000));
            assert_eq!(clock.timer.state(), (8 * ticks, 2 * ticks), "{phase_us}");
            assert_eq!(clock.timed, None, "the second was not timed");
        }
    }

    #[test]
    fn back_off_ends_with_a_sample_and_forgets_the_smoothed_rtt() {
        let mut clock = clock(0);
        clock.on_new_data(SeqNo(1001), Time::from_nanos(0));
        clock.on_advance(SeqNo(1001), Time::from_nanos(100_000_000));
        assert_eq!(clock.rto(), Span::from_millis(300), "10 ticks and four times 5");
        for expected in [600, 1200, 2400, 4800] {
            clock.back_off();
            assert_eq!(clock.rto(), Span::from_millis(expected));
        }
        assert_eq!(clock.timer.state(), (0, 30));
        clock.on_advance(SeqNo(5001), Time::from_nanos(200_000_000));
        assert_eq!(clock.rto(), Span::from_millis(4800), "nothing was timed");
    }

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
