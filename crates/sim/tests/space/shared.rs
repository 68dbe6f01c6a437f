//! A downlink that the terminals of a satellite share.

use serde_json::{Value, json};

use sim::Summary;

use super::common::run;
use super::iridium;

/// A geostationary satellite over America, two flows of datagrams: 125 packets/s each, where 184.5 fit through one downlink.
fn relay(changes: Value) -> Value {
    let mut network = json!({
        "kind": "constellation", "preset": "geo", "profile": "ns2", "node_deg": -95, "handover_jitter": "0s",
        "uplink": {"rate": "10Mbps"}, "downlink": {"rate": "1.5Mbps"},
        "terminals": ["Berkeley", "Boston", "Los Angeles", "New York"],
    });
    for (key, value) in changes.as_object().unwrap() {
        network[key] = value.clone();
    }
    let app = json!({"kind": "cbr", "rate": "125pps", "size": "972B", "transport": "udp"});
    json!({
        "duration": "101s",
        "network": network,
        "flow": [
            {"from": "Berkeley", "to": "Boston", "app": app, "start": "1s"},
            {"from": "Los Angeles", "to": "New York", "app": app, "start": "1002ms"},
        ],
    })
}

#[test]
fn a_shared_downlink_is_one_transmitter_as_in_ns_2() {
    // ns-2.35 with the same world: 12435 + 5972 packets, each of 1000 B and 16 B of framing.
    let summary = run(&relay(json!({})), 1);
    let received: Vec<u64> = summary.flows.iter().map(|flow| flow.measures.received_packets).collect();
    assert_eq!(received, [12_435, 5_972]);
    let down: Vec<_> = summary.links.iter().filter(|link| link.from == "sat0.0").collect();
    assert!(down.len() == 1 && down[0].to == "terminals" && down[0].queue_max_packets == 50, "{down:?}");
    assert_eq!(summary.resolved.network, run(&relay(json!({"shared_downlink": true})), 1).resolved.network);
}

#[test]
fn a_terminal_with_a_downlink_of_its_own_gets_everything() {
    let summary = run(&relay(json!({"shared_downlink": false})), 1);
    assert_eq!(summary.network.measures.dropped_packets, 0);
    assert_eq!(summary.links.iter().filter(|link| link.from == "sat0.0").count(), 2);
}

/// Ten minutes of two full flows to neighbours that look for satellites at different times.
fn neighbours(changes: Value) -> Summary {
    let mut world = iridium(&["Berkeley", "Boston", "Seattle"], changes);
    world["network"]["terminals"]
        .as_array_mut()
        .unwrap()
        .push(json!({"name": "ship", "lat_deg": 42.2, "lon_deg": -70.9}));
    world["duration"] = json!("600s");
    world["network"]["handover_jitter"] = json!("5s");
    world["tcp"]["recv_buffer"] = json!("1MB");
    world["flow"] = json!([{"from": "Berkeley", "to": "Boston"}, {"from": "Seattle", "to": "ship"}]);
    run(&world, 2)
}

#[test]
fn who_leaves_takes_only_its_own_packets_along() {
    let lost = neighbours(json!({}));
    let kept = neighbours(json!({"handover_requeue": true}));
    let handovers = |summary: &Summary, i: usize| summary.space.as_ref().unwrap().terminals[i].handover_times_s.clone();
    assert_ne!(handovers(&lost, 1), handovers(&lost, 3), "both leave at once: choose another seed");
    for flow in &lost.flows {
        let drops = &flow.measures.drops;
        assert!((1..200).contains(&drops.link_down), "{drops:?}");
    }
    assert_eq!(kept.network.measures.drops.link_down, 0);
    let together = |summary: &Summary| summary.flows.iter().map(|flow| flow.measures.goodput_bps).sum::<f64>();
    // One downlink of 1.5 Mbps, or two but for the queues that fill and empty.
    assert!((1.3e6..1.5e6).contains(&together(&lost)) && (1.3e6..1.5e6).contains(&together(&kept)));
    assert!(together(&neighbours(json!({"shared_downlink": false}))) > 2.7e6);
}
