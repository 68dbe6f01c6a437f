//! What is measured of a flow that does not live as long as the run, and of its round trips.

mod common;

use common::{one_flow, run, scenario};
use serde_json::{Value, json};
use sim::scenario::SeriesName;
use sim::{Column, Simulation};

/// One flow over 5 Mb/s and 20 ms, alone from `start` to `stop` in a run of 60 s.
fn visitor(start: &str, stop: Option<&str>) -> Value {
    let mut world = one_flow("5Mbps", 10, "40p", "60s", json!({"cc": "cubic"}));
    world["flow"][0]["start"] = json!(start);
    if let Some(stop) = stop {
        world["flow"][0]["stop"] = json!(stop);
    }
    world
}

fn add_flow(world: &mut Value, flow: Value) {
    world["flow"].as_array_mut().unwrap().push(flow);
}

fn series(world: &Value, wanted: SeriesName) -> Column {
    let outcome = Simulation::new(&scenario(world), 1).unwrap().run();
    outcome.series.into_iter().find(|(name, _)| *name == wanted).expect("recorded").1
}

#[test]
fn goodput_is_over_the_life_of_the_flow() {
    let full = 5e6 * 1448.0 / 1500.0;
    for (start, stop) in [("50s", None), ("10s", Some("20s")), ("0s", Some("10s"))] {
        let summary = run(&visitor(start, stop), 1);
        let (flow, all) = (&summary.flows[0], &summary.network.measures);
        assert!((flow.lifetime_s - 10.0).abs() < 0.3, "{start} {stop:?}: {}", flow.lifetime_s);
        assert!((flow.measures.goodput_bps / full - 1.0).abs() < 0.03, "{start}: {}", flow.measures.goodput_bps);
        assert_eq!(flow.measures.goodput_bps, 8.0 * flow.measures.delivered_bytes as f64 / flow.lifetime_s);
        assert!(flow.measures.throughput_bps >= flow.measures.goodput_bps);
        // All flows together: bits over the measurement interval.
        assert_eq!(all.goodput_bps, 8.0 * all.delivered_bytes as f64 / 60.0);
    }
}

#[test]
fn a_life_begins_with_the_measurement_interval_and_ends_with_the_last_byte() {
    let mut world = one_flow("10Mbps", 20, "60p", "20s", json!({}));
    world["flow"][0]["app"] = json!({"kind": "bulk", "bytes": "1MB"});
    let summary = run(&world, 1);
    let flow = &summary.flows[0];
    assert_eq!(Some(flow.lifetime_s), flow.completion_s);
    assert!((flow.measures.goodput_bps - 8e6 / flow.lifetime_s).abs() < 1e-6);
    world["warmup"] = json!("500ms");
    let warm = run(&world, 1);
    assert!((warm.flows[0].lifetime_s - (flow.lifetime_s - 0.5)).abs() < 1e-9);
    assert_eq!(warm.flows[0].completion_s, flow.completion_s, "completion counts from the start all the same");
    // Over before the interval: it delivered nothing in it, and is no rival of anybody.
    world["warmup"] = json!("10s");
    world["network"]["pairs"] = json!(2);
    add_flow(&mut world, json!({"from": "left1", "to": "right1"}));
    let late = run(&world, 1);
    assert_eq!((late.flows[0].lifetime_s, late.flows[0].measures.goodput_bps), (0.0, 0.0));
    assert_eq!(late.network.jain, Some(1.0));
}

#[test]
fn datagrams_live_until_their_stop() {
    let mut world = visitor("10s", Some("20s"));
    world["flow"][0]["app"] = json!({"kind": "cbr", "rate": "1Mbps", "size": "1000B", "transport": "udp"});
    let flow = run(&world, 1).flows.remove(0);
    assert_eq!(flow.lifetime_s, 10.0);
    assert!((flow.measures.goodput_bps / 1e6 - 1.0).abs() < 0.01, "{}", flow.measures.goodput_bps);
    assert_eq!(flow.measures.offered_bps, Some(1e6));
}

#[test]
fn jain_of_flows_one_after_the_other_compares_their_rates() {
    let mut world = visitor("0s", Some("30s"));
    world["network"]["pairs"] = json!(2);
    add_flow(&mut world, json!({"from": "left1", "to": "right1", "start": "50s"}));
    // 30 s and 10 s alone on the link at the same rate: by the whole window 0.8.
    let jain = run(&world, 1).network.jain.unwrap();
    assert!(jain > 0.999, "{jain}");
}

#[test]
fn completion_times_of_all_flows_have_mean_and_percentiles() {
    let flows: Vec<Value> = (1..=20)
        .map(|i| {
            json!({"from": "left0", "to": "right0", "start": format!("{i}s"),
                   "app": {"kind": "bulk", "bytes": format!("{}kB", 10 * i)}})
        })
        .collect();
    let mut world = one_flow("50Mbps", 20, "100p", "30s", json!({}));
    world["flow"] = json!(flows);
    let summary = run(&world, 1);
    let times: Vec<f64> = summary.flows.iter().map(|flow| flow.completion_s.unwrap()).collect();
    assert!(times.windows(2).all(|pair| pair[0] <= pair[1]), "more bytes take longer: {times:?}");
    let found = summary.network.completion.unwrap();
    assert!((found.completion_s.unwrap() - times.iter().sum::<f64>() / 20.0).abs() < 1e-12);
    assert_eq!(found.completion_p50_s, Some(times[9]));
    assert_eq!(found.completion_p95_s, Some(times[18]));
    assert_eq!((found.completion_p99_s, found.completion_max_s), (Some(times[19]), Some(times[19])));
    assert_eq!(found.flows_unfinished, 0);
    world["flow"][0]["app"]["bytes"] = json!("1GB");
    let found = run(&world, 1).network.completion.unwrap();
    assert_eq!(found.flows_unfinished, 1);
    // The one that did not finish lasted 29 s at least: it is the longest, and no survivor's time stands for it.
    assert_eq!((found.completion_max_s, found.completion_p99_s), (Some(29.0), Some(29.0)));
    assert!((found.completion_known_share - 0.95).abs() < 1e-12 && found.completion_s.unwrap() > 29.0 / 20.0);
    let endless = run(&one_flow("50Mbps", 20, "100p", "1s", json!({})), 1);
    assert_eq!(endless.network.completion, None, "no flow has an end");
    assert!(!serde_json::to_string(&endless).unwrap().contains("unfinished"));
}

