//! Vectors of RFC 4728: a discovery, replies from caches, errors, salvaging and shortening, on agents that are wired by
//! hand.

use tcp::units::Bytes;

use super::*;
use crate::routing::profiles::dsr;
use crate::scenario::DsrProfile;

fn std() -> DsrRules {
    dsr(Some(DsrProfile::Std)).rules
}

fn ns2() -> DsrRules {
    dsr(Some(DsrProfile::Ns2)).rules
}

fn agent(me: u32) -> Dsr {
    Dsr::new(StationId(me), std(), Rng::stream(1, &format!("station/{me}/routing")))
}

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

fn path<const N: usize>(stations: [u32; N]) -> Path {
    stations.map(StationId).to_vec()
}

/// All messages that an agent has until `now`.
fn messages(agent: &mut Dsr, now: Time) -> Vec<(DsrMessage, Option<u32>, u64)> {
    let mut all = Vec::new();
    while let Some(Outgoing { message, size, to }) = agent.outbox.pop(now) {
        let Message::Dsr(message) = message else { unreachable!("DSR sends DSR messages") };
        all.push((message, to.map(|to| to.0), size.0));
    }
    all
}

fn request(id: u32, target: u32, passed: Path, hops: usize) -> DsrMessage {
    DsrMessage::Request { id, target: StationId(target), path: passed, hops, error: None }
}

fn listed(path: Path, salvages: u32, header: u64) -> SourceRoute {
    SourceRoute { path, salvages, is_listed: true, header: Bytes(header) }
}

/// When a source with a packet every millisecond, or one packet alone, asks its neighbours and floods.
fn requests(rules: DsrRules, every_ms: bool) -> (Vec<u64>, Vec<u64>) {
    let mut source = Dsr::new(StationId(0), rules, Rng::stream(1, "station/0/routing"));
    let (mut asked, mut flooded) = (Vec::new(), Vec::new());
    source.discover(at(0), StationId(9));
    for ms in 0..29_900 {
        if every_ms {
            source.discover(at(ms), StationId(9));
        }
        source.on_timer(at(ms));
        for (message, to, _) in messages(&mut source, at(ms + 10)) {
            let DsrMessage::Request { hops, .. } = message else { unreachable!("{message:?}") };
            assert_eq!(to, None);
            if hops == 0 { asked.push(ms) } else { flooded.push(ms) }
        }
    }
    (asked, flooded)
}

/// The neighbours are asked first, 30 ms later everybody; both again after 0.5, 1, 2 … 10 s, in ns-2 after 2, 8 and 10 s (stock
/// ns-2.35, a source out of reach, without jitter: 0, 30, 2000, 2030, 10000, 10030, 20000 ms …).
#[test]
fn requests_and_their_periods() {
    let rfc: Vec<u64> = vec![0, 500, 1500, 3500, 7500, 15500, 25500];
    let late: Vec<u64> = vec![0, 2000, 10000, 20000];
    for (rules, expected) in [(std(), rfc), (ns2(), late)] {
        let flooded: Vec<u64> = expected.iter().map(|ms| ms + 30).collect();
        assert_eq!(requests(rules, true), (expected, flooded));
    }
}

/// A packet that waits alone is looked after every 30 to 60 ms (stock ns-2.35: 0, 54, 2010, 2062 ms …).
#[test]
fn ns2_looks_through_the_send_buffer_for_requests_to_repeat() {
    let (asked, flooded) = requests(ns2(), false);
    assert_eq!((asked.len(), flooded.len()), (4, 4));
    for (at, due) in asked.iter().zip([0, 2000, 10000, 20000]) {
        assert!((due..due + 160).contains(at), "{asked:?}");
    }
    for (flood, ask) in flooded.iter().zip(&asked) {
        assert!((30..=90).contains(&(flood - ask)), "{asked:?} {flooded:?}");
    }
}

