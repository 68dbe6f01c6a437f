//! Topologies: counts, names and ends of flows.

use super::*;
use crate::simulation::Simulation;

fn expanded(text: &str, seed: u64) -> Scenario {
    expand(&Scenario::from_json(text).unwrap(), seed).unwrap()
}

#[test]
fn an_expanded_scenario_read_again_is_the_same_to_the_last_bit() {
    let once = expanded(r#"{"duration": "1s", "network": {"kind": "adhoc", "nodes": 40, "flows": 1}}"#, 3);
    let text = serde_json::to_string(&once).expect("a scenario is JSON");
    assert_eq!(expanded(&text, 3).node, once.node);
}

#[test]
fn listed_flows_are_all_there_is_unless_others_are_asked_for() {
    let flows = |network: &str| {
        let text =
            format!(r#"{{"duration": "1s", "network": {network}, "flow": [{{"from": "src0", "to": "sink1"}}]}}"#);
        expanded(&text, 1).flow.len()
    };
    assert_eq!(flows(r#"{"kind": "star"}"#), 1);
    assert_eq!(flows(r#"{"kind": "star", "flows": 3}"#), 4);
}

#[test]
fn a_star_spreads_its_flows_over_sources_and_sinks() {
    let graph = expanded(r#"{"duration": "1s", "network": {"kind": "star", "nodes": 7, "flows": 5}}"#, 1);
    assert_eq!((graph.node.len(), graph.link.len(), graph.flow.len()), (8, 7, 5));
    let ends: Vec<(&str, &str)> = graph.flow.iter().map(|f| (f.from.as_str(), f.to.as_str())).collect();
    assert_eq!(ends, [("src0", "sink0"), ("src1", "sink1"), ("src2", "sink2"), ("src0", "sink3"), ("src1", "sink0")]);
}

#[test]
fn a_lan_has_routers_switches_and_pcs() {
    let graph = expanded(r#"{"duration": "1s", "network": {"kind": "lan", "flows": 7}}"#, 1);
    // 2 routers, 2 switches, 12 PCs; 1 + 2 + 12 links; the seventh flow starts over
    assert_eq!((graph.node.len(), graph.link.len()), (16, 15));
    assert_eq!((graph.flow[6].from.as_str(), graph.flow[6].to.as_str()), ("pc0", "pc6"));
}

#[test]
fn a_random_network_is_connected_depends_on_the_seed_and_keeps_its_degree() {
    let text = r#"{"duration": "1s", "network": {"kind": "random_wired", "nodes": 30, "flows": 10, "degree": 3.0}}"#;
    let graph = expanded(text, 1);
    assert_eq!((graph.node.len(), graph.link.len()), (30, 45));
    assert_eq!(graph, expanded(text, 1));
    assert_ne!(graph.link, expanded(text, 2).link);
    assert!(graph.flow.iter().all(|flow| flow.from != flow.to));
    // The first links are a tree: each node but the first is joined to an earlier one.
    for (i, link) in graph.link[..29].iter().enumerate() {
        let earlier: usize = link.from[1..].parse().unwrap();
        assert!(link.to == format!("n{}", i + 1) && earlier <= i);
    }
}

#[test]
fn an_expanded_scenario_reads_back_and_expands_to_itself() {
    let text = r#"{"duration": "1s", "network": {"kind": "dumbbell", "pairs": 2, "flows": 3}, "tcp": {"cc": "cubic"}}"#;
    let graph = expanded(text, 1);
    let printed = serde_json::to_string(&graph).unwrap();
    assert_eq!(expanded(&printed, 9), graph);
}

#[test]
fn start_times_are_drawn_per_flow_and_do_not_depend_on_their_number() {
    let starts = |flows: u32| -> Vec<Span> {
        let text = format!(r#"{{"duration": "1s", "network": {{"kind": "star", "flows": {flows}}}}}"#);
        let simulation = Simulation::new(&Scenario::from_json(&text).unwrap(), 4).unwrap();
        simulation.graph().flow.iter().map(|f| f.start).collect()
    };
    let (few, many) = (starts(3), starts(9));
    assert_eq!(few, many[..3]);
    assert!(many.iter().all(|s| *s < Span::from_millis(100)) && few[0] != few[1]);
}

#[test]
fn queues_inside_queues_are_spelled_out_too() {
    let text = r#"{"duration": "1s", "network": {"kind": "dumbbell", "flows": 1, "bottleneck": {"queue":
        {"kind": "tbf", "rate": "20Mbps", "peak": "1Gbps", "queue": {"kind": "priority", "by": "ecn",
         "bands": [{"kind": "red"}, {"kind": "policer", "rate": "1Mbps"}]}}}}}"#;
    let queue = serde_json::to_value(&expanded(text, 1).link[0].queue).unwrap();
    assert_eq!((&queue["burst"], &queue["peak_burst"]), (&"25kB".into(), &"1514B".into()), "{queue}");
    assert_eq!(queue["queue"]["bands"][0]["limit"], "50p");
    let policer = &queue["queue"]["bands"][1];
    assert_eq!((&policer["burst"], &policer["queue"]["limit"]), (&"15140B".into(), &"1000p".into()), "{queue}");
    let resolved = resolve(&Scenario::from_json(text).unwrap()).unwrap();
    assert_eq!(resolve(&resolved).unwrap(), resolved);
}

#[test]
fn an_expanded_queue_is_spelled_out_and_reads_back() {
    let queues = [
        r#""100p""#,
        r#"{"kind": "drop_tail", "limit": "64kB", "mark_threshold": 20}"#,
        r#"{"kind": "red"}"#,
        r#"{"kind": "red", "profile": "ns3", "min_threshold": 7.5, "ecn": true}"#,
        r#"{"kind": "codel", "limit": "unlimited"}"#,
        r#"{"kind": "fq_codel", "quantum": "300B"}"#,
        r#"{"kind": "pie", "estimator": "departure_rate", "alpha": 0.2}"#,
        r#"{"kind": "drr", "by": "destination"}"#,
        r#"{"kind": "sfq", "perturb": "10s"}"#,
        r#"{"kind": "fq", "flow_rate": "3Mbps"}"#,
    ];
    for queue in queues {
        let text = format!(
            r#"{{"duration": "1s", "network": {{"kind": "dumbbell", "flows": 1,
                "bottleneck": {{"queue": {queue}, "reverse": {{"queue": {queue}}}}}}}}}"#
        );
        let graph = expanded(&text, 1);
        let printed = serde_json::to_string(&graph).unwrap();
        assert_eq!(expanded(&printed, 1), graph, "{queue}");
        let resolved = resolve(&Scenario::from_json(&text).unwrap()).unwrap();
        assert_eq!(resolve(&resolved).unwrap(), resolved, "{queue}");
        let explicit = serde_json::to_value(&graph.link[0].queue).unwrap();
        assert!(explicit["kind"].is_string() && explicit["limit"].is_string(), "{explicit}");
        assert_eq!(serde_json::to_value(&graph.link[0].reverse.as_ref().unwrap().queue).unwrap(), explicit);
    }
    let short =
        expanded(r#"{"duration": "1s", "network": {"kind": "dumbbell", "flows": 1, "access": {"queue": "7p"}}}"#, 1);
    assert_eq!(short.link[1].queue, Some(crate::scenario::Queue::drop_tail(crate::scenario::Amount::Packets(7))));
}
