//! ns-2.35's TCP-Linux: `vectors/tcp_linux.csv` has when stock ns-2 gave each packet of CUBIC to its link.
//!
//! There: `Agent/TCP/Linux` with `select_ca cubic`, timestamps, packets of 1050 B without further headers and without SYN,
//! `Agent/TCPSink/Sack1`; hosts at 100 Mb/s and 1 ms; 1 Mb/s to the sinks, 100 Mb/s back; losses by `ErrorModel/List`. A
//! queue of 11 holds 10 packets there, one of 10 nine.

use serde_json::{Value, json};
use sim::{JsonLog, Simulation};
use std::collections::BTreeMap;

use crate::common::scenario;

/// Of 1050 B 40 are headers.
const MSS: u64 = 1010;

fn world(duration: &str, delay: &str, queue: &str, flows: usize, lost: &[u64]) -> Value {
    let mut bottleneck = json!({"rate": "1Mbps", "delay": delay, "queue": queue, "reverse": {"rate": "100Mbps"}});
    if !lost.is_empty() {
        bottleneck["loss"] = json!({"kind": "nth", "data_packets": lost});
    }
    let flow = |index: usize| json!({"from": format!("left{index}"), "to": format!("right{index}"), "start": "200ms"});
    json!({
        "duration": duration,
        "clock": "double",
        "network": {
            "kind": "dumbbell", "pairs": flows, "bottleneck": bottleneck,
            "access": {"rate": "100Mbps", "delay": "1ms"},
        },
        "tcp": {
            "profile": "ns2", "cc": {"name": "cubic", "profile": "linux26"}, "recovery": "sack",
            "agent": {"kind": "ns2_linux", "headers": "plain"}, "timestamps": true, "handshake": false, "mss": "1010B", "initial_ssthresh": "20p",
            "cwnd_clamp": "20p", "recv_buffer": "1MB", "rto_max": "120s",
        },
        "flow": (0..flows).map(flow).collect::<Vec<_>>(),
    })
}

/// Time and number of each packet of each flow.
type Sent = BTreeMap<u64, Vec<(f64, u64)>>;

fn of_ns2(world: &str) -> Sent {
    let mut sent = Sent::new();
    for row in include_str!("../vectors/tcp_linux.csv").lines().skip(1) {
        let columns: Vec<&str> = row.split(',').collect();
        if columns[0] == world {
            let packet = (columns[2].parse().unwrap(), columns[3].parse().unwrap());
            sent.entry(columns[1].parse().unwrap()).or_default().push(packet);
        }
    }
    sent
}

fn ours(world: &Value) -> Sent {
    let mut sent = Sent::new();
    let simulation = Simulation::with_sink(&scenario(world), 1, Box::<JsonLog>::default()).unwrap();
    for line in simulation.run().trace.unwrap().lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        if event["event"] == "sent" && event["towards"] == "sink" {
            let packet = (event["t_s"].as_f64().unwrap(), (event["seq"].as_u64().unwrap() - 1) / MSS);
            sent.entry(event["flow"].as_u64().unwrap()).or_default().push(packet);
        }
    }
    sent
}

fn assert_same(name: &str, world: &Value) {
    let (theirs, ours) = (of_ns2(name), ours(world));
    assert!(theirs.keys().eq(ours.keys()), "{name}: other flows");
    for (flow, packets) in &theirs {
        let differs = packets.iter().zip(&ours[flow]).position(|(one, other)| {
            // ns-2 prints microseconds, and from each of them on the next begins.
            one.1 != other.1 || (one.0 - other.0).abs() > 60e-6
        });
        assert_eq!(differs, None, "{name}, flow {flow}: the first packet that differs");
        assert_eq!(packets.len(), ours[flow].len(), "{name}, flow {flow}");
    }
}

/// Slow start up to a window of 20, which then stands; isolated losses, a row of them, and retransmissions among the lost.
#[test]
fn losses_are_found_and_the_rate_is_halved() {
    let lost = [40, 41, 42, 45, 50, 51, 52, 60, 61, 62, 63, 64, 65, 66];
    assert_same("losses", &world("2s", "20ms", "199p", 1, &lost));
}

/// At an RTT of 0.6 s rows of losses that only time-outs end.
#[test]
fn time_outs_come_when_they_do_in_ns2() {
    let mut lost = vec![70, 94, 97];
    lost.extend((182..=226).filter(|packet| ![201, 202].contains(packet)));
    lost.push(251);
    assert_same("time_outs", &world("30s", "300ms", "199p", 1, &lost));
}

/// Three flows lose 48 of 390 packets in a queue of nine.
#[test]
fn flows_share_a_queue() {
    assert_same("three_flows", &world("3s", "20ms", "9p", 3, &[]));
}
