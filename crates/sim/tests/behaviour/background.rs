//! Algorithms that leave the link to others: LEDBAT and TCP-LP.

use serde_json::{Value, json};

use crate::common::{one_flow, run};

/// Payload per packet at 10 Mb/s.
const LINK_BPS: f64 = 10e6 * 1460.0 / 1500.0;

/// Two flows at 10 Mb/s, 40 ms, from the same time on; the queue holds 200 packets, 240 ms.
fn against(cc: &Value, other: &str) -> (f64, f64) {
    let scenario = json!({
        "duration": "120s", "warmup": "20s",
        "network": {
            "kind": "dumbbell", "pairs": 2,
            "access": {"rate": "10Gbps", "delay": "0ms", "queue": {"kind": "drop_tail", "limit": "unlimited"}},
            "bottleneck": {"rate": "10Mbps", "delay": "20ms", "queue": {"kind": "drop_tail", "limit": "200p"}},
        },
        "tcp": {"ack_every": 1},
        "flow": [
            {"from": "left0", "to": "right0", "cc": cc},
            {"from": "left1", "to": "right1", "cc": other},
        ],
    });
    let flows = run(&scenario, 1).flows;
    (flows[0].measures.goodput_bps / LINK_BPS, flows[1].measures.goodput_bps / LINK_BPS)
}

#[test]
fn ledbat_alone_holds_the_queue_at_its_target() {
    // A delay is the difference of two clock readings of 1 ms, so it is off by less than 1 ms either way; the least of
    // all times and the least of the last four are each low by up to 1 ms, and the queue is held by their difference:
    // 1 ms either way. The mean of the queue is above the least of four by up to three packets' change in a round trip
    // that moves the window by a fraction of one, at most 1.5 packets of 1.2 ms.
    for (profile, target_s) in [("rfc", 0.1), ("ledbat25", 0.025)] {
        let cc = json!({"name": "ledbat", "profile": profile});
        let mut value = one_flow("10Mbps", 20, "400p", "240s", json!({"cc": cc, "ack_every": 1}));
        value["warmup"] = json!("120s");
        let link = &run(&value, 1).links[0];
        let queue_s = link.delay_queue_mean_s.unwrap();
        assert!((queue_s - target_s).abs() < 1e-3 + 1.5 * 1.2e-3, "{profile}: {queue_s} of {target_s}");
        assert!(link.utilisation > 0.999, "{profile}: {}", link.utilisation);
    }
}

#[test]
fn ledbat_yields_to_reno() {
    // Reno's window swings between 117 and 234 packets, the queue between 100 and 240 ms: above the target nearly
    // always. So LEDBAT has its least window, 2 segments of 117 and more: 1.7 %. What it takes when the queue nears the target,
    // and while Reno recovers, is as much again.
    for profile in ["rfc", "ledbat25"] {
        let (ledbat, reno) = against(&json!({"name": "ledbat", "profile": profile}), "newreno");
        assert!(ledbat < 0.04, "{profile}: {ledbat}");
        assert!(reno > 0.95, "{profile}: {ledbat}, Reno {reno}");
    }
}

#[test]
fn lp_leaves_the_link_to_others() {
    // Reno's queue is above 15 % of its range nearly always, and each sign within three RTTs leaves one segment: about
    // one of 117 and more, and now and then the start of a slow growth. CUBIC's queue is longer still.
    for other in ["newreno", "cubic"] {
        let (lp, taken) = against(&json!("lp"), other);
        assert!(lp < 0.04, "beside {other}: {lp}");
        assert!(taken > 0.95, "beside {other}: {lp}, {taken}");
    }
}

#[test]
fn lp_alone_uses_most_of_the_link() {
    // The first burst of 10 packets makes a range of 11 ms; 15 % of it, two packets, are the sign from then on. So the
    // window goes from 18 to 36 of the 34 segments that the path holds, and back: 16 round trips at 27/34 of the rate,
    // two at the full rate, three of inference at 18/34, 0.78 in all. The mean of eight delays is late by some packets,
    // which lets the window rise to 40 at most: 0.85.
    let mut value = one_flow("10Mbps", 20, "200p", "120s", json!({"cc": "lp", "ack_every": 1}));
    value["warmup"] = json!("20s");
    let link = &run(&value, 1).links[0];
    assert!((0.73..0.9).contains(&link.utilisation), "{}", link.utilisation);
}
