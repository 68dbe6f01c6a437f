//! LEDBAT++ and rLEDBAT: late comers get their share, others do not notice them.

use serde_json::{Value, json};
use sim::Summary;

use crate::common::run;

/// Flows over 20 Mb/s and 40 ms with a queue of 240 ms, the last 100 of 150 s; each has settings of its own.
fn shared(flows: &[(Value, &str)]) -> Summary {
    let flows: Vec<Value> = flows
        .iter()
        .enumerate()
        .map(|(index, (tcp, start))| {
            json!({"from": format!("left{index}"), "to": format!("right{index}"), "start": start, "tcp": tcp})
        })
        .collect();
    run(
        &json!({
            "duration": "150s", "warmup": "50s",
            "network": {"kind": "dumbbell", "pairs": flows.len(), "access": {"rate": "1Gbps", "delay": "1ms"},
                        "bottleneck": {"rate": "20Mbps", "delay": "18ms", "queue": "400p"}},
            "flow": flows,
        }),
        1,
    )
}

fn goodputs(summary: &Summary) -> Vec<f64> {
    summary.flows.iter().map(|flow| flow.measures.goodput_bps / 1e6).collect()
}

fn ledbat(profile: &str) -> Value {
    json!({"cc": {"name": "ledbat", "profile": profile}})
}

fn jain(shares: &[f64]) -> f64 {
    let sum: f64 = shares.iter().sum();
    sum * sum / (shares.len() as f64 * shares.iter().map(|share| share * share).sum::<f64>())
}

/// Slowdowns let the second measure the base delay, which of two LEDBAT flows the late comer does not.
#[test]
fn a_late_comer_of_ledbat_plus_plus_has_its_share() {
    let both = |profile| goodputs(&shared(&[(ledbat(profile), "0s"), (ledbat(profile), "30s")]));
    let (plus, rfc) = (jain(&both("ledbat++")), jain(&both("rfc")));
    assert!(plus >= 0.92 && plus > rfc, "{plus} {rfc}");
}

#[test]
fn ledbat_plus_plus_fills_a_line_alone_and_leaves_it_to_cubic() {
    let alone = goodputs(&shared(&[(ledbat("ledbat++"), "0s")]))[0];
    assert!(alone >= 0.85 * 20.0, "{alone}");
    let beside = goodputs(&shared(&[(ledbat("ledbat++"), "0s"), (json!({"cc": "cubic"}), "0s")]));
    assert!(beside[0] / (beside[0] + beside[1]) <= 0.1, "{beside:?}");
}

/// The same of a receiver, whose sender is CUBIC.
#[test]
fn a_receiver_keeps_cubic_behind_another() {
    let receiver = json!({"cc": "cubic", "timestamps": true, "receiver_control": "rledbat"});
    let beside = goodputs(&shared(&[(receiver.clone(), "0s"), (json!({"cc": "cubic"}), "0s")]));
    assert!(beside[0] / (beside[0] + beside[1]) <= 0.15, "{beside:?}");
    let alone = shared(&[(receiver, "0s")]);
    let wait = alone.links[0].delay_queue_mean_s.unwrap();
    assert!(wait <= 0.090 && goodputs(&alone)[0] >= 0.8 * 20.0, "{wait} {:?}", goodputs(&alone));
}
