//! What a link does to the ECN field of packets that enter it: marks, and rewriting against RFC 3168.

mod common;

use common::{refusal, run};
use serde_json::{Value, json};
use sim::Summary;

/// One bulk flow over a link of 50 Mb/s and 20 ms whose queue never fills, with these properties of the link and of TCP.
fn over(link: Value, tcp: Value, flow: Value) -> Value {
    let mut bottleneck = json!({"from": "a", "to": "b", "rate": "50Mbps", "delay": "10ms", "queue": "100000p"});
    bottleneck.as_object_mut().unwrap().extend(link.as_object().unwrap().clone());
    let mut bulk = json!({"from": "a", "to": "b"});
    bulk.as_object_mut().unwrap().extend(flow.as_object().unwrap().clone());
    json!({"duration": "60s", "warmup": "20s", "network": {"kind": "graph"}, "node": [{"name": "a"}, {"name": "b"}],
           "link": [bottleneck], "tcp": tcp, "flow": [bulk]})
}

fn cwnd_packets(summary: &Summary) -> f64 {
    summary.flows[0].cwnd_mean_bytes.unwrap() / 1448.0
}

#[test]
fn a_share_of_the_packets_is_marked_and_reno_has_the_window_of_the_square_root() {
    // W = sqrt(1.5 / p) with an ACK for each packet and a mark a round trip at most (Mathis et al. 1997): 38.7 packets at 0.001.
    let tcp = json!({"profile": "rfc", "cc": "reno", "ecn": "classic", "ack_every": 1, "mss": "1448B"});
    let summary = run(&over(json!({"marks": {"kind": "packet", "p": 0.001}}), tcp.clone(), json!({})), 1);
    let link = &summary.links[0];
    let (sent, marks) = (link.sent_packets as f64 * 1.5, link.marked_packets as f64);
    assert!((marks - 0.001 * sent).abs() < 5.0 * f64::sqrt(0.001 * sent) + 10.0, "{marks} of about {sent}");
    let window = cwnd_packets(&summary);
    assert!((0.75..1.25).contains(&(window / f64::sqrt(1.5 / 0.001))), "{window}");
    // Who is not ECN-capable passes and is not counted.
    let off = json!({"profile": "rfc", "cc": "reno"});
    let summary = run(&over(json!({"marks": {"kind": "packet", "p": 0.5}}), off, json!({})), 1);
    let link = &summary.links[0];
    assert_eq!((link.marked_packets, link.dropped_packets), (0, link.drops.queue));
}

#[test]
fn scripted_marks_fall_on_the_listed_data_packets() {
    let tcp = json!({"profile": "rfc", "cc": "reno", "ecn": "classic"});
    let link = json!({"marks": {"kind": "nth", "data_packets": [3, 500, 501]}});
    let mut scenario = over(link, tcp, json!({}));
    scenario["warmup"] = json!("0s");
    let summary = run(&scenario, 1);
    assert_eq!((summary.links[0].marked_packets, summary.network.measures.marked_packets), (3, 3));
}

