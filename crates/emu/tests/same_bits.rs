//! The network in real time without a kernel: by a clock that is handed in it treats packets from outside as a simulation treats those
//! of its own.

#![cfg(target_os = "linux")]

use std::net::IpAddr;

use emu::{Carried, Emulator, Host, Settings};
use serde_json::{Value, json};
use sim::{JsonLog, Outcome, Scenario, Simulation};
use tcp::units::Time;

/// A datagram from the first host to the second, or back, of so many bytes.
fn datagram(bytes: usize, traffic: u8, back: bool) -> Vec<u8> {
    let mut packet = vec![0x45, traffic, 0, 0, 0, 0, 0, 0, 64, 17, 0, 0, 10, 77, 0, 1, 10, 77, 0, 2];
    if back {
        (packet[15], packet[19]) = (2, 1);
    }
    let ports: [u16; 2] = if back { [9, 5000] } else { [5000, 9] };
    let length = (bytes - 20) as u16;
    packet.extend([ports[0].to_be_bytes(), ports[1].to_be_bytes(), length.to_be_bytes(), [0; 2]].concat());
    packet[2..4].copy_from_slice(&(bytes as u16).to_be_bytes());
    packet.resize(bytes, 0xa5);
    packet
}

fn emulator(world: &Value) -> Emulator {
    emulating(world, None)
}

fn emulating(world: &Value, carried: Option<Carried>) -> Emulator {
    let address = |last: u8| vec![IpAddr::from([10, 77, 0, last])];
    let host = |name: &str, last| Host { name: name.to_owned(), addresses: address(last) };
    let hosts = vec![host("left0", 1), host("right0", 2)];
    let scenario = Scenario::from_json(&world.to_string()).unwrap();
    Emulator::new(&scenario, 5, Settings { hosts, carried, header: 0 }).unwrap()
}

/// A world with a queue that marks, and a link that loses, delays, copies and changes.
fn world(flows: Value) -> Value {
    json!({
        "duration": "4s",
        "emulate": {},
        "flow": flows,
        "network": {"kind": "dumbbell", "pairs": 1, "bottleneck": {
            "rate": "5Mbps", "delay": "10ms",
            "queue": {"kind": "fq_codel", "ecn": true, "limit": "200p"},
            "loss": {"kind": "packet", "p": 0.02},
            "jitter": {"kind": "normal", "mean": "3ms", "sd": "2ms"},
            "duplicate": {"p": 0.05},
            "changes": [{"at": "1s", "rate": "3Mbps"}, {"at": "2s", "rate": "8Mbps"}],
        }},
    })
}

fn cbr() -> Value {
    json!([{"from": "left0", "to": "right0",
            "app": {"kind": "cbr", "rate": "5Mbps", "size": "1000B", "transport": "udp", "ecn": "ect0"}}])
}

/// What the simulation of a flow of its own logs: times of sending, times of arrival; and its results.
fn simulated() -> (Vec<u64>, Vec<u64>, Outcome) {
    let scenario = Scenario::from_json(&world(cbr()).to_string()).unwrap();
    let mut outcome = Simulation::with_sink(&scenario, 5, Box::<JsonLog>::default()).unwrap().run();
    let log = outcome.trace.take().unwrap();
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let at = |line: &Value| (line["t_s"].as_f64().unwrap() * 1e9).round() as u64;
    let of = |event: &'static str| lines.iter().filter(move |line| line["event"] == event);
    (of("sent").map(at).collect(), of("delivered").map(at).collect(), outcome)
}

/// The first look at a clock at which what is due at `at` is over.
fn after(at: Time) -> Time {
    Time::from_nanos(at.as_nanos() + 1)
}

