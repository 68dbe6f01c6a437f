//! Random worlds for what holds in every one.

use serde_json::{Value, json};
use tcp::rng::Rng;

/// A random small world: losses of every model, breaking links, every algorithm and application.
pub(crate) fn world(seed: u64) -> Value {
    let mut rng = Rng::stream(seed, "world");
    let mut pick = |from: &[Value]| from[rng.below(from.len() as u64) as usize].clone();
    let loss = [
        json!({"kind": "none"}),
        json!({"kind": "packet", "p": 0.02}),
        json!({"kind": "bit", "ber": 1e-6}),
        json!({"kind": "gilbert_elliott", "good_to_bad": 0.01, "bad_to_good": 0.3, "loss_bad": 0.7}),
        json!({"kind": "nth", "data_packets": [5, 6, 7, 30]}),
    ];
    let queue = [
        json!("5p"),
        json!({"kind": "drop_tail", "limit": "30kB", "mark_threshold": 3}),
        json!({"kind": "red", "limit": "20p", "ecn": true}),
        json!({"kind": "codel", "ecn": true}),
        json!({"kind": "fq_codel", "limit": "10p", "queues": 4}),
        json!({"kind": "pie", "ecn": true, "derandomise": true}),
        json!({"kind": "fq_pie", "limit": "10p", "flows": 4, "ecn": true, "profile": "linux"}),
        json!({"kind": "choke", "limit": "20p", "min_threshold": 3, "max_threshold": 9, "weight": 0.1, "ecn": true}),
        json!({"kind": "tbf", "rate": "1Mbps", "burst": "4kB", "queue": {"kind": "cobalt", "limit": "20p"}}),
        json!({"kind": "drr", "limit": "15kB", "by": "source", "drop": "longest_head"}),
        json!({"kind": "cake", "rate": "700kbps", "memory": "30kB", "ack_filter": "on", "ingress": true}),
        json!({"kind": "sfq", "limit": "20p", "depth": 8, "queues": 3, "perturb": "700ms"}),
        json!({"kind": "fq", "flow_rate": "900kbps", "flow_limit": 20, "ce_threshold": "5ms"}),
        json!({"kind": "tbf", "rate": "1Mbps", "burst": "4kB", "peak": "1500kbps", "peak_burst": "1400B",
               "queue": {"kind": "codel", "limit": "20p", "ecn": true}}),
        json!({"kind": "policer", "rate": "1500kbps", "burst": "6kB", "action": "mark", "queue": "20p"}),
        json!({"kind": "priority", "by": "flow", "bands": [
            {"kind": "tbf", "rate": "400kbps", "burst": "3kB", "queue": {"kind": "fq_codel", "limit": "10p"}}, "10p"]}),
    ];
    let changes = [
        json!([]),
        json!([{"at": "2s", "up": false}, {"at": "4s", "up": true}]),
        json!([{"at": "1s", "rate": "500kbps", "delay": "40ms"}, {"at": "3s", "delay": "1ms"}]),
    ];
    let cc =
        [json!("tahoe"), json!("reno"), json!("newreno"), json!("cubic"), json!({"name": "cubic", "profile": "linux"})];
    let app = [
        json!({"kind": "bulk"}),
        json!({"kind": "bulk", "bytes": "200kB"}),
        json!({"kind": "cbr", "rate": "300pps", "size": "512B"}),
        json!({"kind": "cbr", "rate": "1Mbps", "size": "700B", "on_full": "drop"}),
        json!({"kind": "cbr", "rate": "100pps", "size": "400B", "transport": "udp"}),
        json!({"kind": "on_off", "rate": "200pps", "size": "1000B"}),
    ];
    let flows: Vec<Value> = (0..3)
        .map(|i| {
            json!({"from": format!("left{i}"), "to": format!("right{i}"), "cc": pick(&cc), "app": pick(&app),
                        "priority": i})
        })
        .collect();
    json!({
        "duration": "8s",
        "network": {
            "kind": "dumbbell", "pairs": 3,
            "access": {"rate": "10Mbps", "delay": "1ms"},
            "bottleneck": {"rate": "2Mbps", "delay": "10ms", "queue": pick(&queue), "loss": pick(&loss),
                           "changes": pick(&changes), "reverse": {"loss": pick(&loss)}},
        },
        "tcp": {"mss": "1000B", "send_buffer": "64kB", "rto_min": "200ms"},
        "flow": flows,
    })
}
