//! Vectors computed apart from this code, and each rule by itself.

use super::*;
use crate::cc::config::CcConfig;
use crate::cc::driver::{Driver, MSS};
use crate::cc::parameters::Value;

const STARTUP: f64 = 0.0;
const DRAIN: f64 = 1.0;
const PROBE_BW: f64 = 2.0;
const PROBE_RTT: f64 = 3.0;

/// A sender with `mss`, ten segments and no RTT yet.
fn fresh(mss: u64, seed: u64) -> Bbr {
    let config = CcConfig::by_name("bbr", None, &[]).expect("the default");
    let mss = Bytes(mss);
    Bbr::new(&config.values, &Setup { seed, ..Setup::plain(mss, mss * 10) })
}

/// A round in which `segments` arrived within 40 ms, at its first ACK.
fn round(bbr: &mut Driver, segments: u64) {
    let ack = bbr.sample(40, segments, true);
    bbr.pass(Span::from_millis(40));
    bbr.ack_with(&ack);
}

/// Three rounds without growth after one of `segments`.
fn fill(bbr: &mut Driver, segments: u64) {
    (0..4).for_each(|_| round(bbr, segments));
}

/// In the gain cycle with a bandwidth of 50 segments per 40 ms (10 Mbit/s), and nothing queued.
fn cruising(changed: &[(&str, Value)]) -> Driver {
    let mut bbr = Driver::new("bbr", "linux", changed, 10, None);
    bbr.view.pipe = MSS * 120;
    fill(&mut bbr, 50);
    bbr.view.pipe = MSS * 40;
    round(&mut bbr, 50);
    assert_eq!(bbr.internal("state"), PROBE_BW);
    bbr
}

#[test]
fn vectors_of_algorithms_8_14() {
    // 10 Mbit/s over 40 ms: 50,000 B = 34.25 segments of 1460 B; pace 12.5, 7.5 and 10 Mbit/s less one percent.
    let mut bbr = fresh(1460, 1);
    let bw = rate::of(856_164, 1_000_000_000);
    bbr.max_bw.update(bw as f64, 0, 10);
    bbr.min_rtt_us = Some(40_000);
    assert_eq!(bbr.bdp(bw, GAIN), 35);
    for (gain, mbps) in [(CYCLE[0], 12.5), (CYCLE[1], 7.5), (CYCLE[2], 10.0)] {
        let pace = bbr.pace_of(bw, gain) as f64 * 8e-6;
        // 856,164 segments in 1000 s is the rate to 2e-7; the kernel's unit is 1/14,364 of it.
        assert!((pace / (0.99 * mbps) - 1.0).abs() < 1e-4, "{pace}");
    }
    // IW 10 without an RTT: 2.885 x 10 MSS per millisecond, the gain being 739/256 and the margin one percent.
    let pace = fresh(1460, 1).pacing as f64;
    assert!((pace / (739.0 / 256.0 * 0.99 * 14_600.0 * 1000.0) - 1.0).abs() < 1e-6, "{pace}");
}

#[test]
fn the_start_doubles_until_three_rounds_bring_no_quarter_more() {
    let mut bbr = Driver::new("bbr", "linux", &[], 10, None);
    bbr.view.pipe = MSS * 120;
    for segments in [10, 20, 40, 49, 49] {
        round(&mut bbr, segments);
        assert_eq!(bbr.internal("state"), STARTUP, "{segments}");
    }
    // 49 < 1.25 x 40 twice, now the third time
    round(&mut bbr, 49);
    assert_eq!((bbr.internal("state"), bbr.internal("full_pipe")), (DRAIN, 1.0));
    assert!((bbr.internal("pacing_gain") - 88.0 / 256.0).abs() < 1e-9);
    // BDP 49, 3 bundles of two, even: 56 in flight end the drain
    bbr.view.pipe = MSS * 57;
    round(&mut bbr, 49);
    assert_eq!(bbr.internal("state"), DRAIN);
    bbr.view.pipe = MSS * 56;
    round(&mut bbr, 49);
    assert_eq!(bbr.internal("state"), PROBE_BW);
}

#[test]
fn a_cycle_never_begins_with_the_phase_that_drains() {
    let mut seen = [0; 8];
    for seed in 0..200 {
        let mut bbr = fresh(1000, seed);
        bbr.begin_probe_bw();
        seen[bbr.phase] += 1;
    }
    assert_eq!(seen[1], 0);
    assert!(seen.iter().filter(|count| **count > 0).count() == 7, "{seen:?}");
}

#[test]
fn phases_last_a_least_rtt_and_the_probe_until_it_is_in_flight() {
    let mut bbr = cruising(&[]);
    // BDP 50, gain 1.25: 63, three bundles of two make 69, even 70, and 2: 72
    while bbr.internal("phase") != 0.0 {
        round(&mut bbr, 50);
        round(&mut bbr, 50);
    }
    round(&mut bbr, 50);
    round(&mut bbr, 50);
    assert_eq!(bbr.internal("phase"), 0.0, "40 segments in flight are no probe");
    bbr.view.pipe = MSS * 72;
    round(&mut bbr, 50);
    assert_eq!((bbr.internal("phase"), bbr.internal("pacing_gain")), (1.0, 0.75));
    let ack = bbr.sample(40, 50, false);
    bbr.view.pipe = MSS * 56;
    bbr.pass(Span::from_millis(1));
    bbr.ack_with(&Ack { prior_pipe: MSS * 57, ..ack });
    assert_eq!(bbr.internal("phase"), 1.0);
    bbr.ack_with(&Ack { prior_pipe: MSS * 56, ..ack });
    assert_eq!(bbr.internal("phase"), 2.0, "drained before its time was up");
}

