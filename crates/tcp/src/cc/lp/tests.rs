use super::super::driver::{Driver, MSS};
use super::*;
use crate::cc::signals::{RttSample, State};

/// One segment is acknowledged; RTT 100 ms.
fn ack(lp: &mut Driver, one_way_ms: u64) {
    let rtt = Span::from_millis(100);
    let one_way = Some(Span::from_millis(one_way_ms));
    let rtt = Some(RttSample { latest: rtt, oldest: rtt });
    lp.ack_with(&Ack { acked: MSS, acked_segments: 1, cumulative_segments: 1, rtt, one_way, ..Ack::default() });
}

/// Delays from 50 to 150 ms have been seen, twice so that the maximum counts, and the mean is back at 50.
fn with_range(profile: &str, changed: &[(&str, Value)]) -> Driver {
    let mut lp = Driver::new("lp", profile, changed, 40, Some(2));
    lp.view.may_grow = false;
    for delay in [50, 150] {
        lp.view.state = State::Recovery;
        ack(&mut lp, delay);
        ack(&mut lp, delay);
    }
    (0..60).for_each(|_| ack(&mut lp, 50));
    lp.view.state = State::Open;
    lp.pass(Span::from_millis(1000));
    lp
}

/// Threshold 65 ms; 66 ms halve 40 segments, two RTTs later one is left.
#[test]
fn vector_of_algorithms_8_9() {
    let mut lp = with_range("paper", &[]);
    assert_eq!(lp.internal("threshold_s"), 0.065);
    for _ in 0..40 {
        ack(&mut lp, 65);
    }
    assert_eq!(lp.cwnd(), 40.0, "at the threshold");
    while lp.internal("one_way_s") < 0.066 {
        assert_eq!(lp.cwnd(), 40.0);
        ack(&mut lp, 74);
    }
    assert_eq!((lp.cwnd(), lp.ssthresh()), (20.0, 2.0));
    lp.pass(Span::from_millis(200));
    ack(&mut lp, 74);
    assert_eq!((lp.cwnd(), lp.internal("inferring")), (1.0, 1.0));
}

#[test]
fn nothing_grows_within_the_inference_time() {
    let mut lp = with_range("ns3", &[("pauses_slow_start", Value::Flag(true))]);
    while lp.cwnd() > 20.0 {
        ack(&mut lp, 80);
    }
    // The extremes are new: the least is the mean, the maximum twice that, so 80 ms are within.
    lp.view.may_grow = true;
    for (pause, grows) in [(200, false), (99, false), (2, true)] {
        lp.pass(Span::from_millis(pause));
        let before = lp.cwnd();
        (0..21).for_each(|_| ack(&mut lp, 66));
        assert_eq!(lp.cwnd() > before, grows, "{pause} ms on");
    }
}

#[test]
fn a_clock_far_ahead_hides_every_queue() {
    let mut lp = Driver::new("lp", "linux", &[], 40, Some(2));
    lp.view.may_grow = false;
    for delay in (50..500).chain((50..500).rev()) {
        ack(&mut lp, delay);
        assert_eq!(lp.cwnd(), 40.0);
    }
    let mut lp = Driver::new("lp", "linux", &[("clock_offset", Value::Number(0.0))], 40, Some(2));
    lp.view.may_grow = false;
    (50..500).for_each(|delay| ack(&mut lp, delay));
    assert!(lp.cwnd() < 40.0);
}

/// While a hole is open for 300 ms, duplicates echo what came before it.
#[test]
fn a_hole_does_not_widen_the_range_of_delays() {
    for (old_echoes, threshold_s) in [(false, 0.065), (true, 0.095)] {
        let mut lp = with_range("paper", &[("old_echoes", Value::Flag(old_echoes))]);
        let rtt = Some(RttSample { latest: Span::from_millis(100), oldest: Span::from_millis(100) });
        for one_way in [Span::from_millis(350), Span::from_millis(351)] {
            lp.ack_with(&Ack { acked: MSS, acked_segments: 1, rtt, one_way: Some(one_way), ..Ack::default() });
        }
        assert_eq!(lp.internal("threshold_s"), threshold_s);
    }
}
