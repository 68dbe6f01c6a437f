//! TCP-LP: takes only what others leave, by yielding to early signs of a queue (Kuzmanovic, Knightly 2003).
//!
//! One-way delays come from timestamps. Once their mean exceeds the least seen by 15 % of the range seen, the window
//! halves and does not grow for three RTTs of inference; a second sign meanwhile leaves one segment. Else it is Reno.
//! Profile `paper` keeps the extremes for life and takes no delay from duplicate ACKs, the others set them anew
//! with each sign and take all. All want an ACK per segment: the wait of a delayed ACK counts as delay and keeps small
//! windows small. Linux takes the difference of two clocks for the delay: with its random start of timestamps, 32 bits
//! are spent on that start, no sign is seen, and Reno remains, as recorded. Not modelled: the kernel's guess of the other
//! clock's rate.

use super::algorithm::{Algorithm, Internal, Requirements, Setup};
use super::controller::CongestionControl;
use super::jiffies::jiffies;
use super::parameters::{Param, ParamValues, Profile, Value};
use super::reno_window::{RenoWindow, SLOW_START_LIMIT};
use super::signals::{Ack, Congestion, View};
use super::window::{IdleRule, Window};
use crate::units::{Bytes, Span};

/// Low priority by one-way delay.
pub(super) const LP: Algorithm = Algorithm {
    name: "lp",
    title: "TCP-LP: low priority, yields when one-way delay rises",
    reference: "Kuzmanovic, Knightly 2003, TCP-LP: A Distributed Algorithm for Low Priority Data Transfer",
    requirements: Requirements { timestamps: true, ..Requirements::NONE },
    starts: Some(1),
    params: PARAMS,
    profiles: &[
        Profile { name: "paper", set: &[], recovery: None },
        Profile { name: "ns3", set: NS3, recovery: None },
        Profile { name: "linux", set: LINUX, recovery: None },
    ],
    internals: INTERNALS,
    states: &[],
    build: &|values, setup| Box::new(Lp::new(values, setup)),
};

/// What it shows of itself.
const INTERNALS: &[Internal] = &[
    Internal::of("one_way_s", "smoothed one-way delay, up to a constant"),
    Internal::of("threshold_s", "one-way delay above which someone else is there"),
    Internal::of("inferring", "1 while it pauses after a sign"),
];

const NS3: &[(&str, Value)] = &[
    ("old_echoes", Value::Flag(true)),
    ("settling", Value::Number(0.0)),
    ("forgets_extremes", Value::Flag(true)),
    ("lowers_ssthresh", Value::Flag(false)),
    ("pauses_slow_start", Value::Flag(false)),
];

const LINUX: &[(&str, Value)] = &[
    ("old_echoes", Value::Flag(true)),
    ("slow_start_limit", Value::Number(1e6)),
    ("settling", Value::Number(0.0)),
    ("forgets_extremes", Value::Flag(true)),
    ("lowers_ssthresh", Value::Flag(false)),
    ("yields_at_threshold", Value::Flag(true)),
    ("half_of_cwnd", Value::Flag(true)),
    ("clock_offset", Value::Number(2_147_483_648.0)),
];

const PARAMS: &[Param] = &[
    SLOW_START_LIMIT.source("RFC 5681 eq. 2; Linux has no limit"),
    Param::number("delta", 0.0..=100.0, 15.0)
        .unit("%")
        .doc("how far into the range of delays the mean may rise")
        .source("Kuzmanovic, Knightly 2003, delta = 0.15"),
    Param::number("inference", 0.0..=100.0, 3.0)
        .unit("RTT")
        .doc("time after a sign in which the window does not grow and a second sign leaves one segment")
        .source("Kuzmanovic, Knightly 2003; Linux tcp_lp"),
    Param::number("settling", 0.0..=100.0, 2.0)
        .unit("RTT")
        .doc(
            "signs within this time after one indicate the same queue: half an RTT of silence, one to see it, a late \
              mean",
        )
        .source("our reading of Kuzmanovic, Knightly 2003, who want a second sign; Linux and ns-3 have none"),
    Param::flag("old_echoes", false)
        .doc(
            "duplicate ACKs show a delay too: that of the last segment in order, and how long it is ago, which widens \
             the range of delays by a round trip or a time-out",
        )
        .source("our reading of Kuzmanovic, Knightly 2003, who want the delay of each packet; Linux takes all ACKs"),
    Param::flag("forgets_extremes", false)
        .doc(
            "a sign sets the least delay to the mean and the greatest to twice that, instead of keeping both for \
             life",
        )
        .source("Linux tcp_lp, ns-3 TcpLp"),
    Param::flag("lowers_ssthresh", true)
        .doc("a sign takes ssthresh down with cwnd, so that additive increase follows and not slow start")
        .source("Kuzmanovic, Knightly 2003; not in Linux and ns-3"),
    Param::flag("pauses_slow_start", true)
        .doc("slow start too waits for the inference time to end")
        .source("Linux tcp_lp; ns-3 pauses congestion avoidance only"),
    Param::flag("yields_at_threshold", false)
        .doc("a mean delay equal to the threshold is a sign")
        .source("Linux so, ns-3 not"),
    Param::flag("half_of_cwnd", false)
        .doc("ssthresh from cwnd, in whole segments, instead of from the flight; idle windows halve per time-out")
        .source("Linux takes cwnd, ns-3 and RFC 5681 eq. 4 the flight"),
    Param::number("clock_offset", 0.0..=4_294_967_295.0, 0.0)
        .unit("ms")
        .doc("how far the receiver's timestamps are ahead of the sender's clock")
        .source("Linux starts them at random; from 2^29 on, seven cases of eight, TCP-LP sees no sign"),
];

