//! Terminals by number: where they are, who talks to whom, and a world of a hundred.

use serde_json::{Value, json};
use sim::scenario::{Constellation, Network, PlaceDef, TerminalDef};

use super::common::{fingerprint, refusal, run, scenario};

/// A world of `nodes` terminals and `flows` flows of 20 packets/s, with some keys of the network changed.
fn placed(nodes: u64, flows: u64, changes: Value) -> Value {
    let mut network = json!({
        "kind": "constellation", "preset": "iridium", "profile": "ns2", "nodes": nodes, "flows": flows,
    });
    for (key, value) in changes.as_object().unwrap() {
        network[key] = value.clone();
    }
    json!({
        "duration": "60s",
        "network": network,
        "tcp": {"profile": "ns2", "cc": "newreno"},
        "traffic": {"start_jitter": "1s", "app": {"kind": "cbr", "rate": "20pps", "size": "960B"}},
    })
}

fn constellation(world: &Value, seed: u64) -> Constellation {
    match sim::expand(&scenario(world), seed).unwrap().network {
        Network::Constellation(constellation) => *constellation,
        other => panic!("{other:?} is not a constellation"),
    }
}

fn places(world: &Value, seed: u64) -> Vec<PlaceDef> {
    let place = |terminal| match terminal {
        TerminalDef::Place(place) => place,
        TerminalDef::City(name) => panic!("{name} was not looked up"),
    };
    constellation(world, seed).terminals.into_iter().map(place).collect()
}

#[test]
fn a_hundred_terminals_and_fifty_flows() {
    let summary = run(&placed(100, 50, json!({})), 1);
    let all = &summary.network;
    println!("{} events, {:?}", summary.events, all.measures.drops);
    assert_eq!((all.flows, all.flows_without_delivery), (50, 0));
    assert!(all.measures.delivery_ratio.unwrap() > 0.9);
    assert_eq!(summary.space.unwrap().terminals.len(), 100);
}

#[test]
fn more_terminals_keep_the_places_of_fewer() {
    let (few, many) = (places(&placed(20, 5, json!({})), 3), places(&placed(60, 5, json!({})), 3));
    assert_eq!((few.len(), many.len()), (20, 60));
    assert_eq!(few[..], many[..20]);
    assert_ne!(few, places(&placed(20, 5, json!({})), 4));
    // What runs over it does not move them.
    let mut other = placed(20, 15, json!({"altitude_km": 1020}));
    other["tcp"]["cc"] = json!("cubic");
    assert_eq!(few, places(&other, 3));
}

#[test]
fn more_flows_keep_the_ends_of_fewer() {
    let ends = |flows| {
        let graph = sim::expand(&scenario(&placed(20, flows, json!({}))), 3).unwrap();
        graph.flow.into_iter().map(|flow| (flow.from, flow.to)).collect::<Vec<_>>()
    };
    let (few, many) = (ends(10), ends(50));
    assert_eq!(few[..], many[..10]);
    assert!(many.iter().all(|(from, to)| from != to));
}

#[test]
fn the_globe_is_covered_evenly_and_land_lies_in_the_north() {
    let belt = json!({"kind": "globe", "south_deg": -90, "north_deg": 90});
    let globe = places(&placed(900, 1, json!({"placement": belt})), 1);
    // Half of a sphere lies within 30 degrees of the equator; standard deviation 15.
    let near_equator = globe.iter().filter(|place| place.lat_deg.abs() < 30.0).count();
    assert!((400..500).contains(&near_equator), "{near_equator}");
    let east = globe.iter().filter(|place| place.lon_deg > 0.0).count();
    assert!((400..500).contains(&east), "{east}");
    let land = places(&placed(900, 1, json!({})), 1);
    assert!(land.iter().all(|place| place.lat_deg.abs() <= 60.0));
    // Between 60 degrees south and north more than two thirds of all land are north of the equator.
    let north = land.iter().filter(|place| place.lat_deg > 0.0).count();
    assert!((570..690).contains(&north), "{north}");
}

#[test]
fn listed_terminals_come_first() {
    let world = placed(3, 4, json!({"terminals": ["Berkeley", {"name": "ship", "lat_deg": 30, "lon_deg": -45}]}));
    let names: Vec<String> = places(&world, 1).into_iter().map(|place| place.name).collect();
    assert_eq!(names, ["Berkeley", "ship", "n0", "n1", "n2"]);
    let graph = serde_json::to_value(sim::expand(&scenario(&world), 7).unwrap()).unwrap();
    let resolved = serde_json::to_value(sim::resolve(&scenario(&world)).unwrap()).unwrap();
    assert_eq!(fingerprint(&world, 7), fingerprint(&graph, 7));
    assert_eq!(fingerprint(&world, 7), fingerprint(&resolved, 7));
}

#[test]
fn mistakes_are_named() {
    let told = |nodes: u64, changes: Value, parts: &[&str]| {
        let text = refusal(&placed(nodes, 1, changes));
        assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    };
    let belt = |south: f64, north: f64| json!({"placement": {"kind": "land", "south_deg": south, "north_deg": north}});
    told(1, json!({}), &["network.terminals", "1 is not", "nodes = 20"]);
    told(1001, json!({}), &["network.terminals", "1001", "1000"]);
    told(2, belt(30.0, 20.0), &["network.placement.north_deg", "20", "30"]);
    told(2, belt(-100.0, 20.0), &["network.placement.south_deg", "-100"]);
    told(2, belt(84.0, 85.0), &["network.placement", "no land", "globe"]);
    told(2, json!({"placement": {"kind": "sea"}}), &["network.placement.kind", "sea", "`globe`"]);
    told(
        0,
        json!({"placement": {"kind": "land"}, "terminals": ["Berkeley", "Boston"]}),
        &["network.placement", "nodes"],
    );
    let taken = json!({"terminals": [{"name": "n1", "lat_deg": 0, "lon_deg": 0}]});
    told(2, taken, &["network.terminals[0]", "n1", "network.nodes"]);
}
