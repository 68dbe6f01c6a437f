//! The faults of ns-2.35's MAC, each at an instant that brings it out; times follow from its constants.

use tcp::rng::Rng;
use tcp::units::{Bytes, Span, Time};

use crate::engine::context::Context;
use crate::engine::event::Event;
use crate::ids::{ChannelId, FlowId, NodeId, StationId};
use crate::packet::message::{Message, RouteAdvertisement};
use crate::radio::frame::Content;
use crate::radio::lrwpan::LrWpanMac;
use crate::radio::lrwpan::rules::Access;
use crate::radio::lrwpan::rules::LrWpanRules;
use crate::radio::lrwpan::tests::ns2;
use crate::radio::medium::{Listener, Medium};
use crate::radio::receiver::Reception;
use crate::radio::service::{MacIndication, MacRequest, TrafficClass};

/// Without backoff a station samples the medium 64 us after a request, ends its CCA after 128 and transmits after 320.
fn rules(frame_error: f64) -> LrWpanRules {
    LrWpanRules {
        min_be: 0,
        access: Access::SampledCca,
        reception: Reception::Addressed { carrier_sense: 1e-11, receive: 1e-10 },
        frame_error,
        ratio: 10.0,
        ..ns2()
    }
}

/// A request at a time: from one station, to another or to all, of this size.
type Asked = (u64, u32, Option<u32>, u64);

fn micros(micros: u64) -> Time {
    Time::ZERO + Span::from_micros(micros)
}

/// Runs three stations for twenty milliseconds; returns who received what of whom when, in microseconds, and the MAC.
fn run(rules: LrWpanRules, asked: &[Asked]) -> (Vec<(u64, u32, u32)>, LrWpanMac) {
    let others = |me: u32| (0..3).filter(move |other| *other != me);
    let listener = |other| Listener { station: StationId(other), power: 1e-9, delay: Span::ZERO };
    let medium = Medium::given((0..3).map(|me| others(me).map(listener).collect()).collect());
    let rng = |i: usize, _| Rng::stream(1, &format!("station/{i}"));
    let mut mac = LrWpanMac::new(ChannelId(0), rules, (0..3).map(NodeId).collect(), medium, rng);
    let mut ctx = Context::new(0, None);
    for (index, (at, ..)) in asked.iter().enumerate() {
        ctx.schedule(micros(*at), Event::App { flow: FlowId(index as u32) });
    }
    ctx.schedule(micros(20_000), Event::Stop);
    let mut received = Vec::new();
    while let Some(event) = ctx.next() {
        match event {
            Event::App { flow } => {
                let (_, from, to, size) = asked[flow.0 as usize];
                let line = RouteAdvertisement { destination: StationId(0), metric: 1, sequence: 2 };
                let content = Content::Message(mac.air.messages.insert(Message::Dsdv(vec![line])));
                let (to, size, class, since) = (to.map(StationId), Bytes(size), TrafficClass::Other, ctx.now);
                mac.enqueue(&mut ctx, StationId(from), MacRequest { content, to, size, since, class });
            }
            Event::Radio { event, .. } => mac.on_event(&mut ctx, event),
            _ => break,
        }
        while let Some(indication) = mac.air.indications.pop_front() {
            if let MacIndication::Message { at, from, .. } = indication {
                received.push((ctx.now.as_nanos() / 1000, at.0, from.0));
            }
        }
    }
    (received, mac)
}

/// A broadcast of station 0 that begins 32 us after the sample of station 1, which has a frame for station 2.
const RACE: [Asked; 2] = [(0, 0, None, 32), (224, 1, Some(2), 60)];

#[test]
fn a_broadcast_after_the_sample_stalls_the_station() {
    let (received, mac) = run(rules(0.0), &RACE);
    // 39 B and 6 B of PHY take 1440 us; nobody receives the frame of station 1.
    assert_eq!(received, [(320 + 1440, 1, 0), (320 + 1440, 2, 0)]);
    assert_eq!(mac.stalled_at(StationId(1)), Some(micros(320 + 1440)));
    assert_eq!(mac.stalled_at(StationId(0)), None);
}

#[test]
fn an_acknowledgment_of_its_own_frees_a_stalled_station() {
    let (received, mac) = run(rules(0.0), &[RACE[0], RACE[1], (3000, 2, Some(1), 20)]);
    // Station 2 is heard at 3000 + 320 + 33 * 32; the ACK is over 192 + 352 us later, and station 1's frame 320 + 73 * 32 after it.
    let heard = 3000 + 320 + 1056;
    assert_eq!(received[2..], [(heard, 1, 2), (heard + 544 + 320 + 2336, 2, 1)]);
    assert_eq!(mac.stalled_at(StationId(1)), None);
}

#[test]
fn after_a_broadcast_in_error_the_deferred_frame_follows() {
    let (_, mac) = run(rules(1.0), &RACE);
    assert_eq!(mac.stalled_at(StationId(1)), None);
    // It is transmitted 192 us after the broadcast, and in error itself: one attempt of 2336 + 864 us, and others after it.
    assert!(mac.counters(StationId(1)).data_frames >= 2);
}

#[test]
fn a_frame_that_is_too_long_silences_its_station_for_good() {
    let (received, mac) = run(rules(0.0), &[(0, 0, None, 128), (2000, 0, Some(1), 20), (3000, 1, Some(0), 20)]);
    assert!(received.is_empty(), "it neither sends nor receives: {received:?}");
    assert_eq!(mac.stalled_at(StationId(0)), Some(micros(320)));
    assert_eq!(mac.counters(StationId(0)).too_long, 1);
    assert_eq!(mac.counters(StationId(1)).data_frames, 4, "the other repeats its frame three times");
}

/// 1070 B of TCP fly as 53 B; 250 B and 7 B of MAC overflow once more and fly as 1 B.
#[test]
fn lengths_have_eight_bits() {
    for (size, psdu) in [(1070, 53), (250, 1)] {
        let (received, _) = run(rules(0.0), &[(0, 0, Some(1), size)]);
        assert_eq!(received, [(320 + 32 * (6 + psdu), 1, 0)], "{size} B");
    }
}

#[test]
fn a_receiver_heeds_frames_for_its_station_alone() {
    // Station 0 sends to 1; station 2's sample at the same instant finds the medium idle, and its frame to 1 is as strong.
    let (received, _) = run(rules(0.0), &[(0, 0, Some(1), 60), (0, 2, Some(1), 60)]);
    assert!(received.iter().all(|(at, ..)| *at > 320 + 2336), "both are lost at first: {received:?}");
    // A frame for another station is interference, and no reason to lose one that is ten times as strong: here it is not.
    let (received, _) = run(rules(0.0), &[(0, 0, Some(1), 60), (0, 2, Some(0), 60)]);
    assert!(received.iter().all(|(at, ..)| *at > 320 + 2336), "{received:?}");
}
