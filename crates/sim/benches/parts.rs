//! The parts of the engine that every packet passes, each alone: `make micro`. What they cost together is counted by
//! `make instructions`.

use divan::Bencher;
use divan::counter::ItemsCount;
use serde_json::{Value, json};
use sim::{EventList, Scenario, Simulation, TieBreak};
use tcp::cc::CcConfig;
use tcp::rng::Rng;
use tcp::settings::ProfileName;
use tcp::units::{Span, Time};
use tcp::{Connection, TcpConfig};

fn main() {
    divan::main();
}

/// One event out, one in, with so many waiting: a transmission, a hop, a round trip or a time-out ahead.
#[divan::bench(args = [100, 10_000, 1_000_000])]
fn schedule(bencher: Bencher, waiting: u64) {
    const OPERATIONS: usize = 100_000;
    let mut rng = Rng::stream(1, "schedule");
    let mut ahead =
        move || [12_000, 120_000, 1_000_000, 20_000_000, 200_000_000][rng.below(5) as usize] + rng.below(1000);
    let mut list = EventList::default();
    (0..waiting).for_each(|number| list.push(ahead(), TieBreak::default(), number));
    bencher.counter(ItemsCount::new(OPERATIONS)).bench_local(|| {
        for _ in 0..OPERATIONS {
            let (now, number) = list.pop().expect("as many go in as come out");
            list.push(now + ahead(), TieBreak { pushed: now, tie: 0 }, number);
        }
    });
}

/// Data segments and their ACKs from one endpoint to the other and back, without a network between them.
#[divan::bench]
fn endpoint(bencher: Bencher) {
    const SEGMENTS: u64 = 10_000;
    bencher.counter(ItemsCount::new(SEGMENTS)).bench_local(|| {
        let cc = CcConfig::by_name("reno", Some("linux"), &[]).expect("reno has a form for Linux");
        let config = TcpConfig::of_profile(ProfileName::Linux, cc);
        let (mut source, mut sink) = (Connection::connect(config.clone()), Connection::listen(config));
        source.write(SEGMENTS * 1448);
        let mut now = Time::ZERO;
        let mut received = 0;
        while received < SEGMENTS * 1448 {
            now = now + Span::from_millis(10);
            exchange(now, &mut source, &mut sink);
            now = now + Span::from_millis(10);
            received += exchange(now, &mut sink, &mut source);
            // Nobody waits for an ACK that is held back.
            sink.next_timeout().into_iter().for_each(|due| now = now.max(due));
            sink.on_timeout(now);
        }
    });
}

/// All that `from` has to send reaches `to`; gives what `from` had received in order before.
fn exchange(now: Time, from: &mut Connection, to: &mut Connection) -> u64 {
    let mut delivered = 0;
    while let Some(event) = from.poll_event() {
        if let tcp::Event::Delivered(bytes) = event {
            delivered += bytes;
        }
    }
    while let Some(segment) = from.poll_segment(now) {
        to.on_segment(now, &segment);
    }
    delivered
}

/// Datagrams over links in a row, set-up included.
#[divan::bench(args = [1, 4])]
fn links(bencher: Bencher, hops: u32) {
    let node = |i: u32| json!({"name": format!("n{i}")});
    let link = |i: u32| json!({"from": format!("n{i}"), "to": format!("n{}", i + 1), "rate": "1Gbps", "delay": "1ms"});
    let world = json!({
        "duration": "1s", "network": {"kind": "graph"},
        "node": (0..=hops).map(node).collect::<Vec<_>>(), "link": (0..hops).map(link).collect::<Vec<_>>(),
        "flow": [datagrams("n0", &format!("n{hops}"), "20000pps")],
    });
    bencher.counter(ItemsCount::new(20_000_u32)).bench_local(|| run(&world));
}

/// Datagrams over one hop of 802.11, as many as find room: about 700 a second.
#[divan::bench]
fn access(bencher: Bencher) {
    let world = json!({
        "duration": "10s",
        "network": {"kind": "adhoc", "nodes": 2, "flows": 0, "area": {"x": "100m", "y": "1m"},
                    "placement": {"kind": "list", "positions": [[0.0, 0.0], [10.0, 0.0]]}},
        "flow": [datagrams("n0", "n1", "500pps")],
    });
    bencher.counter(ItemsCount::new(5_000_u32)).bench_local(|| run(&world));
}

fn datagrams(from: &str, to: &str, rate: &str) -> Value {
    json!({"from": from, "to": to, "app": {"kind": "cbr", "rate": rate, "size": "972B", "transport": "udp"}})
}

fn run(world: &Value) -> u64 {
    let scenario = Scenario::from_json(&world.to_string()).unwrap_or_else(|error| panic!("{error}"));
    let simulation = Simulation::new(&scenario, 1).unwrap_or_else(|error| panic!("{error}"));
    simulation.run().summary.events
}
