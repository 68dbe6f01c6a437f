//! Vectors computed apart from this code, and the scenarios of the draft's appendix A that need no network.

use super::*;
use crate::cc::config::CcConfig;
use crate::cc::driver::{Driver, MSS, near};
use crate::cc::parameters::Value;
use crate::seq::SeqNo;

const STARTUP: f64 = 0.0;
const DRAIN: f64 = 1.0;
const DOWN: f64 = 2.0;
const CRUISE: f64 = 3.0;
const REFILL: f64 = 4.0;
const UP: f64 = 5.0;
const PROBE_RTT: f64 = 6.0;

fn fresh(handshake_rtt: Option<Span>) -> Bbr3 {
    let config = CcConfig::by_name("bbr3", None, &[]).expect("the default");
    let setup = Setup { handshake_rtt, ..Setup::plain(MSS, MSS * 10) };
    Bbr3::new(&config.values, &setup)
}

/// A round in which `segments` arrived within 40 ms, at its first ACK.
fn round(bbr: &mut Driver, segments: u64) {
    let ack = bbr.sample(40, segments, true);
    bbr.pass(Span::from_millis(40));
    bbr.ack_with(&ack);
}

/// Marks `count` segments lost, each a gap of its own, sent with `in_flight` segments in flight.
fn lose(bbr: &mut Driver, count: u64, in_flight: u64) {
    for lost in 1..=count {
        bbr.view.lost_total += MSS;
        let lost = Lost {
            seq: SeqNo(1_000_000 + 10 * MSS.0 * lost),
            bytes: MSS,
            sent_at: Time::ZERO,
            tx_in_flight: MSS * in_flight,
            lost_since: MSS * lost,
            app_limited: false,
        };
        bbr.cc.on_lost(&lost, &bbr.view);
    }
}

/// Past the start, with a bandwidth of 50 segments per 40 ms (10 Mbit/s), cruising.
fn cruising(changed: &[(&str, Value)]) -> Driver {
    let mut bbr = Driver::new("bbr3", "draft", changed, 10, None);
    bbr.view.pipe = MSS * 100;
    (0..4).for_each(|_| round(&mut bbr, 50));
    assert_eq!(bbr.internal("state"), DRAIN);
    bbr.view.pipe = MSS * 40;
    round(&mut bbr, 50);
    // Reaching Down and leaving it are two ACKs.
    let ack = bbr.sample(40, 50, false);
    bbr.ack_with(&ack);
    assert_eq!(bbr.internal("state"), CRUISE);
    bbr
}

/// Probing for bandwidth, with samples of what the probe sent.
fn probing(changed: &[(&str, Value)]) -> Driver {
    let mut bbr = cruising(changed);
    for _ in 0..100 {
        if bbr.internal("state") == UP {
            return bbr;
        }
        round(&mut bbr, 50);
    }
    panic!("no probe in 100 rounds");
}

#[test]
fn full_pipe_of_algorithms_8_15() {
    // Rates 10, 20, 24, 24.5, 24.6: the baseline is 20 after round 2, then three rounds bring less than a quarter more.
    let mut bbr = Driver::new("bbr3", "draft", &[], 10, None);
    bbr.view.pipe = MSS * 1000;
    for (segments, full) in [(100, 0.0), (200, 0.0), (240, 0.0), (245, 0.0), (246, 1.0)] {
        round(&mut bbr, segments);
        assert_eq!(bbr.internal("full_pipe"), full, "{segments}");
    }
    assert_eq!((bbr.internal("state"), bbr.internal("pacing_gain")), (DRAIN, 0.5));
}

