//! Vegas: hold a few packets in the bottleneck's queue, judged by how the RTT rises above the least one.
//!
//! Brakmo and Peterson 1995: expected less actual rate, times the base RTT, is the backlog; below alpha the window grows by
//! one per round trip, above beta it shrinks by one. `vegas/rounds.rs` has the form of Linux 5 and 6, of Linux 2.6.22 and of a
//! simulator; another's own, with a fine timer, is in `compat/cc/native_vegas.rs`. The default is `linux`: it is what runs today, and
//! what can be checked against recordings.

mod rounds;

use super::algorithm::{Algorithm, Internal, Requirements};
use super::parameters::{Param, Profile, Value};
use super::reno_window::SLOW_START_LIMIT;
use crate::compat::cc::native_vegas::{Bounds, Native};
use crate::settings::RecoveryKind;

/// Vegas.
pub(crate) const VEGAS: Algorithm = Algorithm {
    name: "vegas",
    title: "Vegas: a few packets in the queue",
    reference: "Brakmo, Peterson 1995, TCP Vegas: End to End Congestion Avoidance on a Global Internet",
    requirements: Requirements::NONE,
    starts: None,
    params: &[
        ALPHA,
        BETA,
        GAMMA,
        NATIVE,
        SLOW_START_LIMIT.doc("maximum increase of cwnd per ACK in slow start; not in native Vegas"),
        Param::flag("by_target", false)
            .doc("the backlog is W - floor(W base / rtt) instead of floor(W (rtt - base) / base)")
            .source("Linux 2.6.22, ns-3"),
        Param::flag("sent_window", false)
            .doc(
                "the W of the backlog is what the round before sent, in half packets; a step is counted from the \
                  window at the start of the round; ssthresh becomes 2 when slow start is left, and stays",
            )
            .source("Linux 2.6.22"),
        Param::flag("barely_lower", false)
            .doc(
                "ssthresh is one segment below the window, also after a loss: cwnd falls by one segment instead of \
                  half",
            )
            .source("ns-3"),
        Param::flag("keeps_base", false)
            .doc(
                "the base RTT outlives silence and time-outs that left nothing in the network; Linux measures it \
                  anew",
            )
            .source("ns-3 knows no CWND_RESTART and TX_START"),
    ],
    profiles: &[
        Profile { name: "linux", set: &[("slow_start_limit", Value::Number(1e6))], recovery: None },
        Profile { name: "ns2", set: NS2, recovery: Some(RecoveryKind::Vegas) },
        Profile {
            name: "linux26",
            set: &[("by_target", Value::Flag(true)), ("sent_window", Value::Flag(true))],
            recovery: None,
        },
        Profile { name: "ns3", set: NS3, recovery: None },
    ],
    internals: INTERNALS,
    states: &[],
    build: &|values, setup| {
        if values.flag("native") {
            let [alpha, beta, gamma] = ["alpha", "beta", "gamma"].map(|name| values.number(name));
            Box::new(Native::new(Bounds { alpha, beta, gamma }, setup))
        } else {
            Box::new(rounds::Rounds::new(values, setup))
        }
    },
};

/// What it shows of itself.
const INTERNALS: &[Internal] = &[
    Internal::of("base_rtt_s", "minimum RTT"),
    Internal::of("min_rtt_s", "minimum RTT of the round"),
    Internal::of("backlog", "own segments in the queue (diff)"),
    Internal::of("active", "1 while the delay steers"),
    Internal::of("w", "window, segments"),
    Internal::of("rtt_s", "RTT of the round"),
    Internal::of("head_timeout_s", "fine-grained time-out"),
    Internal::of("increment", "what an ACK adds, segments"),
];

const NS2: &[(&str, Value)] =
    &[("native", Value::Flag(true)), ("alpha", Value::Number(1.0)), ("beta", Value::Number(3.0))];

const NS3: &[(&str, Value)] =
    &[("by_target", Value::Flag(true)), ("barely_lower", Value::Flag(true)), ("keeps_base", Value::Flag(true))];

const PACKETS: &str = "Linux tcp_vegas; ns-2 has 1, 3, 1";

const ALPHA: Param = Param::number("alpha", 0.0..=1e3, 2.0)
    .unit("segments")
    .doc("below this backlog the window grows by one segment per round trip, whether it is used or not (in Linux)")
    .source(PACKETS);
const BETA: Param =
    Param::number("beta", 0.0..=1e3, 4.0).unit("segments").doc("above this backlog it shrinks by one").source(PACKETS);
/// The backlog that ends slow start.
pub(crate) const GAMMA: Param =
    Param::number("gamma", 0.0..=1e3, 1.0).unit("segments").doc("above this backlog slow start ends").source(PACKETS);
const NATIVE: Param = Param::flag("native", false)
    .doc(
        "a form of its own: a real-valued window, the mean RTT of a round, slow start every other round trip, a \
          quarter off after a loss",
    )
    .source("ns-2.35 tcp-vegas");

#[cfg(test)]
mod tests;
