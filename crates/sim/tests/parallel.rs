//! A run in several parts gives the bits of one: the same text of the summary, whatever the network, its queues and its losses.

mod common;

use common::scenario;
use common::worlds::world;
use serde_json::{Value, json};
use sim::parallel::{Division, Mail, Part, Undivided};
use sim::{Simulation, Summary};
use tcp::rng::Rng;
use tcp::units::Time;

/// Runs in parts, one after the other in each window.
fn run_in_parts(world: &Value, seed: u64, parts: usize) -> Result<(Summary, Division), Undivided> {
    let made = || Simulation::new(&scenario(world), seed).unwrap();
    let division = made().divide(parts, || true)?;
    let mut parts: Vec<Part> = (0..division.parts()).map(|index| Part::new(made(), &division, index)).collect();
    let mut next = Some(Time::ZERO);
    while let Some(from) = next {
        next = parts.iter_mut().filter_map(|part| part.advance(from + division.lookahead())).min();
        for from in 0..parts.len() {
            for to in 0..parts.len() {
                let mut mail = Mail::default();
                parts[from].send(to, &mut mail);
                parts[to].receive(&mut mail);
            }
        }
    }
    Ok((Part::finish(parts)?.summary, division))
}

fn text(summary: &Summary) -> String {
    serde_json::to_string(summary).unwrap()
}

/// Compares two and three parts with one; returns how many parts the last had.
fn the_same_in_parts(world: &Value, seed: u64) -> Result<usize, Undivided> {
    let plain = text(&Simulation::new(&scenario(world), seed).unwrap().run().summary);
    let mut parts = 0;
    for wanted in [2, 3] {
        let (summary, division) = run_in_parts(world, seed, wanted)?;
        let found = text(&summary);
        if found != plain {
            let at =
                plain.bytes().zip(found.bytes()).position(|(one, other)| one != other).unwrap_or(0).saturating_sub(120);
            let near = |text: &str| text[at..(at + 300).min(text.len())].to_owned();
            panic!("{wanted} parts, seed {seed}\n{}\n{}\n{world}", near(&plain), near(&found));
        }
        parts = division.parts();
    }
    Ok(parts)
}

/// A random network: a ring with chords, random delays, rates, queues, losses and changes, flows of every kind.
fn random_network(seed: u64) -> Value {
    let mut rng = Rng::stream(seed, "network");
    let mut pick = |from: &[Value]| from[rng.below(from.len() as u64) as usize].clone();
    let numbers = |from: std::ops::Range<u64>| from.map(|n| json!(n)).collect::<Vec<_>>();
    let count = pick(&numbers(5..14)).as_u64().unwrap();
    let queue = [
        json!("12p"),
        json!("40p"),
        json!("25kB"),
        json!({"kind": "drop_tail", "limit": "30kB", "mark_threshold": 3}),
        json!({"kind": "red", "limit": "20p", "ecn": true}),
        json!({"kind": "codel", "ecn": true}),
        json!({"kind": "fq_codel", "limit": "20p", "queues": 4}),
        json!({"kind": "pie", "ecn": true}),
        json!({"kind": "sfq", "limit": "20p", "depth": 8, "queues": 3, "perturb": "700ms"}),
    ];
    let loss = [
        json!({"kind": "none"}),
        json!({"kind": "none"}),
        json!({"kind": "packet", "p": 0.01}),
        json!({"kind": "bit", "ber": 1e-6}),
        json!({"kind": "nth", "data_packets": [5, 6, 7, 30]}),
    ];
    let changes = [
        json!([]),
        json!([]),
        json!([{"at": "700ms", "rate": "900kbps"}, {"at": "1500ms", "delay": "2ms"}]),
        json!([{"at": "1s", "up": false}, {"at": "1700ms", "up": true}]),
    ];
    let rates = [json!("1Mbps"), json!("2Mbps"), json!("5Mbps"), json!("20Mbps"), json!("100Mbps")];
    let delays = [json!("1ms"), json!("2ms"), json!("5ms"), json!("5ms"), json!("17ms"), json!("0ms")];
    let app = [
        json!({"kind": "bulk"}),
        json!({"kind": "bulk"}),
        json!({"kind": "bulk", "bytes": "100kB"}),
        json!({"kind": "cbr", "rate": "200pps", "size": "512B"}),
        json!({"kind": "cbr", "rate": "1Mbps", "size": "700B", "on_full": "drop"}),
        json!({"kind": "cbr", "rate": "100pps", "size": "400B", "transport": "udp"}),
        json!({"kind": "on_off", "rate": "200pps", "size": "1000B"}),
        json!({"kind": "request_response", "request": "1kB", "response": "20kB", "think": "50ms"}),
    ];
    let cc =
        [json!("reno"), json!("newreno"), json!("cubic"), json!({"name": "cubic", "profile": "linux"}), json!("bbr")];
    let mut links = Vec::new();
    for node in 0..count {
        let mut chosen = vec![(node, (node + 1) % count)];
        if pick(&numbers(0..4)) == json!(0) {
            chosen.push((node, (node + count / 2) % count));
        }
        for (from, to) in chosen.into_iter().filter(|(from, to)| from != to) {
            links.push(json!({
                "from": format!("n{from}"), "to": format!("n{to}"), "rate": pick(&rates), "delay": pick(&delays),
                "queue": pick(&queue[..if seed.is_multiple_of(3) { 3 } else { 9 }]), "loss": pick(&loss),
                "changes": if seed % 4 == 3 { pick(&changes) } else { json!([]) },
            }));
        }
    }
    let mut flows = Vec::new();
    for _ in 0..pick(&numbers(3..12)).as_u64().unwrap() {
        let from = pick(&numbers(0..count)).as_u64().unwrap();
        let to = (from + pick(&numbers(1..count)).as_u64().unwrap()) % count;
        let start = pick(&numbers(0..900)).as_u64().unwrap();
        let mut flow = json!({"from": format!("n{from}"), "to": format!("n{to}"), "cc": pick(&cc),
            "app": pick(&app), "start": format!("{start}ms")});
        if flow["app"]["transport"] == json!("udp") {
            flow.as_object_mut().unwrap().remove("cc");
        }
        if start % 7 == 0 {
            flow["stop"] = json!("2s");
        }
        flows.push(flow);
    }
    json!({
        "duration": "3s", "warmup": if seed.is_multiple_of(2) { "0s" } else { "1100ms" },
        "network": {"kind": "graph"},
        "node": (0..count).map(|node| json!({"name": format!("n{node}")})).collect::<Vec<_>>(),
        "link": links, "flow": flows,
        "tcp": {"mss": "1000B", "timestamps": seed.is_multiple_of(2), "send_buffer": "64kB"},
    })
}

