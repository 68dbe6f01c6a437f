//! Vectors by hand from Liu, Basar, Srikant 2008, in real numbers and in the kernel's, and the rules around them.

use super::super::driver::{Driver, near};
use super::*;
use crate::cc::signals::RttSample;

/// Congestion avoidance at `cwnd` with RTTs seen from 100 to 200 ms, at the beginning of a round.
fn illinois(profile: &str, cwnd: u64) -> Driver {
    let mut illinois = Driver::new("illinois", profile, &[], cwnd, Some(2));
    round(&mut illinois, &[100.0, 200.0]);
    illinois
}

/// A round with these RTT samples in milliseconds, without growth.
fn round(illinois: &mut Driver, rtts: &[f64]) {
    illinois.view.may_grow = false;
    for (i, ms) in rtts.iter().enumerate() {
        let nxt = illinois.view.snd_nxt;
        if i + 1 == rtts.len() {
            (illinois.view.snd_una, illinois.view.snd_nxt) = (nxt + Bytes(1), nxt + Bytes(2));
        }
        let rtt = Span::from_secs_f64(ms / 1e3);
        let rtt = Some(RttSample { latest: rtt, oldest: rtt });
        illinois.cc.on_ack(&Ack { cumulative_segments: 1, rtt, ..Ack::default() }, &illinois.view);
    }
    illinois.view.may_grow = true;
}

#[test]
fn vectors_of_algorithms_8_5() {
    for (delay, alpha, beta) in
        [(0.5, 10.0, 0.125), (10.0, 2.538_462, 0.125), (45.0, 0.650_602, 0.3125), (90.0, 0.332_587, 0.5)]
    {
        let mut illinois = illinois("paper", 100);
        let rounds = if delay < 1.0 { 5 } else { 1 };
        (0..rounds).for_each(|_| round(&mut illinois, &[100.0 + delay]));
        assert!(near(illinois.internal("alpha"), alpha), "{delay}: {}", illinois.internal("alpha"));
        assert!(near(illinois.internal("beta"), beta), "{delay}: {}", illinois.internal("beta"));
    }
    let mut illinois = illinois("paper", 100);
    round(&mut illinois, &[110.0]);
    illinois.congestion(Cause::Rack);
    assert_eq!((illinois.cwnd(), illinois.ssthresh()), (87.5, 87.5));
}

/// The kernel's numbers: alpha_min is 38/128, so d_a = 10 ms gives 99 * 1280 / (99 + 9 * 1242 / 38) = 322 in 1/128, and the
/// other two 82 and 42; d_a = 45 ms a beta of 20/64.
#[test]
fn linux_has_128ths_and_64ths() {
    for (delay, alpha, beta) in [(10.0, 322.0, 8.0), (45.0, 82.0, 20.0), (90.0, 42.0, 32.0)] {
        let mut illinois = illinois("linux", 100);
        round(&mut illinois, &[100.0 + delay]);
        assert_eq!((illinois.internal("alpha") * 128.0, illinois.internal("beta") * 64.0), (alpha, beta), "{delay}");
    }
    // A loss at W = 100 with beta = 8/64 costs 12 whole segments; with the bug of 2.6.22 it leaves them.
    for (profile, left) in [("linux", 88.0), ("linux26", 12.0)] {
        let mut illinois = illinois(profile, 100);
        round(&mut illinois, &[110.0]);
        illinois.congestion(Cause::Rack);
        assert_eq!(illinois.cwnd(), left, "{profile}");
    }
}

#[test]
fn below_fifteen_segments_it_is_reno() {
    let mut illinois = illinois("linux", 14);
    round(&mut illinois, &[100.0]);
    assert_eq!((illinois.internal("alpha"), illinois.internal("beta")), (1.0, 0.5));
    illinois.ack(13, None);
    assert_eq!(illinois.cwnd(), 14.0);
    illinois.ack(1, None);
    assert_eq!(illinois.cwnd(), 15.0);
}

#[test]
fn alpha_stays_for_four_good_rounds_after_a_bad_one() {
    let mut illinois = illinois("linux", 100);
    round(&mut illinois, &[145.0]);
    let low = illinois.internal("alpha");
    for _ in 0..4 {
        round(&mut illinois, &[100.0]);
        assert_eq!(illinois.internal("alpha"), low);
    }
    round(&mut illinois, &[100.0]);
    assert_eq!(illinois.internal("alpha"), 10.0);
}

#[test]
fn alpha_segments_per_window_of_acknowledged_segments() {
    // alpha = 10 at W = 100: ten acknowledged segments add one, and what an ACK brings beyond that is lost.
    let mut illinois = Driver::new("illinois", "linux", &[], 100, Some(2));
    illinois.ack(9, Some(100.0));
    assert_eq!(illinois.cwnd(), 100.0);
    illinois.ack(10, Some(100.0));
    assert_eq!(illinois.cwnd(), 101.0);
    illinois.ack(9, Some(100.0));
    assert_eq!(illinois.cwnd(), 101.0);
}

#[test]
fn a_time_out_makes_it_reno_after_the_cut() {
    let mut illinois = illinois("linux", 100);
    round(&mut illinois, &[110.0]);
    illinois.congestion(Cause::Timeout);
    assert_eq!((illinois.cwnd(), illinois.ssthresh()), (1.0, 88.0));
    assert_eq!((illinois.internal("alpha"), illinois.internal("beta")), (1.0, 0.5));
}
