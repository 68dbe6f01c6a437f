//! Worlds that would take minutes or all memory to build are refused before they are built.

mod common;

use common::refusal;
use serde_json::{Value, json};
use sim::{Scenario, Simulation};

#[test]
fn too_many_drawn_links_are_refused() {
    let world = |nodes: u32, degree: f64| json!({"duration": "1s", "network": {"kind": "random_wired", "nodes": nodes, "flows": 1, "degree": degree}});
    assert!(refusal(&world(2_000, 1_999.0)).starts_with("network.degree: 1999 with 2000 nodes is 1999000 links"));
    assert!(refusal(&world(2_000, 20.1)).starts_with("network.degree: "));
    let dense = Scenario::from_json(&world(200, 199.0).to_string()).unwrap();
    assert_eq!(sim::expand(&dense, 1).unwrap().link.len(), 19_900, "every pair, each once");
}

#[test]
fn too_many_stations_in_reach_of_one_another_are_refused() {
    let world = |nodes: u32, side: &str| {
        json!({"duration": "1s", "network": {"kind": "adhoc", "nodes": nodes, "flows": 1, "connected_pairs": false,
               "area": {"x": side, "y": side}}})
    };
    assert!(refusal(&world(9_000, "100m")).starts_with("network.nodes: more than 2000000 pairs"));
    let cells =
        json!({"duration": "1s", "network": {"kind": "infrastructure", "cells": 1000, "stations_per_cell": 10_000}});
    assert!(refusal(&cells).starts_with("network.stations_per_cell: more than 10000 stations"));
}

#[test]
fn a_data_centre_that_takes_more_than_is_allowed_is_refused_before_it_is_drawn() {
    let world = |network: Value| json!({"duration": "1s", "network": network});
    let million = world(json!({"kind": "fat_tree", "k": 160, "flows": 100_000}));
    let error = refusal(&million);
    assert!(error.starts_with("network: 1056000 nodes with 3072000 links need 13666 MB, more than 4000 MB"), "{error}");
    let leaves = world(json!({"kind": "leaf_spine", "leaves": 200, "spines": 100, "hosts": 6_000, "flows": 1}));
    assert!(refusal(&leaves).starts_with("network.hosts: 1200000 is not a count from 2 to 1100000"));
    let ring: Vec<Value> = (0..60_000).map(|i| json!({"name": format!("n{i}")})).collect();
    let next = |i: usize| json!({"from": format!("n{i}"), "to": format!("n{}", (i + 1) % 60_000), "rate": "1Gbps"});
    let links: Vec<Value> = (0..60_000).map(next).collect();
    let routers = json!({"duration": "1s", "network": {"kind": "graph"}, "node": ring, "link": links,
                         "flow": [{"from": "n0", "to": "n9"}]});
    assert!(refusal(&routers).starts_with("node: 60000 nodes with 60000 links need "), "tables of 60,000 routers");
}

#[test]
fn a_pattern_of_wires_tells_its_size_without_being_drawn() {
    for network in [
        json!({"kind": "fat_tree", "k": 2, "flows": 1}),
        json!({"kind": "fat_tree", "k": 8, "flows": 40}),
        json!({"kind": "leaf_spine", "leaves": 6, "spines": 3, "hosts": 9, "flows": 5}),
    ] {
        let scenario = Scenario::from_json(&json!({"duration": "1s", "network": network}).to_string()).unwrap();
        let built = Simulation::new(&scenario, 1).unwrap();
        assert_eq!(sim::world_bytes(&scenario, 1).unwrap(), built.world_bytes(), "{network}");
    }
}

#[test]
fn a_run_can_be_looked_at_and_given_up() {
    let scenario = json!({"duration": "3s", "network": {"kind": "dumbbell", "pairs": 1, "flows": 1},
                          "record": {"series": ["cwnd"], "every": "change"}});
    let scenario = Scenario::from_json(&scenario.to_string()).unwrap();
    let mut run = Simulation::new(&scenario, 1).unwrap();
    let before = run.held_bytes();
    assert!(!run.advance(1_000));
    assert_eq!(run.events(), 1_000);
    assert!(run.held_bytes() > before + 1_000, "packets in flight and a series take memory");
    while !run.advance(777) {}
    let whole = Simulation::new(&scenario, 1).unwrap().run();
    assert_eq!(run.finish().summary, whole.summary, "in steps or at once, the same bits");
}
