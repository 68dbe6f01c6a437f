//! Mobility, placement and connectivity.

mod common;

use common::{fingerprint, refusal, run, scenario};
use serde_json::{Value, json};
use sim::scenario::NodeDef;

/// Stations with a range of 250 m.
fn adhoc(nodes: usize, duration: &str, network: Value) -> Value {
    let mut all = json!({
        "kind": "adhoc", "nodes": nodes, "flows": 0, "area": {"x": "1000m", "y": "1000m"},
        "radio": {"profile": "ns2", "data_rate": "2Mbps"},
    });
    for (key, value) in network.as_object().unwrap() {
        all[key] = value.clone();
    }
    json!({"duration": duration, "network": all, "tcp": {"profile": "ns2"}})
}

fn with_flow(mut scenario: Value, from: &str, to: &str) -> Value {
    let app = json!({"kind": "cbr", "rate": "100kbps", "size": "500B", "transport": "udp"});
    scenario["flow"] = json!([{"from": from, "to": to, "app": app}]);
    scenario
}

/// Three stations in a row, the outer ones out of range of each other.
fn row(duration: &str, own: Value) -> Value {
    let places = json!({"kind": "list", "positions": [[0, 0], [200, 0], [400, 0]]});
    with_flow(adhoc(3, duration, json!({"placement": places, "own_mobility": own})), "n0", "n2")
}

#[test]
fn a_relay_that_leaves_takes_the_path_with_it() {
    let away = json!({"n1": {"kind": "waypoints", "points": [{"at": "9.1s", "x": 200, "y": 900, "jump": true}]}});
    let (stays, leaves) = (run(&row("20s", json!({})), 1), run(&row("20s", away), 1));
    assert_eq!((stays.flows[0].hops, stays.flows[0].path_share), (Some(2), Some(1.0)));
    // There is a path at 0, 1, ... 9 s of 0, 1, ... 20 s.
    assert_eq!((leaves.flows[0].hops, leaves.flows[0].path_share), (Some(2), Some(10.0 / 21.0)));
    let share = leaves.network.measures.goodput_bps / stays.network.measures.goodput_bps;
    // For 0.9 s transmissions fail: with packets every 40 ms, 9.1 of 20 s are delivered.
    assert!((share - 9.1 / 20.0).abs() < 0.005, "{share}");
    // From the next update on there is no route.
    assert!(leaves.network.measures.drops.no_route > 200 && leaves.network.measures.drops.retry > 0);
}

#[test]
fn paths_follow_a_relay_within_the_interval() {
    // n1 leaves as n3 comes.
    let places = json!({"kind": "list", "positions": [[0, 0], [200, 0], [400, 0], [200, 900]]});
    let way = |y: u32| json!({"kind": "waypoints", "points": [{"at": "9.1s", "x": 200, "y": y, "jump": true}]});
    let own = json!({"n1": way(900), "n3": way(0)});
    let flow = |routing: &str| {
        let network =
            json!({"placement": places, "own_mobility": own, "routing": {"kind": "shortest", "interval": routing}});
        run(&with_flow(adhoc(4, "20s", network), "n0", "n2"), 1)
    };
    let (quick, slow) = (flow("100ms"), flow("5s"));
    assert_eq!((quick.flows[0].hops, quick.flows[0].path_share), (Some(2), Some(1.0)));
    // 25 packets a second; the hole lasts until 10 s with intervals of 5 s: 22 packets, and those that waited.
    let lost =
        |summary: &sim::Summary| summary.network.measures.sent_packets - summary.network.measures.received_packets;
    assert!(lost(&quick) <= 4, "{}", lost(&quick));
    assert!((20..=30).contains(&lost(&slow)), "{}", lost(&slow));
}

