//! Workloads: flows that come and go.

mod common;

use common::{refusal, run, scenario};
use serde_json::{Value, json};
use sim::{Simulation, Summary};

/// A dumbbell with one workload from left to right.
fn world(bottleneck: Value, duration: &str, workload: Value) -> Value {
    let mut own = json!({"name": "web", "from": ["left*"], "to": ["right*"]});
    own.as_object_mut().unwrap().extend(workload.as_object().unwrap().clone());
    json!({
        "duration": duration,
        "network": {"kind": "dumbbell", "pairs": 4, "access": {"rate": "1Gbps", "delay": "1ms", "queue": "unlimited"},
                    "bottleneck": bottleneck},
        "tcp": {"cc": "cubic"},
        "workload": [own],
    })
}

fn merged(mut value: Value, more: Value) -> Value {
    value.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    value
}

fn short(arrivals: Value) -> Value {
    world(
        json!({"rate": "10Mbps", "delay": "18ms", "queue": "100p"}),
        "20s",
        json!({"arrivals": arrivals, "size": {"kind": "exponential", "mean": "20kB"}}),
    )
}

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
    let timeouts = summary.flows.iter().map(|flow| flow.rto_count).sum::<u64>();
    assert_eq!((workload.rto_count, summary.network.rto_count), (timeouts, timeouts));
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

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let base = json!({"arrivals": {"kind": "poisson", "rate": "10/s"}, "size": {"kind": "web_search"}});
    let with = |key: &str, value: Value| {
        let workload = merged(base.clone(), json!({key: value}));
        refusal(&world(json!({"rate": "10Mbps"}), "1s", workload))
    };
    let load = |load: f64, overload: bool| json!({"kind": "poisson", "load": load, "link": ["r0", "r1"], "overload": overload});
    for (key, value, expected) in [
        ("from", json!(["srv*"]), "workload[0].from[0]: no node has a name like \"srv*\" (nodes: left0"),
        ("from", json!(["lfet0"]), "workload[0].from[0]: unknown node \"lfet0\""),
        ("to", json!(["left1"]), "workload[0].to: leaves a node of `from` no other node"),
        ("to", json!([]), "workload[0].to: is empty"),
        ("name", json!("a.b"), "workload[0].name: \"a.b\" is not 1 to 64 letters"),
        ("classes", json!(["10kB", "10kB"]), "workload[0].classes[1]: 10kB is not above the edge before it (10kB)"),
        ("count", json!(0), "workload[0].count: 0 is not a count from 1 on"),
        ("arrivals", load(1.0, false), "workload[0].arrivals.load: 1 is not below 1: the number of flows would grow"),
        ("arrivals", load(2.1, true), "workload[0].arrivals.load: 2.1 is not at most 2"),
        ("arrivals", load(0.0, false), "workload[0].arrivals.load: 0 is not above 0"),
        ("arrivals", json!({"kind": "poisson", "load": 0.5}), "workload[0].arrivals.link: missing key"),
        (
            "arrivals",
            json!({"kind": "poisson", "load": 0.5, "link": ["r0", "left9"]}),
            "workload[0].arrivals.link[1]: unknown node",
        ),
        (
            "arrivals",
            json!({"kind": "poisson", "load": 0.5, "link": ["left0", "r1"]}),
            "workload[0].arrivals.link: no link leads",
        ),
        ("arrivals", json!({"kind": "poisson"}), "workload[0].arrivals: how many flows arrive is missing"),
        (
            "arrivals",
            json!({"kind": "poisson", "rate": "10/s", "load": 0.5}),
            "workload[0].arrivals.load: stands beside rate",
        ),
        ("arrivals", json!({"kind": "poisson", "rate": "10"}), "workload[0].arrivals.rate: "),
        ("arrivals", json!({"kind": "poisson", "rate": "1e9/s", "shape": 2}), "workload[0].arrivals.shape: only"),
        (
            "arrivals",
            json!({"kind": "pareto", "rate": "10/s", "shape": 1}),
            "workload[0].arrivals.shape: 1 is not above 1",
        ),
        ("arrivals", json!({"kind": "weibull", "rate": "10/s"}), "workload[0].arrivals.shape: missing"),
        (
            "arrivals",
            json!({"kind": "closed", "users": 3, "load": 0.5}),
            "workload[0].arrivals.load: unknown key `load`",
        ),
        ("arrivals", json!({"kind": "closed", "users": 0}), "workload[0].arrivals.users: 0 is not a count"),
        ("arrivals", json!({"kind": "list", "at": ["2s", "1s"]}), "workload[0].arrivals.at[1]: 1s is before"),
        ("arrivals", json!({"kind": "list"}), "workload[0].arrivals.at: is missing"),
        (
            "arrivals",
            json!({"kind": "list", "file": "a.csv"}),
            "workload[0].arrivals.file: \"a.csv\" has not been read",
        ),
        (
            "arrivals",
            json!({"kind": "list", "rows": [["1s", "x", null, null]]}),
            "workload[0].arrivals.rows[0]: unknown node",
        ),
        (
            "arrivals",
            json!({"kind": "list", "rows": [["1s", "right0", null, null]]}),
            "workload[0].arrivals.rows[0]: the other end is drawn",
        ),
        (
            "arrivals",
            json!({"kind": "list", "rows": [["1s", "left0", "left0", null]]}),
            "workload[0].arrivals.rows[0]: from and to are the same",
        ),
        ("arrivals", json!({"kind": "bursts"}), "workload[0].arrivals.kind: unknown kind"),
        (
            "size",
            json!({"kind": "pareto", "shape": 1.0, "min": "1kB"}),
            "workload[0].size.shape: 1 is not above 1: without max no mean exists",
        ),
        (
            "size",
            json!({"kind": "pareto", "shape": 1.2, "min": "1kB", "max": "1kB"}),
            "workload[0].size.max: 1kB is not above min",
        ),
        ("size", json!({"kind": "constant", "bytes": "0B"}), "workload[0].size.bytes: 0B is not a size from 1B"),
        ("size", json!({"kind": "lognormal", "sigma": 1.0}), "workload[0].size.mean: missing"),
        (
            "size",
            json!({"kind": "lognormal", "mean": "1kB", "sigma": -1.0}),
            "workload[0].size.sigma: -1 is not above 0",
        ),
        (
            "size",
            json!({"kind": "uniform", "min": "2kB", "max": "1kB"}),
            "workload[0].size.max: 1kB is not at least min",
        ),
        (
            "size",
            json!({"kind": "cdf", "points": [[0, 0.0], [10, 0.9]]}),
            "workload[0].size.points[1]: the last probability is 0.9",
        ),
        (
            "size",
            json!({"kind": "cdf", "points": [[0, 0.5], [10, 0.4], [20, 1.0]]}),
            "workload[0].size.points[1]: (10, 0.4) is below",
        ),
        ("size", json!({"kind": "cdf", "points": [[10, 1.0]]}), "workload[0].size.points: a list of 1 points"),
        (
            "size",
            json!({"kind": "cdf", "points": [[0, 0.0], [2e12, 1.0]]}),
            "workload[0].size.points[1]: 2000000000000 is not a size",
        ),
        ("size", json!({"kind": "cdf", "file": "sizes.txt"}), "workload[0].size.file: \"sizes.txt\" has not been read"),
        ("size", json!({"kind": "list", "bytes": []}), "workload[0].size.bytes: a list of 0"),
        ("size", json!("web_search"), "workload[0].size: \"web_search\" is not a distribution of sizes"),
        ("start", json!("2s"), "workload[0].start: 2s is after the end of the run"),
        ("tcp", json!({"mss": "0B"}), "workload[0].tcp.mss: "),
        ("cc", json!("cubik"), "workload[0].cc: "),
        ("app", json!({"kind": "tranfer"}), "workload[0].app.kind: unknown kind"),
        ("app", json!({"kind": "transfer", "direction": "both"}), "workload[0].app.direction: "),
        ("app", json!({"kind": "request_response", "requests": 0}), "workload[0].app.requests: "),
        (
            "app",
            json!({"kind": "request_response", "per_connection": 3}),
            "workload[0].app.per_connection: 3 means several connections, and a flow of a workload has one",
        ),
        ("app", json!({"kind": "page"}), "workload[0].app.protocol: \"h1\" means several connections"),
        (
            "app",
            json!({"kind": "page", "protocol": "h2", "object_size": "1kB"}),
            "workload[0].app.object_size: the size of the page is that of the flow",
        ),
    ] {
        let found = with(key, value.clone());
        assert!(found.starts_with(expected), "{key} = {value}: {found}");
    }
    let twice = base.clone();
    let mut two = world(json!({"rate": "10Mbps"}), "1s", twice);
    let again = two["workload"][0].clone();
    two["workload"].as_array_mut().unwrap().push(again);
    assert_eq!(refusal(&two), "workload[1].name: \"web\" is the name of two workloads");
    let more = |more: Value| refusal(&merged(world(json!({"rate": "10Mbps"}), "1s", base.clone()), more));
    assert!(more(json!({"cooldown": "1s"})).starts_with("cooldown: 1s leaves nothing"));
    assert!(more(json!({"record": {"flows": "some"}})).contains("is not \"all\", \"none\" or a table"));
    assert!(more(json!({"record": {"flows": {"sample": -1}}})).starts_with("record.flows"));
    let many = json!({"arrivals": {"kind": "poisson", "rate": "1e9/s"}, "size": {"kind": "web_search"}});
    let found = refusal(&world(json!({"rate": "10Mbps"}), "100s", many));
    assert!(found.starts_with("workload[0].arrivals: about 1.000e11 flows would arrive"), "{found}");
}

