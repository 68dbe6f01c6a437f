//! Whether the queue that marks is a classic one, which expects a mark to halve a window (Briscoe, Ahmed, arXiv 1911.00710; the
//! kernel of the L4S team, `prague_ecn_fallback`): a queue that marks as L4S has it keeps RTTs short and steady.

use crate::cc::signals::{Ack, View};
use crate::units::Span;

/// Mean deviation of the RTT, and depth of the queue, that speak for neither kind, in µs.
const DEVIATION: f64 = 750.0;
const DEPTH: f64 = 2000.0;
/// The score's upper end, the one from which the queue may be classic, and what alpha is then at least.
const MOST: f64 = 17.0;
const CLASSIC: f64 = 8.0;
const ALPHA: f64 = 0.625;

/// What an RTT sample weighs is at least 2 to minus this.
const MOST_SHIFT: u32 = 18;

/// The test of one connection. Times in µs.
#[derive(Debug)]
pub(super) struct Fallback {
    score: f64,
    /// Smoothed RTT and mean deviation of the RTT of the newest segment.
    srtt: Option<f64>,
    deviation: f64,
}

impl Fallback {
    pub(super) fn new(handshake_rtt: Option<Span>) -> Fallback {
        Fallback { score: 0.0, srtt: handshake_rtt.map(micros), deviation: 1.0 }
    }

    /// Takes the RTT sample of an ACK; `ssthresh` is in segments. A large window has many samples per round trip: each weighs less.
    pub(super) fn on_ack(&mut self, ack: &Ack, ssthresh: u64) {
        let Some(sample) = ack.rtt else { return };
        let rtt = micros(sample.latest);
        let shift = (ssthresh.max(1).ilog2() * 3 / 2 + 1).min(MOST_SHIFT);
        let weight = 1.0 / f64::from(1_u32 << shift);
        let srtt = self.srtt.get_or_insert(rtt);
        let error = rtt - *srtt;
        *srtt += error * weight;
        self.deviation += (error.abs() - self.deviation) * weight / 2.0;
    }

    /// A round trip has ended in which marks had been seen.
    pub(super) fn end_round(&mut self, view: &View) {
        let least = view.min_rtt.map_or(f64::INFINITY, micros);
        let depth = self.srtt.map_or(0.0, |srtt| (srtt - least).max(0.0));
        self.judge(self.deviation, depth);
    }

    fn judge(&mut self, deviation: f64, depth: f64) {
        let unsteady = libm::log2(deviation.max(1e-9) / DEVIATION);
        let deep = libm::log2(depth.max(1e-9) / DEPTH).max(0.0);
        self.score = (self.score + 0.5 * unsteady + 0.5 * deep).clamp(0.0, MOST);
    }

    /// How surely the queue is classic, 0 to 1.
    pub(super) fn classic(&self) -> f64 {
        (self.score - CLASSIC).clamp(0.0, 1.0)
    }

    /// What alpha is at least in a reduction.
    pub(super) fn alpha(&self) -> f64 {
        ALPHA * self.classic()
    }
}

fn micros(span: Span) -> f64 {
    span.as_secs_f64() * 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::signals::RttSample;
    use crate::cc::vectors::{agree, vectors};

    #[test]
    fn scores_of_the_vectors() {
        for (name, score) in [("classic", 0.0), ("l4s", 5.0), ("edge", 7.5)] {
            let mut fallback = Fallback { score, ..Fallback::new(None) };
            for row in vectors("prague_fallback")[name].as_array().unwrap() {
                let number = |key: &str| row[key].as_f64().unwrap();
                fallback.judge(number("mdev_us"), number("depth_us"));
                let found = [fallback.score, fallback.alpha()];
                let wanted = ["score", "alpha_floor"].map(number);
                assert!(found.iter().zip(wanted).all(|(a, b)| agree(*a, b)), "{name}: {found:?} {row}");
            }
        }
    }

    #[test]
    fn a_sample_weighs_less_in_a_larger_window() {
        for (ssthresh, weight) in [(1, 0.5), (16, 1.0 / 128.0), (1 << 40, 1.0 / f64::from(1 << 18))] {
            let mut fallback = Fallback::new(Some(Span::from_millis(10)));
            let rtt = Span::from_millis(20);
            fallback.on_ack(&Ack { rtt: Some(RttSample { latest: rtt, oldest: rtt }), ..Ack::default() }, ssthresh);
            assert!(agree(fallback.srtt.unwrap(), 10_000.0 + 10_000.0 * weight));
            assert!(agree(fallback.deviation, 1.0 + (10_000.0 - 1.0) * weight / 2.0));
        }
    }
}
