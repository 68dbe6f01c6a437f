//! Vectors by hand from the rules of the study.

use super::*;
use crate::cc::driver::{Driver, near};
use crate::cc::signals::Cause;
use crate::cc::signals::RttSample;

const MSS: Bytes = Bytes(1460);

fn fr(profile: &str, changed: &[(&str, Value)]) -> Fr {
    let changed: Vec<_> = changed.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    let values = crate::cc::CcConfig::by_name("fr", Some(profile), &changed).unwrap().values;
    Fr::new(&values, &Setup::plain(MSS, MSS * 10))
}

/// A sender that has measured 8 Mb/s and 100 ms.
fn measured(profile: &str, changed: &[(&str, Value)]) -> Fr {
    Fr { bandwidth: 8e6, least_rtt: Some(Span::from_millis(100)), ..fr(profile, changed) }
}

fn at(micros: u64) -> View {
    View { now: Time::ZERO + Span::from_micros(micros), mss: MSS, may_grow: true, ..View::default() }
}

fn ack(bytes: u64) -> Ack {
    Ack { acked: Bytes(bytes), acked_segments: 1, ..Ack::default() }
}

fn lose(fr: &mut Fr, cause: Cause, flight: u64) {
    let event = Congestion {
        cause,
        state_before: crate::cc::State::Open,
        flight: Bytes(flight),
        first: true,
        again: false,
        loss_window: MSS,
        head: None,
    };
    fr.on_congestion(&event, &at(0));
}

#[test]
fn v1_a_loss_sets_ssthresh_to_what_the_path_holds() {
    for (profile, a, expected) in [("report", 1.0, 100_000), ("report", 2.0, 50_000), ("code", 1.0, 800_000)] {
        let changed = [("a", Value::Number(a))];
        let mut sender = measured(profile, &changed);
        lose(&mut sender, Cause::DupAck, 20_000);
        assert_eq!(sender.window(), Window { cwnd: Bytes(expected), ssthresh: Bytes(expected) });
        let mut sender = measured(profile, &changed);
        lose(&mut sender, Cause::Timeout, 20_000);
        assert_eq!(sender.window(), Window { cwnd: MSS, ssthresh: Bytes(expected) });
    }
}

#[test]
fn v2_the_estimate_rises_from_zero() {
    let mut sender = fr("report", &[]);
    let expected = [(1, 160.0), (2, 288.0), (5, 537.856), (10, 714.100_654), (20, 790.776_627)];
    for i in 1..=20 {
        sender.on_ack(&ack(1000), &at(i * 10_000));
        if let Some((_, kbps)) = expected.iter().find(|(count, _)| *count == i) {
            assert!(near(sender.bandwidth, kbps * 1e3), "after {i}: {}", sender.bandwidth);
        }
    }
}

#[test]
fn v3_gfr_goes_half_the_way_each_time() {
    let mut sender = measured("report", &[]);
    sender.window.ssthresh = Bytes(20_000);
    for (cwnd, ssthresh) in [(30_000, 60_000), (60_001, 80_000), (80_001, 90_000)] {
        sender.window.cwnd = Bytes(cwnd);
        sender.raise_ssthresh(Time::ZERO);
        assert_eq!((sender.window.ssthresh, sender.window.in_slow_start()), (Bytes(ssthresh), true));
    }
    // Above what the path holds, and in slow start, it does nothing.
    for (cwnd, ssthresh) in [(100_000, 20_000), (30_000, 30_000)] {
        sender.window = Window { cwnd: Bytes(cwnd), ssthresh: Bytes(ssthresh) };
        sender.raise_ssthresh(Time::ZERO);
        assert_eq!(sender.window.ssthresh, Bytes(ssthresh));
    }
}

#[test]
fn v4_before_the_first_measurement_half_of_the_flight() {
    let mut sender = fr("report", &[]);
    lose(&mut sender, Cause::DupAck, 20_000);
    assert_eq!(sender.window(), Window { cwnd: Bytes(10_000), ssthresh: Bytes(10_000) });
    lose(&mut sender, Cause::DupAck, 100);
    assert_eq!(sender.window().ssthresh, MSS * 2);
}