#[test]
fn a_program_finds_the_same_network_as_a_simulated_flow() {
    let (sent, arrived, outcome) = simulated();
    let mut emulator = emulator(&world(json!([])));
    let mut left = Vec::new();
    let mut take = |emulator: &mut Emulator| {
        while let Some(packet) =
            emulator.leave(|outgoing, bytes| (outgoing.host, outgoing.due.as_nanos(), bytes[1] & 3 == 3, bytes.len()))
        {
            assert_eq!((packet.0, packet.3), (1, 1028));
            left.push((packet.1, packet.2));
        }
    };
    for at in sent {
        // Looked at every now and then, as the clock of a machine would.
        while let Some(next) = emulator.next_event().filter(|next| next.as_nanos() < at) {
            emulator.advance(after(next));
            take(&mut emulator);
        }
        emulator.enter(0, &datagram(1028, 2, false), Time::from_nanos(at));
    }
    loop {
        let next = emulator.next_event().unwrap();
        let is_over = emulator.advance(after(next));
        take(&mut emulator);
        if is_over {
            break;
        }
    }
    assert!(left.len() > 1000 && left.iter().any(|(_, marked)| *marked), "{}", left.len());
    let times: Vec<u64> = left.iter().map(|(at, _)| *at).collect();
    assert!(times == arrived, "{} and {} arrivals", times.len(), arrived.len());
    let program = emulator.programs()[0];
    assert_eq!((program.flow.0, program.tuple.to.1), (0, 9));
    let emulated = emulator.finish(Time::from_nanos(4_000_000_000)).summary;
    let simulated = outcome.summary;
    assert_eq!(emulated.links, simulated.links);
    assert_eq!(emulated.conservation, simulated.conservation);
    let [ours, theirs] = [&emulated.flows[0], &simulated.flows[0]];
    let counts = |flow: &sim::FlowSummary| {
        let measured = serde_json::to_value(flow).unwrap();
        [
            "sent_packets",
            "received_packets",
            "dropped_packets",
            "marked_packets",
            "delivered_bytes",
            "delay_p95_s",
            "drops",
        ]
        .map(|key| measured[key].clone())
    };
    assert_eq!(counts(ours), counts(theirs));
    assert_eq!((ours.app, ours.transport), ("program", "udp"));
}

/// A program beside simulated flows takes its share of their queue.
#[test]
fn simulated_flows_are_in_the_same_queue() {
    let flow = json!({"from": "left0", "to": "right0", "cc": "cubic"});
    let mut emulator = emulator(&world(json!([flow, flow])));
    let mut arrived = 0;
    for step in 0..4000_u64 {
        emulator.enter(0, &datagram(1028, 0, false), Time::from_nanos(step * 1_000_000));
        while emulator.leave(|_, _| ()).is_some() {
            arrived += 1;
        }
    }
    let summary = emulator.finish(Time::from_nanos(4_000_000_000)).summary;
    assert!(arrived > 500 && arrived < 3000, "{arrived} of 4000 packets, twice what the link carries with the others");
    assert_eq!(summary.flows.iter().map(|flow| flow.app).collect::<Vec<_>>(), ["bulk", "bulk", "program"]);
    assert!(summary.flows.iter().all(|flow| flow.measures.goodput_bps > 5e5));
}

/// A busy machine looks late: packets come after the end, and nobody may have asked whether it is over.
#[test]
fn carried_flows_last_no_longer_than_their_scenario() {
    let (end, late) = (Time::from_nanos(4_000_000_000), Time::from_nanos(4_000_020_000));
    for enters in [false, true] {
        let mut emulator = emulating(&world(cbr()), Some(Carried { port: 9, flows: 1 }));
        emulator.enter(0, &datagram(1028, 0, false), Time::from_nanos(3_999_900_000));
        if enters {
            emulator.enter(0, &datagram(1028, 0, false), late);
        }
        assert!(emulator.advance(late));
        assert_eq!(emulator.finish(after(late)).summary.duration_s, end.as_secs_f64());
    }
    let mut emulator = emulating(&world(cbr()), Some(Carried { port: 9, flows: 1 }));
    emulator.advance(Time::from_nanos(2_000_000_000));
    assert_eq!(emulator.finish(late).summary.duration_s, end.as_secs_f64());
}

#[test]
fn what_no_host_has_asked_for_is_counted_and_goes_nowhere() {
    let mut emulator = emulator(&world(json!([])));
    let mut elsewhere = datagram(100, 0, false);
    elsewhere[16] = 224;
    emulator.enter(0, &elsewhere, Time::ZERO);
    emulator.enter(0, &[0x45, 0], Time::ZERO);
    emulator.enter(0, &datagram(100, 0, true), Time::ZERO);
    assert_eq!((emulator.counts().unrouted, emulator.counts().unreadable), (2, 1));
    assert!(emulator.programs().is_empty());
}

/// Both directions of a five-tuple are one flow, and the 1025th shares that of the last.
#[test]
fn flows_are_numbered_in_the_order_of_their_first_packets() {
    let mut emulator = emulator(&world(json!([])));
    for port in 0..1030_u16 {
        let mut packet = datagram(100, 0, false);
        packet[20..22].copy_from_slice(&port.to_be_bytes());
        emulator.enter(0, &packet, Time::from_nanos(u64::from(port) * 1_000_000));
        packet[12..20].rotate_left(4);
        packet[20..24].rotate_left(2);
        emulator.enter(1, &packet, Time::from_nanos(u64::from(port) * 1_000_000));
        while emulator.leave(|_, _| ()).is_some() {}
    }
    assert_eq!(emulator.programs().len(), 1024);
    assert_eq!((emulator.counts().joined_flows, emulator.counts().unrouted), (6, 0));
    assert!(emulator.programs().iter().enumerate().all(|(index, program)| program.flow.index() == index));
}
