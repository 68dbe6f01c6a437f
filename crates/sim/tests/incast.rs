//! Servers that answer at once: whole windows are lost with drop tail, and none with DCTCP.

mod common;

use common::run;
use serde_json::{Value, json};
use sim::{AppSummary, IncastSummary};

/// Servers of 25 kB behind one switch: the queue of its port holds 100 packets, the RTT is 100 us.
fn incast(tcp: &Value, rate: &str, servers: u32, mark_threshold: Option<u32>) -> IncastSummary {
    let queue = json!({"kind": "drop_tail", "limit": "100p", "mark_threshold": mark_threshold});
    let link = |from: &str, to: &str, queue: &Value| json!({"from": from, "to": to, "rate": rate, "delay": "25us", "queue": queue});
    let mut nodes: Vec<Value> = (0..40).map(|i| json!({"name": format!("srv{i}")})).collect();
    nodes.extend([json!({"name": "switch"}), json!({"name": "agg"})]);
    let mut links: Vec<Value> = (0..40).map(|i| link(&format!("srv{i}"), "switch", &json!("1000p"))).collect();
    links.push(link("switch", "agg", &queue));
    let app = json!({"kind": "incast", "servers": servers, "each": "25kB", "rounds": 12, "jitter": "10us"});
    let world = json!({
        "duration": "60s", "network": {"kind": "graph"}, "node": nodes, "link": links, "tcp": tcp,
        "flow": [{"from": "srv*", "to": "agg", "app": app}],
    });
    let summary = run(&world, 1);
    let last = &summary.flows[servers as usize - 1];
    assert_eq!((summary.flows.len(), last.from.clone()), (servers as usize, format!("srv{}", servers - 1)));
    match summary.flows[0].application.as_deref().cloned() {
        Some(AppSummary::Incast(incast)) => incast,
        other => panic!("{other:?}"),
    }
}

/// Acceptance W6: whole windows are lost, and the round waits for a time-out; tail-loss probes, which the paper of 2010 did not
/// have, spare it that.
#[test]
fn incast_collapses_with_drop_tail_and_without_tail_loss_probes() {
    for (rto_min, timeout) in [("200ms", 0.2), ("10ms", 0.01)] {
        let tcp = |tlp: bool| json!({"cc": "cubic", "profile": "linux", "rto_min": rto_min, "tlp": tlp});
        let collapsed = incast(&tcp(false), "10Gbps", 40, None);
        assert_eq!(collapsed.rounds, 12);
        assert!(collapsed.qct_p50_s.unwrap() >= timeout, "{rto_min}: {collapsed:?}");
        assert!(collapsed.timeouts_per_round.unwrap() > 1.0, "{collapsed:?}");
        let today = incast(&tcp(true), "10Gbps", 40, None);
        assert!(today.qct_max_s.unwrap() < timeout, "{today:?}");
    }
}

/// Acceptance W6, at the rate of the paper's section 4.2: forty windows of two segments fit into the queue.
#[test]
fn incast_of_dctcp_stays_near_the_ideal_time() {
    let ideal = |servers: u32| 8.0 * f64::from(servers) * (25e3 + 18.0 * 52.0) / 1e9 + 100e-6;
    for servers in [1, 20, 35] {
        let tcp = json!({"cc": "dctcp", "profile": "linux", "rto_min": "10ms"});
        let fine = incast(&tcp, "1Gbps", servers, Some(20));
        assert!(fine.qct_p50_s.unwrap() < 2.0 * ideal(servers), "{servers}: {fine:?}");
        assert!(fine.qct_p50_s.unwrap() > ideal(servers), "{servers}: {fine:?}");
    }
}
