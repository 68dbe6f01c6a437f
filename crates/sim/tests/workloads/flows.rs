//! Which flows arrive, that each is accounted for, and what a summary says of them.

use serde_json::json;
use sim::{Simulation, Summary};

use super::common::{run, scenario};
use super::{merged, short, world};

#[test]
fn a_load_is_a_rate_of_arrivals() {
    for (kind, load, rate, expected) in [
        ("web_search", 0.6, "1Gbps", 43.8276),
        ("web_search", 0.8, "10Gbps", 584.368),
        ("data_mining", 0.6, "1Gbps", 5.92501),
    ] {
        let arrivals = json!({"kind": "poisson", "load": load, "link": ["r0", "r1"]});
        let world = world(json!({"rate": rate}), "1ms", json!({"arrivals": arrivals, "size": {"kind": kind}}));
        let found = run(&world, 1).workloads[0].arrival_rate_per_s.unwrap();
        assert!((found / expected - 1.0).abs() < 2e-6, "{kind}: {found} {expected}");
    }
    // 10 kB are seven segments, with 280 B of headers.
    let arrivals = json!({"kind": "constant", "load": 0.5, "link": ["r0", "r1"], "load_of": "packets"});
    let size = json!({"kind": "constant", "bytes": "10kB"});
    let world = world(json!({"rate": "10Mbps"}), "1ms", json!({"arrivals": arrivals, "size": size}));
    let found = run(&world, 1).workloads[0].arrival_rate_per_s.unwrap();
    assert!((found / (0.5 * 10e6 / (8.0 * 10_280.0)) - 1.0).abs() < 1e-12, "{found}");
}

#[test]
fn a_flow_alone_takes_the_ideal_time_and_that_of_the_handshake_packets() {
    let list = json!({"kind": "list", "at": ["1s"]});
    let size = json!({"kind": "constant", "bytes": "14600B"});
    let bottleneck = json!({"rate": "10Mbps", "delay": "18ms", "queue": "100p"});
    let summary = run(&world(bottleneck, "3s", json!({"arrivals": list, "size": size})), 1);
    let flow = summary.flows[0].transfer.as_ref().unwrap();
    assert_eq!(flow.ideal_fct_s, Some(0.072024));
    // SYN and SYN-ACK, 40 B each with their options' 4 to 8 B more, over the three links.
    let excess = flow.fct_s.unwrap() - 0.072024;
    assert!((0.0..100e-6).contains(&excess), "{excess}");
    assert!(flow.slowdown.unwrap() >= 1.0);
    let (start, fct) = (summary.flows[0].start_s, summary.flows[0].completion_s);
    assert_eq!((start, fct, summary.flows[0].flow), (1.0, flow.fct_s, 0));
    assert!(flow.handshake_s.unwrap() < flow.first_byte_s.unwrap() && flow.first_byte_s < flow.fct_s);
    let workload = &summary.workloads[0];
    assert_eq!((workload.all.started, workload.all.finished, workload.all.unfinished), (1, 1, 0));
    assert_eq!(workload.classes[1].fct_max_s, flow.fct_s, "14.6 kB are in the class up to 100 kB");
    assert_eq!(workload.classes[0].fct_s, None, "absent, not 0");
    assert_eq!(workload.all.slowdown_p99, None, "of one flow");
}

/// Flows of the workload: serial number, ends, size and start.
fn who(summary: &Summary) -> Vec<(u32, String, String, u64, f64)> {
    let of = |flow: &sim::FlowSummary| {
        let size = flow.transfer.as_ref().unwrap().size_bytes;
        (flow.flow, flow.from.clone(), flow.to.clone(), size, flow.start_s)
    };
    summary.flows.iter().map(of).collect()
}

#[test]
fn a_flow_is_the_same_flow_under_every_algorithm() {
    let world = |cc: &str| merged(short(json!({"kind": "poisson", "rate": "50/s"})), json!({"tcp": {"cc": cc}}));
    let [cubic, bbr] = ["cubic", "bbr"].map(|cc| run(&world(cc), 3));
    assert_eq!(who(&cubic), who(&bbr));
    assert!(cubic.workloads[0].arrived > 900 && cubic.flows.len() as u64 == cubic.workloads[0].all.started);
    assert_ne!(cubic.workloads[0].all.fct_s, bbr.workloads[0].all.fct_s);
    assert_eq!(cubic, run(&world("cubic"), 3), "the same bits");
}

