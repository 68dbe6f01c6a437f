//! Reassociation of stations that move between access points, and keys that a sweep needs.

mod common;

use common::{fingerprint, refusal, run, scenario};
use serde_json::{Value, json};

/// Cells 120 m apart whose access points have a range of 100 m.
fn cells(duration: &str, network: Value) -> Value {
    let mut all = json!({
        "kind": "infrastructure", "cells": 2, "stations_per_cell": 1, "flows": 0, "same_channel": true,
        "radius": "100m", "spacing": "120m",
        "radio": {"standard": "a", "data_rate": "24Mbps", "propagation": {"kind": "range", "distance": "100m"}},
        "backbone": {"rate": "100Mbps", "delay": "1ms"},
    });
    for (key, value) in network.as_object().unwrap() {
        all[key] = value.clone();
    }
    json!({"duration": duration, "network": all})
}

fn with_flow(mut scenario: Value, from: &str, to: &str, app: Value) -> Value {
    scenario["flow"] = json!([{"from": from, "to": to, "app": app}]);
    scenario
}

fn udp(rate: &str) -> Value {
    json!({"kind": "cbr", "rate": rate, "size": "500B", "transport": "udp"})
}

/// sta0 is beside ap0 (100, 100) and jumps beside ap1 (220, 100) at 5.05 s, or moves there at 5 m/s.
fn leaves(jump: bool) -> Value {
    let (at, from) = if jump { ("5.05s", "0s") } else { ("25s", "1s") };
    json!({"sta0": {"kind": "waypoints", "points": [{"at": from, "x": 100, "y": 90}, {"at": at, "x": 220, "y": 90, "jump": jump}]}})
}

/// Ten intervals of 102.4 ms pass from the first missed beacon until the station reassociates.
#[test]
fn a_station_joins_another_access_point_when_beacons_are_lost() {
    let near = |beacons: &str| {
        let fields = json!({"beacons": beacons, "own_mobility": leaves(true), "spacing": "160m"});
        run(&with_flow(cells("10s", fields), "sta1", "sta0", udp("400kbps")), 1)
    };
    for beacons in ["none", "airtime"] {
        let summary = near(beacons);
        let radio = summary.network.radio;
        assert_eq!(radio.reassociations, Some(1), "{beacons}");
        let measures = &summary.network.measures;
        // 100 datagrams a second; the outage is between 9 and 11 intervals long, and its transmissions fail.
        let lost = measures.sent_packets - measures.received_packets;
        assert!((88..=118).contains(&lost), "{beacons}: {lost} of {}", measures.sent_packets);
        assert!(measures.drops.reassociation + measures.drops.retry >= lost - 2, "{beacons}: {:?}", measures.drops);
        // 195 beacons of two access points, and four frames of authentication and association.
        let messages = radio.message_count.unwrap();
        assert_eq!(messages, if beacons == "none" { 0 } else { messages.clamp(195, 203) }, "{beacons}");
    }
}

/// The station is always in range of an access point, but scans for the next one only after it has lost the first.
#[test]
fn flows_survive_a_walk_in_both_directions() {
    for beacons in ["none", "airtime"] {
        let fields = json!({"beacons": beacons, "own_mobility": leaves(false)});
        for (from, to) in [("sta1", "sta0"), ("sta0", "sta1")] {
            let summary = run(&with_flow(cells("40s", fields.clone()), from, to, json!({"kind": "bulk"})), 1);
            let flow = &summary.flows[0];
            assert_eq!(flow.path_share, Some(1.0));
            assert_eq!(summary.network.radio.reassociations, Some(1), "{beacons} {from}");
            assert!(flow.measures.goodput_bps > 3e6, "{beacons}: {}", flow.measures.goodput_bps);
        }
    }
}

#[test]
fn what_waits_at_the_old_access_point_is_lost_and_counted() {
    let fields = json!({"own_mobility": leaves(true), "spacing": "160m"});
    let summary = run(&with_flow(cells("10s", fields), "sta1", "sta0", udp("3Mbps")), 1);
    let drops = summary.network.measures.drops;
    // The queue of the access point, 50 packets, is full of packets that are never acknowledged.
    assert!((45..=50).contains(&drops.reassociation), "{drops:?}");
}

