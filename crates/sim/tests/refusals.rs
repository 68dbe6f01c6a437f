//! Wrong input is refused with the path to the mistake and what is allowed.

mod common;

use common::refusal;
use serde_json::{Value, json};

fn good() -> Value {
    json!({
        "duration": "1s",
        "network": {"kind": "dumbbell", "bottleneck": {"rate": "10Mbps", "queue": {"kind": "drop_tail", "limit": "33p"}}},
        "flow": [{"from": "left0", "to": "right0"}],
    })
}

/// `good` with the value at a JSON pointer replaced.
fn with(pointer: &str, value: Value) -> Value {
    let mut scenario = good();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    match scenario.pointer_mut(parent).unwrap() {
        Value::Array(items) => items[key.parse::<usize>().unwrap()] = value,
        table => table[key] = value,
    }
    scenario
}

/// A RED queue with these parameters.
fn red(mut parameters: Value) -> Value {
    parameters["kind"] = json!("red");
    parameters
}

#[test]
fn each_mistake_names_its_path_and_the_way_out() {
    let cases = [
        ("/duration", json!("1 hour"), "duration: ", "s, ms, us, ns"),
        ("/duration", json!(5), "duration: ", "20ms"),
        ("/duration", json!("0s"), "duration: ", "above 0s"),
        ("/warmup", json!("1s"), "warmup: ", "nothing"),
        ("/speed", json!(1), "speed: ", "unknown key"),
        ("/network/kind", json!("ring"), "network.kind: ", "`dumbbell`"),
        ("/network", json!("dumbbell"), "network: ", "`star`"),
        ("/network/pears", json!(2), "network.pears: ", "`pairs`"),
        ("/network/pairs", json!(1_000_000_000), "network.pairs: ", "to 50000"),
        ("/network/flows", json!(1_000_000_000), "network.flows: ", "to 100000"),
        ("/network/pairs", json!(-1), "network.pairs: ", "-1"),
        ("/network/bottleneck/rate", json!("10 mbps"), "network.bottleneck.rate: ", "Mbps"),
        ("/network/bottleneck/rate", json!("0Mbps"), "network.bottleneck.rate: ", "above zero"),
        ("/network/bottleneck/queue/limit", json!("0p"), "network.bottleneck.queue.limit: ", "at least 1p"),
        ("/network/bottleneck/queue/limit", json!(33), "network.bottleneck.queue.limit: ", "33p"),
        ("/network/bottleneck/queue/limt", json!("3p"), "network.bottleneck.queue.limt: ", "`limit`"),
        ("/network/bottleneck/queue/kind", json!("red2"), "network.bottleneck.queue.kind: ", "`drop_tail`"),
        ("/network/bottleneck/queue", json!("many"), "network.bottleneck.queue: ", "33p"),
        ("/network/bottleneck/queue", json!("0p"), "network.bottleneck.queue.limit: ", "at least 1p"),
        ("/network/bottleneck/queue", json!(100), "network.bottleneck.queue: ", "`fq_codel`"),
        ("/network/bottleneck/queue", json!({"limit": "1p"}), "network.bottleneck.queue.kind: ", "`codel`"),
        ("/network/bottleneck/queue", json!({"kind": "red2"}), "network.bottleneck.queue.kind: ", "`pie`"),
        ("/network/bottleneck/queue", red(json!({"limt": "1p"})), "network.bottleneck.queue.limt: ", "`min_threshold`"),
        ("/network/bottleneck/queue", red(json!({"profile": "ns4"})), "network.bottleneck.queue.profile: ", "`ns2`"),
        ("/network/bottleneck/queue", red(json!({"limit": "0B"})), "network.bottleneck.queue.limit: ", "at least 1p"),
        ("/network/bottleneck/queue", red(json!({"max_p": 2})), "network.bottleneck.queue.max_p: ", "up to 1"),
        ("/network/bottleneck/queue", red(json!({"weight": 0})), "network.bottleneck.queue.weight: ", "above 0"),
        ("/network/bottleneck/queue", red(json!({"mark_p": -1})), "network.bottleneck.queue.mark_p: ", "0 to 1"),
        (
            "/network/bottleneck/queue",
            red(json!({"max_threshold": 9})),
            "network.bottleneck.queue.max_threshold: ",
            "min_threshold",
        ),
        (
            "/network/bottleneck/queue",
            red(json!({"min_threshold": 9, "max_threshold": 9})),
            "network.bottleneck.queue.max_threshold: ",
            "above min_threshold (9)",
        ),
        (
            "/network/bottleneck/queue",
            json!({"kind": "codel", "target": 5}),
            "network.bottleneck.queue.target: ",
            "20ms",
        ),
        (
            "/network/bottleneck/queue",
            json!({"kind": "codel", "interval": "0s"}),
            "network.bottleneck.queue.interval: ",
            "1us to",
        ),
        (
            "/network/bottleneck/queue",
            json!({"kind": "fq_codel", "queues": 0}),
            "network.bottleneck.queue.queues: ",
            "1 to 65536",
        ),
        (
            "/network/bottleneck/queue",
            json!({"kind": "cake", "rate": "100bps"}),
            "network.bottleneck.queue.rate: ",
            "512bps or more",
        ),
        (
            "/network/bottleneck/queue",
            json!({"kind": "cake", "overhead": "docsix"}),
            "network.bottleneck.queue.overhead: ",
            "raw, ethernet, docsis",
        ),
        (
            "/network/bottleneck/queue",
            json!({"kind": "cake", "overhead": {"bytes": 300}}),
            "network.bottleneck.queue.overhead.bytes: ",
            "-64 to 256",
        ),
        (
            "/network/bottleneck/queue",
            json!({"kind": "cake", "wake": "1ms"}),
            "network.bottleneck.queue.wake: ",
            "give `rate` beside it",
        ),
        (
            "/network/bottleneck/queue",
            json!({"kind": "codel", "ce_threshold": "0s"}),
            "network.bottleneck.queue.ce_threshold: ",
            "1us to",
        ),
        (
            "/network/bottleneck/queue",
            json!({"kind": "drr", "quantum": "0B"}),
            "network.bottleneck.queue.quantum: ",
            "1B to 1MB",
        ),
        (
            "/network/bottleneck/queue",
            json!({"kind": "drr", "by": "host"}),
            "network.bottleneck.queue.by: ",
            "`destination`",
        ),
        ("/network/bottleneck/queue", json!({"kind": "sfq", "depth": 0}), "network.bottleneck.queue.depth: ", "1 to"),
        (
            "/network/bottleneck/queue",
            json!({"kind": "sfq", "perturb": "0s"}),
            "network.bottleneck.queue.perturb: ",
            "1us to",
        ),
        (
            "/network/bottleneck/queue",
            json!({"kind": "fq", "flow_limit": 0}),
            "network.bottleneck.queue.flow_limit: ",
            "1 to",
        ),
        (
            "/network/bottleneck/queue",
            json!({"kind": "fq", "flow_rate": "0bps"}),
            "network.bottleneck.queue.flow_rate: ",
            "0",
        ),
        ("/network/bottleneck/queue", json!({"kind": "tbf"}), "network.bottleneck.queue: ", "missing key `rate`"),
        (
            "/network/bottleneck/queue",
            json!({"kind": "policer", "rate": "1Mbps", "burst": "27B"}),
            "network.bottleneck.queue.burst: ",
            "28B",
        ),
        (
            "/network/bottleneck/queue",
            json!({"kind": "tbf", "rate": "1Mbps", "peak": "1Mbps"}),
            "network.bottleneck.queue.peak: ",
            "above rate (1Mbps)",
        ),
        (
            "/network/bottleneck/queue",
            json!({"kind": "tbf", "rate": "1Mbps", "peak_burst": "9kB"}),
            "network.bottleneck.queue.peak_burst: ",
            "needs peak",
        ),
        (
            "/network/bottleneck/queue",
            json!({"kind": "tbf", "rate": "1Mbps", "queue": {"kind": "policer", "rate": "1Mbps", "queue": "0p"}}),
            "network.bottleneck.queue.queue.queue.limit: ",
            "at least 1p",
        ),
        (
            "/network/bottleneck/queue",
            json!({"kind": "tbf", "rate": "1Mbps", "queue": {"kind": "tbf", "rate": "1Mbps", "queue":
                {"kind": "tbf", "rate": "1Mbps", "queue": {"kind": "tbf", "rate": "1Mbps"}}}}),
            "network.bottleneck.queue.queue.queue.queue.queue: ",
            "at most 3 deep",
        ),
        (
            "/network/bottleneck/queue",
            json!({"kind": "cake", "memory": "2TB"}),
            "network.bottleneck.queue.memory: ",
            "at most 1TB",
        ),
        (
            "/network/bottleneck/queue",
            json!({"kind": "priority", "by": "flow", "bands": ["1p"]}),
            "network.bottleneck.queue.bands: ",
            "2 to 8",
        ),
        (
            "/network/bottleneck/queue",
            json!({"kind": "priority", "by": "ecn", "bands": ["1p", "1p", "1p"]}),
            "network.bottleneck.queue.bands: ",
            "by = \"flow\"",
        ),
        (
            "/network/bottleneck/queue",
            json!({"kind": "priority", "by": "flow", "bands": ["1p", {"kind": "codel", "target": "0s"}]}),
            "network.bottleneck.queue.bands[1].target: ",
            "1us to",
        ),
        (
            "/network/bottleneck/queue",
            json!({"kind": "pie", "estimator": "guess"}),
            "network.bottleneck.queue.estimator: ",
            "`departure_rate`",
        ),
        (
            "/network/bottleneck/queue",
            json!({"kind": "pie", "rules": "docsis", "step_above": "250ms"}),
            "network.bottleneck.queue.step_above: ",
            "RFC 8034",
        ),
        (
            "/network/bottleneck/queue",
            json!({"kind": "fq_pie", "flows": 0}),
            "network.bottleneck.queue.flows: ",
            "1 to 65536",
        ),
        (
            "/network/bottleneck/queue",
            json!({"kind": "fq_pie", "rules": "docsis"}),
            "network.bottleneck.queue.rules: ",
            "unknown key",
        ),
        (
            "/network/bottleneck/queue",
            json!({"kind": "choke", "max_threshold": 20}),
            "network.bottleneck.queue.max_threshold: ",
            "above min_threshold (20)",
        ),
        (
            "/network/bottleneck/queue",
            json!({"kind": "cobalt", "interval": "0s"}),
            "network.bottleneck.queue.interval: ",
            "1us to",
        ),
        (
            "/network/bottleneck/reverse",
            json!({"queue": {"kind": "pie", "update": "0s"}}),
            "network.bottleneck.reverse.queue.update: ",
            "1us to",
        ),
        ("/flow/0/app", json!({"kind": "responsiveness", "probes": "200Hz"}), "flow[0].app.probes: ", "up to 100Hz"),
        ("/flow/0/app", json!({"kind": "responsiveness", "flows": 0}), "flow[0].app.flows: ", "from 1 to 1000"),
        (
            "/flow/0/app",
            json!({"kind": "responsiveness", "direction": "sideways"}),
            "flow[0].app.direction: ",
            "`both`",
        ),
        ("/network/bottleneck/loss", json!({"kind": "packet", "p": 1.5}), "network.bottleneck.loss.p: ", "0 to 1"),
        ("/network/bottleneck/loss", json!({"kind": "packet"}), "network.bottleneck.loss: ", "`p`"),
        ("/network/bottleneck/changes", json!([{"at": "1s"}]), "network.bottleneck.changes[0]: ", "up, rate or delay"),
        ("/node", json!([{"name": "a"}]), "node: ", "graph"),
        ("/flow", json!([]), "flow: ", "add [[flow]]"),
        ("/flow/0", json!({"from": "left0"}), "flow[0]: ", "`to`"),
        ("/flow/0/to", json!("right7"), "flow[0].to: ", "nodes: left0"),
        ("/flow/0/to", json!("left0"), "flow[0].to: ", "itself"),
        ("/flow/0/cc", json!("cubik"), "flow[0].cc: ", "cubic"),
        ("/flow/0/cc", json!({"name": "cubic", "betta": 0.7}), "flow[0].cc.betta: ", "beta"),
        ("/flow/0/cc", json!({"name": "cubic", "beta": 7.0}), "flow[0].cc.beta: ", " to "),
        ("/flow/0/cc", json!({"name": "cubic", "profile": "vms"}), "flow[0].cc.profile: ", "linux"),
        ("/flow/0/app", json!({"kind": "cbr", "rate": "100", "size": "1B"}), "flow[0].app.rate: ", "200pps"),
        ("/flow/0/app", json!({"kind": "cbr", "rate": "1pps", "size": "0B"}), "flow[0].app.size: ", "1B"),
        ("/flow/0/start", json!("2s"), "flow[0].start: ", "after the end"),
        ("/flow/0/stop", json!("0s"), "flow[0].stop: ", "start"),
        ("/tcp", json!({"mss": "0B"}), "tcp.mss: ", "1B to 65495B"),
        ("/tcp", json!({"profile": "beos"}), "tcp.profile: ", "`rfc`"),
        ("/tcp", json!({"ack_every": 0}), "tcp.ack_every: ", "1 for an ACK"),
        ("/tcp", json!({"recv_buffer": "10B"}), "tcp.recv_buffer: ", "one segment"),
        ("/tcp", json!({"cc": "dctcp", "ecn": "classic"}), "tcp.ecn: ", "dctcp reads congestion marks of the form"),
        ("/tcp", json!({"cc": "prague", "ecn": "accecn"}), "tcp.ecn: ", "\"l4s\""),
        ("/tcp", json!({"cc": "prague", "ecn": "off"}), "tcp.ecn: ", "leave `ecn` out"),
        ("/record", json!({"series": ["cwnds"]}), "record.series[0]: ", "`cwnd`"),
        ("/record", json!({"every": "0s"}), "record.every: ", "above zero"),
    ];
    for (pointer, value, path, allowed) in cases {
        let error = refusal(&with(pointer, value.clone()));
        assert!(
            error.starts_with(path) && error.contains(allowed),
            "{pointer} = {value}: {error:?}, not {path:?} … {allowed:?}"
        );
    }
}

