//! The algorithms of the published studies: what their rules promise.

use serde_json::{Value, json};
use sim::Simulation;

use crate::common::{one_flow, scenario};

const MSS: f64 = 1460.0;

/// A series as times and values, one for each change.
fn series(mut world: Value, name: &str) -> Vec<(f64, f64)> {
    world["record"] = json!({"series": [name], "every": "change"});
    let outcome = Simulation::new(&scenario(&world), 1).unwrap_or_else(|e| panic!("{e}")).run();
    let column = &outcome.series[0].1;
    column.t_s.iter().copied().zip(column.value.iter().copied()).collect()
}

#[test]
fn fr_sets_ssthresh_to_what_the_path_holds() {
    // The link is busy when packet 3000 is lost at its entrance, so it goes on without a gap, and each ACK covers what it
    // carried since the one before: every sample is the link's payload rate, and so is BWE. RTTmin is that of the first
    // packet, which found the queue empty. Left out are the access links and the ACK's own transmission, some 10 us of
    // 41 ms, and nanoseconds of rounding: 0.1 %.
    for (a, expected) in [(1.0, 1.0), (2.0, 0.5)] {
        let cc = json!({"name": "fr", "a": a, "gfr": false});
        let options = json!({"cc": cc, "initial_ssthresh": "60p", "recv_buffer": "1MB"});
        let mut world = one_flow("10Mbps", 20, "200p", "8s", options);
        world["network"]["bottleneck"]["loss"] = json!({"kind": "nth", "data_packets": [3000]});
        let (_, ssthresh) = *series(world, "ssthresh").last().expect("there is a loss");
        let rtt = 0.04 + 1500.0 * 8.0 / 10e6;
        let path = 10e6 * MSS / 1500.0 * rtt / 8.0;
        assert!((ssthresh / (expected * path) - 1.0).abs() < 0.001, "a = {a}: {ssthresh} for {}", expected * path);
    }
}

#[test]
fn gfr_takes_the_window_back_to_what_the_path_holds() {
    // RTT 200 ms, BDP 167 packets. With a = 2 a loss leaves half a BDP. ACKs come in trains at the link's rate with a gap
    // once per round, which the estimate forgets within some ten ACKs, so that BWE x RTTmin stays at the BDP.
    let time_to_recover = |gfr: bool| {
        let cc = json!({"name": "fr", "a": 2.0, "gfr": gfr, "no_linear_growth": false});
        let options = json!({"cc": cc, "ack_every": 1, "initial_ssthresh": "200p", "recv_buffer": "10MB"});
        let mut world = one_flow("10Mbps", 100, "1000p", "60s", options);
        world["network"]["bottleneck"]["loss"] = json!({"kind": "nth", "data_packets": [3000]});
        let windows = series(world, "cwnd");
        let fall = windows.windows(2).find(|pair| pair[1].1 < pair[0].1).expect("there is a loss")[1];
        let (back, _) = windows.iter().find(|(t, w)| *t > fall.0 && *w > 150.0 * MSS).expect("it comes back");
        back - fall.0
    };
    // From 84 to 150 segments: a round of recovery, one of slow start, and as much again for the queue that the loss found.
    // Linear growth takes 66 rounds.
    let (with, without) = (time_to_recover(true), time_to_recover(false));
    assert!(with < 0.8, "{with} s");
    assert!(without > 66.0 * 0.2, "{without} s");
}

#[test]
fn asran_slow_starts_back_after_a_transient_loss() {
    // RTT 100 ms, no queue. The first loss comes at about 100 segments and is remembered; the second, at about 60,
    // halves the window and starts slow start to 100: a round of recovery, then log2(100 / 30) rounds. NewReno needs 70.
    let recovery_time = |cc: &str, profile: &str| {
        let cc = json!({"name": cc, "profile": profile});
        let options = json!({"cc": cc, "ack_every": 1, "initial_ssthresh": "100p", "recovery": "sack"});
        let mut world = one_flow("1Gbps", 50, "unlimited", "20s", options);
        world["network"]["bottleneck"]["loss"] = json!({"kind": "nth", "data_packets": [1000, 1600]});
        let windows = series(world, "cwnd");
        let second = windows.windows(2).filter(|pair| pair[1].1 < 0.9 * pair[0].1).nth(1).expect("two losses")[1];
        assert!(second.1 < 40.0 * MSS, "{cc}: {second:?}");
        let (back, _) = windows.iter().find(|(t, w)| *t > second.0 && *w > 95.0 * MSS).expect("it comes back");
        back - second.0
    };
    let (asran, newreno) = (recovery_time("asran", "report"), recovery_time("newreno", "ns3"));
    // One RTT of recovery, two rounds of slow start, and one for where in a round the loss was.
    assert!(asran < 0.4, "{asran} s");
    assert!(newreno > 5.0, "{newreno} s");
}
