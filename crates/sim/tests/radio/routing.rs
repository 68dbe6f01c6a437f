//! Routing protocols over radio: convergence, overhead and throughput.

use serde_json::{Value, json};

use crate::common::{events, refusal, run};

/// Four small datagrams per second from the first station of a row to the last, as in the reference runs of DSDV.
fn start_up(hops: usize, routing: &Value) -> Value {
    let positions: Vec<[f64; 2]> = (0..=hops).map(|i| [200.0 * i as f64, 0.0]).collect();
    json!({
        "duration": "200s",
        "network": {
            "kind": "adhoc", "nodes": hops + 1, "flows": 0, "area": {"x": "2000m", "y": "1m"},
            "placement": {"kind": "list", "positions": positions},
            "radio": {"profile": "ns2", "data_rate": "2Mbps", "basic_rate": "1Mbps"},
            "routing": routing,
        },
        "flow": [{
            "from": "n0", "to": format!("n{hops}"),
            "app": {"kind": "cbr", "rate": "1152bps", "size": "36B", "transport": "udp"},
        }],
    })
}

/// Seconds until the first arrival.
fn first_delivery(scenario: &Value, seed: u64) -> f64 {
    let log = events(scenario, seed);
    let line = log.iter().find(|line| line.contains(" delivered "));
    line.map_or(f64::INFINITY, |line| line.split(' ').next().unwrap().parse().unwrap())
}

/// Routes of h hops are found after 12 s (h - 1) and up to 2 s, or one or several periods later if broadcasts are lost.
/// ns-2 over 40 seeds that are far apart: the first quarter of the runs, and the fraction of those that lost nothing.
/// (With seeds from 1 to 10, as in the reference runs, the first draw of its generator is close to 0 in every run.)
#[test]
fn dsdv_of_ns2_needs_twelve_seconds_per_hop() {
    let table = [
        (1, 0.6, 1.0),
        (2, 12.7, 0.75),
        (3, 25.0, 0.63),
        (4, 37.1, 0.68),
        (5, 49.0, 0.68),
        (6, 61.2, 0.59),
        (8, 86.0, 0.60),
    ];
    for (hops, quarter, on_time) in table {
        let scenario = start_up(hops, &json!({"kind": "dsdv"}));
        let mut times: Vec<f64> = (1..=60).map(|seed| first_delivery(&scenario, seed)).collect();
        times.sort_by(f64::total_cmp);
        let least = 12.0 * (hops - 1) as f64;
        assert!(times[0] >= least && times[0] < least + 2.0, "{hops} hops: {} at first", times[0]);
        assert!((times[15] - quarter).abs() < 1.0, "{hops} hops: {} after a quarter of the runs", times[15]);
        // Two standard errors of the difference of two proportions, of 40 and 60 runs.
        let share = times.iter().filter(|time| **time < least + 4.5).count() as f64 / 60.0;
        assert!((share - on_time).abs() < 0.20, "{hops} hops: {share} on time");
    }
}

/// The routing overhead is that of ns-2: 117 updates of 7,440 B in the row of six over 200 s; here with ARP requests
/// of five neighbours.
#[test]
fn messages_are_counted() {
    let channel = run(&start_up(5, &json!({"kind": "dsdv"})), 1).channels.remove(0);
    assert!((100..=160).contains(&channel.message_count), "{channel:?}");
    assert!((6_000..=9_000).contains(&channel.message_bytes), "{channel:?}");
    let quiet = run(&start_up(5, &json!({"kind": "shortest"})), 1).channels.remove(0);
    // Two messages of ARP for each neighbour.
    assert_eq!((quiet.message_count, quiet.message_bytes), (10, 280));
}

#[test]
fn wrong_values_are_refused() {
    let refused = |routing: Value| refusal(&start_up(2, &routing));
    let interval = refused(json!({"kind": "dsdv", "update_interval": "0s"}));
    assert!(interval.starts_with("network.routing.update_interval: 0s is not from 100ms to"), "{interval}");
    let profile = refused(json!({"kind": "dsdv", "profile": "ns4"}));
    assert!(profile.starts_with("network.routing.profile: ") && profile.contains("ns3"), "{profile}");
    let timeout = refused(json!({"kind": "aodv", "active_timeout": "2h"}));
    assert!(timeout.starts_with("network.routing.active_timeout: "), "{timeout}");
}

/// The ad hoc reference scenario.
fn adhoc() -> Value {
    json!({
        "duration": "60s", "warmup": "10s",
        "network": {
            "kind": "adhoc", "nodes": 40, "flows": 20,
            "radio": {"profile": "ns2"}, "routing": {"kind": "dsdv"},
        },
        "tcp": {"profile": "ns2", "cc": "newreno", "mss": "1000B", "recv_buffer": "20000B"},
        "traffic": {
            "start": "10s", "start_jitter": "0s",
            "app": {"kind": "cbr", "rate": "800kbps", "size": "1000B", "transport": "tcp"},
        },
    })
}

/// Within 8 % and 0.02 on the average of six placements: payload in b/s and delivery ratio of ns-2, the mean of two of its seeds
/// with the placements and flows of our seeds. One run of ours differs from another of the same placement by 5 %. (From one
/// placement to another throughput differs by more: with the fourth, two flows far apart hardly interfere.)
#[test]
fn adhoc_reference_scenario() {
    let table = [
        (1, 504.8e3, 0.945),
        (2, 534.7e3, 0.958),
        (3, 506.5e3, 0.955),
        (4, 1189.8e3, 0.985),
        (5, 440.8e3, 0.950),
        (6, 518.0e3, 0.953),
    ];
    let (mut off, mut missing) = (0.0, 0.0);
    for (seed, throughput, delivery) in table {
        let measures = run(&adhoc(), seed).network.measures;
        println!("seed {seed}: {} of {throughput} b/s", measures.throughput_bps);
        off += measures.throughput_bps / throughput / 6.0 - 1.0 / 6.0;
        missing += (measures.delivery_ratio.unwrap_or(0.0) - delivery) / 6.0;
    }
    assert!(off.abs() < 0.08 && missing.abs() < 0.02, "{off:.3} of throughput, {missing:.3} of delivery");
}

/// ns-3's ARP with an access point: the request of the source goes to it and on from it, the reply comes back, and the access point
/// asks for the address of the sink itself. The first packet waits for both.
#[test]
fn requests_go_through_the_access_point() {
    let messages = |arp: &str| {
        let app = json!({"kind": "cbr", "rate": "10pps", "size": "100B", "transport": "udp"});
        let scenario = json!({
            "duration": "3s",
            "network": {
                "kind": "infrastructure", "cells": 1, "stations_per_cell": 2, "flows": 1,
                "radio": {"profile": "ns3", "standard": "a", "arp": arp},
            },
            "traffic": {"app": app, "start": "1s", "start_jitter": "0s"},
        });
        let summary = run(&scenario, 1);
        let measures = &summary.network.measures;
        assert_eq!(measures.received_packets, 20, "the packet of the last instant is on its way");
        (summary.network.radio.message_count, measures.delay_max_s.expect("packets arrive"))
    };
    assert_eq!(messages("none").0, Some(0));
    let (count, longest_s) = messages("ns3");
    assert_eq!(count, Some(5));
    assert!((1e-3..21e-3).contains(&longest_s), "{longest_s}");
}
