//! Constellations that carry packets.

use serde_json::{Value, json};
use sim::{Simulation, Summary, ground_tracks};
use tcp::units::Span;

use super::common::{events, fingerprint, refusal, run, scenario};
use super::iridium;

/// A constellation with one flow of datagrams, half of what the terminals can send.
fn datagrams(network: Value, duration: &str) -> Value {
    let terminals = network["terminals"].clone();
    let name = |i: usize| terminals[i].get("name").unwrap_or(&terminals[i]).clone();
    json!({
        "duration": duration,
        "network": network,
        "flow": [{"from": name(0), "to": name(1),
                  "app": {"kind": "cbr", "rate": "100pps", "size": "972B", "transport": "udp"}}],
    })
}

#[test]
fn the_first_packet_of_ns_2_s_example() {
    // ns-2.35: 210 B at 1.0 s by way of satellites 26, 37 and 48 arrive at 1.0364 s. They do so with 16 bytes of
    // framing on each link; without, it would be 1.0362.
    let mut world = iridium(&["Berkeley", "Boston"], json!({}));
    world["duration"] = json!("1.5s");
    world["flow"][0]["app"] = json!({"kind": "cbr", "rate": "1pps", "size": "182B", "transport": "udp"});
    world["flow"][0]["start"] = json!("1s");
    let lines = events(&world, 1);
    let delivered = lines.iter().find(|line| line.contains("delivered")).unwrap();
    let at: f64 = delivered.split_whitespace().next().unwrap().parse().unwrap();
    assert!((at - 1.0364).abs() < 0.5e-4, "{at}");
    let look =
        ground_tracks(&scenario(&world), 1, Span::from_millis(1000), Span::ZERO, Span::from_millis(1000)).unwrap();
    assert_eq!(look.current[0].nodes, ["Berkeley", "sat2.4", "sat3.4", "sat4.4", "Boston"]);
}

/// Ten minutes of ns-2's example under load: the sink changes its satellite at 390 s, the source at 520 s.
fn loaded(changes: Value) -> Value {
    let mut world = iridium(&["Berkeley", "Boston"], changes);
    world["duration"] = json!("600s");
    world["tcp"] = json!({"profile": "ns2", "cc": "newreno", "recv_buffer": "1MB", "initial_ssthresh": "1MB"});
    world
}

fn handovers(summary: &Summary) -> Vec<f64> {
    summary.space.as_ref().unwrap().terminals.iter().flat_map(|t| t.handover_times_s.clone()).collect()
}

#[test]
fn tcp_survives_hand_overs_as_in_ns_2() {
    // ns-2.35 with the same two terminals, NewReno, window and ssthresh of 1000 packets: 106290 of 106493 data packets
    // received, handovers at 389.2 and 528.1 s, and in the second after that of the source 50 packets instead of 178.
    let mut world = loaded(json!({}));
    world["record"] = json!({"series": ["throughput"], "every": "1s"});
    let outcome = Simulation::new(&scenario(&world), 1).unwrap().run();
    let all = &outcome.summary.network.measures;
    println!("sent {} received {} drops {:?}", all.sent_packets, all.received_packets, all.drops);
    assert_eq!(handovers(&outcome.summary), [520.0, 390.0]);
    assert!((all.delivery_ratio.unwrap() - 106_290.0 / 106_493.0).abs() < 0.005);
    assert!((all.received_packets as f64 / 106_290.0 - 1.0).abs() < 0.005);
    assert!(all.drops.link_down > 0);
    let rates = &outcome.series[0].1.value;
    println!("{:?}", &rates[515..530]);
    let full = rates[500];
    assert!(rates[520] < 0.7 * full, "the handover is not seen: {}", rates[520]);
    assert!(rates[525..530].iter().all(|rate| *rate > 0.95 * full), "the flow does not come back");
}

#[test]
fn what_waits_takes_the_new_route_if_it_may() {
    let lost = run(&loaded(json!({})), 1).network.measures.drops.link_down;
    let kept = run(&loaded(json!({"handover_requeue": true})), 1).network.measures;
    assert!(lost > 5, "{lost}");
    assert_eq!(kept.drops.link_down, 0);
}

#[test]
fn a_path_that_becomes_shorter_lets_packets_overtake() {
    // Over two hours some change of the route shortens it by more than the 10 ms between packets.
    let network = json!({"kind": "constellation", "terminals": ["Dhaka", "Nairobi"]});
    let summary = run(&datagrams(network, "7200s"), 1);
    let all = &summary.network.measures;
    println!("{} reordered of {}", all.reordered_packets, all.received_packets);
    assert!(all.reordered_packets > 0 && all.reordered_packets < all.received_packets / 1000);
    assert!(all.dropped_packets < 10, "{:?}", all.drops);
}

#[test]
fn the_series_of_the_path_delay_is_that_of_the_ground_tracks() {
    let mut world = iridium(&["London", "Tokyo"], json!({}));
    world["record"] = json!({"series": ["path_delay"], "every": "10s"});
    world["flow"][0]["start"] = json!("100s");
    world["duration"] = json!("1001s");
    let series = Simulation::new(&scenario(&world), 1).unwrap().run().series.remove(0).1;
    let tracks =
        ground_tracks(&scenario(&world), 1, Span::ZERO, Span::from_millis(1_001_000), Span::from_millis(10_000));
    let path = tracks.unwrap().paths.remove(0);
    for (t, delay) in path.t_s.iter().zip(&path.delay_s).skip(1) {
        let at = series.t_s.iter().position(|time| time == t).unwrap();
        assert!((series.value[at] - delay.unwrap()).abs() < 1e-7, "{t}: {} {delay:?}", series.value[at]);
    }
}

