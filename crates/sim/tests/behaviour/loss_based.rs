//! The loss-based algorithms for fast and long links.

use serde_json::{Value, json};
use sim::Simulation;

use crate::common::{one_flow, run, scenario};

const MSS: f64 = 1460.0;

/// When the last byte of `segments` should arrive on a path that loses nothing: handshake, rounds of the window, and
/// one way. `a` is the growth per round (of the time since the start): a / W per ACK with W growing along makes
/// sqrt(W^2 + 2 a W) of W, a little less than W + a.
fn arrival(segments: f64, window: f64, rtt: f64, a: impl Fn(f64) -> f64) -> f64 {
    let (mut sent, mut window, mut rounds) = (window, window, 0.0);
    while sent < segments {
        rounds += 1.0;
        window = f64::sqrt(window * window + 2.0 * a(rounds * rtt) * window);
        sent += window;
    }
    (1.0 + rounds + 0.5) * rtt
}

/// When the last byte of `segments` arrives over a link that is never full; no slow start, undelayed ACKs.
fn completion(cc: &Value, rtt: f64, segments: f64) -> f64 {
    let options = json!({"cc": cc, "ack_every": 1, "initial_ssthresh": "2p", "recv_buffer": "64MB"});
    let delay_ms = (rtt * 500.0) as u64;
    let mut scenario = one_flow("10Gbps", delay_ms, "unlimited", "60s", options);
    scenario["flow"][0]["app"] = json!({"kind": "bulk", "bytes": format!("{}B", segments * MSS)});
    run(&scenario, 1).flows[0].completion_s.expect("60 s are enough")
}

#[test]
fn hybla_grows_alike_on_all_paths() {
    // Caini, Firrincieli 2004: rho at the start and rho^2 more per round, so that the rate grows by 1 / RTT0^2 =
    // 1600 segments/s^2 whatever the RTT: 20,000 segments take 5 s, and 1.5 RTT for handshake and the last way. Whole
    // rounds (half an RTT) and slower first ones (two RTT) make a difference. Reno would take 200 rounds, 10 to 40 s.
    // The segments of the last round may belong to the one before or after: one RTT.
    for rtt in [0.05, 0.1, 0.2] {
        let rho = rtt / 0.025;
        let expected = arrival(20_000.0, rho, rtt, |_| rho * rho);
        assert!((expected - 1.5 * rtt - 5.0).abs() < 2.5 * rtt, "{rtt}: {expected}");
        let measured = completion(&json!({"name": "hybla", "profile": "paper"}), rtt, 20_000.0);
        assert!((measured - expected).abs() < rtt, "{rtt}: {measured} of {expected}");
    }
}

#[test]
fn htcp_grows_with_the_time_since_the_loss() {
    // Leith, Shorten 2004: per round alpha = 1 + 10 (t - 1) + (t - 1)^2 / 4, times RTT / 100 ms, with beta = 0.5; at
    // least 1. One RTT as above.
    for rtt in [0.05, 0.1, 0.2] {
        let alpha = |t: f64| {
            let late = (t - 1.0).max(0.0);
            ((1.0 + 10.0 * late + late * late / 4.0) * rtt / 0.1).max(1.0)
        };
        let expected = arrival(20_000.0, 10.0, rtt, alpha);
        let measured = completion(&json!({"name": "htcp", "profile": "paper"}), rtt, 20_000.0);
        assert!((measured - expected).abs() < rtt, "{rtt}: {measured} of {expected}");
    }
}

#[test]
fn scalable_recovers_in_the_same_time_from_any_window() {
    // Queue of BDP / 7: a cut by an eighth leaves the BDP, so the link stays full and ACKs come at its rate C. Then
    // W / 8 segments cost 100 W / 8 ACKs: 12.5 W / C = 12.5 (8/7) RTT0 = 1.43 s at 100 ms. From one to three rounds
    // come on top: until the loss is seen, recovery, and growth that the queue has lost already. So 60 s hold 34 to 42
    // episodes, at any rate; one less for slow start. Reno's W / 2 rounds grow with the rate.
    let episodes = [("20Mbps", 24), ("80Mbps", 95)].map(|(rate, queue)| {
        let options = json!({"cc": {"name": "scalable", "profile": "paper"}, "ack_every": 1, "recovery": "rack",
                             "sack": true, "initial_ssthresh": format!("{}p", queue * 7), "recv_buffer": "64MB"});
        run(&one_flow(rate, 50, &format!("{queue}p"), "60s", options), 1).flows[0].recovery_count.unwrap()
    });
    assert!(episodes.iter().all(|count| (33..=42).contains(count)), "{episodes:?}");
    assert!(episodes[0].abs_diff(episodes[1]) <= 1, "{episodes:?}");
}

