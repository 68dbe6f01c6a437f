//! Every algorithm where the application, the receiver or a pause limits it: the window stays near what was used, and an
//! answer after a pause takes no longer than a warm one. Algorithms of reports (`compat`) follow their reports.

use serde_json::{Value, json};
use sim::Simulation;
use sim::scenario::SeriesName;
use tcp::cc::{ALGORITHMS, Algorithm};
use tcp::compat::cc::is_compat;

use crate::common::{run, scenario};

/// 20 Mb/s over 40 ms.
const BDP: f64 = 100_000.0;

/// A line of 20 Mb/s and 40 ms there and back with a queue of 100 packets; 100 kB are one bandwidth-delay product.
fn world(cc: &Value, app: &Value, duration: &str) -> Value {
    json!({
        "duration": duration,
        "network": {
            "kind": "dumbbell", "pairs": 1,
            "access": {"rate": "1Gbps", "delay": "1ms"},
            "bottleneck": {"rate": "20Mbps", "delay": "18ms", "queue": "100p"},
        },
        "tcp": {"profile": "linux", "buffers": "tuned", "cc": cc},
        "flow": [{"from": "left0", "to": "right0", "app": app}],
    })
}

fn each(mut check: impl FnMut(&Algorithm, &str, &Value)) {
    for algorithm in ALGORITHMS.iter().filter(|algorithm| !is_compat(algorithm)) {
        for profile in algorithm.profiles {
            check(algorithm, profile.name, &json!({"name": algorithm.name, "profile": profile.name}));
        }
    }
}

/// Median time of nine answers of 200 kB, two bandwidth-delay products, after pauses.
fn answer_s(cc: &Value, think: &str, slow_start_after_idle: bool) -> f64 {
    let app = json!({"kind": "request_response", "requests": 9, "response": "200kB", "think": think});
    let mut scenario = world(cc, &app, "130s");
    scenario["tcp"]["slow_start_after_idle"] = json!(slow_start_after_idle);
    let flow = serde_json::to_value(&run(&scenario, 1).flows[0]).unwrap();
    flow["request_p50_s"].as_f64().unwrap_or(f64::INFINITY)
}

/// The restart window of RFC 5681 §4.1 is a setting, `slow_start_after_idle`; without it no algorithm has a reason to be slower
/// than after a pause of 0.2 s, but H-TCP, which grows with the time since the last loss whether it sends or not, and
/// overshoots, and LEDBAT++, whose slowdowns to two segments come at nine times their length (draft §4.4), pauses or not. Those
/// that set the window themselves have no restart window at all.
#[test]
fn an_answer_after_a_pause_takes_what_a_warm_one_takes() {
    let mut slow = Vec::new();
    each(|algorithm, profile, cc| {
        if algorithm.name == "htcp" || profile == "ledbat++" {
            return;
        }
        for restarts in [false, true] {
            if restarts && !algorithm.requirements.owns_window {
                continue;
            }
            let warm = answer_s(cc, "0.2s", restarts);
            for think in ["1s", "3s", "12s"] {
                let answer = answer_s(cc, think, restarts);
                if answer > 1.2 * warm {
                    slow.push(format!("{} {profile}, {think}: {answer} s, warm {warm} s", algorithm.name));
                }
            }
        }
    });
    assert!(slow.is_empty(), "{slow:#?}");
}

/// 200 kB are sent in 80 ms, and the last byte is 38 ms old: 123 ms with what else a request costs
/// (draft-ietf-ccwg-bbr, "Skipping PROBE_RTT Due to Application-Limited Sending").
#[test]
fn bbr_does_not_measure_the_rtt_when_it_restarts() {
    for (cc, profile) in [("bbr", "linux"), ("bbr", "ns3"), ("bbr3", "draft"), ("bbr3", "linux")] {
        for think in ["1s", "9.8s", "11s"] {
            let app = json!({"kind": "request_response", "requests": 100, "response": "200kB", "think": think});
            let mut scenario = world(&json!({"name": cc, "profile": profile}), &app, "150s");
            scenario["warmup"] = json!("20s");
            scenario["record"] = json!({"series": ["cwnd"], "every": "100ms"});
            let (flow, cwnd) = flow_and_cwnd(&scenario);
            let (median, most) = (flow["request_p50_s"].as_f64().unwrap(), flow["request_max_s"].as_f64().unwrap());
            assert!((median - 0.123).abs() < 1e-3 && most < 0.1245, "{cc} {profile} {think}: {median}, {most}");
            // The draft and Linux: 2 BDP, 3 in Startup, and 3 quanta of 2 segments.
            assert!(cwnd <= 3.0 * BDP + 3.0 * 2.0 * 1448.0, "{cc} {profile} {think}: {cwnd}");
        }
    }
}

/// The summary of the flow, and its largest window.
fn flow_and_cwnd(scenario: &Value) -> (Value, f64) {
    let outcome = Simulation::new(&self::scenario(scenario), 1).unwrap_or_else(|e| panic!("{e}")).run();
    let column = outcome.series.iter().find(|(name, _)| *name == SeriesName::Cwnd).unwrap();
    (serde_json::to_value(&outcome.summary.flows[0]).unwrap(), column.1.value.iter().copied().fold(0.0, f64::max))
}

