//! Constellations against a separate calculation and against ns-2 (docs/satellite.md has the numbers).

#[path = "../common/mod.rs"]
mod common;
mod days;
mod placed;
mod shared;
mod together;
mod worlds;

use serde_json::{Value, json};

/// ns-2's example between two terminals; checks come without chance, so that a number is a number.
fn iridium(terminals: &[&str], changes: Value) -> Value {
    let mut network = json!({
        "kind": "constellation", "preset": "iridium", "profile": "ns2", "handover_jitter": "0s", "terminals": terminals,
    });
    for (key, value) in changes.as_object().unwrap() {
        network[key] = value.clone();
    }
    json!({
        "duration": "100s",
        "network": network,
        "tcp": {"profile": "ns2", "cc": "newreno"},
        "flow": [{"from": terminals[0], "to": terminals[1]}],
    })
}
