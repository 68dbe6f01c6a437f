//! How links serve their queues: vectors by hand, exact counts, and summaries.

mod common;

use common::{events, run};
use serde_json::{Value, json};

/// A link with these keys and without delay; datagrams of these sizes (IP) sent at these times in milliseconds.
fn world(link: Value, packets: &[(f64, u64)]) -> Value {
    let mut link = link;
    for (key, value) in [("from", "a"), ("to", "b"), ("delay", "0s"), ("queue", "unlimited")] {
        if link.get(key).is_none() {
            link[key] = json!(value);
        }
    }
    let flow = |(at, size): &(f64, u64)| {
        json!({"from": "a", "to": "b", "start": format!("{at}ms"),
               "app": {"kind": "cbr", "rate": "0.0001pps", "size": format!("{}B", size - 28), "transport": "udp"}})
    };
    json!({
        "duration": "20s",
        "network": {"kind": "graph"},
        "node": [{"name": "a"}, {"name": "b"}],
        "link": [link],
        "flow": packets.iter().map(flow).collect::<Vec<_>>(),
    })
}

/// A constant stream of datagrams of 1500 B (IP) over a link with these keys.
fn stream(link: Value, rate: &str, duration: &str) -> Value {
    let mut world = world(link, &[(0.0, 1500)]);
    world["duration"] = json!(duration);
    world["flow"][0]["app"]["rate"] = json!(rate);
    world
}

/// When packets arrive at `b`, in milliseconds.
fn arrivals(scenario: &Value) -> Vec<f64> {
    let lines = events(scenario, 1);
    let delivered = lines.iter().filter(|line| line.split_whitespace().nth(1) == Some("delivered"));
    delivered.map(|line| 1000.0 * line.split_whitespace().next().unwrap().parse::<f64>().unwrap()).collect()
}

fn assert_near(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (found, expected) in found.iter().zip(expected) {
        // A nanosecond, and the rounding of this number.
        assert!((found - expected).abs() < 1.01e-6, "{found} instead of {expected}");
    }
}

fn trace(times: &str) -> Value {
    json!({"service": {"kind": "trace", "times": times}, "overhead": "0B"})
}

#[test]
fn opportunities_carry_parts_of_packets_over() {
    let packets = [(0.0, 1500), (0.0, 1500), (0.0, 1500), (2.0, 500), (2.0, 500), (2.0, 500), (8.0, 1500)];
    let scenario = world(trace("1 1 3 7"), &packets);
    assert_near(&arrivals(&scenario), &[1.0, 1.0, 3.0, 7.0, 7.0, 7.0, 8.0]);
    let wrap = world(trace("0 5"), &[(0.0, 1500); 4]);
    assert_near(&arrivals(&wrap), &[0.0, 5.0, 5.0, 10.0]);
    // Without a loop two packets stay in the queue.
    let mut once = wrap.clone();
    once["link"][0]["service"]["loop"] = json!(false);
    assert_near(&arrivals(&once), &[0.0, 5.0]);
    let mut later = wrap;
    later["link"][0]["service"]["offset"] = json!("100ms");
    assert_near(&arrivals(&later), &[100.0, 105.0, 105.0, 110.0]);
}

#[test]
fn a_packet_larger_than_an_opportunity_takes_several() {
    let mut link = trace("2 4");
    link["service"]["opportunity"] = json!("1000B");
    assert_near(&arrivals(&world(link, &[(0.0, 1500), (0.0, 1500)])), &[4.0, 6.0]);
}

#[test]
fn every_opportunity_of_a_saturated_trace_carries_a_packet() {
    // 0 to 3 opportunities in each millisecond of a second; mahimahi's 4 B of overhead fill them with 1500 B.
    let times: Vec<u32> = (0..1000_u32).flat_map(|ms| vec![ms; (ms * 7 % 4) as usize]).chain([1000]).collect();
    let text = times.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
    let link = json!({"service": {"kind": "trace", "times": text}, "queue": "unlimited"});
    let mut scenario = stream(link, "40Mbps", "9.7501s");
    scenario["warmup"] = json!("1.5s");
    let summary = run(&scenario, 1);
    let of_last = times.iter().filter(|ms| **ms <= 750).count();
    let of_warmup = times.len() + times.iter().filter(|ms| **ms <= 500).count();
    let expected = (9 * times.len() + of_last - of_warmup) as u64;
    let (flow, link) = (&summary.flows[0].measures, serde_json::to_value(&summary.links[0]).unwrap());
    assert_eq!(link["opportunities"], json!(expected));
    assert_eq!(link["used_bytes"], json!(1504 * expected));
    assert_eq!(flow.received_packets, expected);
    assert!((summary.links[0].utilisation - 1.0).abs() < 1e-12);
    assert!((link["capacity_bps"].as_f64().unwrap() - expected as f64 * 1504.0 * 8.0 / 8.2501).abs() < 1e-3);
}