/// An application that writes 2.5 Mb/s, of which 14 kB fit into a round trip, on a line that falls from 20 to 2 Mb/s, where it
/// fills the queue. Until then a window may be what slow start makes of the initial window once its use is confirmed (three
/// of them, RFC 5681 §3.1 with Linux's rule of tcp_is_cwnd_limited); of BBR, three of the line's bandwidth-delay products;
/// of others that set the window, and of Hybla, whose slow start adds more, four of the line's; so, too, of LEDBAT++, behind
/// whose slowdowns to two segments data waits that a larger window then takes. Then as much as twice what the path holds,
/// queue and all.
#[test]
fn a_window_stays_near_what_was_used() {
    let app = json!({"kind": "cbr", "rate": "2.5Mbps", "size": "1448B"});
    let mut wrong = Vec::new();
    each(|algorithm, profile, cc| {
        let name = algorithm.name;
        // Linux's tcp_vegas adds a segment per round while it measures no queue, used or not.
        if name == "vegas" && profile != "ns2" {
            return;
        }
        let steep = algorithm.requirements.owns_window || name == "hybla" || profile == "ledbat++";
        for falls in [false, true] {
            let mut scenario = world(cc, &app, "60s");
            scenario["record"] = json!({"series": ["cwnd"], "every": "100ms"});
            if falls {
                scenario["network"]["bottleneck"]["changes"] = json!([{"at": "10s", "rate": "2Mbps"}]);
            }
            let (flow, cwnd) = flow_and_cwnd(&scenario);
            let before = if steep { 4.0 * BDP } else { 3.1 * 14_480.0 };
            let most = if falls { before.max(2.0 * (150_000.0 + BDP)) } else { before };
            let (sent, again) =
                (flow["sent_packets"].as_f64().unwrap(), flow["retransmitted_packets"].as_f64().unwrap());
            if cwnd > most || again > 0.1 * sent {
                wrong.push(format!("{name} {profile}, falls {falls}: {cwnd} B, {again} of {sent} sent again"));
            }
        }
    });
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Other applications that do not fill the line: on and off at 10 Mb/s, a page of 20 objects of 30 kB, and a bulk transfer to a
/// receiver that offers 40 kB. A window may be twice what the path holds, queue and all. As above Linux's Vegas adds a segment a
/// round to a window that is not used.
#[test]
fn no_window_outgrows_other_applications() {
    let page = json!({"kind": "page", "objects": 20, "object_size": "30kB"});
    let worlds = [
        ("on_off", json!({"kind": "on_off", "rate": "10Mbps", "size": "1448B"}), json!({})),
        ("page", page, json!({})),
        ("receiver", json!({"kind": "bulk"}), json!({"recv_buffer": "80kB"})),
    ];
    let mut wrong = Vec::new();
    for algorithm in ALGORITHMS.iter().filter(|algorithm| !is_compat(algorithm)) {
        let cc = json!({"name": algorithm.name, "profile": algorithm.profiles[0].name});
        for (kind, app, tcp) in &worlds {
            if (algorithm.name, *kind) == ("vegas", "receiver") {
                continue;
            }
            let mut scenario = world(&cc, app, "30s");
            tcp.as_object().unwrap().iter().for_each(|(key, value)| scenario["tcp"][key] = value.clone());
            scenario["record"] = json!({"series": ["cwnd"], "every": "100ms"});
            let (flow, cwnd) = flow_and_cwnd(&scenario);
            let most = 2.0 * (150_000.0 + BDP);
            let lost = flow["loss_ratio"].as_f64().unwrap_or(0.0);
            if cwnd > most || lost > 0.1 {
                wrong.push(format!("{} {kind}: {cwnd} B, {lost} lost", algorithm.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Writes above the line: the algorithm is as free as with a bulk transfer, and its goodput is within 10 % of that.
#[test]
fn an_application_above_the_line_is_a_bulk_transfer() {
    each(|algorithm, profile, cc| {
        let goodput = |app: &Value| run(&world(cc, app, "20s"), 1).flows[0].measures.goodput_bps;
        let bulk = goodput(&json!({"kind": "bulk"}));
        let above = goodput(&json!({"kind": "cbr", "rate": "30Mbps", "size": "1448B"}));
        assert!((above / bulk - 1.0).abs() < 0.1, "{} {profile}: {above} of {bulk}", algorithm.name);
    });
}

/// On a path of 1,333 packets with a queue of 2,667, the buffer of 4 MB, overhead and all, holds 2,172. A writer that finds it full is woken
/// by Linux when a third of it is free: all that was written is on its way then, so that samples of the rate count as limited by the
/// application, and BBR never learns that the path is full. Linux 6.1 in virtual time: a window of 3,988 packets, for as long as it lasts.
#[test]
fn a_full_send_buffer_makes_samples_that_the_application_limits() {
    let mut scenario = world(&json!("bbr"), &json!({"kind": "bulk"}), "5s");
    scenario["tcp"].as_object_mut().unwrap().remove("buffers");
    scenario["network"]["access"] = json!({"rate": "1Gbps", "delay": "0s"});
    scenario["network"]["bottleneck"] = json!({"rate": "200Mbps", "delay": "40ms", "queue": "2bdp"});
    scenario["warmup"] = json!("3s");
    let flow = serde_json::to_value(&run(&scenario, 1).flows[0]).unwrap();
    let window = flow["cwnd_mean_bytes"].as_f64().unwrap() / 1448.0;
    assert!((window / 3988.0 - 1.0).abs() < 0.01, "{window}");
}
