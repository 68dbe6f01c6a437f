//! Networks of 802.15.4 against tables and reference runs.

mod access;
#[path = "../common/mod.rs"]
mod common;
mod networks;

use common::{refusal, run};
use serde_json::{Value, json};
use sim::Summary;

/// Stations in a row.
fn row(distances: f64, stations: usize, radio: Value, flows: Value, duration: &str) -> Value {
    let positions: Vec<[f64; 2]> = (0..stations).map(|i| [distances * i as f64, 0.0]).collect();
    json!({
        "duration": duration,
        "network": {
            "kind": "adhoc", "nodes": stations, "flows": 0, "area": {"x": "1000m", "y": "1m"},
            "placement": {"kind": "list", "positions": positions}, "radio": radio,
        },
        "flow": flows,
    })
}

fn udp(size: u64, rate: &str) -> Value {
    json!({"kind": "cbr", "rate": rate, "size": format!("{size}B"), "transport": "udp"})
}

fn lrwpan(settings: Value) -> Value {
    json!({"standard": "802.15.4", "lrwpan": settings})
}

fn goodput_kbps(value: &Value) -> f64 {
    run(value, 1).network.measures.goodput_bps / 1e3
}

fn assert_near(measured: f64, expected: f64, within: f64, what: &str) {
    println!("{what}: {measured:.3} of {expected:.3} ({:+.2} %)", 100.0 * (measured / expected - 1.0));
    assert!((measured / expected - 1.0).abs() < within, "{what}: {measured} of {expected}");
}

/// Goodput of datagrams over one hop by the formula of backoff, frame, ACK and interframe space, within 0.5 %.
#[test]
fn one_hop_of_datagrams() {
    let table = [
        ("short", 20, 39.7),
        ("short", 50, 80.1),
        ("short", 100, 121.4),
        ("short", 256, 111.5),
        ("short", 1000, 122.2),
        ("long", 50, 74.4),
        ("long", 1000, 109.6),
    ];
    for (addresses, size, expected) in table {
        let flows = json!([{"from": "n0", "to": "n1", "app": udp(size, "200kbps")}]);
        let measured = goodput_kbps(&row(5.0, 2, lrwpan(json!({"addresses": addresses})), flows, "240s"));
        assert_near(measured, expected, 0.005, &format!("{size} B, {addresses} addresses"));
    }
}

fn tcp_hop(mss: u64, ack_every: u32, radio: Value) -> Value {
    let flows = json!([{"from": "n0", "to": "n1"}]);
    let mut value = row(5.0, 2, radio, flows, "120s");
    value["tcp"] = json!({
        "mss": format!("{mss}B"), "ack_every": ack_every, "timestamps": false, "sack": false, "window_scale": false,
        "recv_buffer": format!("{}B", 10 * mss),
    });
    value["warmup"] = json!("5s");
    value
}

/// The same for TCP, if segments and ACKs alternate and each frame is followed by its interframe space; MSS, kb/s with
/// an ACK per segment, and per two.
const TCP_ROWS: [(u64, f64, f64); 5] =
    [(40, 35.2, 44.8), (80, 61.7, 76.0), (100, 55.3, 63.9), (536, 102.8, 107.8), (1220, 116.8, 119.6)];
/// A station does not wait for the interframe space of a frame it has received: twice in a cycle.
const SPACES_MS: f64 = 2.0 * 0.640;

/// With a window of one segment they alternate; within 0.5 %.
#[test]
fn one_hop_of_tcp_in_turns() {
    for (mss, row, _) in TCP_ROWS {
        let mut value = tcp_hop(mss, 1, lrwpan(json!({})));
        value["tcp"]["recv_buffer"] = json!(format!("{mss}B"));
        let bits = 8.0 * mss as f64;
        assert_near(goodput_kbps(&value), bits / (bits / row - SPACES_MS), 0.005, &format!("MSS {mss}"));
    }
}