#[test]
fn a_geostationary_satellite_is_a_relay_that_stands_still() {
    let network = json!({"kind": "constellation", "preset": "geo", "node_deg": -30, "terminals": [
        {"name": "below", "lat_deg": 0, "lon_deg": -30}, "Lisbon"]});
    let summary = run(&datagrams(network.clone(), "7200s"), 1);
    let delays = &summary.network.measures;
    // Up 35786 km, down 37 720 km to Lisbon, and two transmissions of 1000 B at 2 Mbps; up to 26.5 ms of medium access.
    let (least, most) = (delays.delay_min_s.unwrap(), delays.delay_max_s.unwrap());
    assert!((0.026..0.0266).contains(&(most - least)) && (0.25..0.26).contains(&least), "{least} {most}");
    assert!(handovers(&summary).is_empty());
}

#[test]
fn the_second_preset_joins_cities_all_day() {
    let network = json!({"kind": "constellation", "preset": "starlink", "handover_outage": "0s", "terminals": ["New York", "London"]});
    let world = scenario(&datagrams(network, "30s"));
    let path = ground_tracks(&world, 1, Span::ZERO, Span::from_millis(7_200_000), Span::from_millis(300_000))
        .unwrap()
        .paths
        .remove(0);
    let delays: Vec<f64> = path.delay_s.iter().map(|delay| delay.unwrap()).collect();
    // The great circle of 5570 km at the speed of light takes 18.6 ms. The two choose together, and so satellites that fly the same way.
    assert!(delays.iter().all(|delay| (0.020..0.040).contains(delay)), "{delays:?}");
    let summary = Simulation::new(&world, 1).unwrap().run().summary;
    assert_eq!(summary.network.measures.dropped_packets, 0);
    assert!(summary.links.len() < 60 && summary.nodes.len() < 60, "only links and nodes that were used are listed");
}

#[test]
fn links_across_the_seam_shorten_the_longest_ways() {
    let longest = |seam: bool| {
        let world = scenario(&iridium(&["Berkeley", "Boston"], json!({"seam": seam})));
        let day =
            ground_tracks(&world, 1, Span::ZERO, Span::from_millis(86_400_000), Span::from_millis(300_000)).unwrap();
        day.paths[0].delay_s.iter().map(|delay| delay.unwrap()).fold(0.0, f64::max)
    };
    assert!(longest(true) < 0.7 * longest(false));
}

#[test]
fn the_expanded_scenario_is_the_same_world() {
    let world = iridium(&["Berkeley", "Boston"], json!({"handover_jitter": "5s", "start_at": "500s", "flows": 2}));
    let graph = sim::expand(&scenario(&world), 3).unwrap();
    assert_eq!(graph.flow.len(), 3);
    assert_eq!(sim::expand(&graph, 3).unwrap(), graph);
    let again = serde_json::to_value(&graph).unwrap();
    assert_eq!(fingerprint(&world, 3), fingerprint(&again, 3));
    let day = |seed| {
        ground_tracks(&scenario(&world), seed, Span::ZERO, Span::from_millis(86_400_000), Span::from_millis(3_600_000))
    };
    assert_ne!(day(3).unwrap().terminals, day(4).unwrap().terminals);
    let resolved = serde_json::to_value(sim::resolve(&scenario(&world)).unwrap()).unwrap();
    assert_eq!(fingerprint(&world, 3), fingerprint(&resolved, 3));
}

#[test]
fn a_later_start_is_a_later_time_of_the_same_constellation() {
    let delay = |start_at: &str, at: u64| {
        let world = scenario(&iridium(&["Berkeley", "Boston"], json!({"start_at": start_at, "gsl_policy": "highest"})));
        ground_tracks(&world, 1, Span::from_millis(1000 * at), Span::ZERO, Span::from_millis(1000)).unwrap().current[0]
            .delay_s
    };
    let (early, late) = (delay("0s", 50_000).unwrap(), delay("40000s", 10_000).unwrap());
    assert!((early - late).abs() < 1e-9, "{early} {late}");
}

#[test]
fn mistakes_are_named() {
    let told = |changes: Value, parts: &[&str]| {
        let text = refusal(&iridium(&["Berkeley", "Boston"], changes));
        assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    };
    told(json!({"terminals": ["Berkeley", "Bostn"]}), &["network.terminals[1]", "Bostn", "Boston"]);
    told(json!({"terminals": ["Berkeley"]}), &["network.terminals", "2 to 1000"]);
    told(json!({"terminals": ["Berkeley", "Berkeley"]}), &["network.terminals[1]", "two terminals"]);
    told(json!({"terminals": ["Berkeley", {"name": "x", "lat_deg": 91, "lon_deg": 0}]}), &["lat_deg", "91", "90"]);
    told(json!({"terminals": ["Berkeley", {"name": "x", "lat_deg": 1}]}), &["network.terminals[1]", "lon_deg"]);
    told(json!({"uplink": {"delay": "1ms"}}), &["network.uplink.delay", "distance"]);
    told(json!({"altitude_km": 20}), &["network.altitude_km", "20", "150"]);
    told(json!({"planes": 100, "satellites": 100}), &["network.satellites", "10000"]);
    told(json!({"preset": "geo", "seam": true}), &["network.seam", "star"]);
    told(json!({"route_interval": "0s"}), &["network.route_interval", "0s"]);
    told(json!({"handover_jitter": "10s"}), &["network.handover_jitter", "10s"]);
    told(json!({"preset": "geo", "node_deg": 100}), &["network.terminals[0]", "Berkeley"]);
    let mut world = iridium(&["Berkeley", "Boston"], json!({}));
    world["flow"][0]["to"] = json!("sat0.0");
    assert!(refusal(&world).contains("flow[0].to"));
}