#[test]
fn an_unreachable_destination_is_named() {
    let scenario = json!({
        "duration": "1s", "network": {"kind": "graph"},
        "node": [{"name": "a"}, {"name": "b"}, {"name": "c"}],
        "link": [{"from": "a", "to": "b", "rate": "1Mbps"}],
        "flow": [{"from": "a", "to": "c"}],
    });
    assert!(refusal(&scenario).starts_with("flow[0].to: no path from \"a\" to \"c\""));
    let mut twice = scenario.clone();
    twice["node"][2]["name"] = json!("a");
    assert!(refusal(&twice).starts_with("node[2].name: \"a\" is the name of two nodes"));
    let mut nowhere = scenario;
    nowhere["link"][0]["to"] = json!("z");
    assert!(refusal(&nowhere).starts_with("link[0].to: unknown node \"z\""));
}

#[test]
fn a_graph_with_more_nodes_that_forward_than_tables_can_number_is_refused() {
    let ring = |nodes: usize| {
        let node = |n: usize| json!({"name": format!("n{n}")});
        let link = |n: usize| json!({"from": format!("n{n}"), "to": format!("n{}", (n + 1) % nodes), "rate": "1Mbps"});
        json!({"duration": "1s", "network": {"kind": "graph"}, "node": (0..nodes).map(node).collect::<Vec<_>>(),
               "link": (0..nodes).map(link).collect::<Vec<_>>(), "flow": [{"from": "n0", "to": "n1"}]})
    };
    assert!(refusal(&ring(65_536)).starts_with("link: more than 65535 nodes have two links or more"));
}

#[test]
fn text_that_is_no_scenario_is_refused() {
    for text in ["", "[]", "nonsense", "null", "{\"duration\": \"1s\"}"] {
        assert!(sim::Scenario::from_json(text).is_err(), "{text:?}");
    }
}
