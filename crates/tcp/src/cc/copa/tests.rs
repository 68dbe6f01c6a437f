//! Vectors by hand from Arun, Balakrishnan 2018 §2, and what the modes do.

use super::super::driver::{Driver, MSS, near};
use super::*;
use crate::seq::SeqNo;

/// Past slow start, with a queueing delay of 10 ms at a standing RTT of 110 ms: the target is 22 segments.
fn copa(cwnd: u64, changed: &[(&str, Value)]) -> Driver {
    let mut copa = Driver::new("copa", "paper", changed, cwnd, Some(cwnd));
    copa.view.cwnd_limited = false;
    copa.ack(1, Some(100.0));
    copa.pass(Span::from_millis(60));
    copa.view.cwnd_limited = true;
    copa
}

#[test]
fn the_window_moves_by_v_over_delta_w_towards_the_target() {
    let mut below = copa(20, &[]);
    below.ack(1, Some(110.0));
    assert!(near(below.internal("target"), 22.0), "{}", below.internal("target"));
    assert!((below.cwnd() - 20.1).abs() < 1e-9, "{}", below.cwnd());
    let mut above = copa(24, &[]);
    above.ack(1, Some(110.0));
    // Whole bytes of the real window.
    assert!((above.cwnd() - (24.0 - 0.083_333)).abs() < 1e-3, "{}", above.cwnd());
    assert_eq!(above.cc.pacing_rate(), Some(Rate::of(above.cc.window().cwnd * 2, Span::from_millis(110))));
}

#[test]
fn a_velocity_of_four_moves_four_times_as_far() {
    let values = crate::cc::CcConfig::by_name("copa", None, &[]).unwrap().values;
    let now = Time::ZERO + Span::from_millis(1000);
    let (mss, initial_window) = (MSS, MSS * 20);
    let setup = Setup { now, initial_ssthresh: mss, ..Setup::plain(mss, initial_window) };
    let mut copa = Copa::new(&values, &setup);
    (copa.velocity.v, copa.velocity.direction) = (4.0, Some(true));
    copa.step(1.0, true, now);
    assert!(near(copa.w, 20.4));
    // No more than delta W.
    copa.velocity.v = 64.0;
    copa.step(1.0, true, now);
    assert_eq!(copa.velocity.v, 8.0);
}

#[test]
fn a_velocity_is_given_up_when_the_target_is_passed() {
    for (at_once, moved) in [(true, -2.0 / 25.0), (false, -8.0 / 25.0)] {
        let mut copa = copa(25, &[("turns_at_once", Value::Flag(at_once)), ("mode_switching", Value::Flag(false))]);
        for _ in 0..5 {
            copa.pass(Span::from_millis(120));
            copa.view.cwnd_limited = false;
            copa.ack(1, Some(100.0));
        }
        let (v, before) = (copa.internal("velocity"), copa.cwnd());
        assert_eq!(v, 4.0);
        copa.pass(Span::from_millis(60));
        copa.ack(1, Some(110.0));
        assert!((copa.cwnd() - before - moved).abs() < 2e-3, "{at_once}: {}", copa.cwnd() - before);
    }
}

#[test]
fn v_doubles_from_the_third_rtt_in_one_direction_on() {
    let mut copa = copa(1000, &[("mode_switching", Value::Flag(false))]);
    let seen: Vec<f64> = (0..7)
        .map(|_| {
            copa.pass(Span::from_millis(120));
            copa.ack(1, Some(110.0));
            copa.internal("velocity")
        })
        .collect();
    assert_eq!(seen, [1.0, 1.0, 1.0, 1.0, 2.0, 4.0, 8.0]);
}

#[test]
fn slow_start_ends_at_the_target() {
    let mut copa = Driver::new("copa", "paper", &[], 10, None);
    copa.ack(10, Some(100.0));
    assert_eq!((copa.cwnd(), copa.ssthresh() > 1e9), (20.0, true));
    copa.pass(Span::from_millis(100));
    copa.ack(5, Some(110.0));
    assert_eq!((copa.cwnd(), copa.ssthresh()), (25.0, 25.0));
}

