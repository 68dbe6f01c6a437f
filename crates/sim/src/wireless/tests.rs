//! Routing protocols in a network: convergence, and the outage of a flow when a relay leaves.

use serde_json::{Value, json};
use tcp::units::{Bytes, Span, Time};

use super::Routing;
use crate::ids::StationId;
use crate::routing::NextHop;
use crate::scenario::Scenario;
use crate::simulation::Simulation;

/// Six nodes, 802.11a at 6 Mb/s with a range of 60 m: n0, n1, n2 in a row; n3 and n4 on a longer path; n5 beside them.
const SIX: [[f64; 2]; 6] = [[0.0, 0.0], [50.0, 0.0], [100.0, 0.0], [20.0, 45.0], [80.0, 45.0], [50.0, 90.0]];

fn scenario(positions: &[[f64; 2]], to: &str, routing: &Value, app: &Value, duration: &str) -> Value {
    json!({
        "duration": duration,
        "network": {
            "kind": "adhoc", "nodes": positions.len(), "flows": 0, "area": {"x": "1000m", "y": "100m"},
            "placement": {"kind": "list", "positions": positions},
            "radio": {"profile": "ns3", "propagation": {"kind": "range", "distance": "60m"}},
            "routing": routing,
        },
        "tcp": {"mss": "1000B", "rto_min": "1s"},
        "flow": [{"from": "n0", "to": to, "app": app, "start": "1s"}],
    })
}

fn simulation(value: &Value, seed: u64) -> Simulation {
    let scenario = Scenario::from_json(&value.to_string()).unwrap_or_else(|e| panic!("{e}"));
    Simulation::new(&scenario, seed).unwrap_or_else(|e| panic!("{e}"))
}

fn secs(secs: f64) -> Time {
    Time::ZERO + Span::from_secs_f64(secs)
}

/// Handles events up to `until`; returns the times at which payload arrived.
fn run(simulation: &mut Simulation, until: Time) -> Vec<f64> {
    let (mut arrivals, mut delivered) = (Vec::new(), Bytes::ZERO);
    while let Some(event) = simulation.world.ctx.next().filter(|_| simulation.world.ctx.now <= until) {
        simulation.handle(event);
        let so_far = simulation.world.ctx.flows[0].interval.delivered_bytes;
        if so_far > delivered {
            arrivals.push(simulation.world.ctx.now.as_secs_f64());
            delivered = so_far;
        }
    }
    arrivals
}

/// Fraction of pairs with a route.
fn routed(simulation: &Simulation) -> f64 {
    let channel = &simulation.world.network.channels[0];
    let Routing::Protocol(protocol) = &channel.routing else { panic!("a protocol was asked for") };
    let stations = || channel.stations();
    let pairs = stations().flat_map(|a| stations().map(move |b| (a, b))).filter(|(a, b)| a != b);
    let has_route =
        |a: StationId, b| matches!(protocol.agents[a.index()].next_hop(simulation.world.ctx.now, b), NextHop::Via(_));
    let found: Vec<bool> = pairs.map(|(a, b)| has_route(a, b)).collect();
    found.iter().filter(|found| **found).count() as f64 / found.len() as f64
}

/// The scenario with relay n1 moved out of range at 9.1 s.
fn without_relay(mut scenario: Value) -> Value {
    let away = json!({"kind": "waypoints", "points": [{"at": "9.1s", "x": 900.0, "y": 0.0, "jump": true}]});
    scenario["network"]["own_mobility"] = json!({"n1": away});
    scenario
}

/// Times of the last arrival before the relay leaves, and of the first one after that.
fn outage(arrivals: &[f64]) -> (f64, f64) {
    let left = arrivals.partition_point(|at| *at < 9.11);
    (arrivals[left - 1], arrivals.get(left).copied().unwrap_or(f64::INFINITY))
}

/// The ns3 profile has all routes of a connected network within 0.1 s, unless updates of the first millisecond collide.
#[test]
fn dsdv_of_ns3_converges_at_once() {
    let app = json!({"kind": "bulk"});
    let row: Vec<[f64; 2]> = (0..5).map(|i| [50.0 * f64::from(i), 0.0]).collect();
    let mut shares = 0.0;
    for seed in 1..=20 {
        let mut cell = simulation(
            &scenario(&[[0.0, 0.0], [9.0, 0.0], [9.0, 9.0]], "n1", &json!({"kind": "dsdv"}), &app, "20s"),
            seed,
        );
        run(&mut cell, secs(0.1));
        assert_eq!(routed(&cell), 1.0, "seed {seed}: stations in range of each other do not collide");
        let mut chain = simulation(&scenario(&row, "n4", &json!({"kind": "dsdv"}), &app, "20s"), seed);
        run(&mut chain, secs(0.1));
        shares += routed(&chain) / 20.0;
    }
    // Stations two hops apart are hidden from each other: of their updates, sent in one millisecond, some collide.
    assert!(shares > 0.75, "{shares} of the pairs of a chain have routes");
}

