use super::super::driver::{Driver, MSS, near};
use super::*;
use crate::cc::algorithm::Setup;
use crate::cc::controller::CongestionControl;
use crate::cc::signals::{Ack, Cause, Congestion, Head, RttSample, Sent, View};
use crate::seq::SeqNo;
use crate::units::Bytes;
use crate::units::{Span, Time};

/// An ACK of one segment; as much leaves after it.
fn ack(driver: &mut Driver, rtt_ms: Option<f64>) {
    let rtt = rtt_ms.map(|ms| Span::from_secs_f64(ms / 1e3));
    let ack = Ack {
        acked: MSS,
        acked_segments: 1,
        cumulative_segments: 1,
        rtt: rtt.map(|rtt| RttSample { latest: rtt, oldest: rtt }),
        ..Ack::default()
    };
    driver.view.snd_una += MSS;
    driver.cc.on_ack(&ack, &driver.view);
    driver.view.snd_nxt += MSS;
}

/// A native sender with a window of 20 in congestion avoidance, a base RTT of 100 ms, and the backlog it decides on when a
/// round of 20 ACKs has shown `rtt_ms`.
fn native_after_round(rtt_ms: f64) -> (Driver, f64) {
    let mut driver = Driver::new("vegas", "ns2", &[], 20, Some(2));
    // What is outstanding before the ACK's own segment leaves: F of the specification is one more.
    driver.view.pipe = MSS * 19;
    ack(&mut driver, Some(100.0));
    (0..19).for_each(|_| ack(&mut driver, Some(rtt_ms)));
    // The round's first sample was the base RTT's; a round of equal samples follows.
    ack(&mut driver, Some(rtt_ms));
    (0..19).for_each(|_| ack(&mut driver, Some(rtt_ms)));
    let before = driver.cwnd();
    ack(&mut driver, Some(rtt_ms));
    (driver, before)
}

/// ns-2.35's Vegas: base 0.1 s, W = F = N = 20.
#[test]
fn native_vectors_of_algorithms_5_1() {
    for (rtt_ms, delta) in [(102.0, 0.0), (105.0, 1.0), (110.0, 2.0), (118.0, 3.0), (130.0, 5.0)] {
        let (mut driver, before) = native_after_round(rtt_ms);
        let backlog = 20.0 * (1.0 - 100.0 / rtt_ms);
        assert!(near(driver.internal("backlog"), backlog), "{rtt_ms}: {}", driver.internal("backlog"));
        assert_eq!(libm::trunc(backlog + 0.5), delta);
        let after = driver.cwnd();
        match delta {
            d if d > 3.0 => assert_eq!(after, before - 1.0, "{rtt_ms}"),
            d if d < 1.0 => assert!(near(driver.internal("increment"), 1.0 / before), "{rtt_ms}"),
            _ => assert!(after == before && driver.internal("increment") == 0.0, "{rtt_ms}"),
        }
    }
}

/// ns-2.35: v_timeout = 17/16 (mean + 2 deviations) after an estimator started with sa = 8v, sd = v.
#[test]
fn native_fine_timeout() {
    let mut vegas = Native::new(Bounds { alpha: 1.0, beta: 3.0, gamma: 1.0 }, &setup(Some(100)));
    // The SYN's sample leaves three quarters of the first deviation: (0.2 + 0.075) / 2 17/16.
    assert!(near(vegas.timeout, 0.14609375), "{}", vegas.timeout);
    vegas.sample(0.12);
    // sa = 0.82, sd = 0.075 + 0.02 - 0.01875
    assert!(near(vegas.timeout, (0.205 + 0.07625) / 2.0 * 17.0 / 16.0), "{}", vegas.timeout);
    assert_eq!(Native::new(Bounds { alpha: 1.0, beta: 3.0, gamma: 1.0 }, &setup(None)).timeout, 1000.0);
}

fn setup(handshake_ms: Option<u64>) -> Setup {
    Setup {
        now: Time::ZERO + Span::from_millis(1000),
        initial_ssthresh: MSS * 20,
        handshake_rtt: handshake_ms.map(Span::from_millis),
        ..Setup::plain(MSS, MSS * 2)
    }
}