#[test]
fn wandering_networks_are_repeatable_and_their_ways_do_not_depend_on_the_flows() {
    for kind in [
        json!({"kind": "random_waypoint", "speed_min": "5m/s", "speed_max": "25m/s", "steady": true}),
        json!({"kind": "gauss_markov", "speed": "25m/s", "interval": "500ms"}),
    ] {
        let moving = |flows: u32| {
            let mut network = adhoc(30, "10s", json!({"mobility": kind, "flows": flows}));
            network["network"]["area"] = json!({"x": "700m", "y": "700m"});
            network
        };
        assert_eq!(fingerprint(&moving(5), 1), fingerprint(&moving(5), 1));
        let (few, many) = (run(&moving(5), 1), run(&moving(10), 1));
        let paths = |summary: &sim::Summary| -> Vec<_> {
            summary.flows[..5].iter().map(|flow| (flow.hops, flow.path_share)).collect()
        };
        assert_eq!(paths(&few), paths(&many));
        let [a, b] = [&few, &many].map(|summary| summary.network.connectivity.clone().unwrap());
        assert_eq!((a.components, a.mean_degree), (b.components, b.mean_degree));
    }
}

/// One of two flows has no path: a result, not an error.
#[test]
fn flows_without_a_path_are_reported() {
    let places = json!({"kind": "list", "positions": [[0, 0], [200, 0], [900, 900]]});
    let mut two = with_flow(adhoc(3, "10s", json!({"placement": places})), "n0", "n1");
    let lost = with_flow(adhoc(3, "10s", json!({"placement": places})), "n0", "n2")["flow"][0].clone();
    two["flow"].as_array_mut().unwrap().push(lost);
    let summary = run(&two, 1);
    let all = &summary.network;
    let found = all.connectivity.clone().unwrap();
    assert_eq!((found.components, found.largest_component, found.flows_without_path), (2, 2, 1));
    assert!((found.mean_degree - 2.0 / 3.0).abs() < 1e-12 && found.placement_draws.is_none());
    assert_eq!((summary.flows[1].hops, summary.flows[1].path_share), (None, Some(0.0)));
    assert_eq!(found.goodput_reachable_bps, Some(summary.flows[0].measures.goodput_bps));
    assert_eq!((found.jain_reachable, all.jain), (Some(1.0), Some(0.5)));
    assert!(found.delivery_reachable_ratio > Some(0.99) && all.measures.delivery_ratio < Some(0.6));
}

#[test]
fn wired_networks_say_nothing_about_reach() {
    let wired = json!({"duration": "1s", "network": {"kind": "star", "nodes": 4, "flows": 2}});
    let summary = run(&wired, 1);
    assert!(summary.network.connectivity.is_none() && summary.flows[0].path_share.is_none());
    let cells = json!({"duration": "1s", "network": {"kind": "infrastructure", "stations_per_cell": 3, "flows": 3}});
    let summary = run(&cells, 1);
    // Station, access point, access point, station.
    assert_eq!(summary.network.connectivity.unwrap().components, 1);
    assert!(summary.flows.iter().all(|flow| flow.hops == Some(3)));
}

fn places(network: Value, nodes: usize, seed: u64) -> Vec<(f64, f64)> {
    let graph = sim::expand(&scenario(&with_flow(adhoc(nodes, "1s", network), "n0", "n1")), seed).unwrap();
    graph.node.iter().map(|NodeDef { x, y, .. }| x.zip(*y).unwrap()).collect()
}

#[test]
fn placements_are_what_they_are_called() {
    let gap = |a: &(f64, f64), b: &(f64, f64)| ((a.0 - b.0).powi(2) + (a.1 - b.1).powi(2)).sqrt();
    let disc = places(json!({"placement": {"kind": "disc", "radius": "100m"}}), 400, 1);
    assert!(disc.iter().all(|place| gap(place, &(500.0, 500.0)) <= 100.0));
    // Uniform in the disc: the mean squared radius is half of 100 m squared; its standard deviation is 100^2 /
    // sqrt(12).
    let squares = disc.iter().map(|place| gap(place, &(500.0, 500.0)).powi(2)).sum::<f64>() / 400.0;
    assert!((squares - 5000.0).abs() < 4.0 * 2887.0 / 20.0, "{squares}");
    let apart = places(json!({"placement": {"kind": "poisson_disk", "distance": "60m"}}), 100, 1);
    for (i, place) in apart.iter().enumerate() {
        assert!(apart[..i].iter().all(|other| gap(place, other) >= 60.0));
    }
    let grown = places(json!({"placement": {"kind": "grow"}, "area": {"x": "5km", "y": "5km"}}), 40, 1);
    for (i, place) in grown.iter().enumerate().skip(1) {
        assert!(grown[..i].iter().any(|other| gap(place, other) <= 250.1));
    }
}