/// The outage ends with the updates of 15 s and the retransmission after them, at 16.1 s. Where updates of the first
/// millisecond collided the flow never used the relay, and has no outage. In two of eighteen outages (seeds 8 and 17)
/// the retransmission of 24.1 s is the first to be delivered: n3 advertises its new route to n2 only after its settling
/// time, at 20.5 and 21.3 s, the retransmission of 16.1 s still goes to the relay that has left, and the next one comes
/// 8 s later. With seed 8 n3 misses the update of n4 (n0 and n4 are hidden from each other, and their updates collide
/// at n3) and learns the route from n5, one hop longer than before.
#[test]
fn dsdv_of_ns3_heals_at_the_next_periodic_update() {
    let (mut cut, mut healed) = (0, 0);
    for seed in 1..=20 {
        let bulk = scenario(&SIX, "n2", &json!({"kind": "dsdv"}), &json!({"kind": "bulk"}), "30s");
        let arrivals = run(&mut simulation(&without_relay(bulk), seed), secs(29.0));
        let (begin, end) = outage(&arrivals);
        if end - begin > 0.5 {
            // The last arrival may be a lost frame or two before the relay leaves.
            assert!(begin > 8.6 && end >= 15.0, "seed {seed}: nothing from {begin} to {end}");
            cut += 1;
            healed += u32::from(end <= 17.2);
        }
    }
    assert!(cut >= 10 && healed * 10 >= cut * 7, "{healed} of {cut} outages end by 17.2 s");
}

/// AODV finds a route within milliseconds of the first sufficient ring, and another within half a second of a break.
#[test]
fn aodv_finds_and_repairs() {
    let udp = json!({"kind": "cbr", "rate": "160kbps", "size": "1000B", "transport": "udp"});
    // The first ring of std ends after 240 ms; with hellos a neighbour replies in that of ns3; that of ns2 is wide
    // enough.
    for (profile, rings) in [("std", 0.24), ("ns3", 0.0), ("ns2", 0.0)] {
        for seed in 1..=5 {
            let routing = json!({"kind": "aodv", "profile": profile});
            let value = scenario(&SIX, "n2", &routing, &udp, "20s");
            let arrivals = run(&mut simulation(&without_relay(value), seed), secs(19.0));
            let found = arrivals.first().copied().unwrap_or(f64::INFINITY) - 1.0;
            assert!(found > rings && found < rings + 0.05, "{profile}, seed {seed}: found after {found} s");
            let (begin, end) = outage(&arrivals);
            assert!(end - begin < 0.5, "{profile}, seed {seed}: nothing from {begin} to {end}");
        }
    }
}

/// DSR asks the neighbours, 30 ms later all; after a break its source does so again, or has overheard another path.
#[test]
fn dsr_finds_and_repairs() {
    let udp = json!({"kind": "cbr", "rate": "160kbps", "size": "1000B", "transport": "udp"});
    for profile in ["std", "ns2"] {
        for seed in 1..=5 {
            let routing = json!({"kind": "dsr", "profile": profile});
            let value = scenario(&SIX, "n2", &routing, &udp, "20s");
            let arrivals = run(&mut simulation(&without_relay(value), seed), secs(19.0));
            let found = arrivals.first().copied().unwrap_or(f64::INFINITY) - 1.0;
            assert!(found > 0.03 && found < 0.1, "{profile}, seed {seed}: found after {found} s");
            let (begin, end) = outage(&arrivals);
            assert!(end - begin < 0.5, "{profile}, seed {seed}: nothing from {begin} to {end}");
        }
    }
}

/// In `std` the MAC reports the failure: its advertisement reaches the destination, whose answer brings a route.
#[test]
fn dsdv_with_link_feedback_heals_sooner() {
    let end = |profile| {
        let routing = json!({"kind": "dsdv", "profile": profile, "update_interval": "5s", "settling": "0s"});
        let udp = json!({"kind": "cbr", "rate": "160kbps", "size": "1000B", "transport": "udp"});
        let value = scenario(&SIX, "n2", &routing, &udp, "60s");
        outage(&run(&mut simulation(&without_relay(value), 1), secs(59.0))).1
    };
    let (std, ns2) = (end("std"), end("ns2"));
    assert!(std < 11.0 && ns2 > std + 1.0, "{std}, {ns2}");
}
