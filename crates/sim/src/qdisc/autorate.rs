//! A controller of a shaper's rate, by the delays of a probing flow and the load: the rules of cake-autorate 3 (its README, defaults.sh).
//! Their compensation of thresholds for slow lines and their pauses without traffic are left out.

use std::collections::VecDeque;

use tcp::units::{Bytes, Rate, Span, Time};

use crate::ids::FlowId;
use crate::scenario::AutorateDef;

/// A controller.
#[derive(Debug)]
pub(super) struct Autorate {
    def: AutorateDef,
    /// The rate without load, the present one, and the limits, bit/s.
    base: f64,
    rate: f64,
    limits: [f64; 2],
    /// The delay without a queue, in seconds, as far as it is known.
    baseline: Option<f64>,
    /// The last delays beyond it.
    window: VecDeque<f64>,
    last_bufferbloat: Option<Time>,
    last_decay: Time,
    load: Load,
}

/// What has passed the shaper.
#[derive(Debug, Default)]
struct Load {
    since: Time,
    sent: Bytes,
    /// Rate of the last interval, bit/s; `None` once the rate has been raised for it.
    achieved: f64,
    is_new: bool,
}

impl Load {
    /// Closes the intervals that are over.
    fn advance(&mut self, now: Time, interval: Span) {
        let over = now.since(self.since).as_nanos() / interval.as_nanos();
        if over > 0 {
            // Of several the last one had nothing: what is sent advances the intervals first.
            self.achieved = if over == 1 { self.sent.as_f64() * 8.0 / interval.as_secs_f64() } else { 0.0 };
            (self.sent, self.is_new) = (Bytes::ZERO, true);
            self.since = self.since + interval * over;
        }
    }
}

/// From `least` to `most` as `x` goes from one threshold to another.
fn between([least, most]: [f64; 2], x: f64, [from, to]: [Span; 2]) -> f64 {
    let (from, to) = (from.as_secs_f64(), to.as_secs_f64());
    least + (most - least) * ((x - from) / (to - from)).clamp(0.0, 1.0)
}

impl Autorate {
    /// Before a shaper of this rate.
    pub(super) fn new(def: &AutorateDef, base: Rate) -> Autorate {
        let bps = |rate: Rate| rate.as_bps() as f64;
        Autorate {
            def: def.clone(),
            base: bps(base),
            rate: bps(base),
            limits: [def.min_rate, def.max_rate].map(bps),
            baseline: None,
            window: VecDeque::new(),
            last_bufferbloat: None,
            last_decay: Time::ZERO,
            load: Load::default(),
        }
    }

    /// The shaper has sent so much.
    pub(super) fn on_sent(&mut self, now: Time, size: Bytes) {
        self.load.advance(now, self.def.monitor);
        self.load.sent += size;
    }

    /// A datagram of a flow has arrived after so long; returns the rate from now on if it is a probe.
    pub(super) fn on_delay(&mut self, now: Time, flow: FlowId, delay: Span) -> Option<Rate> {
        if self.def.bound != Some(flow.0) {
            return None;
        }
        self.load.advance(now, self.def.monitor);
        let delay = delay.as_secs_f64();
        let known = self.baseline.unwrap_or(delay);
        let alpha = if delay > known { self.def.baseline_increase } else { self.def.baseline_decrease };
        let baseline = known + alpha * (delay - known);
        self.baseline = Some(baseline);
        self.window.push_back(delay - baseline);
        if self.window.len() > self.def.window as usize {
            self.window.pop_front();
        }
        self.adjust(now);
        self.rate = self.rate.clamp(self.limits[0], self.limits[1]);
        Rate::from_bps(libm::round(self.rate) as u64)
    }

