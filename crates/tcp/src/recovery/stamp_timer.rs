//! The retransmission timer of ns-2.35's TCP-Linux: every ACK is a sample, by timestamps, in whole milliseconds.

use crate::settings::RtoBounds;
use crate::units::Span;

/// A tick of its clock.
const TICK: Span = Span::from_millis(1);
/// Back-off beyond which the smoothed RTT is forgotten and stands in the variation.
const FORGETS_BEYOND: u32 = 8;
/// Back-off that goes on although the time-out has reached its maximum.
const ALWAYS_BELOW: u32 = 64;

/// The smoothed RTT, its variation, which hardly grows with an RTT that falls, and the back-off, which every sample ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StampTimer {
    bounds: RtoBounds,
    /// Eight times the smoothed RTT and four times its variation, in ticks.
    srtt8: i64,
    rttvar4: i64,
    /// The time-out without back-off; the initial one before a sample.
    current: Span,
    backoff: u32,
}

impl StampTimer {
    pub(crate) fn new(bounds: RtoBounds) -> StampTimer {
        StampTimer { bounds, srtt8: 0, rttvar4: 0, current: bounds.initial, backoff: 1 }
    }

    pub(crate) fn sample(&mut self, rtt: Span) {
        self.backoff = 1;
        let ticks = ((rtt + TICK / 2).as_nanos() / TICK.as_nanos()).max(1) as i64;
        if self.srtt8 == 0 {
            (self.srtt8, self.rttvar4) = (8 * ticks, 2 * ticks);
        } else {
            let error = ticks - (self.srtt8 >> 3);
            self.srtt8 = (self.srtt8 + error).max(1);
            let change = error.abs() - (self.rttvar4 >> 2);
            self.rttvar4 += if error < 0 && change > 0 { change >> 3 } else { change };
        }
        self.current = TICK * (((self.rttvar4 << 3) + self.srtt8) >> 3) as u64;
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
        backed_off.min(self.bounds.max).max(TICK * 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timer() -> StampTimer {
        let ms = Span::from_millis;
        StampTimer::new(RtoBounds { initial: ms(3000), min: ms(200), max: ms(120_000), granularity: ms(10) })
    }

    /// `rtt_`, `srtt_` and `rttvar_` of stock ns-2 after each of the first ACKs of twenty flows that share 1 Mb/s.
    #[test]
    fn samples_of_ns2() {
        let mut timer = timer();
        for (micros, srtt8, rttvar4) in [(22_577, 184, 46), (30_978, 192, 43), (22_578, 191, 34)] {
            timer.sample(Span::from_micros(micros));
            assert_eq!((timer.srtt8, timer.rttvar4), (srtt8, rttvar4));
        }
        assert_eq!(timer.rto(), Span::from_millis(200), "34 and 23 ticks are less than the minimum");
    }

    #[test]
    fn back_off_ends_with_a_sample_and_forgets_the_smoothed_rtt() {
        let mut timer = timer();
        timer.sample(Span::from_millis(100));
        for expected in [300, 600, 1200, 2400, 4800] {
            assert_eq!(timer.rto(), Span::from_millis(expected));
            timer.back_off();
        }
        assert_eq!((timer.srtt8, timer.rttvar4), (0, 300), "four times 50 ms, and the RTT");
        timer.sample(Span::from_millis(80));
        assert_eq!(timer.rto(), Span::from_millis(240));
    }
}