/// 0 looks for 3 over 1 and 2. Sizes: IP 20, fixed header 4, request 8, each station passed 4; reply 3, its stations and those of
/// its own source route (4) without the ends.
#[test]
fn a_discovery() {
    let (mut one, mut two, mut three) = (agent(1), agent(2), agent(3));
    one.on_message(at(0), &request(1, 3, path([0]), 0));
    assert!(messages(&mut one, at(10)).is_empty(), "asked as a neighbour, and without a path");
    one.on_message(at(30), &request(2, 3, path([0]), 16));
    assert_eq!(messages(&mut one, at(40)), [(request(2, 3, path([0, 1]), 16), None, 20 + 4 + 8 + 4)]);
    two.on_message(at(40), &request(2, 3, path([0, 1]), 16));
    two.on_message(at(41), &request(2, 3, path([0, 5, 6]), 16));
    assert_eq!(messages(&mut two, at(51)), [(request(2, 3, path([0, 1, 2]), 16), None, 20 + 4 + 8 + 8)], "once");
    two.on_message(at(52), &request(2, 3, path([0, 1, 2, 4]), 16));
    assert!(messages(&mut two, at(62)).is_empty(), "it is on the path already");
    three.on_message(at(60), &request(2, 3, path([0, 1, 2]), 16));
    let reply = DsrMessage::Reply { route: path([0, 1, 2, 3]), back: path([3, 2, 1, 0]) };
    // The target's address belongs to the reply, that of the originator is the destination of the datagram.
    assert_eq!(messages(&mut three, at(70)), [(reply.clone(), Some(2), 20 + 4 + 3 + 12 + 4 + 8)]);
    assert_eq!(three.cache.find(StationId(0)), Some(path([3, 2, 1, 0])), "the target knows the way back");
    two.on_message(at(71), &reply);
    assert_eq!(messages(&mut two, at(71)), [(reply.clone(), Some(1), 51)]);
    let mut source = agent(0);
    source.discover(at(0), StationId(3));
    source.on_message(at(72), &reply);
    assert_eq!(source.cache.find(StationId(3)), Some(path([0, 1, 2, 3])));
    assert_eq!(source.find_route(at(72), StationId(3)), Some(listed(path([0, 1, 2, 3]), 0, 4 + 4 + 8)));
    source.on_timer(at(600));
    messages(&mut source, at(10));
    assert!(messages(&mut source, at(700)).is_empty(), "the discovery is over");
}

/// A station with a path replies for the target unless the path leads back; the neighbours-only request finds it as well.
#[test]
fn replies_from_caches() {
    let mut two = agent(2);
    two.on_forwarded(&path([1, 2, 3, 4]));
    two.on_message(at(0), &request(1, 4, path([0, 1]), 0));
    let reply = DsrMessage::Reply { route: path([0, 1, 2, 3, 4]), back: path([2, 1, 0]) };
    assert_eq!(messages(&mut two, at(0)).into_iter().map(|(message, ..)| message).collect::<Vec<_>>(), [reply]);
    two.on_message(at(1), &request(2, 4, path([0, 3]), 16));
    let passed_on = messages(&mut two, at(11)).into_iter().map(|(message, ..)| message).collect::<Vec<_>>();
    assert_eq!(passed_on, [request(2, 4, path([0, 3, 2]), 16)], "0 3 2 3 4 is no path");
}

