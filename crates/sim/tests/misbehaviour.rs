//! What misbehaving receivers and pulsed traffic do to senders.

mod common;

use common::{one_flow, refusal, run, scenario};
use serde_json::{Value, json};
use sim::Simulation;

/// The window in segments after each round of slow start from ten segments, with ten ACKs for a segment.
fn windows(profile: &str, cc: &str) -> Vec<u64> {
    let receiver = json!({"kind": "ack_division", "parts": 10});
    let tcp = json!({"profile": profile, "cc": cc, "mss": "1000B", "initial_window": "10p", "initial_ssthresh": "unlimited",
                     "recv_buffer": "1GB", "initial_recv_window": "unlimited", "recv_autotune": false, "ack_every": 1,
                     "send_buffer": "unlimited", "pacing": false, "receiver": receiver});
    // A round trip of 100 ms; the handshake takes the first.
    let mut world = one_flow("100Gbps", 50, "unlimited", "360ms", tcp);
    world["record"] = json!({"series": ["cwnd"], "every": "10ms"});
    let outcome = Simulation::new(&scenario(&world), 1).unwrap().run();
    let cwnd = &outcome.series[0].1;
    let at = |t: f64| cwnd.t_s.iter().zip(&cwnd.value).rfind(|(at, _)| **at <= t).unwrap().1 / 1000.0;
    [0.15, 0.25, 0.35].map(|t| at(t).round() as u64).to_vec()
}

#[test]
fn divided_acks_open_the_windows_of_senders_that_count_acks() {
    // Savage et al. 1999: + 1 segment for each ACK. RFC 3465 with L = 1, and RFC 9406's byte counting: + the bytes acknowledged.
    let (counting_acks, counting_bytes) = (vec![10, 110, 1210], vec![10, 20, 40]);
    for profile in ["rfc", "linux", "ns2", "ns3", "netsim12"] {
        for cc in ["reno", "newreno", "cubic"] {
            let found = windows(profile, cc);
            println!("{profile} {cc} {found:?}");
            assert!(found == counting_acks || found == counting_bytes, "{profile} {cc}: {found:?}");
        }
    }
}

#[test]
fn spoofed_duplicates_inflate_the_window_of_senders_that_count_them() {
    let goodput = |recovery: &str, receiver: Value| {
        let mut tcp = json!({"cc": "newreno", "recovery": recovery, "mss": "1000B", "recv_buffer": "1GB"});
        if receiver != Value::Null {
            tcp["receiver"] = receiver;
        }
        run(&one_flow("10Mbps", 50, "unlimited", "3s", tcp), 1)
    };
    let spoofing = json!({"kind": "dupack_spoofing", "copies": 100, "every": "50ms"});
    // Reno's recovery takes each duplicate for a segment that has left, and retransmits what was never lost.
    let fooled = goodput("reno", spoofing.clone());
    assert!(fooled.flows[0].measures.retransmitted_packets.unwrap() > 0);
    // With SACK a duplicate that reports nothing new says nothing.
    let [honest, sack] = [Value::Null, spoofing].map(|receiver| goodput("sack", receiver));
    let retransmitted = [&honest, &sack].map(|summary| summary.flows[0].measures.retransmitted_packets.unwrap());
    assert_eq!(retransmitted, [0, 0]);
}

