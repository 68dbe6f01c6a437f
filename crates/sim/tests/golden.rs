//! Golden table: every algorithm and profile over standard scenarios, with the fingerprint of every packet event.
//! The same file is compared in debug and release, so it also proves that the two give the same bits.
//!
//! `GOLDEN_UPDATE=1` rewrites the file; the commit says why.

mod common;

use std::fmt::Write as _;
use std::path::PathBuf;

use common::{fingerprint, golden_run, one_flow};
use serde_json::{Value, json};
use tcp::cc::ALGORITHMS;

/// Standard scenarios: a full queue, random loss, scripted losses, competing flows with application limits.
fn scenarios(cc: &Value) -> Vec<(&'static str, Value)> {
    let options = json!({"cc": cc});
    let mut random = one_flow("20Mbps", 20, "100p", "20s", options.clone());
    random["network"]["bottleneck"]["loss"] = json!({"kind": "packet", "p": 0.002});
    let mut scripted = one_flow("20Mbps", 25, "2000p", "8s", options.clone());
    scripted["network"]["bottleneck"]["loss"] = json!({"kind": "nth", "data_packets": [300, 303, 310]});
    let star = json!({
        "duration": "10s", "tcp": {"cc": cc, "mss": "512B"},
        "network": {"kind": "star", "nodes": 8, "flows": 6, "sink": {"loss": {"kind": "packet", "p": 1e-3}}},
        "traffic": {"app": {"kind": "cbr", "rate": "300pps", "size": "512B"}},
    });
    vec![
        ("queue", one_flow("10Mbps", 20, "33p", "20s", options)),
        ("random", random),
        ("scripted", scripted),
        ("star", star),
    ]
}

fn table() -> String {
    let mut text =
        String::from("algorithm profile scenario goodput_bps sent retransmitted timeouts recoveries fingerprint\n");
    for algorithm in ALGORITHMS {
        for profile in algorithm.profiles {
            let cc = json!({"name": algorithm.name, "profile": profile.name});
            for (name, scenario) in scenarios(&cc) {
                let (all, print) = (golden_run(&scenario).network, fingerprint(&scenario, 1));
                let m = &all.measures;
                writeln!(
                    text,
                    "{} {} {name} {:.0} {} {} {} {} {print}",
                    algorithm.name,
                    profile.name,
                    m.goodput_bps,
                    m.sent_packets,
                    m.retransmitted_packets.unwrap(),
                    all.rto_count,
                    all.recovery_count
                )
                .unwrap();
            }
        }
    }
    text
}

#[test]
fn golden() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots/golden.txt");
    let now = table();
    if std::env::var_os("GOLDEN_UPDATE").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &now).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    for (was, is) in stored.lines().zip(now.lines()) {
        assert_eq!(was, is, "the golden table changed; if that is meant, run `make golden` and say why in the commit");
    }
    assert_eq!(stored.lines().count(), now.lines().count(), "rows were added or removed; run `make golden`");
}
