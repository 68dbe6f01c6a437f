use super::*;
use crate::options::{EcnHandshake, Scale};
use crate::settings::EcnMode;

const MSS: Bytes = Bytes(1000);
const WINDOW: Bytes = Bytes(100_000);
const RTT: Option<Span> = Some(Span::from_millis(10));
const PLAIN: InOrder = InOrder { filled_gap: false, fin: None, pushed: false, is_read: true, window_grew: false };
/// A FIN behind data that has been acknowledged.
const SMALL_FIN: FinAck = FinAck { unacknowledged: Bytes(1), segment: MSS, alone: false };
const GREW: InOrder = InOrder { window_grew: true, ..PLAIN };

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

fn rfc() -> AckPolicy {
    AckPolicy::new(DelayedAck::RFC, MSS, Span::from_millis(200))
}

fn linux() -> AckPolicy {
    let (timeout, compression) = (Span::from_millis(40), Span::from_millis(1));
    let (push, interactive) = (true, true);
    let policy = DelayedAck { segments: 2, timeout, quick: 16, first: false, compression, push, interactive };
    AckPolicy::new(policy, MSS, Span::from_millis(200))
}

/// Takes in-order segments, one a millisecond, until an ACK waits; gives how many were acknowledged at once.
fn quick_acks(acks: &mut AckPolicy, from: u64, arrived: InOrder) -> u32 {
    let mut count = 0;
    while acks.on_in_order(ms(from), arrived, || WINDOW, RTT) == AckTiming::Immediate {
        acks.on_ack_sent();
        count += 1;
    }
    count
}

#[test]
fn every_second_segment_is_acknowledged() {
    let mut acks = rfc();
    assert_eq!(acks.on_in_order(ms(1), PLAIN, || WINDOW, RTT), AckTiming::DelayedUntil(ms(201)));
    assert_eq!(acks.on_in_order(ms(2), GREW, || WINDOW, RTT), AckTiming::Immediate);
    acks.on_ack_sent();
    assert_eq!(
        acks.on_in_order(ms(3), InOrder { pushed: true, ..PLAIN }, || WINDOW, RTT),
        AckTiming::DelayedUntil(ms(203))
    );
    acks.on_ack_sent();
    for what in [InOrder { filled_gap: true, ..PLAIN }, InOrder { fin: Some(SMALL_FIN), ..PLAIN }] {
        assert_eq!(acks.on_in_order(ms(4), what, || WINDOW, RTT), AckTiming::Immediate);
        acks.on_ack_sent();
    }
    assert_eq!(acks.on_duplicate(WINDOW), AckTiming::Immediate);
    acks.on_ack_sent();
    assert_eq!(acks.on_in_order(ms(5), PLAIN, || WINDOW, RTT), AckTiming::DelayedUntil(ms(205)));
}

/// tcp_delack_max of Linux since 6.7.
#[test]
fn linux_delays_no_ack_as_long_as_a_time_out() {
    for (rto_min_ms, delay_ms) in [(200, 40), (41, 40), (10, 9), (1, 1)] {
        let mut acks = linux();
        acks.idle_threshold = Span::from_millis(rto_min_ms);
        let count = quick_acks(&mut acks, 1, PLAIN);
        assert!(count > 0);
        acks.on_ack_sent();
        assert_eq!(acks.on_in_order(ms(1), PLAIN, || WINDOW, None), AckTiming::DelayedUntil(ms(1 + delay_ms)));
    }
}

/// As ns-3.37 does: ACKs of one segment, then of two.
#[test]
fn the_first_segment_may_be_acknowledged_at_once() {
    let mut acks = rfc();
    acks.policy.first = true;
    let timings: Vec<AckTiming> = (1..=3)
        .map(|at| {
            let timing = acks.on_in_order(ms(at), PLAIN, || WINDOW, RTT);
            if timing == AckTiming::Immediate {
                acks.on_ack_sent();
            }
            timing
        })
        .collect();
    assert_eq!(timings, [AckTiming::Immediate, AckTiming::DelayedUntil(ms(202)), AckTiming::Immediate]);
}

#[test]
fn without_compression_every_duplicate_is_sent_at_once() {
    let mut acks = rfc();
    for _ in 0..100 {
        assert_eq!(acks.on_out_of_order(ms(1), false, RTT), AckTiming::Immediate);
        acks.on_ack_sent();
    }
}

