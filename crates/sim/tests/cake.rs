//! CAKE on networks: the acceptance rows C1 to C4 of internet §7.

mod common;

use common::run;
use serde_json::{Value, json};
use sim::Summary;

/// Hosts behind a router, a home gateway with CAKE towards the hosts, a server. The link of the queue is far faster than its
/// shaper; `line` stands behind it.
fn home(queue: &Value, line: &str, rtt_ms: u64, flows_of_hosts: &[usize], seconds: u64) -> Value {
    let mut nodes = vec![json!({"name": "server"}), json!({"name": "shaper"}), json!({"name": "modem"})];
    let mut links = vec![
        json!({"from": "shaper", "to": "modem", "rate": "10Gbps", "delay": "0ms", "queue": queue}),
        json!({"from": "modem", "to": "far", "rate": line, "delay": "0ms", "queue": "1000p"}),
        json!({"from": "server", "to": "shaper", "rate": "10Gbps", "delay": "0ms", "queue": "100000p",
            "reverse": {"delay": format!("{rtt_ms}ms")}}),
    ];
    nodes.push(json!({"name": "far"}));
    let mut flows = Vec::new();
    for (host, count) in flows_of_hosts.iter().enumerate() {
        let name = format!("host{host}");
        links.push(json!({"from": "far", "to": name, "rate": "10Gbps", "delay": "0ms", "queue": "100000p"}));
        nodes.push(json!({"name": name}));
        flows.extend((0..*count).map(
            |i| json!({"from": "server", "to": name, "cc": "cubic", "start": format!("{}ms", 10 * i + 3 * host)}),
        ));
    }
    json!({
        "duration": format!("{seconds}s"), "warmup": "5s", "network": {"kind": "graph"}, "node": nodes, "link": links,
        "flow": flows, "tcp": {"profile": "linux"},
    })
}

/// The parts of the goodput that hosts have.
fn shares(summary: &Summary, flows_of_hosts: &[usize]) -> Vec<f64> {
    let goodputs: Vec<f64> = summary.flows.iter().map(|flow| flow.measures.goodput_bps).collect();
    let total: f64 = goodputs.iter().sum();
    let mut rest = goodputs.as_slice();
    let mut own = |count: &usize| {
        let (first, others) = rest.split_at(*count);
        rest = others;
        first.iter().sum::<f64>() / total
    };
    flows_of_hosts.iter().map(&mut own).collect()
}

#[test]
fn hosts_share_equally_and_flows_do_where_they_are_isolated() {
    // C1. At an RTT of 2 ms one flow fills its share; at 40 ms CUBIC under COBALT does not: with eight flows at the other host it has
    // 38.5 % in Linux, and 38.4 % here (docs/models.md).
    for flows in [&[1, 9][..], &[1, 4, 16]] {
        let queue = json!({"kind": "cake", "rate": "20Mbps", "isolate": "dual_dst"});
        let found = shares(&run(&home(&queue, "1Gbps", 2, flows, 30), 1), flows);
        let equal = 1.0 / flows.len() as f64;
        assert!(found.iter().all(|share| (share - equal).abs() < 0.01), "{flows:?}: {found:?}");
    }
    // All flows have one sender, whose flows share alike under `triple`, as in Linux.
    for isolate in ["flows", "triple"] {
        let queue = json!({"kind": "cake", "rate": "20Mbps", "isolate": isolate});
        let found = shares(&run(&home(&queue, "1Gbps", 2, &[1, 9], 30), 1), &[1, 9]);
        assert!((found[0] - 0.1).abs() < 0.02, "{isolate}: {found:?}");
    }
}

#[test]
fn the_line_behind_a_slower_shaper_has_no_queue_and_the_framing_is_paid_for() {
    // C2: 18 of 20 Mb/s on the line, packets of 1000 B.
    for (overhead, on_line) in
        [("raw", 1000.0), ("docsis", 1018.0), ("pppoe_ptm", 1047.0), ("pppoe_llcsnap", 22.0 * 53.0)]
    {
        let queue = json!({"kind": "cake", "rate": "18Mbps", "overhead": overhead, "memory": "100kB"});
        let mut scenario = home(&queue, "20Mbps", 10, &[1], 20);
        scenario["flow"] = json!([{"from": "server", "to": "host0",
            "app": {"kind": "cbr", "rate": "4000pps", "size": "972B", "transport": "udp"}}]);
        let summary = run(&scenario, 1);
        let carried = summary.flows[0].measures.received_packets as f64 * 8000.0 / 15.0;
        let expected = 18e6 * 1000.0 / on_line;
        assert!((carried / expected - 1.0).abs() < 0.002, "{overhead}: {carried} of {expected}");
        assert!(summary.links[2].queue_mean_packets < 1.0);
        let shaped = &summary.links[0];
        let share = shaped.host_share.as_ref().expect("the queue is CAKE");
        assert_eq!(share.by_source, [("server".into(), shaped.sent_bytes)].into());
        assert_eq!(share.by_destination, [("host0".into(), shaped.sent_bytes)].into());
    }
}

