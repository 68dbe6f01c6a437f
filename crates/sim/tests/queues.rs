//! What the queue disciplines are for: standing queues, fairness, and counts that are right.

mod common;

use common::{fingerprint, run};
use serde_json::{Value, json};
use sim::Summary;

/// A dumbbell of 10 Mb/s and 5 ms; each pair adds the delay of its access link, one way, in milliseconds.
fn dumbbell(queue: &Value, delays_ms: &[u64], flows: Value) -> Value {
    let mut nodes = vec![json!({"name": "r0"}), json!({"name": "r1"})];
    let mut links = vec![json!({"from": "r0", "to": "r1", "rate": "10Mbps", "delay": "5ms", "queue": queue})];
    for (i, delay) in delays_ms.iter().enumerate() {
        let (left, right) = (format!("left{i}"), format!("right{i}"));
        links
            .push(json!({"from": left, "to": "r0", "rate": "1Gbps", "delay": format!("{delay}ms"), "queue": "10000p"}));
        links.push(json!({"from": "r1", "to": right, "rate": "1Gbps", "delay": "0ms", "queue": "10000p"}));
        nodes.extend([json!({"name": left}), json!({"name": right})]);
    }
    json!({
        "duration": "100s", "warmup": "20s", "network": {"kind": "graph"},
        "node": nodes, "link": links, "flow": flows, "tcp": {"cc": "newreno"},
    })
}

/// Long flows, one per delay, started 100 ms apart.
fn long_flows(queue: &Value, delays_ms: &[u64]) -> Summary {
    let flow =
        |i: usize| json!({"from": format!("left{i}"), "to": format!("right{i}"), "start": format!("{}ms", 100 * i)});
    let flows: Vec<Value> = (0..delays_ms.len()).map(flow).collect();
    run(&dumbbell(queue, delays_ms, json!(flows)), 1)
}

/// A UDP flow of so many bits per second of IP, in packets of 1000 B.
fn datagrams(pair: usize, bps: u64) -> Value {
    let app = json!({"kind": "cbr", "rate": format!("{}pps", bps / 8000), "size": "972B", "transport": "udp"});
    json!({"from": format!("left{pair}"), "to": format!("right{pair}"), "app": app})
}

/// Mean wait at the bottleneck in milliseconds.
fn wait_ms(summary: &Summary) -> f64 {
    1e3 * summary.links[0].queue_mean_s.unwrap()
}

fn disciplines() -> Vec<Value> {
    vec![
        json!("100p"),
        json!({"kind": "red", "limit": "100p"}),
        json!({"kind": "red", "limit": "100p", "adaptive": true}),
        json!({"kind": "red", "profile": "ns2", "limit": "100kB"}),
        json!({"kind": "red", "profile": "ns3"}),
        json!({"kind": "codel", "limit": "100p"}),
        json!({"kind": "fq_codel", "limit": "100p"}),
        json!({"kind": "fq_codel", "limit": "100kB"}),
        json!({"kind": "pie", "limit": "100p"}),
        json!({"kind": "pie", "limit": "100p", "derandomise": true}),
        json!({"kind": "pie", "limit": "100p", "estimator": "departure_rate"}),
    ]
}

#[test]
fn codel_holds_the_wait_of_one_long_flow_near_its_target() {
    // The sawtooth of one flow with an RTT of 10 ms is small, so the mean is near the least wait of an interval, which
    // CoDel holds at 5 ms. Drop-tail of the same size: as long as the flow can make it.
    for kind in ["codel", "fq_codel"] {
        let summary = long_flows(&json!({"kind": kind}), &[0]);
        assert!((4.0..7.5).contains(&wait_ms(&summary)), "{kind}: {}", wait_ms(&summary));
        assert!(summary.links[0].utilisation > 0.97);
        assert_eq!(summary.links[0].drops.queue, 0);
    }
    assert!(wait_ms(&long_flows(&json!("1000p"), &[0])) > 200.0);
}

#[test]
fn pie_holds_the_wait_near_its_target() {
    for more in [json!({}), json!({"derandomise": true}), json!({"estimator": "departure_rate"})] {
        for flows in [1, 4, 10] {
            let mut queue = more.clone();
            queue["kind"] = json!("pie");
            let summary = long_flows(&queue, &vec![5; flows]);
            assert!((13.0..18.5).contains(&wait_ms(&summary)), "{queue}, {flows} flows: {}", wait_ms(&summary));
        }
    }
}

#[test]
fn red_keeps_the_mean_length_between_its_thresholds() {
    for flows in [1, 4, 10] {
        let fixed = json!({"kind": "red", "min_threshold": 5, "max_threshold": 15, "limit": "500p"});
        let link = &long_flows(&fixed, &vec![0; flows]).links[0];
        assert!((5.0..15.0).contains(&link.queue_mean_packets), "{flows} flows: {}", link.queue_mean_packets);
    }
    // Adaptive RED aims at the middle fifth, 9 to 11 packets, whatever the load.
    for flows in [1, 4, 10, 20] {
        let adaptive =
            json!({"kind": "red", "min_threshold": 5, "max_threshold": 15, "limit": "500p", "adaptive": true});
        let link = &long_flows(&adaptive, &vec![0; flows]).links[0];
        assert!((8.5..11.5).contains(&link.queue_mean_packets), "{flows} flows: {}", link.queue_mean_packets);
    }
}

