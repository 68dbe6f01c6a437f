//! One completion: a scenario, what it resolves to and the graph of that are the same run, and two scenarios that resolve to the
//! same text are one run. The id of a run hashes that text.

mod common;

use common::{fingerprint, scenario};
use serde_json::{Value, json};
use tcp::cc::ALGORITHMS;

/// What `sim::resolve` gives, as it is printed.
fn resolved(value: &Value) -> Value {
    serde_json::to_value(sim::resolve(&scenario(value)).unwrap_or_else(|e| panic!("{e}: {value}"))).unwrap()
}

fn graph(value: &Value) -> Value {
    serde_json::to_value(sim::expand(&scenario(value), 1).unwrap()).unwrap()
}

/// One flow with a congestion control of its own, beside these common settings.
fn with_own_cc(cc: &Value, tcp: &Value) -> Value {
    json!({
        "duration": "3s", "tcp": tcp, "flow": [{"from": "left0", "to": "right0", "cc": cc}],
        "network": {"kind": "dumbbell", "pairs": 1,
                    "bottleneck": {"rate": "10Mbps", "delay": "20ms", "queue": {"kind": "drop_tail", "limit": "30p"}}},
    })
}

/// Every algorithm in every profile.
fn choices() -> Vec<Value> {
    let of = |algorithm: &&tcp::cc::Algorithm| {
        let choice = |profile: &tcp::cc::Profile| json!({"name": algorithm.name, "profile": profile.name});
        algorithm.profiles.iter().map(choice).collect::<Vec<_>>()
    };
    ALGORITHMS.iter().flat_map(of).collect()
}

fn assert_one_run(value: &Value) {
    let told = resolved(value);
    assert_eq!(resolved(&told), told, "a resolved scenario is complete: {value}");
    let print = fingerprint(value, 1);
    assert_eq!(fingerprint(&told, 1), print, "of the resolved scenario: {value}");
    assert_eq!(fingerprint(&graph(value), 1), print, "of the graph: {value}");
}

#[test]
fn a_scenario_its_resolved_form_and_its_graph_are_one_run_for_every_algorithm_and_profile() {
    for cc in choices() {
        for tcp in [
            json!({}),
            json!({"profile": "rfc"}),
            json!({"profile": "linux"}),
            json!({"profile": "ns2"}),
            json!({"profile": "ns3"}),
        ] {
            assert_one_run(&with_own_cc(&cc, &tcp));
        }
    }
}

#[test]
fn a_scenario_its_resolved_form_and_its_graph_are_one_run_for_every_kind_of_network() {
    let field = json!({"x": "300m", "y": "300m"});
    let networks = [
        json!({"kind": "dumbbell", "pairs": 2, "flows": 2}),
        json!({"kind": "star", "nodes": 6, "flows": 2}),
        json!({"kind": "lan", "flows": 2}),
        json!({"kind": "parking_lot", "hops": 2}),
        json!({"kind": "leaf_spine", "leaves": 2, "spines": 2, "hosts": 2, "flows": 2}),
        json!({"kind": "fat_tree", "k": 4, "flows": 2}),
        json!({"kind": "access", "flows": 2, "lines": [{"preset": "cable", "homes": 1, "hosts": 2}]}),
        json!({"kind": "home", "flows": 2, "shaper": {"up": 0.8}}),
        json!({"kind": "multihomed", "flows": 2, "paths": [{"rate": "10Mbps"}, {"preset": "lte"}]}),
        json!({"kind": "random_wired", "nodes": 8, "flows": 2}),
        json!({"kind": "adhoc", "nodes": 6, "flows": 2, "area": field, "mobility": {"kind": "random_waypoint"}}),
        json!({"kind": "adhoc", "nodes": 4, "flows": 2, "area": {"x": "20m", "y": "20m"}, "radio": {"standard": "802.15.4"}}),
        json!({"kind": "infrastructure", "stations_per_cell": 3, "flows": 2}),
        json!({"kind": "wired_cum_wireless", "nodes": 6, "flows": 2}),
        json!({"kind": "constellation", "preset": "iridium", "nodes": 3, "terminals": ["London", "Boston"], "flows": 2}),
    ];
    // Of one size: the streams of a listed flow have other names than those of a generated one.
    let page = json!({"app": {"kind": "page", "object_size": "20kB"}});
    let listed = json!([{"name": "web", "from": ["src*"], "to": ["sink*"], "cc": "cubic", "size": {"kind": "web_search"},
                         "arrivals": {"kind": "poisson", "rate": "20/s"}}]);
    for network in networks {
        let world = json!({"duration": "2s", "network": network, "tcp": {"profile": "linux", "cc": "cubic"}});
        assert_one_run(&world);
        let mut pages = world.clone();
        pages["traffic"] = page.clone();
        assert_one_run(&pages);
        if network["kind"] == "star" {
            let mut web = world.clone();
            web["workload"] = listed.clone();
            assert_one_run(&web);
        }
    }
}

/// A listed flow beside generated pages keeps Nagle's algorithm, which pages switch off.
#[test]
fn generated_pages_and_a_listed_flow_keep_their_own_settings() {
    let page = json!({"kind": "page", "object_size": "20kB"});
    let world = json!({
        "duration": "2s", "network": {"kind": "star", "flows": 2}, "tcp": {"profile": "linux"}, "traffic": {"app": page},
        "flow": [{"from": "src0", "to": "sink0"}, {"from": "src1", "to": "sink1", "app": page}],
    });
    assert_one_run(&world);
    let told = resolved(&world);
    assert_eq!(told["tcp"]["nagle"], false);
    assert_eq!((&told["flow"][0]["tcp"]["nagle"], &told["flow"][1]["tcp"]), (&json!(true), &Value::Null));
}

/// A stated key of `tcp` beside a flow with its own `cc` changes what identifies the run, or it does not change the run. The
/// value is the one that the key has if it is left out, which once made two runs one.
#[test]
fn scenarios_that_resolve_to_the_same_text_are_the_same_run() {
    for profile in ["rfc", "linux"] {
        let network = json!({"kind": "dumbbell", "flows": 1});
        let common = resolved(&json!({"duration": "1s", "network": network, "tcp": {"profile": profile}}));
        let keys = common["tcp"].as_object().unwrap();
        assert!(keys.len() > 40, "{}", keys.len());
        for algorithm in ALGORITHMS {
            let mut plain = with_own_cc(&json!(algorithm.name), &json!({"profile": profile}));
            plain["duration"] = json!("700ms");
            let (told, print) = (resolved(&plain), fingerprint(&plain, 1));
            for (key, value) in keys.iter().filter(|(key, _)| *key != "profile") {
                let mut stated = plain.clone();
                stated["tcp"][key] = value.clone();
                // What the algorithm requires may refuse the common value.
                let Ok(complete) = sim::resolve(&scenario(&stated)) else { continue };
                if serde_json::to_value(complete).unwrap() == told {
                    assert_eq!(
                        fingerprint(&stated, 1),
                        print,
                        "tcp.{key} = {value} beside {} in {profile}",
                        algorithm.name
                    );
                }
            }
        }
    }
}
