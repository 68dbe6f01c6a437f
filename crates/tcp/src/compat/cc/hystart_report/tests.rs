//! Vectors computed apart from this code.

use super::*;
use crate::cc::driver::Driver;
use crate::cc::parameters::Value;
use crate::cc::signals::RttSample;
use crate::units::{Bytes, Time};

const MSS: Bytes = Bytes(1460);

/// The detector with some parameters changed, in a round that began at time zero.
fn detector(changed: &[(&str, Value)], delay_min: u64) -> Detector {
    let changed: Vec<_> = changed.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    let values = CcConfig::of(&HYSTART_REPORT, None, &changed).unwrap().values;
    let round = Round { end_seq: SeqNo(1_000_000), ..Round::default() };
    Detector { delay_min, round, ..Detector::new(&values, &Setup::plain(MSS, MSS)) }
}

/// Feeds one sample; true if slow start ended on it.
fn feed(detector: &mut Detector, now_us: u64, rtt_us: u64, snd_una: u64) -> bool {
    let rtt = Span::from_micros(rtt_us);
    let ack = Ack { acked: MSS, rtt: Some(RttSample { latest: rtt, oldest: rtt }), ..Ack::default() };
    let now = Time::from_nanos(now_us * 1_000);
    let view = View { now, mss: MSS, snd_una: SeqNo(snd_una), snd_nxt: SeqNo(2_000_000), ..View::default() };
    detector.on_ack(&ack, &view, true, true)
}

/// 4 ms are no gap: the seventh ACK is beyond half of the delay.
#[test]
fn acks_3_ms_apart_are_a_train() {
    let mut detector = detector(&[], 40_000);
    let exit = (1..=100).map(|i| i * 3_000).find(|now| feed(&mut detector, *now, 40_000, 1));
    assert_eq!((exit, detector.exits), (Some(21_000), (1, 0)));
}

#[test]
fn the_round_that_is_never_measured_ends_slow_start_on_the_ninth_sample() {
    for (bug, exit) in [(true, Some(9)), (false, None)] {
        let mut detector = detector(&[("curr_rtt_bug", Value::Flag(bug))], 100_000);
        assert_eq!((1..=40).find(|i| feed(&mut detector, i * 10_000, 100_000, 1)), exit);
    }
}

/// Nine samples in all; the first one begins the round.
#[test]
fn the_ack_that_closes_a_round_gives_no_sample() {
    for (skip, exit) in [(false, Some(9)), (true, Some(10))] {
        let mut detector = detector(&[("hystart_skip_first", Value::Flag(skip))], 100_000);
        let first = |i| if i == 1 { 1_000_001 } else { 1_000_002 };
        assert_eq!((1..=20).find(|i| feed(&mut detector, i * 10_000, 150_000, first(*i))), exit);
    }
}

#[test]
fn mixed_units_make_any_train_long() {
    // 100 ms are 800 eighths, read as 800 us: half of that is over at the first ACK after 0.4 ms.
    for (unit_mix, exit) in [(true, Some(500)), (false, Some(50_500))] {
        let mut detector = detector(&[("unit_mix", Value::Flag(unit_mix))], 100_000);
        assert_eq!((1..=200).map(|i| i * 500).find(|now| feed(&mut detector, *now, 100_000, 1)), exit);
    }
}

/// The report looks for an exit from W = 2 on, and W = ssthresh is slow start still.
#[test]
fn slow_start_ends_at_a_small_window() {
    let mut sender = Driver::new("hystart_report", "report", &[], 2, None);
    sender.ack(1, Some(100.0));
    for _ in 0..20 {
        sender.pass(Span::from_millis(10));
        sender.view.snd_una = SeqNo(2);
        sender.ack(1, Some(150.0));
    }
    // The first ACK began the round and is no sample of it; the ninth after it finds 2 + 1 + 8 segments. W = ssthresh is
    // slow start still, so there is one more.
    assert_eq!((sender.ssthresh(), sender.cwnd()), (11.0, 12.0));
}

/// An end at W = ssthresh changes neither, and counts as any other; after a time-out there may be another.
#[test]
fn ends_are_counted_by_their_reason() {
    let mut detector = detector(&[("curr_rtt_bug", Value::Flag(true))], 100_000);
    for round in 1..=2 {
        assert!((1..=9).any(|i| feed(&mut detector, round * 1_000_000 + i * 10_000, 100_000, 1)));
        assert_eq!(detector.exits, (0, round as u32));
        assert!(!feed(&mut detector, round * 1_000_000 + 100_000, 100_000, 1));
        detector.reset();
        detector.round.samples = 0;
    }
}

/// The committed module resets no round at a time-out: the next ACK that passes the old one begins one, and a pair ends slow start.
#[test]
fn a_time_out_leaves_the_round() {
    let mut detector = detector(&[("unit_mix", Value::Flag(true))], 100_000);
    detector.reset();
    assert!(!feed(&mut detector, 5_000_000, 100_000, 1_000_001));
    assert!(feed(&mut detector, 5_002_000, 100_000, 1_000_002));
}

/// In the first second of a run no delay is sampled, so that any two ACKs that follow each other closely are a long train.
#[test]
fn an_end_is_looked_for_before_the_first_sample() {
    let mut detector = detector(&[], 0);
    let rtt = Span::from_millis(100);
    let ack = Ack { acked: MSS, rtt: Some(RttSample { latest: rtt, oldest: rtt }), ..Ack::default() };
    let at = |ms: u64, una| View {
        now: Time::from_nanos(ms * 1_000_000),
        snd_una: SeqNo(una),
        snd_nxt: SeqNo(2_000_000),
        ..View::default()
    };
    assert!(!detector.on_ack(&ack, &at(400, 1_000_001), true, false));
    assert!(detector.on_ack(&ack, &at(402, 1_000_002), true, false));
    assert_eq!((detector.delay_min, detector.exits), (0, (1, 0)));
}
