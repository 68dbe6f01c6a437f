//! Flows of workloads whose ends answer each other.

use serde_json::{Value, json};
use sim::Summary;

use super::common::run;

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
