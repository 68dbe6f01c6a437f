//! Which path a packet over links takes: equal paths, pinned flows, flows that move; and the shapes that have several paths.

mod common;

use common::{refusal, run};
use serde_json::{Value, json};
use sim::Summary;

/// From c to s over a (10 ms) or over b (30 ms).
fn two_ways(routing: Value, moves: Value) -> Value {
    let link = |from: &str, to: &str, delay: &str| json!({"from": from, "to": to, "rate": "10Mbps", "delay": delay});
    json!({
        "duration": "4s",
        "network": {"kind": "graph", "routing": routing},
        "node": [{"name": "c"}, {"name": "a"}, {"name": "b"}, {"name": "s"}],
        "link": [link("c", "a", "5ms"), link("c", "b", "15ms"), link("a", "s", "5ms"), link("b", "s", "15ms")],
        "flow": [{"name": "f", "from": "c", "to": "s", "app": {"kind": "cbr", "rate": "100pps", "size": "1000B", "transport": "udp"}}],
        "move": moves,
    })
}

/// Packets that were sent from a node to another.
fn sent(summary: &Summary, from: &str, to: &str) -> u64 {
    summary.links.iter().filter(|link| link.from == from && link.to == to).map(|link| link.sent_packets).sum()
}

#[test]
fn a_pinned_flow_takes_its_path_both_ways_and_a_move_changes_it() {
    let none = run(&two_ways(json!({"kind": "single"}), json!([])), 1);
    assert_eq!((sent(&none, "c", "a"), sent(&none, "c", "b")), (401, 0));
    let pin = json!({"kind": "single", "pins": [{"flow": "f", "via": ["b"]}]});
    let pinned = run(&two_ways(pin.clone(), json!([])), 1);
    assert_eq!((sent(&pinned, "c", "a"), sent(&pinned, "c", "b")), (0, 401));
    let delay = pinned.flows[0].measures.delay_s.unwrap();
    assert!((delay - (0.03 + 2.0 * 1028.0 * 8.0 / 10e6)).abs() < 1e-9, "{delay}");
    let moved = run(&two_ways(pin.clone(), json!([{"at": "1s", "flow": "f", "via": "a"}])), 1);
    // The packet that is due at the time of the move leaves first: applications come before changes made later.
    assert_eq!(sent(&moved, "c", "b") + sent(&moved, "c", "a"), 401);
    assert!((100..=101).contains(&sent(&moved, "c", "b")));
    let mut tcp =
        two_ways(pin, json!([{"at": "1s", "flow": "f", "via": "a"}, {"at": "2s", "flow": "f", "via": ["b"]}]));
    tcp["flow"][0]["app"] = json!({"kind": "bulk"});
    let tcp = run(&tcp, 1);
    assert!(sent(&tcp, "s", "b") > 100 && sent(&tcp, "s", "a") > 100, "ACKs follow");
}

#[test]
fn a_pinned_flow_waits_for_its_path_and_equal_paths_lose_a_dead_link() {
    let down = json!([{"at": "1s", "up": false}, {"at": "3s", "up": true}]);
    let mut pinned = two_ways(json!({"kind": "single", "pins": [{"flow": "f", "via": "b"}]}), json!([]));
    pinned["link"][1]["changes"] = down.clone();
    let pinned = run(&pinned, 1);
    assert_eq!(sent(&pinned, "c", "a"), 0);
    assert!((198..=202).contains(&sent(&pinned, "c", "b")));
    let mut turns = two_ways(json!({"kind": "ecmp", "by": "packet"}), json!([]));
    turns["link"][1]["changes"] = down;
    let turns = run(&turns, 1);
    assert!((98..=102).contains(&sent(&turns, "c", "b")), "{}", sent(&turns, "c", "b"));
    assert!((298..=302).contains(&sent(&turns, "c", "a")));
}

#[test]
fn a_fat_tree_spreads_flows_and_packets_over_its_cores() {
    let world = |routing: Value| {
        json!({"duration": "2ms", "network": {"kind": "fat_tree", "k": 4, "flows": 16, "routing": routing},
               "traffic": {"start_jitter": "100us", "app": {"kind": "bulk", "bytes": "100kB"}}})
    };
    let used =
        |summary: &Summary| summary.links.iter().filter(|l| l.from.starts_with("core") && l.sent_packets > 0).count();
    let by_flow = run(&world(json!({"kind": "ecmp"})), 1);
    assert!(by_flow.flows.iter().all(|flow| flow.completion_s.is_some()));
    let common = run(&world(json!({"kind": "ecmp", "salt": "common"})), 1);
    let single = run(&world(json!({"kind": "single"})), 1);
    assert!(used(&by_flow) > used(&common) && used(&common) > used(&single), "one of four cores without a choice");
    assert_eq!(used(&single), 4);
    // Packets in turn: all cores send to all pods, each about the same.
    let by_packet = run(&world(json!({"kind": "ecmp", "by": "packet"})), 1);
    assert_eq!(used(&by_packet), 16);
}

