//! Aggregates between two stations, against computed cycles.

use std::collections::BTreeMap;

use tcp::rng::Rng;

use super::*;
use crate::engine::event::Event;
use crate::ids::ChannelId;
use crate::packet::message::{ArpMessage, Message};
use crate::radio::build;
use crate::radio::medium::{Listener, Medium};
use crate::radio::service::{MacRequest, TrafficClass};
use crate::radio::streams::RandomStream;
use crate::scenario::RadioDef;

const SECONDS: u64 = 5;

/// What one station that always has `depth` requests of `size`, besides those in hand, delivers to its neighbour in five seconds.
#[derive(Debug, Default)]
struct Delivered {
    /// The number of each message, in the order of delivery.
    numbers: Vec<u32>,
    sent: u32,
    counters: crate::radio::service::MacCounters,
}

impl Delivered {
    /// Of UDP, if each message is a datagram of 1500 B.
    fn goodput_mbps(&self) -> f64 {
        self.numbers.len() as f64 * 1472.0 * 8e-6 / SECONDS as f64
    }
}

fn mac(radio: &str, power: f64) -> DcfMac {
    let def: RadioDef = serde_json::from_str(radio).unwrap();
    let radio = build::dcf::build(&build::with_defaults(&def, "radio").unwrap());
    let listener = |other| vec![Listener { station: StationId(other), power, delay: Span::from_nanos(3) }];
    let medium = Medium::given(vec![listener(1), listener(0)]);
    DcfMac::new(ChannelId(0), radio.rules, medium, |i, what: RandomStream| {
        Rng::stream(1, &format!("station/{i}/{}", what.name()))
    })
}

fn saturate(mut mac: DcfMac, depth: usize, size: u64) -> Delivered {
    let mut ctx = Context::new(0, None);
    let mut delivered = Delivered::default();
    // An ARP message stands for a datagram; the station that it asks for is its number.
    let fill = |mac: &mut DcfMac, ctx: &mut Context, sent: &mut u32| {
        while mac.stations[0].current.is_none() || mac.waiting(StationId(0)) < depth {
            let message = Message::Arp(ArpMessage::Request(StationId(*sent)));
            let content = Content::Message(mac.air.messages.insert(message));
            *sent += 1;
            let (to, since) = (Some(StationId(1)), ctx.now);
            mac.enqueue(
                ctx,
                StationId(0),
                MacRequest { content, to, size: Bytes(size), since, class: TrafficClass::Other },
            );
        }
    };
    ctx.schedule(Time::ZERO + Span::from_millis(1000 * SECONDS), Event::Stop);
    fill(&mut mac, &mut ctx, &mut delivered.sent);
    while let Some(Event::Radio { event, .. }) = ctx.next() {
        mac.on_event(&mut ctx, event);
        while let Some(indication) = mac.air.indications.pop_front() {
            if let MacIndication::Message { message, .. } = indication {
                let Message::Arp(ArpMessage::Request(number)) = mac.air.messages.get(message) else { unreachable!() };
                delivered.numbers.push(number.0);
                mac.air.messages.release(Content::Message(message));
            }
        }
        fill(&mut mac, &mut ctx, &mut delivered.sent);
    }
    delivered.counters = mac.counters(StationId(0));
    delivered
}

