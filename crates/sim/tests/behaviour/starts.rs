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
        let jitter = json!({"kind": "uniform", "max": format!("{jitter_ms}ms")});
        world["network"]["bottleneck"]["jitter"] = jitter;
    }
    world
}

/// Packets dropped in the queue and the time of the transfer.
fn cost(world: &Value) -> (u64, f64) {
    let summary = run(world, 1);
    (summary.links[0].dropped_packets, summary.flows[0].completion_s.expect("60 s are enough"))
}

/// ssthresh whenever it has changed, in bytes, while it is set.
fn thresholds(world: &Value) -> Vec<f64> {
    let mut world = world.clone();
    world["record"] = json!({"series": ["ssthresh"], "every": "change"});
    let outcome = Simulation::new(&scenario(&world), 1).unwrap().run();
    let column = outcome.series.into_iter().find(|(name, _)| *name == SeriesName::Ssthresh).expect("recorded").1;
    column.value.into_iter().filter(|value| value.is_finite() && *value < 1e12).collect()
}

/// What SEARCH drains to, in bytes.
fn target(world: &Value) -> f64 {
    let mut world = world.clone();
    world["record"] = json!({"internals": ["start_target_bytes"], "every": "change"});
    Simulation::new(&scenario(&world), 1).unwrap().run().series.remove(0).1.value[0]
}

/// Drops at most a fifth of what slow start alone has, the target within 10 % of the product, no time lost.
#[test]
fn search_leaves_slow_start_before_a_deep_queue_overflows() {
    for place in WORLDS {
        let standard = cost(&world(place, 4, 0, json!("cubic"), Some("standard")));
        let search = cost(&world(place, 4, 0, json!("cubic"), Some("search")));
        assert!(search.0 * 5 <= standard.0, "{place:?}: {search:?} {standard:?}");
        assert!((search.1 / standard.1 - 1.0).abs() <= 0.03, "{place:?}: {search:?} {standard:?}");
        let target = target(&world(place, 4, 0, json!("cubic"), Some("search")));
        let product = (place.0 * place.1) as f64 * 125.0;
        assert!((target / product - 1.0).abs() <= 0.1, "{place:?}: {target} of {product}");
    }
}

