//! Both event modes give the same records at the same times, the same series and the same numbers, whatever the queues,
//! losses, changes and media. Only the count of events differs.

mod common;

use common::scenario;
use common::worlds::world;
use serde_json::{Value, json};
use sim::{EventMode, Outcome, Simulation, TextLog};

fn run(world: &Value, seed: u64, mode: EventMode) -> Outcome {
    Simulation::with_event_mode(&scenario(world), seed, Some(Box::<TextLog>::default()), mode).unwrap().run()
}

/// The lines of a log whose kind is among these, in order.
fn lines<'a>(log: &'a str, kinds: &[&str]) -> Vec<&'a str> {
    log.lines().filter(|line| line.split_whitespace().nth(1).is_some_and(|kind| kinds.contains(&kind))).collect()
}

/// Compares the two modes; returns the number of events of each.
fn both_modes(world: &Value, seed: u64) -> (u64, u64) {
    let (mut per_hop, mut coalesced) = (run(world, seed, EventMode::PerHop), run(world, seed, EventMode::Coalesced));
    let (early, log) = (coalesced.trace.unwrap(), per_hop.trace.unwrap());
    // The events of hosts, in their order.
    let of_hosts = ["sent", "delivered", "marked"];
    let (expected, found) = (lines(&log, &of_hosts), lines(&early, &of_hosts));
    for (line, (expected, found)) in expected.iter().zip(&found).enumerate() {
        assert_eq!(expected, found, "line {line} of seed {seed}: {world}");
    }
    assert_eq!(expected.len(), found.len());
    // Transmissions and drops are recorded early, with the time at which they happen.
    let (mut expected, mut found) =
        (lines(&log, &["transmitted", "dropped"]), lines(&early, &["transmitted", "dropped"]));
    let end = format!("{:.9}", per_hop.summary.duration_s);
    let over = |line: &&str| line.split(' ').next().unwrap().parse::<f64>().unwrap() <= end.parse::<f64>().unwrap();
    found.retain(over);
    expected.sort_unstable();
    found.sort_unstable();
    assert_eq!(expected, found, "seed {seed}: {world}");
    let events = (per_hop.summary.events, coalesced.summary.events);
    (per_hop.summary.events, coalesced.summary.events) = (0, 0);
    assert_eq!(format!("{:?}", per_hop.summary), format!("{:?}", coalesced.summary), "seed {seed}: {world}");
    assert_eq!(format!("{:?}", per_hop.series), format!("{:?}", coalesced.series), "seed {seed}: {world}");
    events
}

#[test]
fn random_worlds() {
    for seed in 0..60 {
        let mut world = world(seed);
        // Half of them with samples in between.
        if seed % 2 == 1 {
            world["warmup"] = json!("1.7s");
            world["record"] = json!({"series": ["queue", "throughput", "cwnd"], "every": "37ms"});
        }
        if seed % 4 == 3 {
            world["network"]["bottleneck"]["changes"] = json!([]);
        }
        both_modes(&world, seed);
    }
}

#[test]
fn a_dumbbell_takes_half_the_events() {
    let flow =
        |i: u32| json!({"from": format!("left{i}"), "to": format!("right{i}"), "start": format!("{}ms", 10 * i)});
    let world = json!({
        "duration": "3s",
        "network": {"kind": "dumbbell", "pairs": 5, "access": {"rate": "1Gbps", "delay": "1ms"},
                    "bottleneck": {"rate": "20Mbps", "delay": "20ms", "queue": "50p"}},
        "tcp": {"timestamps": true},
        "flow": (0..5).map(flow).collect::<Vec<_>>(),
    });
    let (per_hop, coalesced) = both_modes(&world, 1);
    assert!(coalesced * 10 < per_hop * 6, "{coalesced} events instead of {per_hop}");
}

#[test]
fn a_queue_behind_a_queue_that_drops() {
    // The second link is slower than the only one that feeds it, so that it drops packets before they arrive.
    let node = |i: u32| json!({"name": format!("n{i}")});
    let app = json!({"kind": "cbr", "rate": "900pps", "size": "972B", "transport": "udp"});
    let world = json!({
        "duration": "2s", "warmup": "0.5s",
        "network": {"kind": "graph"},
        "node": (0..4).map(node).collect::<Vec<_>>(),
        "link": [
            {"from": "n0", "to": "n1", "rate": "10Mbps", "delay": "3ms"},
            {"from": "n1", "to": "n2", "rate": "5Mbps", "delay": "7ms", "queue": "5p"},
            {"from": "n2", "to": "n3", "rate": "4Mbps", "delay": "7ms", "queue": "9p", "loss": {"kind": "packet", "p": 0.1}},
        ],
        "flow": [{"from": "n0", "to": "n3", "app": app}, {"from": "n3", "to": "n0", "app": {"kind": "bulk"}}],
        "record": {"series": ["queue"], "every": "50ms"},
    });
    let (per_hop, coalesced) = both_modes(&world, 1);
    assert!(coalesced < per_hop);
}

#[test]
fn other_topologies() {
    let cbr = json!({"app": {"kind": "cbr", "rate": "300pps", "size": "512B"}});
    let worlds = [
        json!({"duration": "4s", "network": {"kind": "star", "nodes": 8, "flows": 6}, "traffic": cbr}),
        json!({"duration": "4s", "network": {"kind": "lan"}, "flow": [{"from": "pc0", "to": "pc3"}, {"from": "pc1", "to": "pc0"}]}),
        json!({"duration": "4s", "network": {"kind": "random_wired", "nodes": 12, "flows": 9}, "traffic": cbr}),
        json!({"duration": "2s", "network": {"kind": "infrastructure", "stations_per_cell": 3, "flows": 3}, "traffic": cbr}),
        json!({"duration": "2s", "network": {"kind": "adhoc", "nodes": 10, "flows": 3}, "traffic": cbr}),
        json!({"duration": "20s", "network": {"kind": "constellation", "preset": "iridium", "terminals": ["Berkeley", "Boston"]},
               "tcp": {"profile": "ns2", "cc": "newreno"}, "flow": [{"from": "Berkeley", "to": "Boston"}]}),
    ];
    for (seed, world) in worlds.iter().enumerate() {
        both_modes(world, seed as u64);
    }
}

#[test]
fn equal_paths_pins_and_moves() {
    for by in [json!("flow"), json!("packet"), json!({"kind": "flowlet", "gap": "50us"})] {
        let world = json!({
            "duration": "3ms",
            "network": {"kind": "leaf_spine", "leaves": 2, "spines": 3, "hosts": 4, "flows": 8,
                        "routing": {"kind": "ecmp", "by": by, "pins": [{"flow": "f", "via": "spine1"}]}},
            "flow": [{"name": "f", "from": "h0", "to": "h7"}],
            "move": [{"at": "1ms", "flow": "f", "via": "spine2"}],
            "traffic": {"start_jitter": "100us"},
            "record": {"series": ["throughput", "path_delay", "route_hops"], "every": "97us"},
        });
        both_modes(&world, 1);
    }
}
