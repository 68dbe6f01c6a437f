use super::*;
use crate::ids::MessageId;
use crate::radio::frame::Content;
use crate::radio::service::TrafficClass;

const PEER: StationId = StationId(1);

fn host() -> NeighborDiscovery {
    NeighborDiscovery::new(StationId(0), Bytes(8), Rng::stream(1, "test"))
}

fn request(id: u32) -> MacRequest {
    let content = Content::Message(MessageId(id));
    MacRequest { content, to: Some(PEER), size: Bytes(100), since: Time::ZERO, class: TrafficClass::Other }
}

fn at(seconds: f64) -> Time {
    Time::ZERO + Span::from_secs_f64(seconds)
}

/// When neighbors were solicited, each alone or not, and when which requests were given up.
type Outcome = (Vec<(f64, bool)>, Vec<(f64, MacRequest)>);

/// Runs timers up to an instant.
fn run(host: &mut NeighborDiscovery, until: Time) -> Outcome {
    let (mut solicited, mut given_up) = (Vec::new(), Vec::new());
    while host.next_timer() <= until {
        let now = host.next_timer();
        for action in host.on_timer(now) {
            match action {
                Action::Send(Outgoing {
                    message: Message::Ndp(NdpMessage::Solicitation { is_tentative, .. }),
                    to,
                    ..
                }) => {
                    if !is_tentative {
                        solicited.push((now.as_secs_f64(), to.is_some()));
                    }
                }
                Action::Send(_) => {}
                Action::Release(_) => panic!("nobody answers"),
                Action::GiveUp(request) => given_up.push((now.as_secs_f64(), request)),
            }
        }
    }
    (solicited, given_up)
}

/// The trace of ns-3.37: a packet at 95.057 s, solicitations at 95.058, 96.060, 97.061 and 98.060 s, the end at 99.057 s.
#[test]
fn nobody_answers() {
    let mut host = host();
    run(&mut host, at(95.0));
    for id in 0..4 {
        let dropped = (id == 3).then(|| request(0));
        assert_eq!(host.resolve(at(95.057), PEER, request(id)), Lookup::Held { dropped });
    }
    let (solicited, given_up) = run(&mut host, at(110.0));
    assert_eq!(solicited.len(), 4);
    for (index, (when, to_one)) in solicited.into_iter().enumerate() {
        let jitter = when - (95.057 + index as f64);
        assert!((-1e-9..0.0095).contains(&jitter) && !to_one, "{when}");
    }
    assert_eq!(given_up, [1, 2, 3].map(|id| (99.057, request(id))));
    assert_eq!(host.resolve(at(111.0), PEER, request(5)), Lookup::Held { dropped: None });
}

/// The trace of ns-3.37: an answer; 40 s later a packet, probes after 5 s and at each of the next two seconds, in which packets
/// are held; the end a second later.
#[test]
fn a_neighbor_that_falls_silent() {
    let mut host = host();
    host.resolve(at(0.0), PEER, request(1));
    let released = host.on_message(at(0.03), PEER, NdpMessage::Advertisement);
    assert_eq!(released, [Action::Release(request(1))]);
    assert_eq!(host.resolve(at(0.05), PEER, request(2)), Lookup::Known);
    run(&mut host, at(40.0));
    assert_eq!(host.resolve(at(40.057), PEER, request(3)), Lookup::Known);
    let (solicited, _) = run(&mut host, at(45.9));
    assert!(matches!(solicited[..], [(when, true)] if (45.057..45.067).contains(&when)), "{solicited:?}");
    assert_eq!(host.resolve(at(47.057), PEER, request(4)), Lookup::Held { dropped: None });
    let (solicited, given_up) = run(&mut host, at(60.0));
    assert_eq!(solicited.len(), 2);
    assert_eq!(given_up, [(48.057, request(4))]);
}

/// ns-3.37: a neighbor that is used every 2 s is not probed in 100 s.
#[test]
fn use_keeps_a_neighbor_reachable() {
    let mut host = host();
    host.resolve(at(0.0), PEER, request(1));
    host.on_message(at(0.03), PEER, NdpMessage::Advertisement);
    run(&mut host, at(1.0));
    for step in 1..50 {
        assert_eq!(host.resolve(at(2.0 * f64::from(step)), PEER, request(2)), Lookup::Known);
    }
    assert_eq!(run(&mut host, at(100.0)).0, []);
}

/// A host that is solicited answers at once and learns the sender, whom it probes 5 s after it has used it first.
#[test]
fn a_solicitation_is_answered_and_teaches() {
    let mut host = host();
    let solicitation = NdpMessage::Solicitation { target: StationId(0), is_tentative: false };
    let actions = host.on_message(at(0.0), PEER, solicitation);
    let [Action::Send(answer)] = &actions[..] else { panic!("{actions:?}") };
    assert_eq!((answer.to, answer.size), (Some(PEER), Bytes(72)));
    assert_eq!(host.on_message(at(0.0), PEER, NdpMessage::Solicitation { target: PEER, is_tentative: true }), []);
    assert_eq!(host.resolve(at(0.05), PEER, request(1)), Lookup::Known);
    let (solicited, _) = run(&mut host, at(5.5));
    assert!(matches!(solicited[..], [(when, true)] if (5.05..5.06).contains(&when)), "{solicited:?}");
}

/// RFC 7559, with ns-3's first interval of a second: 1, 2, 4, 8 s and so on, each varied by a tenth.
#[test]
fn routers_are_solicited_at_growing_intervals() {
    let mut host = host();
    let mut times = Vec::new();
    while host.next_timer() < at(200.0) {
        let now = host.next_timer();
        let is_router = |action: &Action| {
            matches!(action, Action::Send(Outgoing { message: Message::Ndp(NdpMessage::RouterSolicitation), .. }))
        };
        times.extend(host.on_timer(now).iter().filter(|action| is_router(action)).map(|_| now.as_secs_f64()));
    }
    assert!((1.0..1.0095).contains(&times[0]), "{times:?}");
    let intervals: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!((0.9..1.1).contains(&intervals[0]), "{times:?}");
    let ratios = intervals.windows(2).map(|pair| pair[1] / pair[0]);
    assert!(ratios.into_iter().all(|ratio| (1.9..2.1).contains(&ratio)), "{times:?}");
    assert_eq!(times.len(), 8);
}