#[test]
fn inflight_at_loss_headroom_and_first_pace_of_algorithms_8_15() {
    let mut bbr = fresh(None);
    // 100 packets before the burst, one of them lost: (2 - 1) / 0.98 = 1.0204
    assert!(near(bbr.inflight_at_loss(100_000.0, MSS), 100_000.0 + 1000.0 / 0.98));
    bbr.bounds.inflight_long = 100_000.0;
    assert!(near(bbr.with_headroom(), 85_000.0));
    assert!(near(bbr.pacing, 2.77 * 10_000.0 / 0.001));
    assert!(near(fresh(Some(Span::from_millis(40))).pacing, 2.77 * 10_000.0 / 0.040));
}

/// A.2: much loss in many places ends the start, also where the application sets the pace.
#[test]
fn loss_ends_the_start() {
    for (gaps, in_flight, mode) in [(6, 100, DRAIN), (5, 100, STARTUP), (6, 400, STARTUP)] {
        let mut bbr = Driver::new("bbr3", "draft", &[], 10, None);
        bbr.view.pipe = MSS * 100;
        round(&mut bbr, 50);
        lose(&mut bbr, gaps, in_flight);
        bbr.congestion(Cause::Rack);
        let mut ack = bbr.sample(40, 100, true);
        let rate = ack.rate.as_mut().expect("it has one");
        (rate.lost, rate.tx_in_flight, rate.app_limited) = (MSS * gaps, MSS * in_flight, true);
        bbr.ack_with(&ack);
        assert_eq!(bbr.internal("state"), mode, "{gaps} of {in_flight}");
        if mode == DRAIN {
            assert!(near(bbr.internal("inflight_longterm_bytes"), 100_000.0), "max(bdp, delivered in the round)");
        }
    }
}

/// A.3 and A.4
#[test]
fn draining_ends_with_the_queue_or_after_three_rounds() {
    // At the BDP Down has nothing to do and passes at once.
    for (pipe, rounds, then) in [(50, 1, CRUISE), (80, 4, DOWN)] {
        let mut bbr = Driver::new("bbr3", "draft", &[], 10, None);
        bbr.view.pipe = MSS * 100;
        (0..4).for_each(|_| round(&mut bbr, 50));
        bbr.view.pipe = MSS * pipe;
        for n in 1..=rounds {
            assert_eq!(bbr.internal("state"), DRAIN, "{n}");
            round(&mut bbr, 50);
        }
        assert_eq!(bbr.internal("state"), then);
        assert_eq!(bbr.internal("pacing_gain"), if then == DOWN { 0.9 } else { 1.0 });
    }
}

/// §5.3.3.8: after two to three seconds, or as many rounds as the BDP has segments, less one that may be drawn.
#[test]
fn the_next_probe_comes_in_time() {
    let mut bbr = cruising(&[]);
    let mut rounds = 0;
    while bbr.internal("state") == CRUISE {
        round(&mut bbr, 50);
        rounds += 1;
    }
    assert_eq!(bbr.internal("state"), REFILL);
    assert!((48..=50).contains(&rounds), "{rounds}");
    let mut bbr = cruising(&[]);
    bbr.pass(Span::from_millis(3001));
    let ack = bbr.sample(40, 50, false);
    bbr.ack_with(&ack);
    assert_eq!(bbr.internal("state"), REFILL);
}

/// A.5
#[test]
fn a_probe_ends_where_the_rate_stays() {
    let mut bbr = probing(&[]);
    assert_eq!((bbr.internal("pacing_gain"), bbr.internal("cwnd_gain")), (1.25, 2.25));
    (0..2).for_each(|_| round(&mut bbr, 50));
    assert_eq!(bbr.internal("state"), UP);
    round(&mut bbr, 50);
    // Three rounds without growth: down, and below the BDP already.
    assert_eq!(bbr.internal("state"), DOWN);
}

