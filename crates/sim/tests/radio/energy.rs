//! Energy consumption: vectors computed by hand, and batteries.

use serde_json::{Value, json};
use sim::{NodeSummary, Simulation, Summary};

use crate::common::{events, fingerprint, refusal, run, scenario};

/// Stations in one cell; the first sends datagrams of `payload` to the second, one every 0.5 s from 1 s on.
fn cell(nodes: usize, payload: &str, duration: &str, profile: &str, energy: Value) -> Value {
    let positions: Vec<[f64; 2]> = (0..nodes).map(|i| [10.0 * i as f64, 0.0]).collect();
    let size: u64 = payload.trim_end_matches('B').parse().unwrap();
    json!({
        "duration": duration,
        "network": {
            "kind": "adhoc", "nodes": nodes, "flows": 0, "area": {"x": "100m", "y": "1m"},
            "placement": {"kind": "list", "positions": positions},
            "radio": {"profile": profile, "energy": energy, "arp": "none"},
        },
        "flow": [{"from": "n0", "to": "n1", "start": "1s", "app": {
            "kind": "cbr", "rate": format!("{}bps", size * 16), "size": payload, "transport": "udp",
        }}],
    })
}

fn total(node: &NodeSummary) -> f64 {
    node.energy_j.expect("energy is modelled")
}

fn assert_close(measured: f64, expected: f64, what: &str) {
    assert!((measured / expected - 1.0).abs() < 2e-6, "{what}: {measured} J of {expected} J");
}

fn millijoules(summary: &Summary) -> Vec<f64> {
    summary.nodes.iter().map(|node| total(node) * 1e3).collect()
}

/// RTS 352 us, CTS 304, data 8944, ACK 304. The IP packet has 1060 B as with a DSDV header of 20 B.
#[test]
fn one_packet_with_rts() {
    let summary = run(&cell(3, "1032B", "1.3s", "ns2", json!({})), 1);
    let sender = (352.0 + 8944.0) * 0.660e-6 + (304.0 + 304.0) * 0.395e-6;
    let receiver = (304.0 + 304.0) * 0.660e-6 + (352.0 + 8944.0) * 0.395e-6;
    let bystander = (352.0 + 304.0 + 8944.0 + 304.0) * 0.395e-6;
    for (node, expected) in summary.nodes.iter().zip([sender, receiver, bystander]) {
        assert_close(total(node), expected, &node.node);
    }
    let rounded: Vec<String> = millijoules(&summary).iter().map(|mj| format!("{mj:.3}")).collect();
    assert_eq!(rounded, ["6.376", "4.073", "3.912"], "mJ by hand");
    let network = summary.network.energy;
    assert_close(network.energy_per_packet_j.unwrap(), sender + receiver + bystander, "per packet");
    assert_close(network.energy_per_byte_j.unwrap(), (sender + receiver + bystander) / 1032.0, "per byte");
    assert_eq!(network.energy_j, network.energy_comm_j, "idle is 0 W");
    let radio = summary.network.radio;
    assert_eq!((radio.mac_data_frames, radio.mac_control_frames, radio.mac_failures), (Some(1), Some(3), Some(0)));
    assert_close(radio.airtime_s.unwrap(), 9904e-6, "airtime");
}

/// A run of ns-2 with 12 packets of 1000 B and one ARP exchange: a request of 28 B
/// (688 us as broadcast) and its reply with RTS, CTS and ACK.
#[test]
fn twelve_packets_as_in_ns2() {
    let mut scenario = cell(2, "972B", "6.9s", "ns2", json!({}));
    scenario["network"]["radio"]["arp"] = json!("ns2");
    let summary = run(&scenario, 1);
    assert_eq!(summary.network.measures.received_packets, 12);
    for (measured, ns2) in millijoules(&summary).into_iter().zip([73.97, 47.80]) {
        assert!((measured - ns2).abs() < 0.005, "{measured} mJ, {ns2} mJ in ns-2");
    }
}

/// 100 s idle at 0.819 W.
#[test]
fn idle_in_ns3() {
    let mut scenario = cell(3, "1000B", "100s", "ns3", json!({}));
    scenario["flow"][0]["start"] = json!("100s");
    let summary = run(&scenario, 1);
    summary.nodes.iter().for_each(|node| assert_close(total(node), 81.9, &node.node));
    let network = summary.network.energy;
    assert_eq!((network.energy_comm_j, network.energy_per_packet_j), (Some(0.0), None), "nothing was received");
}

#[test]
fn the_warm_up_is_left_out() {
    let mut scenario = cell(3, "1032B", "3.2s", "ns2", json!({"idle": "10mW"}));
    let whole = run(&scenario, 1);
    scenario["warmup"] = json!("2.2s");
    let part = run(&scenario, 1);
    // packets at 1, 1.5, 2, 2.5 and 3 s
    for (whole, part) in whole.nodes.iter().zip(&part.nodes) {
        let share = |node: &NodeSummary| node.energy_tx_j.unwrap() + node.energy_rx_j.unwrap();
        assert_close(share(part), share(whole) * 2.0 / 5.0, &part.node);
        assert_close(
            part.energy_idle_j.unwrap(),
            whole.energy_idle_j.unwrap() - 0.01 * 2.2 + 0.01 * 3.0 * 9904e-6,
            "idle",
        );
    }
}

