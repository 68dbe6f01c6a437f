//! Routing protocols over radio: how soon routes are there, and what comes of them.

use serde_json::{Value, json};

use crate::common::{events, run};

/// Four small datagrams per second from the first station of a row to the last, as in the reference runs of DSDV.
fn start_up(hops: usize, routing: Value) -> Value {
    let positions: Vec<[f64; 2]> = (0..=hops).map(|i| [200.0 * i as f64, 0.0]).collect();
    json!({
        "duration": "200s",
        "network": {
            "kind": "adhoc", "nodes": hops + 1, "flows": 0, "area": {"x": "2000m", "y": "1m"},
            "placement": {"kind": "list", "positions": positions},
            "radio": {"profile": "ns2", "data_rate": "2Mbps", "basic_rate": "1Mbps"},
            "routing": routing,
        },
        "flow": [{
            "from": "n0", "to": format!("n{hops}"),
            "app": {"kind": "cbr", "rate": "1152bps", "size": "36B", "transport": "udp"},
        }],
    })
}

/// Seconds until something first arrives.
fn first_delivery(scenario: &Value, seed: u64) -> f64 {
    let log = events(scenario, seed);
    let line = log.iter().find(|line| line.contains(" deliver"));
    line.map_or(f64::INFINITY, |line| line.split(' ').next().unwrap().parse().unwrap())
}

#[test]
fn probe() {
    for hops in [1, 2, 3, 4, 5, 6, 8] {
        let mut times: Vec<f64> = (1..=10).map(|seed| first_delivery(&start_up(hops, json!({"kind": "dsdv"})), seed)).collect();
        times.sort_by(f64::total_cmp);
        println!("{hops}: {times:.1?}");
    }
    let log = events(&start_up(2, json!({"kind": "dsdv"})), 1);
    println!("{:?}", &log[..3]);
    println!("{:?}", run(&start_up(5, json!({"kind": "dsdv"})), 1).channels);
}
