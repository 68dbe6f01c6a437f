//! Prague's test for queues that mark as RFC 3168 has it.

use serde_json::{Value, json};
use sim::Simulation;

use crate::common::{run, scenario};

/// Prague and CUBIC with classic ECN over 40 Mb/s and 20 ms.
fn world(queue: &Value, fallback: bool) -> Value {
    json!({
        "duration": "90s", "warmup": "30s",
        "network": {"kind": "dumbbell", "pairs": 2, "access": {"rate": "1Gbps", "delay": "1ms"},
                    "bottleneck": {"rate": "40Mbps", "delay": "8ms", "queue": queue}},
        "tcp": {"profile": "linux"},
        "flow": [{"from": "left0", "to": "right0", "cc": {"name": "prague", "fallback": fallback}},
                 {"from": "left1", "to": "right1", "cc": "cubic", "tcp": {"ecn": "classic"}}],
    })
}

fn goodputs(queue: &Value, fallback: bool) -> Vec<f64> {
    run(&world(queue, fallback), 1).flows.iter().map(|flow| flow.measures.goodput_bps).collect()
}

/// CoDel marks both alike: Prague, which expects many marks, leaves CUBIC next to nothing unless it falls back.
#[test]
fn the_fallback_leaves_cubic_its_share_of_a_queue_that_marks_classically() {
    let codel = json!({"kind": "codel", "ecn": true});
    let share = |fallback| {
        let both = goodputs(&codel, fallback);
        both[0] / (both[0] + both[1])
    };
    let (without, with) = (share(false), share(true));
    assert!(without >= 0.85, "{without}");
    assert!(with <= 0.65, "{with}");
}

/// Behind a queue of L4S nothing is mistaken for a classic one.
#[test]
fn the_fallback_changes_nothing_behind_dualpi2() {
    let dualpi2 = json!({"kind": "dualpi2"});
    let (without, with) = (goodputs(&dualpi2, false), goodputs(&dualpi2, true));
    assert!((with[0] / without[0] - 1.0).abs() <= 0.02, "{with:?} {without:?}");
    let mut world = world(&dualpi2, true);
    world["record"] = json!({"internals": ["classic_ecn"], "every": "20ms"});
    let series = Simulation::new(&scenario(&world), 1).unwrap().run().series.remove(0).1;
    // A value at each change: it is 0 from the start, and never leaves that for long.
    let classic: f64 =
        series.t_s.windows(2).zip(&series.value).filter(|(_, v)| **v > 0.0).map(|(t, _)| t[1] - t[0]).sum();
    assert!(classic <= 0.05 * 90.0, "{classic} s");
}
