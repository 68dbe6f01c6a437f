//! Copa and Vivace, which find their rate by delay and utility.

use serde_json::{Value, json};
use sim::Summary;

use crate::common::run;

const PACKET_BITS: f64 = 12_000.0;

fn world(cc: &Value, mbps: u64, delay_ms: u64, flows: usize, duration_s: u64) -> Value {
    let flow =
        |i: usize| json!({"from": "a", "to": "b", "cc": cc, "app": {"kind": "bulk"}, "start": format!("{}s", 2 * i)});
    json!({
        "duration": format!("{duration_s}s"),
        "warmup": format!("{}s", duration_s / 2),
        "network": {"kind": "graph"},
        "node": [{"name": "a"}, {"name": "b"}],
        "link": [{"from": "a", "to": "b", "rate": format!("{mbps}Mbps"), "delay": format!("{delay_ms}ms"),
                  "queue": {"kind": "drop_tail", "limit": "1000p"}, "reverse": {"rate": "10Gbps"}}],
        "tcp": {"profile": "linux"},
        "flow": (0..flows).map(flow).collect::<Vec<_>>(),
    })
}

/// Mean queue in packets.
fn queue(summary: &Summary, mbps: u64) -> f64 {
    summary.links[0].delay_queue_mean_s.unwrap() * mbps as f64 * 1e6 / PACKET_BITS
}

/// The first flow's part of all goodput.
fn share(summary: &Summary) -> f64 {
    summary.flows[0].measures.goodput_bps / summary.network.measures.goodput_bps
}

#[test]
fn copa_alone_sends_at_the_inverse_of_its_delay() {
    // By the paper: the rate is 1 / (delta dq), so that a single flow at rate C keeps 1 / delta packets waiting. It swings
    // about that, between an empty queue and 2.5 / delta. RTTstanding, the least of half an RTT, is what the rule knows; the
    // mean wait is longer by what comes in bundles: a pair per ACK, and one more at a bundle's end. From 1 / delta to
    // 2.5 / delta, with a packet more.
    for delta in [0.5, 0.25, 0.1] {
        let cc = json!({"name": "copa", "delta": delta, "mode_switching": false});
        let summary = run(&world(&cc, 48, 20, 1, 30), 1);
        let (queue, utilisation) = (queue(&summary, 48), summary.links[0].utilisation);
        let case = format!("delta {delta}: {queue} packets, busy {utilisation}");
        assert!(queue > 0.9 / delta && queue < 2.5 / delta + 1.0, "{case}");
        // The queue is empty for less than one of the five RTTs of a swing, and then the window is short by less than
        // 1 / delta of 160 packets: at most 6 % of a fifth.
        assert!(utilisation > 0.98, "{case}");
    }
}

#[test]
fn two_copa_flows_share_alike_and_keep_the_queue_short() {
    let summary = run(&world(&json!("copa"), 48, 20, 2, 60), 1);
    // Each aims at the same delay, hence at the same rate: the share is fair up to the swing of v / delta = 2 packets
    // around 85: 5 points are ample.
    assert!((share(&summary) - 0.5).abs() < 0.05, "{}", share(&summary));
    // Two flows keep 2 / delta = 4 packets, up to 2.5 times that.
    assert!(queue(&summary, 48) < 11.0, "{}", queue(&summary, 48));
    assert!(summary.links[0].utilisation > 0.98);
}

#[test]
fn copa_fills_a_long_link_alone_and_keeps_its_queue() {
    // §3: the queue swings between 0 and 2.5 / delta = 5 packets, 2.5 on average; half of that more or less is allowed. With a
    // BDP of 208 segments an overshoot that is not undone would show.
    let summary = run(&world(&json!("copa"), 50, 25, 1, 60), 1);
    let (queue, utilisation) = (queue(&summary, 50), summary.links[0].utilisation);
    assert!(utilisation > 0.99, "busy {utilisation}");
    assert!((1.25..3.75).contains(&queue), "{queue} packets");
}

