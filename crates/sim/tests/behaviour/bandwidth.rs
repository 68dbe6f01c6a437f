//! Algorithms that measure the rate: Westwood+ and TCP-NV.

use serde_json::{Value, json};
use sim::scenario::SeriesName;
use sim::{Outcome, Simulation};

use crate::common::{one_flow, run, scenario};

/// Payload per packet at 10 Mb/s.
const LINK_BPS: f64 = 10e6 * 1460.0 / 1500.0;
/// RTT on an idle link: 40 ms and the transmission of a packet and its ACK.
const RTT_S: f64 = 0.0413;

fn with_loss(cc: &Value) -> Value {
    let mut scenario = one_flow("10Mbps", 20, "100p", "120s", json!({"cc": cc, "rto_min": "200ms"}));
    scenario["network"]["bottleneck"]["loss"] = json!({"kind": "packet", "p": 0.005});
    scenario
}

#[test]
fn westwood_holds_its_rate_under_random_loss() {
    // Reno's window is sqrt(3 / (2 p)) = 17 segments of the 34 that the path holds: half of the rate. Westwood+ goes
    // back to the rate it had, so that it is short only while it recovers: one RTT of at least half the window for each 200
    // packets, which is six RTTs, so 1 - 1/12 of what its window gives. Its estimate lags while the window grows, and is
    // rounded down: three quarters of the link for it, 0.6 for Reno.
    let reno = run(&with_loss(&json!("newreno")), 1).flows[0].measures.goodput_bps / LINK_BPS;
    assert!(reno < 0.6, "Reno: {reno}");
    for profile in ["linux", "ns3"] {
        let cc = json!({"name": "westwood", "profile": profile});
        let share = run(&with_loss(&cc), 1).flows[0].measures.goodput_bps / LINK_BPS;
        assert!(share > 0.75, "{profile}: {share} of the link, Reno {reno}");
    }
}

#[test]
fn westwoods_estimate_is_near_the_link_rate() {
    // No losses but the queue's: the link is always full. So the window after each recovery, estimate x least RTT, is
    // the path's 34.4 segments. It is low by rounding to whole segments, 3 % at most, and by whole bytes per ms: of
    // 1217, two filters stall up to 7 short and the sample up to 1, 1.2 %. It is high by nothing that lasts, since what
    // duplicates tell of is counted once; a sample may hold one ACK of two segments more or less, 6 %, of which two
    // filters of an eighth leave little. 5 %.
    let mut value = one_flow("10Mbps", 20, "34p", "60s", json!({"cc": "westwood"}));
    value["record"] = json!({"series": ["ssthresh", "state"], "every": "change"});
    let Outcome { series, .. } = Simulation::new(&scenario(&value), 1).unwrap().run();
    let column = |name| &series.iter().find(|(found, _)| *found == name).unwrap().1;
    let (ssthresh, state) = (column(SeriesName::Ssthresh), column(SeriesName::State));
    // What ssthresh was when a recovery had ended, from 10 s on.
    let ends = state.t_s.iter().zip(&state.value).filter(|(t, state)| **t > 10.0 && **state == 0.0);
    let after: Vec<f64> = ends
        .map(|(end, _)| {
            let index = ssthresh.t_s.partition_point(|t| t <= end);
            ssthresh.value[index - 1] / 1460.0
        })
        .collect();
    assert!(after.len() > 10, "{} recoveries", after.len());
    let path = LINK_BPS * RTT_S / (8.0 * 1460.0);
    let mean = after.iter().sum::<f64>() / after.len() as f64;
    assert!((mean / path - 1.0).abs() < 0.05, "{mean} segments of {path}");
}

#[test]
fn nv_keeps_a_short_queue() {
    // The window is at most what rate and least RTT explain and ten segments: a queue of up to ten packets of 1.2 ms.
    // The least RTT is one of means over two samples and may be high by the rise of a queue in slow start within them: two
    // packets more. It lasts until the least RTT is measured anew with that queue in place, 5.75 s on at the earliest.
    let mut value = one_flow("10Mbps", 20, "200p", "5.5s", json!({"cc": "nv", "ack_every": 1}));
    value["warmup"] = json!("3s");
    let summary = run(&value, 1);
    let queue_s = summary.links[0].delay_queue_mean_s.unwrap();
    assert!(queue_s < 12.0 * 1.2e-3, "queue {queue_s}");
    assert!(summary.links[0].utilisation > 0.99, "{}", summary.links[0].utilisation);
    value["tcp"]["cc"] = json!("reno");
    let reno_s = run(&value, 1).links[0].delay_queue_mean_s.unwrap();
    assert!(reno_s > 4.0 * queue_s, "Reno's queue {reno_s}");
}
