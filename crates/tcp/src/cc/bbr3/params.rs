//! Parameters and profiles of BBRv3, and the settings of a sender made of them. Sections are those of the text of August 2026.

use crate::cc::algorithm::Setup;
use crate::cc::parameters::{Param, ParamValues, Profile};
use crate::units::Span;

pub(super) const PROFILES: &[Profile] = &[Profile { name: "draft", set: &[], recovery: None }];

pub(super) const PARAMS: &[Param] = &[
    Param::number("startup_gain", 1.25..=4.0, 2.77)
        .doc("pacing gain while the pipe fills: 4 ln 2")
        .source("draft-ietf-ccwg-bbr section 5.3.1.1"),
    Param::number("drain_gain", 0.1..=0.99, 0.5)
        .doc("pacing gain while the queue of the start drains")
        .source("draft-ietf-ccwg-bbr section 5.3.2"),
    Param::number("up_gain", 1.0..=2.0, 1.25)
        .doc("pacing gain while probing for bandwidth")
        .source("draft-ietf-ccwg-bbr section 5.3.3.5"),
    Param::number("down_gain", 0.5..=1.0, 0.9)
        .doc("pacing gain while the queue of a probe drains")
        .source("draft-ietf-ccwg-bbr section 5.3.3.1"),
    Param::number("cwnd_gain", 1.0..=4.0, 2.0)
        .doc("window in bandwidth-delay products")
        .source("draft-ietf-ccwg-bbr section 5.6.1"),
    Param::number("up_cwnd_gain", 1.0..=4.0, 2.25)
        .doc("the same while probing for bandwidth")
        .source("draft-ietf-ccwg-bbr section 5.3.3.5"),
    Param::number("probe_rtt_gain", 0.1..=1.0, 0.5)
        .doc("the same while the minimum RTT is measured")
        .source("draft-ietf-ccwg-bbr section 5.3.4"),
    Param::number("loss_threshold", 0.001..=0.5, 0.02)
        .doc("share of lost data beyond which too much was in flight")
        .source("draft-ietf-ccwg-bbr section 5.5.10.2"),
    Param::number("beta", 0.1..=0.95, 0.7)
        .doc("what remains of a bound after a round with loss")
        .source("draft-ietf-ccwg-bbr section 5.5.10"),
    Param::number("headroom", 0.0..=0.5, 0.15)
        .doc("share of the long-term bound left to others while cruising")
        .source("draft-ietf-ccwg-bbr section 5.3.3.1"),
    Param::number("min_cwnd", 1.0..=100.0, 4.0)
        .unit("segments")
        .doc("minimum window")
        .source("draft-ietf-ccwg-bbr section 5.6.4.3"),
    Param::number("pacing_margin", 0.0..=50.0, 1.0)
        .unit("%")
        .doc("margin of the pacing rate below the estimated bandwidth")
        .source("draft-ietf-ccwg-bbr section 5.6.2"),
    Param::number("startup_losses", 1.0..=1000.0, 6.0)
        .doc("separate gaps in a round of recovery that end the start")
        .source("draft-ietf-ccwg-bbr section 5.3.1.3"),
    Param::number("probe_wait", 0.1..=60.0, 2.0)
        .unit("s")
        .doc("minimum time between probes for bandwidth; up to a second more is drawn")
        .source("draft-ietf-ccwg-bbr section 5.3.3.8"),
    Param::number("probe_rounds", 1.0..=1000.0, 63.0)
        .unit("rounds")
        .doc("maximum number of rounds between probes, so that Reno keeps up")
        .source("draft-ietf-ccwg-bbr section 5.3.3.8.2"),
    Param::number("min_rtt_window", 0.1..=1000.0, 10.0)
        .unit("s")
        .doc("lifetime of the minimum RTT")
        .source("draft-ietf-ccwg-bbr section 5.5.7.2"),
    Param::number("probe_rtt_interval", 0.1..=1000.0, 5.0)
        .unit("s")
        .doc("time without a new minimum RTT until it is measured")
        .source("draft-ietf-ccwg-bbr section 5.3.4"),
    Param::number("probe_rtt_time", 0.001..=10.0, 0.2)
        .unit("s")
        .doc("minimum length of that measurement")
        .source("draft-ietf-ccwg-bbr section 5.3.4"),
    Param::flag("precautionary", true)
        .doc(
            "the probe after one that lost too much ends where that one did, and is repeated at once if nothing is \
             lost",
        )
        .source("draft-ietf-ccwg-bbr section 5.3.3.6"),
];

/// The parameters of one sender.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) mss: f64,
    pub(super) initial_window: f64,
    pub(super) startup_gain: f64,
    pub(super) drain_gain: f64,
    pub(super) up_gain: f64,
    pub(super) down_gain: f64,
    pub(super) cwnd_gain: f64,
    pub(super) up_cwnd_gain: f64,
    pub(super) probe_rtt_gain: f64,
    pub(super) loss_threshold: f64,
    pub(super) beta: f64,
    pub(super) headroom: f64,
    pub(super) min_cwnd: f64,
    pub(super) margin: f64,
    pub(super) startup_losses: u32,
    pub(super) probe_wait: f64,
    pub(super) probe_rounds: f64,
    pub(super) min_rtt_window: Span,
    pub(super) probe_rtt_interval: Span,
    pub(super) probe_rtt_time: Span,
    pub(super) precautionary: bool,
}

impl Settings {
    pub(super) fn new(values: &ParamValues, setup: &Setup) -> Settings {
        let mss = setup.mss.as_f64();
        Settings {
            mss,
            initial_window: setup.initial_window.as_f64(),
            startup_gain: values.number("startup_gain"),
            drain_gain: values.number("drain_gain"),
            up_gain: values.number("up_gain"),
            down_gain: values.number("down_gain"),
            cwnd_gain: values.number("cwnd_gain"),
            up_cwnd_gain: values.number("up_cwnd_gain"),
            probe_rtt_gain: values.number("probe_rtt_gain"),
            loss_threshold: values.number("loss_threshold"),
            beta: values.number("beta"),
            headroom: values.number("headroom"),
            min_cwnd: values.number("min_cwnd") * mss,
            margin: values.number("pacing_margin") / 100.0,
            startup_losses: values.number("startup_losses") as u32,
            probe_wait: values.number("probe_wait"),
            probe_rounds: values.number("probe_rounds"),
            min_rtt_window: Span::from_secs_f64(values.number("min_rtt_window")),
            probe_rtt_interval: Span::from_secs_f64(values.number("probe_rtt_interval")),
            probe_rtt_time: Span::from_secs_f64(values.number("probe_rtt_time")),
            precautionary: values.flag("precautionary"),
        }
    }
}
