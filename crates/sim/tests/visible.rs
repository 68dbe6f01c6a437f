//! What a run shows of its senders besides windows: the variables of their algorithms, what limits them, what they did in vain.

mod common;

use common::{one_flow, refusal, run, scenario};
use serde_json::{Value, json};
use sim::scenario::SeriesName;
use sim::{Column, Simulation};
use tcp::cc::ALGORITHMS;

fn series(world: &Value) -> Vec<(String, Column)> {
    let outcome = Simulation::new(&scenario(world), 1).unwrap_or_else(|e| panic!("{e}")).run();
    outcome.series.into_iter().map(|(name, column)| (name.name().into_owned(), column)).collect()
}

fn recording(cc: &str, record: Value) -> Value {
    let mut world = one_flow("20Mbps", 20, "67p", "12s", json!({"profile": "linux", "cc": cc}));
    world["record"] = record;
    world
}

/// BBR passes through its four states within twelve seconds, by their names, and its bandwidth is the line's.
#[test]
fn bbr_shows_its_state_in_words_and_its_bandwidth() {
    for every in ["change", "10ms"] {
        let found = series(&recording("bbr", json!({"internals": "all", "every": every})));
        let column = |name: &str| &found.iter().find(|(known, _)| known == name).unwrap_or_else(|| panic!("{name}")).1;
        let states = column("cc.state");
        let mut words = states.words.clone();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words, ["drain", "probe_bw", "probe_rtt", "startup"], "{every}");
        assert_eq!(states.words.len(), states.value.len());
        let bandwidth = *column("cc.bw_bps").value.last().unwrap();
        assert!((bandwidth / 20e6 - 1.0).abs() < 0.1, "{bandwidth}");
        let changes = column("cc.bw_bps").value.windows(2).all(|pair| pair[0] != pair[1]);
        assert!(changes && column("cc.min_rtt_s").value.iter().all(|rtt| (0.04..0.05).contains(rtt)), "{every}");
    }
}

/// Every algorithm shows what it lists and no more, and what is asked for alone.
#[test]
fn every_algorithm_has_the_series_of_its_list() {
    for algorithm in ALGORITHMS {
        let world = recording(algorithm.name, json!({"internals": "all", "every": "100ms"}));
        let mut names: Vec<String> = series(&world).into_iter().map(|(name, _)| name).collect();
        let mut listed: Vec<String> = algorithm.internals.iter().map(|shown| format!("cc.{}", shown.name)).collect();
        names.sort_unstable();
        listed.sort_unstable();
        assert_eq!(names, listed, "{}", algorithm.name);
    }
    let found = series(&recording("bbr3", json!({"internals": ["bw_bps"], "series": ["cwnd"], "every": "100ms"})));
    assert_eq!(found.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["cwnd", "cc.bw_bps"]);
}

#[test]
fn a_variable_that_no_algorithm_has_is_refused() {
    for (names, start) in [
        (json!(["bw"]), "record.internals[0]: \"bw\" is no variable of the algorithms used (they have bw_bps, "),
        (
            json!(["bw_bps", "cc.state"]),
            "record.internals[1]: \"cc.state\" is no variable of the algorithms used (write \"state\")",
        ),
        (json!("some"), "record.internals: \"some\" is not \"all\" or an array of names"),
    ] {
        let error = refusal(&recording("bbr", json!({"internals": names})));
        assert!(error.starts_with(start), "{error}");
    }
    let error = refusal(&recording("reno", json!({"internals": ["bw_bps"]})));
    assert!(error.ends_with("(they show nothing of themselves)"), "{error}");
}

/// A recorded run is the run without: observing changes nothing.
#[test]
fn observing_changes_no_bit() {
    for cc in ["bbr", "cubic", "vivace"] {
        let (plain, shown) = (recording(cc, json!({})), recording(cc, json!({"internals": "all", "every": "change"})));
        let of = |world: &Value| serde_json::to_value(&run(world, 1).flows).unwrap();
        assert_eq!(of(&plain), of(&shown), "{cc}");
    }
}

/// The shares of a flow's limits, by name, which add up to 1.
fn shares(world: &Value) -> [f64; 5] {
    let flow = serde_json::to_value(&run(world, 1).flows[0]).unwrap();
    let found = ["app", "cwnd", "rwnd", "pacing", "recovery"]
        .map(|limit| flow[format!("{limit}_limited_ratio")].as_f64().unwrap_or_else(|| panic!("{limit}: {flow}")));
    assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{found:?}");
    found
}