/// With a larger window both contend: interframe spaces are partly used, and collisions occur. Attempts after a failed access take
/// time that the rows do not have.
#[test]
fn one_hop_of_tcp() {
    for (mss, each, every_second) in TCP_ROWS {
        for (ack_every, row) in [(1, each), (2, every_second)] {
            let measured = goodput_kbps(&tcp_hop(mss, ack_every, lrwpan(json!({"access_failure": "drop"}))));
            let bits = f64::from(ack_every) * 8.0 * mss as f64;
            let most = bits / (bits / row - SPACES_MS);
            println!("MSS {mss}, an ACK for {ack_every}: {measured:.2} of {row} to {most:.2}");
            assert!((0.995 * row..most).contains(&measured), "MSS {mss}, an ACK for {ack_every}: {measured}");
        }
    }
}

/// ns-2's runs of TCP with an ACK per segment.
#[test]
fn one_hop_of_tcp_as_in_ns2() {
    for (mss, expected) in [(40, 35.48), (60, 48.62), (70, 54.66)] {
        let measured = goodput_kbps(&tcp_hop(mss, 1, json!({"standard": "802.15.4", "profile": "ns2"})));
        assert_near(measured, expected, 0.03, &format!("MSS {mss}"));
    }
}

/// Datagrams that do not fit are dropped and counted; ns-2's MAC stops transmitting for ever instead.
#[test]
fn what_does_not_fit_is_dropped() {
    let radio = json!({"standard": "802.15.4", "profile": "ns2"});
    let sent = |size| {
        let flows = json!([{"from": "n0", "to": "n1", "app": udp(size, "10kbps")}]);
        run(&row(5.0, 2, radio.clone(), flows, "10s"), 1).network
    };
    let fits = sent(92);
    assert!(fits.measures.drops.too_long == 0 && fits.measures.received_packets > 10, "{fits:?}");
    let long = sent(93);
    assert!(long.measures.received_packets == 0 && long.measures.drops.too_long > 10, "{long:?}");
    assert_eq!(long.radio.mac_too_long, Some(long.measures.drops.too_long));
    // ns-2 truncates 519 B to 7 in eight bits, which pass at 300 kb/s.
    assert_eq!(sent(484).measures.received_packets, 0);
}

/// Two stations hidden from each other send fragments to one between them without ACKs: most datagrams are incomplete.
/// They are dropped 60 s after their first fragment, and every packet is accounted for.
#[test]
fn missing_fragments_are_waited_for_sixty_seconds() {
    let app = udp(256, "10kbps");
    let flows = json!([
        {"from": "n0", "to": "n1", "app": app, "stop": "30s"}, {"from": "n2", "to": "n1", "app": app, "stop": "30s"},
    ]);
    let after = |duration: &str| run(&row(38.0, 3, lrwpan(json!({"acks": false})), flows.clone(), duration), 1);
    let early = after("60s");
    assert_eq!(early.network.measures.drops.reassembly, 0, "none is older than 60 s");
    let waiting = early.conservation.in_flight;
    assert!(waiting > 20, "{waiting} wait");
    let late = after("91s");
    let drops = late.network.measures.drops;
    assert_eq!((drops.reassembly, late.conservation.in_flight), (waiting, 0));
    assert_eq!(late.network.radio.reassembly_timeouts, Some(waiting));
    let lost = drops.loss + drops.reassembly + drops.access + drops.queue;
    assert_eq!(late.conservation.sent, late.conservation.delivered + lost);
}

/// A datagram in flight is counted once, however many of its fragments have arrived.
#[test]
fn nothing_is_lost_count_of_in_the_middle_of_a_datagram() {
    let flows = json!([{"from": "n0", "to": "n2", "app": udp(1000, "60kbps")}, {"from": "n2", "to": "n0"}]);
    let mut in_flight = 0;
    for milliseconds in (2000..2300).step_by(7) {
        let summary: Summary = run(&row(38.0, 3, lrwpan(json!({})), flows.clone(), &format!("{milliseconds}ms")), 1);
        let books = summary.conservation;
        assert_eq!(books.sent, books.delivered + books.dropped + books.in_flight);
        in_flight += books.in_flight;
    }
    assert!(in_flight > 20, "{in_flight} in flight in all runs");
}

