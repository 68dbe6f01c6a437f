//! DCTCP: the window comes down in proportion to the share of marked bytes (RFC 8257; Alizadeh et al. 2010).
//!
//! Once per round trip the marked share F enters a moving average alpha; an echo of marks takes alpha / 2 of the window, at
//! most once per window of data. Losses halve it, and between reductions it grows as Reno's. Profile `rfc` counts what the
//! ACK under way reports before alpha is used, in real numbers; profile `linux` is the kernel's integer form, which looks
//! before it counts. The receiver's half, an echo that follows every change of state, is in `ecn.rs`. Not modelled: pacing
//! below two segments, and Linux's protective load balancing, which moves a flow to another path.

use super::algorithm::{Algorithm, Internal, Requirements, Setup};
use super::controller::CongestionControl;
use super::parameters::{Param, ParamValues, Profile, Value};
use super::reno_window::{RenoWindow, SLOW_START_LIMIT};
use super::signals::{Ack, Cause, Congestion, State, View};
use super::window::{IdleRule, Window};
use crate::seq::SeqNo;
use crate::settings::EcnMode;
use crate::units::{Bytes, Span};

/// Reduction by the share of marks.
pub(super) const DCTCP: Algorithm = Algorithm {
    name: "dctcp",
    title: "DCTCP: a reduction in proportion to the alpha of marks",
    reference: "RFC 8257; Alizadeh et al. 2010, Data Center TCP",
    requirements: Requirements { ecn: Some(EcnMode::Dctcp), ..Requirements::NONE },
    starts: Some(1),
    params: PARAMS,
    profiles: &[
        Profile { name: "rfc", set: &[], recovery: None },
        Profile { name: "linux", set: LINUX, recovery: None },
    ],
    internals: INTERNALS,
    states: &[],
    build: &|values, setup| Box::new(Dctcp::new(values, setup)),
};

/// What it shows of itself.
const INTERNALS: &[Internal] = &[Internal::of("alpha", "share of marked bytes, smoothed")];

const LINUX: &[(&str, Value)] = &[("integer", Value::Flag(true)), ("slow_start_limit", Value::Number(1e6))];

const PARAMS: &[Param] = &[
    Param::number("gain", 1.0 / 1024.0..=1.0, 1.0 / 16.0)
        .doc("weight of the last round trip in alpha; the integer form takes the nearest part 1/n")
        .source("RFC 8257 section 4.2; Linux dctcp_shift_g"),
    Param::number("first_alpha", 0.0..=1.0, 1.0)
        .doc("alpha before anything is known; 1 makes the first reduction a halving")
        .source("RFC 8257 section 4.2; Linux dctcp_alpha_on_init"),
    SLOW_START_LIMIT,
    Param::flag("integer", false)
        .doc(
            "the kernel's arithmetic: alpha in 1/1024, whole segments, losses measured against cwnd, and an ACK that \
             ends a round trip belongs to the next",
        )
        .source("Linux tcp_dctcp"),
];

/// alpha, and how it is reckoned.
#[derive(Clone, Copy, Debug)]
enum Alpha {
    Real {
        alpha: f64,
        gain: f64,
    },
    /// alpha in 1/1024; the weight is one of this many parts.
    Integer {
        alpha: u64,
        parts: u64,
    },
}

impl Alpha {
    fn new(values: &ParamValues) -> Alpha {
        let (alpha, gain) = (values.number("first_alpha"), values.number("gain"));
        if values.flag("integer") {
            Alpha::Integer { alpha: (1024.0 * alpha) as u64, parts: libm::round(1.0 / gain) as u64 }
        } else {
            Alpha::Real { alpha, gain }
        }
    }

    /// A round trip has ended in which `marked` of `delivered` bytes were marked.
    fn take(&mut self, marked: Bytes, delivered: Bytes) {
        let most = delivered.0.max(1);
        match self {
            // RFC 8257 §3.3 step 6: alpha = alpha (1 - g) + g M
            Alpha::Real { alpha, gain } => {
                let marked_share = (marked.as_f64() / most as f64).min(1.0);
                *alpha += *gain * (marked_share - *alpha);
            }
            Alpha::Integer { alpha, parts } => {
                // Below one part in `parts` the average still falls, or it would never reach zero.
                let down = (*alpha / *parts).max(1).min(*alpha);
                let up = u128::from(marked.0) * u128::from(1024 / *parts) / u128::from(most);
                *alpha = (*alpha - down + up.min(1024) as u64).min(1024);
            }
        }
    }

