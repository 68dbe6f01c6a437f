//! Tahoe, Reno and NewReno: additive increase, halving (RFC 5681; Jacobson 1988).
//!
//! The three differ in how losses are repaired, which is the recovery's business, and in the window after the third
//! duplicate ACK: Tahoe starts again from one segment. Slow start adds at most `slow_start_limit` segments per ACK,
//! congestion avoidance one segment per window of acknowledged bytes. Profile `rfc` takes half of the flight, profile
//! `linux` half of cwnd. The other profiles are those of simulators, most of which count ACKs instead of bytes.

use super::algorithm::{Algorithm, Requirements, Setup};
use super::backoff::MarkBackoff;
use super::controller::CongestionControl;
use super::parameters::{BETA_ECN, Param, ParamValues, Profile, Value, strict};
use super::reno_window::{RenoWindow, SLOW_START_LIMIT};
use super::signals::{Ack, Cause, Congestion, State, View};
use super::window::{IdleRule, Window};
use crate::settings::RecoveryKind;
use crate::units::{Bytes, Span};

/// Slow start again after every loss.
pub(super) const TAHOE: Algorithm = Algorithm {
    name: "tahoe",
    title: "Tahoe: slow start after every loss",
    reference: "Jacobson 1988, Congestion Avoidance and Control",
    requirements: Requirements::NONE,
    starts: Some(1),
    params: PARAMS,
    profiles: &[
        Profile { name: "rfc", set: &[], recovery: Some(RecoveryKind::Tahoe) },
        Profile { name: "ns2", set: NS2, recovery: Some(RecoveryKind::Tahoe) },
    ],
    internals: &[],
    states: &[],
    build: &|values, setup| Box::new(Reno { dup_ack_collapses: true, ..Reno::new(values, setup) }),
};

/// Fast recovery left at the first ACK of new data.
pub(super) const RENO: Algorithm = Algorithm {
    name: "reno",
    title: "Reno: fast retransmit and fast recovery",
    reference: "RFC 5681",
    requirements: Requirements::NONE,
    starts: Some(1),
    params: PARAMS,
    profiles: &[
        Profile { name: "rfc", set: &[STRICT], recovery: Some(RecoveryKind::Reno) },
        Profile { name: "abe", set: &[STRICT, ABE], recovery: Some(RecoveryKind::Reno) },
        Profile { name: "linux", set: LINUX, recovery: None },
        Profile { name: "ns2", set: NS2, recovery: Some(RecoveryKind::Reno) },
        Profile { name: "ns3", set: NS3, recovery: Some(RecoveryKind::Sack) },
    ],
    internals: &[],
    states: &[],
    build: &|values, setup| Box::new(Reno::new(values, setup)),
};

/// Fast recovery that survives partial ACKs.
pub(super) const NEWRENO: Algorithm = Algorithm {
    name: "newreno",
    title: "NewReno: fast recovery over partial ACKs",
    reference: "RFC 5681, RFC 6582",
    requirements: Requirements::NONE,
    starts: Some(1),
    params: PARAMS,
    profiles: &[
        Profile {
            name: "rfc",
            set: &[STRICT, ("careful_exit", Value::Flag(true))],
            recovery: Some(RecoveryKind::NewReno),
        },
        Profile {
            name: "abe",
            set: &[STRICT, ABE, ("careful_exit", Value::Flag(true))],
            recovery: Some(RecoveryKind::NewReno),
        },
        Profile { name: "ns2", set: NS2, recovery: Some(RecoveryKind::NewReno) },
        Profile { name: "ns3", set: NS3_NEWRENO, recovery: Some(RecoveryKind::Sack) },
    ],
    internals: &[],
    states: &[],
    build: &|values, setup| Box::new(Reno::new(values, setup)),
};

const STRICT: (&str, Value) = ("strict", Value::Flag(true));

/// RFC 8511 §3.1.
const ABE: (&str, Value) = (BETA_ECN.name, Value::Number(0.8));

const LINUX: &[(&str, Value)] = &[
    ("slow_start_limit", Value::Number(1e6)),
    ("half_of_cwnd", Value::Flag(true)),
    ("mark_floor", Value::Number(2.0)),
];

const NS2: &[(&str, Value)] = &[
    ("half_of_cwnd", Value::Flag(true)),
    ("half_of_rwnd", Value::Flag(true)),
    ("per_ack", Value::Flag(true)),
    ("mark_floor", Value::Number(2.0)),
];

const NS3: &[(&str, Value)] = &[("slow_start_limit", Value::Number(1e6)), ("mark_floor", Value::Number(2.0))];

const NS3_NEWRENO: &[(&str, Value)] = &[("per_ack", Value::Flag(true)), ("mark_floor", Value::Number(2.0))];

