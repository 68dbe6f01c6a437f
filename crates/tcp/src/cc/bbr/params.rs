//! Parameters and profiles of BBRv1, and the settings of a sender made of them.

use super::rate;
use crate::cc::algorithm::Setup;
use crate::cc::parameters::{Param, ParamValues, Profile, Value};
use crate::units::{Bytes, Span};

pub(super) const PROFILES: &[Profile] =
    &[Profile { name: "linux", set: &[], recovery: None }, Profile { name: "ns3", set: NS3, recovery: None }];

const NS3: &[(&str, Value)] =
    &[("startup_gain", Value::Number(2.89)), ("bundles", Value::Flag(false)), ("policer", Value::Flag(false))];

pub(super) const PARAMS: &[Param] = &[
    Param::number("startup_gain", 1.25..=3.9, 739.0 / 256.0)
        .doc("pacing and cwnd gain while the pipe fills, in steps of 1/256; its inverse drains the queue")
        .source("Linux tcp_bbr: 2/ln 2, in 256ths and one more; ns-3 2.89"),
    Param::number("cwnd_gain", 1.0..=3.9, 2.0)
        .doc("window in bandwidth-delay products once the pipe is full")
        .source("Linux tcp_bbr"),
    Param::number("bw_window", 2.0..=1000.0, 10.0)
        .unit("rounds")
        .doc("how long the largest delivery rate is remembered")
        .source("Linux tcp_bbr: a cycle of eight phases and two rounds"),
    Param::number("min_rtt_window", 0.1..=1000.0, 10.0)
        .unit("s")
        .doc("lifetime of the minimum RTT, after which the window dips to measure it again")
        .source("Linux tcp_bbr"),
    Param::number("probe_rtt_time", 0.001..=10.0, 0.2)
        .unit("s")
        .doc("minimum length of that dip")
        .source("Linux tcp_bbr"),
    Param::number("min_cwnd", 1.0..=100.0, 4.0)
        .unit("segments")
        .doc("minimum window, and the window of the dip")
        .source("Linux tcp_bbr"),
    Param::number("pacing_margin", 0.0..=50.0, 1.0)
        .unit("%")
        .doc("margin of the pacing rate below the estimated bandwidth, to keep the queue short")
        .source("Linux tcp_bbr since 5.1; absent before"),
    Param::flag("bundles", true)
        .doc(
            "segments leave in bundles of a millisecond's worth, two at least from 1.2 Mbit/s on, and the window is \
             even",
        )
        .source("Linux tcp_bbr, tcp_tso_autosize; ns-3 sends one at a time"),
    Param::flag("policer", true)
        .doc("where two intervals with a fifth of loss agree on a rate, a policer is taken to enforce it")
        .source("Linux tcp_bbr calls it long-term bandwidth"),
    Param::flag("ack_aggregation", true)
        .doc("the window grows by what ACKs acknowledge in a burst beyond the estimated bandwidth (ACK aggregation)")
        .source("Linux tcp_bbr since 5.1"),
];

/// The parameters of one sender.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) mss: Bytes,
    pub(super) startup_gain: u64,
    pub(super) cwnd_gain: u64,
    pub(super) bw_window: u64,
    pub(super) min_rtt_window: Span,
    pub(super) probe_rtt_time: Span,
    pub(super) min_cwnd: u64,
    pub(super) margin: u64,
    pub(super) bundles: bool,
}

impl Settings {
    pub(super) fn new(values: &ParamValues, setup: &Setup) -> Settings {
        Settings {
            mss: setup.mss,
            startup_gain: rate::gain(values.number("startup_gain")),
            cwnd_gain: rate::gain(values.number("cwnd_gain")),
            bw_window: values.number("bw_window") as u64,
            min_rtt_window: Span::from_secs_f64(values.number("min_rtt_window")),
            probe_rtt_time: Span::from_secs_f64(values.number("probe_rtt_time")),
            min_cwnd: values.number("min_cwnd") as u64,
            margin: values.number("pacing_margin") as u64,
            bundles: values.flag("bundles"),
        }
    }
}
