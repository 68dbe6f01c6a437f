//! A wired core with base stations: shapes, gateways and domains.

mod common;

use common::{fingerprint, refusal, run, scenario};
use serde_json::{Value, json};

/// Stations with a range of 250 m, and links that are never the bottleneck.
fn network(duration: &str, network: Value) -> Value {
    let mut all = json!({
        "kind": "wired_cum_wireless", "nodes": 2, "flows": 0,
        "radio": {"profile": "ns2", "data_rate": "2Mbps", "basic_rate": "1Mbps"},
        "access": {"rate": "100Mbps", "delay": "100us"}, "core": {"rate": "100Mbps", "delay": "100us"},
    });
    for (key, value) in network.as_object().unwrap() {
        all[key] = value.clone();
    }
    json!({"duration": duration, "network": all, "tcp": {"profile": "ns2"}})
}

fn with_flow(mut scenario: Value, from: &str, to: &str, app: Value) -> Value {
    scenario["flow"] = json!([{"from": from, "to": to, "app": app}]);
    scenario
}

fn udp(rate: &str) -> Value {
    json!({"kind": "cbr", "rate": rate, "size": "500B", "transport": "udp"})
}

#[test]
fn the_shorthand_stands_for_a_core_base_stations_and_stations() {
    let text = network("1s", json!({"nodes": 11, "wired_share": 0.3, "flows": 5, "routers": 2, "base_stations": 3}));
    let graph = sim::expand(&scenario(&text), 1).unwrap();
    let named =
        |stem: &str| graph.node.iter().filter(|node| node.name.trim_end_matches(char::is_numeric) == stem).count();
    assert_eq!([named("r"), named("w"), named("bs"), named("sta")], [2, 3, 3, 8]);
    let ends: Vec<String> = graph.link.iter().map(|link| format!("{}-{}", link.from, link.to)).collect();
    assert_eq!(ends, ["r0-r1", "r0-w0", "r1-w1", "r0-w2", "r0-bs0", "r1-bs1", "r0-bs2"]);
    let channel = &graph.channel[0];
    assert_eq!((channel.stations.len(), channel.gateway.clone()), (11, vec!["bs0".into(), "bs1".into(), "bs2".into()]));
    for (i, flow) in graph.flow.iter().enumerate() {
        assert_eq!(flow.from.starts_with('w'), i % 2 == 0, "{} to {}", flow.from, flow.to);
        assert_ne!(flow.from.starts_with("sta"), flow.to.starts_with("sta"));
    }
    let printed = serde_json::to_value(&graph).unwrap();
    let again = sim::expand(&scenario(&printed), 9).unwrap();
    assert!(again.network == graph.network && again.link == graph.link && again.channel == graph.channel);
    let resolved = sim::resolve(&scenario(&text)).unwrap();
    assert_eq!(sim::resolve(&resolved).unwrap(), resolved);
    // Another flow changes no other's end nodes, another node no other's position.
    let more = sim::expand(&scenario(&network("1s", json!({"nodes": 11, "wired_share": 0.3, "flows": 6}))), 1).unwrap();
    assert_eq!(more.flow[3].to, graph.flow[3].to);
}

/// With fast links a flow has the throughput of one hop between two stations with the same radio.
#[test]
fn one_flow_gets_what_the_radio_gives() {
    for routing in ["shortest", "access_points", "dsdv"] {
        let places = json!({"kind": "list", "positions": [[250, 350]]});
        let network = network("60s", json!({"placement": places, "routing": {"kind": routing}}));
        let mut wireless = with_flow(network, "w0", "sta0", json!({"kind": "bulk"}));
        wireless["warmup"] = json!("20s");
        let hop = json!({
            "duration": "60s", "warmup": "20s",
            "network": {
                "kind": "adhoc", "nodes": 2, "flows": 0,
                "placement": {"kind": "list", "positions": [[250, 250], [250, 350]]},
                "radio": wireless["network"]["radio"], "routing": {"kind": if routing == "dsdv" { "dsdv" } else { "shortest" }},
            },
            "tcp": {"profile": "ns2"}, "flow": [{"from": "n0", "to": "n1"}],
        });
        let [wireless, hop] = [&wireless, &hop].map(|scenario| run(scenario, 1).network.measures.goodput_bps);
        assert!(hop > 1.0e6 && (wireless / hop - 1.0).abs() < 0.02, "{routing}: {wireless} of {hop} b/s");
    }
}

/// One station moves from one base station to the other, 400 m apart. Paths are updated every second, and the station
/// is always in range of a base station.
#[test]
fn with_shortest_paths_stations_change_their_gateway() {
    let way =
        json!({"kind": "waypoints", "points": [{"at": "5s", "x": 100, "y": 250}, {"at": "25s", "x": 500, "y": 250}]});
    let places = json!({"kind": "list", "positions": [[100, 250]]});
    let fields = json!({
        "base_stations": 2, "routers": 2, "area": {"x": "600m", "y": "500m"}, "placement": places, "mobility": way,
    });
    for (from, to) in [("w0", "sta0"), ("sta0", "w0")] {
        let summary = run(&with_flow(network("30s", fields.clone()), from, to, udp("100kbps")), 1);
        let measures = &summary.network.measures;
        assert!(measures.delivery_ratio > Some(0.93), "{:?}", measures.delivery_ratio);
        assert_eq!((summary.flows[0].hops, summary.flows[0].path_share), (Some(3), Some(1.0)));
        let by = |name: &str| summary.nodes.iter().find(|node| node.node == name).unwrap().forwarded_packets;
        assert!(by("bs0") > 100 && by("bs1") > 100, "{} and {}", by("bs0"), by("bs1"));
    }
}