#[test]
fn search_bears_jitter() {
    for (place, jitter) in [(WORLDS[0], 20), (WORLDS[2], 10)] {
        let standard = cost(&world(place, 4, jitter, json!("cubic"), Some("standard")));
        let search = cost(&world(place, 4, jitter, json!("cubic"), Some("search")));
        assert!(search.0 * 3 <= standard.0, "{place:?}: {search:?} {standard:?}");
    }
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

/// A product of 2500 segments is 250 initial windows. Doubling takes log2(250) = 8 round trips. Tripling gives 10 x 3^5 = 2430 within
/// six, in the last of which the first window was spread, and the 70 that are missing with the first 35 ACKs after them, 0.24 ms each.
#[test]
fn rapid_start_fills_a_satellite_link_two_round_trips_sooner() {
    let filled = |start: Value, segments: f64| {
        let mut world = world((50, 600, 60), 4, 0, json!("cubic"), None);
        world["tcp"]["start"] = start;
        world["record"] = json!({"series": ["outstanding"], "every": "change"});
        let outcome = Simulation::new(&scenario(&world), 1).unwrap().run();
        let flight = &outcome.series[0].1;
        let at = flight.value.iter().position(|bytes| *bytes >= segments * 1448.0).expect("it fills the link");
        // The handshake takes the first.
        (flight.t_s[at] - 0.6) / 0.6
    };
    let (most, rapid) = (filled(json!({"growth": "rapid"}), 2430.0), filled(json!({"growth": "rapid"}), 2500.0));
    assert!(most <= 6.0 && rapid <= 6.0 + 0.02, "{most} and {rapid} round trips");
    let standard = filled(json!("standard"), 2500.0);
    assert!((8.0..=9.0).contains(&standard), "{standard} round trips");
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

/// The line has fallen to a tenth meanwhile: the jump is taken back, to no more than two of its products.
#[test]
fn a_jump_into_a_path_that_has_shrunk_retreats() {
    // The queue holds a product of the line that is left.
    let shrunk = json!({"queue": {"kind": "drop_tail", "limit": "375kB"}, "changes": [{"at": "50s", "rate": "5Mbps"}]});
    let mut world = visits(&[("0s", "20MB"), ("60s", "5.3MB")], "resume", &shrunk);
    world["record"] = json!({"series": ["ssthresh"], "every": "change"});
    let outcome = Simulation::new(&scenario(&world), 1).unwrap().run();
    assert_eq!((outcome.summary.flows[1].resumed, outcome.summary.flows[1].retreats), (Some(1), Some(1)));
    let ssthresh = &outcome.series[0].1;
    let after = ssthresh.t_s.iter().zip(&ssthresh.id).zip(&ssthresh.value);
    let kept: Vec<f64> = after.filter(|((t, id), v)| **t > 60.0 && **id == 1 && **v < 1e12).map(|(_, v)| *v).collect();
    // The retreat begins at half of PipeSize; 375 kB are a product of the line now.
    assert!(2.0 * kept[0] <= 2.0 * 375e3, "{kept:?}");
}

/// Bytes that a CUBIC flow beside a transfer with this start has had acknowledged between two times, and when the transfer retreated.
fn beside(start: &str, within: Option<(f64, f64)>) -> (f64, f64) {
    let shrunk = json!({"queue": {"kind": "drop_tail", "limit": "375kB"}, "changes": [{"at": "50s", "rate": "5Mbps"}]});
    let mut world = visits(&[("0s", "20MB"), ("60s", "5.3MB")], start, &shrunk);
    world["network"]["pairs"] = json!(2);
    let neighbour = json!({"from": "left1", "to": "right1", "start": "45s", "app": {"kind": "bulk"}});
    world["flow"].as_array_mut().unwrap().push(neighbour);
    world["duration"] = json!("80s");
    world["record"] = json!({"series": ["acked", "ssthresh"], "every": "change"});
    let outcome = Simulation::new(&scenario(&world), 1).unwrap().run();
    let column = |name| &outcome.series.iter().find(|(found, _)| *found == name).unwrap().1;
    let ssthresh = column(SeriesName::Ssthresh);
    let set = |i: &usize| ssthresh.id[*i] == 1 && ssthresh.value[*i] < 1e12;
    let retreat = (0..ssthresh.id.len()).find(set).map_or(f64::NAN, |i| ssthresh.t_s[i]);
    let (from, to) = within.unwrap_or((retreat, retreat + 5.0));
    let acked = column(SeriesName::Acked);
    let had = |t: f64| {
        let seen = (0..acked.id.len()).filter(|i| acked.id[*i] == 2 && acked.t_s[*i] <= t);
        seen.map(|i| acked.value[i]).next_back().unwrap_or(0.0)
    };
    (had(to) - had(from), retreat)
}

/// A safe retreat spares its neighbour: for five seconds it has four fifths of what it has beside slow start at least.
#[test]
fn a_flow_beside_a_safe_retreat_keeps_its_goodput() {
    let (resumed, retreat) = beside("resume", None);
    let (standard, _) = beside("standard", Some((retreat, retreat + 5.0)));
    assert!(retreat > 60.0 && resumed >= 0.8 * standard, "{resumed} B of {standard} B after {retreat} s");
}

/// Of a hundred connections that open at once, one resumes.
#[test]
fn an_entry_is_used_by_one_connection() {
    let mut sizes = vec![("0s", "20MB")];
    sizes.extend([("60s", "200kB"); 100]);
    let summary = run(&visits(&sizes, "resume", &json!({})), 1);
    assert_eq!(summary.flows.iter().map(|flow| flow.resumed.unwrap_or(0)).sum::<u64>(), 1);
}

/// Flows of a workload resume by themselves, and a given window needs no earlier connection.
#[test]
fn workloads_resume_and_a_window_may_be_given() {
    let mut world = visits(&[("0s", "1MB")], "standard", &json!({}));
    world["flow"][0]["tcp"]["start"] = json!({"resume": {"saved": {"cwnd": "3MB", "rtt": "600ms"}}});
    let given = run(&world, 1);
    assert_eq!(given.flows[0].resumed, Some(1));
    world["flow"][0]["tcp"]["start"] = json!({"jump": "100p"});
    let jump = run(&world, 1);
    assert!(jump.flows[0].jump_bytes.unwrap() > 50 * 1448, "{:?}", jump.flows[0].jump_bytes);
    world["flow"][0]["tcp"]["start"] = json!("standard");
    let standard = run(&world, 1).flows[0].completion_s.unwrap();
    assert!(given.flows[0].completion_s.unwrap() < standard && jump.flows[0].completion_s.unwrap() < standard);
    world.as_object_mut().unwrap().remove("flow");
    world["workload"] = json!([{"name": "pages", "from": ["left0"], "to": ["right0"], "size": {"kind": "constant", "bytes": "2MB"}, "arrivals": {"kind": "constant", "interval": "20s"},
                                "tcp": {"start": "resume"}}]);
    world["record"] = json!({"flows": "all"});
    let flows = run(&world, 1).flows;
    assert!(flows.iter().filter(|flow| flow.resumed == Some(1)).count() >= 3, "{}", flows.len());
}

/// The table of docs/starts.md: `cargo test -p tonopah-sim --test behaviour -- --ignored --nocapture table_of_starts`
#[test]
#[ignore = "a table"]
fn table_of_starts() {
    for (bdp, name) in [(1, "1 BDP"), (4, "4 BDP")] {
        for start in ["standard", "hystart", "hystart++", "search", "rapid", "jump"] {
            let places = WORLDS.map(|(mbps, rtt_ms, _)| {
                let (dropped, s) = cost(&world((mbps, rtt_ms, 20), bdp, 0, json!("cubic"), Some(start)));
                format!("{s:.2} s, {dropped}")
            });
            println!("| {start} | {name} | {} |", places.join(" | "));
        }
    }
    for size in ["1MB", "5.3MB"] {
        let at =
            |start: &str| run(&visits(&[("0s", "20MB"), ("60s", size)], start, &json!({})), 1).flows[1].completion_s;
        println!("resume, {size}: {:.2?} s, standard {:.2?} s", at("resume").unwrap(), at("standard").unwrap());
    }
}
