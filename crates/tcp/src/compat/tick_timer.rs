//! The retransmission timers of ns-2.35's agents, in whole ticks of a clock.

use crate::seq::SeqNo;
use crate::settings::RtoBounds;
use crate::units::{Span, Time};

/// Back-off beyond which the smoothed RTT is forgotten and stands in the variation.
const FORGETS_BEYOND: u32 = 8;
/// Back-off that goes on although the time-out has reached its maximum.
const ALWAYS_BELOW: u32 = 64;

/// By how much of what an RTT changes the variation grows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Damping {
    /// All of it.
    None,
    /// An eighth if the RTT falls (TCP-Linux).
    OfFalls,
}

/// The smoothed RTT, its variation, and the back-off, which every sample ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct TickTimer {
    bounds: RtoBounds,
    tick: Span,
    damping: Damping,
    /// Eight times the smoothed RTT and four times its variation, in ticks.
    srtt8: i64,
    rttvar4: i64,
    /// The time-out without back-off; the initial one before a sample.
    current: Span,
    backoff: u32,
}

impl TickTimer {
    pub(super) fn new(bounds: RtoBounds, tick: Span, damping: Damping) -> TickTimer {
        TickTimer { bounds, tick, damping, srtt8: 0, rttvar4: 0, current: bounds.initial, backoff: 1 }
    }

    /// Takes an RTT of so many ticks; less than one counts as one.
    pub(super) fn sample(&mut self, ticks: u64) {
        self.backoff = 1;
        let ticks = ticks.max(1) as i64;
        if self.srtt8 == 0 {
            (self.srtt8, self.rttvar4) = (8 * ticks, 2 * ticks);
        } else {
            let error = ticks - (self.srtt8 >> 3);
            self.srtt8 = (self.srtt8 + error).max(1);
            let change = error.abs() - (self.rttvar4 >> 2);
            let damped = self.damping == Damping::OfFalls && error < 0 && change > 0;
            self.rttvar4 += if damped { change >> 3 } else { change };
        }
        self.current = self.tick * ((8 * self.rttvar4 + self.srtt8) >> 3) as u64;
    }

    /// The SYN timed out so often.
    pub(super) fn after_time_outs(&mut self, timeouts: u32) {
        self.backoff <<= timeouts.min(16);
    }

    pub(super) fn back_off(&mut self) {
        if self.backoff < ALWAYS_BELOW || self.rto() < self.bounds.max {
            self.backoff = self.backoff.saturating_mul(2);
        }
        if self.backoff > FORGETS_BEYOND {
            self.rttvar4 += self.srtt8 >> 3;
            self.srtt8 = 0;
        }
    }

    /// The time-out now.
    pub(super) fn rto(&self) -> Span {
        let backed_off = self.current.max(self.bounds.min).saturating_mul(u64::from(self.backoff));
        backed_off.min(self.bounds.max).max(self.tick * 2)
    }

    /// Eight times the smoothed RTT and four times its variation, in ticks.
    #[cfg(test)]
    pub(super) fn state(&self) -> (i64, i64) {
        (self.srtt8, self.rttvar4)
    }
}

/// The retransmission timer: whole ticks of a clock that began at a random part of one, and one segment timed at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct TickClock {
    tick: Span,
    phase: Span,
    /// The end of the segment that is timed, and when it was sent.
    timed: Option<(SeqNo, Time)>,
    timer: TickTimer,
}

impl TickClock {
    pub(super) fn new(bounds: RtoBounds, phase: Span) -> TickClock {
        TickClock {
            tick: bounds.granularity,
            phase,
            timed: None,
            timer: TickTimer::new(bounds, bounds.granularity, Damping::None),
        }
    }

    /// What the SYN has shown: its RTT, or how often it timed out.
    pub(super) fn after_handshake(&mut self, rtt: Option<Span>, timeouts: u32, now: Time) {
        match rtt {
            Some(rtt) => self.sample(Time::from_nanos(now.as_nanos().saturating_sub(rtt.as_nanos())), now),
            None => self.timer.after_time_outs(timeouts),
        }
    }

    /// New data was sent that ends at `end`.
    pub(super) fn on_new_data(&mut self, end: SeqNo, now: Time) {
        self.timed.get_or_insert((end, now));
    }

    /// Everything before `snd_una` has been acknowledged. Back-off ends with a sample only.
    pub(super) fn on_advance(&mut self, snd_una: SeqNo, now: Time) {
        if let Some((_, sent_at)) = self.timed.take_if(|(end, _)| snd_una >= *end) {
            self.sample(sent_at, now);
        }
    }

    /// A loss: nothing is timed until new data is sent.
    pub(super) fn abandon(&mut self) {
        self.timed = None;
    }

    fn sample(&mut self, sent_at: Time, now: Time) {
        let ticks = |at: Time| (at + self.phase).as_nanos() / self.tick.as_nanos();
        self.timer.sample(ticks(now) - ticks(sent_at));
    }

    pub(super) fn back_off(&mut self) {
        self.timer.back_off();
    }

    /// The time-out now.
    pub(super) fn rto(&self) -> Span {
        self.timer.rto()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timer() -> TickTimer {
        let ms = Span::from_millis;
        let bounds = RtoBounds { initial: ms(3000), min: ms(200), max: ms(120_000), granularity: ms(10) };
        TickTimer::new(bounds, ms(1), Damping::OfFalls)
    }

    /// `rtt_`, `srtt_` and `rttvar_` of stock ns-2 after each of the first ACKs of twenty flows that share 1 Mb/s.
    #[test]
    fn samples_of_ns2() {
        let mut timer = timer();
        for (ticks, srtt8, rttvar4) in [(23, 184, 46), (31, 192, 43), (23, 191, 34)] {
            timer.sample(ticks);
            assert_eq!((timer.srtt8, timer.rttvar4), (srtt8, rttvar4));
        }
        assert_eq!(timer.rto(), Span::from_millis(200), "34 and 23 ticks are less than the minimum");
    }

    #[test]
    fn back_off_ends_with_a_sample_and_forgets_the_smoothed_rtt() {
        let mut timer = timer();
        timer.sample(100);
        for expected in [300, 600, 1200, 2400, 4800] {
            assert_eq!(timer.rto(), Span::from_millis(expected));
            timer.back_off();
        }
        assert_eq!((timer.srtt8, timer.rttvar4), (0, 300), "four times 50 ms, and the RTT");
        timer.sample(80);
        assert_eq!(timer.rto(), Span::from_millis(240));
    }

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
    fn back_off_of_a_clock_ends_with_a_sample_and_forgets_the_smoothed_rtt() {
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
}