#[test]
fn without_energy_nothing_is_said_about_it() {
    let mut scenario = cell(2, "1000B", "2s", "ns2", json!({}));
    scenario["network"]["radio"].as_object_mut().unwrap().remove("energy");
    let summary = run(&scenario, 1);
    assert_eq!(summary.network.energy, Default::default());
    assert!(summary.nodes.iter().all(|node| node.energy_j.is_none() && node.energy_out_s.is_none()));
}

#[test]
fn an_empty_station_neither_sends_nor_receives() {
    let summary = run(&cell(3, "1032B", "20s", "ns2", json!({"initial": "20mJ"})), 1);
    let measures = &summary.network.measures;
    // 6.376 mJ a packet at the sender: 0.87 mJ remain for the fourth, whose data frame is transmitted to its end.
    assert_eq!((measures.received_packets, measures.sent_packets), (4, 39));
    assert!(measures.drops.retry > 20, "{measures:?}");
    assert_close(total(&summary.nodes[0]), 20e-3, "the sender");
    let out = summary.nodes[0].energy_out_s.expect("the sender's energy runs out");
    assert!((2.5..2.51).contains(&out), "{out}");
    assert_eq!(summary.nodes[1].energy_out_s, None);
    assert_eq!(summary.network.energy.nodes_without_energy, Some(1));
}

#[test]
fn idle_drains_a_battery_at_its_exact_time() {
    let energy = json!({"profile": "ns3", "initial": "1J"});
    let mut scenario = cell(2, "1000B", "5s", "std", energy);
    scenario["flow"][0]["start"] = json!("2s");
    let summary = run(&scenario, 1);
    for node in &summary.nodes {
        assert_close(node.energy_out_s.unwrap(), 1.0 / 0.819, &node.node);
        assert_close(total(node), 1.0, &node.node);
    }
    assert_eq!(summary.network.measures.received_packets, 0);
}

/// Reading meters, which advances all stations, changes nothing.
#[test]
fn a_meter_changes_no_packet() {
    for profile in ["ns2", "std", "ns3"] {
        let mut scenario = json!({
            "duration": "5s",
            "network": {"kind": "adhoc", "nodes": 12, "flows": 6, "radio": {"profile": profile},
                        "area": {"x": "200m", "y": "200m"}, "placement": {"kind": "uniform"}},
            "traffic": {"app": {"kind": "bulk"}},
        });
        let plain = fingerprint(&scenario, 3);
        scenario["network"]["radio"]["energy"] = json!({});
        assert_eq!(fingerprint(&scenario, 3), plain, "{profile}");
        scenario["warmup"] = json!("1.234567s");
        assert_eq!(fingerprint(&scenario, 3), plain, "{profile}, read in between");
    }
}

#[test]
fn energy_and_positions_over_time() {
    let mut world = cell(3, "1032B", "3.25s", "ns2", json!({"idle": "10mW"}));
    let plain = fingerprint(&world, 1);
    world["record"] = json!({"series": ["energy", "position_x"], "every": "100ms"});
    assert_eq!(fingerprint(&world, 1), plain, "looking changes nothing");
    let outcome = Simulation::new(&scenario(&world), 1).unwrap().run();
    let [(_, energy), (_, places)] = &outcome.series[..] else { panic!("two series") };
    assert_eq!((&places.id[..], &places.value[..]), (&[0, 1, 2][..], &[0.0, 10.0, 20.0][..]), "once, as nobody moves");
    assert_eq!(energy.value.len(), 3 * 32);
    for (node, last) in outcome.summary.nodes.iter().zip(&energy.value[3 * 31..]) {
        assert_close(*last + 0.05 * 0.01, total(node), &node.node);
    }
    assert!(energy.value.windows(4).all(|pair| pair[3] >= pair[0]), "energy is never given back");
}

/// The trace has all frames, with the airtimes of the standard.
#[test]
fn frames_are_in_the_trace() {
    let lines = events(&cell(2, "1032B", "1.3s", "ns2", json!({})), 1);
    let frames: Vec<&str> =
        lines.iter().filter_map(|line| line.split_once("frame ")).map(|(_, frame)| frame.trim()).collect();
    let expected = [
        "0 > 1 rts 0 0B 1Mbps 352us",
        "1 > 0 cts 0 0B 1Mbps 304us",
        "0 > 1 data 1 1060B 1Mbps 8944us",
        "1 > 0 ack 0 0B 1Mbps 304us",
    ];
    assert_eq!(frames, expected.map(|frame| format!("channel=0 {frame}")));
}

#[test]
fn wrong_energies_are_refused() {
    let refused = |energy: Value| refusal(&cell(2, "1000B", "2s", "ns2", energy));
    assert!(refused(json!({"tx": "17mA"})).contains("17.4mA x 3V"));
    assert!(refused(json!({"initial": "-1J"})).contains("must not be below zero"));
    assert!(refused(json!({"profile": "ns4"})).contains("network.radio.energy.profile"));
    assert!(refused(json!({"sleep": "1mW"})).contains("network.radio.energy"));
}