/// RFC 5681 §3.1: the loss window. Linux and RFC 5682 undo what was spurious.
#[test]
fn a_time_out_takes_the_window_to_one_segment_until_it_proves_spurious() {
    let mut copa = copa(20, &[]);
    let before = copa.cc.window();
    copa.congestion(Cause::Rack);
    assert_eq!(copa.cwnd(), 20.0);
    copa.cc.on_undo(Window { cwnd: MSS * 40, ..before }, &copa.view);
    assert_eq!(copa.cwnd(), 20.0);
    copa.congestion(Cause::Timeout);
    assert_eq!(copa.cwnd(), 1.0);
    copa.ack(1, Some(110.0));
    assert!(copa.cwnd() < 4.0, "{}", copa.cwnd());
    copa.cc.on_undo(before, &copa.view);
    assert_eq!(copa.cc.window(), before);
}

#[test]
fn delta_follows_aimd_while_others_fill_the_queue() {
    let mut copa = copa(20, &[]);
    let mut deltas = Vec::new();
    for _ in 0..16 {
        // The standing delay is far above a tenth of the maximum.
        copa.pass(Span::from_millis(200));
        copa.ack(1, Some(200.0));
        deltas.push(copa.internal("delta"));
    }
    let rising: Vec<f64> = deltas.iter().copied().skip_while(|delta| *delta == 0.5).take(3).collect();
    assert!(near(rising[0], 1.0 / 3.0) && near(rising[1], 0.25) && near(rising[2], 0.2), "{deltas:?}");
    let lost = Lost {
        bytes: MSS,
        sent_at: copa.view.now,
        tx_in_flight: MSS,
        lost_since: MSS,
        seq: SeqNo::default(),
        app_limited: false,
    };
    let before = copa.internal("delta");
    copa.cc.on_lost(&lost, &copa.view);
    copa.pass(Span::from_millis(200));
    copa.ack(1, Some(200.0));
    assert!(near(copa.internal("delta"), (2.0 * before).min(0.5)));
    copa.ack(1, Some(100.0));
    assert_eq!((copa.internal("delta"), copa.internal("competitive")), (0.5, 0.0));
}

/// Is the mode competitive, so many RTTs of 110 ms after the queue was last empty?
fn competes_after(rtts: u32, changed: &[(&str, Value)]) -> f64 {
    let mut copa = copa(20, changed);
    copa.ack(1, Some(100.0));
    for _ in 0..rtts {
        copa.pass(Span::from_millis(110));
        copa.ack(1, Some(110.0));
    }
    copa.internal("competitive")
}

#[test]
fn a_trough_missed_once_is_no_evidence_of_others() {
    // The swing has a period of 5 RTTs (Copa §3): the next but one trough comes after 10.
    assert_eq!((competes_after(10, &[]), competes_after(11, &[])), (0.0, 1.0));
    let paper = [("mode_rtts", Value::Number(5.0))];
    assert_eq!((competes_after(5, &paper), competes_after(6, &paper)), (0.0, 1.0));
}

#[test]
fn delta_first_moves_an_rtt_after_the_mode_began() {
    let mut copa = copa(20, &[("mode_rtts", Value::Number(5.0))]);
    copa.ack(1, Some(100.0));
    let seen: Vec<(f64, f64)> = (0..13)
        .map(|_| {
            copa.pass(Span::from_millis(55));
            copa.ack(1, Some(110.0));
            (copa.internal("competitive"), copa.internal("delta"))
        })
        .collect();
    // Ten halves of an RTT are the 5 RTTs; the mode begins with the eleventh.
    assert_eq!(seen[9..12], [(0.0, 0.5), (1.0, 0.5), (1.0, 1.0 / 3.0)]);
}

#[test]
fn heavy_loss_cuts_the_window() {
    let mut copa = copa(20, &[]);
    let lost = Lost {
        bytes: MSS * 20,
        sent_at: copa.view.now,
        tx_in_flight: MSS,
        lost_since: MSS,
        seq: SeqNo::default(),
        app_limited: false,
    };
    copa.cc.on_lost(&lost, &copa.view);
    copa.pass(Span::from_millis(250));
    copa.view.cwnd_limited = false;
    copa.ack(5, Some(100.0));
    assert!((copa.cwnd() - 14.0).abs() < 0.01, "{}", copa.cwnd());
}
