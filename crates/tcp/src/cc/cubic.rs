//! CUBIC: the window is a cubic function of the time since the last loss (RFC 9438; Ha, Rhee, Xu 2008).
//!
//! The curve is flat where the last loss happened, so the window stays there long and then probes ever faster; growth
//! does not depend on the RTT. Below the window that Reno would reach by now, that window is used instead. This file has
//! the parameters and the profiles; `window.rs` what their forms share, slow start and its end; `rfc.rs` is the RFC in real
//! numbers, `linux.rs` the integer form of today's kernels; that of Linux 2.6.22 is in `compat/cc/linux26.rs`.

pub(crate) mod linux;
mod rfc;
pub(crate) mod window;

use super::algorithm::{Algorithm, Internal, Requirements};
use super::hystart;
use super::parameters::{BETA_ECN, Param, Profile, Value, strict};
use super::reno_window::SLOW_START_LIMIT;
use crate::compat::cc::linux26::Linux26Cubic;
use crate::units::Bytes;

/// The cubic function of time.
pub(crate) const CUBIC: Algorithm = Algorithm {
    name: "cubic",
    title: "CUBIC: a cubic function of the time since the last loss",
    reference: "RFC 9438",
    requirements: Requirements::NONE,
    starts: Some(1),
    params: PARAMS,
    profiles: &[
        Profile { name: "rfc", set: &[("strict", Value::Flag(true))], recovery: None },
        Profile { name: "abe", set: ABE, recovery: None },
        Profile { name: "linux", set: LINUX, recovery: None },
        Profile { name: "linux26", set: LINUX26, recovery: None },
        Profile { name: "hystart++", set: PLUS_PLUS, recovery: None },
        Profile { name: "ns3", set: NS3, recovery: None },
        Profile { name: "netsim", set: NETSIM, recovery: None },
    ],
    internals: INTERNALS,
    states: &[],
    build: &|values, setup| {
        if values.flag("linux26") {
            Box::new(Linux26Cubic::new(values, setup))
        } else if values.flag("integer") {
            Box::new(linux::LinuxCubic::new(values, setup))
        } else {
            Box::new(rfc::Rfc::new(values, setup))
        }
    },
};

/// What it shows of itself.
const INTERNALS: &[Internal] = &[
    Internal::of("css", "1 in Conservative Slow Start; with hystart_plus_plus"),
    Internal::of("w_max", "window before the last loss, segments"),
    Internal::of("cwnd_prior", "window at the last loss, segments"),
    Internal::of("epoch_s", "start of the stage of congestion avoidance"),
    Internal::of("k_s", "time from there to w_max"),
    Internal::of("w_est", "window that Reno would have, segments"),
    Internal::of("cnt", "acknowledged segments that add one; profile linux"),
    Internal::of("delay_min_s", "minimum RTT; profile linux"),
    Internal::of("segments_per_ack", "segments per ACK; profile linux26"),
];

/// RFC 8511 §3.1.
const ABE: &[(&str, Value)] = &[("strict", Value::Flag(true)), (BETA_ECN.name, Value::Number(0.85))];

const LINUX: &[(&str, Value)] = &[
    ("integer", Value::Flag(true)),
    ("beta", Value::Number(717.0 / 1024.0)),
    ("c", Value::Number(410.0 / 1024.0)),
    ("slow_start_limit", Value::Number(1e6)),
    ("hystart", Value::Flag(true)),
];

/// Linux 2.6.22.
const LINUX26: &[(&str, Value)] = &[
    ("linux26", Value::Flag(true)),
    ("beta", Value::Number(819.0 / 1024.0)),
    ("c", Value::Number(410.0 / 1024.0)),
    ("slow_start_at_threshold", Value::Flag(true)),
];

/// RFC 9438 §4.10 recommends it.
const PLUS_PLUS: &[(&str, Value)] =
    &[("hystart_plus_plus", Value::Flag(true)), ("slow_start_limit", Value::Number(8.0))];

