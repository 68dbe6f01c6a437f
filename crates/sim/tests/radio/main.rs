//! Wireless networks against tables and reference runs.

#[path = "../common/mod.rs"]
mod common;
mod energy;
mod measured;
mod routing;
mod wifi_n;

use common::run;
use serde_json::{Value, json};

/// Stations in a row, 802.11 of ns-2 at 2 Mb/s with a control rate of 1 Mb/s, DSDV. Routes settle
/// before the flow starts.
fn chain(hops: usize, rts: &str, app: Value) -> Value {
    let positions: Vec<[f64; 2]> = (0..=hops).map(|i| [200.0 * i as f64, 0.0]).collect();
    json!({
        "duration": "240s", "warmup": "210s",
        "network": {
            "kind": "adhoc", "nodes": hops + 1, "flows": 0, "area": {"x": "2000m", "y": "1m"},
            "placement": {"kind": "list", "positions": positions},
            "radio": {"profile": "ns2", "data_rate": "2Mbps", "basic_rate": "1Mbps", "rts_threshold": rts},
            // A single hop of the reference runs has no protocol. Without RTS a row of six has two regimes at 392 kb/s:
            // all of it is carried if nothing ever disturbs the phase of the source, or else 0.33. ARP at the start
            // always disturbs it, the broadcasts of DSDV alone in one of three seeds.
            "routing": {"kind": if hops == 1 { "shortest" } else { "dsdv" }},
        },
        "tcp": {"profile": "ns2", "mss": "1460B", "recv_buffer": "93440B"},
        "flow": [{"from": "n0", "to": format!("n{hops}"), "app": app, "start": "200s"}],
    })
}

/// A CBR source of UDP whose datagrams are 1472 B with their headers: ns-2 has none on them.
fn udp(rate: &str) -> Value {
    json!({"kind": "cbr", "rate": rate, "size": "1444B", "transport": "udp"})
}

/// In Mb/s, as ns-2 counts it.
fn ns2_goodput(payload_bps: f64) -> f64 {
    payload_bps / 1e6 * 1472.0 / 1444.0
}

/// Medians of ns-2 over five seeds; 10 % are allowed for ours over three. In overload two of twelve runs of ours have 0.15 and 0.18
/// Mb/s, and none of twelve of ns-2's (0.20 to 0.23); why is not known.
#[test]
fn chains() {
    // hops, then with RTS: 392 kb/s offered, overload, TCP; then the same without
    let table = [
        (1, [f64::NAN, 1.559, 1.259], [f64::NAN, 1.712, 1.407]),
        (2, [0.400, 0.767, 0.619], [0.400, 0.843, 0.709]),
        (3, [0.400, 0.507, 0.411], [0.400, 0.570, 0.474]),
        (4, [0.367, 0.366, 0.292], [0.400, 0.454, 0.366]),
        (5, [0.307, 0.221, 0.254], [0.382, 0.351, 0.310]),
        (6, [0.261, 0.222, 0.234], [0.338, 0.322, 0.282]),
        (7, [0.251, 0.238, 0.224], [0.325, 0.309, 0.268]),
        (8, [0.249, 0.225, 0.217], [0.314, 0.298, 0.259]),
    ];
    for (hops, with, without) in table {
        for (rts, expected) in [("0B", with), ("3000B", without)] {
            let goodput = |app: Value| {
                let mut of =
                    [1, 2, 3].map(|seed| run(&chain(hops, rts, app.clone()), seed).network.measures.goodput_bps);
                of.sort_by(f64::total_cmp);
                of[1]
            };
            let measured = [
                ns2_goodput(goodput(udp("392kbps"))),
                ns2_goodput(goodput(udp("2Mbps"))),
                goodput(json!({"kind": "bulk"})) / 1e6,
            ];
            for (measured, expected) in measured.into_iter().zip(expected) {
                let off = (measured / expected - 1.0).abs();
                assert!(expected.is_nan() || off < 0.10, "{hops} hops, RTS above {rts}: {measured:.3} of {expected}");
            }
        }
    }
}

