//! DualPI2 with one Prague flow (ECT(1)) and one CUBIC flow: delays of both queues, utilisation, and how they share.
//!
//! Expected are the means of an independent reference model of the RFC's pseudo-code with an ideal Prague and an ideal CUBIC,
//! and the bands that RFC 9330 and published measurements give.

use serde_json::{Value, json};
use sim::{DualPi2Report, QueueReport, Summary};

use crate::common::run;

/// What a cell of the grid gave.
struct Cell {
    name: String,
    queue: DualPi2Report,
    utilisation: f64,
    /// Goodput of Prague over that of CUBIC.
    ratio: f64,
    packet_s: f64,
    /// CUBIC alone cannot fill a path this long with 15 ms of queue.
    is_long: bool,
}

fn world(queue: &Value, mbps: u64, rtt_ms: u64, ccs: [Value; 2], seconds: u64) -> Value {
    let mut nodes = vec![json!({"name": "in"}), json!({"name": "out"})];
    let mut links = vec![json!({"from": "in", "to": "out", "rate": format!("{mbps}Mbps"), "queue": queue,
                                "delay": format!("{}us", 500 * rtt_ms), "reverse": {"queue": "10000p"}})];
    let mut flows = Vec::new();
    for (i, cc) in ccs.iter().enumerate() {
        let name = format!("sender{i}");
        nodes.push(json!({"name": name}));
        links.push(json!({"from": name, "to": "in", "rate": "10Gbps", "delay": "0ms", "queue": "10000p"}));
        flows.push(json!({"from": name, "to": "out", "cc": cc, "start": format!("{}ms", 100 * i)}));
    }
    json!({"duration": format!("{seconds}s"), "warmup": format!("{}s", seconds / 2), "network": {"kind": "graph"},
           "node": nodes, "link": links, "tcp": {"profile": "linux"}, "flow": flows})
}

fn prague(rtt_independence: bool) -> Value {
    json!({"name": "prague", "rtt_independence": rtt_independence})
}

fn report(summary: &Summary) -> DualPi2Report {
    match &summary.links[0].queue {
        Some(QueueReport::DualPi2(report)) => (**report).clone(),
        other => panic!("not DualPI2: {other:?}"),
    }
}

fn cell(more: &Value, mbps: u64, rtt_ms: u64, seconds: u64) -> Cell {
    let mut queue = more.clone();
    queue["kind"] = json!("dualpi2");
    let summary = run(&world(&queue, mbps, rtt_ms, [prague(false), json!("cubic")], seconds), 1);
    let goodput = |flow: usize| summary.flows[flow].measures.goodput_bps;
    Cell {
        name: format!("{more}, {mbps} Mb/s, {rtt_ms} ms"),
        queue: report(&summary),
        utilisation: summary.links[0].utilisation,
        ratio: goodput(0) / goodput(1),
        packet_s: 1500.0 * 8.0 / (mbps as f64 * 1e6),
        is_long: rtt_ms >= 100,
    }
}

impl Cell {
    /// What does not hold, of delays and utilisation.
    fn faults(&self) -> Vec<String> {
        let q = &self.queue;
        let [low, low_p99] = [q.l_delay_mean_s, q.l_delay_p99_s].map(Option::unwrap);
        let [classic, classic_p99] = [q.c_delay_mean_s, q.c_delay_p99_s].map(Option::unwrap);
        let (least_wait, least_busy) = if self.is_long { (5e-3, 0.95) } else { (10e-3, 0.98) };
        let checks = [
            ("L mean", low, low < self.packet_s.max(1e-3)),
            ("L p99", low_p99, low_p99 < (2.5 * self.packet_s).max(2e-3)),
            ("C mean", classic, (least_wait..20e-3).contains(&classic)),
            ("C p99", classic_p99, classic_p99 < 50e-3),
            ("utilisation", self.utilisation, self.utilisation >= least_busy),
        ];
        let wrong = checks.into_iter().filter(|(.., holds)| !holds);
        wrong.map(|(what, value, _)| format!("{}: {what} {value}", self.name)).collect()
    }
}

fn min_packets_1() -> Value {
    json!({"l_aqm": {"kind": "step", "min_packets": 1}})
}

#[test]
fn both_queues_keep_their_delays_and_scalable_and_classic_flows_share() {
    // The ratios of the reference model; a cell may differ by a factor of 1.6.
    let cells = [(json!({}), 40, 10, 2.17), (min_packets_1(), 12, 20, 1.10), (json!({"profile": "rfc"}), 12, 20, 1.25)];
    for (more, mbps, rtt_ms, expected) in cells {
        let cell = cell(&more, mbps, rtt_ms, 60);
        assert!(cell.faults().is_empty(), "{:?}", cell.faults());
        let off = (cell.ratio / expected).max(expected / cell.ratio);
        assert!(off < 1.6, "{}: {} and not {expected}", cell.name, cell.ratio);
        assert!(cell.queue.marks_coupled > 0 && cell.queue.drops_aqm > 0 && cell.queue.overload_s == 0.0);
    }
}