/// A station out of range of all access points sends nothing, and reassociates when it returns.
#[test]
fn a_station_that_is_lost_comes_back() {
    let way = json!({"sta0": {"kind": "waypoints", "points": [
        {"at": "2s", "x": 100, "y": 0, "jump": true}, {"at": "3s", "x": 0, "y": 0, "jump": true},
        {"at": "6s", "x": 100, "y": 50, "jump": true},
    ]}});
    let summary = run(&with_flow(cells("10s", json!({"own_mobility": way})), "sta0", "sta1", udp("400kbps")), 1);
    let measures = &summary.network.measures;
    assert_eq!(summary.network.radio.reassociations, Some(1));
    // Out of range from 3 to 6 s; its access point counts as lost from about 4 s on.
    assert!((150..=230).contains(&measures.drops.no_route), "{:?}", measures.drops);
    assert!((280..=330).contains(&(measures.sent_packets - measures.received_packets)), "{:?}", measures.drops);
}

/// 9.766 beacons per second, frames of 100 B at 1 Mb/s, take 0.96 % of the airtime of an access point, and contention.
#[test]
fn beacons_cost_airtime() {
    let goodput = |beacons: &str| {
        let radio =
            json!({"standard": "b", "basic_rate": "1Mbps", "propagation": {"kind": "range", "distance": "100m"}});
        let fields = json!({"cells": 1, "stations_per_cell": 2, "beacons": beacons, "radio": radio});
        let summary = run(&with_flow(cells("40s", fields), "sta0", "sta1", udp("8Mbps")), 1);
        (summary.network.measures.goodput_bps, summary.channels[0].message_airtime)
    };
    let (without, with) = (goodput("none"), goodput("airtime"));
    // 192 us and 100 B at 1 Mb/s: 992 us in 102.4 ms.
    assert_eq!(without.1, 0.0);
    assert!((with.1 / 0.009_69 - 1.0).abs() < 0.02, "{}", with.1);
    let cost = 1.0 - with.0 / without.0;
    assert!((0.008..0.025).contains(&cost), "{cost}");
}

#[test]
fn roaming_is_repeatable_and_balances() {
    let mobility = json!({"kind": "random_waypoint", "speed": "20m/s", "pause": "0s"});
    for beacons in ["none", "airtime"] {
        let fields = json!({
            "cells": 3, "stations_per_cell": 6, "flows": 9, "spacing": "180m", "mobility": mobility, "beacons": beacons,
        });
        let scenario = cells("30s", fields);
        assert_eq!(fingerprint(&scenario, 5), fingerprint(&scenario, 5));
        let network = run(&scenario, 5).network;
        assert!(network.radio.reassociations > Some(5) && network.measures.received_packets > 1000, "{beacons}");
    }
    // The same with base stations of a wired core.
    let core = json!({
        "duration": "30s",
        "network": {
            "kind": "wired_cum_wireless", "nodes": 20, "flows": 10, "base_stations": 4, "mobility": mobility,
            "routing": {"kind": "access_points", "beacons": "airtime"},
        },
    });
    assert_eq!(fingerprint(&core, 5), fingerprint(&core, 5));
    let network = run(&core, 5).network;
    assert!(network.radio.reassociations > Some(5) && network.measures.received_packets > 1000);
}

#[test]
fn cells_take_nodes_and_coverage() {
    let graph = |fields: Value| sim::expand(&scenario(&cells("1s", fields)), 1);
    let flow = json!({"flows": 4, "same_channel": false});
    let mut fields = flow.clone();
    fields["nodes"] = json!(21);
    let uneven = graph(fields.clone()).unwrap();
    let sizes: Vec<usize> = uneven.channel.iter().map(|channel| channel.stations.len()).collect();
    assert_eq!((uneven.node.len(), sizes), (21, vec![11, 10]));
    assert_eq!((uneven.flow[0].from.as_str(), uneven.flow[0].to.as_str()), ("sta0", "sta10"));
    // 1 to 5 of the report: positions are those of the first, at a multiple of its distance from the access point.
    fields["radius"] = json!("20m");
    let far = |coverage: f64| {
        let mut fields = fields.clone();
        fields["coverage"] = json!(coverage);
        let graph = graph(fields).unwrap();
        let at = |i: usize| (graph.node[i].x.unwrap(), graph.node[i].y.unwrap());
        let (point, station) = (at(0), at(3));
        (station.0 - point.0).hypot(station.1 - point.1)
    };
    assert!((far(3.0) / far(1.0) - 3.0).abs() < 1e-9);
}