/// Two flows, S1 to R1 and S2 to R2, whose senders may be hidden from each other.
fn pair_of_flows(x: [f64; 4], rts: &str, rate: &str) -> Value {
    let positions: Vec<[f64; 2]> = x.iter().map(|x| [*x, 0.0]).collect();
    let app = udp(rate);
    json!({
        "duration": "30s",
        "network": {
            "kind": "adhoc", "nodes": 4, "flows": 0, "area": {"x": "2000m", "y": "1m"},
            "placement": {"kind": "list", "positions": positions},
            "radio": {
                "profile": "ns2", "data_rate": "2Mbps", "basic_rate": "1Mbps", "rts_threshold": rts,
                // Both sources would send ARP requests at the same instants and, hidden from each other, always
                // collide.
                "arp": "none",
            },
        },
        "flow": [{"from": "n0", "to": "n1", "app": app}, {"from": "n3", "to": "n2", "app": app}],
    })
}

/// ns-2's runs; 15 % are allowed, of the mean of the two flows.
#[test]
fn hidden_terminals() {
    // geometry, then with RTS: 300 kb/s offered, overload; then the same without
    let table: [([f64; 4], [f64; 4]); 6] = [
        ([0.0, 200.0, 210.0, 10.0], [0.296, 0.791, 0.2965, 0.8515]),
        ([0.0, 200.0, 300.0, 500.0], [0.296, 0.7815, 0.2965, 0.858]),
        ([0.0, 200.0, 400.0, 600.0], [0.295, 0.7655, 0.2985, 0.855]),
        ([0.0, 240.0, 360.0, 600.0], [0.2665, 0.286, 0.150, 0.137]),
        ([0.0, 100.0, 700.0, 800.0], [0.296, 1.558, 0.2965, 1.7105]),
        ([200.0, 0.0, 800.0, 600.0], [0.296, 0.792, 0.2965, 0.871]),
    ];
    for (x, expected) in table {
        let cases = [("0B", "300kbps"), ("0B", "2Mbps"), ("3000B", "300kbps"), ("3000B", "2Mbps")];
        for ((rts, rate), expected) in cases.into_iter().zip(expected) {
            let total = run(&pair_of_flows(x, rts, rate), 1).network.measures.goodput_bps;
            let measured = ns2_goodput(total) / 2.0;
            assert!(
                (measured / expected - 1.0).abs() < 0.15,
                "{x:?}, RTS above {rts}, {rate}: {measured:.3} of {expected}"
            );
        }
    }
}

/// Two stations 100 m apart, 802.11 of ns-2: data rate, control rate and RTS threshold.
fn ns2_hop(data: &str, control: &str, rts: &str, mss: u64, app: Value) -> f64 {
    let value = json!({
        "duration": "60s", "warmup": "15s",
        "network": {
            "kind": "adhoc", "nodes": 2, "flows": 0, "area": {"x": "2000m", "y": "1m"},
            "placement": {"kind": "list", "positions": [[0.0, 0.0], [100.0, 0.0]]},
            "radio": {"profile": "ns2", "standard": "b", "data_rate": data, "basic_rate": control, "rts_threshold": rts},
        },
        "tcp": {"profile": "ns2", "mss": format!("{mss}B"), "recv_buffer": format!("{}B", 64 * mss)},
        "flow": [{"from": "n0", "to": "n1", "app": app}],
    });
    run(&value, 1).network.measures.goodput_bps / 1e6
}

/// Datagrams of ns-2's runs over one hop, within 0.3 %. ns-2's have no headers: 28 B less of payload.
#[test]
fn one_hop_of_datagrams_as_in_ns2() {
    let table = [
        ("2Mbps", "1Mbps", "0B", 1472, 1.5587),
        ("2Mbps", "1Mbps", "0B", 512, 1.1018),
        ("11Mbps", "1Mbps", "0B", 1472, 4.4792),
        ("11Mbps", "2Mbps", "0B", 1472, 4.8321),
        ("2Mbps", "1Mbps", "3000B", 1472, 1.7122),
        ("2Mbps", "1Mbps", "3000B", 512, 1.3469),
        ("11Mbps", "1Mbps", "3000B", 1472, 6.0321),
        ("11Mbps", "2Mbps", "3000B", 1472, 6.2087),
        ("1Mbps", "1Mbps", "0B", 1000, 0.8160),
        ("1Mbps", "1Mbps", "3000B", 1000, 0.8765),
    ];
    let mut worst: f64 = 0.0;
    for (data, control, rts, size, expected) in table {
        let payload = size - 28;
        let app = json!({"kind": "cbr", "rate": "12Mbps", "size": format!("{payload}B"), "transport": "udp"});
        let measured = ns2_hop(data, control, rts, 1460, app) * f64::from(size) / f64::from(payload);
        println!("{data} {control} RTS above {rts} {size} B: {measured:.4} of {expected}");
        worst = worst.max((measured / expected - 1.0).abs());
    }
    assert!(worst < 0.003, "{worst}");
}