#[test]
fn pairs_can_be_kept_to_where_there_is_a_path() {
    // 20 stations of 250 m over 1 km: half of all pairs have a path.
    let flows = |network: Value| {
        let summary = run(&adhoc(20, "1s", network), 3);
        let found = summary.network.connectivity.unwrap();
        (found.flows_without_path, found.placement_draws, found.components)
    };
    assert!(flows(json!({"flows": 30})).0 > 0);
    assert_eq!(flows(json!({"flows": 30, "connected_pairs": true})).0, 0);
    let steady = json!({"kind": "random_waypoint", "steady": true});
    assert_eq!(flows(json!({"flows": 30, "connected_pairs": true, "mobility": steady})).0, 0);
    let (without, draws, components) = flows(json!({"flows": 30, "placement": {"kind": "uniform", "connected": true}}));
    assert_eq!((without, components), (0, 1));
    // P(connected) = 0.04.
    assert!((1..300).contains(&draws.unwrap()), "{draws:?}");
}

#[test]
fn an_expanded_network_moves_in_the_same_way() {
    let mobility = json!({"kind": "random_waypoint", "speed_min": "5m/s", "speed_max": "25m/s", "steady": true});
    let short = adhoc(15, "5s", json!({"mobility": mobility, "flows": 4}));
    let graph = serde_json::to_value(sim::expand(&scenario(&short), 5).unwrap()).unwrap();
    let (a, b) = (run(&short, 5), run(&graph, 5));
    assert_eq!(a.network.connectivity, b.network.connectivity);
    let paths = |summary: &sim::Summary| -> Vec<_> { summary.flows.iter().map(|f| (f.hops, f.path_share)).collect() };
    assert_eq!(paths(&a), paths(&b));
}

#[test]
fn what_is_wrong_is_refused() {
    let rwp = |more: Value| {
        let mut def = json!({"kind": "random_waypoint"});
        def.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"mobility": def})
    };
    let own = |name: &str, def: Value| json!({"own_mobility": {name: def}});
    let points = |points: Value| own("n1", json!({"kind": "waypoints", "points": points}));
    let cases = [
        (rwp(json!({"speed_min": "0m/s"})), "network.mobility.speed_min: ", "above 0m/s"),
        (rwp(json!({"speed_min": "-1m/s"})), "network.mobility.speed_min: ", "below zero"),
        (
            rwp(json!({"speed_min": "3m/s", "speed_max": "2m/s"})),
            "network.mobility.speed_min: ",
            "above speed_max (2m/s)",
        ),
        (rwp(json!({"speed_max": "20000m/s"})), "network.mobility.speed_max: ", "up to 10000m/s"),
        (
            rwp(json!({"speed": "2m/s", "speed_max": "3m/s"})),
            "network.mobility.speed_max: ",
            "no effect beside `speed`",
        ),
        (rwp(json!({"pace": "2m/s"})), "network.mobility.pace: ", "`speed_min`"),
        (rwp(json!({"field": {"x": "0m"}})), "network.mobility.field.x: ", "0.001m"),
        (
            json!({"mobility": {"kind": "random_waypoint", "steady": true}, "placement": {"kind": "grow"}}),
            "network.mobility.steady: ",
            "leave network.placement out",
        ),
        (json!({"mobility": {"kind": "gauss_markov", "alpha": 1.5}}), "network.mobility.alpha: ", "from 0 to 1"),
        (json!({"mobility": {"kind": "gauss_markov", "interval": "0s"}}), "network.mobility.interval: ", "1ms"),
        (
            json!({"mobility": {"kind": "gauss_markov", "speed_noise": -1.0}}),
            "network.mobility.speed_noise: ",
            "from 0",
        ),
        (json!({"mobility": {"kind": "teleport"}}), "network.mobility.kind: ", "`setdest`"),
        (json!({"mobility": {"kind": "setdest", "file": "x.tcl"}}), "network.mobility.file: ", "`orders`"),
        (own("n7", json!({"kind": "fixed"})), "network.own_mobility.n7: ", "n0 to n1"),
        (points(json!([{"at": "1s", "x": 0, "y": 1001}])), "network.own_mobility.n1.points[0]: ", "outside the field"),
        (
            points(json!([{"at": "2s", "x": 0, "y": 0}, {"at": "1s", "x": 0, "y": 0}])),
            "network.own_mobility.n1.points[1].at: ",
            "before",
        ),
    ];
    all_refused(&cases);
}