#[test]
fn each_way_to_rewrite_does_what_it_says() {
    let l4s = json!({"profile": "linux", "cc": "prague"});
    let rewritten = |ecn: Value, tcp: &Value, queue: Value| {
        let summary = run(&over(json!({"ecn": ecn, "queue": queue, "rate": "20Mbps"}), tcp.clone(), json!({})), 1);
        let link = &summary.links[0];
        (link.ecn_rewritten, link.marked_packets, summary.network.measures.dropped_packets)
    };
    let marking = json!({"kind": "drop_tail", "limit": "100p", "mark_threshold": 10});
    // As it should be: marks and no drops. Bleached packets cannot be marked and are dropped; ECT(0) can.
    let (none, marks, drops) = rewritten(json!("pass"), &l4s, marking.clone());
    assert!(none.is_none() && marks > 0 && drops == 0);
    let (some, marks, drops) = rewritten(json!("bleach"), &l4s, marking.clone());
    assert!(some.unwrap() > 1000 && marks == 0 && drops > 0, "{some:?} {marks} {drops}");
    let (some, marks, drops) = rewritten(json!("bleach_ect1"), &l4s, marking);
    assert!(some.unwrap() > 1000 && marks > 0 && drops == 0, "{some:?} {marks} {drops}");
    // Every packet CE: a window of two packets, and the queue stays empty.
    let (some, marks, _) = rewritten(json!({"kind": "set_ce", "on": "data"}), &l4s, json!("1000p"));
    assert!(some.unwrap() > 100 && marks == 0);
    // A tenth of them.
    let (tenth, ..) = rewritten(json!({"kind": "bleach", "p": 0.1, "on": "data"}), &l4s, json!("1000p"));
    let (all, ..) = rewritten(json!({"kind": "bleach", "on": "data"}), &l4s, json!("1000p"));
    let share = tenth.unwrap() as f64 / all.unwrap() as f64;
    assert!((0.05..0.2).contains(&share), "{share}");
    // One SYN over this link.
    assert_eq!(rewritten(json!("strip_options"), &l4s, json!("1000p")).0, Some(1));
}

#[test]
fn a_mark_that_is_cleared_is_never_answered() {
    // The first link marks, the second clears what it marked: two routers.
    let tcp = json!({"profile": "rfc", "cc": "reno", "ecn": "classic"});
    let mut scenario = over(json!({"marks": {"kind": "packet", "p": 0.01}}), tcp, json!({}));
    scenario["node"].as_array_mut().unwrap().push(json!({"name": "c"}));
    scenario["link"]
        .as_array_mut()
        .unwrap()
        .push(json!({"from": "b", "to": "c", "rate": "1Gbps", "delay": "0ms", "queue": "100000p", "ecn": "clear_ce"}));
    scenario["flow"][0]["to"] = json!("c");
    let summary = run(&scenario, 1);
    // Some still wait, marked, before the first link.
    let (cleared, marked) = (summary.links[2].ecn_rewritten.unwrap(), summary.links[0].marked_packets);
    assert!(cleared > 100 && cleared <= marked, "{cleared} of {marked}");
    // The link would be idle for most of the time with an answer.
    assert!(summary.links[0].utilisation > 0.99, "{}", summary.links[0].utilisation);
}

#[test]
fn stripped_options_leave_a_connection_without_sack_and_timestamps() {
    let tcp = json!({"profile": "linux", "cc": "cubic"});
    let small = json!({"queue": "50p", "ecn": "strip_options"});
    let stripped = run(&over(small, tcp.clone(), json!({})), 1);
    let whole = run(&over(json!({"queue": "50p"}), tcp, json!({})), 1);
    // Twelve bytes of timestamps in each packet.
    let size = |summary: &Summary| summary.links[0].sent_bytes as f64 / summary.links[0].sent_packets as f64;
    assert!(size(&stripped) < size(&whole) + 0.5 && stripped.links[0].ecn_rewritten == Some(1));
    assert!(stripped.network.measures.goodput_bps > 0.5 * 50e6, "it works all the same");
}

#[test]
fn datagrams_take_marks_where_their_application_asks_for_it() {
    let flood = |more: Value| {
        let mut app = json!({"kind": "cbr", "rate": "60Mbps", "size": "1000B", "transport": "udp"});
        app.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let queue = json!({"kind": "dualpi2"});
        let summary = run(&over(json!({"queue": queue}), json!({}), json!({"app": app})), 1);
        (summary.links[0].marked_packets, serde_json::to_value(&summary.links[0]).unwrap())
    };
    let (marks, link) = flood(json!({}));
    assert_eq!((marks, &link["l_packets"]), (0, &json!(0)));
    let (marks, link) = flood(json!({"ecn": "ect0"}));
    assert!(marks > 0 && link["l_packets"] == json!(0), "{link}");
    let (marks, link) = flood(json!({"ecn": "l4s"}));
    assert!(marks > 0 && link["c_packets"] == json!(0) && link["overload_s"].as_f64() > Some(1.0), "{link}");
}