/// TCP of ns-2's runs over one hop, within 2 %.
#[test]
fn one_hop_of_tcp_as_in_ns2() {
    let table = [
        ("2Mbps", "1Mbps", "0B", 1460, 1.2591),
        ("2Mbps", "1Mbps", "3000B", 1460, 1.4067),
        ("11Mbps", "1Mbps", "0B", 1460, 2.8990),
        ("11Mbps", "1Mbps", "3000B", 1460, 4.2815),
        ("1Mbps", "1Mbps", "0B", 1000, 0.6635),
        ("1Mbps", "1Mbps", "3000B", 1000, 0.7104),
        ("1Mbps", "1Mbps", "0B", 512, 0.5030),
        ("1Mbps", "1Mbps", "3000B", 512, 0.5793),
    ];
    let mut worst: f64 = 0.0;
    for (data, control, rts, mss, expected) in table {
        let measured = ns2_hop(data, control, rts, mss, json!({"kind": "bulk"}));
        println!("TCP {data} {control} RTS above {rts} {mss} B: {measured:.4} of {expected}");
        worst = worst.max((measured / expected - 1.0).abs());
    }
    assert!(worst < 0.02, "{worst}");
}

/// TCP over one hop by the standard, between bounds in which the channel access of an ACK costs all of its backoff and
/// none.
///
/// Those bounds neglect collisions, but data and ACKs contend: the two accesses of a cycle fall into the same slot once
/// in 32 times (216 of 3830 data frames are retransmitted), which costs the data frame, EIFS and up to half the doubled
/// contention window. At 2 Mb/s, where that is most, the lower bound is that much lower; ns-2's own 1.4067 Mb/s is
/// below the 1.43 without collisions, too. The others hold as they are.
#[test]
fn one_hop_of_tcp_by_the_standard() {
    // radio; microseconds that a collision costs; bounds with an ACK per segment, and per two
    let table = [
        (json!({"standard": "b", "control_rate": "1Mbps"}), 0, [(4.02, 4.50), (4.78, 5.10)]),
        (json!({"standard": "b", "preamble": "short"}), 0, [(4.85, 5.56), (5.63, 6.09)]),
        (json!({"standard": "dsss", "control_rate": "1Mbps"}), 6336 + 364 + 32 * 20, [(1.43, 1.48), (1.54, 1.57)]),
        (json!({"standard": "a"}), 0, [(20.5, 23.2), (24.2, 26.0)]),
    ];
    let mut outside = Vec::new();
    for (radio, collision, bounds) in table {
        for (delayed, (without, most)) in [false, true].into_iter().zip(bounds) {
            let cycle = if delayed { 2.0 } else { 1.0 } * 11_680.0 / without;
            let least = without * (1.0 - f64::from(collision) * 2.0 / 32.0 / cycle);
            let value = json!({
                "duration": "30s", "warmup": "5s",
                "network": {
                    "kind": "adhoc", "nodes": 2, "flows": 0, "area": {"x": "100m", "y": "1m"},
                    "placement": {"kind": "list", "positions": [[0.0, 0.0], [10.0, 0.0]]},
                    "radio": radio,
                },
                "tcp": {
                    "mss": "1460B", "recv_buffer": "58400B", "sack": false, "timestamps": false,
                    "window_scale": false, "ack_every": if delayed { 2 } else { 1 },
                },
                "flow": [{"from": "n0", "to": "n1"}],
            });
            let measured = run(&value, 1).network.measures.goodput_bps / 1e6;
            println!("{radio} delayed {delayed}: {measured:.3} of {least:.3} to {most}");
            if !(least..=most).contains(&measured) {
                outside.push(format!("{radio} delayed {delayed}: {measured:.3} is not from {least:.3} to {most}"));
            }
        }
    }
    assert!(outside.is_empty(), "{outside:#?}");
}