#[test]
fn every_flow_is_accounted_for_where_packets_are_lost() {
    let lossy = json!({"rate": "10Mbps", "delay": "18ms", "queue": "10p", "loss": {"kind": "packet", "p": 0.03},
                       "reverse": {"loss": {"kind": "packet", "p": 0.03}}, "duplicate": {"p": 0.01}});
    let arrivals = json!({"kind": "weibull", "shape": 0.7, "load": 0.7, "link": ["r0", "r1"]});
    let size = json!({"kind": "pareto", "shape": 1.2, "min": "1kB", "max": "10MB"});
    let workload = json!({"arrivals": arrivals, "size": size, "stop": "30s"});
    let world = merged(world(lossy, "200s", workload), json!({"record": {"flows": "all"}}));
    let mut simulation = Simulation::new(&scenario(&world), 1).unwrap();
    while !simulation.advance(1 << 10) {}
    assert_eq!(simulation.exceeded(), None);
    let summary = simulation.finish().summary;
    let (workload, sum) = (&summary.workloads[0], &summary.conservation);
    assert_eq!(sum.sent + sum.duplicated, sum.delivered + sum.dropped + sum.in_flight);
    assert!(sum.duplicated > 0 && workload.drops.loss > 0 && workload.drops.queue > 0);
    let all = &workload.all;
    assert!(all.started > 4_000 && all.finished + all.aborted == all.started, "170 s are enough for all: {all:?}");
    assert_eq!(
        summary.flows.iter().map(|flow| flow.measures.sent_packets).sum::<u64>(),
        summary.network.measures.sent_packets
    );
    let of_classes = |of: fn(&sim::ClassSummary) -> u64| workload.classes.iter().map(of).sum::<u64>();
    assert_eq!((of_classes(|c| c.started), of_classes(|c| c.bytes)), (all.started, all.bytes));
    assert_eq!(summary.network.measures.delivered_bytes, all.bytes, "every byte once");
    let timeouts = summary.flows.iter().map(|flow| flow.rto_count.unwrap()).sum::<u64>();
    assert_eq!((workload.rto_count, summary.network.rto_count), (Some(timeouts), timeouts));
}

#[test]
fn both_event_modes_agree() {
    let world = merged(short(json!({"kind": "poisson", "rate": "100/s"})), json!({"warmup": "3s", "cooldown": "2s"}));
    let run = |mode| {
        let mut summary = Simulation::with_event_mode(&scenario(&world), 1, None, mode).unwrap().run().summary;
        summary.events = 0;
        summary
    };
    let summary = run(sim::EventMode::PerHop);
    assert_eq!(summary, run(sim::EventMode::Coalesced));
    let starts: Vec<f64> = summary.flows.iter().map(|flow| flow.start_s).collect();
    assert!(starts.iter().all(|start| (3.0..18.0).contains(start)), "flows of the warm-up and cool-down do not count");
    assert!(summary.workloads[0].arrived > summary.workloads[0].all.started);
}

#[test]
fn slots_are_used_again_and_serial_numbers_are_not() {
    let base = world(
        json!({"rate": "100Mbps", "delay": "1ms", "queue": {"kind": "fq_codel"}}),
        "30s",
        json!({"arrivals": {"kind": "constant", "interval": "1ms"}, "size": {"kind": "constant", "bytes": "3kB"}}),
    );
    let world = merged(base, json!({"flow": [{"from": "left0", "to": "right0"}], "record": {"flows": {"sample": 50}}}));
    let mut simulation = Simulation::new(&scenario(&world), 1).unwrap();
    let mut most = 0;
    while !simulation.advance(1 << 12) {
        most = most.max(simulation.held_bytes());
    }
    let summary = simulation.finish().summary;
    let workload = &summary.workloads[0];
    assert!(workload.arrived > 29_900 && workload.alive_max < 100, "{} {}", workload.arrived, workload.alive_max);
    assert!(most < 8_000_000, "30,000 flows, of which few are alive: {most}");
    let serials: Vec<u32> = summary.flows.iter().map(|flow| flow.flow).collect();
    assert_eq!((serials.len(), serials[0]), (51, 0));
    assert!(serials.is_sorted() && serials[50] > 20_000 && summary.flows[0].transfer.is_none());
    assert_eq!(summary.network.flows, 1 + workload.arrived);
    assert!((workload.alive_mean.unwrap() / 10.0 - 1.0).abs() < 0.5, "Little's law: 1000/s for some 10 ms");
}