#[test]
fn two_of_a_kind_share_alike() {
    for (cc, mbps, rtt_ms) in [(prague(true), 10, 20), (prague(true), 10, 80), (json!("cubic"), 10, 20)] {
        let summary = run(&world(&json!({"kind": "dualpi2"}), mbps, rtt_ms, [cc.clone(), cc.clone()], 120), 1);
        let jain = summary.network.jain.unwrap();
        assert!(jain >= 0.99, "{cc}, {mbps} Mb/s, {rtt_ms} ms: {jain}");
    }
}

/// Two Prague flows whose hosts add nothing stay in step: each window that grows marks its own packets, so that both get as many
/// marks, whatever their rates. A tenth of a packet of jitter is enough against it.
#[test]
fn two_prague_share_alike_where_hosts_jitter() {
    for (mbps, rtt_ms) in [(10, 10), (10, 20), (10, 80), (50, 10), (50, 20), (50, 80)] {
        let mut world = world(&json!({"kind": "dualpi2"}), mbps, rtt_ms, [prague(true), prague(true)], 120);
        for sender in 1..=2 {
            world["link"][sender]["jitter"] = json!({"kind": "uniform", "max": "100us"});
        }
        let jain = run(&world, 1).network.jain.unwrap();
        assert!(jain >= 0.99, "{mbps} Mb/s, {rtt_ms} ms: {jain}");
    }
}

#[test]
fn a_prague_whose_packets_are_nearly_all_marked_has_two_segments_per_rtt() {
    // Linux's step at 4 Mb/s, where a packet takes 3 ms; expected are the ratios of the reference model.
    for (rtt_ms, expected) in [(20, 0.34), (50, 0.13)] {
        let ratio = cell(&json!({}), 4, rtt_ms, 120).ratio;
        assert!((expected / 1.6..expected * 1.6).contains(&ratio), "{rtt_ms} ms: {ratio} and not {expected}");
    }
}

/// Reductions follow the first mark after a round trip without: with x marks per round trip they are 1 + 1/x round trips apart,
/// so that x (1 - p) = W p = 2 (1 + 1/x) (1 - p), and x is 1 + √3.
#[test]
fn the_window_of_prague_at_random_marks_is_2_7_over_p() {
    for p in [0.01, 0.02] {
        let mut world = world(&json!("10000p"), 10_000, 20, [prague(false), prague(false)], 60);
        world["link"][0]["marks"] = json!({"kind": "packet", "p": p});
        for flow in &run(&world, 1).flows {
            let window = flow.measures.goodput_bps * flow.measures.rtt_s.unwrap() / 8.0 / 1448.0;
            let marks = window * p / (1.0 - p);
            assert!((marks / (1.0 + 3f64.sqrt()) - 1.0).abs() < 0.05, "{p}: {marks} marks per round trip");
        }
    }
}

#[test]
fn prague_dominates_cubic_in_one_queue_that_marks_both() {
    // The known unsafe case of one RFC 3168 queue (RFC 9331 §4.3): if this did not show, the model of Prague would flatter.
    let queue = json!({"kind": "codel", "ecn": true});
    let summary = run(&world(&queue, 40, 20, [prague(true), json!("cubic")], 60), 1);
    let ratio = summary.flows[0].measures.goodput_bps / summary.flows[1].measures.goodput_bps;
    assert!(ratio > 4.0, "{ratio}");
}

/// The whole grid, as a table. `cargo test --release -p tonopah-sim --test behaviour -- --ignored --nocapture dualpi2`
#[test]
#[ignore = "minutes"]
fn the_grid_of_rates_and_round_trips() {
    let variants = [json!({}), min_packets_1(), json!({"profile": "rfc"})];
    for more in &variants {
        let mut faulty = 0;
        for (mbps, rtt_ms) in [4, 12, 40, 120].into_iter().flat_map(|mbps| [5, 10, 20, 50, 100].map(|rtt| (mbps, rtt)))
        {
            let cell = cell(more, mbps, rtt_ms, 60);
            let q = &cell.queue;
            println!(
                "{}: g {:.2}, L {:.2} / {:.2} ms, C {:.1} / {:.1} ms, busy {:.4} {:?}",
                cell.name,
                cell.ratio,
                1e3 * q.l_delay_mean_s.unwrap(),
                1e3 * q.l_delay_p99_s.unwrap(),
                1e3 * q.c_delay_mean_s.unwrap(),
                1e3 * q.c_delay_p99_s.unwrap(),
                cell.utilisation,
                cell.faults(),
            );
            faulty += usize::from(!cell.faults().is_empty());
        }
        println!("{more}: {faulty} of 20 cells outside");
    }
}
