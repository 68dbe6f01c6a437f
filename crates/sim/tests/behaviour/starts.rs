//! How connections start (`tcp.start`): what SEARCH, HyStart and HyStart++ do to a slow start over one bottleneck.

use serde_json::{Value, json};
use sim::Simulation;
use sim::scenario::SeriesName;

use crate::common::{fingerprint, one_flow, run, scenario};

/// Bottleneck in Mb/s, round trip in ms, a transfer in MB.
const WORLDS: [(u64, u64, u64); 3] = [(50, 600, 60), (20, 100, 12), (100, 40, 20)];

/// A transfer over a queue of `bdp` times the product; `jitter_ms` at most is added to each packet's delay.
fn world((mbps, rtt_ms, mbytes): (u64, u64, u64), bdp: u64, jitter_ms: u64, cc: Value, start: Option<&str>) -> Value {
    let queue = format!("{}kB", mbps * rtt_ms / 8 * bdp);
    let mut tcp = json!({"profile": "linux", "cc": cc, "recv_buffer": "1GB", "initial_recv_window": "unlimited"});
    if let Some(start) = start {
        tcp["start"] = json!(start);
    }
    let mut world = one_flow(&format!("{mbps}Mbps"), rtt_ms / 2, &queue, "60s", tcp);
    world["flow"][0]["app"] = json!({"kind": "bulk", "bytes": format!("{mbytes}MB")});
    if jitter_ms > 0 {
        let jitter = json!({"kind": "uniform", "min": "0ms", "max": format!("{jitter_ms}ms")});
        world["network"]["bottleneck"]["jitter"] = jitter;
    }
    world
}

/// ssthresh whenever it has changed, in bytes, while it is set.
fn thresholds(world: &Value) -> Vec<f64> {
    let mut world = world.clone();
    world["record"] = json!({"series": ["ssthresh"], "every": "change"});
    let outcome = Simulation::new(&scenario(&world), 1).unwrap().run();
    let column = outcome.series.into_iter().find(|(name, _)| *name == SeriesName::Ssthresh).expect("recorded").1;
    column.value.into_iter().filter(|value| value.is_finite() && *value < 1e12).collect()
}

/// Detection takes two round trips: behind a queue of one product the loss comes first, and nothing changes.
#[test]
fn search_changes_nothing_where_the_loss_comes_first() {
    for place in WORLDS {
        let prints =
            ["standard", "search"].map(|start| fingerprint(&world(place, 1, 0, json!("cubic"), Some(start)), 1));
        assert_eq!(prints[0], prints[1], "{place:?}");
    }
}

/// HyStart is the same whatever algorithm it stands around.
#[test]
fn reno_with_hystart_leaves_slow_start_where_cubic_of_linux_does() {
    let first = |cc: &str, start| thresholds(&world((20, 100, 12), 4, 0, json!(cc), start))[0];
    let cubic = first("cubic", None);
    assert_eq!(first("reno", Some("hystart")), cubic);
    assert_eq!(first("cubic", Some("hystart")), cubic);
}

#[test]
fn hystart_plus_plus_around_cubic_is_its_profile() {
    let print = |cc: Value, start| {
        let mut world = world((20, 100, 12), 1, 0, cc, start);
        world["tcp"]["profile"] = json!("rfc");
        fingerprint(&world, 1)
    };
    assert_eq!(
        print(json!({"name": "cubic", "profile": "rfc"}), Some("hystart++")),
        print(json!({"name": "cubic", "profile": "hystart++"}), None)
    );
}

/// Transfers of a client from one server over 50 Mb/s and 600 ms, one after another at these times, with everything else as given.
fn visits(sizes: &[(&str, &str)], start: &str, more: &Value) -> Value {
    let flows: Vec<Value> = sizes
        .iter()
        .map(|(at, bytes)| {
            json!({"from": "left0", "to": "right0", "start": at, "app": {"kind": "bulk", "bytes": bytes}, "tcp": {"start": start}})
        })
        .collect();
    let mut world = world((50, 600, 60), 1, 0, json!("cubic"), None);
    world["duration"] = json!("130s");
    world["flow"] = json!(flows);
    world["network"]["bottleneck"].as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    world
}

/// RFC 9959: a transfer of 1 MB a minute after one of 20 MB takes half as long as a first one, one of 5.3 MB little more.
#[test]
fn a_second_transfer_resumes_where_the_first_was() {
    for (size, most) in [("1MB", 0.5), ("5.3MB", 0.55)] {
        let times = |start: &str| {
            let first = run(&visits(&[("0s", size)], start, &json!({})), 1);
            let later = run(&visits(&[("0s", "20MB"), ("60s", size)], start, &json!({})), 1);
            assert_eq!(later.flows[1].retreats.unwrap_or(0), 0, "{size}");
            (first.flows[0].completion_s.unwrap(), later.flows[1].completion_s.unwrap(), later.flows[1].resumed)
        };
        let (first, later, resumed) = times("resume");
        assert_eq!(resumed, Some(1));
        assert!(later <= most * first, "{size}: {later} of {first}");
        let (first, later, resumed) = times("standard");
        assert!(resumed.is_none() && (later / first - 1.0).abs() < 0.05, "{size}: {later} of {first}");
    }
}

/// Of a hundred connections that open at once, one resumes.
#[test]
fn an_entry_is_used_by_one_connection() {
    let mut sizes = vec![("0s", "20MB")];
    sizes.extend([("60s", "200kB"); 100]);
    let summary = run(&visits(&sizes, "resume", &json!({})), 1);
    assert_eq!(summary.flows.iter().map(|flow| flow.resumed.unwrap_or(0)).sum::<u64>(), 1);
}