/// A link that every flow reaches at once, without slow start: the oracles of internet.md 4.2.
fn oracle(queue: Value, load: f64, flows: u64, size: Value) -> Value {
    let arrivals = json!({"kind": "poisson", "load": load, "link": ["r0", "r1"], "load_of": "packets"});
    let access = json!({"rate": "100Gbps", "delay": "0s", "queue": "unlimited"});
    json!({
        "duration": "100000s",
        "network": {"kind": "dumbbell", "pairs": 1, "access": access,
                    "bottleneck": {"rate": "1Gbps", "delay": "0s", "queue": queue}},
        "tcp": {"cc": "newreno", "initial_window": "100MB", "recv_buffer": "1GB", "handshake": false},
        "record": {"flows": "none"},
        "workload": [{"name": "web", "from": ["left0"], "to": ["right0"], "arrivals": arrivals, "size": size, "count": flows}],
    })
}

/// Mean slowdown, and mean wait: completion less ideal, in seconds.
fn run_oracle(world: &Value, seed: u64) -> (f64, f64) {
    let mut world = world.clone();
    let rate = run(&merged(world.clone(), json!({"duration": "1us"})), seed).workloads[0].arrival_rate_per_s.unwrap();
    let flows = world["workload"][0]["count"].as_f64().unwrap();
    world["duration"] = json!(format!("{}s", 2.0 * flows / rate));
    let summary = run(&world, seed);
    let all = &summary.workloads[0].all;
    assert_eq!((all.finished, all.unfinished), (flows as u64, 0));
    let mean_ideal = 8.0 * all.bytes as f64 * 1500.0 / 1460.0 / 1e9 / flows;
    (all.slowdown.unwrap(), all.fct_s.unwrap() - mean_ideal)
}