/// Slow start adds one per ACK every other round trip, not in the
/// first.
#[test]
fn native_slow_start_doubles_every_other_round() {
    let mut vegas = Native::new(Bounds { alpha: 1.0, beta: 3.0, gamma: 1.0 }, &setup(Some(100)));
    let now = Time::ZERO + Span::from_millis(1100);
    let mut view = View {
        now,
        mss: MSS,
        snd_una: SeqNo::FIRST_DATA,
        snd_nxt: SeqNo::FIRST_DATA,
        rwnd: MSS * 1000,
        ..View::default()
    };
    let rtt = Span::from_millis(100);
    let sample = Some(RttSample { latest: rtt, oldest: rtt });
    let one = Ack { acked: MSS, acked_segments: 1, cumulative_segments: 1, rtt: sample, ..Ack::default() };
    let mut windows = Vec::new();
    for _ in 0..6 {
        let window = MSS * libm::floor(vegas.w) as u64;
        view.pipe = window;
        for _ in 0..window.segments(MSS) {
            view.snd_una += MSS;
            view.pipe -= MSS;
            vegas.on_ack(&one, &view);
            // What the window lets go leaves at once.
            view.pipe = MSS * libm::floor(vegas.w) as u64;
        }
        windows.push(vegas.w);
    }
    assert_eq!(windows, [2.0, 4.0, 4.0, 8.0, 8.0, 16.0]);
}

fn loss(driver: &mut Driver, cause: Cause, transmissions: u32, first: bool) {
    let sent_at = Time::ZERO + Span::from_millis(900);
    let head = Some(Head { sent_at, transmissions });
    let (state_before, flight) = (driver.view.state, driver.view.flight);
    let event = Congestion { cause, state_before, flight, first, again: false, loss_window: MSS, head };
    driver.cc.on_congestion(&event, &driver.view);
}

fn duplicate(driver: &mut Driver, count: u32) {
    driver.cc.on_ack(&Ack { duplicate: count, ..Ack::default() }, &driver.view);
}

/// Duplicate ACKs in ns-2.35: 20 becomes 15 and the duplicates counted; each further one adds one; new data
/// deflates and leaves ssthresh 2.
#[test]
fn native_takes_a_quarter_off_and_inflates() {
    let mut driver = Driver::new("vegas", "ns2", &[], 20, Some(20));
    driver.view.pipe = MSS * 19;
    duplicate(&mut driver, 1);
    duplicate(&mut driver, 2);
    loss(&mut driver, Cause::DupAck, 1, true);
    duplicate(&mut driver, 3);
    assert_eq!(driver.cwnd(), 18.0);
    duplicate(&mut driver, 4);
    duplicate(&mut driver, 5);
    assert_eq!(driver.cwnd(), 20.0);
    // The window has changed since the head was sent: another expiry leaves it alone and doubles the fine time-out.
    let timeout = driver.internal("head_timeout_s");
    loss(&mut driver, Cause::HeadTimeout, 2, true);
    assert_eq!(driver.cwnd(), 20.0);
    assert!(driver.internal("head_timeout_s") >= timeout);
    ack(&mut driver, None);
    assert_eq!((driver.cwnd(), driver.ssthresh()), (15.0, 2.0));
}

/// The receiver's window is ns-2's window_: the cut is taken from the smaller of the two.
#[test]
fn native_cuts_what_can_be_used() {
    for (rwnd, transmissions, left) in [(100, 1, 30.0), (20, 1, 15.0), (20, 2, 10.0), (3, 1, 2.0)] {
        let mut driver = Driver::new("vegas", "ns2", &[], 40, Some(2));
        driver.view.rwnd = MSS * rwnd;
        loss(&mut driver, Cause::HeadTimeout, transmissions, true);
        assert_eq!(driver.cwnd(), left + 1.0, "window_ {rwnd}, sent {transmissions} times");
    }
}

/// ns-2.35: after a time-out ssthresh = W/2, W = 2; looking again after a retransmission changes no window.
#[test]
fn native_time_out_and_second_look() {
    let mut driver = Driver::new("vegas", "ns2", &[], 15, Some(20));
    loss(&mut driver, Cause::HeadTimeout, 1, false);
    assert_eq!(driver.cwnd(), 15.0);
    driver.congestion(Cause::Timeout);
    assert_eq!((driver.cwnd(), driver.ssthresh()), (2.0, 7.0));
}

/// A time-out comes without an ACK: a duplicate after it inflates the window as any other.
#[test]
fn native_duplicates_after_a_time_out_inflate() {
    let mut driver = Driver::new("vegas", "ns2", &[], 15, Some(20));
    driver.congestion(Cause::Timeout);
    duplicate(&mut driver, 4);
    assert_eq!(driver.cwnd(), 3.0);
}