#[derive(Debug)]
struct Lp {
    reno: RenoWindow,
    inference: f64,
    settling: f64,
    old_echoes: bool,
    lowers_ssthresh: bool,
    pauses_slow_start: bool,
    half_of_cwnd: bool,
    delays: OneWayDelays,
    /// In ms, the receiver's delay included, as of the last ACK that showed one.
    rtt: f64,
    last_sign: Option<u64>,
    inferring: bool,
}

/// One-way delays in milliseconds; 32 bits that overflow, as in Linux, which matters with a clock offset.
#[derive(Debug)]
struct OneWayDelays {
    clock_offset: u32,
    delta: u32,
    yields_at_threshold: bool,
    forgets_extremes: bool,
    /// The mean, in eighths; 0 before the first.
    mean: u32,
    least: u32,
    most: u32,
    /// The maximum of all; `most` is the one before it.
    most_of_all: u32,
}

impl OneWayDelays {
    /// Takes a delay.
    fn note(&mut self, one_way: Span) {
        let delay = ((one_way.as_nanos() / 1_000_000) as u32).wrapping_add(self.clock_offset);
        // Zero means "invalid" in Linux.
        if delay == 0 {
            return;
        }
        self.least = self.least.min(delay);
        if delay > self.most_of_all {
            self.most = if self.most_of_all == 0 { delay } else { self.most_of_all };
            self.most_of_all = delay;
        } else {
            self.most = self.most.max(delay);
        }
        self.mean = if self.mean == 0 {
            delay.wrapping_shl(3)
        } else {
            // 7/8 of the old, 1/8 of the new
            self.mean.wrapping_add(delay.wrapping_sub(self.mean >> 3))
        };
    }

    fn threshold(&self) -> u32 {
        let range = self.most.wrapping_sub(self.least);
        self.least.wrapping_add(range.wrapping_mul(self.delta) / 100)
    }

    /// Someone else's queue, or our own, is building.
    fn is_sign(&mut self) -> bool {
        let mean = self.mean >> 3;
        let sign = mean > self.threshold() || (self.yields_at_threshold && mean == self.threshold());
        if sign && self.forgets_extremes {
            self.least = mean;
            self.most = self.mean >> 2;
            self.most_of_all = self.most;
        }
        sign
    }
}

impl Lp {
    fn new(values: &ParamValues, setup: &Setup) -> Lp {
        Lp {
            reno: RenoWindow::new(values, setup, IdleRule::of(values.flag("half_of_cwnd"))),
            inference: values.number("inference"),
            settling: values.number("settling"),
            old_echoes: values.flag("old_echoes"),
            lowers_ssthresh: values.flag("lowers_ssthresh"),
            pauses_slow_start: values.flag("pauses_slow_start"),
            half_of_cwnd: values.flag("half_of_cwnd"),
            delays: OneWayDelays {
                clock_offset: values.number("clock_offset") as u32,
                delta: values.number("delta") as u32,
                yields_at_threshold: values.flag("yields_at_threshold"),
                forgets_extremes: values.flag("forgets_extremes"),
                mean: 0,
                least: u32::MAX,
                most: 0,
                most_of_all: 0,
            },
            rtt: 0.0,
            last_sign: None,
            inferring: false,
        }
    }

    fn look_for_sign(&mut self, ack: &Ack, view: &View) {
        if let Some(rtt) = ack.rtt {
            if let Some(one_way) = ack.one_way.filter(|_| self.old_echoes || ack.cumulative_segments > 0) {
                self.delays.note(one_way);
            }
            self.rtt = rtt.oldest.as_nanos() as f64 / 1e6;
        }
        let now = jiffies(view.now);
        let since_sign = self.last_sign.map(|sign| (now - sign) as f64);
        self.inferring = since_sign.is_some_and(|since| since < libm::floor(self.inference * self.rtt));
        let settling = since_sign.is_some_and(|since| since < self.settling * self.rtt);
        if settling || !self.delays.is_sign() {
            return;
        }
        self.last_sign = Some(now);
        // A window that comes down already is not touched: recovery's would replace it.
        if !view.state.in_cwnd_reduction() {
            let half = view.mss * (self.reno.window.cwnd.segments(view.mss) / 2).max(1);
            self.reno.window.cwnd = if self.inferring { view.mss } else { half };
            if self.lowers_ssthresh {
                self.reno.window.ssthresh = self.reno.window.ssthresh.min(half.max(view.mss * 2));
            }
        }
    }
}

impl CongestionControl for Lp {
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        self.look_for_sign(ack, view);
        let paused = self.inferring && (self.pauses_slow_start || !self.reno.window.in_slow_start());
        if !paused {
            self.reno.grow(ack, view);
        }
    }

    fn on_congestion(&mut self, event: &Congestion, view: &View) {
        let ssthresh = if self.half_of_cwnd {
            view.mss * (self.reno.window.cwnd.segments(view.mss) / 2).max(2)
        } else {
            // RFC 5681 eq. 4
            Bytes(event.flight.0 / 2).max(view.mss * 2)
        };
        self.reno.reduce(ssthresh, event);
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.reno.window
    }

    fn on_idle(&mut self, idle: Span, view: &View) {
        self.reno.on_idle(idle, view);
    }

    fn observe(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("one_way_s", f64::from(self.delays.mean >> 3) / 1e3);
        put("threshold_s", f64::from(self.delays.threshold()) / 1e3);
        put("inferring", f64::from(u8::from(self.inferring)));
    }
}

#[cfg(test)]
mod tests;