#[test]
fn what_nobody_uses_costs_nothing() {
    let dense: String = (1..=200_000).map(|i| format!("{} ", i / 10)).collect();
    let summary = run(&stream(trace(&dense), "100pps", "10s"), 1);
    assert!(summary.events < 5 * summary.flows[0].measures.received_packets, "{}", summary.events);
    assert_eq!(serde_json::to_value(&summary.links[0]).unwrap()["opportunities"], json!(100_000));
}

#[test]
fn rates_change_under_a_packet() {
    let points = json!([["0s", "12Mbps"], ["0.5ms", "0bps"], ["2ms", "6Mbps"]]);
    let link = json!({"service": {"kind": "rate_trace", "points": points}});
    assert_near(&arrivals(&world(link, &[(0.0, 1500); 3])), &[3.0, 5.0, 7.0]);
    // 12 and 6 Mb/s in turn, each for 1 ms: a packet of 12 kbit takes 1 ms, or 2 ms in two parts.
    let link = json!({"service": {"kind": "rate_trace", "loop": true, "points": [["0s", "12Mbps"], ["1ms", "6Mbps"]]}});
    assert_near(&arrivals(&world(link, &[(0.0, 1500); 4])), &[1.0, 2.5, 4.0, 5.0]);
}

#[test]
fn a_boost_lasts_as_long_as_its_bucket() {
    let link = json!({"service": {"kind": "boost", "peak": "100Mbps", "sustained": "50Mbps", "bucket": "10MB"}, "queue": "1000p"});
    let times = arrivals(&stream(link, "200Mbps", "3s"));
    // 20 MB in 1.6 s, then half as fast.
    let bytes = |from: f64, to: f64| 1500 * times.iter().filter(|at| **at > from && **at <= to).count();
    assert!(bytes(0.0, 1600.0).abs_diff(20_000_000) <= 3000, "{}", bytes(0.0, 1600.0));
    assert!(bytes(1600.0, 2600.0).abs_diff(6_250_000) <= 3000, "{}", bytes(1600.0, 2600.0));
}

#[test]
fn pauses_hold_or_drop() {
    let period = |ms: u64| json!({"kind": "constant", "length": format!("{ms}ms")});
    let on_off = |while_off: &str| json!({"rate": "12Mbps", "service": {"kind": "on_off", "on": period(2), "off": period(10), "while_off": while_off}});
    let packets = [(0.5, 1500), (0.5, 1500), (0.5, 1500), (5.0, 1500), (12.0, 1500)];
    assert_near(&arrivals(&world(on_off("hold"), &packets)), &[1.5, 12.5, 13.5, 24.5, 25.5]);
    let dropping = world(on_off("drop"), &packets);
    assert_near(&arrivals(&dropping), &[1.5, 13.0]);
    let summary = run(&dropping, 1);
    assert_eq!((summary.links[0].drops.link_down, summary.conservation.dropped), (3, 3));
}

#[test]
fn aggregates_arrive_together() {
    let link = |queue: &str| json!({"rate": "200Mbps", "queue": queue, "service": {"kind": "aggregate"}});
    let times = arrivals(&world(link("unlimited"), &[(0.0, 1538); 100]));
    assert_near(&times, &[vec![4.08728; 64], vec![6.45200; 36]].concat());
    let mut saturated = stream(link("200p"), "400Mbps", "10s");
    saturated["flow"][0]["app"]["size"] = json!("1510B");
    saturated["warmup"] = json!("1s");
    let summary = serde_json::to_value(run(&saturated, 1)).unwrap();
    let link = &summary["links"][0];
    assert!((link["utilisation"].as_f64().unwrap() - 0.96330).abs() < 5e-4, "{link}");
    assert_eq!(link["burst_packets_mean"], json!(64.0));
}

