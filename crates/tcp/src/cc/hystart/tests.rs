//! Vectors computed apart from this code.

use super::*;
use crate::cc::config::CcConfig;
use crate::cc::parameters::Value;
use crate::cc::signals::RttSample;
use crate::seq::SeqNo;
use crate::units::Span;

const MSS: Bytes = Bytes(1460);

/// What `profile` of CUBIC has, with some parameters changed, in a round that began at time zero.
fn detector_of(profile: &str, changed: &[(&str, Value)], delay_min: u64) -> HyStart {
    let changed: Vec<_> = changed.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    let values = CcConfig::by_name("cubic", Some(profile), &changed).unwrap().values;
    let round = Round { end_seq: SeqNo(1_000_000), ..Round::default() };
    HyStart { form: Form::new(&values), paced: false, delay_min, found: false, round }
}

fn detector(delay_min: u64) -> HyStart {
    detector_of("linux", &[], delay_min)
}

/// Feeds one sample; true if slow start ended on it.
fn feed(hystart: &mut HyStart, now_us: u64, rtt_us: u64, segments: u64, snd_una: u64) -> bool {
    let rtt = Span::from_micros(rtt_us);
    let ack = Ack { acked: MSS, rtt: Some(RttSample { latest: rtt, oldest: rtt }), ..Ack::default() };
    let now = Time::from_nanos(now_us * 1_000);
    let view = View { now, mss: MSS, snd_una: SeqNo(snd_una), snd_nxt: SeqNo(2_000_000), ..View::default() };
    hystart.on_ack(&ack, &view, MSS * segments, true)
}

/// The number of the first of `count` samples that ends slow start; the ACKs come 10 ms apart, hence in no train.
fn exit_by_delay(hystart: &mut HyStart, rtt_us: u64, segments: u64, count: u64) -> Option<u64> {
    (1..=count).find(|i| feed(hystart, i * 10_000, rtt_us, segments, 1))
}

/// When the first of the ACKs that come `gap` apart ends slow start, in µs.
fn exit_by_train(hystart: &mut HyStart, rtt_us: u64, gap: u64) -> Option<u64> {
    (1..=100).map(|i| i * gap).find(|now| feed(hystart, *now, rtt_us, 20, 1))
}

#[test]
fn h1_delay_must_rise_above_an_eighth_on_the_ninth_sample() {
    assert_eq!(exit_by_delay(&mut detector(100_000), 112_400, 20, 40), None);
    assert_eq!(exit_by_delay(&mut detector(100_000), 112_500, 20, 40), None);
    assert_eq!(exit_by_delay(&mut detector(100_000), 112_600, 20, 40), Some(9));
}

#[test]
fn h2_the_rise_is_held_between_4_and_16_ms() {
    for (delay_min, threshold) in [(20, 24), (200, 216), (32, 36), (128, 144)] {
        let (delay_min, threshold) = (delay_min * 1_000, threshold * 1_000);
        assert_eq!(exit_by_delay(&mut detector(delay_min), threshold, 20, 40), None);
        assert_eq!(exit_by_delay(&mut detector(delay_min), threshold + 1, 20, 40), Some(9));
    }
}

#[test]
fn h3_a_gap_above_ack_delta_kills_the_train() {
    assert_eq!(exit_by_train(&mut detector(40_000), 40_000, 3_000), None);
    let mut broken = detector(40_000);
    assert!(!feed(&mut broken, 1_000, 40_000, 20, 1));
    assert!(!(4..60).any(|ms| feed(&mut broken, ms * 1_000, 40_000, 20, 1)));
}

#[test]
fn h4_a_train_ends_slow_start_after_half_the_delay_or_all_of_it_when_paced() {
    assert_eq!(exit_by_train(&mut detector(40_000), 40_000, 1_000), Some(21_000));
    let mut paced = HyStart { paced: true, ..detector(40_000) };
    assert_eq!(exit_by_train(&mut paced, 40_000, 1_000), Some(41_000));
}

#[test]
fn h5_never_below_the_low_window() {
    assert_eq!(exit_by_delay(&mut detector(40_000), 400_000, 15, 100), None);
    assert_eq!(exit_by_delay(&mut detector(40_000), 400_000, 16, 100), Some(9));
}

#[test]
fn a_round_begins_below_the_low_window_too() {
    let mut hystart = detector(40_000);
    feed(&mut hystart, 500_000, 40_000, 10, 1_000_001);
    assert_eq!((hystart.round.start, hystart.round.end_seq), (500_000, SeqNo(2_000_000)));
}

#[test]
fn found_once_until_a_time_out() {
    let mut hystart = detector(100_000);
    assert_eq!(exit_by_delay(&mut hystart, 200_000, 20, 40), Some(9));
    assert_eq!(exit_by_delay(&mut hystart, 200_000, 20, 40), None);
    hystart.reset(&View::default());
    assert_eq!((hystart.found, hystart.delay_min), (false, 0));
}

/// In ns-3 a train may take the whole delay and the RTT must double.
#[test]
fn ns3_waits_longer() {
    let ns3 = |delay_min| detector_of("ns3", &[], delay_min);
    assert_eq!(exit_by_train(&mut ns3(40_000), 40_000, 1_000), Some(41_000));
    for (delay_min, threshold) in [(2, 6), (100, 200), (2_000, 3_000)] {
        let (delay_min, threshold) = (delay_min * 1_000, threshold * 1_000);
        assert_eq!(exit_by_delay(&mut ns3(delay_min), threshold, 20, 40), None);
        assert_eq!(exit_by_delay(&mut ns3(delay_min), threshold + 1, 20, 40), Some(9));
    }
}

#[test]
fn a_clock_of_milliseconds_sees_less() {
    // Trains of ACKs 2.5 ms apart: two of three gaps look like 2 ms, but the first that looks like 3 ends the train.
    let mut netsim = detector_of("netsim", &[], 40_000);
    assert_eq!((1..=100).map(|i| i * 2_500).find(|now| feed(&mut netsim, *now, 40_000, 20, 1)), None);
    // Delays come in eighths of a millisecond: 112.6 is not above 112.5.
    let mut netsim = detector_of("netsim", &[], 100_000);
    assert_eq!(exit_by_delay(&mut netsim, 112_624, 20, 40), None);
    let mut netsim = detector_of("netsim", &[], 100_000);
    assert_eq!(exit_by_delay(&mut netsim, 112_625, 20, 40), Some(9));
}

#[test]
fn only_the_first_eight_samples_of_a_round_count_before_5_6() {
    for (first_samples, exit) in [(true, Some(9)), (false, None)] {
        let changed = [("hystart_first_samples", Value::Flag(first_samples))];
        let mut hystart = detector_of("linux", &changed, 100_000);
        let rtt = |i: u64| if i <= 8 { 150_000 } else { 100_000 };
        assert_eq!((1..=20).find(|i| feed(&mut hystart, i * 10_000, rtt(*i), 20, 1)), exit);
    }
}
