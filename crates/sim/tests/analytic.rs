//! Behaviour that follows from a formula. Each tolerance is derived beside its test.

mod common;

use common::{one_flow, run};
use serde_json::json;

const MSS: f64 = 1460.0;
const PACKET: f64 = 1500.0;

#[test]
fn one_flow_fills_one_link() {
    // goodput = rate x payload / packet. The receiver's window of 100 segments holds the BDP of 34 and fits into the
    // queue, so nothing is lost. What is missing is the handshake and slow start, about 3 RTT of 40 ms in 60 s, and
    // what is on its way at the end: 0.3 %.
    for cc in ["tahoe", "reno", "newreno", "cubic"] {
        let summary = run(&one_flow("10Mbps", 20, "100p", "60s", json!({"cc": cc, "recv_buffer": "146000B"})), 1);
        let goodput = summary.flows[0].measures.goodput_bps;
        let expected = 10e6 * MSS / PACKET;
        assert!((goodput / expected - 1.0).abs() < 0.005, "{cc}: {goodput} of {expected}");
        assert_eq!(summary.flows[0].measures.dropped_packets, 0);
    }
}

#[test]
fn a_queue_of_three_bdp_keeps_the_link_busy_over_losses() {
    // Halving a window of 134 segments leaves 67, twice the BDP: the link never idles. Slow start ends below the queue's
    // limit, since NewReno repairs the many losses of an overshoot one per round trip, and the link would idle then.
    for cc in ["newreno", "cubic"] {
        let options = json!({"cc": cc, "initial_ssthresh": "67p"});
        let summary = run(&one_flow("10Mbps", 20, "100p", "60s", options), 1);
        let goodput = summary.flows[0].measures.goodput_bps;
        let expected = 10e6 * MSS / PACKET;
        assert!((goodput / expected - 1.0).abs() < 0.005, "{cc}: {goodput} of {expected}");
        assert!(summary.flows[0].measures.drops.queue > 0);
    }
}

#[test]
fn a_window_limited_flow_sends_one_window_per_round_trip() {
    // Undelayed ACKs; RTT = 2 x delay + one packet's transmission there + one ACK's back.
    for (segments, delay_ms) in [(4, 50), (20, 20), (20, 100)] {
        let window = segments * 1460;
        let options = json!({"recv_buffer": format!("{window}B"), "ack_every": 1, "cc": "newreno"});
        let summary = run(&one_flow("100Mbps", delay_ms, "1000p", "60s", options), 1);
        let rtt = 2.0 * delay_ms as f64 / 1e3 + (PACKET + 40.0) * 8.0 / 100e6 + (PACKET + 40.0) * 8.0 * 2.0 / 10e9;
        let expected = window as f64 * 8.0 / rtt;
        let goodput = summary.flows[0].measures.goodput_bps;
        assert!(
            (goodput / expected - 1.0).abs() < 0.005,
            "{segments} segments, {delay_ms} ms: {goodput} of {expected}"
        );
    }
}

#[test]
fn slow_start_doubles_every_round_trip() {
    // IW 10, undelayed ACKs, no loss: after k round trips 10 (2^k - 1) segments are acknowledged (RFC 5681 §3.1).
    for rounds in 1..6 {
        let bytes = 10 * ((1 << rounds) - 1) * 1460;
        let mut scenario = one_flow("1Gbps", 50, "unlimited", "5s", json!({"ack_every": 1}));
        scenario["flow"][0]["app"] = json!({"kind": "bulk", "bytes": format!("{bytes}B")});
        let summary = run(&scenario, 1);
        // Handshake 1 RTT, `rounds - 1` full rounds, then one way for the last window; up to 160 packets of 12 us each.
        let expected = 0.1 * rounds as f64 + 0.05;
        let measured = summary.flows[0].completion_s.unwrap();
        assert!((measured - expected).abs() < 0.005, "{rounds}: {measured} {expected}");
    }
}

#[test]
fn reno_under_random_loss_follows_the_square_root_law() {
    // Mathis, Semke, Mahdavi, Ott 1997: goodput = MSS / RTT x sqrt(3 / (2 p)), one segment per RTT of growth, losses
    // far apart, no time-outs. 15 % is what the law itself leaves out at these p: the recovery round without growth
    // (1 of W/2 rounds: 4 % at p = 1e-3, 13 % at 1e-2) and the sampling error of the runs below (3 % at 400 losses).
    for (p, duration) in [(1e-4, 4000), (1e-3, 1000), (1e-2, 600)] {
        let options = json!({"cc": "newreno", "ack_every": 1, "rto_min": "200ms", "cwnd_validation": true});
        let mut scenario = one_flow("1Gbps", 50, "unlimited", &format!("{duration}s"), options);
        scenario["network"]["bottleneck"]["loss"] = json!({"kind": "packet", "p": p});
        let goodput: f64 = (1..=4).map(|seed| run(&scenario, seed).flows[0].measures.goodput_bps / 4.0).sum();
        let law = MSS * 8.0 / 0.1 * f64::sqrt(1.5 / p);
        assert!((goodput / law - 1.0).abs() < 0.15, "p = {p}: {goodput:.0} of {law:.0}, ratio {:.3}", goodput / law);
    }
}

#[test]
fn poisson_like_arrivals_wait_as_in_an_m_d_1_queue() {
    // 40 independent on/off sources with exponential gaps of one packet each approach Poisson arrivals; mean wait of
    // M/D/1 at load rho is rho / (2 (1 - rho)) service times. Load 0.5: 0.5 service times of 1 ms.
    let flows: Vec<_> = (0..40)
        .map(|i| {
            json!({"from": format!("left{i}"), "to": format!("right{i}"),
                   "app": {"kind": "on_off", "rate": "1000000pps", "size": "972B", "transport": "udp",
                           "on": {"kind": "constant", "length": "0.5us"}, "off": {"kind": "exponential", "mean": "80ms"}}})
        })
        .collect();
    let scenario = json!({
        "duration": "400s", "warmup": "10s",
        "network": {"kind": "dumbbell", "pairs": 40,
                    "access": {"rate": "10Gbps", "delay": "0ms", "queue": {"kind": "drop_tail", "limit": "unlimited"}},
                    "bottleneck": {"rate": "8Mbps", "delay": "1ms", "queue": {"kind": "drop_tail", "limit": "unlimited"}}},
        "flow": flows,
    });
    let summary = run(&scenario, 1);
    let link = &summary.links[0];
    let rho = link.utilisation;
    assert!((rho - 0.5).abs() < 0.01, "load {rho}");
    let expected = rho / (2.0 * (1.0 - rho)) * 1e-3;
    // 195,000 waits, correlated over some ten packets: standard error about 0.6 ms / sqrt(19,500) = 1 %; five of them.
    let wait = link.delay_queue_mean_s.unwrap();
    assert!((wait / expected - 1.0).abs() < 0.05, "{wait} {expected}");
}