#[test]
fn grants_come_a_loop_after_their_request() {
    let link = json!({"rate": "20Mbps", "service": {"kind": "request_grant", "map": "2ms", "loop": 2}});
    let packets = [(0.5, 1500), (0.9, 1500), (5.0, 1500)];
    assert_near(&arrivals(&world(link.clone(), &packets)), &[6.6, 7.2, 10.6]);
    // A lone packet waits for half a map and the loop.
    let alone: Vec<(f64, u64)> = (0..500).map(|i| (20.0 * f64::from(i) + 2.0 * f64::from(i) / 500.0, 1500)).collect();
    let waits: Vec<f64> =
        arrivals(&world(link.clone(), &alone)).iter().zip(&alone).map(|(t, p)| t - p.0 - 0.6).collect();
    let mean = waits.iter().sum::<f64>() / waits.len() as f64;
    assert!((mean - 5.0).abs() < 0.01, "{mean}");
    // With one request at a time the second packet asks when the grant of the first has come.
    let mut single = link;
    single["service"]["rides"] = json!(false);
    assert_near(&arrivals(&world(single, &[(0.5, 1500), (2.5, 1500)])), &[6.6, 10.6]);
}

#[test]
fn random_opportunities_have_their_mean_rate() {
    let link = json!({"service": {"kind": "poisson", "rate": "0.57Mbps"}, "queue": "100p"});
    let summary = serde_json::to_value(run(&stream(link, "2Mbps", "2000s"), 1)).unwrap();
    let count = summary["links"][0]["opportunities"].as_f64().unwrap();
    // Three standard errors of 94747 opportunities; their mean distance is 21.1088 ms.
    assert!((2_000_000.0 / 21.1088 - count).abs() < 3.0 * f64::sqrt(94_747.0), "{count}");
}

#[test]
fn slots_draw_rate_and_delay() {
    let service = json!({"kind": "slots", "period": "1s", "phase": "0.5s", "rate": ["10Mbps", "20Mbps"],
        "delay": ["10ms", "30ms"], "edge": {"after": "100ms", "before": "50ms", "extra": "60ms"}, "outage": "20ms"});
    let packets: Vec<(f64, u64)> = (0..2000).map(|i| (10.0 * f64::from(i) + 5.0, 1500)).collect();
    let scenario = world(json!({"service": service}), &packets[..600]);
    let times = arrivals(&scenario);
    assert!(times.is_sorted());
    let of_slot: Vec<f64> = (0..6).map(|k| times[50 + 100 * k - 20] - packets[50 + 100 * k - 20].0).collect();
    assert!(of_slot.iter().all(|ms| (10.6..31.2).contains(ms)), "{of_slot:?}");
    assert!(of_slot.windows(2).all(|pair| pair[0] != pair[1]), "each slot draws: {of_slot:?}");
    let after = times[53] - packets[53].0;
    assert!((70.6..91.2).contains(&after), "{after}");
    let summary = serde_json::to_value(run(&scenario, 1)).unwrap();
    assert_eq!(summary["links"][0]["slots"], json!(20));
    let capacity = summary["links"][0]["capacity_bps"].as_f64().unwrap();
    assert!((9.8e6..19.7e6).contains(&capacity), "{capacity}");
}

#[test]
fn each_slot_draws_how_much_longer_its_edges_are() {
    let service = json!({"kind": "slots", "period": "1s", "phase": "0s", "rate": ["10Mbps", "10Mbps"], "delay": ["10ms", "10ms"],
        "edge": {"after": "500ms", "extra": "30ms", "extra_to": "50ms"}});
    let packets: Vec<(f64, u64)> = (0..190).map(|i| (100.0 * f64::from(i) + 50.0, 1500)).collect();
    let times = arrivals(&world(json!({"service": service}), &packets));
    let longer: Vec<f64> = times.iter().zip(&packets).map(|(at, (sent, _))| at - sent - 11.2).collect();
    for slot in longer.chunks(10) {
        assert!(slot[0] > 29.9 && slot[0] < 50.1 && slot[..5].iter().all(|ms| (ms - slot[0]).abs() < 0.2), "{slot:?}");
        assert!(slot[5..].iter().all(|ms| ms.abs() < 0.2), "{slot:?}");
    }
    let mean = longer.iter().step_by(10).sum::<f64>() / 19.0;
    // Four standard errors of 19 draws.
    assert!((mean - 40.0).abs() < 4.0 * 20.0 / f64::sqrt(12.0 * 19.0), "{mean}");
}