/// HtMcs7, 1500 B: PPDUs of 228, 1560 and 3080 us; AIFS 43 us and 7.5 slots before each, SIFS and an ACK of 28 us or a block
/// ACK of 32 us after it. The mean of 3,000 backoffs of 0 to 15 slots is within 0.2 % of a cycle of 1.7 ms.
#[test]
fn goodput_of_aggregates() {
    let phy = mac(r#"{"standard": "n"}"#, 1e-6).rules.phy;
    let psdu = |mpdus: u64| ends((0..mpdus).map(|_| Bytes(1500)), Bytes(38)).pop().unwrap();
    assert_eq!(phy.airtime(Bytes(1538), phy.data_rate), Span::from_micros(228));
    assert_eq!(phy.airtime(psdu(8), phy.data_rate), Span::from_micros(1560));
    assert_eq!(phy.airtime(psdu(16), phy.data_rate), Span::from_micros(3080));
    let single = r#"{"standard": "n", "aggregation": false}"#;
    for (radio, depth, expected) in
        [(single, 7, 30.787), (r#"{"standard": "n"}"#, 7, 54.820), (r#"{"standard": "n"}"#, 15, 58.180)]
    {
        let measured = saturate(mac(radio, 1e-6), depth, 1500).goodput_mbps();
        assert!((measured / expected - 1.0).abs() < 0.005, "{radio} {depth}: {measured} of {expected}");
    }
}

/// 64 MPDUs of 100 B; 28 of 1500 B last 5.360 ms, 29 would last 5.548 ms; 42 of 1500 B at most have 65535 B.
#[test]
fn limits_of_an_aggregate() {
    let mut longest = BTreeMap::new();
    for size in [100, 1500] {
        let mut mac = mac(r#"{"standard": "n"}"#, 1e-6);
        mac.rules.queue_limit = 200;
        mac.stations.iter_mut().for_each(|station| {
            station.queue = crate::radio::queue::StationQueue::new(200, crate::radio::queue::QueueOrder::Fifo, None)
        });
        let delivered = saturate(mac, 100, size);
        let per_ppdu = delivered.counters.data_frames as f64 / delivered.counters.airtime.as_secs_f64();
        longest.insert(size, per_ppdu * if size == 100 { 1168e-6 } else { 5360e-6 });
    }
    // 64 subframes of 144 B are 9214 B without the last padding: 36 + 4 ⌈73734/260⌉ us.
    assert!((longest[&100] - 64.0).abs() < 0.5 && (longest[&1500] - 28.0).abs() < 0.2, "{longest:?}");
}

/// Whatever is lost on the air, messages are passed up in order, once, and all but those given up.
#[test]
fn errors_do_not_reorder() {
    for (radio, power) in [
        (r#"{"standard": "n", "frame_error": 0.3, "rts_threshold": "0B"}"#, 1e-6),
        (r#"{"standard": "n", "frame_error": 0.1, "aggregation": false}"#, 1e-6),
        // An SINR of 21.5 dB, at which the 5/6 code loses a part of all MPDUs.
        (r#"{"standard": "n", "profile": "ns3", "data_rate": "65Mbps"}"#, 4.012e-13 * 199.5),
    ] {
        let delivered = saturate(mac(radio, power), 7, 1500);
        let Delivered { numbers, sent, counters } = &delivered;
        let repeated = counters.data_frames > numbers.len() as u64 + 100;
        assert!(numbers.len() > 1000 && repeated, "{radio}: {} {counters:?}", numbers.len());
        assert!(numbers.is_sorted() && numbers.windows(2).all(|two| two[0] != two[1]), "{radio}");
        let missing = u64::from(*sent) - numbers.len() as u64;
        assert!(missing <= counters.given_up + 64 + 8, "{radio}: {missing} missing, {counters:?}");
    }
}

/// Under a block ACK agreement MPDUs have no retry limit: half of all frames are in error, so that many an exchange fails
/// seven times in a row, and nothing is given up within 512 ms. In ns-3, an MPDU that goes alone is; without aggregates any.
#[test]
fn the_retry_limit_is_for_mpdus_without_block_acks() {
    let given_up = |radio, depth| saturate(mac(radio, 1e-6), depth, 1500).counters.given_up;
    assert_eq!(given_up(r#"{"standard": "n", "frame_error": 0.5}"#, 7), 0);
    assert_eq!(given_up(r#"{"standard": "n", "frame_error": 0.5}"#, 0), 0, "alone");
    assert!(given_up(r#"{"standard": "n", "frame_error": 0.5, "aggregation": false}"#, 0) > 10);
    assert!(given_up(r#"{"standard": "n", "profile": "ns3", "frame_error": 0.5}"#, 0) > 10);
}

/// What a neighbour that never answers does not take is given up when it is 512 ms old, not after seven attempts: an aggregate of
/// eight, then, as the block ACK request comes before anything else, one MPDU at a time. The others expire in the queue.
#[test]
fn a_silent_neighbour_ends_the_lifetime() {
    let delivered = saturate(mac(r#"{"standard": "n", "frame_error": 1.0}"#, 1e-6), 7, 1500);
    let counters = delivered.counters;
    let batches = 1000 * SECONDS / 512;
    assert_eq!(counters.given_up, 8 + batches - 1, "{counters:?}");
    assert!(counters.failures > 20 * batches, "{counters:?}");
}
