//! The retransmission timer of ns-2.35's agents, in whole ticks of a clock.

use crate::settings::RtoBounds;
use crate::units::Span;

/// Back-off beyond which the smoothed RTT is forgotten and stands in the variation.
const FORGETS_BEYOND: u32 = 8;
/// Back-off that goes on although the time-out has reached its maximum.
const ALWAYS_BELOW: u32 = 64;

/// The smoothed RTT, its variation, and the back-off, which every sample ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TickTimer {
    bounds: RtoBounds,
    tick: Span,
    /// The variation grows by an eighth of what an RTT that falls would add (TCP-Linux).
    damps_falls: bool,
    /// Eight times the smoothed RTT and four times its variation, in ticks.
    srtt8: i64,
    rttvar4: i64,
    /// The time-out without back-off; the initial one before a sample.
    current: Span,
    backoff: u32,
}

impl TickTimer {
    pub(crate) fn new(bounds: RtoBounds, tick: Span, damps_falls: bool) -> TickTimer {
        TickTimer { bounds, tick, damps_falls, srtt8: 0, rttvar4: 0, current: bounds.initial, backoff: 1 }
    }

    /// Takes an RTT of so many ticks; less than one counts as one.
    pub(crate) fn sample(&mut self, ticks: u64) {
        self.backoff = 1;
        let ticks = ticks.max(1) as i64;
        if self.srtt8 == 0 {
            (self.srtt8, self.rttvar4) = (8 * ticks, 2 * ticks);
        } else {
            let error = ticks - (self.srtt8 >> 3);
            self.srtt8 = (self.srtt8 + error).max(1);
            let change = error.abs() - (self.rttvar4 >> 2);
            let damped = self.damps_falls && error < 0 && change > 0;
            self.rttvar4 += if damped { change >> 3 } else { change };
        }
        self.current = self.tick * ((8 * self.rttvar4 + self.srtt8) >> 3) as u64;
    }

    /// The SYN timed out so often.
    pub(crate) fn after_time_outs(&mut self, timeouts: u32) {
        self.backoff <<= timeouts.min(16);
    }

    pub(crate) fn back_off(&mut self) {
        if self.backoff < ALWAYS_BELOW || self.rto() < self.bounds.max {
            self.backoff = self.backoff.saturating_mul(2);
        }
        if self.backoff > FORGETS_BEYOND {
            self.rttvar4 += self.srtt8 >> 3;
            self.srtt8 = 0;
        }
    }

    /// The time-out now.
    pub(crate) fn rto(&self) -> Span {
        let backed_off = self.current.max(self.bounds.min).saturating_mul(u64::from(self.backoff));
        backed_off.min(self.bounds.max).max(self.tick * 2)
    }

    /// Eight times the smoothed RTT and four times its variation, in ticks.
    #[cfg(test)]
    pub(super) fn state(&self) -> (i64, i64) {
        (self.srtt8, self.rttvar4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timer() -> TickTimer {
        let ms = Span::from_millis;
        let bounds = RtoBounds { initial: ms(3000), min: ms(200), max: ms(120_000), granularity: ms(10) };
        TickTimer::new(bounds, ms(1), true)
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
}