#[test]
fn a_wrong_key_names_its_place() {
    let cases = [
        (json!({"ecn": "blech"}), json!({}), "link[0].ecn", "`bleach`"),
        (json!({"ecn": {"kind": "bleach", "p": 1.5}}), json!({}), "link[0].ecn.p: ", "0 to 1"),
        (json!({"ecn": {"kind": "bleach", "on": "acks"}}), json!({}), "link[0].ecn.on: ", "`data`"),
        (json!({"marks": {"kind": "packet", "p": -0.1}}), json!({}), "link[0].marks.p: ", "0 to 1"),
        (json!({"marks": {"kind": "bit", "ber": 0.1}}), json!({}), "link[0].marks.kind: ", "`nth`"),
        (json!({}), json!({"dscp": "FE"}), "flow[0].dscp: ", "\"0\" to \"63\""),
        (
            json!({}),
            json!({"app": {"kind": "cbr", "rate": "1Mbps", "size": "1000B", "ecn": "ect0"}}),
            "flow[0].app.ecn: ",
            "transport = \"udp\"",
        ),
        (
            json!({}),
            json!({"dscp": "EF", "app": {"kind": "cbr", "rate": "1Mbps", "size": "1000B", "transport": "udp", "dscp": "LE"}}),
            "flow[0].app.dscp: ",
            "give it once",
        ),
    ];
    for (link, flow, path, allowed) in cases {
        let error = refusal(&over(link, json!({}), flow));
        assert!(error.starts_with(path) && error.contains(allowed), "{error}");
    }
}

#[test]
fn a_wrong_key_of_dualpi2_or_priority_names_its_place() {
    let dualpi2 = |more: Value| {
        let mut queue = json!({"kind": "dualpi2"});
        queue.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        queue
    };
    let priority = |by: &str, more: Value| {
        let mut queue = json!({"kind": "priority", "by": by, "bands": ["9p", "9p"]});
        queue.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        queue
    };
    let cases = [
        (dualpi2(json!({"coupling": 0.05})), "link[0].queue.coupling: ", "0.1 to 10"),
        (dualpi2(json!({"update": "500us"})), "link[0].queue.update: ", "1ms"),
        (dualpi2(json!({"limit": "3p"})), "link[0].queue.limit: ", "4p"),
        (dualpi2(json!({"limit": "5999B"})), "link[0].queue.limit: ", "6000B"),
        (dualpi2(json!({"l_aqm": {"kind": "ramp", "range": "0s"}})), "link[0].queue.l_aqm.range: ", "step"),
        (
            dualpi2(json!({"scheduler": {"kind": "wrr", "classic_share": 1.0}})),
            "link[0].queue.scheduler.classic_share: ",
            "below 1",
        ),
        (dualpi2(json!({"profile": "bsd"})), "link[0].queue.profile: ", "`rfc`"),
        (dualpi2(json!({"alpha": -1.0})), "link[0].queue.alpha: ", "above 0"),
        (priority("dscp", json!({})), "link[0].queue.map: ", "{ EF = 0"),
        (priority("flow", json!({"map": {"EF": 0}})), "link[0].queue.map: ", "by = \"dscp\""),
        (priority("dscp", json!({"map": {"EF": 2}})), "link[0].queue.map.EF: ", "0 to 1"),
        (priority("ecn", json!({"bands": ["9p", {"kind": "dualpi2"}]})), "link[0].queue.bands[1]: ", "one kind only"),
    ];
    for (queue, path, allowed) in cases {
        let error = refusal(&over(json!({"queue": queue}), json!({}), json!({})));
        assert!(error.starts_with(path) && error.contains(allowed), "{queue}: {error}");
    }
}
