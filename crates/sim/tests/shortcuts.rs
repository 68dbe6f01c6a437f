//! The shortcuts of wired links give what the plain way gives: the same records at the same times, the same series, the
//! same numbers, whatever the queues, losses, changes and media. Only the count of events differs.

mod common;

use common::scenario;
use common::worlds::world;
use serde_json::{Value, json};
use sim::{Outcome, Simulation, TextLog, Travel};

fn travel(world: &Value, seed: u64, travel: Travel) -> Outcome {
    Simulation::travelling(&scenario(world), seed, Some(Box::<TextLog>::default()), travel).unwrap().run()
}

/// The lines of a log whose kind is among these, in order.
fn lines<'a>(log: &'a str, kinds: &[&str]) -> Vec<&'a str> {
    log.lines().filter(|line| line.split_whitespace().nth(1).is_some_and(|kind| kinds.contains(&kind))).collect()
}

/// Compares the two ways; gives the events that each took.
fn both_ways(world: &Value, seed: u64) -> (u64, u64) {
    let (mut plain, mut short) = (travel(world, seed, Travel::Plain), travel(world, seed, Travel::Short));
    let (told, log) = (short.trace.unwrap(), plain.trace.unwrap());
    // What hosts do and when, in its very order.
    let of_hosts = ["sent", "delivered", "marked"];
    let (expected, found) = (lines(&log, &of_hosts), lines(&told, &of_hosts));
    for (line, (expected, found)) in expected.iter().zip(&found).enumerate() {
        assert_eq!(expected, found, "line {line} of seed {seed}: {world}");
    }
    assert_eq!(expected.len(), found.len());
    // Transmissions and drops are told early, with the time at which they happen.
    let (mut expected, mut found) =
        (lines(&log, &["transmitted", "dropped"]), lines(&told, &["transmitted", "dropped"]));
    let end = format!("{:.9}", plain.summary.duration_s);
    let over = |line: &&str| line.split(' ').next().unwrap().parse::<f64>().unwrap() <= end.parse::<f64>().unwrap();
    found.retain(over);
    expected.sort_unstable();
    found.sort_unstable();
    assert_eq!(expected, found, "seed {seed}: {world}");
    let events = (plain.summary.events, short.summary.events);
    (plain.summary.events, short.summary.events) = (0, 0);
    assert_eq!(format!("{:?}", plain.summary), format!("{:?}", short.summary), "seed {seed}: {world}");
    assert_eq!(format!("{:?}", plain.series), format!("{:?}", short.series), "seed {seed}: {world}");
    events
}

#[test]
fn random_worlds() {
    for seed in 0..60 {
        let mut world = world(seed);
        // Half of them with somebody who looks in between.
        if seed % 2 == 1 {
            world["warmup"] = json!("1.7s");
            world["record"] = json!({"series": ["queue", "throughput", "cwnd"], "every": "37ms"});
        }
        if seed % 4 == 3 {
            world["network"]["bottleneck"]["changes"] = json!([]);
        }
        both_ways(&world, seed);
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
    let (plain, short) = both_ways(&world, 1);
    assert!(short * 10 < plain * 6, "{short} events instead of {plain}");
}

#[test]
fn a_queue_behind_a_queue_that_drops() {
    // The second link is slower than the only one that feeds it, so that it drops what is told before it arrives.
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
    let (plain, short) = both_ways(&world, 1);
    assert!(short < plain);
}

#[test]
fn other_shapes() {
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
        both_ways(world, seed as u64);
    }
}