#[test]
fn ssthresh_has_a_floor() {
    for (profile, floor) in [("report", MSS * 2), ("code", MSS)] {
        let mut sender = fr(profile, &[]);
        lose(&mut sender, Cause::DupAck, 100);
        assert_eq!(sender.window(), Window { cwnd: floor, ssthresh: floor });
    }
}

/// A weakness of the estimate, which the test documents.
#[test]
fn v5_compressed_acks_are_taken_for_bandwidth() {
    let mut sender = Fr { bandwidth: 5e6, ..fr("report", &[]) };
    (1..=10).for_each(|i| sender.on_ack(&ack(1460), &at(i * 100)));
    assert!((sender.bandwidth / 104.795e6 - 1.0).abs() < 1e-5, "{}", sender.bandwidth);
}

#[test]
fn acks_at_one_instant_are_one_sample() {
    let mut sender = fr("report", &[]);
    sender.on_ack(&ack(1000), &at(10_000));
    sender.on_ack(&ack(500), &at(10_000));
    sender.on_ack(&ack(500), &at(20_000));
    assert!(near(sender.bandwidth, 288e3), "{}", sender.bandwidth);
}

#[test]
fn quirks_of_counting() {
    // 160 kb/s from 1000 B in 10 ms; a segment of 1460 B whatever the ACK covers; the clock from zero.
    for (flag, expected) in [("one_segment_per_ack", 0.2 * 1460.0 * 800.0), ("bits_as_bytes", 160e3)] {
        let mut sender = fr("report", &[(flag, Value::Flag(true))]);
        sender.on_ack(&ack(1000), &at(10_000));
        assert!(near(sender.bandwidth, expected), "{flag}: {}", sender.bandwidth);
    }
    for (from_zero, expected) in [(false, 160e3), (true, 160e3 / 101.0)] {
        let mut sender = Driver::new("fr", "report", &[("clock_from_zero", Value::Flag(from_zero))], 10, None);
        sender.pass(Span::from_millis(10));
        sender.ack(1, None);
        assert!(near(sender.internal("bandwidth_bps"), expected), "{}", sender.internal("bandwidth_bps"));
    }
}

#[test]
fn duplicate_acks_count_once_where_they_count() {
    for (count, expected) in [(false, 160e3), (true, 288e3)] {
        let mut sender = fr("report", &[("count_dupacks", Value::Flag(count)), ("alpha", Value::Number(0.8))]);
        sender.on_ack(&Ack { duplicate: 1, ..Ack::default() }, &View { mss: Bytes(1000), ..at(10_000) });
        sender.on_ack(&ack(2000), &View { mss: Bytes(1000), ..at(20_000) });
        assert!(near(sender.bandwidth, expected), "{count}: {}", sender.bandwidth);
    }
}

#[test]
fn gfr_takes_the_place_of_linear_growth_or_adds_to_it() {
    let rtt = Span::from_millis(100);
    let news = Ack { rtt: Some(RttSample { latest: rtt, oldest: rtt }), ..ack(1460) };
    for (no_linear_growth, grown) in [(false, 1460 / 100), (true, 0)] {
        let mut sender = measured("report", &[("no_linear_growth", Value::Flag(no_linear_growth))]);
        sender.window = Window { cwnd: MSS * 100, ssthresh: MSS * 10 };
        sender.on_ack(&news, &at(1_460));
        assert_eq!(sender.window(), Window { cwnd: MSS * 100 + Bytes(grown), ssthresh: MSS * 10 });
    }
}

#[test]
fn the_papers_gfr_waits_half_a_second() {
    let mut sender = measured("paper", &[]);
    sender.window = Window { cwnd: Bytes(30_000), ssthresh: Bytes(20_000) };
    sender.raise_ssthresh(Time::ZERO + Span::from_millis(499));
    assert_eq!(sender.window.ssthresh, Bytes(20_000));
    sender.raise_ssthresh(Time::ZERO + Span::from_millis(500));
    assert_eq!(sender.window.ssthresh, Bytes(60_000));
}
