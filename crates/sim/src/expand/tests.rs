//! Topologies: counts, names and ends of flows.

use super::*;
use crate::scenario::PathRouting;
use crate::simulation::Simulation;

fn expanded(text: &str, seed: u64) -> Scenario {
    graph_of(&resolve(&Scenario::from_json(text).unwrap()).unwrap(), seed).unwrap().graph
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
    let queue = serde_json::to_value(&expanded(text, 1).link[0].options.queue).unwrap();
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
        r#"{"kind": "pie", "profile": "linux", "target": "5ms"}"#,
        r#"{"kind": "fq_pie", "quantum": "300B"}"#,
        r#"{"kind": "choke", "ecn": true}"#,
        r#"{"kind": "cobalt"}"#,
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
        let explicit = serde_json::to_value(&graph.link[0].options.queue).unwrap();
        assert!(explicit["kind"].is_string() && explicit["limit"].is_string(), "{explicit}");
        assert_eq!(serde_json::to_value(&graph.link[0].options.reverse.as_ref().unwrap().queue).unwrap(), explicit);
    }
    let short =
        expanded(r#"{"duration": "1s", "network": {"kind": "dumbbell", "flows": 1, "access": {"queue": "7p"}}}"#, 1);
    assert_eq!(
        short.link[1].options.queue,
        Some(crate::scenario::Queue::drop_tail(crate::scenario::Amount::Packets(7)))
    );
}

#[test]
fn a_parking_lot_has_long_pairs_and_cross_pairs_at_each_hop() {
    let graph = expanded(r#"{"duration": "1s", "network": {"kind": "parking_lot", "hops": 2, "cross": 2}}"#, 1);
    // 3 routers, 1 long and 4 cross pairs; 2 links between routers and one of each host
    assert_eq!((graph.node.len(), graph.link.len()), (13, 12));
    let ends: Vec<(&str, &str)> = graph.flow.iter().map(|f| (f.from.as_str(), f.to.as_str())).collect();
    assert_eq!(ends[..2], [("long_src0", "long_dst0"), ("cross0_src0", "cross0_dst0")]);
    assert_eq!((ends.len(), ends[4]), (5, ("cross1_src1", "cross1_dst1")));
    let at = |host: &str| {
        graph.link.iter().find_map(|l| (l.from == host).then_some(&l.to).or((l.to == host).then_some(&l.from)))
    };
    assert_eq!([at("cross1_src0").unwrap(), at("cross1_dst0").unwrap(), at("long_dst0").unwrap()], ["r1", "r2", "r2"]);
}

#[test]
fn leaves_join_all_spines_and_fat_trees_have_their_numbers() {
    let text =
        r#"{"duration": "1s", "network": {"kind": "leaf_spine", "leaves": 3, "spines": 2, "hosts": 5, "flows": 1}}"#;
    let graph = expanded(text, 1);
    assert_eq!((graph.node.len(), graph.link.len()), (3 + 2 + 15, 3 * 2 + 15));
    assert!(graph.link.iter().any(|link| (link.from.as_str(), link.to.as_str()) == ("h7", "leaf1")));
    assert_eq!((graph.flow[0].from.as_str(), graph.flow[0].to.as_str()), ("h0", "h7"));
    for (k, hosts, switches) in [(2, 2, 5), (4, 16, 20), (6, 54, 45), (8, 128, 80), (16, 1024, 320)] {
        let text = format!(r#"{{"duration": "1s", "network": {{"kind": "fat_tree", "k": {k}, "flows": 1}}}}"#);
        let graph = expanded(&text, 1);
        assert_eq!((graph.node.len(), graph.link.len()), (hosts + switches, 3 * hosts));
        assert!(matches!(graph.network.routing(), Some(PathRouting::Ecmp(_))));
        // Aggregation switch i of each pod joins cores i k/2 to (i + 1) k/2 - 1, and every switch has k ports.
        for link in graph.link.iter().filter(|link| link.to.starts_with("core")) {
            let number = |name: &str| name[name.find(['_', 'e']).unwrap() + 1..].parse::<usize>().unwrap();
            assert_eq!(number(&link.to) / (k / 2), number(&link.from));
        }
        let ports = |name: &str| graph.link.iter().filter(|link| link.from == name || link.to == name).count();
        assert!(["edge0_0", "agg1_0", "core0"].iter().all(|switch| ports(switch) == k));
    }
}

#[test]
fn homes_have_lines_of_their_own_and_a_shaper_stands_behind_the_modem() {
    let lines = r#"[{"preset": "cable", "homes": 2, "hosts": 3}, {"preset": "lte", "homes": 1, "hosts": 2}]"#;
    let text = format!(r#"{{"duration": "1s", "network": {{"kind": "access", "flows": 9, "lines": {lines}}}}}"#);
    let graph = expanded(&text, 1);
    // 4 servers, core, 3 lines with two ends each, 8 hosts
    assert_eq!((graph.node.len(), graph.link.len()), (4 + 1 + 6 + 8, 4 + 2 * 3 + 8));
    let preset = |from: &str| graph.link.iter().find(|link| link.from == from && link.to.starts_with("gw")).unwrap();
    assert_eq!(
        [preset("isp1").options.preset.as_deref(), preset("isp2").options.preset.as_deref()],
        [Some("cable"), Some("lte")]
    );
    let ends: Vec<(&str, &str)> = graph.flow.iter().map(|f| (f.from.as_str(), f.to.as_str())).collect();
    assert_eq!((ends[3], ends[6], ends[8]), (("srv3", "home1_0"), ("srv2", "home2_0"), ("srv0", "home0_0")));

    let text = r#"{"duration": "1s", "network": {"kind": "home", "flows": 1, "shaper": {"up": 0.8}}}"#;
    let graph = expanded(text, 1);
    let link = |from: &str, to: &str| graph.link.iter().find(|link| link.from == from && link.to == to).unwrap();
    assert_eq!(link("isp0", "modem0").options.preset.as_deref(), Some("cable"));
    let shaper = link("modem0", "gw0");
    let (down, up) =
        (shaper.options.queue.as_ref().unwrap(), shaper.options.reverse.as_ref().unwrap().queue.as_ref().unwrap());
    let (crate::scenario::Queue::Cake(down), crate::scenario::Queue::Cake(up)) = (down, up) else { panic!("CAKE") };
    assert_eq!((down.rate.unwrap().as_bps(), down.ingress), (270_000_000, true));
    assert_eq!((up.rate.unwrap().as_bps(), up.ingress), (16_000_000, false));
    let plain = expanded(r#"{"duration": "1s", "network": {"kind": "home", "flows": 1}}"#, 1);
    assert_eq!(plain.link.len() + 1, graph.link.len());
}
