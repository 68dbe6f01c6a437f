//! Parameters and profiles of BBRv3. Sections are those of the text of August 2026.

use crate::cc::parameters::{Param, Profile};

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
        .doc("the same while the least RTT is measured")
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
        .doc("least window")
        .source("draft-ietf-ccwg-bbr section 5.6.4.3"),
    Param::number("pacing_margin", 0.0..=50.0, 1.0)
        .unit("%")
        .doc("the pace is so much below the estimated bandwidth")
        .source("draft-ietf-ccwg-bbr section 5.6.2"),
    Param::number("startup_losses", 1.0..=1000.0, 6.0)
        .doc("separate gaps in a round of recovery that end the start")
        .source("draft-ietf-ccwg-bbr section 5.3.1.3"),
    Param::number("probe_wait", 0.1..=60.0, 2.0)
        .unit("s")
        .doc("least time between probes for bandwidth; up to a second more is drawn")
        .source("draft-ietf-ccwg-bbr section 5.3.3.8"),
    Param::number("probe_rounds", 1.0..=1000.0, 63.0)
        .unit("rounds")
        .doc("most rounds between probes, so that Reno keeps up")
        .source("draft-ietf-ccwg-bbr section 5.3.3.8.2"),
    Param::number("min_rtt_window", 0.1..=1000.0, 10.0)
        .unit("s")
        .doc("how long the least RTT is believed")
        .source("draft-ietf-ccwg-bbr section 5.5.7.2"),
    Param::number("probe_rtt_interval", 0.1..=1000.0, 5.0)
        .unit("s")
        .doc("how long without a new least RTT until it is measured")
        .source("draft-ietf-ccwg-bbr section 5.3.4"),
    Param::number("probe_rtt_time", 0.001..=10.0, 0.2)
        .unit("s")
        .doc("least length of that measurement")
        .source("draft-ietf-ccwg-bbr section 5.3.4"),
    Param::flag("precautionary", true)
        .doc(
            "the probe after one that lost too much ends where that one did, and is repeated at once if nothing is \
             lost",
        )
        .source("draft-ietf-ccwg-bbr section 5.3.3.6"),
];