/// 1 cannot reach 2: it tells 0, which forgets the link and passes the error on with its next request, within a second.
#[test]
fn errors_and_salvaging() {
    let (mut zero, mut one) = (agent(0), agent(1));
    let route = listed(path([0, 1, 2, 3]), 0, 4 + 4 + 8);
    one.on_forwarded(&route.path);
    one.on_link_failure(StationId(2));
    assert_eq!(one.salvage(&route, StationId(3)), None);
    one.on_overheard_packet(at(0), StationId(4), &path([7, 4, 3]));
    let salvaged = one.salvage(&route, StationId(3)).unwrap();
    assert_eq!(salvaged, listed(path([1, 4, 3]), 1, 4 + 4 + 4));
    assert_eq!(one.salvage(&SourceRoute { salvages: 15, ..route.clone() }, StationId(3)), None);
    one.send_error(at(1), &route);
    let error = LinkError { from: StationId(1), to: StationId(2) };
    let told = DsrMessage::Error { error, back: path([1, 0]) };
    assert_eq!(messages(&mut one, at(1)), [(told.clone(), Some(0), 20 + 4 + 16 + 4)]);
    zero.on_message(at(2), &DsrMessage::Reply { route: path([0, 1, 2, 3]), back: path([3, 2, 1, 0]) });
    zero.on_message(at(3), &told);
    assert_eq!(zero.cache.find(StationId(3)), None);
    assert_eq!(zero.cache.find(StationId(1)), Some(path([0, 1])));
    zero.discover(at(900), StationId(3));
    zero.on_timer(at(930));
    zero.on_timer(at(1400));
    let errors: Vec<_> = messages(&mut zero, at(1410))
        .into_iter()
        .map(
            |(message, ..)| {
                if let DsrMessage::Request { hops, error, .. } = message { (hops, error) } else { (99, None) }
            },
        )
        .collect();
    assert_eq!(errors, [(0, Some(error)), (16, Some(error)), (0, None)], "until a flood carries it");
}

/// 3 overhears 0's packet that is to come over 1 and 2: 0 is told that 3 hears it, once a second.
#[test]
fn paths_are_shortened() {
    let mut three = agent(3);
    three.on_overheard_packet(at(0), StationId(0), &path([0, 1, 2, 3, 4]));
    let reply = DsrMessage::Reply { route: path([0, 3, 4]), back: path([3, 0]) };
    assert_eq!(messages(&mut three, at(0)).into_iter().map(|(message, ..)| message).collect::<Vec<_>>(), [reply]);
    three.on_overheard_packet(at(999), StationId(0), &path([0, 1, 2, 3, 4]));
    assert!(messages(&mut three, at(999)).is_empty());
    three.on_overheard_packet(at(1000), StationId(0), &path([0, 1, 2, 3, 4]));
    assert_eq!(messages(&mut three, at(1000)).len(), 1);
    three.on_overheard_packet(at(1001), StationId(2), &path([0, 1, 2, 3, 4]));
    assert!(messages(&mut three, at(1001)).is_empty(), "it comes next anyway");
    assert_eq!(three.cache.find(StationId(4)), Some(path([3, 4])), "and shows the way on");
}

/// Sizes in stock ns-2.35 over 0 1 2: the request 32 B and, passed on, 48; the reply 52; of packets of 120 B every half second those
/// at 0, 0.5, 1, 6.5 and 12 s have 140, all others 120. Only a shorter path, or a break, begins a flow anew.
#[test]
fn most_packets_of_ns2_travel_without_their_path() {
    let rng = Rng::stream(1, "station/0/routing");
    let mut source = Dsr::new(StationId(0), ns2(), rng);
    let sizes = [path([0]), path([0, 1])].map(|passed| 20 + Sizes::Growing.message(&request(1, 2, passed, 16)).0);
    assert_eq!(sizes, [32, 48]);
    let reply = |route| DsrMessage::Reply { route, back: path([2, 1, 0]) };
    assert_eq!(20 + Sizes::Growing.message(&reply(path([0, 1, 2]))).0, 52);
    source.on_message(at(0), &reply(path([0, 1, 2])));
    let header = |source: &mut Dsr, ms| {
        let route = source.find_route(at(ms), StationId(2)).unwrap();
        assert_eq!(route.is_listed, route.header > Bytes(4));
        (route.header.0, route.path.len())
    };
    let listed: Vec<u64> = (0..30).map(|half| 500 * half).filter(|ms| header(&mut source, *ms) == (20, 3)).collect();
    assert_eq!(listed, [0, 500, 1000, 6500, 12000]);
    assert_eq!(header(&mut source, 15_000), (0, 3));
    source.on_message(at(15_001), &reply(path([0, 3, 2])));
    source.on_link_failure(StationId(1));
    assert_eq!(header(&mut source, 15_002), (20, 3), "the path over 3");
    source.on_message(at(15_003), &reply(path([0, 2])));
    assert_eq!(header(&mut source, 15_004), (16, 2));
}