#[test]
fn each_direction_has_its_own_service() {
    let service = json!({"kind": "trace", "times": "1 2", "profile": "std"});
    let mut scenario = world(json!({"service": service, "reverse": {"rate": "1Mbps"}}), &[(0.0, 1500)]);
    let summary = run(&scenario, 1);
    assert_eq!((summary.links[0].rate_bps, summary.links[1].rate_bps), (12_000_000, 1_000_000));
    assert!(summary.links[0].service.is_some() && summary.links[1].service.is_none());
    scenario["link"][0]["reverse"] = json!({"service": {"kind": "trace", "times": "4"}});
    let summary = run(&scenario, 1);
    assert_eq!(summary.links[1].rate_bps, 3_008_000);
    // What is resolved is the same world.
    let again = serde_json::to_value(&summary.resolved).unwrap();
    assert_eq!(run(&again, 1).links[1].rate_bps, 3_008_000);
}

#[test]
fn the_capacity_of_a_link_is_a_series() {
    let link = json!({"service": {"kind": "rate_trace", "points": [["0s", "1Mbps"], ["1s", "3Mbps"]]}});
    let mut scenario = stream(link, "1pps", "2s");
    scenario["record"] = json!({"series": ["capacity"], "every": "500ms"});
    let outcome = sim::Simulation::new(&common::scenario(&scenario), 1).unwrap().run();
    // Both directions, one after the other.
    assert_eq!(outcome.series[0].1.value[..6], [1e6, 1e6, 1e6, 1e6, 3e6, 3e6]);
}

#[test]
fn changes_repeat_and_paths_get_shorter() {
    let changes = json!([{"at": "0s", "delay": "20ms"}, {"at": "1s", "delay": "5ms", "overtake": true}]);
    let link = json!({"rate": "12Mbps", "changes": changes, "repeat": "2s"});
    let mut times =
        arrivals(&world(link.clone(), &[(10.0, 1500), (995.0, 1500), (1001.0, 1500), (3001.0, 1500), (2500.0, 1500)]));
    assert_near(&times, &[31.0, 1007.0, 1016.0, 2521.0, 3007.0]);
    let mut kept = link;
    kept["changes"][1]["overtake"] = json!(false);
    times = arrivals(&world(kept, &[(995.0, 1500), (1001.0, 1500)]));
    assert_near(&times, &[1016.0, 1016.0]);
}

