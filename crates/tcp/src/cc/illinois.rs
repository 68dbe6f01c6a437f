//! Illinois: loss says when, delay says how much (Liu, Başar, Srikant 2008).
//!
//! A window that grows by alpha segments per round and gives up beta of itself at a loss, like Reno's. Once per round both
//! follow the mean queueing delay, measured against the most ever seen: without queue alpha is 10 and beta 1/8, with a full
//! queue alpha 0.3 and beta 1/2. Profile `linux` is the kernel's fixed-point form, `paper` the same in real numbers, and
//! `linux26` the kernel's up to 2.6.23, which kept beta of the window where it should have given it up. Not modelled: ageing of
//! the maximum RTT, which none of them has.

use super::algorithm::{Algorithm, Internal, Requirements, Setup};
use super::controller::CongestionControl;
use super::parameters::{Param, ParamValues, Profile, Value};
use super::round_rtt::is_cong_avoid_called;
use super::signals::{Ack, Cause, Congestion, View};
use super::window::{Counter, IdleRule, Window};
use crate::seq::SeqNo;
use crate::units::{Bytes, Span};

/// Increase and decrease by delay.
pub(super) const ILLINOIS: Algorithm = Algorithm {
    name: "illinois",
    title: "Illinois: increase and decrease follow the queueing delay",
    reference: "Liu, Basar, Srikant 2008, TCP-Illinois",
    requirements: Requirements::NONE,
    starts: Some(Algorithm::EVERY),
    params: PARAMS,
    profiles: &[
        Profile { name: "linux", set: &[("integer", Value::Flag(true))], recovery: None },
        Profile { name: "paper", set: &[], recovery: None },
        Profile {
            name: "linux26",
            set: &[("integer", Value::Flag(true)), ("inverted_cut", Value::Flag(true))],
            recovery: None,
        },
    ],
    internals: INTERNALS,
    states: &[],
    build: &|values, setup| Box::new(Illinois::new(values, setup)),
};

/// What it shows of itself.
const INTERNALS: &[Internal] = &[
    Internal::of("alpha", "segments that a window of ACKs adds"),
    Internal::of("beta", "share of the window that a loss takes"),
    Internal::of("base_rtt_s", "minimum RTT"),
    Internal::of("max_rtt_s", "maximum RTT"),
];

const PARAMS: &[Param] = &[
    Param::number("alpha_max", 1.0..=100.0, 10.0)
        .unit("segments")
        .doc("growth per round without queueing delay")
        .source("Linux tcp_illinois, ALPHA_MAX"),
    Param::number("alpha_min", 0.01..=1.0, 0.3)
        .unit("segments")
        .doc("growth per round with the maximum queueing delay")
        .source("Linux tcp_illinois, ALPHA_MIN"),
    Param::number("beta_min", 0.05..=0.5, 0.125)
        .doc("part of the window given up at a loss with little delay")
        .source("Linux tcp_illinois, BETA_MIN"),
    Param::number("beta_max", 0.5..=0.9, 0.5)
        .doc("part of the window given up at a loss with much delay")
        .source("Linux tcp_illinois, BETA_MAX"),
    Param::number("win_thresh", 0.0..=1e6, 15.0)
        .unit("segments")
        .doc("below this window it is Reno")
        .source("Linux tcp_illinois, win_thresh"),
    Param::number("theta", 1.0..=255.0, 5.0)
        .unit("rounds")
        .doc("rounds without delay before alpha goes back to its maximum")
        .source("Linux tcp_illinois, theta"),
    Param::flag("integer", false)
        .doc(
            "the kernel's arithmetic: alpha in 1/128, beta in 1/64, whole segments, what was counted beyond an \
             increment lost",
        )
        .source("Linux tcp_illinois, ALPHA_SHIFT and BETA_SHIFT"),
    Param::flag("inverted_cut", false)
        .doc("after a loss beta of the window remains instead of 1 - beta")
        .source("Linux 2.6.22, as in ns-2.35"),
];

/// RTT samples count as this at most, in µs: the kernel's products fit 32 bits then.
const LONGEST_RTT: u64 = u32::MAX as u64 / 1280;