/// A.19: where more than 2 % of what was in flight is lost the long-term bound is set, and the probe is over.
#[test]
fn too_much_loss_ends_a_probe() {
    let mut bbr = probing(&[]);
    lose(&mut bbr, 1, 100);
    assert_eq!(bbr.internal("state"), UP, "one of 100 is 1 %");
    lose(&mut bbr, 3, 100);
    // The third of 100 crosses: 99 before, 2 lost: 99 + (1.98 - 2) / 0.98
    assert!(near(bbr.internal("inflight_longterm_bytes"), 1000.0 * (99.0 - 0.02 / 0.98)));
    assert_eq!(bbr.internal("state"), DOWN);
    // Once per probe.
    lose(&mut bbr, 9, 60);
    assert!(near(bbr.internal("inflight_longterm_bytes"), 1000.0 * (99.0 - 0.02 / 0.98)));
}

/// §5.3.3.6: the probe after one that lost too much ends at its bound, and is repeated at once if nothing is lost.
#[test]
fn the_probe_after_a_bad_one_is_careful() {
    for (precautionary, then) in [(true, REFILL), (false, UP)] {
        let mut bbr = probing(&[("precautionary", Value::Flag(precautionary))]);
        lose(&mut bbr, 3, 60);
        bbr.view.pipe = MSS * 30;
        (0..100).for_each(|_| {
            if bbr.internal("state") != UP {
                round(&mut bbr, 50);
            }
        });
        assert_eq!(bbr.internal("state"), UP);
        bbr.view.cwnd_limited = true;
        bbr.view.pipe = Bytes(bbr.internal("inflight_longterm_bytes") as u64) + MSS;
        round(&mut bbr, 50);
        assert_eq!(bbr.internal("state"), if precautionary { DOWN } else { UP });
        round(&mut bbr, 50);
        assert_eq!(bbr.internal("state"), then);
    }
}

/// §5.3.3.5: the bound grows by 1, 2, 4 … segments per window acknowledged while the window is at it.
#[test]
fn the_long_term_bound_grows_faster_each_round() {
    let mut bbr = probing(&[]);
    lose(&mut bbr, 3, 60);
    let bound = bbr.internal("inflight_longterm_bytes");
    while bbr.internal("state") != UP {
        round(&mut bbr, 50);
    }
    bbr.view.pipe = MSS * 30;
    let mut growth = Vec::new();
    let mut before = bbr.internal("inflight_longterm_bytes");
    assert!(near(before, bound));
    for _ in 0..4 {
        for n in 0..60 {
            let ack = bbr.sample(40, 50, n == 0);
            bbr.ack_with(&ack);
        }
        growth.push((bbr.internal("inflight_longterm_bytes") - before) / 1000.0);
        before = bbr.internal("inflight_longterm_bytes");
    }
    assert!(growth.windows(2).all(|pair| pair[1] >= 1.5 * pair[0]), "{growth:?}");
}

/// §5.5.10.3: a round with loss outside probes lowers rate and volume toward what arrived, not below 0.7.
#[test]
fn loss_between_probes_lowers_the_short_term_bounds() {
    for (delivered, mbps, segments) in [(40, 8.0, 40.0), (10, 7.0, 35.0)] {
        let mut bbr = cruising(&[]);
        // The first round still holds what arrived before it: 10 Mbit/s and 50 segments, more than 0.7 of the window.
        assert!(0.7 * bbr.cwnd() < 50.0);
        lose(&mut bbr, 1, 50);
        round(&mut bbr, delivered);
        assert!(near(bbr.internal("bw_shortterm_bps"), 10e6) && near(bbr.internal("inflight_shortterm_bytes"), 50e3));
        lose(&mut bbr, 1, 50);
        round(&mut bbr, delivered);
        assert!(near(bbr.internal("bw_shortterm_bps"), mbps * 1e6), "{}", bbr.internal("bw_shortterm_bps"));
        assert!(
            near(bbr.internal("inflight_shortterm_bytes"), segments * 1e3),
            "{}",
            bbr.internal("inflight_shortterm_bytes")
        );
        while bbr.internal("state") != REFILL {
            round(&mut bbr, 50);
        }
        let mut bounded = false;
        bbr.cc.observe(&mut |name, _| bounded |= name == "bw_shortterm_bps");
        assert!(!bounded, "refilling forgets them");
    }
}