#[test]
fn wrong_places_are_refused() {
    all_refused(&[
        (json!({"placement": {"kind": "disc", "radius": "501m"}}), "network.placement.radius: ", "500m"),
        (json!({"placement": {"kind": "poisson_disk", "distance": "2km"}}), "network.placement.distance: ", "no room"),
        (
            json!({"placement": {"kind": "list", "positions": [[0, 0], [0, -1]]}}),
            "network.placement.positions: ",
            "outside the field",
        ),
        (
            json!({"flows": 1, "connected_pairs": true, "area": {"x": "9000km", "y": "9000km"}}),
            "network.connected_pairs: ",
            "no station",
        ),
        (
            json!({"mobility": {"kind": "random_waypoint"}, "routing": {"kind": "shortest", "interval": "0s"}}),
            "routing.interval: ",
            "above 0s",
        ),
    ]);
}

fn all_refused(cases: &[(Value, &str, &str)]) {
    for (network, path, words) in cases {
        let error = refusal(&with_flow(adhoc(2, "1s", network.clone()), "n0", "n1"));
        assert!(error.contains(path) && error.contains(words), "{network}: {error}");
    }
}

#[test]
fn in_a_graph_only_stations_with_a_place_and_a_field_move() {
    let graph = |node: Value| {
        json!({
            "duration": "1s", "network": {"kind": "graph"},
            "node": [node, {"name": "b", "x": 0.0, "y": 0.0}, {"name": "c"}],
            "link": [{"from": "b", "to": "c", "rate": "1Mbps", "delay": "1ms", "queue": {"kind": "drop_tail", "limit": "50p"}}],
            "channel": [{"stations": ["a", "b"], "gateway": "b"}],
            "flow": [{"from": "a", "to": "c"}],
        })
    };
    let moving = |mobility: Value| json!({"name": "a", "x": 5.0, "y": 0.0, "mobility": mobility});
    let field = json!({"x": "10m", "y": "10m"});
    let good = run(&graph(moving(json!({"kind": "random_waypoint", "field": field}))), 1);
    assert_eq!(good.flows[0].hops, Some(2));
    let cases = [
        (moving(json!({"kind": "random_waypoint"})), "node[0].mobility.field: ", "no field of its own"),
        (
            json!({"name": "a", "x": 50.0, "y": 0.0, "mobility": {"kind": "gauss_markov", "field": field}}),
            "node[0].mobility.field: ",
            "outside this field",
        ),
        (json!({"name": "a", "mobility": {"kind": "fixed"}}), "node[0]: ", "needs x and y"),
    ];
    for (node, path, words) in cases {
        let error = refusal(&graph(node.clone()));
        assert!(error.contains(path) && error.contains(words), "{node}: {error}");
    }
    let mut wired = graph(json!({"name": "a"}));
    wired["node"][2]["mobility"] = json!({"kind": "fixed"});
    assert!(refusal(&wired).contains("node[2].mobility: \"c\" has no radio"));
}