/// A packet that leaves the domain is buffered for a route to the gateway in std, and dropped in ns2.
#[test]
fn packets_out_of_the_domain_do_not_wait_in_ns2() {
    let drops = |profile: &str| {
        let places = json!({"kind": "list", "positions": [[250, 450]]});
        let routing = json!({"kind": "dsdv", "profile": profile});
        let network = network("10s", json!({"placement": places, "routing": routing}));
        let measures = run(&with_flow(network, "sta0", "w0", udp("4kbps")), 3).network.measures;
        (measures.drops.no_route, measures.drops.route_wait, measures.received_packets)
    };
    let (ns2, std) = (drops("ns2"), drops("std"));
    assert!(ns2.0 > 0 && ns2.1 == 0 && ns2.2 > 0, "{ns2:?}");
    assert!(std.0 == 0 && std.2 > ns2.2, "{std:?}");
}

/// Two domains of one cell each, and a station of the first that only a station of the second connects to its base
/// station.
#[test]
fn without_the_filter_routes_lead_through_other_domains() {
    let received = |filter: bool| {
        // bs0 at (150, 300), bs1 at (450, 300); sta0 is out of range of bs0 and nearer to it than to bs1, but in range
        // of sta1.
        let places = json!({"kind": "list", "positions": [[290, 540], [310, 310]]});
        let routing = json!({"kind": "dsdv", "profile": "ns3", "domain_filter": filter});
        let fields = json!({
            "nodes": 3, "wired_share": 0.3, "base_stations": 2, "area": {"x": "600m", "y": "600m"}, "placement": places,
            "routing": routing,
        });
        run(&with_flow(network("80s", fields), "sta0", "w0", udp("4kbps")), 1).network.measures.received_packets
    };
    assert_eq!(received(true), 0);
    assert!(received(false) > 30);
}

#[test]
fn runs_are_repeatable_for_every_routing() {
    for routing in ["shortest", "access_points", "dsdv", "aodv"] {
        let mobility = json!({"kind": "random_waypoint", "speed_min": "5m/s", "speed_max": "25m/s"});
        let fields = json!({
            "nodes": 20, "flows": 6, "base_stations": 2, "mobility": mobility, "routing": {"kind": routing},
        });
        let scenario = network("15s", fields);
        assert_eq!(fingerprint(&scenario, 2), fingerprint(&scenario, 2), "{routing}");
        assert_ne!(fingerprint(&scenario, 2), fingerprint(&scenario, 3), "{routing}");
        // Packet conservation is checked at the end of each run; some data must have been delivered.
        assert!(run(&scenario, 2).network.measures.received_packets > 100, "{routing}");
    }
}

#[test]
fn wrong_values_are_refused() {
    let refused = |fields: Value| refusal(&network("1s", fields));
    let cases = [
        (json!({"nodes": 1}), "network.nodes: 1 is not a count from 2 to"),
        (json!({"wired_share": 1.5}), "network.wired_share: 1.5 is not a share from 0 to 1"),
        (json!({"base_stations": 0}), "network.base_stations: 0 is not a count from 1 to"),
        (json!({"routers": 0}), "network.routers: 0 is not a count from 1 to"),
        (json!({"area": {"x": "0m"}}), "network.area.x: 0m is not a side from"),
        (json!({"direction": "up"}), "network.direction: "),
        (json!({"access": {"queue": "0p"}}), "network.access.queue.limit: "),
        (
            json!({"routing": {"kind": "access_points", "stations": ["bs0"]}}),
            "network.routing.stations: the base stations",
        ),
        (
            json!({"own_mobility": {"n0": {"kind": "fixed"}}}),
            "network.own_mobility.n0: \"n0\" is no station (stations: sta0 to",
        ),
        (json!({"placement": {"kind": "list", "positions": [[900, 0]]}}), "network.placement.positions: station 0 at"),
    ];
    for (fields, expected) in cases {
        let error = refused(fields.clone());
        assert!(error.starts_with(expected), "{fields}: {error}");
    }
    let mut graph = network("1s", json!({}));
    graph["network"] = json!({"kind": "graph"});
    graph["node"] = json!([{"name": "a", "x": 0, "y": 0}, {"name": "b", "x": 9, "y": 0}]);
    graph["channel"] = json!([{"stations": ["a", "b"], "gateway": ["a", "c"]}]);
    graph["flow"] = json!([{"from": "a", "to": "b"}]);
    assert!(refusal(&graph).starts_with("channel[0].gateway[1]: \"c\" is not one of the channel's stations"));
    graph["channel"][0]["gateway"] = json!(7);
    assert!(
        refusal(&graph).starts_with("channel[0].gateway: 7 is neither a name nor a list of names"),
        "{}",
        refusal(&graph)
    );
}
