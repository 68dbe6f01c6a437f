//! Runs a standard scenario and prints what it delivered: `make instructions` counts its instructions, and a profiler
//! can be pointed at it. It stands beside the extension, whose libraries it is built with: their symbols have the same names, so
//! that a profile of its runs is one of the extension (`.ci/profile-guided`).
//!
//! `standard NAME [SECONDS [KEYS]]`, KEYS being more keys of `tcp` in JSON; without a name the list.

use mimalloc::MiMalloc;
use serde_json::{Value, json};
use sim::{Scenario, Simulation};

/// That of the extension.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Name, simulated seconds, and the scenario.
type Standard = (&'static str, u32, fn() -> Value);

const STANDARD: [Standard; 20] = [
    ("dumbbell-10", 10, || dumbbell(10, "100Mbps", "1Gbps", 366)),
    ("dumbbell-200", 6, || dumbbell(200, "100Mbps", "1Gbps", 366)),
    ("dumbbell-1000", 6, || dumbbell(1_000, "100Mbps", "1Gbps", 366)),
    ("dumbbell-10000", 4, || dumbbell(10_000, "1Gbps", "1Gbps", 3_666)),
    ("dumbbell-100000", 4, || dumbbell(100_000, "10Gbps", "1Gbps", 36_666)),
    ("dumbbell-10-10G", 2, || dumbbell(10, "10Gbps", "100Gbps", 36_666)),
    ("dumbbell-10-codel", 10, || {
        let mut scenario = dumbbell(10, "100Mbps", "1Gbps", 366);
        scenario["network"]["bottleneck"]["queue"] = json!({"kind": "codel"});
        scenario
    }),
    ("dumbbell-10-losses", 10, || {
        let mut scenario = dumbbell(10, "100Mbps", "1Gbps", 366);
        scenario["network"]["bottleneck"]["loss"] = json!({"kind": "packet", "p": 1e-3});
        scenario
    }),
    ("star-cbr", 20, || {
        json!({
            "network": {"kind": "star", "nodes": 40, "flows": 20},
            "traffic": {"app": {"kind": "cbr", "rate": "500pps", "size": "512B"}},
        })
    }),
    ("one-short", 2, || dumbbell(1, "1Mbps", "1Gbps", 20)),
    ("flows-1000", 6, || growing(1_000)),
    ("flows-10000", 1, || growing(10_000)),
    ("flows-100000", 1, || growing(100_000)),
    ("web", 2, web),
    ("fat-tree", 1, fat_tree),
    ("wifi", 40, wifi),
    ("wifi-aggregated", 20, || adhoc(10, "10m", json!({"profile": "ns3", "standard": "n", "data_rate": "65Mbps"}))),
    ("lrwpan", 200, || {
        let mut scenario = adhoc(20, "25m", json!({"standard": "802.15.4"}));
        scenario["tcp"]["mss"] = json!("256B");
        scenario["traffic"]["app"] = json!({"kind": "cbr", "rate": "200pps", "size": "100B", "on_full": "drop"});
        scenario
    }),
    ("satellites", 50, satellites),
    ("shared", 10, shared),
];

/// The dumbbell of `python -m tonopah_dev.bench`: 44 ms round trip, Linux's Reno with SACK, RACK and timestamps.
fn dumbbell(flows: u32, rate: &str, access: &str, queue: u32) -> Value {
    let queue = json!({"kind": "drop_tail", "limit": format!("{queue}p")});
    // A dumbbell has at most so many pairs of hosts; the second flow of a pair comes when all pairs have one.
    let pairs = flows.min(50_000);
    let flow = |i: u32| {
        let (from, to) = (format!("left{}", i % pairs), format!("right{}", i % pairs));
        json!({"from": from, "to": to, "app": {"kind": "bulk"}, "start": format!("{}ms", 100 * u64::from(i) / u64::from(flows))})
    };
    json!({
        "network": {
            "kind": "dumbbell", "pairs": pairs, "access": {"rate": access, "delay": "1ms"},
            "bottleneck": {"rate": rate, "delay": "20ms", "queue": queue},
        },
        "tcp": {"cc": {"name": "reno", "profile": "linux"}, "recovery": "rack", "timestamps": true, "mss": "1448B"},
        "flow": (0..flows).map(flow).collect::<Vec<_>>(),
    })
}

/// The dumbbell of `python -m tonopah_dev.bench` that grows: 1 Mb/s for each flow, windows of four segments.
fn growing(flows: u32) -> Value {
    let queue = format!("{}p", u64::from(flows) * 1_000_000 * 44 / 8 / 1500 / 1000);
    json!({
        "network": {
            "kind": "dumbbell", "pairs": flows.min(50_000), "flows": flows,
            "access": {"rate": "1Gbps", "delay": "1ms", "queue": "100000p"},
            "bottleneck": {"rate": format!("{flows}Mbps"), "delay": "20ms", "queue": {"kind": "drop_tail", "limit": queue}},
        },
        "tcp": {
            "cc": {"name": "reno", "profile": "linux"}, "recovery": "rack", "timestamps": true, "mss": "1448B",
            "recv_buffer": "5792B",
        },
        "traffic": {"app": {"kind": "bulk"}, "start_jitter": "100ms"},
    })
}

/// The flows of 10 kB of `python -m tonopah_dev.bench` that come and go: 10,000 a second, a thousand at a time.
fn web() -> Value {
    let mut scenario = dumbbell(50, "1Gbps", "1Gbps", 5_000);
    scenario["network"]["access"]["queue"] = json!("100000p");
    scenario["network"]["bottleneck"]["delay"] = json!("29ms");
    scenario["record"] = json!({"flows": "none"});
    scenario["flow"] = json!([]);
    scenario["workload"] = json!([{
        "name": "web", "from": ["left*"], "to": ["right*"], "size": {"kind": "constant", "bytes": "10kB"},
        "arrivals": {"kind": "poisson", "rate": "10000/s"},
    }]);
    scenario
}

/// The fat tree of `python -m tonopah_dev.bench`, smaller and with less to send, so that a second of it is simulated in one.
fn fat_tree() -> Value {
    let queue = json!({"kind": "drop_tail", "limit": "250p", "mark_threshold": 65});
    json!({
        "network": {"kind": "fat_tree", "k": 4, "link": {"rate": "1Gbps", "delay": "10us", "queue": queue}},
        "tcp": {"cc": "dctcp", "mss": "1448B", "rto_min": "10ms"},
        "record": {"flows": "none"},
        "workload": [{
            "name": "search", "from": ["h*"], "to": ["h*"], "size": {"kind": "web_search"},
            "arrivals": {"kind": "poisson", "rate": "400/s"},
        }],
    })
}

/// Stations that are all in reach of one another, with a flow each.
fn adhoc(stations: u32, side: &str, radio: Value) -> Value {
    json!({
        "network": {
            "kind": "adhoc", "nodes": stations, "flows": stations, "area": {"x": side, "y": side}, "radio": radio,
            "routing": {"kind": "shortest"},
        },
        "tcp": {"profile": "ns3", "cc": "newreno", "mss": "1472B"},
        "traffic": {"app": {"kind": "bulk"}},
    })
}

/// Stations that walk over a square and pass frames on, with the radio, the routing and the endpoint of ns-2.
fn wifi() -> Value {
    let radio = json!({
        "profile": "ns2", "standard": "b", "data_rate": "11Mbps", "basic_rate": "1Mbps", "control_rate": "1Mbps",
        "rts_threshold": "3000B",
    });
    let mut scenario = adhoc(40, "500m", radio);
    scenario["network"]["flows"] = json!(20);
    scenario["network"]["mobility"] = json!({"kind": "random_waypoint", "speed": "10m/s"});
    scenario["network"]["routing"] = json!({"kind": "dsdv"});
    scenario["tcp"] = json!({"profile": "ns2", "cc": "newreno", "mss": "1000B"});
    scenario
}

/// Iridium with twenty terminals around the globe.
fn satellites() -> Value {
    let terminal = |i: i32| json!({"name": format!("t{i}"), "lat_deg": (i * 37) % 110 - 55, "lon_deg": i * 18 - 180});
    json!({
        "network": {
            "kind": "constellation", "preset": "iridium", "profile": "ns2", "flows": 10,
            "terminals": (0..20).map(terminal).collect::<Vec<_>>(),
        },
        "tcp": {"profile": "ns2", "cc": "newreno", "mss": "1000B"},
        "traffic": {"app": {"kind": "bulk"}},
    })
}

/// Algorithms beside one another behind FQ-CoDel: what searches and evaluations run.
fn shared() -> Value {
    let mut scenario = dumbbell(8, "50Mbps", "1Gbps", 183);
    scenario["network"]["bottleneck"]["queue"] = json!({"kind": "fq_codel"});
    for (flow, cc) in ["cubic", "bbr", "cubic", "copa", "vegas", "bbr3", "dctcp", "prague"].iter().enumerate() {
        scenario["flow"][flow]["tcp"] = json!({"cc": cc});
    }
    scenario
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((name, seconds, scenario)) =
        STANDARD.iter().find(|(name, ..)| Some(*name) == arguments.first().map(String::as_str))
    else {
        STANDARD.iter().for_each(|(name, seconds, _)| println!("{name} {seconds}"));
        return;
    };
    let mut scenario = scenario();
    let seconds = arguments.get(1).map_or(*seconds, |text| text.parse().expect("SECONDS is a whole number"));
    scenario["duration"] = json!(format!("{seconds}s"));
    if let Some(text) = arguments.get(2) {
        let keys: serde_json::Map<String, Value> = serde_json::from_str(text).expect("KEYS is an object in JSON");
        scenario["tcp"].as_object_mut().expect("each has `tcp`").extend(keys);
    }
    let scenario = Scenario::from_json(&scenario.to_string()).unwrap_or_else(|error| panic!("{error}"));
    let simulation = Simulation::new(&scenario, 1).unwrap_or_else(|error| panic!("{error}"));
    let summary = simulation.run().summary;
    println!("{name} {seconds} {} {}", summary.network.measures.received_packets, summary.events);
}
