//! Networks of radios against tables and reference runs.

#[path = "../common/mod.rs"]
mod common;

use common::run;
use serde_json::{Value, json};

/// Stations in a row, 802.11 as ns-2 has it at 2 Mb/s with 1 Mb/s for control (networks.md §6.11).
fn chain(hops: usize, rts: &str, app: Value) -> Value {
    let positions: Vec<[f64; 2]> = (0..=hops).map(|i| [200.0 * i as f64, 0.0]).collect();
    json!({
        "duration": "60s", "warmup": "5s",
        "network": {
            "kind": "adhoc", "nodes": hops + 1, "flows": 0, "area": {"x": "2000m", "y": "1m"},
            "placement": {"kind": "list", "positions": positions},
            "radio": {"profile": "ns2", "data_rate": "2Mbps", "basic_rate": "1Mbps", "rts_threshold": rts},
        },
        "tcp": {"profile": "ns2", "mss": "1460B", "recv_buffer": "93440B"},
        "flow": [{"from": "n0", "to": format!("n{hops}"), "app": app}],
    })
}

#[test]
fn chains() {
    let udp = |rate: &str| json!({"kind": "cbr", "rate": rate, "size": "1472B", "transport": "udp"});
    for hops in 1..=8 {
        for rts in ["0B", "3000B"] {
            let goodput = |app: Value| run(&chain(hops, rts, app), 1).network.measures.goodput_bps / 1e6;
            println!("{hops} {rts} {:.3} {:.3} {:.3}", goodput(udp("400kbps")), goodput(udp("2Mbps")), goodput(json!({"kind": "bulk"})));
        }
    }
}