/// By the CC2420's data sheet: a frame of 127 B costs 222.163 uJ to transmit and its ACK 19.853 uJ to receive; CCA and
/// turnaround before it cost 320 us of reception.
#[test]
fn energy_of_a_frame() {
    let flows = json!([{"from": "n0", "to": "n1", "app": udp(109, "1kbps"), "start": "1s"}]);
    let mut value = row(5.0, 2, lrwpan(json!({})), flows, "1.5s");
    value["network"]["radio"]["energy"] = json!({"idle": "0W"});
    let nodes = run(&value, 1).nodes;
    let micro = |joules: Option<f64>| (joules.expect("energy is modelled") * 1e9).round() / 1e3;
    assert_eq!(micro(nodes[0].energy_tx_j), 222.163);
    assert_eq!(micro(nodes[0].energy_rx_j), ((19.853 + 0.320 * 56.4) * 1e3_f64).round() / 1e3);
    assert_eq!((micro(nodes[1].energy_tx_j), micro(nodes[1].energy_rx_j)), (18.374, 240.038));
}

#[test]
fn wrong_values_are_refused() {
    let refused = |radio: Value| {
        let flows = json!([{"from": "n0", "to": "n1"}]);
        refusal(&row(5.0, 2, radio, flows, "1s"))
    };
    let cases = [
        (json!({"standard": "802.15.4", "data_rate": "1Mbps"}), "network.radio.data_rate: applies to 802.11 only"),
        (
            lrwpan(json!({"encap": "raw_ipv4", "neighbor_discovery": "ns3"})),
            "network.radio.lrwpan.neighbor_discovery: belongs to IPv6",
        ),
        (lrwpan(json!({"neighbor_discovery": "arp"})), "network.radio.lrwpan.neighbor_discovery"),
        (json!({"lrwpan": {}}), "network.radio.lrwpan: applies to 802.15.4 only"),
        (lrwpan(json!({"max_be": 9})), "network.radio.lrwpan.max_be: 9 is not from 3 to 8"),
        (lrwpan(json!({"min_be": 6})), "network.radio.lrwpan.min_be: 6 is not from 0 to 5"),
        (lrwpan(json!({"encap": "ipv6"})), "network.radio.lrwpan.encap"),
        (json!({"standard": "802.15.4", "queue_limit": 0}), "network.radio.queue_limit: 0 would hold nothing"),
        (json!({"standard": "802.15.1"}), "network.radio.standard"),
    ];
    for (radio, message) in cases {
        let error = refused(radio);
        assert!(error.contains(message), "{error}");
    }
    let mut value = row(5.0, 2, lrwpan(json!({})), json!([{"from": "n0", "to": "n1"}]), "1s");
    value["tcp"] = json!({"mss": "1221B", "timestamps": false});
    let error = refusal(&value);
    assert!(error.contains("tcp.mss: 1221B and 60B of headers") && error.contains("at most 1220B"), "{error}");
    let mut cells = json!({"duration": "1s", "network": {"kind": "infrastructure"}});
    cells["network"]["radio"] = lrwpan(json!({}));
    assert!(refusal(&cells).contains("802.15.4 has no access points"));
}

/// ns-2.35 keeps eight bits of a length: of datagrams of 512 B, whose frames count as 7 B, a channel of 250 kb/s carries 299.99
/// kb/s. A frame of 134 B is none of its own, and its station neither sends nor receives from then on.
#[test]
fn lengths_in_eight_bits_as_in_ns2() {
    let hop = |size, rate| {
        let flows = json!([{"from": "n0", "to": "n1", "app": udp(size, rate)}]);
        let radio = json!({"standard": "802.15.4", "profile": "ns2", "arp": "none", "lrwpan": {"mac": "ns2"}});
        run(&row(5.0, 2, radio, flows, "60s"), 1)
    };
    let measured = hop(484, "283.59kbps").network.measures.goodput_bps / 1e3 * 512.0 / 484.0;
    assert_near(measured, 299.99, 0.002, "512 B");
    let silent = hop(99, "10kbps");
    assert_eq!(silent.network.measures.goodput_bps, 0.0);
    assert!(silent.nodes[0].mac_stalled_s.is_some_and(|since| since < 1.0) && silent.nodes[1].mac_stalled_s.is_none());
}

#[test]
fn the_mac_of_ns2_carries_plain_ipv4() {
    let radio = json!({"standard": "802.15.4", "lrwpan": {"mac": "ns2"}});
    let error = refusal(&row(5.0, 2, radio, json!([]), "1s"));
    assert!(error.contains("network.radio.lrwpan.mac") && error.contains("raw_ipv4"), "{error}");
}