    fn value(&self) -> f64 {
        match *self {
            Alpha::Real { alpha, .. } => alpha,
            Alpha::Integer { alpha, .. } => alpha as f64 / 1024.0,
        }
    }

    /// RFC 8257 §3.3 step 9: cwnd = cwnd (1 - alpha / 2)
    fn reduced(&self, cwnd: Bytes, mss: Bytes) -> Bytes {
        match *self {
            Alpha::Real { alpha, .. } => Bytes((cwnd.as_f64() * (1.0 - alpha / 2.0)) as u64),
            Alpha::Integer { alpha, .. } => {
                let segments = cwnd.segments(mss);
                mss * (segments - ((u128::from(segments) * u128::from(alpha)) >> 11) as u64)
            }
        }
        .max(mss * 2)
    }

    fn is_integer(&self) -> bool {
        matches!(self, Alpha::Integer { .. })
    }
}

/// Counts of delivered and marked bytes since the start.
#[derive(Clone, Copy, Debug, Default)]
struct DeliveredCounts {
    delivered: Bytes,
    marked: Bytes,
}

impl DeliveredCounts {
    fn of(view: &View) -> DeliveredCounts {
        DeliveredCounts { delivered: view.delivered, marked: view.delivered_ce }
    }
}

#[derive(Debug)]
struct Dctcp {
    reno: RenoWindow,
    alpha: Alpha,
    /// DCTCP.WindowEnd: the round trip ends when this is acknowledged.
    round_end: SeqNo,
    at_round_start: DeliveredCounts,
    at_last_ack: DeliveredCounts,
    /// The ACK under way has ended its round trip already.
    round_taken: bool,
    state: State,
}

impl Dctcp {
    fn new(values: &ParamValues, setup: &Setup) -> Dctcp {
        Dctcp {
            reno: RenoWindow::new(values, setup, IdleRule::of(values.flag("integer"))),
            alpha: Alpha::new(values),
            round_end: SeqNo::default(),
            at_round_start: DeliveredCounts::default(),
            at_last_ack: DeliveredCounts::default(),
            round_taken: false,
            state: State::Open,
        }
    }

    /// Ends the round trip if the ACK under way does; at most once per ACK.
    fn end_round(&mut self, view: &View) {
        if self.round_taken || view.snd_una < self.round_end {
            return;
        }
        self.round_taken = true;
        // Linux asks before it counts what the ACK reports, RFC 8257 §3.3 after.
        let now = if self.alpha.is_integer() { self.at_last_ack } else { DeliveredCounts::of(view) };
        let start = self.at_round_start;
        let marked = now.marked.saturating_sub(start.marked);
        self.alpha.take(marked, now.delivered.saturating_sub(start.delivered));
        self.at_round_start = now;
        self.round_end = view.snd_nxt;
    }

    /// Half of `cwnd`: what a loss leaves (RFC 8257 §3.5).
    fn half(&self, cwnd: Bytes, mss: Bytes) -> Bytes {
        let half = if self.alpha.is_integer() { mss * (cwnd.segments(mss) / 2) } else { cwnd / 2 };
        half.max(mss * 2)
    }
}

impl CongestionControl for Dctcp {
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        self.end_round(view);
        self.round_taken = false;
        self.at_last_ack = DeliveredCounts::of(view);
        if (self.state, view.state) == (State::Cwr, State::Recovery) {
            // A loss while the window comes down for marks halves what is left of it: RFC 8257 §3.5 leaves no choice. The
            // episode has begun already, so that nobody asks.
            let left = ack.prior_pipe.min(self.reno.window.cwnd);
            self.reno.window.cut(self.half(left, view.mss));
        }
        self.state = view.state;
        self.reno.grow(ack, view);
    }

    fn on_congestion(&mut self, event: &Congestion, view: &View) {
        if event.cause == Cause::Ecn {
            self.reno.counter.reset();
            self.end_round(view);
            self.reno.window.cut(self.alpha.reduced(self.reno.window.cwnd, view.mss));
            return;
        }
        let base = if self.alpha.is_integer() { self.reno.window.cwnd } else { event.flight };
        let ssthresh = self.half(base, view.mss);
        self.reno.reduce(ssthresh, event);
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.reno.window
    }

    fn on_idle(&mut self, idle: Span, view: &View) {
        self.reno.on_idle(idle, view);
    }

    fn observe(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("alpha", self.alpha.value());
    }
}