/// Row W1: mean slowdown of M/G/1 processor sharing is 1/(1 - load) for every size.
#[test]
fn fair_queueing_is_processor_sharing() {
    let drr = json!({"kind": "drr", "limit": "unlimited"});
    let size = json!({"kind": "exponential", "mean": "146000B"});
    let (slowdown, _) = run_oracle(&oracle(drr, 0.5, 10_000, size), 1);
    // DRR of packets gives 1.98; the standard error of 10,000 flows is about 2 %.
    assert!((slowdown / 1.98 - 1.0).abs() < 0.08, "{slowdown}");
}

/// Row W2: each flow waits for those before it (Lindley 1952); the mean of that over all flows is Pollaczek and Khinchine's, from
/// which that of 20,000 flows of a web search differs by 7 % (one standard deviation).
#[test]
fn a_fifo_of_whole_flows_makes_each_wait_for_those_before_it() {
    let fifo = json!({"kind": "drop_tail", "limit": "unlimited"});
    let mut world = oracle(fifo, 0.6, 1_000, json!({"kind": "web_search"}));
    (world["duration"], world["record"]) = (json!("60s"), json!({"flows": "all"}));
    let summary = run(&world, 2);
    let (mut wait, mut busy_until, mut worst) = (0.0, 0.0_f64, 0.0_f64);
    for flow in &summary.flows {
        let own = flow.transfer.as_ref().unwrap();
        // Payload and 40 bytes of headers for each segment, in seconds at 1 Gb/s.
        let service = 8e-9 * (own.size_bytes + 40 * own.size_bytes.div_ceil(1460)) as f64;
        let waits = (busy_until - flow.start_s).max(0.0);
        busy_until = flow.start_s + waits + service;
        wait += waits;
        // Up to what the largest flow, 30 MB, takes of the first hop: 2.4 ms.
        worst = worst.max((own.fct_s.unwrap() - waits - service).abs());
    }
    assert_eq!((summary.workloads[0].all.finished, summary.flows.len()), (1000, 1000));
    assert!(wait > 1000.0 * 0.01 && worst < 2.5e-3, "{wait} {worst}");
}