#[test]
fn random_networks() {
    let (mut divided, mut three) = (0, 0);
    for seed in 0..160 {
        match the_same_in_parts(&random_network(seed), seed) {
            Ok(parts) => (divided, three) = (divided + 1, three + u32::from(parts == 3)),
            Err(reason) => println!("{seed}: {reason}"),
        }
    }
    assert!(divided >= 120 && three >= 60, "only {divided} networks were divided, {three} into three parts");
}

#[test]
fn random_dumbbells() {
    let divided = (0..60).filter(|seed| the_same_in_parts(&world(*seed), *seed).is_ok()).count();
    assert!(divided >= 30, "{divided}");
}

/// Flows that come and go among the hosts of a fat tree, of a network of switches, over a dumbbell.
fn random_workload(seed: u64) -> Value {
    let mut rng = Rng::stream(seed, "workload");
    let mut below = |n: u64| rng.below(n);
    let queue = [
        json!("30p"),
        json!({"kind": "drop_tail", "limit": "60p", "mark_threshold": 20}),
        json!("8p"),
        json!({"kind": "codel"}),
    ][below(4) as usize]
        .clone();
    let link = json!({"rate": "100Mbps", "delay": format!("{}us", 20 + below(400)), "queue": queue});
    let (network, from, to) = match below(3) {
        0 => (json!({"kind": "fat_tree", "k": 4, "link": link}), "h*", "h*"),
        1 => (
            json!({"kind": "leaf_spine", "leaves": 3, "spines": 2, "hosts": 3, "host_link": link, "fabric": link}),
            "h*",
            "h*",
        ),
        _ => (
            json!({"kind": "dumbbell", "pairs": 6, "access": {"rate": "1Gbps", "delay": "1ms"},
                   "bottleneck": {"rate": "50Mbps", "delay": "5ms", "queue": link["queue"],
                                  "loss": {"kind": "packet", "p": 0.002 * below(3) as f64}}}),
            "left*",
            "right*",
        ),
    };
    let size = [
        json!({"kind": "constant", "bytes": "12kB"}),
        json!({"kind": "web_search"}),
        json!({"kind": "exponential", "mean": "40kB"}),
    ][below(3) as usize]
        .clone();
    let workload = json!({
        "name": "w", "from": [from], "to": [to], "size": size, "classes": ["10kB", "100kB"],
        "arrivals": {"kind": "poisson", "rate": format!("{}/s", 50 + below(400))},
    });
    json!({
        "duration": "1500ms", "warmup": if below(2) == 0 { "0s" } else { "300ms" }, "network": network,
        "tcp": {"cc": if below(2) == 0 { "dctcp" } else { "cubic" }, "rto_min": "10ms", "time_wait": format!("{}ms", below(3) * 20)},
        "workload": [workload],
    })
}

#[test]
fn flows_that_come_and_go() {
    let mut divided = 0;
    for seed in 0..40 {
        match the_same_in_parts(&random_workload(seed), seed) {
            Ok(_) => divided += 1,
            Err(reason) => println!("{seed}: {reason}"),
        }
    }
    assert!(divided >= 32, "only {divided} were divided");
}

#[test]
fn constellations() {
    let places = [
        (50.0, 10.0),
        (-33.0, 151.0),
        (40.0, -74.0),
        (1.0, 103.0),
        (-23.0, -46.0),
        (35.0, 139.0),
        (0.0, 37.0),
        (19.0, -99.0),
    ];
    let terminals: Vec<Value> = (places.iter().enumerate())
        .map(|(i, (latitude, longitude))| json!({"name": format!("t{i}"), "lat_deg": latitude, "lon_deg": longitude}))
        .collect();
    for (seed, own) in
        [json!({}), json!({"shared_downlink": false}), json!({"handover_requeue": true})].into_iter().enumerate()
    {
        let mut network =
            json!({"kind": "constellation", "preset": "iridium", "profile": "ns2", "terminals": terminals, "flows": 6});
        network.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
        let world = json!({
            "duration": "420s", "network": network, "tcp": {"profile": "ns2", "cc": "newreno", "mss": "1000B"},
            "traffic": {"app": {"kind": "bulk"}, "start": "1s"},
        });
        assert_eq!(the_same_in_parts(&world, seed as u64), Ok(3));
    }
}
