use super::super::driver::{Driver, MSS};
use super::*;
use crate::cc::signals::{RateSample, RttSample};

/// A sender that has just begun, with `cwnd` segments and an ssthresh so low that slow start is over.
fn sender(cwnd: u64, ssthresh: Option<u64>) -> Driver {
    let mut nv = Driver::new("nv", "linux", &[], cwnd, ssthresh);
    nv.view.may_grow = false;
    nv
}

/// One segment is acknowledged after `rtt_ms`; `delivered` segments arrived since it left.
fn ack(nv: &mut Driver, delivered: u64, rtt_ms: u64) {
    let rtt = Span::from_millis(rtt_ms);
    let rate = RateSample {
        rate: None,
        delivered: MSS * delivered,
        prior_delivered: Bytes::ZERO,
        interval: rtt,
        sent_at: nv.view.now,
        tx_in_flight: MSS * delivered,
        lost: Bytes::ZERO,
        app_limited: false,
    };
    let rtt = Some(RttSample { latest: rtt, oldest: rtt });
    nv.view.snd_nxt = nv.view.snd_una + nv.cc.window().cwnd;
    nv.ack_with(&Ack { acked: MSS, acked_segments: 1, rtt, rate: Some(rate), ..Ack::default() });
}

/// A rate and minimum RTT that explain 30 segments, a window of 50: ssthresh 40, down by two.
#[test]
fn vector_of_algorithms_8_12() {
    let mut nv = sender(50, Some(2));
    let mut acks = 0;
    while nv.cwnd() == 50.0 {
        ack(&mut nv, 30, 100);
        acks += 1;
    }
    assert_eq!((nv.cwnd(), nv.ssthresh()), (48.0, 40.0));
    // Rounds end on the first ACK, and then on each that covers more than a window: 60 samples and two rounds are there
    // by the end of the third.
    assert_eq!(acks, 103);
    assert_eq!(nv.internal("may_grow"), 0.0);
}

#[test]
fn the_first_slow_start_ends_with_fewer_samples() {
    let mut nv = sender(20, None);
    for _ in 0..42 {
        assert_eq!(nv.cwnd(), 20.0);
        ack(&mut nv, 5, 100);
    }
    // 20 - (20 - 15) x 38 / 128 < 2
    ack(&mut nv, 5, 100);
    assert_eq!((nv.cwnd(), nv.ssthresh()), (18.0, 15.0));
}

#[test]
fn growth_comes_back_when_the_queue_is_short() {
    let mut nv = sender(30, Some(2));
    // After an episode nothing grows until a decision allows it.
    nv.congestion(Cause::Sack);
    assert_eq!(nv.cwnd(), 23.0, "30 x 819 / 1024");
    nv.recovered();
    ack(&mut nv, 23, 100);
    let mut acks = 0;
    while nv.cwnd() == 23.0 {
        ack(&mut nv, 23, 100);
        acks += 1;
    }
    // The first sample ends a round, the 25th another with more than 20: growth; then a window of 23 for one segment.
    assert_eq!((nv.cwnd(), acks), (24.0, 25 + 22));
}

#[test]
fn a_time_out_slows_growth_down() {
    let mut nv = sender(30, Some(2));
    nv.congestion(Cause::Timeout);
    assert_eq!((nv.cwnd(), nv.ssthresh()), (1.0, 23.0));
    nv.recovered();
    let acks_until = |nv: &mut Driver, cwnd: f64| {
        let mut acks = 0;
        while nv.cwnd() < cwnd {
            let delivered = nv.cwnd() as u64;
            ack(nv, delivered, 100);
            acks += 1;
        }
        acks
    };
    // Slow start as ever, once a decision has allowed it; then a window of 23 twice for one segment.
    acks_until(&mut nv, 23.0);
    assert_eq!(acks_until(&mut nv, 24.0), 46);
}

#[test]
fn the_least_rtt_is_forgotten() {
    let mut nv = sender(30, Some(2));
    ack(&mut nv, 30, 100);
    ack(&mut nv, 30, 100);
    assert_eq!(nv.internal("base_rtt_s"), 0.1);
    // The first reset after 2 s, the next 3.75 to 6.25 s later.
    for _ in 0..90 {
        nv.pass(Span::from_millis(100));
        ack(&mut nv, 30, 200);
    }
    assert!(nv.internal("base_rtt_s") > 0.19);
}