/// One source and many sinks: distinct while there are enough, and the same whatever the number of flows.
#[test]
fn one_random_source_sends_to_many_sinks() {
    let ends = |pattern: &str, flows: u32, seed: u64| -> Vec<(String, String)> {
        let value =
            json!({"duration": "1s", "network": {"kind": "adhoc", "nodes": 10, "flows": flows, "pattern": pattern}});
        let graph = sim::expand(&scenario(&value), seed).unwrap();
        graph.flow.into_iter().map(|flow| (flow.from, flow.to)).collect()
    };
    let flows = ends("one_source", 12, 1);
    assert!(flows.iter().all(|(from, _)| *from == flows[0].0));
    let mut sinks: Vec<&String> = flows[..9].iter().map(|(_, to)| to).collect();
    sinks.sort();
    sinks.dedup();
    assert!(sinks.len() == 9 && !sinks.contains(&&flows[0].0) && flows[9] == flows[0]);
    assert_eq!(ends("one_source", 3, 1), flows[..3]);
    assert!((1..10).any(|seed| ends("one_source", 1, seed)[0].0 != flows[0].0));
    let turned = |(from, to): &(String, String)| (to.clone(), from.clone());
    assert_eq!(ends("one_sink", 12, 1), flows.iter().map(turned).collect::<Vec<_>>());
}

/// Of nine draws among nine sinks 1 - (8/9)^9 = 65 % are distinct on average; never the source.
#[test]
fn one_random_source_may_send_to_a_sink_twice() {
    let mut distinct = 0;
    for seed in 0..400 {
        let network = json!({"kind": "adhoc", "nodes": 10, "flows": 9, "pattern": "one_source_random"});
        let graph = sim::expand(&scenario(&json!({"duration": "1s", "network": network})), seed).unwrap();
        let source = graph.flow[0].from.clone();
        assert!(graph.flow.iter().all(|flow| flow.from == source && flow.to != source));
        let mut sinks: Vec<&String> = graph.flow.iter().map(|flow| &flow.to).collect();
        sinks.sort();
        sinks.dedup();
        distinct += sinks.len();
    }
    let mean = distinct as f64 / 400.0;
    assert!((mean - 9.0 * (1.0 - (8.0_f64 / 9.0).powi(9))).abs() < 0.2, "{mean}");
}

#[test]
fn wrong_values_are_refused() {
    let refused = |fields: Value| refusal(&cells("1s", fields));
    let walk = json!({"kind": "random_waypoint"});
    let cases = [
        (json!({"nodes": 3}), "network.nodes: 3 nodes leave an access point without stations; at least 4"),
        (json!({"stations_per_cell": 0}), "network.stations_per_cell: 0 is not a count from 1 to"),
        (json!({"coverage": 0}), "network.coverage: 0 is not a multiple from 0.01 to 100"),
        (json!({"same_channel": false, "mobility": walk}), "network.same_channel: mobile stations"),
        (json!({"beacons": "full"}), "network.beacons: "),
        (
            json!({"own_mobility": {"ap0": walk}}),
            "network.own_mobility.ap0: \"ap0\" is no station (stations: sta0 to sta1)",
        ),
        (
            json!({"mobility": {"kind": "random_waypoint", "speed": "0m/s"}}),
            "network.mobility.speed: 0m/s is not a speed above",
        ),
    ];
    for (fields, expected) in cases {
        let error = refused(fields.clone());
        assert!(error.starts_with(expected), "{fields}: {error}");
    }
    let mut graph = json!({
        "duration": "1s", "network": {"kind": "graph"}, "flow": [{"from": "a", "to": "b"}],
        "node": [{"name": "a", "x": 0, "y": 0}, {"name": "b", "x": 9, "y": 0}],
        "channel": [{"stations": ["a", "b"], "routing": {"kind": "access_points", "stations": ["a", "b"]}}],
    });
    let error = refusal(&graph);
    assert!(error.starts_with("channel[0].routing.stations: every station is an access point"), "{error}");
    graph["channel"][0]["routing"] = json!({"kind": "access_points"});
    assert!(refusal(&graph).starts_with("channel[0].routing.stations: at least one station"), "{}", refusal(&graph));
    for (field, value) in [("max_range", json!("0m")), ("range_multiplier", json!(0)), ("data_rate", json!("3Mbps"))] {
        graph["channel"][0]["radio"] = json!({field: value});
        assert!(refusal(&graph).starts_with(&format!("channel[0].radio.{field}: ")), "{}", refusal(&graph));
    }
}