#[test]
fn wrong_paths_are_refused_with_their_place() {
    let pins = |pins: Value| two_ways(json!({"kind": "single", "pins": pins}), json!([]));
    for (world, place, hint) in [
        (pins(json!([{"flow": "g", "via": "b"}])), "network.routing.pins[0].flow: unknown flow \"g\"", "names: f"),
        (pins(json!([{"flow": "f", "via": []}])), "network.routing.pins[0].via: names no node", ""),
        (pins(json!([{"flow": "f", "via": 5}])), "network.routing.pins[0].via: 5 is not the name", ""),
        (
            pins(json!([{"flow": "f", "via": ["b", "d"]}])),
            "network.routing.pins[0].via[1]: unknown node \"d\"",
            "nodes: ",
        ),
        (pins(json!([{"flow": "f", "via": ["b", "a"]}])), "network.routing.pins[0].via: no path", "--expand"),
        (
            pins(json!([{"flow": "f", "via": "b"}, {"flow": "f", "via": "a"}])),
            "network.routing.pins[1].flow: \"f\" is pinned twice",
            "",
        ),
        (two_ways(json!({"kind": "ecmp", "by": "flows"}), json!([])), "network.routing.by", "did you mean flow?"),
        (
            two_ways(json!({"kind": "ecmp", "by": {"kind": "flowlet", "gap": "0s"}}), json!([])),
            "network.routing.by.gap: 0s",
            "",
        ),
        (two_ways(json!({"kind": "single"}), json!([{"at": "9s", "flow": "f", "via": "a"}])), "move[0].at: 9s", "4s"),
        (
            json!({"duration": "1s", "network": {"kind": "fat_tree", "k": 5, "flows": 1}}),
            "network.k: 5 is not an even number",
            "",
        ),
        (
            json!({"duration": "1s", "network": {"kind": "fat_tree", "k": 162, "flows": 1}}),
            "network.k: 162",
            "2 to 160",
        ),
        (
            json!({"duration": "1s", "network": {"kind": "leaf_spine", "spines": 0, "flows": 1}}),
            "network.spines: 0",
            "",
        ),
        (json!({"duration": "1s", "network": {"kind": "parking_lot", "hops": 0}}), "network.hops: 0", ""),
        (
            json!({"duration": "1s", "network": {"kind": "adhoc", "flows": 1},
                "flow": [{"name": "f", "from": "n0", "to": "n1"}], "move": [{"at": "0s", "flow": "f", "via": "n2"}]}),
            "move: ",
            "",
        ),
    ] {
        let error = refusal(&world);
        assert!(error.starts_with(place) && error.contains(hint), "{error}");
    }
}

#[test]
fn a_client_with_two_lines_moves_a_flow_from_one_to_the_other() {
    let world = json!({
        "duration": "4s",
        "network": {"kind": "multihomed",
                    "paths": [{"rate": "20Mbps", "delay": "5ms"}, {"preset": "lte", "delay": "30ms", "harq": {"p": 0.0}}],
                    "routing": {"kind": "single", "pins": [{"flow": "f", "via": "path1"}]}},
        "flow": [{"name": "f", "from": "s0", "to": "c"}, {"from": "s0", "to": "c", "app": {"kind": "bulk", "bytes": "10kB"}}],
        "move": [{"at": "2s", "flow": "f", "via": "path0"}],
        "record": {"series": ["path_delay"], "every": "1s"},
    });
    let outcome = sim::Simulation::new(&common::scenario(&world), 1).unwrap().run();
    let delays = &outcome.series[0].1;
    let of_first: Vec<f64> =
        delays.id.iter().zip(&delays.value).filter(|(flow, _)| **flow == 0).map(|(_, value)| *value).collect();
    assert!(of_first.first().is_some_and(|delay| (delay - 0.035).abs() < 1e-9), "{of_first:?}");
    assert!(of_first.last().is_some_and(|delay| (delay - 0.010).abs() < 1e-9), "{of_first:?}");
    let summary = outcome.summary;
    assert!(sent(&summary, "path1", "c") > 500 && sent(&summary, "path0", "c") > 500);
    assert!(sent(&summary, "c", "path1") > 100 && sent(&summary, "c", "path0") > 100);
}
