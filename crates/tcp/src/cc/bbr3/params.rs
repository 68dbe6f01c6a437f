//! Parameters and profiles of BBRv3, and the settings of a sender made of them. Sections are those of the text of August 2026.

use crate::cc::algorithm::Setup;
use crate::cc::parameters::{Param, ParamValues, Profile, Value};
use crate::units::Span;

pub(super) const PROFILES: &[Profile] =
    &[Profile { name: "draft", set: &[], recovery: None }, Profile { name: "linux", set: LINUX, recovery: None }];

/// Google's kernel, branch v3 (BBR_VERSION 3): gains and shares in 256ths, and what it does otherwise than the draft.
const LINUX: &[(&str, Value)] = &[
    ("startup_gain", Value::Number(710.0 / 256.0)),
    ("drain_gain", Value::Number(88.0 / 256.0)),
    ("down_gain", Value::Number(232.0 / 256.0)),
    ("headroom", Value::Number(38.0 / 256.0)),
    ("loss_threshold", Value::Number(5.0 / 256.0)),
    ("beta", Value::Number(180.0 / 256.0)),
    ("drain_rounds", Value::Number(0.0)),
    ("full_pipe_by_ack", Value::Flag(true)),
    ("losses_by_ack", Value::Flag(true)),
    ("by_departure", Value::Flag(true)),
    ("short_term_first", Value::Flag(true)),
    ("extra_slots", Value::Flag(true)),
    ("renew_min_rtt", Value::Flag(true)),
    ("tail_loss", Value::Flag(true)),
    ("timeout_bound", Value::Flag(true)),
    ("undo_state", Value::Flag(false)),
    ("kernel", Value::Flag(true)),
];

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
    Param::number("drain_rounds", 0.0..=1000.0, 3.0)
        .unit("rounds")
        .doc("draining ends after more rounds than this in any case; 0: with the queue alone")
        .source("draft-ietf-ccwg-bbr section 5.3.2; Google's kernel v3: 0"),
    Param::flag("full_pipe_by_ack", false)
        .doc("every ACK whose rate is a quarter higher begins the count of rounds without growth anew, not the first of a round alone")
        .source("Google's kernel v3"),
    Param::flag("losses_by_ack", false)
        .doc("startup_losses counts ACKs that report losses, not gaps; the bound set then has room for bundles")
        .source("Google's kernel v3"),
    Param::flag("by_departure", false)
        .doc("what is in flight is taken for the time at which pacing lets the next bundle leave")
        .source("Google's kernel v3"),
    Param::flag("short_term_first", false)
        .doc("in the start and while it drains the short-term bound alone limits the window; cruising begins with one no larger than the long-term one")
        .source("Google's kernel v3"),
    Param::flag("extra_slots", false)
        .doc("what ACK aggregation adds is the most of five to ten rounds and of 100 ms of the bandwidth at most, not the most of ten rounds")
        .source("Google's kernel v3"),
    Param::flag("renew_min_rtt", false)
        .doc("a sample that equals the minimum RTT renews it; an ACK that may have been delayed does not where it has expired")
        .source("Google's kernel v3"),
    Param::flag("tail_loss", false)
        .doc("a loss that a tail loss probe has repaired is a loss of the round, and of the probe for bandwidth")
        .source("Google's kernel v3"),
    Param::flag("timeout_bound", false)
        .doc("a time-out begins the full-pipe estimate anew, bounds what is in flight by the window before it, and gives that back at its end")
        .source("Google's kernel v3"),
    Param::flag("undo_state", true)
        .doc("a loss that was none brings the phase back too, not the bounds and the window alone")
        .source("draft-ietf-ccwg-bbr section 5.5.11.2; Google's kernel v3: off"),
    Param::flag("kernel", false)
        .doc("arithmetic and limits of the kernel: whole segments, rates in segments per microsecond in 24 bits after the point, milliseconds, bundles of BBRv1")
        .source("Google's kernel v3"),
    Param::flag("ecn", false)
        .doc("answers to marks where RTTs are up to 5 ms, with `tcp.ecn` of `dctcp` or `l4s`: alpha, a cut by a third of it, half of a round marked ends a probe")
        .source("Google's kernel v3, where a route asks for it (ecn_low)"),
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
    pub(super) drain_rounds: u64,
    pub(super) full_pipe_by_ack: bool,
    pub(super) losses_by_ack: bool,
    pub(super) by_departure: bool,
    pub(super) short_term_first: bool,
    pub(super) renew_min_rtt: bool,
    pub(super) tail_loss: bool,
    pub(super) timeout_bound: bool,
    pub(super) undo_state: bool,
    pub(super) kernel: bool,
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
            drain_rounds: values.number("drain_rounds") as u64,
            full_pipe_by_ack: values.flag("full_pipe_by_ack"),
            losses_by_ack: values.flag("losses_by_ack"),
            by_departure: values.flag("by_departure"),
            short_term_first: values.flag("short_term_first"),
            renew_min_rtt: values.flag("renew_min_rtt"),
            tail_loss: values.flag("tail_loss"),
            timeout_bound: values.flag("timeout_bound"),
            undo_state: values.flag("undo_state"),
            kernel: values.flag("kernel"),
        }
    }
}