const PARAMS: &[Param] = &[
    SLOW_START_LIMIT,
    Param::number("beta", 0.1..=0.9, 0.5).doc("what remains of the window after a loss").source("RFC 5681 eq. 4"),
    BETA_ECN,
    Param::number("mark_floor", 1.0..=2.0, 1.0)
        .unit("segments")
        .doc("minimum window after an ECN echo; after a loss it is two segments")
        .source("RFC 3168 section 6.1.2, RFC 9438 figure 5; Linux, ns-2 and ns-3 2"),
    strict(),
    Param::flag("half_of_cwnd", false)
        .doc("ssthresh from cwnd, in whole segments, instead of from the flight; idle windows halve per time-out")
        .source("Linux and ns-2 take cwnd, RFC 5681 eq. 4 the flight"),
    Param::flag("half_of_rwnd", false)
        .doc("with half_of_cwnd: of no more than the receiver's window, which bounds what is sent if cwnd does not")
        .source("ns-2.35 halves min(cwnd, window_)"),
    Param::flag("per_ack", false)
        .doc("an ACK adds a segment in slow start, MSS^2/cwnd bytes beyond, whatever it acknowledges")
        .source("RFC 5681 eq. 3; ns-2.35 and ns-3's NewReno"),
    Param::flag("real_window", false)
        .doc("with per_ack: the window is a real number of segments; without it bytes are rounded down")
        .source("ns-2.35"),
    Param::flag("careful_exit", false)
        .doc("leave recovery with at most one segment more than the flight, against bursts")
        .source("RFC 6582 section 3.2 step 3, option 1"),
];

#[derive(Debug)]
struct Reno {
    reno: RenoWindow,
    beta: f64,
    backoff: MarkBackoff<Bytes, f64>,
    mark_floor: f64,
    strict: bool,
    half_of_cwnd: bool,
    half_of_rwnd: bool,
    per_ack: bool,
    /// What the window has beyond whole bytes, in bytes; for `real_window`.
    fraction: Option<f64>,
    careful_exit: bool,
    dup_ack_collapses: bool,
}

impl Reno {
    fn new(values: &ParamValues, setup: &Setup) -> Reno {
        let half_of_cwnd = values.flag("half_of_cwnd");
        Reno {
            reno: RenoWindow::new(values, setup, IdleRule::of(half_of_cwnd)),
            beta: values.number("beta"),
            backoff: MarkBackoff::new(values.beta_ecn()),
            mark_floor: values.number("mark_floor"),
            strict: values.flag("strict"),
            half_of_cwnd,
            half_of_rwnd: values.flag("half_of_rwnd"),
            per_ack: values.flag("per_ack"),
            fraction: values.flag("real_window").then_some(0.0),
            careful_exit: values.flag("careful_exit"),
            dup_ack_collapses: false,
        }
    }
}

impl CongestionControl for Reno {
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        if self.dup_ack_collapses && view.state == State::Recovery && ack.cumulative_segments > 0 {
            // Its slow start repairs by SACK too; what arrived before the loss was seen opens nothing, as duplicate ACKs do not.
            self.reno.window.grow_per_ack(1, view.mss);
            return;
        }
        if !view.may_grow || ack.acked == Bytes::ZERO {
            return;
        }
        if let Some(fraction) = self.fraction.as_mut().filter(|_| self.per_ack) {
            let (mss, cwnd) = (view.mss.as_f64(), self.reno.window.cwnd.as_f64() + *fraction);
            let grown = cwnd + if self.reno.window.in_slow_start() { mss } else { mss * mss / cwnd };
            self.reno.window.cwnd = Bytes(grown as u64);
            *fraction = grown - self.reno.window.cwnd.as_f64();
            return;
        }
        if self.per_ack {
            self.reno.window.grow_per_ack(ack.acked_segments.max(1), view.mss);
            return;
        }
        self.reno.grow(ack, view);
    }

    fn on_congestion(&mut self, event: &Congestion, view: &View) {
        let base = match (self.half_of_cwnd, self.half_of_rwnd) {
            _ if event.again => self.reno.window.ssthresh,
            (true, true) => self.reno.window.cwnd.min(view.rwnd),
            (true, false) => self.reno.window.cwnd,
            (false, _) => event.flight,
        };
        self.fraction = self.fraction.map(|_| 0.0);
        let (base, beta) = self.backoff.of(event, base, self.beta);
        // RFC 5681 eq. 4: ssthresh = max(FlightSize / 2, 2 SMSS), and RFC 3168 §6.1.2: an echo takes cwnd to one segment
        let floor = if event.cause == Cause::Ecn { self.mark_floor } else { 2.0 };
        let mut ssthresh = Bytes((base.as_f64() * beta).max(floor * view.mss.as_f64()) as u64);
        if self.half_of_cwnd {
            // Whoever halves cwnd counts whole segments.
            ssthresh = view.mss * ssthresh.segments(view.mss);
        }
        if self.dup_ack_collapses {
            self.reno.counter.reset();
            self.reno.window.collapse(ssthresh, event);
        } else {
            self.reno.reduce(ssthresh, event);
        }
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.reno.window
    }

    fn on_recovery_end(&mut self, view: &View) {
        if self.careful_exit {
            // RFC 6582 §3.2 step 3 (1): cwnd = min(ssthresh, max(FlightSize, SMSS) + SMSS)
            self.reno.window.cwnd = self.reno.window.ssthresh.min(view.flight.max(view.mss) + view.mss);
        }
    }

    fn is_strict(&self) -> bool {
        self.strict
    }

    fn beta(&self) -> f64 {
        self.beta
    }

    fn spares_marks(&self) -> bool {
        self.backoff.spares_marks()
    }

    fn on_idle(&mut self, idle: Span, view: &View) {
        self.reno.on_idle(idle, view);
    }
}

