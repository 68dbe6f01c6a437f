//! Parameters and profiles of BBRv1.

use crate::cc::parameters::{Param, ParamKind, Profile, Value};

pub(super) const PROFILES: &[Profile] =
    &[Profile { name: "linux", set: &[], recovery: None }, Profile { name: "ns3", set: NS3, recovery: None }];

const NS3: &[(&str, Value)] =
    &[("startup_gain", Value::Number(2.89)), ("bundles", Value::Flag(false)), ("policer", Value::Flag(false))];

pub(super) const PARAMS: &[Param] = &[
    Param {
        name: "startup_gain",
        kind: ParamKind::Number { min: 1.25, max: 3.9 },
        default: Value::Number(739.0 / 256.0),
        unit: "",
        doc: "pacing and cwnd gain while the pipe fills, in steps of 1/256; its inverse drains the queue",
        source: "Linux tcp_bbr: 2/ln 2, in 256ths and one more; ns-3 2.89",
    },
    Param {
        name: "cwnd_gain",
        kind: ParamKind::Number { min: 1.0, max: 3.9 },
        default: Value::Number(2.0),
        unit: "",
        doc: "window in bandwidth-delay products once the pipe is full",
        source: "Linux tcp_bbr",
    },
    Param {
        name: "bw_window",
        kind: ParamKind::Number { min: 2.0, max: 1000.0 },
        default: Value::Number(10.0),
        unit: "rounds",
        doc: "how long the largest delivery rate is remembered",
        source: "Linux tcp_bbr: a cycle of eight phases and two rounds",
    },
    Param {
        name: "min_rtt_window",
        kind: ParamKind::Number { min: 0.1, max: 1000.0 },
        default: Value::Number(10.0),
        unit: "s",
        doc: "how long the least RTT is believed before the window dips to measure it again",
        source: "Linux tcp_bbr",
    },
    Param {
        name: "probe_rtt_time",
        kind: ParamKind::Number { min: 0.001, max: 10.0 },
        default: Value::Number(0.2),
        unit: "s",
        doc: "least length of that dip",
        source: "Linux tcp_bbr",
    },
    Param {
        name: "min_cwnd",
        kind: ParamKind::Number { min: 1.0, max: 100.0 },
        default: Value::Number(4.0),
        unit: "segments",
        doc: "least window, and the window of the dip",
        source: "Linux tcp_bbr",
    },
    Param {
        name: "pacing_margin",
        kind: ParamKind::Number { min: 0.0, max: 50.0 },
        default: Value::Number(1.0),
        unit: "%",
        doc: "the pace is so much below the estimated bandwidth, to keep the queue short",
        source: "Linux tcp_bbr since 5.1; absent before",
    },
    Param {
        name: "bundles",
        kind: ParamKind::Flag,
        default: Value::Flag(true),
        unit: "",
        doc: "segments leave in bundles of a millisecond's worth, two at least from 1.2 Mbit/s on, and the window is even",
        source: "Linux tcp_bbr, tcp_tso_autosize; ns-3 sends one at a time",
    },
    Param {
        name: "policer",
        kind: ParamKind::Flag,
        default: Value::Flag(true),
        unit: "",
        doc: "where two intervals with a fifth of loss agree on a rate, a policer is taken to enforce it",
        source: "Linux tcp_bbr calls it long-term bandwidth",
    },
    Param {
        name: "ack_aggregation",
        kind: ParamKind::Flag,
        default: Value::Flag(true),
        unit: "",
        doc: "the window grows by what ACKs report at once beyond the estimated bandwidth",
        source: "Linux tcp_bbr since 5.1",
    },
];