const NS3: &[(&str, Value)] = &[
    // ns-3.37: Linux's form with rounder constants, without Reno's growth, which came in 3.41. An RTT must double to end slow
    // start, in which a window doubles in each, however many segments an ACK is for.
    ("integer", Value::Flag(true)),
    ("slow_start_limit", Value::Number(1e6)),
    ("c", Value::Number(410.0 / 1024.0)),
    ("reno_friendly", Value::Flag(false)),
    ("hystart", Value::Flag(true)),
    ("hystart_cushion", Value::Flag(false)),
    ("hystart_train", Value::Number(1.0)),
    ("hystart_rise", Value::Number(1.0)),
    ("hystart_most_rise", Value::Number(1000.0)),
];

const NETSIM: &[(&str, Value)] = &[
    // NetSim's dialog shows Linux's parameters of the time before HyStart had microseconds.
    ("integer", Value::Flag(true)),
    ("beta", Value::Number(717.0 / 1024.0)),
    ("c", Value::Number(410.0 / 1024.0)),
    ("slow_start_limit", Value::Number(1e6)),
    ("hystart", Value::Flag(true)),
    ("hystart_cushion", Value::Flag(false)),
    ("hystart_clock", Value::Number(1.0)),
    ("hystart_first_samples", Value::Flag(true)),
];

const PARAMS: &[Param] = &[
    Param::number("beta", 0.1..=0.9, 0.7)
        .doc("what remains of the window after a loss")
        .source("RFC 9438 section 4.6; Linux 717/1024"),
    BETA_ECN,
    Param::number("c", 0.01..=10.0, 0.4)
        .unit("segments/s^3")
        .doc("steepness of the curve")
        .source("RFC 9438 section 5.1; Linux 410/1024"),
    Param::flag("fast_convergence", true)
        .doc("a loss below the last maximum lowers the plateau, to make room for new flows")
        .source("RFC 9438 section 4.7"),
    Param::flag("reno_friendly", true)
        .doc("never slower than Reno would be")
        .source("RFC 9438 section 4.3; Linux tcp_friendliness"),
    strict(),
    Param::flag("per_segment", true)
        .doc("growth per acknowledged segment, so that delayed ACKs cost nothing, instead of per ACK; profile rfc")
        .source("RFC 9438 section 4.4 says per ACK"),
    SLOW_START_LIMIT,
    Param::flag("integer", false)
        .doc("the kernel's arithmetic: whole segments, whole milliseconds, losses measured against cwnd")
        .source("Linux tcp_cubic"),
    Param::flag("linux26", false)
        .doc(
            "the arithmetic of Linux 2.6.22: as `integer`, but ACKs are counted, over an estimate of segments per \
             ACK",
        )
        .source("Linux 2.6.22 tcp_cubic"),
    Param::number("max_increment", 1.0..=1e6, 16.0)
        .unit("segments")
        .doc("maximum growth of the window in 100 ms above the plateau; with linux26")
        .source("Linux 2.6.22 tcp_cubic"),
    Param::flag("slow_start_at_threshold", false)
        .doc("slow start goes on at cwnd = ssthresh, and does not stop there")
        .source("Linux before 3.15"),
    hystart::ENABLED,
    hystart::PLUS_PLUS,
    hystart::CSS_GROWTH,
    hystart::CSS_ROUNDS,
    hystart::LOW_WINDOW,
    hystart::ACK_DELTA,
    hystart::TRAIN,
    hystart::RISE,
    hystart::MIN_RISE,
    hystart::MAX_RISE,
    hystart::CUSHION,
    hystart::CLOCK,
    hystart::FIRST_SAMPLES,
];

/// RFC 9438 §4.2: the target is at most 1.5 cwnd.
fn after_round(window: Bytes) -> Bytes {
    window + Bytes(window.0 / 2)
}
