//! What shapes of networks and presets of links must give: the laws of the parking lot, queues in BDP, framed lines.

mod common;

use common::{refusal, run, scenario};
use serde_json::{Value, json};

/// One long flow and one cross flow at each hop, all with a round trip of 40 ms.
fn parking_lot(hops: u64, queue: &Value) -> Value {
    json!({
        "duration": "60s", "warmup": "10s",
        "network": {"kind": "parking_lot", "hops": hops,
                    "access": {"rate": "1Gbps", "delay": "10ms"},
                    "link": {"rate": "10Mbps", "delay": "0ms", "queue": queue}},
        "tcp": {"cc": "newreno"},
    })
}

/// The share of the long flow at the bottlenecks: its goodput against that of itself and a mean cross flow.
fn share_of_the_long_flow(hops: u64, queue: &Value) -> f64 {
    let summary = run(&parking_lot(hops, queue), 1);
    let goodput: Vec<f64> = summary.flows.iter().map(|flow| flow.measures.goodput_bps).collect();
    let cross = goodput[1..].iter().sum::<f64>() / (goodput.len() - 1) as f64;
    goodput[0] / (goodput[0] + cross)
}

#[test]
fn a_long_flow_loses_at_every_hop_unless_queues_are_fair() {
    // Losses that are independent at each hop, as RED's are: a window of 1 / sqrt(p) with p = n p1 gives 1 / (1 + sqrt(n)). A full
    // drop-tail queue takes its losses from both flows at once, and adds to the long flow's RTT at each hop.
    for hops in [2, 3] {
        let share = share_of_the_long_flow(hops, &json!({"kind": "red", "limit": "100p"}));
        let n = hops as f64;
        assert!((share - 1.0 / (1.0 + n.sqrt())).abs() < 0.1, "{hops} hops: {share}");
        assert!(share > 1.0 / (n + 1.0) && share < 0.5, "{hops} hops: {share}");
    }
    let fair = share_of_the_long_flow(3, &json!({"kind": "drr", "limit": "100p"}));
    assert!((fair - 0.5).abs() < 0.02 * 0.5, "{fair}");
}

#[test]
fn a_limit_in_bdp_is_the_rate_times_the_longest_round_trip_in_bytes() {
    let world = |limit: Value| {
        let mut world = json!({
            "duration": "1s", "network": {"kind": "dumbbell", "pairs": 1, "flows": 1, "access": {"delay": "1ms"},
            "bottleneck": {"rate": "10Mbps", "delay": "18ms", "queue": limit}},
        });
        world["network"]["bottleneck"]["reverse"] = json!({"rate": "1Mbps"});
        world
    };
    let queue_of = |limit: Value| {
        let link = sim::expand(&scenario(&world(limit)), 1).unwrap().link.swap_remove(0);
        let back = link.options.reverse.unwrap().queue;
        (serde_json::to_value(link.options.queue).unwrap(), serde_json::to_value(back).unwrap())
    };
    // 10 Mb/s x 40 ms = 50 kB, and a tenth of it in the other direction
    let (forth, back) = queue_of(json!("1bdp"));
    assert_eq!((&forth["limit"], &back["limit"]), (&json!("50kB"), &json!("5kB")));
    let (forth, _) = queue_of(
        json!({"kind": "tbf", "rate": "9Mbps", "burst": "3kB", "queue": {"kind": "codel", "limit": "0.5bdp"}}),
    );
    assert_eq!(forth["queue"]["limit"], json!("25kB"));
    // Never less than a packet.
    assert_eq!(queue_of(json!("0.001bdp")).0["limit"], json!("1500B"));
    // A delay that is drawn counts with its mean.
    let mut drawn = world(json!("1bdp"));
    drawn["network"]["bottleneck"]["jitter"] = json!({"kind": "uniform", "max": "40ms"});
    let longer = sim::expand(&scenario(&drawn), 1).unwrap().link.swap_remove(0).options.queue;
    assert_eq!(serde_json::to_value(longer).unwrap()["limit"], json!("75kB"));
    let queue = run(&world(json!("1bdp")), 1).links[0].queue_max_packets;
    assert!((10..=33).contains(&queue), "{queue}");
    let mut window = world(json!("9p"));
    for key in ["initial_window", "initial_ssthresh", "cwnd_clamp", "initial_recv_window", "send_buffer"] {
        window["tcp"] = json!({key: "1bdp"});
        assert!(refusal(&window).starts_with(&format!("tcp.{key}: is not for a multiple of the BDP")));
    }
    assert!(refusal(&world(json!("0bdp"))).starts_with("network.bottleneck.queue: "));
}

#[test]
fn a_dsl_line_carries_its_cells() {
    // 1440 B of payload in datagrams of 1468 B: with 40 B of framing 1508 B, 32 cells, 1696 B on the line.
    let mut world = json!({
        "duration": "2s",
        "network": {"kind": "dumbbell", "pairs": 1, "bottleneck": {"preset": "adsl2"}},
        "flow": [{"from": "left0", "to": "right0",
                  "app": {"kind": "cbr", "rate": "20Mbps", "size": "1440B", "transport": "udp"}}],
    });
    let summary = run(&world, 1);
    let line = &summary.links[0];
    assert!((line.sent_bytes as f64 / line.sent_packets as f64 - 1696.0).abs() < 1e-9);
    let goodput = summary.flows[0].measures.goodput_bps;
    assert!((goodput / (16e6 * 1440.0 / 1696.0) - 1.0).abs() < 0.02, "{goodput}");
    world["network"]["bottleneck"] = json!({"rate": "1Mbps", "overhead": "2B", "framing": "docsis"});
    assert!(refusal(&world).starts_with("network.bottleneck.framing: stands beside overhead"));
    world["network"]["bottleneck"] = json!({"rate": "1Mbps", "framing": {"bytes": 500}});
    assert!(refusal(&world).starts_with("network.bottleneck.framing.bytes: 500"));
}

