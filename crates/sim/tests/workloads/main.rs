//! Workloads: flows that come and go.

mod applications;
#[path = "../common/mod.rs"]
mod common;
mod flows;
mod refusals;
mod theory;

use serde_json::{Value, json};

/// A dumbbell with one workload from left to right.
fn world(bottleneck: Value, duration: &str, workload: Value) -> Value {
    let mut own = json!({"name": "web", "from": ["left*"], "to": ["right*"]});
    own.as_object_mut().unwrap().extend(workload.as_object().unwrap().clone());
    json!({
        "duration": duration,
        "network": {"kind": "dumbbell", "pairs": 4, "access": {"rate": "1Gbps", "delay": "1ms", "queue": "unlimited"},
                    "bottleneck": bottleneck},
        "tcp": {"cc": "cubic"},
        "workload": [own],
    })
}

fn merged(mut value: Value, more: Value) -> Value {
    value.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    value
}

fn short(arrivals: Value) -> Value {
    world(
        json!({"rate": "10Mbps", "delay": "18ms", "queue": "100p"}),
        "20s",
        json!({"arrivals": arrivals, "size": {"kind": "exponential", "mean": "20kB"}}),
    )
}