#[test]
fn one_long_flow_waits_as_long_as_the_control_law_lets_it() {
    // C3: (Mb/s, RTT in ms), mean wait in ms, utilisation.
    let cells = [(10, 20, 4.3, 0.999), (10, 80, 1.3, 0.912), (50, 20, 2.2, 0.988), (50, 80, 0.75, 0.914)];
    for (mbps, rtt_ms, wait_ms, utilisation) in cells {
        let queue = json!({"kind": "cake", "rate": format!("{mbps}Mbps")});
        let summary = run(&home(&queue, "1Gbps", rtt_ms, &[1], 60), 1);
        let wait = 1e3 * summary.links[0].delay_queue_mean_s.unwrap();
        assert!(wait < f64::max(1.5 * wait_ms, wait_ms + 2.0), "{mbps} {rtt_ms}: {wait} ms");
        let used = summary.flows[0].measures.goodput_bps * 1500.0 / 1448.0 / (f64::from(mbps) * 1e6);
        assert!((used - utilisation).abs() < 0.03, "{mbps} {rtt_ms}: {used}");
    }
}

#[test]
fn the_filter_takes_six_of_ten_acks_beside_an_upload_and_none_that_does_not_wait() {
    // C4: a cable of 300 and 20 Mb/s.
    let line = |ack_filter: &str, uploads: usize| {
        let cake = |rate: &str| json!({"kind": "cake", "rate": rate, "ack_filter": ack_filter});
        let mut scenario = home(&cake("300Mbps"), "1Gbps", 20, &[1, 0], 15);
        scenario["warmup"] = json!("0s");
        scenario["link"][1]["reverse"] = json!({"queue": cake("20Mbps"), "rate": "1Gbps"});
        let flows = scenario["flow"].as_array_mut().unwrap();
        flows.extend((0..uploads).map(|_| json!({"from": "host1", "to": "server", "cc": "cubic"})));
        run(&scenario, 1)
    };
    let filtered = |summary: &Summary| {
        let drops = summary.links.iter().map(|link| link.drops.ack_filter).sum::<u64>();
        drops as f64 / summary.flows[0].measures.ack_packets as f64
    };
    let goodput = |summary: &Summary| summary.flows[0].measures.goodput_bps;
    let off = line("off", 1);
    for mode in ["on", "aggressive"] {
        let busy = line(mode, 1);
        assert!(filtered(&busy) >= 0.6, "{mode}: {}", filtered(&busy));
        assert!(goodput(&busy) > 0.99 * goodput(&off), "{mode}: {} {}", goodput(&busy), goodput(&off));
        assert!(filtered(&line(mode, 0)) < 0.01, "{mode}");
    }
}

#[test]
fn the_filter_takes_acks_from_a_busy_uplink() {
    // C4: 100 Mb/s down, 0.5 Mb/s up, which half of the ACKs would fill.
    let download = |ack_filter: &str| {
        let mut scenario = home(&json!("1000p"), "100Mbps", 20, &[1], 15);
        let queue = json!({"kind": "cake", "rate": "500kbps", "ack_filter": ack_filter});
        scenario["link"][1]["reverse"] = json!({"queue": queue, "rate": "1Gbps"});
        run(&scenario, 1)
    };
    let goodput = |summary: &Summary| summary.flows[0].measures.goodput_bps;
    let sent = |summary: &Summary| summary.links.iter().map(|link| link.sent_bytes).collect::<Vec<_>>();
    let (off, on, aggressive) = (download("off"), download("on"), download("aggressive"));
    assert!(goodput(&on) > 0.99 * goodput(&off), "{} {}", goodput(&on), goodput(&off));
    assert!(goodput(&aggressive) > 0.99 * goodput(&off));
    let filtered = |summary: &Summary| summary.links.iter().map(|link| link.drops.ack_filter).sum::<u64>();
    assert_eq!(filtered(&off), 0);
    let came = on.flows[0].measures.ack_packets as f64;
    assert!(filtered(&on) as f64 > 0.4 * came && filtered(&aggressive) >= filtered(&on) / 2, "{came} {:?}", sent(&on));
}

#[test]
fn classes_have_their_parts_of_the_rate() {
    let mut scenario = home(&json!({"kind": "cake", "rate": "16Mbps"}), "1Gbps", 10, &[1, 1], 15);
    let datagrams = |host: &str, dscp: &str| {
        json!({"from": "server", "to": host, "dscp": dscp,
            "app": {"kind": "cbr", "rate": "2000pps", "size": "972B", "transport": "udp"}})
    };
    scenario["flow"] = json!([datagrams("host0", "CS1"), datagrams("host1", "CS0")]);
    let summary = run(&scenario, 1);
    let found = shares(&summary, &[1, 1]);
    assert!((found[0] - 1.0 / 16.0).abs() < 0.01, "bulk has a sixteenth where others want the rest: {found:?}");
}