#[test]
fn the_window_dips_to_four_segments_when_the_least_rtt_is_old() {
    let mut bbr = cruising(&[]);
    // Ten seconds of longer RTTs.
    let mut ack = bbr.sample(60, 75, true);
    let before = bbr.cwnd();
    bbr.pass(Span::from_millis(10_001));
    bbr.ack_with(&ack);
    assert_eq!((bbr.internal("state"), bbr.cwnd()), (PROBE_RTT, 4.0));
    bbr.view.pipe = MSS * 4;
    ack = bbr.sample(40, 4, false);
    bbr.ack_with(&ack);
    // 200 ms and a round later all is as before; the low rates meanwhile do not count.
    bbr.pass(Span::from_millis(202));
    ack = bbr.sample(40, 4, true);
    bbr.ack_with(&ack);
    assert_eq!(bbr.internal("state"), PROBE_BW);
    assert!(bbr.cwnd() >= before, "{} of {before}", bbr.cwnd());
    assert!(bbr.internal("bw_bps") > 9.9e6);
}

#[test]
fn an_rtt_equal_to_the_minimum_does_not_renew_it() {
    let mut bbr = cruising(&[]);
    for _ in 0..2 {
        // 40 ms is the minimum of this path.
        let ack = bbr.sample(40, 50, true);
        bbr.ack_with(&ack);
        bbr.pass(Span::from_millis(6_000));
    }
    let ack = bbr.sample(40, 50, true);
    bbr.ack_with(&ack);
    assert_eq!((bbr.internal("state"), bbr.cwnd()), (PROBE_RTT, 4.0));
}

#[test]
fn recovery_conserves_packets_for_a_round_and_then_returns() {
    let mut bbr = cruising(&[]);
    bbr.view.pipe = MSS * 60;
    // BDP 50, gain 2, three bundles of two: 106, of which slow start has reached some
    (0..100).for_each(|_| {
        let ack = bbr.sample(40, 50, false);
        bbr.ack_with(&ack);
    });
    let before = bbr.cwnd();
    assert!(before >= 106.0, "{before}");
    bbr.congestion(Cause::Rack);
    bbr.view.pipe = MSS * 50;
    let ack = bbr.sample(40, 50, false);
    bbr.ack_with(&Ack { lost: MSS * 3, ..ack });
    assert_eq!(bbr.cwnd(), 51.0, "in flight and acknowledged");
    bbr.recovered();
    let ack = bbr.sample(40, 50, true);
    bbr.ack_with(&ack);
    assert_eq!(bbr.cwnd(), before + 1.0, "as before, and what this ACK adds");
}

#[test]
fn a_time_out_leaves_one_segment_and_its_end_restores_the_window() {
    let mut bbr = cruising(&[]);
    let before = bbr.cwnd();
    bbr.congestion(Cause::Timeout);
    assert_eq!(bbr.cwnd(), 1.0);
    bbr.recovered();
    let ack = bbr.sample(40, 50, true);
    bbr.ack_with(&ack);
    assert!(bbr.cwnd() >= before);
}

/// Four rounds of 10 segments each; the last loses `lost`.
fn suspect_interval(bbr: &mut Driver, lost: u64) {
    for _ in 0..4 {
        bbr.view.delivered += MSS * 9;
        round(bbr, 10);
    }
    bbr.view.lost_total += MSS * lost;
    let ack = bbr.sample(40, 10, false);
    bbr.ack_with(&Ack { lost: MSS * lost, ..ack });
}

#[test]
fn two_lossy_intervals_of_one_rate_mean_a_policer() {
    for (wanted, lost, policed) in [(true, 10, 1.0), (true, 5, 0.0), (false, 10, 0.0)] {
        let mut bbr = cruising(&[("policer", Value::Flag(wanted))]);
        (0..3).for_each(|_| suspect_interval(&mut bbr, lost));
        assert_eq!(bbr.internal("policed"), policed, "{wanted} {lost}");
        if policed == 1.0 {
            // 40 segments in 160 ms: 2 Mbit/s, for 48 rounds
            assert!((bbr.internal("bw_bps") / 2e6 - 1.0).abs() < 0.05, "{}", bbr.internal("bw_bps"));
            (0..48).for_each(|_| round(&mut bbr, 10));
            assert_eq!(bbr.internal("policed"), 0.0);
        }
    }
}

#[test]
fn after_silence_the_pace_is_the_bandwidth() {
    let mut bbr = cruising(&[]);
    while bbr.internal("pacing_gain") != 0.75 {
        bbr.view.pipe = MSS * 80;
        round(&mut bbr, 50);
    }
    bbr.view.app_limited = true;
    bbr.view.pipe = Bytes::ZERO;
    bbr.pass(Span::from_millis(12_000));
    bbr.cc.on_idle(Span::from_millis(12_000), &bbr.view);
    assert!((bbr.internal("pacing_bps") / 9.9e6 - 1.0).abs() < 1e-3);
    // The first ACK after it does not dip, although the minimum RTT is older than ten seconds.
    let ack = bbr.sample(50, 50, false);
    bbr.ack_with(&ack);
    assert_eq!(bbr.internal("state"), PROBE_BW);
}

#[test]
fn bundles_hold_a_millisecond_and_from_1_2_mbps_on_two_segments() {
    for (pacing, mss, bundle) in
        [(100_000, 1460, 1), (150_000, 1460, 2), (6_250_000, 1460, 4), (1_000_000_000, 1460, 44)]
    {
        let bbr = Bbr { pacing, ..fresh(mss, 1) };
        assert_eq!(bbr.bundle(), bundle, "{pacing}");
    }
}
