use super::super::driver::{Driver, near};
use super::*;
use crate::cc::signals::State;
use crate::seq::SeqNo;

/// W1, in the kernel's integers: bytes per ms, so 337 for 337.5 and 304 for 304.6875. Windows of
/// 100 ms, for which the RTT is 99 ms: a window is longer than the RTT.
#[test]
fn vector_w1() {
    let mut westwood = Driver::new("westwood", "linux", &[], 100, Some(1));
    westwood.view.srtt = Some(Span::from_millis(99));
    // The first ACK counts as a duplicate, and the 20 s of the start end with its RTT; the second opens a clean window.
    westwood.ack(1, Some(99.0));
    westwood.pass(Span::from_millis(1000));
    westwood.ack(30, Some(99.0));
    let first = westwood.internal("bandwidth_bps");
    assert!(near(first, 8e3), "1000 B in 1000 ms: {first}");
    let mut rates = BandwidthFilter { once: 0, twice: 0, since: 0, bytes: 30_000, una: None, ahead: 0 };
    rates.sample(100);
    assert_eq!((rates.once, rates.twice), (300, 300));
    rates.bytes = 60_000;
    rates.sample(200);
    assert_eq!((rates.once, rates.twice), (337, 304));
    // 304.69 kB/s x 0.1 s / 1460 B = 20.87: 20 segments
    assert_eq!(304 * 100 / 1460, 20);
}

#[test]
fn the_estimate_takes_over_when_recovery_ends() {
    let mut westwood = Driver::new("westwood", "linux", &[], 100, Some(1));
    westwood.view.may_grow = false;
    for _ in 0..200 {
        westwood.pass(Span::from_millis(99));
        westwood.ack(30, Some(100.0));
    }
    // 30 kB per 99 ms are 303 B/ms. Rounding down stalls each filter 7 B/ms short: 296, 289; x 100 ms = 28 segments.
    westwood.congestion(Cause::Sack);
    assert_eq!((westwood.cwnd(), westwood.ssthresh()), (50.0, 50.0), "Reno's half on the way down");
    westwood.recovered();
    assert_eq!((westwood.cwnd(), westwood.ssthresh()), (28.0, 28.0));
    westwood.congestion(Cause::Timeout);
    assert_eq!((westwood.cwnd(), westwood.ssthresh()), (1.0, 28.0));
    // The minimum RTT is learnt anew from the sample before the next ACK's.
    westwood.ack(1, Some(200.0));
    westwood.ack(1, Some(200.0));
    assert!(near(westwood.internal("base_rtt_s"), 0.1));
}

#[test]
fn duplicate_acks_count_a_segment_each_and_not_twice() {
    let mut rate = BandwidthFilter { once: 0, twice: 0, since: 0, bytes: 0, una: Some(SeqNo(1)), ahead: 0 };
    let mut view = View { mss: Bytes(1000), snd_una: SeqNo(1), state: State::Recovery, ..View::default() };
    (0..3).for_each(|_| rate.count(&view));
    assert_eq!((rate.bytes, rate.ahead), (3000, 3000));
    view.snd_una = SeqNo(5001);
    rate.count(&view);
    assert_eq!((rate.bytes, rate.ahead), (5000, 0));
}

/// W2: 8 Mb/s in each RTT.
#[test]
fn vector_w2() {
    let mut westwood = Driver::new("westwood", "ns3", &[], 100, Some(1));
    westwood.view.srtt = Some(Span::from_millis(100));
    for wanted in [0.4e6, 1.16e6, 1.844e6] {
        westwood.ack(100, None);
        let due = westwood.cc.next_timer().unwrap();
        assert_eq!(due.since(westwood.view.now), Span::from_millis(100));
        westwood.pass(Span::from_millis(100));
        westwood.cc.on_timer(&westwood.view);
        let estimate = westwood.internal("bandwidth_bps");
        assert!(near(estimate, wanted), "{estimate}");
    }
    westwood.view.min_rtt = Some(Span::from_millis(100));
    westwood.congestion(Cause::Sack);
    // 1.844 Mb/s x 0.1 s = 23.05 segments of 1000 B
    assert!((westwood.cwnd() - 23.05).abs() < 0.002, "{}", westwood.cwnd());
}
