//! Windows that are not used (`tcp.cwnd_validation`), windows that may not grow (`tcp.cwnd_clamp`), and windows after marks
//! that cost less than losses (ABE).

use serde_json::json;
use sim::Simulation;

use crate::common::{fingerprint, one_flow, run, scenario};

/// An application writes 2.5 Mb/s, and the line falls from 50 to 2 Mb/s at 10 s. The largest window before that, in bytes.
fn largest_window(cc: &str, validation: &str) -> f64 {
    let world = json!({
        "duration": "12s",
        "network": {"kind": "dumbbell", "pairs": 1, "access": {"rate": "1Gbps", "delay": "1ms"},
                    "bottleneck": {"rate": "50Mbps", "delay": "18ms", "queue": "100p", "changes": [{"at": "10s", "rate": "2Mbps"}]}},
        "tcp": {"profile": "linux", "cc": cc, "cwnd_validation": validation},
        "flow": [{"from": "left0", "to": "right0", "app": {"kind": "cbr", "rate": "2.5Mbps", "size": "1448B"}}],
        "record": {"series": ["cwnd"], "every": "100ms"},
    });
    let cwnd = Simulation::new(&scenario(&world), 1).unwrap().run().series.remove(0).1;
    cwnd.t_s.iter().zip(&cwnd.value).filter(|(t, _)| **t < 10.0).map(|(_, bytes)| *bytes).fold(0.0, f64::max)
}

/// 2.5 Mb/s over 38 ms are 12 kB: twice the initial window and no more, unless nothing holds the window.
#[test]
fn a_window_that_is_not_used_does_not_grow_for_ever() {
    for cc in ["reno", "cubic"] {
        for validation in ["linux", "ratelimited", "rfc7661"] {
            let largest = largest_window(cc, validation);
            assert!(largest <= 60e3, "{cc} {validation}: {largest}");
        }
        let largest = largest_window(cc, "none");
        assert!(largest > 1e6, "{cc}: {largest}");
    }
}

/// Every algorithm in every profile, also those that set the window themselves or grow between the ACKs that others heed.
#[test]
fn no_window_grows_beyond_the_clamp() {
    for algorithm in sim::algorithms().as_array().unwrap() {
        for profile in algorithm["profiles"].as_array().unwrap() {
            let cc = json!({"name": algorithm["name"], "profile": profile["name"]});
            let mut world = one_flow("10Mbps", 20, "100p", "10s", json!({"cc": cc, "cwnd_clamp": "20p"}));
            world["record"] = json!({"series": ["cwnd"], "every": "50ms"});
            let cwnd = Simulation::new(&scenario(&world), 1).unwrap().run().series.remove(0).1;
            let largest = cwnd.value.iter().copied().fold(0.0, f64::max) / 1460.0;
            assert!((10.0..=20.0).contains(&largest), "{cc}: {largest}");
        }
    }
}

/// One flow over CoDel with marks, 20 Mb/s: goodput in Mb/s and mean delay in the queue in ms.
fn marked(profile: &str) -> (f64, f64) {
    let mut world =
        one_flow("20Mbps", 50, "1000p", "120s", json!({"cc": {"name": "cubic", "profile": profile}, "ecn": "classic"}));
    world["warmup"] = json!("20s");
    world["network"]["bottleneck"]["queue"] = json!({"kind": "codel", "ecn": true, "limit": "1000p"});
    let summary = run(&world, 1);
    (summary.flows[0].measures.goodput_bps / 1e6, summary.links[0].delay_queue_mean_s.unwrap() * 1e3)
}

/// RFC 8511 §5: a queue that marks early empties after a full reduction, and not after a smaller one.
#[test]
fn abe_keeps_a_line_busy_that_marks_early() {
    let (plain, abe) = (marked("rfc"), marked("abe"));
    assert!(abe.0 >= 1.02 * plain.0, "{abe:?} {plain:?}");
    assert!((abe.1 - plain.1).abs() <= 2.0, "{abe:?} {plain:?}");
    let without = |profile: &str| {
        let tcp = json!({"cc": {"name": "cubic", "profile": profile}});
        fingerprint(&one_flow("20Mbps", 50, "100p", "20s", tcp), 1)
    };
    assert_eq!(without("rfc"), without("abe"), "losses count as before");
}