#[cfg(test)]
mod tests {
    use super::super::driver::Driver;
    use crate::cc::signals::Cause;

    /// RFC 5681 §3.1, eq. 2 to 4.
    #[test]
    fn vectors_of_algorithms_7_1() {
        let mut reno = Driver::new("reno", "rfc", &[], 1, Some(20));
        for cwnd in [2.0, 4.0, 8.0, 16.0, 20.0, 21.0] {
            (0..reno.cwnd() as u32).for_each(|_| reno.ack(1, None));
            assert_eq!(reno.cwnd(), cwnd);
        }
        for (name, cwnd) in [("tahoe", 1.0), ("reno", 10.0), ("newreno", 10.0)] {
            let mut sender = Driver::new(name, "rfc", &[], 20, None);
            sender.congestion(Cause::DupAck);
            assert_eq!((sender.cwnd(), sender.ssthresh()), (cwnd, 10.0), "{name}");
        }
    }

    /// RFC 3168 §6.1.2 and RFC 9438 figure 5: marks take the window to one segment, losses to two; Linux keeps two.
    #[test]
    fn marks_go_below_losses() {
        for (name, profile, least) in [
            ("reno", "rfc", 1.0),
            ("newreno", "rfc", 1.0),
            ("cubic", "rfc", 1.0),
            ("reno", "linux", 2.0),
            ("reno", "ns3", 2.0),
        ] {
            let mut sender = Driver::new(name, profile, &[], 3, None);
            (0..4).for_each(|_| sender.congestion(Cause::Ecn));
            assert_eq!(sender.cwnd(), least, "{name} {profile}: marks");
            (0..4).for_each(|_| sender.congestion(Cause::Rack));
            assert_eq!(sender.cwnd(), 2.0, "{name} {profile}: losses");
        }
    }

    /// RFC 5681 §4.3: the loss of a retransmission lowers cwnd and ssthresh a second time; an undo returns to the first state.
    #[test]
    fn a_lost_retransmission_reduces_again() {
        for (name, once, twice) in [("reno", 10.0, 5.0), ("newreno", 10.0, 5.0), ("cubic", 14.0, 9.8)] {
            let mut sender = Driver::new(name, "rfc", &[], 20, None);
            assert!(sender.cc.is_strict(), "{name}");
            let before = sender.cc.window();
            sender.congestion(Cause::Rack);
            assert_eq!((sender.cwnd(), sender.ssthresh()), (once, once), "{name}");
            sender.lost_again();
            assert_eq!((sender.cwnd(), sender.ssthresh()), (twice, twice), "{name}");
            sender.cc.on_undo(before, &sender.view);
            assert_eq!(sender.cc.window(), before, "{name}");
        }
        assert!(["reno", "cubic"].iter().all(|name| !Driver::new(name, "linux", &[], 20, None).cc.is_strict()));
    }

    /// With ACKs counted, a round of ten ACKs adds a segment less what the rounding takes.
    #[test]
    fn per_ack_growth_of_the_simulators() {
        for (name, profile) in [("tahoe", "ns2"), ("reno", "ns2"), ("newreno", "ns2"), ("newreno", "ns3")] {
            let mut sender = Driver::new(name, profile, &[], 8, Some(10));
            sender.ack(2, None);
            sender.ack(2, None);
            assert_eq!(sender.cwnd(), 10.1, "{name}: two segments of slow start, and the second ACK's other segment");
            (0..10).for_each(|_| sender.ack(2, None));
            assert!((11.0..11.1).contains(&sender.cwnd()), "{name}: {}", sender.cwnd());
        }
    }

    #[test]
    fn ns2_halves_what_the_receiver_lets_it_use() {
        let mut sender = Driver::new("newreno", "ns2", &[], 45, None);
        sender.view.rwnd = super::super::driver::MSS * 21;
        sender.congestion(Cause::DupAck);
        assert_eq!((sender.cwnd(), sender.ssthresh()), (10.0, 10.0));
        let mut sender = Driver::new("reno", "ns2", &[], 5, None);
        sender.congestion(Cause::Timeout);
        assert_eq!((sender.cwnd(), sender.ssthresh()), (1.0, 2.0));
    }

    #[test]
    fn ns3_reno_counts_segments() {
        let mut sender = Driver::new("reno", "ns3", &[], 4, None);
        sender.ack(4, None);
        assert_eq!(sender.cwnd(), 8.0);
    }
}