#[test]
fn fq_codel_shares_equally_whatever_the_round_trip_and_lets_sparse_flows_pass() {
    // RTT 10 and 30 ms, and 64 kb/s of datagrams. Under CoDel alone the shorter round trip wins by a factor of about two.
    let flows = json!([
        {"from": "left0", "to": "right0", "cc": "cubic"},
        {"from": "left1", "to": "right1", "cc": "cubic"},
        {"from": "left2", "to": "right2", "app": {"kind": "cbr", "rate": "50pps", "size": "132B", "transport": "udp"}},
    ]);
    let measure = |queue: Value| {
        let summary = run(&dumbbell(&queue, &[0, 10, 0], flows.clone()), 1);
        let [short, long, sparse] = [0, 1, 2].map(|i| &summary.flows[i].measures);
        (short.goodput_bps / long.goodput_bps, 1e3 * sparse.delay_p99_s.unwrap(), sparse.dropped_packets)
    };
    let (ratio, delay, dropped) = measure(json!({"kind": "fq_codel"}));
    assert!((ratio - 1.0).abs() < 0.05, "{ratio}");
    // Propagation 5 ms, its own transmission 0.13 ms, and up to two packets of others at 1.2 ms.
    assert!(delay < 8.0 && dropped == 0, "{delay} ms, {dropped} dropped");
    let (ratio, delay, _) = measure(json!({"kind": "codel"}));
    assert!(ratio > 1.5 && delay > 10.0, "CoDel alone: {ratio}, {delay} ms");
}

#[test]
fn fq_codel_gives_unresponsive_flows_equal_shares() {
    // 9, 6 and 1 Mb/s on 10 Mb/s: the last gets all it asks for, the others the half of the rest.
    let flows = json!([datagrams(0, 9_000_000), datagrams(1, 6_000_000), datagrams(2, 1_000_000)]);
    let summary = run(&dumbbell(&json!({"kind": "fq_codel"}), &[0, 0, 0], flows), 1);
    for (flow, share) in summary.flows.iter().zip([4.5e6, 4.5e6, 1e6]) {
        let rate = flow.measures.throughput_bps * 1000.0 / 972.0;
        assert!((rate / share - 1.0).abs() < 0.002, "flow {}: {rate} of {share}", flow.flow);
    }
}

#[test]
fn a_discipline_draws_from_a_stream_of_its_own() {
    // Below the link's rate nothing is dropped by any queue, and the medium's losses are the same for all. RED and PIE
    // draw nothing here; the salt of FQ-CoDel is drawn in any case.
    let print = |queue: &Value| {
        let mut scenario = dumbbell(queue, &[0, 0], json!([datagrams(0, 4_000_000), datagrams(1, 3_000_000)]));
        scenario["link"][0]["loss"] = json!({"kind": "packet", "p": 0.05});
        scenario["duration"] = json!("30s");
        fingerprint(&scenario, 3)
    };
    let [first, others @ ..] = &disciplines()[..] else { unreachable!("there are several") };
    let expected = print(first);
    others.iter().for_each(|queue| assert_eq!(print(queue), expected, "{queue}"));
}

#[test]
fn a_flow_more_on_another_link_changes_no_decision_of_a_queue() {
    // The second flow has a link and a queue of its own.
    let scenario = |second: bool| {
        let queue = json!({"kind": "red", "limit": "100p"});
        let mut scenario = dumbbell(&queue, &[0, 0], json!([datagrams(0, 12_000_000)]));
        scenario["duration"] = json!("30s");
        if second {
            let link = json!({"from": "left1", "to": "r1", "rate": "1Mbps", "queue": queue});
            scenario["link"].as_array_mut().unwrap().push(link);
            scenario["flow"].as_array_mut().unwrap().push(datagrams(1, 2_000_000));
        }
        scenario
    };
    let drops = |second| run(&scenario(second), 1).flows[0].measures.dropped_packets;
    assert_eq!(drops(false), drops(true));
}

#[test]
fn an_overload_loses_its_excess() {
    // 12 Mb/s on 10 Mb/s: a sixth is dropped, but for what waits at the end (100 of 150,000 packets).
    for queue in disciplines() {
        let mut scenario = dumbbell(&queue, &[0, 0], json!([datagrams(0, 9_000_000), datagrams(1, 3_000_000)]));
        scenario["warmup"] = json!("0s");
        let summary = run(&scenario, 1);
        let (link, all) = (&summary.links[0], &summary.network.measures);
        let share = all.loss_ratio.unwrap();
        assert!((share - 1.0 / 6.0).abs() < 0.002, "{queue}: {share}");
        assert_eq!(link.dropped_packets, link.drops.queue + link.drops.aqm);
        assert_eq!((all.dropped_packets, all.drops.aqm), (link.dropped_packets, link.drops.aqm));
        assert_eq!((link.marked_packets, all.marked_packets), (0, 0), "UDP takes no marks");
    }
}