#[test]
fn an_optimistic_receiver_hides_losses_and_takes_what_comes() {
    let size = 2_000_000;
    let transfer = |profile: &str, cc: &str, receiver: Value| {
        let mut tcp =
            json!({"profile": profile, "cc": cc, "mss": "1000B", "recv_buffer": "1GB", "send_buffer": "unlimited"});
        if receiver != Value::Null {
            tcp["receiver"] = receiver;
        }
        let mut world = one_flow("20Mbps", 25, "unlimited", "60s", tcp);
        world["network"]["bottleneck"]["loss"] = json!({"kind": "packet", "p": 0.01});
        world["flow"][0]["app"] = json!({"kind": "bulk", "bytes": format!("{size}B")});
        run(&world, 1).flows.remove(0)
    };
    let optimistic = json!({"kind": "optimistic", "ahead": "60kB"});
    for (profile, cc) in [
        ("rfc", "reno"),
        ("linux", "cubic"),
        ("linux", "bbr"),
        ("linux", "vegas"),
        ("ns2", "newreno"),
        ("ns3", "cubic"),
    ] {
        let [honest, fooled] = [Value::Null, optimistic.clone()].map(|receiver| transfer(profile, cc, receiver));
        assert_eq!(honest.undelivered_bytes, None);
        let times = [&honest, &fooled].map(|flow| flow.completion_s.expect("it is complete"));
        println!(
            "{profile} {cc} {times:?} {:?} {}",
            fooled.undelivered_bytes,
            fooled.measures.retransmitted_packets.unwrap()
        );
        // What came and what was passed over are all that there was; goodput counts what came.
        let (came, missing) = (fooled.measures.delivered_bytes, fooled.undelivered_bytes.unwrap());
        assert_eq!(came + missing, size, "{profile} {cc}");
        assert!(missing > 0, "{profile} {cc}");
        // Who slows down for every loss has none. BBR does not, and takes the path for shorter than it is.
        assert!(cc == "bbr" || times[1] < times[0], "{profile} {cc}: {times:?}");
        // At most the end is sent again, when claims were beyond it.
        assert!(fooled.measures.retransmitted_packets.unwrap() <= 3, "{profile} {cc}");
    }
}

#[test]
fn receivers_out_of_range_are_refused() {
    for (receiver, place) in [
        (json!({"kind": "ack_division", "parts": 1}), "tcp.receiver.parts: 1"),
        (json!({"kind": "dupack_spoofing", "copies": 0}), "tcp.receiver.copies: 0"),
        (json!({"kind": "dupack_spoofing", "every": "0s"}), "tcp.receiver.every: 0s"),
        (json!({"kind": "optimistic", "ahead": "0B"}), "tcp.receiver.ahead: 0"),
        (json!({"kind": "honest"}), "tcp.receiver.kind: unknown kind"),
    ] {
        let error = refusal(&one_flow("1Mbps", 10, "10p", "1s", json!({"receiver": receiver})));
        assert!(error.starts_with(place), "{error}");
    }
}

/// The part of a link that five flows keep beside pulses of 150 ms with this period (Kuzmanovic, Knightly 2003). Pulses have ten
/// times the rate of the link: nine of ten packets are lost while one lasts, so that every flow loses some. Without limited transmit all of
/// them then wait for the time-out, which is what the bound assumes.
fn share_beside_pulses(period_ms: u64, seed: u64) -> f64 {
    let mut flows: Vec<Value> =
        (0..5).map(|i| json!({"from": format!("left{i}"), "to": format!("right{i}")})).collect();
    flows.push(json!({"from": "left5", "to": "right5", "start": "5s", "app": {
        "kind": "on_off", "transport": "udp", "rate": "15Mbps", "size": "500B",
        "on": {"kind": "constant", "length": "150ms"},
        "off": {"kind": "constant", "length": format!("{}ms", period_ms - 150)}}}));
    let world = json!({
        "duration": "65s", "warmup": "5s",
        "network": {"kind": "dumbbell", "pairs": 6, "access": {"rate": "100Mbps", "delay": "5ms"},
                    "bottleneck": {"rate": "1500kbps", "delay": "20ms", "queue": "10p"}},
        "tcp": {"cc": "newreno", "recovery": "newreno", "sack": false, "tlp": false, "limited_transmit": false,
                "mss": "1000B", "rto_min": "1s"},
        "traffic": {"start_jitter": "1s"},
        "flow": flows,
    });
    let summary = run(&world, seed);
    summary.flows[..5].iter().map(|flow| flow.measures.goodput_bps).sum::<f64>() / 1.5e6
}

#[test]
fn pulses_at_the_period_of_the_least_time_out_shut_tcp_out() {
    for seed in 1..=5 {
        let [null, harmonic] = [1000, 1500].map(|period| share_beside_pulses(period, seed));
        println!("{seed} {null} {harmonic}");
        // (ceil(m/T) T - m) / (ceil(m/T) T) with m = 1 s: 0 at 1 s, 1/3 at 1.5 s, an upper bound.
        assert!(null < 0.15, "seed {seed}: {null}");
        assert!(harmonic <= 1.0 / 3.0 + 0.1 && harmonic > null, "seed {seed}: {harmonic}");
    }
}
