//! Vectors by hand on links, and links that change.

mod common;

use common::{events, run};
use serde_json::{Value, json};

/// A path of links, datagrams of `payload` bytes from one end to the other.
fn path(links: &[Value], payload: &str, rate: &str, duration: &str) -> Value {
    let nodes: Vec<Value> = (0..=links.len()).map(|i| json!({"name": format!("n{i}")})).collect();
    let links: Vec<Value> = links
        .iter()
        .enumerate()
        .map(|(i, link)| {
            let mut link = link.clone();
            link["from"] = json!(format!("n{i}"));
            link["to"] = json!(format!("n{}", i + 1));
            link
        })
        .collect();
    json!({
        "duration": duration,
        "network": {"kind": "graph"},
        "node": nodes,
        "flow": [{"from": "n0", "to": format!("n{}", links.len()),
                  "app": {"kind": "cbr", "rate": rate, "size": payload, "transport": "udp"}}],
        "link": links,
    })
}

/// Times of the records that begin with `what`.
fn times(scenario: &Value, what: &str) -> Vec<String> {
    let lines = events(scenario, 1);
    let matching = lines.iter().filter(|line| line.split_whitespace().nth(1) == Some(what));
    matching.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
}

#[test]
fn store_and_forward_over_the_gateway_star() {
    // 552 B of IP + 2 B of PPP: 2216 + 10 + 443.2 + 45000 us
    let hops = [
        json!({"rate": "2Mbps", "delay": "0.01ms", "overhead": "2B"}),
        json!({"rate": "10Mbps", "delay": "45ms", "overhead": "2B"}),
    ];
    assert_eq!(times(&path(&hops, "524B", "1pps", "1s"), "delivered"), ["0.047669200"]);
}

#[test]
fn back_to_back_packets_are_pipelined() {
    // 1000 B of IP every 0.5 ms at 8 Mb/s: the transmitter is the clock.
    let hop = [json!({"rate": "8Mbps", "delay": "10ms"})];
    let arrivals = times(&path(&hop, "972B", "2000pps", "12.9ms"), "delivered");
    assert_eq!(arrivals, ["0.011000000", "0.012000000"]);
}

#[test]
fn a_link_that_goes_down_loses_what_it_carries() {
    // One packet of 1 ms starts at 4.5 ms, the link breaks at 5 ms; another ended at 4.9 ms and is still on its way.
    let broken = |first: &str| {
        let hop = [json!({"rate": "8Mbps", "delay": "10ms", "changes": [{"at": "5ms", "up": false}]})];
        let mut scenario = path(&hop, "972B", "1pps", "0.5s");
        scenario["flow"][0]["start"] = json!(first);
        run(&scenario, 1)
    };
    for start in ["4.5ms", "3.9ms"] {
        let summary = broken(start);
        assert_eq!((summary.links[0].drops.link_down, summary.conservation.dropped), (1, 1), "{start}");
    }
}

#[test]
fn routes_follow_a_link_that_breaks_and_comes_back() {
    // n0 - n1 - n3 by default, n0 - n2 - n3 while n1 - n3 is down.
    let link = |from: &str, to: &str, changes: Value| json!({"from": from, "to": to, "rate": "8Mbps", "delay": "1ms", "changes": changes});
    let scenario = json!({
        "duration": "3s",
        "network": {"kind": "graph"},
        "node": [{"name": "n0"}, {"name": "n1"}, {"name": "n2"}, {"name": "n3"}],
        "link": [link("n0", "n1", json!([])), link("n1", "n3", json!([{"at": "1s", "up": false}, {"at": "2s", "up": true}])),
                 link("n0", "n2", json!([])), link("n2", "n3", json!([]))],
        "flow": [{"from": "n0", "to": "n3", "app": {"kind": "cbr", "rate": "100pps", "size": "100B", "transport": "udp"}}],
    });
    let summary = run(&scenario, 1);
    let forwarded = |name: &str| summary.nodes.iter().find(|n| n.node == name).unwrap().forwarded_packets;
    // The packet of the very instant of a change travels before it; the packet inside n1's queue at 1 s is rerouted.
    assert!((199..=201).contains(&forwarded("n1")) && (99..=101).contains(&forwarded("n2")), "{:?}", summary.nodes);
    assert!(summary.network.measures.received_packets >= 298);
}

#[test]
fn a_new_rate_and_delay_act_on_the_next_transmission_in_order() {
    let hop =
        [json!({"rate": "8Mbps", "delay": "10ms", "changes": [{"at": "0.5ms", "rate": "80Mbps", "delay": "1ms"}]})];
    let arrivals = times(&path(&hop, "972B", "2000pps", "12ms"), "delivered");
    // The first is under way at the old rate; the second would overtake it and is kept in order.
    assert_eq!(arrivals[..2], ["0.011000000", "0.011000000"]);
}

#[test]
fn scripted_losses_hit_the_numbered_data_packets() {
    let hop = [json!({"rate": "8Mbps", "delay": "1ms", "loss": {"kind": "nth", "data_packets": [3, 0, 4]}})];
    let summary = run(&path(&hop, "100B", "10pps", "0.99s"), 1);
    assert_eq!(summary.flows[0].measures.drops.loss, 3);
    assert_eq!(summary.flows[0].measures.received_packets, 7);
}

#[test]
fn queues_drop_beyond_their_limit_in_packets_and_in_bytes() {
    // 10 packets of 1 ms at once (10 ms apart at 1 us): one in transmission, `limit` waiting.
    for (limit, dropped) in [("4p", 5), ("4000B", 5), ("4999B", 5), ("unlimited", 0)] {
        let hop = [json!({"rate": "8Mbps", "delay": "1ms", "queue": {"kind": "drop_tail", "limit": limit}})];
        let summary = run(&path(&hop, "972B", "1000000pps", "9.5us"), 1);
        assert_eq!(summary.links[0].drops.queue, dropped, "{limit}");
    }
}