    fn adjust(&mut self, now: Time) {
        let def = &self.def;
        let threshold = def.delay_threshold;
        let delayed = self.window.iter().filter(|beyond| **beyond > threshold.as_secs_f64()).count();
        let mean = self.window.iter().sum::<f64>() / self.window.len() as f64;
        let rests = self.last_bufferbloat.is_some_and(|last| now.since(last) <= def.refractory);
        if delayed >= def.delayed as usize {
            if !rests {
                self.rate *= between(def.down, mean, [threshold, def.down_threshold]);
                (self.last_bufferbloat, self.last_decay) = (Some(now), now);
            }
        } else if self.load.achieved > def.high_load * self.rate {
            // Once for each measurement of the load.
            if !rests && std::mem::take(&mut self.load.is_new) {
                self.rate *= between([def.up[1], def.up[0]], mean, [def.up_threshold, threshold]);
                self.last_decay = now;
            }
        } else if now.since(self.last_decay) > def.decay_refractory {
            self.rate = if self.rate > self.base {
                (self.rate * def.decay[0]).max(self.base)
            } else {
                (self.rate * def.decay[1]).min(self.base)
            };
            self.last_decay = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn controller() -> Autorate {
        let text = r#"{"probe": "ping", "min_rate": "5Mbps", "max_rate": "80Mbps"}"#;
        let def = AutorateDef { bound: Some(3), ..serde_json::from_str(text).unwrap() };
        Autorate::new(&def, Rate::from_bps(20_000_000).unwrap())
    }

    /// Twenty probes a second of so many milliseconds, while so much of the rate is used; the rate after each.
    fn probe(control: &mut Autorate, from_ms: u64, count: u64, delay_ms: u64, load: f64) -> Vec<f64> {
        let step = |i: u64| {
            let now = Time::ZERO + Span::from_millis(from_ms + 50 * i);
            control.on_sent(now, Bytes((control.rate * load * 0.05 / 8.0) as u64));
            control.on_delay(now, FlowId(3), Span::from_millis(delay_ms)).unwrap().as_bps() as f64 / 1e6
        };
        (0..count).map(step).collect()
    }

    #[test]
    fn under_load_without_delay_it_rises_by_four_percent_for_each_measurement_of_load() {
        let rates = probe(&mut controller(), 50, 80, 20, 0.95);
        let steps: Vec<f64> = rates.windows(2).map(|pair| pair[1] / pair[0]).filter(|step| *step != 1.0).collect();
        assert!(steps.iter().all(|step| (step - 1.04).abs() < 1e-6), "{steps:?}");
        assert!((17..=20).contains(&steps.len()), "{}", steps.len());
    }

    #[test]
    fn three_late_probes_of_six_lower_it_and_it_rests_for_300_ms() {
        let mut control = controller();
        probe(&mut control, 50, 40, 20, 0.2);
        // 70 ms more: the third of them brings the mean to 35 ms, a sixth of the way from 30 to 60 ms.
        let rates = probe(&mut control, 2050, 10, 90, 0.95);
        let factor = |mean: f64| 0.99 - 0.24 * ((mean - 30.0) / 30.0).clamp(0.0, 1.0);
        assert_eq!(rates[..2], [20.0, 20.0]);
        assert!((rates[2] - 20.0 * factor(34.9)).abs() < 0.05, "{rates:?}");
        assert!(rates[3..9].iter().all(|rate| *rate == rates[2]), "{rates:?}");
        assert!((rates[9] / rates[2] - 0.75).abs() < 0.01, "{rates:?}");
    }

    #[test]
    fn without_load_it_returns_to_its_base_within_its_limits() {
        let mut control = controller();
        control.rate = 19e6;
        let rates = probe(&mut control, 50, 400, 20, 0.0);
        assert!(rates[30] > 19.0 && rates[399] == 20.0, "{rates:?}");
        assert!(rates.windows(2).all(|pair| pair[1] <= pair[0] * 1.0101));
        // Ten seconds: of a hundred the baseline would take the late probes for granted.
        assert_eq!(probe(&mut control, 20_100, 200, 200, 0.95).last(), Some(&5.0));
    }
}
