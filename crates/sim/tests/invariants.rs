//! What holds in every run, checked over random worlds. Each run also checks its own books: every packet sent was
//! delivered, dropped, or is where the simulator says it is (`summary.rs`), or the run panics.

mod common;

use common::worlds::world;
use common::{fingerprint, run};
use serde_json::json;

#[test]
fn packets_are_conserved_and_bytes_arrive_once_in_order() {
    for seed in 0..150 {
        let summary = run(&world(seed), seed);
        let total = summary.conservation;
        assert_eq!(total.sent, total.delivered + total.dropped + total.in_flight, "world {seed}");
        for flow in &summary.flows {
            let m = &flow.measures;
            let accounted = m.received_packets + m.dropped_packets + flow.in_flight_packets;
            assert_eq!(m.sent_packets, accounted, "world {seed}, flow {}", flow.flow);
            assert!(m.goodput_bps <= m.throughput_bps, "world {seed}: more read than received");
            assert!(m.segment_delivery_ratio.is_none_or(|r| r <= 1.0), "world {seed}: read what was never sent");
        }
    }
}

#[test]
fn a_finite_transfer_ends_with_exactly_its_bytes_under_any_loss() {
    for seed in 0..60 {
        let mut scenario = world(seed);
        scenario["duration"] = json!("600s");
        for flow in 0..3 {
            scenario["flow"][flow]["app"] = json!({"kind": "bulk", "bytes": "100kB"});
        }
        let summary = run(&scenario, seed);
        for flow in &summary.flows {
            assert_eq!(flow.measures.delivered_bytes, 100_000, "world {seed}, flow {}: {scenario}", flow.flow);
            assert!(flow.completion_s.is_some());
        }
        assert_eq!(summary.conservation.in_flight, 0, "world {seed}: a closed connection still sends");
    }
}

#[test]
fn same_seed_same_bits_other_seed_other_losses() {
    for seed in 0..10 {
        assert_eq!(fingerprint(&world(seed), 7), fingerprint(&world(seed), 7));
    }
    let mut lossy = world(0);
    lossy["network"]["bottleneck"]["loss"] = json!({"kind": "packet", "p": 0.05});
    assert_ne!(fingerprint(&lossy, 1), fingerprint(&lossy, 2));
}

#[test]
fn an_idle_flow_changes_nothing_for_the_others() {
    for seed in 0..20 {
        let alone = world(seed);
        let mut with_idle = alone.clone();
        with_idle["network"]["pairs"] = json!(4);
        let idle = json!({"from": "left3", "to": "right3", "start": "8s", "app": {"kind": "bulk"}});
        with_idle["flow"].as_array_mut().unwrap().push(idle);
        let (alone, with_idle) = (run(&alone, seed), run(&with_idle, seed));
        assert_eq!(alone.flows[..], with_idle.flows[..3], "world {seed}");
    }
}

#[test]
fn replicates_of_different_algorithms_share_their_random_streams() {
    // Arrivals and losses of an open-loop flow do not move when another flow's algorithm changes.
    let mut scenario = world(3);
    scenario["flow"][0]["app"] = json!({"kind": "on_off", "rate": "200pps", "size": "100B", "transport": "udp"});
    let offered = |cc: &str| {
        let mut scenario = scenario.clone();
        scenario["flow"][1]["cc"] = json!(cc);
        run(&scenario, 5).flows[0].measures.offered_bps
    };
    assert_eq!(offered("reno"), offered("cubic"));
}