/// The world decides what limits: 20 Mb/s over 40 ms are 67 segments.
#[test]
fn what_limits_a_sender_is_what_the_world_says() {
    let world = |tcp: Value| {
        let mut world = one_flow("20Mbps", 20, "200p", "20s", tcp);
        world["warmup"] = json!("5s");
        world
    };
    let linux = |more: Value| {
        let mut tcp = json!({"profile": "linux", "cc": "reno"});
        more.as_object().unwrap().iter().for_each(|(key, value)| tcp[key] = value.clone());
        tcp
    };
    let [_, cwnd, ..] = shares(&world(linux(json!({}))));
    assert!(cwnd > 0.95, "a bulk transfer of Reno waits for cwnd: {cwnd}");
    let [.., rwnd, _, _] = shares(&world(linux(json!({"recv_buffer": "40kB"}))));
    assert!(rwnd > 0.95, "a window of 20 kB is below 100 kB: {rwnd}");
    let [.., pacing, _] = shares(&world(linux(json!({"cc": "bbr"}))));
    assert!(pacing > 0.8, "BBR's window is twice what its pacing needs: {pacing}");
    let mut slow = world(linux(json!({})));
    slow["flow"][0]["app"] = json!({"kind": "cbr", "rate": "2Mbps", "size": "1448B"});
    let [app, ..] = shares(&slow);
    assert!(app > 0.99, "2 Mb/s of 20: {app}");
    let mut lossy = world(linux(json!({})));
    lossy["network"]["bottleneck"]["loss"] = json!({"kind": "packet", "p": 0.02});
    let [.., recovery] = shares(&lossy);
    // A recovery lasts a round trip; one begins in about 1 / (p W) of them with W = sqrt(3 / (2 p)) segments (Mathis 1997).
    assert!((0.1..0.5).contains(&recovery), "{recovery}");
    let mut two = world(linux(json!({})));
    two["record"] = json!({"series": ["limit"], "every": "change"});
    let column = &series(&two)[0].1;
    assert!(column.value.contains(&1.0) && column.value.iter().all(|limit| *limit <= 4.0));
}

/// A segment that is late by more than a round trip is sent again in vain; one that is lost is not.
#[test]
fn needless_retransmissions_are_counted() {
    let of = |link: Value| {
        let mut world =
            one_flow("20Mbps", 20, "200p", "5s", json!({"profile": "rfc", "cc": "reno", "recovery": "sack"}));
        link.as_object().unwrap().iter().for_each(|(key, value)| world["network"]["bottleneck"][key] = value.clone());
        let flow = serde_json::to_value(&run(&world, 1).flows[0]).unwrap();
        ["retransmitted_packets", "needless_retransmissions"].map(|key| flow[key].as_u64().unwrap())
    };
    assert_eq!(of(json!({"loss": {"kind": "nth", "data_packets": [50, 90]}})), [2, 0]);
    let late = json!({"kind": "late", "p": 0.01, "by": {"kind": "constant", "length": "30ms"}});
    let [again, needless] = of(json!({"reorder": late}));
    assert!(needless > 5 && needless == again, "{needless} of {again}");
}

/// RACK undoes what DSACK or timestamps show to be spurious (RFC 3708, RFC 3522).
#[test]
fn undone_reductions_are_counted() {
    let tcp = json!({"profile": "linux", "cc": "cubic"});
    let mut world = one_flow("20Mbps", 20, "200p", "10s", tcp);
    let late = json!({"kind": "late", "p": 0.002, "by": {"kind": "constant", "length": "60ms"}});
    world["network"]["bottleneck"]["reorder"] = late;
    let flow = serde_json::to_value(&run(&world, 1).flows[0]).unwrap();
    assert!(flow["undone_count"].as_u64().unwrap() > 0, "{flow}");
}

#[test]
fn series_of_pacing_and_delivery_follow_the_line() {
    let world = recording(
        "bbr",
        json!({"series": ["pacing_rate", "delivery_rate", "min_rtt", "rttvar", "timeouts"], "every": "1s"}),
    );
    let outcome = Simulation::new(&scenario(&world), 1).unwrap().run();
    let last = |wanted: SeriesName| {
        let (_, column) = outcome.series.iter().find(|(name, _)| *name == wanted).unwrap();
        *column.value.last().unwrap()
    };
    assert!((last(SeriesName::DeliveryRate) / 20e6 - 1.0).abs() < 0.1);
    // Between 0.75 and 1.25 times the bandwidth less 1 % (ProbeBW of BBR version 1).
    assert!((0.7..1.3).contains(&(last(SeriesName::PacingRate) / 20e6)));
    assert!((last(SeriesName::MinRtt) - 0.0406).abs() < 1e-3 && last(SeriesName::Rttvar) > 0.0);
    assert_eq!(last(SeriesName::Timeouts), 0.0);
}

/// A distribution holds every packet and every RTT sample of the measurement interval, its percentiles are those of the summary,
/// and nothing is there that nobody asked for.
#[test]
fn a_distribution_holds_what_the_percentiles_are_of() {
    let world = recording("cubic", json!({"distributions": ["delay", "rtt", "app_delay"]}));
    let summary = run(&world, 1);
    let flow = &summary.flows[0];
    let names: Vec<Value> = flow.distributions.keys().map(|name| json!(name)).collect();
    assert_eq!(names, ["delay", "rtt"], "an endless transfer has no messages");
    let percentiles =
        [[flow.measures.delay_p50_s, flow.measures.delay_p99_s], [flow.measures.rtt_p50_s, flow.measures.rtt_p99_s]];
    for (found, expected) in flow.distributions.values().zip(percentiles) {
        let total: u32 = found.counts.iter().sum();
        let below = |q: f64| {
            let mut seen = 0;
            let rank = (q * f64::from(total)).ceil() as u32;
            let at = found.counts.iter().position(|count| {
                seen += count;
                seen >= rank
            });
            at.map(|place| found.values_s[place])
        };
        assert_eq!([below(0.5), below(0.99)], expected);
        assert!(found.values_s.is_sorted() && found.counts.iter().all(|count| *count > 0));
    }
    assert_eq!(
        flow.distributions.values().next().unwrap().counts.iter().sum::<u32>(),
        flow.measures.received_packets as u32
    );
    assert!(run(&recording("cubic", json!({})), 1).flows[0].distributions.is_empty());
}
