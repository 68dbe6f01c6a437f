//! What seeds vary beside what a scenario draws (`vary`).

use sim::{Scenario, Simulation, Summary};
use tcp::units::Span;

const WORLD: &str = r#"{
    "duration": "4s",
    "tcp": { "profile": "linux", "cc": "CC" },
    "network": { "kind": "dumbbell", "pairs": 2, "flows": 2, "access": { "rate": "1Gbps", "delay": "1ms" },
        "bottleneck": { "rate": "10Mbps", "delay": "10ms", "queue": "50p" } },
    "vary": VARY
}"#;

fn world(vary: &str, cc: &str) -> Scenario {
    Scenario::from_json(&WORLD.replace("VARY", vary).replace("CC", cc)).unwrap()
}

fn run(vary: &str, seed: u64) -> Summary {
    Simulation::new(&world(vary, "cubic"), seed).unwrap().run().summary
}

/// Delays and limits of a graph, in its order.
fn links(vary: &str, seed: u64, cc: &str) -> Vec<(Span, String)> {
    let simulation = Simulation::new(&world(vary, cc), seed).unwrap();
    let graph = serde_json::to_value(simulation.graph()).unwrap();
    let links = graph["link"].as_array().unwrap();
    links
        .iter()
        .map(|link| (link["delay"].as_str().unwrap().parse().unwrap(), link["queue"]["limit"].to_string()))
        .collect()
}

#[test]
fn delays_at_the_ends_move_within_their_share_and_no_others() {
    let seen: Vec<_> = (1..=20).map(|seed| links(r#"{ "delays": 0.02 }"#, seed, "cubic")).collect();
    for found in &seen {
        assert_eq!(found[0].0, Span::from_millis(10));
        assert!(found[1..].iter().all(|(delay, _)| (0.98..=1.02).contains(&(delay.as_secs_f64() * 1e3))), "{found:?}");
    }
    assert!(seen.windows(2).all(|pair| pair[0] != pair[1]));
    assert_eq!(links(r#"{ "delays": 0.02 }"#, 7, "cubic"), links(r#"{ "delays": 0.02 }"#, 7, "reno"));
}

#[test]
fn buffers_move_by_whole_packets() {
    let limits: std::collections::BTreeSet<String> =
        (1..=40).map(|seed| links(r#"{ "buffers": 1 }"#, seed, "cubic")[0].1.clone()).collect();
    assert_eq!(limits.into_iter().collect::<Vec<_>>(), [r#""49p""#, r#""50p""#, r#""51p""#]);
}

#[test]
fn queues_of_classes_move_too() {
    let queue = r#"{ "kind": "htb", "classes": [{ "name": "all", "rate": "9Mbps", "queue": "50p" }] }"#;
    let text = WORLD.replace("VARY", r#"{ "buffers": 1 }"#).replace("CC", "cubic").replace(r#""50p""#, queue);
    let limit = |seed: u64| {
        let simulation = Simulation::new(&Scenario::from_json(&text).unwrap(), seed).unwrap();
        let graph = serde_json::to_value(simulation.graph()).unwrap();
        graph["link"][0]["queue"]["classes"][0]["queue"]["limit"].to_string()
    };
    let limits: std::collections::BTreeSet<String> = (1..=40).map(limit).collect();
    assert_eq!(limits.into_iter().collect::<Vec<_>>(), [r#""49p""#, r#""50p""#, r#""51p""#]);
}

#[test]
fn the_background_is_in_no_metric_of_flows_and_takes_its_share() {
    let (without, with) = (run("{}", 1), run(r#"{ "background": 0.05 }"#, 1));
    assert_eq!(with.flows.len(), 2);
    assert_eq!(with.network.flows, 2);
    let sum: f64 = with.flows.iter().map(|flow| flow.measures.goodput_bps).sum();
    assert!((with.network.measures.goodput_bps / sum - 1.0).abs() < 0.1);
    // Beside about as many ACKs as before, 5 % of 4 s of 10 Mb/s: 250 kB in some twenty bursts.
    let back = |summary: &Summary| summary.links[1].sent_bytes as f64;
    let more = back(&with) - back(&without);
    assert!((60e3..500e3).contains(&more), "{more}");
}

#[test]
fn a_name_gives_other_draws_under_the_same_seed() {
    let starts = |vary: &str| run(vary, 1).flows.iter().map(|flow| flow.start_s).collect::<Vec<_>>();
    assert_eq!(starts("{}"), starts(r#"{ "draws": "" }"#));
    assert_ne!(starts("{}"), starts(r#"{ "draws": "delay=20ms" }"#));
    assert_ne!(starts(r#"{ "draws": "delay=10ms" }"#), starts(r#"{ "draws": "delay=20ms" }"#));
    assert_eq!(run(r#"{ "draws": "delay=20ms" }"#, 3).seed, 3);
}

#[test]
fn the_graph_of_a_varied_world_is_the_same_world() {
    let varied = world(r#"{ "delays": 0.02, "buffers": 1, "background": 0.01, "draws": "x" }"#, "cubic");
    let whole = Simulation::new(&varied, 5).unwrap();
    let again = Simulation::new(whole.graph(), 5).unwrap().run().summary;
    let first = whole.run().summary;
    assert_eq!((first.flows, first.network, first.links), (again.flows, again.network, again.links));
}

#[test]
fn what_varies_is_said() {
    let random = |vary: &str| Simulation::new(&world(vary, "cubic"), 1).unwrap().random_parts();
    let all = random(r#"{ "delays": 0.02, "buffers": 1, "background": 0.01 }"#).join("; ");
    assert_eq!(all, "starts of flows; access delays (± 2 %); buffers (± 1 packets); datagrams in the background (1 %)");
    assert_eq!(random("{}"), ["starts of flows"]);
    // Over the air there is no path beforehand.
    let adhoc = r#"{ "duration": "2s", "network": { "kind": "adhoc", "nodes": 4, "flows": 1 }, "vary": { "background": 0.01 } }"#;
    let found = Simulation::new(&Scenario::from_json(adhoc).unwrap(), 1).unwrap().random_parts();
    assert!(found.iter().all(|part| !part.starts_with("datagrams")), "{found:?}");
}

#[test]
fn amounts_have_bounds() {
    for (vary, said) in [
        (r#"{ "delays": 0.6 }"#, "vary.delays: 0.6 is not from 0 to 0.5"),
        (r#"{ "background": 0.2 }"#, "vary.background: 0.2 is not from 0 to 0.1"),
        (r#"{ "buffers": 2000 }"#, "vary.buffers: 2000 is not a count up to 1000"),
    ] {
        let error = Simulation::new(&world(vary, "cubic"), 1).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}
