//! Scalable TCP: multiplicative increase, multiplicative decrease (Kelly 2003).
//!
//! Each acknowledged segment adds the same part of a segment whatever the window, so the number of round trips from one
//! loss to the next does not depend on the window. A loss takes an eighth. Below a legacy window the paper does what
//! Reno does; the kernel has no such window but never grows faster than one segment per ACK. Kernels and simulators
//! before 2017 wait for 50 instead of 100 segments, to make up for delayed ACKs.

use super::aimd::{Aimd, OF_CWND};
use super::algorithm::{Algorithm, Requirements, Setup};
use super::controller::CongestionControl;
use super::parameters::{Param, ParamValues, Profile, Value};
use super::reno_window::{SLOW_START_LIMIT, UNLIMITED};
use super::signals::{Ack, Congestion, View};
use super::window::Window;
use crate::units::{Bytes, Span};

/// Growth in proportion to the window.
pub(super) const SCALABLE: Algorithm = Algorithm {
    name: "scalable",
    title: "Scalable TCP: growth in proportion to the window",
    reference: "Kelly 2003, Scalable TCP: Improving Performance in Highspeed Wide Area Networks",
    requirements: Requirements::NONE,
    starts: Some(1),
    params: PARAMS,
    profiles: &[
        Profile { name: "paper", set: &[], recovery: None },
        Profile { name: "linux", set: LINUX, recovery: None },
        Profile { name: "ns2", set: NS2, recovery: None },
        Profile { name: "ns3", set: NS3, recovery: None },
    ],
    internals: &[],
    states: &[],
    build: &|values, setup| Box::new(Scalable::new(values, setup)),
};

const LINUX: &[(&str, Value)] = &[
    ("counted", Value::Flag(true)),
    ("legacy_window", Value::Number(0.0)),
    ("slow_start_limit", UNLIMITED),
    ("of_cwnd", Value::Flag(true)),
];

const NS2: &[(&str, Value)] = &[
    ("counted", Value::Flag(true)),
    ("segments", Value::Number(50.0)),
    ("legacy_window", Value::Number(0.0)),
    ("of_cwnd", Value::Flag(true)),
    ("per_ack", Value::Flag(true)),
    ("one_more", Value::Flag(true)),
];

const NS3: &[(&str, Value)] =
    &[("counted", Value::Flag(true)), ("segments", Value::Number(50.0)), ("legacy_window", Value::Number(0.0))];

const PARAMS: &[Param] = &[
    Param::number("segments", 1.0..=1e4, 100.0)
        .unit("segments")
        .doc("acknowledged segments that add one to the window")
        .source("Kelly 2003: a = 0.01; ns-2.35 and ns-3 50"),
    Param::number("cut", 0.01..=0.9, 0.125).doc("what a loss takes of the window").source("Kelly 2003: b = 0.125"),
    Param::number("legacy_window", 0.0..=1e6, 16.0)
        .unit("segments")
        .doc("up to this window Reno's growth and cut")
        .source("Kelly 2003: lwnd; the kernel has none"),
    Param::flag("counted", false)
        .doc("counts segments and adds whole ones, at most one per window of them, instead of a part for each")
        .source("Linux tcp_scalable: min(W, 100)"),
    Param::flag("per_ack", false)
        .doc("an ACK counts one segment, whatever it acknowledges; with counted")
        .source("Linux 2.6.22 in ns-2.35 does not count segments"),
    Param::flag("one_more", false)
        .doc("waits for one segment more than it should; with counted")
        .source("Linux 2.6.22 in ns-2.35"),
    SLOW_START_LIMIT,
    OF_CWND,
];

#[derive(Debug)]
struct Scalable {
    base: Aimd,
    segments: f64,
    cut: f64,
    legacy_window: f64,
    counted: bool,
    per_ack: bool,
    one_more: bool,
}

impl Scalable {
    fn new(values: &ParamValues, setup: &Setup) -> Scalable {
        Scalable {
            base: Aimd::new(values, setup),
            segments: values.number("segments"),
            cut: values.number("cut"),
            legacy_window: values.number("legacy_window"),
            counted: values.flag("counted"),
            per_ack: values.flag("per_ack"),
            one_more: values.flag("one_more"),
        }
    }

    fn count(&mut self, acked: Bytes, mss: Bytes) {
        let price = self.base.segments(mss).min(self.segments as u64) + u64::from(self.one_more);
        self.base.grow_per(price, if self.per_ack { mss } else { acked }, mss);
    }