#[cfg(test)]
mod tests {
    use super::super::driver::{Driver, MSS, near};
    use super::*;
    use crate::cc::config::CcConfig;

    /// RFC 8257 §3.3: alpha 1 and a quarter marked; alpha 0.1; the floor.
    #[test]
    fn vectors_of_algorithms_8_10() {
        for (profile, alpha, window) in [("rfc", 0.953125, 52.34375), ("linux", 976.0 / 1024.0, 53.0)] {
            let mut estimator = Alpha::new(&CcConfig::by_name("dctcp", Some(profile), &[]).unwrap().values);
            estimator.take(MSS * 25, MSS * 100);
            assert!(near(estimator.value(), alpha), "{profile}: {}", estimator.value());
            let reduced = estimator.reduced(MSS * 100, MSS).as_f64() / MSS.as_f64();
            assert!((reduced - window).abs() <= 1e-3, "{profile}: {reduced}");
        }
        assert_eq!(Alpha::Real { alpha: 0.1, gain: 0.0625 }.reduced(MSS * 100, MSS), MSS * 95);
        assert_eq!(Alpha::Real { alpha: 1.0, gain: 0.0625 }.reduced(MSS * 3, MSS), MSS * 2);
    }

    #[test]
    fn an_echo_takes_half_of_alpha_and_a_loss_half_of_the_window() {
        for profile in ["rfc", "linux"] {
            for (cause, cwnd) in [(Cause::Ecn, 80.0), (Cause::Rack, 50.0), (Cause::Timeout, 1.0)] {
                let changed = [("first_alpha", Value::Number(0.4)), ("gain", Value::Number(1.0 / 1024.0))];
                let mut dctcp = Driver::new("dctcp", profile, &changed, 100, None);
                // The round trip under way ends later than this echo.
                dctcp.ack(1, None);
                dctcp.view.snd_una.0 -= 1;
                let slow_start = dctcp.cwnd() - 100.0;
                dctcp.congestion(cause);
                let wanted = if cause == Cause::Timeout { cwnd } else { cwnd + slow_start * cwnd / 100.0 };
                assert!((dctcp.cwnd() - wanted).abs() <= 1.0, "{profile}, {cause:?}: {}", dctcp.cwnd());
            }
        }
    }

    #[test]
    fn a_loss_in_cwr_halves_what_is_left() {
        for profile in ["rfc", "linux"] {
            let mut dctcp = Driver::new("dctcp", profile, &[("first_alpha", Value::Number(0.1))], 100, None);
            dctcp.congestion(Cause::Ecn);
            dctcp.ack(1, None);
            assert!((dctcp.cwnd() - 95.0).abs() <= 1.0, "{profile}: {}", dctcp.cwnd());
            (dctcp.view.state, dctcp.view.pipe) = (State::Recovery, MSS * 96);
            dctcp.ack(1, None);
            assert!((dctcp.cwnd() - 48.0).abs() <= 0.5, "{profile}: {}", dctcp.cwnd());
            dctcp.ack(1, None);
            assert!((dctcp.cwnd() - 48.0).abs() <= 0.5, "once");
        }
    }

    #[test]
    fn the_ack_that_ends_a_round_trip_counts_for_it_by_the_rfc_and_for_the_next_in_linux() {
        for (profile, wanted) in [("rfc", [1.0, 0.9]), ("linux", [0.9, 0.91])] {
            let mut dctcp = Driver::new("dctcp", profile, &[("gain", Value::Number(0.1))], 100, Some(100));
            dctcp.view.may_grow = false;
            dctcp.view.delivered_ce = MSS * 100;
            for alpha in wanted {
                dctcp.ack(100, None);
                assert!((dctcp.internal("alpha") - alpha).abs() < 0.005, "{profile}: {}", dctcp.internal("alpha"));
            }
        }
    }
}