#[test]
fn rtt_percentiles_are_those_of_the_samples() {
    let mut world = one_flow("10Mbps", 20, "60p", "20s", json!({"cc": "newreno"}));
    world["record"] = json!({"series": ["rtt"], "every": "1ms"});
    let summary = run(&world, 1);
    let found = &summary.flows[0].measures;
    let mut samples = series(&world, SeriesName::Rtt).value;
    samples.retain(|value| !value.is_nan());
    samples.sort_unstable_by(f64::total_cmp);
    // At a full link acknowledgments come at a constant rate, so that samples in time are samples of them.
    let at = |q: f64| samples[((q * samples.len() as f64) as usize).min(samples.len() - 1)];
    for (q, value) in [(0.5, found.rtt_p50_s), (0.95, found.rtt_p95_s), (0.99, found.rtt_p99_s)] {
        let value = value.unwrap();
        assert!((value / at(q) - 1.0).abs() < 0.03, "{q}: {value} of {}", at(q));
    }
    let (least, mean) = (summary.flows[0].min_rtt_s.unwrap(), found.rtt_s.unwrap());
    assert!(least > 0.040 && least < 0.0425 && mean > found.delay_s.unwrap(), "{least} {mean}");
    // 60 packets of 1.2 ms wait at most.
    assert!(found.rtt_p99_s.unwrap() < 0.042 + 0.075, "{found:?}");
    assert_eq!(summary.network.measures.rtt_p95_s, found.rtt_p95_s);
}

#[test]
fn an_empty_path_has_one_rtt() {
    let mut world = one_flow("10Mbps", 25, "60p", "5s", json!({}));
    world["flow"][0]["app"] = json!({"kind": "cbr", "rate": "50pps", "size": "1000B"});
    let measures = run(&world, 1).flows.remove(0).measures;
    // 50 ms, 1052 B at 10 Mb/s, and the delayed acknowledgment of a lone segment.
    assert!(measures.rtt_p50_s.unwrap() > 0.0508, "{measures:?}");
    world["flow"][0]["app"] = json!({"kind": "cbr", "rate": "50pps", "size": "1000B", "transport": "udp"});
    assert_eq!(run(&world, 1).flows[0].measures.rtt_p50_s, None, "datagrams are not acknowledged");
}

#[test]
fn the_goodput_series_adds_up_to_what_was_delivered() {
    for app in [json!({"kind": "bulk"}), json!({"kind": "cbr", "rate": "1Mbps", "size": "500B", "transport": "udp"})] {
        let mut world = visitor("10s", Some("20s"));
        world["flow"][0]["app"] = app.clone();
        world["record"] = json!({"series": ["goodput", "throughput"], "every": "100ms"});
        let found = series(&world, SeriesName::Goodput);
        let bytes: f64 = found.value.iter().map(|bps| bps * 0.1 / 8.0).sum();
        let delivered = run(&world, 1).flows[0].measures.delivered_bytes as f64;
        assert!((bytes - delivered).abs() < 1.0, "{app}: {bytes} of {delivered}");
        assert!(found.t_s.iter().zip(&found.value).all(|(t, value)| *value == 0.0 || (10.0..20.5).contains(t)));
    }
}

#[test]
fn the_sending_rate_adds_up_to_what_was_sent() {
    for (app, payload) in [
        (json!({"kind": "bulk"}), 1460),
        (json!({"kind": "cbr", "rate": "8Mbps", "size": "500B", "transport": "udp"}), 500),
    ] {
        let mut world = visitor("2s", Some("4s"));
        world["duration"] = json!("5s");
        world["warmup"] = json!("1s");
        world["flow"][0]["app"] = app.clone();
        world["record"] = json!({"series": ["sending_rate", "throughput"], "every": "100ms"});
        let outcome = Simulation::new(&scenario(&world), 1).unwrap().run();
        let bytes = |(_, column): &(SeriesName, Column)| column.value.iter().map(|bps| bps * 0.1 / 8.0).sum::<f64>();
        let (sent, received) = (bytes(&outcome.series[0]), bytes(&outcome.series[1]));
        let flow = &outcome.summary.flows[0].measures;
        assert!(flow.dropped_packets > 0, "{app}: nothing was lost");
        assert!(
            (sent - (payload * flow.sent_packets) as f64).abs() < 1.0,
            "{app}: {sent} in {} packets",
            flow.sent_packets
        );
        let lost = (payload * flow.dropped_packets) as f64;
        assert!((sent - received - lost).abs() < 1.0, "{app}: {sent} sent, {received} received, {lost} lost");
    }
}