/// Users of an application over one link: so many arrive, one at a time, each far from the next.
fn users(app: Value, size: &str) -> Summary {
    run(
        &json!({
            "duration": "100s",
            "network": {"kind": "graph"},
            "node": [{"name": "server"}, {"name": "client"}],
            "link": [{"from": "server", "to": "client", "rate": "10Gbps", "delay": "50ms"}],
            "tcp": {"cc": "cubic", "profile": "linux"},
            "workload": [{
                "name": "web", "from": ["server"], "to": ["client"], "count": 20, "app": app,
                "arrivals": {"kind": "constant", "interval": "4s"}, "size": {"kind": "constant", "bytes": size},
            }],
        }),
        1,
    )
}

#[test]
fn users_transfer_ask_and_fetch_pages() {
    let about = |measured: Option<f64>, expected: f64| {
        let measured = measured.unwrap();
        assert!(measured >= expected * 0.99 && measured < expected + 2e-3, "{measured} {expected}");
    };
    let of = |summary: &Summary, key: &str| serde_json::to_value(&summary.workloads[0]).unwrap()[key].as_f64();
    // The handshake, a request, an answer: each half a round trip of 100 ms but the first.
    let down = users(json!({"kind": "transfer", "direction": "down"}), "10kB");
    about(of(&down, "fct_p50_s"), 0.2);
    assert_eq!((down.workloads[0].all.finished, of(&down, "request_s")), (20, None));
    let asking = users(json!({"kind": "request_response", "requests": 3, "think": "200ms"}), "10kB");
    about(of(&asking, "fct_p50_s"), 0.4 + 2.0 * 0.2);
    about(of(&asking, "request_p50_s"), 0.4 / 3.0);
    assert_eq!((asking.workloads[0].all.finished, of(&asking, "slowdown")), (20, None));
    // Three answers for each of twenty users.
    assert_eq!(of(&asking, "carried_bps"), Some(20.0 * 3.0 * 10e3 * 8.0 / 100.0));
    let pages = users(json!({"kind": "page", "protocol": "h2", "objects": 5, "html": "1kB", "depth": 1}), "10kB");
    about(of(&pages, "page_load_p50_s"), 0.3);
    assert_eq!((pages.workloads[0].all.finished, of(&pages, "page_load_p99_s")), (20, None));
    let sum = pages.conservation;
    assert_eq!(sum.sent, sum.delivered + sum.dropped + sum.in_flight);
}
