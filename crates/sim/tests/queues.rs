//! What the queue disciplines are for: standing queues, fairness, and counts that are right.

mod common;

use common::run;
use serde_json::{Value, json};
use sim::Summary;

/// Dumbbell, 10 Mb/s; one pair for each delay of an access link in milliseconds, there and back once more.
fn dumbbell(queue: Value, delays_ms: &[u64], flows: Value) -> Value {
    let mut nodes = vec![json!({"name": "r0"}), json!({"name": "r1"})];
    let mut links = vec![json!({"from": "r0", "to": "r1", "rate": "10Mbps", "delay": "10ms", "queue": queue})];
    for (i, delay) in delays_ms.iter().enumerate() {
        let (left, right) = (format!("left{i}"), format!("right{i}"));
        links
            .push(json!({"from": left, "to": "r0", "rate": "1Gbps", "delay": format!("{delay}ms"), "queue": "10000p"}));
        links.push(json!({"from": "r1", "to": right, "rate": "1Gbps", "delay": "0ms", "queue": "10000p"}));
        nodes.push(json!({"name": left}));
        nodes.push(json!({"name": right}));
    }
    json!({
        "duration": "100s", "warmup": "20s", "network": {"kind": "graph"},
        "node": nodes, "link": links, "flow": flows, "tcp": {"cc": "newreno"},
    })
}

fn long_flow(queue: Value) -> Summary {
    let summary = run(&dumbbell(queue, &[10], json!([{"from": "left0", "to": "right0"}])), 1);
    let link = &summary.links[0];
    eprintln!(
        "wait {:.2} ms, mean queue {:.2} p, goodput {:.3} Mb/s, drops {:?}",
        1e3 * link.queue_mean_s.unwrap(),
        link.queue_mean_packets,
        summary.flows[0].measures.goodput_bps / 1e6,
        link.drops
    );
    summary
}

#[test]
fn probe() {
    for queue in [
        json!("1000p"),
        json!({"kind": "codel"}),
        json!({"kind": "fq_codel"}),
        json!({"kind": "pie"}),
        json!({"kind": "pie", "derandomise": true}),
        json!({"kind": "pie", "estimator": "departure_rate"}),
        json!({"kind": "red"}),
        json!({"kind": "red", "adaptive": true}),
        json!({"kind": "red", "profile": "ns2"}),
        json!({"kind": "red", "profile": "ns3"}),
    ] {
        eprint!("{queue}: ");
        long_flow(queue);
    }
}
