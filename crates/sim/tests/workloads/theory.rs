//! Workloads against queueing theory.

use serde_json::{Value, json};

use super::common::run;
use super::merged;

/// A link that every flow reaches at once, without slow start: what queueing theory has closed forms for.
fn oracle(queue: Value, load: f64, flows: u64, size: Value) -> Value {
    let arrivals = json!({"kind": "poisson", "load": load, "link": ["r0", "r1"], "load_of": "packets"});
    let access = json!({"rate": "100Gbps", "delay": "0s", "queue": "unlimited"});
    json!({
        "duration": "100000s",
        "network": {"kind": "dumbbell", "pairs": 1, "access": access,
                    "bottleneck": {"rate": "1Gbps", "delay": "0s", "queue": queue}},
        "tcp": {"cc": "newreno", "initial_window": "100MB", "recv_buffer": "1GB", "handshake": false},
        "record": {"flows": "none"},
        "workload": [{"name": "web", "from": ["left0"], "to": ["right0"], "arrivals": arrivals, "size": size, "count": flows}],
    })
}

/// Mean slowdown, and mean wait: completion less ideal, in seconds.
fn run_oracle(world: &Value, seed: u64) -> (f64, f64) {
    let mut world = world.clone();
    let rate = run(&merged(world.clone(), json!({"duration": "1us"})), seed).workloads[0].arrival_rate_per_s.unwrap();
    let flows = world["workload"][0]["count"].as_f64().unwrap();
    world["duration"] = json!(format!("{}s", 2.0 * flows / rate));
    let summary = run(&world, seed);
    let all = &summary.workloads[0].all;
    assert_eq!((all.finished, all.unfinished), (flows as u64, 0));
    let mean_ideal = 8.0 * all.bytes as f64 * 1500.0 / 1460.0 / 1e9 / flows;
    (all.slowdown.unwrap(), all.fct_s.unwrap() - mean_ideal)
}

/// Row W1: mean slowdown of M/G/1 processor sharing is 1/(1 - load) for every size.
#[test]
fn fair_queueing_is_processor_sharing() {
    let drr = json!({"kind": "drr", "limit": "unlimited"});
    let size = json!({"kind": "exponential", "mean": "146000B"});
    let (slowdown, _) = run_oracle(&oracle(drr, 0.5, 10_000, size), 1);
    // DRR of packets gives 1.98; the standard error of 10,000 flows is about 2 %.
    assert!((slowdown / 1.98 - 1.0).abs() < 0.08, "{slowdown}");
}

/// Row W2: each flow waits for those before it (Lindley 1952); the mean of that over all flows is Pollaczek and Khinchine's, from
/// which that of 20,000 flows of a web search differs by 7 % (one standard deviation).
#[test]
fn a_fifo_of_whole_flows_makes_each_wait_for_those_before_it() {
    let fifo = json!({"kind": "drop_tail", "limit": "unlimited"});
    let mut world = oracle(fifo, 0.6, 1_000, json!({"kind": "web_search"}));
    (world["duration"], world["record"]) = (json!("60s"), json!({"flows": "all"}));
    let summary = run(&world, 2);
    let (mut wait, mut busy_until, mut worst) = (0.0, 0.0_f64, 0.0_f64);
    for flow in &summary.flows {
        let own = flow.transfer.as_ref().unwrap();
        // Payload and 40 bytes of headers for each segment, in seconds at 1 Gb/s.
        let service = 8e-9 * (own.size_bytes + 40 * own.size_bytes.div_ceil(1460)) as f64;
        let waits = (busy_until - flow.start_s).max(0.0);
        busy_until = flow.start_s + waits + service;
        wait += waits;
        // Up to what the largest flow, 30 MB, takes of the first hop: 2.4 ms.
        worst = worst.max((own.fct_s.unwrap() - waits - service).abs());
    }
    assert_eq!((summary.workloads[0].all.finished, summary.flows.len()), (1000, 1000));
    assert!(wait > 1000.0 * 0.01 && worst < 2.5e-3, "{wait} {worst}");
}
