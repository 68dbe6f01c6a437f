//! What the integration tests share: scenarios from TOML-like JSON, and runs.
#![allow(dead_code, reason = "each test file uses its own part")]

pub(crate) mod worlds;

use std::fs::OpenOptions;
use std::io::Write as _;

use serde_json::{Value, json};
use sim::{HashLog, Scenario, Simulation, Summary, TextLog};

pub(crate) fn scenario(value: &Value) -> Scenario {
    Scenario::from_json(&value.to_string()).unwrap_or_else(|e| panic!("{e}"))
}

pub(crate) fn run(value: &Value, seed: u64) -> Summary {
    Simulation::new(&scenario(value), seed).unwrap_or_else(|e| panic!("{e}")).run().summary
}

/// The results of a golden run; with TONOPAH_GOLDEN_RUNS, a file, they are added to it with the scenario: what the engine of the page
/// is held against (python/tests/test_page.py).
pub(crate) fn golden_run(value: &Value) -> Summary {
    let summary = run(value, 1);
    if let Some(path) = std::env::var_os("TONOPAH_GOLDEN_RUNS") {
        let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
        let text = serde_json::to_string(&summary).unwrap();
        writeln!(file, "{}", json!({"scenario": value, "summary": text})).unwrap();
    }
    summary
}

/// Fingerprint of every packet event.
pub(crate) fn fingerprint(value: &Value, seed: u64) -> String {
    let simulation = Simulation::with_sink(&scenario(value), seed, Box::<HashLog>::default()).unwrap();
    simulation.run().trace.unwrap()
}

/// Every packet event as text.
pub(crate) fn events(value: &Value, seed: u64) -> Vec<String> {
    let simulation = Simulation::with_sink(&scenario(value), seed, Box::<TextLog>::default()).unwrap();
    simulation.run().trace.unwrap().lines().map(str::to_owned).collect()
}

/// Why a scenario is refused.
pub(crate) fn refusal(value: &Value) -> String {
    let error = match Scenario::from_json(&value.to_string()) {
        Ok(scenario) => Simulation::new(&scenario, 1).err(),
        Err(error) => Some(error),
    };
    error.map(|e| e.to_string()).unwrap_or_else(|| panic!("accepted: {value}"))
}

/// A dumbbell of one pair with one flow: bottleneck rate, one-way delay of the whole path, queue limit, TCP options.
pub(crate) fn one_flow(rate: &str, delay_ms: u64, queue: &str, duration: &str, tcp: Value) -> Value {
    json!({
        "duration": duration,
        "network": {
            "kind": "dumbbell", "pairs": 1,
            "access": {"rate": "10Gbps", "delay": "0ms", "queue": {"kind": "drop_tail", "limit": "unlimited"}},
            "bottleneck": {"rate": rate, "delay": format!("{delay_ms}ms"), "queue": {"kind": "drop_tail", "limit": queue}},
        },
        "tcp": tcp,
        "flow": [{"from": "left0", "to": "right0"}],
    })
}