#[test]
fn users_of_a_closed_loop_wait_transfer_and_wait() {
    let think = json!({"kind": "constant", "length": "100ms"});
    let workload = json!({"arrivals": {"kind": "closed", "users": 5, "think": think},
                          "size": {"kind": "constant", "bytes": "14600B"}});
    let summary = run(&world(json!({"rate": "100Mbps", "delay": "18ms", "queue": "100p"}), "10s", workload), 1);
    let web = &summary.workloads[0];
    // A cycle is 100 ms and about 61 ms: 5 x 10 s / 161 ms = 310 transfers.
    assert!((300..=312).contains(&web.arrived) && web.alive_max == 5, "{} {}", web.arrived, web.alive_max);
    let listed: Vec<f64> = summary.flows.iter().take(6).map(|flow| flow.start_s).collect();
    assert!(listed[..5].iter().all(|start| *start == 0.1) && listed[5] > 0.25, "{listed:?}");
}

#[test]
fn arrivals_of_a_list_have_their_ends_and_sizes() {
    let rows = json!([["0.5s", "left1", "right2", "5kB"], ["0.5s", null, null, null], ["1s", null, "right0", "1B"]]);
    let workload = json!({"from": ["left3"], "to": ["right3"], "arrivals": {"kind": "list", "rows": rows},
                          "start": "1s", "size": {"kind": "list", "bytes": ["7kB", "8kB"]}});
    let summary = run(&world(json!({"rate": "10Mbps"}), "5s", workload), 1);
    let expected = [("left1", "right2", 5_000, 1.5), ("left3", "right3", 8_000, 1.5), ("left3", "right0", 1, 2.0)];
    let expected = expected.map(|(from, to, size, at)| (from.to_owned(), to.to_owned(), size, at));
    let found: Vec<_> = who(&summary).into_iter().map(|(_, from, to, size, at)| (from, to, size, at)).collect();
    assert_eq!(found, expected);
}

/// Row W4: the quantiles of a summary come from buckets; those of the same flows, sorted, are within 1/128.
#[test]
fn quantiles_are_those_of_all_flows_sorted() {
    let size = json!({"kind": "pareto", "shape": 1.2, "min": "1kB", "max": "1MB"});
    let base = short(json!({"kind": "poisson", "rate": "150/s"}));
    let mut world = merged(base, json!({"record": {"flows": "all"}}));
    (world["workload"][0]["size"], world["workload"][0]["stop"]) = (size, json!("15s"));
    let summary = run(&world, 1);
    let workload = &summary.workloads[0];
    assert!(workload.all.finished > 2_000 && workload.all.unfinished == 0, "{:?}", workload.all);
    let sorted = |of: fn(&sim::WorkloadFlowSummary) -> Option<f64>| {
        let mut values: Vec<f64> = summary.flows.iter().filter_map(|flow| of(flow.transfer.as_ref()?)).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let (fct, slowdown, all) = (sorted(|flow| flow.fct_s), sorted(|flow| flow.slowdown), &workload.all);
    for (values, found) in [
        (fct, [all.fct_p50_s, all.fct_p95_s, all.fct_p99_s, all.fct_p999_s, all.fct_max_s]),
        (slowdown, [all.slowdown_p50, all.slowdown_p95, all.slowdown_p99, all.slowdown_p999, all.slowdown_max]),
    ] {
        assert_eq!(values.len() as u64, all.finished);
        for (q, found) in [0.5, 0.95, 0.99, 0.999, 1.0].into_iter().zip(found) {
            let exact = values[(q * values.len() as f64).ceil() as usize - 1];
            let found = found.expect("enough flows for every quantile");
            assert!((found / exact - 1.0).abs() <= 1.0 / 128.0, "{q}: {found} {exact}");
        }
    }
}