    fn add(&mut self, acked: Bytes, mss: Bytes) {
        let w = self.base.exact(mss);
        // Kelly 2003: cwnd = cwnd + 0.01 per ACK; here per acknowledged segment, so that delayed ACKs cost nothing
        let each = if w <= self.legacy_window { 1.0 / w } else { 1.0 / self.segments };
        self.base.grow_by(each * (acked.as_f64() / mss.as_f64()), mss);
    }
}

impl CongestionControl for Scalable {
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        let acked = self.base.slow_start(ack, view);
        if acked == Bytes::ZERO {
            return;
        }
        if self.counted {
            self.count(acked, view.mss);
        } else {
            self.add(acked, view.mss);
        }
    }

    fn on_congestion(&mut self, event: &Congestion, view: &View) {
        let w = self.base.at_loss(event, view.mss);
        let cut = if w <= self.legacy_window { w / 2.0 } else { w * self.cut };
        // The kernel takes an eighth rounded down, so what is kept is rounded up.
        let cut = if self.counted { libm::floor(cut) } else { cut };
        self.base.reduce(w - cut, event, view.mss);
    }

    fn after_round(&self, window: Bytes, _view: &View) -> Bytes {
        window + Bytes((window.as_f64() / self.segments) as u64)
    }

    fn beta(&self) -> f64 {
        1.0 - self.cut
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.base.reno.window
    }

    fn on_idle(&mut self, idle: Span, view: &View) {
        self.base.on_idle(idle, view);
    }
}

#[cfg(test)]
mod tests {
    use super::super::driver::{Driver, near};
    use super::*;
    use crate::cc::signals::Cause;

    /// Growth over one window of ACKs of one segment each, as many as the window had at the start.
    fn round(sender: &mut Driver) -> f64 {
        let before = sender.cwnd();
        (0..before as u32).for_each(|_| sender.ack(1, None));
        sender.cwnd() - before
    }

    /// Kelly 2003.
    #[test]
    fn a_window_grows_by_the_same_part_each_round() {
        for (profile, growth) in [("paper", 8.0), ("linux", 8.0), ("ns3", 16.0)] {
            let mut sender = Driver::new("scalable", profile, &[], 800, Some(2));
            assert!(near(round(&mut sender), growth), "{profile}");
        }
        // 800 / 51: the extra segment of Linux 2.6.22
        assert_eq!(round(&mut Driver::new("scalable", "ns2", &[], 800, Some(2))), 15.0);
    }

    /// W = 40: one segment per 40 ACKs.
    #[test]
    fn a_small_window_grows_like_reno() {
        let mut sender = Driver::new("scalable", "linux", &[], 40, Some(2));
        (0..39).for_each(|_| sender.ack(1, None));
        assert_eq!(sender.cwnd(), 40.0);
        sender.ack(1, None);
        assert_eq!(sender.cwnd(), 41.0);
        // The paper does so up to 16 segments: 1/16 for the first ACK.
        let mut sender = Driver::new("scalable", "paper", &[], 16, Some(2));
        sender.ack(1, None);
        assert_eq!(sender.cwnd(), 16.062);
    }

    /// 800 to 700; back after ln(8/7) / ln(1 + a) rounds.
    #[test]
    fn recovery_takes_as_many_rounds_as_the_formula_says() {
        for (segments, rounds) in [(100.0, 13.42), (50.0, 6.74)] {
            let set = [("segments", Value::Number(segments))];
            let mut sender = Driver::new("scalable", "paper", &set, 800, Some(2));
            sender.congestion(Cause::Sack);
            assert_eq!(sender.cwnd(), 700.0);
            sender.recovered();
            let mut passed = 0.0;
            while sender.cwnd() < 800.0 {
                let (before, left) = (sender.cwnd(), 800.0 - sender.cwnd());
                let growth = round(&mut sender);
                passed += f64::min(1.0, left / growth.max(f64::MIN_POSITIVE));
                assert!(sender.cwnd() > before);
            }
            // The formula is for growth once per round; the last round is counted in proportion: below 0.03 of one.
            assert!((passed - rounds).abs() < 0.03, "{segments}: {passed} rounds");
        }
    }

    /// W - floor(W / 8) in whole segments, two at least.
    #[test]
    fn the_kernel_cuts_whole_segments() {
        for (w, kept) in [(800, 700.0), (17, 15.0), (9, 8.0), (7, 7.0), (2, 2.0), (1, 2.0)] {
            let mut sender = Driver::new("scalable", "linux", &[], w, None);
            sender.congestion(Cause::Sack);
            assert_eq!(sender.cwnd(), kept, "{w}");
        }
    }
}
