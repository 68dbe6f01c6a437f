//! Floods without collisions: how often a frame is transmitted, and how far it reaches.

use tcp::rng::Rng;
use tcp::units::Bytes;

use super::*;
use crate::engine::event::Event;
use crate::ids::{ChannelId, NodeId};
use crate::packet::message::{ArpMessage, Message};
use crate::radio::build;
use crate::radio::medium::{Listener, Medium};
use crate::radio::service::TrafficClass;
use crate::radio::streams::RandomStream;
use crate::scenario::RadioDef;

/// What became of one datagram of station 0.
struct Outcome {
    /// Frames transmitted by all stations.
    frames: u64,
    /// The stations that received it, in order.
    receivers: Vec<u32>,
}

/// Floods a message of `size` to a station, or to all, over a network given by who hears whom.
fn flood(hears: &dyn Fn(u32, u32) -> bool, stations: u32, radius: u32, size: u64, to: Option<u32>) -> Outcome {
    let radio = format!(r#"{{"standard": "802.15.4", "lrwpan": {{"mesh_under": {radius}}}}}"#);
    let def: RadioDef = serde_json::from_str(&radio).unwrap();
    let rules = build::lrwpan::build(&build::with_defaults(&def, "radio").unwrap()).rules;
    let listener = |other| Listener { station: StationId(other), power: 1e-6, delay: Span::from_nanos(3) };
    let lists = |me| (0..stations).filter(|other| *other != me && hears(me, *other)).map(listener).collect();
    let medium = Medium::given((0..stations).map(lists).collect());
    let mut ctx = Context::new(0, None);
    // The seed is one with which no two repetitions overlap.
    let rng = |i: usize, what: RandomStream| Rng::stream(5, &format!("station/{i}/{}", what.name()));
    let mut mac = LrWpanMac::new(ChannelId(0), rules, (0..stations).map(NodeId).collect(), medium, rng);
    let content = Content::Message(mac.air.messages.insert(Message::Arp(ArpMessage::Reply)));
    let to = to.map(StationId);
    let request = MacRequest { content, to, size: Bytes(size), since: ctx.now, class: TrafficClass::Other };
    mac.enqueue(&mut ctx, StationId(0), request);
    let mut receivers = Vec::new();
    while let Some(Event::Radio { event, .. }) = ctx.next() {
        mac.on_event(&mut ctx, event);
        while let Some(indication) = mac.air.indications.pop_front() {
            let MacIndication::Message { at, from, message } = indication else { unreachable!("{indication:?}") };
            assert_eq!(from, StationId(0), "the originator, not who repeated it");
            receivers.push(at.0);
            mac.air.messages.release(Content::Message(message));
        }
    }
    assert!(mac.floods.floods.iter().all(Option::is_none), "nothing of the flood is left");
    let frames = (0..stations).map(|station| mac.counters(StationId(station)).data_frames).sum();
    Outcome { frames, receivers }
}

fn in_reach(_: u32, _: u32) -> bool {
    true
}

fn in_line(me: u32, other: u32) -> bool {
    me.abs_diff(other) == 1
}

/// n stations in mutual reach transmit a unicast n - 1 times and a broadcast n times; so does a line of n.
#[test]
fn numbers_of_transmissions() {
    for n in [2, 3, 5] {
        let unicast = flood(&in_reach, n, 10, 40, Some(n - 1));
        assert_eq!((unicast.frames, unicast.receivers), (u64::from(n) - 1, vec![n - 1]), "{n} in reach");
        let broadcast = flood(&in_reach, n, 10, 40, None);
        assert_eq!((broadcast.frames, broadcast.receivers.len()), (u64::from(n), n as usize - 1), "{n} to all");
        let line = flood(&in_line, n, 10, 40, Some(n - 1));
        assert_eq!((line.frames, line.receivers), (u64::from(n) - 1, vec![n - 1]), "a line of {n}");
    }
}

/// A radius of r reaches r + 1 hops.
#[test]
fn the_radius_limits_the_hops() {
    for radius in 1..6 {
        let outcome = flood(&in_line, 9, radius, 40, None);
        assert_eq!(outcome.receivers, (1..=radius + 1).collect::<Vec<_>>());
        assert_eq!(outcome.frames, u64::from(radius) + 1);
    }
}

/// A station knows the last ten numbers of an originator; the eleventh makes it forget the first.
#[test]
fn ten_numbers_are_remembered() {
    let mut station = MeshStation::default();
    assert!((0..10).all(|number| station.remember(StationId(3), number)));
    assert!((0..10).all(|number| !station.remember(StationId(3), number)));
    assert!(station.remember(StationId(4), 0), "another originator's");
    assert!(station.remember(StationId(3), 10));
    assert!(station.remember(StationId(3), 0), "forgotten");
    assert!(!station.remember(StationId(3), 2));
}
