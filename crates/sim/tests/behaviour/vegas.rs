//! Vegas' queue, and the doubling of EWPHCC.

use serde_json::{Value, json};

use crate::common::{one_flow, run};

const PACKET: f64 = 1500.0;

/// Alone on 10 Mbit/s and 40 ms, an ACK for each segment: the mean backlog after slow start.
fn queue(profile: &str, tcp: Value) -> f64 {
    let mut options =
        json!({"cc": {"name": "vegas", "profile": profile}, "mss": "1460B", "ack_every": 1, "recv_buffer": "1MB"});
    options.as_object_mut().unwrap().extend(tcp.as_object().unwrap().clone());
    let mut scenario = one_flow("10Mbps", 20, "1000p", "60s", options);
    scenario["warmup"] = json!("30s");
    let summary = run(&scenario, 1);
    let goodput = summary.flows[0].measures.goodput_bps;
    // Linux's timestamps take 12 bytes of each segment.
    let payload = if profile == "linux" { 1448.0 } else { 1460.0 };
    let full = 10e6 * payload / PACKET;
    assert!((goodput / full - 1.0).abs() < 0.005, "{profile}: {goodput} of {full}");
    assert_eq!(summary.flows[0].measures.dropped_packets, 0, "{profile}");
    summary.links.iter().map(|link| link.queue_mean_packets).fold(0.0, f64::max)
}

#[test]
fn vegas_holds_alpha_to_beta_packets_in_the_queue() {
    // The window stands still while the backlog, in whole packets, lies between alpha and beta. It is judged where an
    // ACK has arrived and the segment that it lets go has not left, and an RTT holds that packet's own transmission:
    // what waits on average lies up to one packet beside it.
    let backlogs = [
        // Linux rounds W (rtt - base) / base down; per packet that waits it is rtt / base = 1.1 high, so 4.99 are 4.5.
        ("linux", json!({"profile": "linux", "mss": "1448B"}), 2.0, 5.0),
        // In half packets of W (1 - base / rtt), rounded up.
        ("linux26", json!({}), 2.0, 4.5),
        // W (1 - base / rtt) in whole packets, rounded up.
        ("ns3", json!({}), 1.0, 4.0),
        // To the nearest packet of the mean RTT: 0.5 to 3.5.
        ("ns2", json!({"profile": "ns2", "mss": "1460B"}), 0.5, 3.5),
    ];
    for (profile, tcp, least, most) in backlogs {
        let queue = queue(profile, tcp);
        assert!((least - 1.0..=most + 1.0).contains(&queue), "{profile}: {queue} packets, not {least} to {most}");
    }
}

fn lone_ewphcc(profile: &str, extra: Value) -> Value {
    let mut tcp = json!({"profile": "ns2", "cc": {"name": "ewphcc", "profile": profile}, "recv_buffer": "10MB"});
    tcp.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    tcp
}

#[test]
fn ewphcc_doubles_every_round_trip_before_its_first_loss() {
    // L = 0 selects nothing, and the window doubles in congestion avoidance. From 2 segments and
    // ssthresh 2, k round trips carry 2 (2^k - 1). Vegas' slow start would need two for each doubling.
    for rounds in 1..8 {
        let bytes = 2 * ((1 << rounds) - 1) * 1000;
        let mut scenario =
            one_flow("1Gbps", 50, "unlimited", "5s", lone_ewphcc("code", json!({"initial_ssthresh": "2p"})));
        scenario["flow"][0]["app"] = json!({"kind": "bulk", "bytes": format!("{bytes}B")});
        let measured = run(&scenario, 1).flows[0].completion_s.unwrap();
        // Handshake 1 RTT, `rounds - 1` full ones, one way for the last window of up to 256 packets of 8 us.
        let expected = 0.1 * f64::from(rounds) + 0.05;
        assert!((measured - expected).abs() < 0.005, "{rounds}: {measured} {expected}");
    }
}

#[test]
fn ewphcc_lives_through_losses() {
    // With ns-2's window of 20: 20 kB per RTT of 41 ms, 3.9 Mbit/s, where nothing is lost, and with p = 0.02 about
    // 1.2 / sqrt(p) = 8.7 segments per RTT as any sender that halves: half of that is asked for, 0.85 Mbit/s.
    // With a window of 1000 it sends a thousand packets into the queue at once, and after the time-out goes back over them
    // by two per RTT, since no round ends before the mark set ahead of them (ns-2's v_begseq_): only that it goes on is
    // asked for, a segment of 8000 bits per second.
    for (queue, loss, window, least, most) in [
        ("20p", 0.0, 20, 3.8e6, 3.95e6),
        ("1000p", 0.001, 20, 0.85e6, 3.95e6),
        ("50p", 0.02, 20, 0.85e6, 3.95e6),
        ("20p", 0.0, 1000, 8e3, 10e6),
        ("1000p", 0.001, 1000, 8e3, 10e6),
        ("50p", 0.02, 1000, 8e3, 10e6),
    ] {
        for profile in ["code", "code_fixed"] {
            let tcp = lone_ewphcc(profile, json!({"recv_buffer": format!("{window}000B")}));
            let mut scenario = one_flow("10Mbps", 20, queue, "60s", tcp);
            scenario["network"]["bottleneck"]["loss"] = json!({"kind": "packet", "p": loss});
            let goodput = run(&scenario, 1).flows[0].measures.goodput_bps;
            assert!((least..most).contains(&goodput), "{profile}, {queue}, loss {loss}, window {window}: {goodput}");
        }
    }
}