#[test]
fn highspeed_follows_its_response_function() {
    // RFC 3649 §5: W = 0.12 / p^0.835 with one loss every 1 / p packets. The round of recovery adds no growth but W
    // of the 1 / p packets: p W = 3 and 2 %. RFC's own rounding of 0.12 and of p(w) = 0.078 / w^1.2: 1 %. a and b vary
    // over a cycle while the law takes them at its mean: W^-b of a sawtooth of 0.65 to 1 is within 2 %. 5 % in all.
    for (p, duration) in [(1e-4, 200), (1e-5, 60)] {
        let law = 0.12 / f64::powf(p, 0.835);
        let options = json!({"cc": {"name": "highspeed", "profile": "rfc"}, "ack_every": 1, "recovery": "rack",
                             "sack": true, "recv_buffer": "64MB", "initial_ssthresh": format!("{law:.0}p")});
        let mut scenario = one_flow("10Gbps", 50, "unlimited", &format!("{duration}s"), options);
        let lost: Vec<u64> = (1..200).map(|i| (i as f64 / p) as u64).collect();
        scenario["network"]["bottleneck"]["loss"] = json!({"kind": "nth", "data_packets": lost});
        scenario["warmup"] = json!(format!("{}s", duration / 4));
        let window = run(&scenario, 1).flows[0].measures.goodput_bps * 0.1 / (MSS * 8.0);
        assert!((window / law - 1.0).abs() < 0.05, "p = {p}: {window:.1} of {law:.1}, {:.3}", window / law);
    }
}

/// Jacobson 1988: after a loss Tahoe starts again from one segment, whatever tells of the loss; Reno keeps half of its window.
#[test]
fn tahoe_starts_again_from_one_segment_whatever_finds_the_loss() {
    let least = |cc: &str, recovery: &str| {
        let options = json!({"cc": cc, "recovery": recovery, "sack": recovery != "tahoe", "recv_buffer": "64MB"});
        let mut world = one_flow("10Mbps", 20, "33p", "10s", options);
        world["record"] = json!({"series": ["cwnd"], "every": "change"});
        let outcome = Simulation::new(&scenario(&world), 1).expect("a valid scenario").run();
        assert!(outcome.summary.flows[0].recovery_count > Some(1), "{cc} {recovery}");
        let cwnd = &outcome.series[0].1;
        let of_run = cwnd.t_s.iter().zip(&cwnd.value).filter(|(t_s, _)| **t_s > 1.0);
        of_run.map(|(_, bytes)| bytes / MSS).fold(f64::INFINITY, f64::min)
    };
    for recovery in ["tahoe", "sack", "rack"] {
        assert_eq!(least("tahoe", recovery), 1.0, "{recovery}");
    }
    assert!(least("newreno", "rack") > 10.0);
    // Its slow start repairs: what SACK says saves retransmissions, and time.
    let transfer_s = |recovery: &str| {
        let options = json!({"cc": "tahoe", "recovery": recovery, "sack": recovery != "tahoe", "recv_buffer": "64MB"});
        let mut world = one_flow("10Mbps", 20, "33p", "10s", options);
        world["flow"][0]["app"] = json!({"kind": "bulk", "bytes": "500kB"});
        run(&world, 1).flows[0].completion_s.expect("10 s are enough")
    };
    assert!(transfer_s("sack") < transfer_s("tahoe") && transfer_s("rack") < transfer_s("tahoe"));
}

#[test]
fn of_a_window_that_overflows_a_queue_only_what_was_lost_is_sent_again() {
    // Slow start overruns two bandwidth-delay products and loses every other of a thousand segments. Linux holds back ACKs for 1 ms, in
    // which 17 segments arrive here: those of one ACK tell of every block nonetheless, and the sender takes none for lost.
    let options = json!({"profile": "linux", "cc": "reno", "buffers": "tuned"});
    let flow = &run(&one_flow("200Mbps", 10, "666p", "1200ms", options), 1).flows[0];
    assert!(flow.measures.dropped_packets > 900, "{}", flow.measures.dropped_packets);
    assert_eq!(flow.measures.retransmitted_packets, Some(flow.measures.dropped_packets));
}
