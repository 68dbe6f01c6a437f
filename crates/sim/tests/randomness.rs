//! Starts of flows, and what a world says of its own chance.

mod common;

use common::{fingerprint, one_flow, refusal, run, scenario};
use serde_json::{Value, json};
use sim::Simulation;
use tcp::cc::ALGORITHMS;

/// Two listed flows over one bottleneck: a world without chance, unless it is added.
fn pair(cc: &str) -> Value {
    json!({
        "duration": "6s", "tcp": {"cc": cc},
        "network": {"kind": "dumbbell", "pairs": 2,
                    "bottleneck": {"rate": "10Mbps", "delay": "18ms", "queue": "30p"}},
        "flow": [{"from": "left0", "to": "right0"}, {"from": "left1", "to": "right1", "start": "1s"}],
    })
}

fn parts(value: &Value) -> Vec<String> {
    Simulation::new(&scenario(value), 1).unwrap().random_parts()
}

fn starts(value: &Value, seed: u64) -> Vec<f64> {
    run(value, seed).flows.iter().map(|flow| flow.start_s).collect()
}

#[test]
fn a_world_without_chance_says_so_and_is_the_same_for_every_seed() {
    for algorithm in ALGORITHMS {
        let world = pair(algorithm.name);
        let said = parts(&world);
        assert_eq!(said.is_empty(), !algorithm.requirements.random, "{}: {said:?}", algorithm.name);
        if said.is_empty() {
            assert_eq!(fingerprint(&world, 1), fingerprint(&world, 2), "{} draws", algorithm.name);
        }
    }
}

#[test]
fn whatever_is_random_is_named_and_makes_seeds_differ() {
    let with = |change: fn(&mut Value)| {
        let mut world = pair("newreno");
        change(&mut world);
        world
    };
    let wireless = json!({"duration": "6s", "flow": [{"from": "n0", "to": "n1"}], "network": {"kind": "adhoc", "nodes": 2,
        "placement": {"kind": "list", "positions": [[1.0, 1.0], [20.0, 1.0]]}}});
    let cases = [
        (with(|w| w["flow"][0]["start_jitter"] = json!("10ms")), "starts of flows"),
        (with(|w| w["traffic"] = json!({"start_jitter": "rtt"})), "starts of flows"),
        (with(|w| w["network"]["flows"] = json!(1)), "starts of flows"),
        (with(|w| w["flow"][0]["app"] = json!({"kind": "on_off", "rate": "1Mbps", "size": "500B"})), "applications"),
        (with(|w| w["tcp"]["cc"] = json!("bbr")), "congestion control (bbr)"),
        (with(|w| w["network"]["bottleneck"]["loss"] = json!({"kind": "packet", "p": 0.01})), "loss on links"),
        (with(|w| w["network"]["bottleneck"]["queue"] = json!({"kind": "pie"})), "queues (pie)"),
        (wireless, "channel access"),
    ];
    for (world, named) in cases {
        let said = parts(&world);
        assert_eq!(said, [named], "{world}");
        assert_ne!(fingerprint(&world, 1), fingerprint(&world, 2), "{named}");
    }
    let fabric = json!({"duration": "1ms", "network": {"kind": "leaf_spine"}, "flow": [{"from": "h0", "to": "h63"}]});
    assert_eq!(parts(&fabric), ["choices among equal paths"]);
    let drawn = json!({"duration": "1s", "network": {"kind": "random_wired", "nodes": 9, "flows": 3}});
    assert_eq!(parts(&drawn), ["topology", "placement", "ends of flows", "starts of flows"]);
}

#[test]
fn what_cannot_happen_or_is_certain_is_not_random() {
    let mut world = pair("cubic");
    for loss in [json!({"kind": "packet", "p": 0.0}), json!({"kind": "nth", "data_packets": [7]})] {
        world["network"]["bottleneck"]["loss"] = loss;
        world["flow"][0]["start_jitter"] = json!("0s");
        assert_eq!(parts(&world), [""; 0]);
    }
    world["flow"][0]["app"] = json!({"kind": "on_off", "rate": "1Mbps", "size": "500B",
        "on": {"kind": "constant", "length": "1s"}, "off": {"kind": "constant", "length": "1s"}});
    assert_eq!(parts(&world), [""; 0]);
}