#[test]
fn presets_show_their_values_in_the_resolved_scenario() {
    let world = json!({
        "duration": "5s",
        "network": {"kind": "dumbbell", "pairs": 1, "flows": 1, "bottleneck": {"preset": "pantheon/nepal"}},
    });
    let summary = run(&world, 1);
    let resolved = serde_json::to_value(&summary.resolved).unwrap();
    let bottleneck = &resolved["network"]["bottleneck"];
    assert_eq!((&bottleneck["preset"], &bottleneck["delay"]), (&json!("pantheon/nepal"), &json!("28ms")));
    assert_eq!((&bottleneck["service"]["kind"], &bottleneck["queue"]["limit"]), (&json!("poisson"), &json!("14p")));
    assert!(summary.links[1].drops.loss == 0, "no loss of ACKs");
}

/// Worlds of every kind of place where a link can stand, with a link of these keys there.
fn places(link: &Value) -> Vec<(&'static str, Value)> {
    let world = |network: Value| json!({"duration": "1ms", "network": network});
    let mut named: Vec<(&str, Value)> = [
        ("dumbbell", "access"),
        ("dumbbell", "bottleneck"),
        ("star", "source"),
        ("star", "sink"),
        ("lan", "access"),
        ("lan", "core"),
        ("parking_lot", "access"),
        ("parking_lot", "link"),
        ("leaf_spine", "host_link"),
        ("leaf_spine", "fabric"),
        ("fat_tree", "link"),
        ("access", "server"),
        ("access", "core"),
        ("access", "lan"),
        ("home", "server"),
        ("home", "core"),
        ("home", "lan"),
        ("multihomed", "server"),
        ("random_wired", "links"),
        ("infrastructure", "backbone"),
        ("wired_cum_wireless", "access"),
        ("wired_cum_wireless", "core"),
    ]
    .map(|(kind, place)| {
        let flows = json!({"kind": kind, "flows": 1, place: link});
        let own_flows = json!({"kind": kind, place: link});
        (kind, world(if kind == "parking_lot" { own_flows } else { flows }))
    })
    .into();
    let name = &link["preset"];
    let nodes = json!([{"name": "a"}, {"name": "b"}]);
    let mut listed = link.clone();
    (listed["from"], listed["to"]) = (json!("a"), json!("b"));
    named.extend([
        ("access", world(json!({"kind": "access", "flows": 1, "lines": [{"preset": name, "homes": 1, "hosts": 1}]}))),
        ("home", world(json!({"kind": "home", "flows": 1, "preset": name}))),
        (
            "home with a shaper",
            world(json!({"kind": "home", "flows": 1, "preset": name, "shaper": {"down": 0.9, "up": 0.9}})),
        ),
        ("multihomed", world(json!({"kind": "multihomed", "flows": 1, "paths": [link, {"rate": "1Mbps"}]}))),
        (
            "graph",
            json!({"duration": "1ms", "network": {"kind": "graph"}, "node": nodes, "link": [listed],
                         "flow": [{"from": "a", "to": "b"}]}),
        ),
    ]);
    named
}

/// The presets that the error about an unknown one names.
fn presets() -> Vec<String> {
    let world = json!({"duration": "1s", "network": {"kind": "dumbbell", "bottleneck": {"preset": "?"}}});
    let error = refusal(&world);
    let known = error.split_once("known: ").expect("the hint has all names").1;
    known.trim_end_matches(')').split(", ").map(str::to_owned).collect()
}

#[test]
fn every_preset_works_wherever_a_link_can_stand() {
    let presets = presets();
    assert!(presets.len() >= 28, "{presets:?}");
    for preset in &presets {
        for (kind, world) in places(&json!({"preset": preset})) {
            let made = sim::Simulation::new(&scenario(&world), 1);
            assert!(made.is_ok(), "{preset} in {kind}: {world}: {}", made.err().unwrap());
            let resolved = sim::resolve(&scenario(&world)).unwrap();
            assert_eq!(sim::resolve(&resolved).unwrap(), resolved, "{preset} in {kind}");
        }
        for place in ["uplink", "downlink", "isl"] {
            let network = json!({"kind": "constellation", "preset": "iridium", "terminals": ["London", "Boston"],
                                 place: {"preset": preset}});
            let refused = refusal(&json!({"duration": "1s", "network": network}));
            assert!(
                refused.starts_with(&format!("network.{place}.preset: has no meaning in a constellation")),
                "{refused}"
            );
        }
    }
}

/// One direction alone cannot have a preset, which has both.
#[test]
fn no_preset_stands_in_one_direction_of_a_link() {
    for preset in &presets() {
        let all = places(&json!({"reverse": {"preset": preset}}));
        let worlds: Vec<_> = all.iter().filter(|(_, world)| world.to_string().contains("reverse")).collect();
        assert!(worlds.len() >= 23, "{}", worlds.len());
        for (kind, world) in worlds {
            let refused = refusal(world);
            assert!(
                refused.contains("reverse.preset: a preset has both directions; give it to the link"),
                "{preset} in {kind}: {refused}"
            );
        }
    }
}