#[test]
fn five_and_ten_copa_flows_do_not_take_each_other_for_buffer_fillers() {
    // Each keeps 1.25 / delta = 2.5 packets (§3), whenever it starts. A flow that took the others for fillers would
    // raise 1 / delta by 1 per RTT: within 2 s its part of the queue is beyond all bounds.
    for (mbps, flows) in [(50, 5), (100, 10)] {
        for seed in 1..=5 {
            let mut world = world(&json!("copa"), mbps, 25, flows, 40);
            world["link"][0]["queue"]["limit"] = json!("4000p");
            for i in 1..flows {
                // Spread over the first seconds without a pattern, another one for each seed.
                world["flow"][i]["start"] = json!(format!("{}ms", (i * 7919 + seed * 6133 * i) % 10_000));
            }
            let summary = run(&world, 1);
            let each = queue(&summary, mbps) / flows as f64;
            let case = format!("{flows} flows, seed {seed}: {each} packets each");
            assert!((1.25..3.75).contains(&each), "{case}");
            assert!(summary.links[0].utilisation > 0.99, "{case}, busy {}", summary.links[0].utilisation);
        }
    }
}

#[test]
fn copa_competes_with_reno_only_in_the_competitive_mode() {
    let against_reno = |cc: Value| {
        let mut world = world(&cc, 24, 20, 2, 120);
        world["flow"][1]["cc"] = json!("reno");
        world["link"][0]["queue"]["limit"] = json!("200p");
        share(&run(&world, 1))
    };
    // By the paper: in the mode of its own AIMD it takes a share near Reno's, within a factor of two here; without, next
    // to a queue that Reno fills it keeps 1 / delta packets of some 100: a few percent.
    let with = against_reno(json!("copa"));
    assert!(with > 1.0 / 3.0 && with < 2.0 / 3.0, "{with}");
    let without = against_reno(json!({"name": "copa", "mode_switching": false}));
    assert!(without < 0.1, "{without}");
}

#[test]
fn vivace_fills_the_link_but_for_its_probes_and_leaves_the_queue_empty() {
    // A pair costs nothing while r (1 + epsilon) stays below C (1 + slope_floor): r < 0.962 C. Beyond, one bounded step leads
    // down by 5 %. So r swings between 0.914 C and 0.962 C, with steps up of up to 5 % of their own: above 0.9 C.
    for (mbps, delay_ms) in [(20, 20), (100, 10)] {
        let summary = run(&world(&json!("vivace"), mbps, delay_ms, 1, 30), 1);
        let utilisation = summary.links[0].utilisation;
        assert!(utilisation > 0.9, "{mbps} Mb/s: {utilisation}");
        // A high interval of an RTT at 1.01 C leaves 1 % of the packets of an RTT behind, at 1.05 C 5 %: the mean is less.
        let bdp = mbps as f64 * 1e6 * 2.0 * delay_ms as f64 / 1e3 / PACKET_BITS;
        assert!(queue(&summary, mbps) < 0.05 * bdp + 1.0, "{mbps} Mb/s: {}", queue(&summary, mbps));
    }
}

#[test]
fn two_vivace_flows_come_to_share_alike() {
    // By the paper: the only equilibrium is the equal one. Steps up add the same Mb/s to both, steps down take the
    // same part, as in AIMD; of what is left of the first flow's lead after n steps down only 0.95^n remains, and 30 s of
    // pairs of about 4 RTTs make several hundred. What remains is the luck of the pairs: up to a bounded step of 5 % each.
    for seed in 1..=3 {
        let summary = run(&world(&json!("vivace"), 100, 10, 2, 60), seed);
        assert!((share(&summary) - 0.5).abs() < 0.1, "seed {seed}: {}", share(&summary));
        assert!(summary.links[0].utilisation > 0.9, "{}", summary.links[0].utilisation);
    }
}