/// A walk from one access point past another, with 200 datagrams a second; the longest gap between two that arrive, and the reassociations.
fn walk(handoff: &Value) -> (f64, u64) {
    let points = json!([{"at": "1s", "x": 100, "y": 90}, {"at": "25s", "x": 220, "y": 90}]);
    let mut fields = json!({"own_mobility": {"sta0": {"kind": "waypoints", "points": points}}, "spacing": "120m"});
    fields["radio"] = json!({"standard": "g", "data_rate": "24Mbps"});
    fields["handoff"] = handoff.clone();
    let app = json!({"kind": "cbr", "rate": "200pps", "size": "200B", "transport": "udp"});
    let mut value = with_flow(cells("30s", fields), "sta1", "sta0", app);
    value["network"]["own_mobility"]["sta1"] =
        json!({"kind": "waypoints", "points": [{"at": "0s", "x": 225, "y": 95}]});
    let arrivals = common::events(&value, 1);
    let at = |line: &String| line.split_whitespace().next()?.parse::<f64>().ok();
    let times: Vec<f64> = arrivals.iter().filter(|line| line.contains("delivered")).filter_map(at).collect();
    let gap = times.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max);
    (gap, run(&value, 1).network.radio.reassociations.unwrap())
}

/// An access point is lost after the beacons that may be missed; a scan adds its time; who roams by signal is never without one.
#[test]
fn a_hand_off_takes_missed_beacons_and_a_scan() {
    let gaps: Vec<(f64, u64)> = [
        json!({}),
        json!({"missed": 5}),
        json!({"missed": 5, "scan": "350ms"}),
        json!({"roam_below": "-65dBm"}),
        json!({"roam_below": "-65dBm", "scan": "350ms"}),
    ]
    .iter()
    .map(walk)
    .collect();
    println!("{gaps:?}");
    assert!(gaps.iter().all(|(_, reassociations)| *reassociations == 1), "{gaps:?}");
    let [ten, five, scanned, roamed, roamed_with_scan] = [0, 1, 2, 3, 4].map(|index| gaps[index].0);
    assert!((0.9..1.2).contains(&ten) && (0.4..0.65).contains(&five), "{gaps:?}");
    assert!((scanned - five - 0.35).abs() < 0.03, "{gaps:?}");
    assert!(roamed < 0.02 && (0.34..0.4).contains(&roamed_with_scan), "{gaps:?}");
}

#[test]
fn a_hand_off_that_cannot_be_is_refused() {
    for (handoff, mobile, expected) in [
        (json!({"missed": 0}), true, "handoff.missed: 0 is not a number of beacons"),
        (json!({"roam_margin_db": 3}), true, "handoff.roam_margin_db: needs roam_below"),
        (json!({"roam_below": "-70dBm", "roam_margin_db": 90}), true, "handoff.roam_margin_db: 90 is not from 0 to 60"),
        (json!({"scan": "100ms"}), false, "handoff: no station moves"),
    ] {
        let mut fields = json!({"handoff": handoff});
        if mobile {
            fields["own_mobility"] = leaves(false);
        }
        let error = refusal(&with_flow(cells("1s", fields), "sta0", "sta1", udp("100kbps")));
        assert!(error.contains(expected), "{error}");
    }
}