/// A sender whose base RTT is 100 ms and whose last round of 20 segments is one ACK from its end, having shown `rtt_ms`; as the
/// kernel counts them, one µs more than measured. The ACKs acknowledge nothing, so that slow start does not grow.
fn round_almost_over(profile: &str, rtt_ms: f64, cwnd: u64, ssthresh: Option<u64>) -> Driver {
    let mut driver = Driver::new("vegas", profile, &[], cwnd, ssthresh);
    let sample = |ms: f64| Span::from_micros((ms * 1e3) as u64 - 1);
    let silent =
        |rtt| Ack { cumulative_segments: 1, rtt: Some(RttSample { latest: rtt, oldest: rtt }), ..Ack::default() };
    // Two short rounds, the second of which sends 20 segments, or whatever cwnd is.
    for _ in 0..2 {
        driver.view.snd_una += MSS;
        driver.view.snd_nxt = driver.view.snd_una;
        driver.cc.on_ack(&silent(sample(100.0)), &driver.view);
    }
    driver.view.snd_una += Bytes(1);
    driver.view.snd_nxt = SeqNo(driver.view.snd_una.0 - 1) + MSS * cwnd;
    driver.cc.on_ack(&silent(sample(100.0)), &driver.view);
    driver.view.snd_una = driver.view.snd_nxt;
    (0..3).for_each(|_| driver.cc.on_ack(&silent(sample(rtt_ms)), &driver.view));
    driver
}

fn backlog(profile: &str, rtt_ms: f64) -> f64 {
    let mut driver = round_almost_over(profile, rtt_ms, 20, Some(2));
    ack(&mut driver, None);
    driver.internal("backlog")
}

/// Linux and ns-3: W = 20, base 100 ms.
#[test]
fn vectors_of_algorithms_5_2() {
    for (rtt_ms, linux26, linux, ns3) in [
        (102.0, 0.5, 0.0, 1.0),
        (105.0, 1.0, 1.0, 1.0),
        (110.0, 2.0, 2.0, 2.0),
        (118.0, 3.5, 3.0, 4.0),
        (130.0, 5.0, 6.0, 5.0),
    ] {
        assert_eq!(backlog("linux26", rtt_ms), linux26, "{rtt_ms} ms, linux26");
        assert_eq!(backlog("linux", rtt_ms), linux, "{rtt_ms} ms, linux");
        assert_eq!(backlog("ns3", rtt_ms), ns3, "{rtt_ms} ms, ns3");
    }
}

/// One segment up below alpha, down above beta, in congestion avoidance.
#[test]
fn one_segment_per_round() {
    for profile in ["linux", "linux26", "ns3"] {
        for (rtt_ms, cwnd) in [(102.0, 21.0), (110.0, 20.0), (118.0, 20.0), (130.0, 19.0)] {
            let mut driver = round_almost_over(profile, rtt_ms, 20, Some(2));
            ack(&mut driver, None);
            assert_eq!(driver.cwnd(), cwnd, "{profile} at {rtt_ms} ms");
        }
    }
}

/// 40 segments in slow start and 125 ms over a base of 100: the target is 32. Linux goes to 33 with ssthresh 33; 2.6.22 takes a
/// step of slow start more and sets ssthresh 2; ns-3 is one below its window.
#[test]
fn slow_start_ends_at_the_target() {
    for (profile, cwnd, ssthresh) in [("linux", 33.0, 33.0), ("linux26", 34.0, 2.0), ("ns3", 33.0, 32.0)] {
        let mut driver = round_almost_over(profile, 125.0, 40, None);
        ack(&mut driver, None);
        assert_eq!((driver.cwnd(), driver.ssthresh()), (cwnd, ssthresh), "{profile}");
    }
}

/// With two RTTs in a round it may be delayed ACKs that are seen: Reno's growth instead.
#[test]
fn too_few_samples_grow_as_reno() {
    let mut driver = Driver::new("vegas", "linux", &[], 10, None);
    ack(&mut driver, Some(100.0));
    assert_eq!(driver.cwnd(), 11.0);
}

/// A loss: Linux halves, ns-3 takes one segment off.
#[test]
fn loss_in_each_profile() {
    for (profile, cwnd) in [("linux", 10.0), ("linux26", 10.0), ("ns3", 19.0)] {
        let mut driver = Driver::new("vegas", profile, &[], 20, None);
        driver.congestion(Cause::Sack);
        assert_eq!((driver.cwnd(), driver.ssthresh()), (cwnd, cwnd), "{profile}");
        driver.congestion(Cause::Timeout);
        assert_eq!(driver.cwnd(), 1.0, "{profile}");
    }
}

/// Silence, or a time-out that takes all for lost, makes Linux measure the base RTT anew (TX_START).
#[test]
fn base_rtt_is_measured_anew_when_nothing_is_in_the_network() {
    for (profile, base) in [("linux", 0.15), ("ns3", 0.1)] {
        let mut driver = Driver::new("vegas", profile, &[], 20, Some(2));
        ack(&mut driver, Some(99.999));
        driver.congestion(Cause::Timeout);
        let (now, seq) = (driver.view.now, driver.view.snd_una);
        driver.cc.on_sent(&Sent { now, seq, bytes: MSS, pipe: MSS, retransmission: true });
        ack(&mut driver, Some(149.999));
        assert!(near(driver.internal("base_rtt_s"), base), "{profile}: {}", driver.internal("base_rtt_s"));
    }
}
