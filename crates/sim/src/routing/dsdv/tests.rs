//! DSDV of ns-2.35, event by event.

use super::*;

const RULES: DsdvRules = DsdvRules {
    interval: Span::from_millis(15_000),
    settling: Span::from_millis(6_000),
    header: Bytes(20),
    mtu: None,
    link_feedback: false,
};

fn agent(rules: DsdvRules) -> Dsdv {
    Dsdv::new(StationId(0), rules, Rng::stream(1, "routing"))
}

fn at(secs: f64) -> Time {
    Time::ZERO + Span::from_secs_f64(secs)
}

fn advert(destination: u32, metric: u32, sequence: u32) -> RouteAdvertisement {
    RouteAdvertisement { destination: StationId(destination), metric, sequence }
}

/// Messages sent up to `until`, with their times.
fn sent(agent: &mut Dsdv, until: Time) -> Vec<(Time, Vec<RouteAdvertisement>, Bytes)> {
    let mut sent = Vec::new();
    while let Some(now) = agent.next_timer().filter(|now| *now <= until) {
        agent.on_timer(now);
        while let Some(Outgoing { message: Message::Dsdv(adverts), size, .. }) = agent.outbox.pop(now) {
            sent.push((now, adverts, size));
        }
    }
    sent
}

/// Vector 1: 40 routes make 500 B.
#[test]
fn an_update_of_forty_routes() {
    let mut dsdv = agent(RULES);
    let adverts: Vec<RouteAdvertisement> = (1..40).map(|destination| advert(destination, 0, 2)).collect();
    dsdv.on_update(Time::ZERO, StationId(1), &adverts);
    let sizes: Vec<Bytes> = sent(&mut dsdv, at(20.0)).into_iter().map(|(_, _, size)| size).collect();
    assert_eq!(sizes.first(), Some(&Bytes(32)));
    assert!(sizes.contains(&Bytes(500)), "{sizes:?}");
}

/// Vector 2: B learns of C at 0 s and advertises it to A in its first update after 12 s.
#[test]
fn a_new_route_is_advertised_after_it_has_settled() {
    let mut b = agent(RULES);
    b.on_update(Time::ZERO, StationId(2), &[advert(2, 0, 2)]);
    let advertised = |adverts: &[RouteAdvertisement]| adverts.iter().any(|advert| advert.destination == StationId(2));
    let first = sent(&mut b, at(20.0)).into_iter().find(|(_, adverts, _)| advertised(adverts));
    let (when, adverts, _) = first.expect("the route is advertised");
    assert!(when >= at(12.0) && when <= at(13.01), "{when}");
    assert!(adverts.contains(&advert(2, 1, 2)), "{adverts:?}");
}

/// Vectors 3 and 4: an older sequence number is ignored, a newer one always accepted.
#[test]
fn a_newer_sequence_number_is_accepted_whatever_its_metric() {
    let mut dsdv = agent(RULES);
    let entry = |dsdv: &Dsdv| dsdv.table.route(StationId(9)).map(|route| (route.metric, route.sequence));
    dsdv.on_update(at(1.0), StationId(1), &[advert(9, 3, 100)]);
    dsdv.on_update(at(2.0), StationId(2), &[advert(9, 1, 98)]);
    assert_eq!((entry(&dsdv), dsdv.next_hop(StationId(9))), (Some((4, 100)), NextHop::Via(StationId(1))));
    dsdv.on_update(at(3.0), StationId(2), &[advert(9, 7, 102)]);
    assert_eq!((entry(&dsdv), dsdv.next_hop(StationId(9))), (Some((8, 102)), NextHop::Via(StationId(2))));
}

/// Vector 5: 45 s after a neighbour's last update the routes through it have an infinite metric and odd sequence
/// numbers.
#[test]
fn a_silent_neighbour_is_gone() {
    let mut dsdv = agent(RULES);
    dsdv.on_update(at(1.0), StationId(1), &[advert(1, 0, 4), advert(9, 3, 100)]);
    dsdv.on_update(at(2.0), StationId(2), &[advert(2, 0, 8)]);
    sent(&mut dsdv, at(45.999));
    assert_eq!(dsdv.next_hop(StationId(9)), NextHop::Via(StationId(1)));
    let changed = sent(&mut dsdv, at(46.1));
    assert_eq!(dsdv.next_hop(StationId(9)), NextHop::Wait);
    assert_eq!(dsdv.next_hop(StationId(2)), NextHop::Via(StationId(2)));
    let adverts: Vec<RouteAdvertisement> = changed.into_iter().flat_map(|(_, adverts, _)| adverts).collect();
    assert!(adverts.contains(&advert(9, 250, 101)) && adverts.contains(&advert(1, 250, 5)), "{adverts:?}");
}

/// A station that is advertised as unreachable answers at once; so does one that has a valid route to it.
#[test]
fn a_false_advertisement_is_answered_at_once() {
    let mut dsdv = agent(RULES);
    dsdv.on_update(at(1.0), StationId(1), &[advert(1, 0, 4), advert(9, 3, 100)]);
    let before = sent(&mut dsdv, at(5.0)).len();
    dsdv.on_update(at(5.0), StationId(2), &[advert(0, 250, 3)]);
    let own = sent(&mut dsdv, at(5.01));
    assert_eq!((before, own.len()), (1, 1));
    assert!(own[0].1.contains(&advert(0, 0, 4)), "{own:?}");
    dsdv.on_update(at(8.0), StationId(2), &[advert(9, 250, 99)]);
    let changed = sent(&mut dsdv, at(8.01));
    assert!(changed[0].1.contains(&advert(9, 4, 100)), "{changed:?}");
}

/// `std`: updates above 1500 B are split, each part with the sender's own route first; a link failure at the MAC breaks
/// a link.
#[test]
fn std_splits_updates_and_reacts_to_link_failures() {
    let rules = DsdvRules { header: Bytes(28), mtu: Some(Bytes(1500)), link_feedback: true, ..RULES };
    let mut dsdv = agent(rules);
    let adverts: Vec<RouteAdvertisement> = (1..=200).map(|destination| advert(destination, 0, 2)).collect();
    dsdv.on_update(Time::ZERO, StationId(1), &adverts);
    let parts: Vec<_> = sent(&mut dsdv, at(16.0)).into_iter().filter(|(_, adverts, _)| adverts.len() > 1).collect();
    assert!(parts.len() >= 2);
    for (_, adverts, size) in &parts {
        assert!(*size <= Bytes(1500) && adverts[0].destination == StationId(0), "{size}");
    }
    let advertised: usize = parts[..2].iter().map(|(_, adverts, _)| adverts.len() - 1).sum();
    assert_eq!(advertised, 200);
    dsdv.on_link_failure(at(17.0), StationId(1));
    assert_eq!(dsdv.next_hop(StationId(7)), NextHop::Wait);
    let mut deaf = agent(RULES);
    deaf.on_update(Time::ZERO, StationId(1), &adverts);
    deaf.on_link_failure(at(17.0), StationId(1));
    assert_eq!(deaf.next_hop(StationId(7)), NextHop::Via(StationId(1)));
}