#[test]
fn jitter_of_a_listed_flow_comes_after_its_start_and_is_the_same_for_every_algorithm() {
    let mut world = pair("newreno");
    assert_eq!(starts(&world, 3), [0.0, 1.0], "none unless it is asked for");
    world["flow"][1]["start_jitter"] = json!("200ms");
    let drawn = starts(&world, 3);
    assert!(drawn[0] == 0.0 && drawn[1] > 1.0 && drawn[1] < 1.2, "{drawn:?}");
    assert_ne!(drawn, starts(&world, 4));
    for cc in ["cubic", "bbr"] {
        world["tcp"]["cc"] = json!(cc);
        assert_eq!(starts(&world, 3), drawn);
    }
    // Another flow, or the jitter of another, changes no other draw.
    world["flow"][0]["start_jitter"] = json!("50ms");
    assert_eq!(starts(&world, 3)[1], drawn[1]);
}

#[test]
fn jitter_of_traffic_is_for_listed_flows_too_and_their_own_comes_first() {
    let mut world = pair("newreno");
    world["traffic"] = json!({"start_jitter": "300ms"});
    let drawn = starts(&world, 2);
    assert!(drawn[0] > 0.0 && drawn[0] < 0.3 && drawn[1] > 1.0 && drawn[1] < 1.3, "{drawn:?}");
    world["flow"][1]["start_jitter"] = json!("0s");
    assert_eq!(starts(&world, 2), [drawn[0], 1.0]);
}

#[test]
fn one_rtt_is_that_of_the_empty_path() {
    // 40 ms both ways, 1500 B at 10 Mb/s (1.2 ms) and 40 B (32 us) over the bottleneck, and over the access links 1.2 us and
    // 32 ns twice each.
    let mut world = one_flow("10Mbps", 20, "33p", "2s", json!({}));
    world["flow"][0]["start_jitter"] = json!("rtt");
    let all: Vec<f64> = (1..400)
        .map(|seed| Simulation::new(&scenario(&world), seed).unwrap())
        .map(|s| s.graph().flow[0].start.as_secs_f64())
        .collect();
    let most = all.iter().copied().fold(0.0, f64::max);
    let rtt = 0.040 + 0.0012 + 0.000032 + 2.0 * (1.2e-6 + 32e-9);
    assert!(most < rtt && most > 0.98 * rtt, "{most} of {rtt}");
    let mean = all.iter().sum::<f64>() / all.len() as f64;
    assert!((mean / rtt - 0.5).abs() < 0.05, "{mean}");
    // Over the air there is no base RTT to know beforehand.
    let air = json!({"duration": "6s", "flow": [{"from": "n0", "to": "n1", "start_jitter": "rtt"}],
                     "network": {"kind": "adhoc", "nodes": 2}});
    let most = (1..200).map(|seed| starts(&air, seed)[0]).fold(0.0, f64::max);
    assert!(most < 0.1 && most > 0.09, "{most}");
}

#[test]
fn a_flow_starts_before_it_stops_and_before_the_run_ends() {
    let mut world = pair("newreno");
    world["flow"][0]["stop"] = json!("100ms");
    world["traffic"] = json!({"start_jitter": "1min"});
    for seed in 1..20 {
        let drawn = starts(&world, seed);
        assert!(drawn[0] < 0.1 && drawn[1] < 6.0, "{drawn:?}");
    }
    world["flow"][0]["start_jitter"] = json!("3 bananas");
    let text = refusal(&world);
    assert!(text.contains("flow[0].start_jitter") && text.contains("\"rtt\""), "{text}");
}

#[test]
fn what_was_resolved_or_expanded_gives_the_same_run_again() {
    let mut world = pair("cubic");
    world["network"]["flows"] = json!(2);
    world["flow"][0]["start_jitter"] = json!("rtt");
    let simulation = Simulation::new(&scenario(&world), 5).unwrap();
    let again = |text: &sim::Scenario| serde_json::to_value(text).unwrap();
    assert_eq!(starts(&again(simulation.resolved()), 5), starts(&world, 5));
    // An expanded one holds the starts themselves.
    assert_eq!(starts(&again(simulation.graph()), 6), starts(&world, 5));
}