#[derive(Debug)]
struct Illinois {
    window: Window,
    counter: Counter,
    /// Acknowledged segments towards the next increment, in the integer form.
    count: u64,
    initial_window: Bytes,
    limits: Limits,
    samples: Samples,
    /// In 2^-`alpha_bits`.
    alpha: u64,
    /// In 2^-`beta_bits`.
    beta: u64,
    /// The mean delay has been above the low threshold since alpha was last at its maximum.
    above: bool,
    /// Rounds below it since.
    low_rounds: u64,
}

/// The parameters, alpha and beta in their units.
#[derive(Debug)]
struct Limits {
    alpha_bits: u32,
    beta_bits: u32,
    alpha: (u64, u64),
    beta: (u64, u64),
    win_thresh: u64,
    theta: u64,
    integer: bool,
    inverted_cut: bool,
}

/// RTTs in µs.
#[derive(Debug, Default)]
struct Samples {
    least: Option<u64>,
    most: u64,
    /// Of the round under way.
    sum: u64,
    count: u64,
    /// The round is over when more than this has been acknowledged.
    end: SeqNo,
}

impl Samples {
    fn begin_round(&mut self, view: &View) {
        (self.sum, self.count, self.end) = (0, 0, view.snd_nxt);
    }

    /// d_a, the mean queueing delay of the round, and d_m, the maximum ever.
    fn delays(&self) -> Option<(u64, u64)> {
        let base = self.least?;
        Some((self.sum.checked_div(self.count)? - base, self.most - base))
    }
}

impl Limits {
    fn new(values: &ParamValues) -> Limits {
        let integer = values.flag("integer");
        let (alpha_bits, beta_bits) = if integer { (7, 6) } else { (30, 30) };
        let scaled = |name, bits: u32| (values.number(name) * (1_u64 << bits) as f64) as u64;
        Limits {
            alpha_bits,
            beta_bits,
            alpha: (scaled("alpha_min", alpha_bits), scaled("alpha_max", alpha_bits)),
            beta: (scaled("beta_min", beta_bits), scaled("beta_max", beta_bits)),
            win_thresh: values.number("win_thresh") as u64,
            theta: values.number("theta") as u64,
            integer,
            inverted_cut: values.flag("inverted_cut"),
        }
    }

    /// Reno's.
    fn reno(&self) -> (u64, u64) {
        (1 << self.alpha_bits, 1 << (self.beta_bits - 1))
    }

    /// beta rises from its least at 10 % of the maximum delay to its maximum at 80 %.
    fn beta(&self, mean: u64, most: u64) -> u64 {
        let (d2, d3) = (most / 10, 8 * most / 10);
        let (least, greatest) = self.beta;
        if mean <= d2 {
            least
        } else if mean >= d3 || d3 <= d2 {
            greatest
        } else {
            // beta = (beta_min d3 - beta_max d2 + (beta_max - beta_min) d_a) / (d3 - d2)
            (least * d3 + (greatest - least) * mean - greatest * d2) / (d3 - d2)
        }
    }
}

impl Illinois {
    fn new(values: &ParamValues, setup: &Setup) -> Illinois {
        let limits = Limits::new(values);
        Illinois {
            window: Window { cwnd: setup.initial_window, ssthresh: setup.initial_ssthresh },
            counter: Counter::default(),
            count: 0,
            initial_window: setup.initial_window,
            alpha: limits.alpha.1,
            beta: limits.reno().1,
            limits,
            samples: Samples::default(),
            above: false,
            low_rounds: 0,
        }
    }

    fn sample(&mut self, rtt: Span) {
        let rtt = rtt.as_micros().min(LONGEST_RTT);
        let samples = &mut self.samples;
        samples.least = Some(samples.least.map_or(rtt, |least| least.min(rtt)));
        samples.most = samples.most.max(rtt);
        samples.sum += rtt;
        samples.count += 1;
    }

