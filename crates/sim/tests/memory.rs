//! The memory that a limit counts is the memory that a run takes, within 15 %.
#![cfg(target_os = "linux")]

use std::io::{Write, read_to_string};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use sim::{Scenario, Simulation, world_bytes};

/// Set for the process that measures.
const MEASURE: &str = "TONOPAH_MEASURE_STDIN";

/// Peak of the resident set of this process without the pages of its program: how many of those are mapped along with one depends
/// on what else the machine does.
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let bytes = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
    };
    bytes("VmHWM:") - bytes("RssFile:")
}

/// Runs the world of standard input from its text to the text of its summary; prints what was counted and what it took.
#[test]
fn measure() {
    if std::env::var_os(MEASURE).is_none() {
        return;
    }
    let text = read_to_string(std::io::stdin()).unwrap();
    // The program's own pages, some 5 MB, are there from the first run on.
    let small = json!({"duration": "50ms", "network": {"kind": "fat_tree", "k": 4, "flows": 4}});
    let small = Scenario::from_json(&small.to_string()).unwrap();
    serde_json::to_string(&Simulation::new(&small, 1).unwrap().run().summary).unwrap();
    let before = peak_bytes();
    let scenario = Scenario::from_json(&text).unwrap();
    let world = world_bytes(&scenario, 1).unwrap();
    let mut run = Simulation::new(&scenario, 1).unwrap();
    let mut held = run.held_bytes();
    while !run.advance(1 << 14) {
        held = held.max(run.held_bytes());
    }
    let summary = serde_json::to_string(&run.finish().summary).unwrap();
    assert!(!summary.is_empty());
    println!("measured {} {}", world + held, peak_bytes() - before);
}

/// What the limit counts for a world and what the world takes, measured in a process of its own.
fn counted_and_taken(world: &Value) -> (f64, f64) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "measure", "--nocapture"]).env(MEASURE, "1").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut process = command.spawn().unwrap();
    process.stdin.take().unwrap().write_all(world.to_string().as_bytes()).unwrap();
    let text = String::from_utf8(process.wait_with_output().unwrap().stdout).unwrap();
    let line = text.lines().find_map(|line| line.split_once("measured ")).expect("the other process measured").1;
    let mut numbers = line.split_whitespace().map(|number| number.parse::<f64>().unwrap());
    (numbers.next().unwrap(), numbers.next().unwrap())
}

#[test]
fn what_a_limit_counts_is_what_a_run_takes() {
    let dumbbell = |pairs: u32| {
        json!({"kind": "dumbbell", "pairs": pairs, "flows": 30_000,
               "bottleneck": {"rate": "1Gbps", "delay": "10ms", "queue": "1000p"}})
    };
    let flow = json!({"from": "left0", "to": "right0"});
    let adhoc = |nodes: u32, side: &str| json!({"kind": "adhoc", "nodes": nodes, "flows": 10, "connected_pairs": false, "area": {"x": side, "y": side}});
    let worlds = [
        json!({"duration": "50ms", "network": dumbbell(15_000)}),
        json!({"duration": "50ms", "network": dumbbell(1)}),
        json!({"duration": "50ms", "network": {"kind": "dumbbell", "pairs": 1}, "flow": vec![flow; 15_000]}),
        json!({"duration": "50ms", "network": {"kind": "star", "nodes": 40_000, "flows": 10}}),
        json!({"duration": "200ms", "network": {"kind": "star", "nodes": 30_000, "flows": 30_000}}),
        json!({"duration": "50ms", "network": {"kind": "random_wired", "nodes": 2_000, "flows": 1_000}}),
        json!({"duration": "50ms", "network": {"kind": "random_wired", "nodes": 2_000, "flows": 1_000, "routing": {"kind": "ecmp"}}}),
        json!({"duration": "10ms", "network": {"kind": "fat_tree", "k": 16, "flows": 10}}),
        json!({"duration": "10ms", "network": {"kind": "leaf_spine", "leaves": 160, "spines": 8, "hosts": 32, "flows": 10}}),
        json!({"duration": "50ms", "network": adhoc(1_400, "100m")}),
        json!({"duration": "50ms", "network": adhoc(9_000, "60000m")}),
    ];
    for world in worlds {
        let (counted, taken) = counted_and_taken(&world);
        let ratio = counted / taken;
        assert!((0.85..1.15).contains(&ratio), "{counted} bytes counted, {taken} taken: {:.100}", world.to_string());
    }
}
