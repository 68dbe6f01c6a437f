//! ASRAN: after a loss, slow start back to the window that was reached before the loss before.
//!
//! In a network of drones a route breaks and heals without a change of capacity, so the window that a loss found is worth
//! remembering: ssthresh is the larger of it and half of the present one (Lee, Lee, Kim, Kim, Applied Sciences 10:1161,
//! 2020). The rest is NewReno as in ns-3, where the study ran: growth by the ACK. Profile `code` does
//! what the study measured, `report` what its text says, `paper` what it says of the original, whose body is not at hand.

use crate::cc::algorithm::{Algorithm, Internal, Requirements, Setup};
use crate::cc::controller::CongestionControl;
use crate::cc::parameters::{Param, ParamValues, Profile, Value};
use crate::cc::signals::{Ack, Cause, Congestion, State, View};
use crate::cc::window::{IdleRule, Window};
use crate::units::{Bytes, Span};

/// Slow start back to the last maximum.
pub(crate) const ASRAN: Algorithm = Algorithm {
    name: "asran",
    title: "ASRAN: slow start back to the window of the last loss",
    reference: "Lee et al. 2020, Adaptive TCP Transmission Adjustment for UAV Network Infrastructure",
    requirements: Requirements::NONE,
    starts: Some(1),
    params: PARAMS,
    profiles: &[
        Profile { name: "code", set: &[], recovery: None },
        Profile { name: "report", set: REPORT, recovery: None },
        Profile { name: "paper", set: PAPER, recovery: None },
    ],
    internals: INTERNALS,
    states: &[],
    build: &|values, setup| Box::new(Asran::new(values, setup)),
};

/// What it shows of itself.
const INTERNALS: &[Internal] = &[Internal::of("last_max_bytes", "window before the last loss")];

const REPORT: &[(&str, Value)] = &[
    ("half_of_cwnd", Value::Flag(true)),
    ("halve_on_dupack", Value::Flag(true)),
    ("rto_in_recovery_updates", Value::Flag(false)),
];

const PAPER: &[(&str, Value)] = &[
    ("half_of_cwnd", Value::Flag(true)),
    ("halve_on_dupack", Value::Flag(true)),
    ("every_loss_updates", Value::Flag(true)),
];

const PARAMS: &[Param] = &[
    Param::flag("half_of_cwnd", false)
        .doc("the window of a loss is cwnd, instead of the flight")
        .source("the report says cwnd, the study's code takes the flight"),
    Param::flag("halve_on_dupack", false)
        .doc(
            "after fast retransmit cwnd is half, and slow start leads to ssthresh; else it is ssthresh at once, \
             which may be no reduction",
        )
        .source("the report says half; in ns-3 recovery brings cwnd to ssthresh"),
    Param::flag("rto_in_recovery_updates", true)
        .doc("a time-out that interrupts fast recovery is remembered too")
        .source("order of calls in ns-3"),
    Param::flag("every_loss_updates", false)
        .doc("the window of a time-out is remembered, as that of a fast retransmit is")
        .source("the paper"),
];

#[derive(Debug)]
struct Asran {
    window: Window,
    initial_window: Bytes,
    half_of_cwnd: bool,
    halve_on_dupack: bool,
    rto_in_recovery_updates: bool,
    every_loss_updates: bool,
    /// The window of the last loss that is remembered.
    last_max: Bytes,
}

impl Asran {
    fn new(values: &ParamValues, setup: &Setup) -> Asran {
        Asran {
            window: Window { cwnd: setup.initial_window, ssthresh: setup.initial_ssthresh },
            initial_window: setup.initial_window,
            half_of_cwnd: values.flag("half_of_cwnd"),
            halve_on_dupack: values.flag("halve_on_dupack"),
            rto_in_recovery_updates: values.flag("rto_in_recovery_updates"),
            every_loss_updates: values.flag("every_loss_updates"),
            last_max: Bytes::ZERO,
        }
    }

    /// An ECN echo and a lost tail are no route break: fast retransmit is what the study's code looks for.
    fn is_remembered(&self, event: &Congestion) -> bool {
        match event.cause {
            Cause::DupAck | Cause::Sack | Cause::Rack | Cause::HeadTimeout => true,
            Cause::Tlp | Cause::Ecn | Cause::Algorithm => false,
            Cause::Timeout if !event.first => false,
            Cause::Timeout => {
                self.every_loss_updates || (self.rto_in_recovery_updates && event.state_before == State::Recovery)
            }
        }
    }
}