#[test]
fn each_mistake_of_a_service_or_an_effect_names_its_path() {
    let trace = |times: &str| json!({"kind": "trace", "times": times});
    let points = |points: Value| json!({"kind": "rate_trace", "points": points});
    let period = json!({"kind": "constant", "length": "1s"});
    let cases = [
        ("service", json!({"kind": "tracer"}), "service.kind: unknown kind \"tracer\"", "did you mean trace?"),
        ("service", json!({"kind": "trace"}), "service.times: is missing or empty", "give file or times"),
        ("service", json!({"kind": "trace", "file": "cell.down"}), "service.file: \"cell.down\" has not been read", ""),
        ("service", trace("1 x"), "service.times: \"x\" is not a whole number of milliseconds", ""),
        ("service", trace("1 3 2"), "service.times: entry 3 (2) is below the one before it (3)", ""),
        ("service", trace("0 0"), "service.times: the last time is 0", ""),
        ("service", json!({"kind": "trace", "times": "1", "opportunity": "0B"}), "service.opportunity: 0B", "1B"),
        ("service", json!({"kind": "poisson", "rate": "0bps"}), "service.rate: ", "above zero"),
        ("service", json!({"kind": "rate_trace"}), "service.points: is missing or empty", "give file or points"),
        ("service", points(json!([["1s", "1Mbps"]])), "service.points: the first time is 1s; it must be 0s", ""),
        ("service", points(json!([["0s", "1Mbps"], ["0s", "1Mbps"]])), "service.points: the time of point 2 (0s)", ""),
        ("service", points(json!([["0s", "1Mbps"], ["1s", "0bps"]])), "service.points: the last rate is 0", ""),
        (
            "service",
            json!({"kind": "boost", "peak": "1Mbps", "sustained": "2Mbps", "bucket": "1MB"}),
            "service.peak: ",
            "sustained",
        ),
        (
            "service",
            json!({"kind": "on_off", "on": period, "off": {"kind": "constant", "length": "1us"}}),
            "service.off: ",
            "1ms",
        ),
        ("service", json!({"kind": "aggregate", "packets": 0}), "service.packets: 0 is not a count from 1", ""),
        ("service", json!({"kind": "request_grant", "loop": 0}), "service.loop: 0 is not a count of maps from 1", ""),
        ("service", json!({"kind": "slots", "rate": ["9Mbps", "1Mbps"]}), "service.rate: 9Mbps to 1Mbps", "largest"),
        (
            "service",
            json!({"kind": "slots", "rate": ["1Mbps", "1Mbps"], "outage": "15s"}),
            "service.outage: ",
            "shorter",
        ),
        (
            "service",
            json!({"kind": "slots", "rate": ["1Mbps", "1Mbps"], "edge": {"extra": "50ms", "extra_to": "30ms"}}),
            "service.edge.extra_to: ",
            "50ms",
        ),
        ("jitter", json!({"kind": "uniform", "max": "0s"}), "jitter.max: 0s is not a time from 1ns", ""),
        ("jitter", json!({"kind": "pareto", "mean": "1ms", "shape": 1.0}), "jitter.shape: 1 is not above 1", ""),
        ("jitter", json!({"kind": "uniform", "max": "1ms", "per": "flow"}), "jitter.per: ", "\"packet\""),
        ("jitter", json!({"kind": "uniform", "max": "1ms", "reoder": true}), "jitter.reoder: unknown key", ""),
        ("jitter", json!({"kind": "file", "points": [[0.0, "1ms"], [0.5, "2ms"]]}), "jitter.points: ", "the last 1"),
        (
            "reorder",
            json!({"kind": "late", "p": 1.5, "by": period}),
            "reorder.p: 1.5 is not a probability from 0 to 1",
            "",
        ),
        ("reorder", json!({"kind": "early", "gap": 0}), "reorder.gap: 0 is not a count of packets from 1 on", ""),
        ("duplicate", json!({"p": -0.1}), "duplicate.p: -0.1 is not a probability", ""),
        ("corrupt", json!({"kind": "bit", "ber": 2.0}), "corrupt.ber: 2 is not a probability", ""),
        ("harq", json!({"p": [0.1, 7.0]}), "harq.p[1]: 7 is not a probability", ""),
        ("harq", json!({"p": "often"}), "harq.p: ", "a probability, or an array"),
        ("harq", json!({"p": 0.1, "attempts": 0}), "harq.attempts: 0 is not a count from 1", ""),
        ("acks", json!({"kind": "decimate", "every": 0, "timeout": "1ms"}), "acks.every: 0 is not a count from 1", ""),
        ("repeat", json!("1s"), "repeat: needs changes beside it", ""),
        (
            "changes",
            json!([{"at": "1s", "up": false, "overtake": true}]),
            "changes[0].overtake: needs delay beside it",
            "",
        ),
    ];
    for (key, value, start, rest) in cases {
        let mut scenario = world(json!({"rate": "1Mbps"}), &[(0.0, 1500)]);
        scenario["link"][0][key] = value;
        for place in ["link[0].", "link[0].reverse."] {
            if place.contains("reverse") {
                let value = scenario["link"][0].as_object_mut().unwrap().remove(key).unwrap();
                scenario["link"][0]["reverse"] = json!({key: value});
                if ["repeat", "changes"].contains(&key) {
                    continue;
                }
            }
            let refusal = common::refusal(&scenario);
            assert!(refusal.starts_with(&format!("{place}{start}")) && refusal.contains(rest), "{refusal}");
        }
    }
}

#[test]
fn a_service_and_a_rate_contradict_each_other() {
    let refusal = |link: Value| common::refusal(&world(link, &[(0.0, 1500)]));
    let service = json!({"kind": "trace", "times": "1"});
    let message = refusal(json!({"service": service, "rate": "1Mbps"}));
    assert!(
        message.starts_with("link[0].rate: 1Mbps stands beside a service that has a rate of its own (12032kbps)"),
        "{message}"
    );
    let message = refusal(json!({"service": service, "changes": [{"at": "1s", "rate": "1Mbps"}]}));
    assert!(message.starts_with("link[0].changes[0].rate: the service of the link has rates of its own"), "{message}");
    let message = refusal(json!({"rate": "1Mbps", "repeat": "1s", "changes": [{"at": "1s", "up": false}]}));
    assert!(message.starts_with("link[0].changes[0].at: 1s is not within"), "{message}");
    let slots = json!({"kind": "slots", "rate": ["1Mbps", "2Mbps"], "delay": ["1ms", "2ms"]});
    let message = refusal(json!({"service": slots, "delay": "5ms"}));
    assert!(message.starts_with("link[0].delay: 5ms stands beside a service that draws delays"), "{message}");
}