    /// A round has ended.
    fn update(&mut self, view: &View) {
        if self.window.cwnd.segments(view.mss) < self.limits.win_thresh {
            (self.alpha, self.beta) = self.limits.reno();
        } else if let Some((mean, most)) = self.samples.delays() {
            self.alpha = self.alpha(mean, most);
            self.beta = self.limits.beta(mean, most);
        }
        self.samples.begin_round(view);
    }

    fn alpha(&mut self, mean: u64, most: u64) -> u64 {
        let (least, greatest) = self.limits.alpha;
        let d1 = most / 100;
        if mean <= d1 {
            // One good round is no proof, unless there was never a bad one.
            if self.above {
                self.low_rounds += 1;
                if self.low_rounds < self.limits.theta {
                    return self.alpha;
                }
            }
            (self.low_rounds, self.above) = (0, false);
            return greatest;
        }
        self.above = true;
        // Parts of a microsecond, where alpha has more digits than the kernel's
        let parts = self.limits.alpha_bits - 7;
        let (mean, most) = (u128::from(mean - d1) << parts, u128::from(most - d1) << parts);
        let (least, greatest) = (u128::from(least), u128::from(greatest));
        // alpha = d_m alpha_max / (d_m + d_a (alpha_max - alpha_min) / alpha_min), delays less d1
        (most * greatest / (most + mean * (greatest - least) / least)) as u64
    }

    fn avoid_congestion(&mut self, ack: &Ack, mss: Bytes) {
        let alpha = u128::from(self.alpha);
        if !self.limits.integer {
            let per_increment = (u128::from(self.window.cwnd.0) << self.limits.alpha_bits) / alpha.max(1);
            let per_increment = Bytes(u64::try_from(per_increment).unwrap_or(u64::MAX).max(1));
            return self.counter.grow(&mut self.window, ack.acked, per_increment, mss);
        }
        // What was reported before counts now, in one piece at the end of recovery.
        self.count += u64::from(ack.cumulative_segments);
        let w = self.window.cwnd.segments(mss);
        let due = ((u128::from(self.count) * alpha) >> self.limits.alpha_bits) as u64;
        if due >= w {
            self.window.cwnd += mss * (due / w);
            self.count = 0;
        }
    }
}

impl CongestionControl for Illinois {
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        if let Some(sample) = ack.rtt {
            self.sample(sample.latest);
        }
        if is_cong_avoid_called(ack, view) && view.snd_una > self.samples.end {
            self.update(view);
        }
        if !view.may_grow || ack.acked == Bytes::ZERO {
            return;
        }
        if self.window.in_slow_start() {
            self.window.slow_start(ack.acked, ack.acked);
        } else {
            self.avoid_congestion(ack, view.mss);
        }
    }

    fn on_congestion(&mut self, event: &Congestion, view: &View) {
        let limits = &self.limits;
        let unit = if limits.integer { view.mss } else { Bytes(1) };
        let w = self.window.cwnd.segments(unit);
        let share = ((u128::from(w) * u128::from(self.beta)) >> limits.beta_bits) as u64;
        let kept = unit * if limits.inverted_cut { share } else { w - share };
        let ssthresh = kept.max(view.mss * 2);
        self.counter.reset();
        self.count = 0;
        if event.cause == Cause::Timeout {
            self.window.collapse(ssthresh, event);
            (self.alpha, self.beta) = self.limits.reno();
            (self.low_rounds, self.above) = (0, false);
            self.samples.begin_round(view);
        } else {
            self.window.cut(ssthresh);
        }
    }

    fn after_round(&self, window: Bytes, view: &View) -> Bytes {
        window + Bytes((view.mss * self.alpha).0 >> self.limits.alpha_bits)
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    fn on_idle(&mut self, idle: Span, view: &View) {
        self.window.on_idle(idle, view, self.initial_window, IdleRule::Halve);
    }

    fn observe(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("alpha", self.alpha as f64 / (1_u64 << self.limits.alpha_bits) as f64);
        put("beta", self.beta as f64 / (1_u64 << self.limits.beta_bits) as f64);
        if let Some(base) = self.samples.least {
            put("base_rtt_s", base as f64 / 1e6);
            put("max_rtt_s", self.samples.most as f64 / 1e6);
        }
    }
}

#[cfg(test)]
mod tests;