#[test]
fn quick_acks_at_the_start_number_half_the_window() {
    assert_eq!(quick_acks(&mut linux(), 1, PLAIN), 16);
    let mut acks = linux();
    assert_eq!(acks.on_in_order(ms(1), PLAIN, || MSS * 10, RTT), AckTiming::Immediate);
    acks.on_ack_sent();
    assert_eq!(quick_acks(&mut acks, 1, PLAIN), 4);
}

#[test]
fn quick_acks_last_while_the_window_grows() {
    let mut acks = linux();
    for _ in 0..1000 {
        assert_eq!(acks.on_in_order(ms(1), GREW, || WINDOW, RTT), AckTiming::Immediate);
        acks.on_ack_sent();
    }
    assert_eq!(quick_acks(&mut acks, 1, PLAIN), 16);
    // A growth later on is good for one.
    acks.on_ack_sent();
    assert_eq!(acks.on_in_order(ms(1), GREW, || WINDOW, RTT), AckTiming::Immediate);
    acks.on_ack_sent();
    assert_eq!(quick_acks(&mut acks, 1, PLAIN), 0);
}

#[test]
fn a_connection_that_begins_beyond_a_gap_gets_no_quick_acks() {
    let mut acks = linux();
    acks.on_out_of_order(ms(1), true, RTT);
    acks.on_ack_sent();
    assert_eq!(quick_acks(&mut acks, 2, PLAIN), 0);
}

#[test]
fn quick_acks_come_back_after_a_duplicate_and_after_silence() {
    let mut acks = linux();
    quick_acks(&mut acks, 1, PLAIN);
    assert_eq!(acks.on_duplicate(WINDOW), AckTiming::Immediate);
    acks.on_ack_sent();
    assert_eq!(quick_acks(&mut acks, 1, PLAIN), 15);
    acks.on_ack_sent();
    assert_eq!(quick_acks(&mut acks, 211, PLAIN), 0);
    acks.on_ack_sent();
    assert_eq!(quick_acks(&mut acks, 422, PLAIN), 16);
}

#[test]
fn duplicates_after_the_third_wait_for_one_another() {
    let mut acks = linux();
    quick_acks(&mut acks, 1, PLAIN);
    acks.on_ack_sent();
    for _ in 0..3 {
        assert_eq!(acks.on_out_of_order(ms(2), false, RTT), AckTiming::Immediate);
        acks.on_ack_sent();
    }
    // A twentieth of 10 ms.
    for _ in 0..44 {
        assert_eq!(acks.on_out_of_order(ms(3), false, RTT), AckTiming::CompressedUntil(ms(3) + Span::from_micros(500)));
    }
    assert_eq!(acks.on_out_of_order(ms(3), false, RTT), AckTiming::Immediate);
    acks.on_ack_sent();
    let rtt = Some(Span::from_millis(100));
    assert_eq!(acks.on_out_of_order(ms(4), false, rtt), AckTiming::CompressedUntil(ms(5)));
    acks.on_ack_sent();
    // A gap that got shorter, and a peer without SACK.
    assert_eq!(acks.on_in_order(ms(5), InOrder { filled_gap: true, ..PLAIN }, || WINDOW, RTT), AckTiming::Immediate);
    acks.on_ack_sent();
    assert_eq!(acks.on_out_of_order(ms(6), false, RTT), AckTiming::Immediate);
    let (ecn, scale) = (EcnMode::Off, Scale::Unscaled);
    acks.agree(&Agreed { mss: MSS, sack: false, timestamps: false, ecn, ecn_handshake: EcnHandshake::None, scale });
    assert_eq!([1; 9].map(|_| acks.on_out_of_order(ms(7), false, RTT)), [AckTiming::Immediate; 9]);
}

#[test]
fn the_end_of_a_write_is_acknowledged_and_a_fin_waits() {
    let mut acks = linux();
    quick_acks(&mut acks, 1, PLAIN);
    acks.on_ack_sent();
    assert_eq!(acks.on_in_order(ms(2), InOrder { pushed: true, ..PLAIN }, || WINDOW, RTT), AckTiming::Immediate);
    acks.on_ack_sent();
    let mut fresh = linux();
    assert_eq!(fresh.on_in_order(ms(1), PLAIN, || WINDOW, RTT), AckTiming::Immediate);
    fresh.on_ack_sent();
    assert_eq!(
        fresh.on_in_order(ms(2), InOrder { fin: Some(SMALL_FIN), ..PLAIN }, || WINDOW, RTT),
        AckTiming::DelayedUntil(ms(42))
    );
}