/// A.9 and A.18
#[test]
fn the_least_rtt_is_measured_every_five_seconds() {
    for filled in [true, false] {
        let mut bbr = if filled { cruising(&[]) } else { Driver::new("bbr3", "draft", &[], 10, None) };
        if !filled {
            round(&mut bbr, 50);
        }
        bbr.pass(Span::from_millis(5001));
        let ack = bbr.sample(60, 75, false);
        bbr.ack_with(&ack);
        assert_eq!((bbr.internal("state"), bbr.internal("cwnd_gain")), (PROBE_RTT, 0.5));
        // Half of the BDP of 50 segments, which the RTT of ten seconds still gives
        assert!(bbr.cwnd() <= 25.0, "{}", bbr.cwnd());
        bbr.view.pipe = MSS * 20;
        let ack = bbr.sample(40, 20, false);
        bbr.ack_with(&ack);
        bbr.pass(Span::from_millis(201));
        round(&mut bbr, 20);
        assert_eq!(bbr.internal("state"), if filled { CRUISE } else { STARTUP });
        assert!(near(bbr.internal("max_bw_bps"), 10e6), "low rates of the dip do not count");
    }
}

/// A.10: an idle period is dip enough.
#[test]
fn silence_takes_the_place_of_a_dip() {
    let mut bbr = cruising(&[]);
    bbr.pass(Span::from_millis(6000));
    bbr.view.pipe = Bytes::ZERO;
    bbr.view.app_limited = true;
    bbr.cc.on_idle(Span::from_millis(6000), &bbr.view);
    assert!(near(bbr.internal("pacing_bps"), 9.9e6));
    let ack = bbr.sample(60, 75, false);
    bbr.ack_with(&ack);
    assert_ne!(bbr.internal("state"), PROBE_RTT);
}

/// A.12: ACKs of ten at once raise the window by about that.
#[test]
fn bunched_acks_raise_the_window() {
    let mut bbr = cruising(&[]);
    for _ in 0..20 {
        let ack = bbr.sample(40, 50, true);
        bbr.pass(Span::from_millis(8));
        bbr.ack_with(&Ack { acked: MSS * 10, acked_segments: 10, ..ack });
    }
    assert!((9_000.0..=20_000.0).contains(&bbr.internal("extra_acked_bytes")), "{}", bbr.internal("extra_acked_bytes"));
}

/// A.17: what a spurious episode changed comes back, the probe included.
#[test]
fn a_spurious_loss_is_taken_back() {
    let mut bbr = probing(&[]);
    let before = bbr.cc.window();
    lose(&mut bbr, 5, 60);
    bbr.congestion(Cause::Rack);
    assert_eq!(bbr.internal("state"), DOWN);
    bbr.cc.on_undo(before, &bbr.view);
    assert_eq!(bbr.internal("state"), UP);
    bbr.cc.observe(&mut |name, _| assert_ne!(name, "inflight_longterm_bytes"));
}

#[test]
fn a_time_out_leaves_what_is_in_flight_and_one_segment() {
    let mut bbr = cruising(&[]);
    let before = bbr.cwnd();
    bbr.congestion(Cause::Timeout);
    assert_eq!(bbr.cwnd(), 1.0);
    bbr.recovered();
    round(&mut bbr, 50);
    assert!(bbr.cwnd() >= before);
}

/// A.20: what the application limits does not lower the bandwidth.
#[test]
fn limited_samples_count_only_if_they_are_larger() {
    let mut bbr = cruising(&[]);
    for (segments, mbps) in [(10, 10.0), (60, 12.0)] {
        let mut ack = bbr.sample(40, segments, true);
        ack.rate.as_mut().expect("it has one").app_limited = true;
        bbr.ack_with(&ack);
        assert!(near(bbr.internal("max_bw_bps"), mbps * 1e6));
    }
}