impl CongestionControl for Asran {
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        if view.may_grow && ack.acked > Bytes::ZERO {
            self.window.grow_per_ack(ack.acked_segments.max(1), view.mss);
        }
    }

    fn on_congestion(&mut self, event: &Congestion, view: &View) {
        let reached = if self.half_of_cwnd { self.window.cwnd } else { event.flight };
        let half = Bytes(reached.0 / 2).max(view.mss * 2);
        // ssthresh = max(last_max, max(2 MSS, X / 2)), then last_max = X
        let ssthresh = self.last_max.max(half);
        if self.is_remembered(event) && reached > Bytes::ZERO {
            self.last_max = reached;
        }
        if event.cause == Cause::Timeout {
            self.window.collapse(ssthresh, event);
        } else {
            let cwnd = if self.halve_on_dupack { half } else { ssthresh };
            self.window = Window { cwnd, ssthresh };
        }
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    fn on_idle(&mut self, idle: Span, view: &View) {
        self.window.on_idle(idle, view, self.initial_window, IdleRule::Restart);
    }

    fn observe(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("last_max_bytes", self.last_max.as_f64());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::config::CcConfig;

    const MSS: Bytes = Bytes(1460);

    fn asran(profile: &str, changed: &[(&str, Value)]) -> Asran {
        let changed: Vec<_> = changed.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        let setup = Setup::plain(MSS, MSS * 10);
        Asran::new(&CcConfig::by_name("asran", Some(profile), &changed).unwrap().values, &setup)
    }

    /// A loss at a window of `cwnd` segments, all of them in flight. Returns ssthresh, last_max and cwnd after it.
    fn lose_in(state: State, asran: &mut Asran, cwnd: u64, cause: Cause) -> [u64; 3] {
        asran.window.cwnd = MSS * cwnd;
        let flight = MSS * cwnd;
        let event =
            Congestion { cause, state_before: state, flight, first: true, again: false, loss_window: MSS, head: None };
        asran.on_congestion(&event, &View { mss: MSS, ..View::default() });
        [asran.window.ssthresh, asran.last_max, asran.window.cwnd].map(|bytes| bytes.segments(MSS))
    }

    fn lose(asran: &mut Asran, cwnd: u64, cause: Cause) -> [u64; 3] {
        lose_in(State::Open, asran, cwnd, cause)
    }

    #[test]
    fn a1_to_a4_of_the_specification() {
        for (profile, second) in [("report", 15), ("code", 40)] {
            let mut sender = asran(profile, &[]);
            assert_eq!(lose(&mut sender, 40, Cause::DupAck), [20, 40, 20], "{profile}");
            assert_eq!(lose(&mut sender, 30, Cause::DupAck), [40, 30, second], "{profile}");
            assert_eq!(lose(&mut sender, 30, Cause::Timeout), [30, 30, 1], "{profile}");
            assert_eq!(lose(&mut sender, 70, Cause::DupAck), [35, 70, 35], "{profile}");
        }
    }

    #[test]
    fn a5_the_paper_remembers_time_outs() {
        let mut sender = asran("paper", &[]);
        assert_eq!(lose(&mut sender, 40, Cause::DupAck), [20, 40, 20]);
        assert_eq!(lose(&mut sender, 8, Cause::Timeout), [40, 8, 1]);
        assert_eq!(lose(&mut sender, 30, Cause::DupAck), [15, 30, 15]);
    }

    #[test]
    fn the_window_of_a_loss_is_cwnd_or_the_flight() {
        for (profile, ssthresh, last_max) in [("code", 8, 16), ("report", 20, 40)] {
            let mut sender = asran(profile, &[]);
            sender.window.cwnd = MSS * 40;
            let event = Congestion {
                cause: Cause::Sack,
                state_before: State::Open,
                flight: MSS * 16,
                first: true,
                again: false,
                loss_window: MSS,
                head: None,
            };
            sender.on_congestion(&event, &View { mss: MSS, ..View::default() });
            assert_eq!((sender.window.ssthresh, sender.last_max), (MSS * ssthresh, MSS * last_max), "{profile}");
        }
    }

    #[test]
    fn a_time_out_in_fast_recovery_counts_in_the_studys_code() {
        for (profile, last_max) in [("code", 10), ("report", 20), ("paper", 10)] {
            let mut sender = asran(profile, &[]);
            lose(&mut sender, 20, Cause::Sack);
            assert_eq!(lose_in(State::Recovery, &mut sender, 10, Cause::Timeout), [20, last_max, 1], "{profile}");
        }
    }

    #[test]
    fn an_echo_is_answered_but_not_remembered() {
        let mut sender = asran("code", &[]);
        assert_eq!(lose(&mut sender, 40, Cause::Ecn), [20, 0, 20]);
        assert_eq!(lose(&mut sender, 30, Cause::DupAck), [15, 30, 15]);
        assert_eq!(lose(&mut sender, 30, Cause::Ecn), [30, 30, 30]);
    }

    #[test]
    fn nothing_in_flight_is_not_remembered() {
        let mut sender = asran("code", &[]);
        assert_eq!(lose(&mut sender, 0, Cause::DupAck), [2, 0, 2]);
    }
}
