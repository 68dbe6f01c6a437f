//! Congestion marks from the queue to the sender and back: no drops where every flow takes marks.

mod common;

use common::run;
use serde_json::{Value, json};

/// One bulk flow over 20 Mb/s and 40 ms through `queue`, its ends in ECN mode `mode`.
fn world(mode: &str, cc: &Value, queue: &Value) -> Value {
    json!({
        "duration": "30s",
        "warmup": "5s",
        "network": {"kind": "graph"},
        "node": [{"name": "a"}, {"name": "b"}],
        "link": [{"from": "a", "to": "b", "rate": "20Mbps", "delay": "20ms", "queue": queue}],
        "tcp": {"profile": "linux", "ecn": mode},
        "flow": [{"from": "a", "to": "b", "cc": cc, "app": {"kind": "bulk"}}],
    })
}

fn codel() -> Value {
    json!({"kind": "codel", "limit": "1000p", "ecn": true})
}

#[test]
fn a_flow_that_takes_marks_loses_nothing_and_keeps_the_link_busy() {
    for mode in ["classic", "accecn"] {
        for name in ["reno", "cubic"] {
            let summary = run(&world(mode, &json!(name), &codel()), 1);
            let measures = &summary.network.measures;
            let case = format!("{name}, {mode}: {measures:?}");
            assert_eq!((measures.dropped_packets, measures.retransmitted_packets), (0, Some(0)), "{case}");
            assert!(measures.marked_packets > 0, "{case}");
            // CoDel leaves reno too little queue for its halving: 0.75 of the link is the floor of a window cut to half.
            assert!(measures.goodput_bps > 0.75 * 20e6 * 1448.0 / 1500.0, "{case}");
        }
    }
}

#[test]
fn who_did_not_agree_on_marks_loses_packets_instead() {
    let summary = run(&world("off", &json!("reno"), &codel()), 1);
    let measures = &summary.network.measures;
    assert!(measures.marked_packets == 0 && measures.dropped_packets > 0, "{measures:?}");
}

#[test]
fn the_window_is_cut_once_per_round_trip_of_marks() {
    let marks_all = json!({"kind": "drop_tail", "limit": "1000p", "mark_threshold": 5});
    let mut scenario = world("classic", &json!("reno"), &marks_all);
    // With Linux's bundles the first segment after a reduction often meets five packets again, and its mark brings a second
    // reduction a round trip later; here each cycle has one, and the goodput of a window that is halved once.
    scenario["tcp"]["tso_psh"] = json!(false);
    let summary = run(&scenario, 1);
    let measures = &summary.network.measures;
    // The echo stands until the sender answers, so that runs of marks cost one reduction: far fewer than marks.
    assert_eq!(measures.dropped_packets, 0, "{measures:?}");
    let rate = 20e6 * 1448.0 / 1500.0;
    assert!(measures.goodput_bps > 0.7 * rate && measures.goodput_bps < rate, "{measures:?}");
}

#[test]
fn what_an_algorithm_reads_is_switched_on_and_every_queue_takes_ect_1_for_capable() {
    // Prague's packets carry ECT(1), DCTCP's ECT(0): both are marked, not dropped, whatever the queue. PIE would
    // drop beyond a tenth (RFC 8033 §5.1), so that bound is lifted.
    let queues = [
        codel(),
        json!({"kind": "fq_codel", "ecn": true}),
        json!({"kind": "pie", "ecn": true, "mark_p": 1.0}),
        json!({"kind": "red", "limit": "1000p", "ecn": true, "mark_p": 1.0, "min_threshold": 50, "max_threshold": 500}),
        json!({"kind": "drop_tail", "limit": "1000p", "mark_threshold": 10}),
    ];
    for queue in queues {
        for name in ["dctcp", "prague"] {
            let mut scenario = world("off", &json!(name), &queue);
            scenario["tcp"] = json!({"profile": "linux"});
            let measures = run(&scenario, 1).network.measures;
            let case = format!("{name}, {queue}: {measures:?}");
            assert!(measures.marked_packets > 0 && measures.dropped_packets == 0, "{case}");
        }
    }
}
