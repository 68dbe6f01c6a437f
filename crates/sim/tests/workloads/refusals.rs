//! What is wrong with a workload, and where.

use serde_json::{Value, json};

use super::common::refusal;
use super::{merged, world};

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
        ("from", json!(["lfet0"]), "workload[0].from[0]: unknown node \"lfet0\" (did you mean left0? nodes: "),
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
        (
            "app",
            json!({"kind": "request_response", "response": "5kB"}),
            "workload[0].app.response: the size of an answer is that of the flow",
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
