//! Golden table of networks: some algorithms over every kind of network, with radio and satellites, with the fingerprint of
//! every packet event. `golden.rs` has all algorithms over wires. The same file is compared in debug and release, on every
//! machine that runs the tests.
//!
//! `GOLDEN_UPDATE=1` rewrites the file; the commit says why.

mod common;

use std::fmt::Write as _;
use std::path::PathBuf;

use common::{fingerprint, golden_run};
use serde_json::{Value, json};

const ALGORITHMS: [&str; 4] = ["newreno", "cubic", "vegas", "bbr"];

fn networks() -> Vec<(&'static str, Value, &'static str)> {
    let ad_hoc = |routing: Value| {
        json!({"kind": "adhoc", "nodes": 16, "flows": 3, "area": {"x": "500m", "y": "500m"},
               "mobility": {"kind": "random_waypoint"}, "routing": routing})
    };
    let red = json!({"kind": "red", "limit": "40p"});
    vec![
        ("dumbbell", json!({"kind": "dumbbell", "pairs": 3, "flows": 3, "bottleneck": {"queue": red}}), "5s"),
        ("star", json!({"kind": "star", "nodes": 10, "flows": 5}), "5s"),
        ("lan", json!({"kind": "lan", "routers": 2, "switches_per_router": 2, "pcs_per_switch": 3, "flows": 6}), "1s"),
        ("random_wired", json!({"kind": "random_wired", "nodes": 12, "degree": 3.0, "flows": 6}), "5s"),
        ("adhoc_shortest", ad_hoc(json!({"kind": "shortest"})), "5s"),
        ("adhoc_aodv", ad_hoc(json!({"kind": "aodv"})), "5s"),
        ("adhoc_dsdv", ad_hoc(json!({"kind": "dsdv"})), "25s"),
        ("infrastructure", json!({"kind": "infrastructure", "stations_per_cell": 4, "flows": 4}), "3s"),
        (
            "constellation",
            json!({"kind": "constellation", "preset": "iridium", "terminals": ["London", "Boston", "Tokyo", "Berkeley"],
                   "flows": 2}),
            "10s",
        ),
    ]
}

fn table() -> String {
    let mut text = String::from("network algorithm delivered_bytes sent dropped events fingerprint\n");
    for (name, network, duration) in networks() {
        for cc in ALGORITHMS {
            let scenario = json!({"duration": duration, "network": network, "tcp": {"cc": cc}});
            let (all, print) = (golden_run(&scenario), fingerprint(&scenario, 1));
            let (m, events) = (&all.network.measures, all.events);
            let (bytes, sent, dropped) = (m.delivered_bytes, m.sent_packets, m.dropped_packets);
            writeln!(text, "{name} {cc} {bytes} {sent} {dropped} {events} {print}").unwrap();
        }
    }
    text
}

#[test]
fn golden_networks() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots/golden_networks.txt");
    let now = table();
    if std::env::var_os("GOLDEN_UPDATE").is_some() {
        std::fs::write(&path, &now).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    for (was, is) in stored.lines().zip(now.lines()) {
        assert_eq!(was, is, "the golden table changed; if that is meant, run `make golden` and say why in the commit");
    }
    assert_eq!(stored.lines().count(), now.lines().count(), "rows were added or removed; run `make golden`");
}
