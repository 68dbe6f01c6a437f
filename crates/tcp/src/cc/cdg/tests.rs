//! Vectors computed apart from this code, and the rules around them.

use super::super::driver::{Driver, MSS};
use super::*;
use crate::cc::config::CcConfig;
use crate::cc::parameters::Value;
use crate::cc::signals::{Cause, RttSample};

fn cdg(changed: &[(&str, Value)], cwnd: u64, ssthresh: Option<u64>) -> Driver {
    Driver::new("cdg", "linux", changed, cwnd, ssthresh)
}

/// A round with these RTT samples in milliseconds and no growth; true if it asks for a reduction.
fn round(cdg: &mut Driver, rtts: &[f64]) -> bool {
    for (i, ms) in rtts.iter().enumerate() {
        let nxt = cdg.view.snd_nxt;
        if i + 1 == rtts.len() {
            (cdg.view.snd_una, cdg.view.snd_nxt) = (nxt + Bytes(1), nxt + Bytes(2));
        }
        let rtt = Span::from_secs_f64(ms / 1e3);
        let rtt = Some(RttSample { latest: rtt, oldest: rtt });
        cdg.cc.on_ack(&Ack { cumulative_segments: 1, rtt, ..Ack::default() }, &cdg.view);
    }
    cdg.cc.wants_reduction()
}

#[test]
fn vectors_of_algorithms_8_11() {
    let setup = Setup::plain(MSS, MSS * 10);
    let cdg = Cdg::new(&CcConfig::by_name("cdg", None, &[]).unwrap().values, &setup);
    // The specification prints seven digits.
    for (sum, probability) in [(1_000, 0.041_130_2), (4_000, 0.154_646_2)] {
        assert!((cdg.probability(sum) - probability).abs() < 5e-8, "{sum}: {}", cdg.probability(sum));
    }
    // A backoff at W = 100 leaves 70.
    let mut cdg = self::cdg(&[("backoff_factor", Value::Number(1e4))], 100, Some(2));
    round(&mut cdg, &[100.0]);
    assert!(!round(&mut cdg, &[100.0]));
    // 100 ms a round, extrapolated to eight: exp(-8000) leaves no chance.
    assert!(round(&mut cdg, &[300.0]));
    cdg.congestion(Cause::Algorithm);
    assert_eq!((cdg.cwnd(), cdg.ssthresh()), (70.0, 70.0));
}

#[test]
fn missing_gradients_are_extrapolated() {
    let settings = cdg_settings(8);
    let mut memory = Memory::default();
    // min is not above 0, so max counts: 10 µs in one round of eight.
    assert_eq!(memory.gradient(Pair { min: -5, max: 10 }, &settings), 80);
    assert_eq!(memory.gradient(Pair { min: 25, max: 10 }, &settings), 80);
    for _ in 0..5 {
        memory.gradient(Pair::default(), &settings);
    }
    assert_eq!(memory.gradient(Pair::default(), &settings), 20);
    // The first leaves the window.
    assert_eq!(memory.gradient(Pair::default(), &settings), 25);
}

fn cdg_settings(window: usize) -> Settings {
    Settings {
        window,
        backoff_beta: 724,
        backoff_factor: 42.0,
        use_ineff: 5,
        use_shadow: true,
        use_tolerance: true,
        hystart_train: true,
        hystart_delay: true,
    }
}

#[test]
fn after_five_backoffs_without_effect_it_stops_until_the_delay_falls() {
    let mut cdg = cdg(&[("backoff_factor", Value::Number(1e4))], 100, Some(2));
    let mut rtt = 100.0;
    round(&mut cdg, &[rtt]);
    let mut reductions = 0;
    for _ in 0..10 {
        rtt += 50.0;
        if round(&mut cdg, &[rtt]) {
            reductions += 1;
            cdg.congestion(Cause::Algorithm);
            cdg.recovered();
        }
    }
    // The first ACK after a reduction only makes the RTT before it the one to compare with.
    assert_eq!(reductions, 5);
    (0..9).for_each(|_| assert!(!round(&mut cdg, &[100.0])));
    assert!(round(&mut cdg, &[200.0]));
}

#[test]
fn a_loss_goes_by_the_shadow_window_that_backoffs_leave_alone() {
    for (shadow, left) in [(true, 50.0), (false, 35.0)] {
        let changed = [("backoff_factor", Value::Number(1e4)), ("use_shadow", Value::Flag(shadow))];
        let mut cdg = cdg(&changed, 100, Some(2));
        round(&mut cdg, &[100.0]);
        assert!(round(&mut cdg, &[300.0]));
        cdg.congestion(Cause::Algorithm);
        cdg.recovered();
        cdg.view.may_grow = false;
        // The end of the descent is noticed on the next ACK; the window of 70 stands in for a shadow of 100.
        round(&mut cdg, &[]);
        cdg.cc.on_ack(&Ack::default(), &cdg.view);
        cdg.congestion(Cause::Rack);
        assert_eq!(cdg.cwnd(), left);
    }
}

#[test]
fn a_window_that_is_not_used_takes_the_shadow_down() {
    let mut cdg = cdg(&[], 100, Some(2));
    round(&mut cdg, &[100.0]);
    assert_eq!(cdg.internal("shadow"), 100.0);
    cdg.congestion(Cause::Rack);
    cdg.recovered();
    assert_eq!((cdg.cwnd(), cdg.internal("shadow")), (50.0, 50.0));
}

#[test]
fn slow_start_ends_when_the_least_rtt_of_a_round_has_risen_by_an_eighth() {
    for (rtt, ends) in [(112.0, false), (113.0, true)] {
        let mut cdg = cdg(&[("hystart_train", Value::Flag(false))], 10, None);
        round(&mut cdg, &[100.0]);
        // Judged from the ninth ACK of a round on.
        round(&mut cdg, &[rtt; 8]);
        assert!(cdg.ssthresh() > 1e6);
        let nxt = cdg.view.snd_nxt;
        cdg.view.snd_una = nxt;
        (0..9).for_each(|_| {
            let rtt = Span::from_secs_f64(rtt / 1e3);
            let rtt = Some(RttSample { latest: rtt, oldest: rtt });
            cdg.cc.on_ack(&Ack { cumulative_segments: 1, rtt, ..Ack::default() }, &cdg.view);
        });
        assert_eq!(cdg.ssthresh() == cdg.cwnd(), ends, "{rtt}");
    }
}

#[test]
fn slow_start_ends_after_a_train_of_half_the_least_rtt() {
    for (gap, exit) in [(2_000, Some(52_000)), (3_000, None)] {
        let mut cdg = cdg(&[("hystart_delay", Value::Flag(false))], 10, None);
        round(&mut cdg, &[100.0]);
        // The round's first ACK starts the train.
        let start = cdg.view.now;
        let mut found = None;
        for _ in 0..60 {
            let view = cdg.view;
            cdg.cc.on_ack(&Ack { cumulative_segments: 1, ..Ack::default() }, &view);
            if found.is_none() && cdg.ssthresh() == cdg.cwnd() {
                found = Some(cdg.view.now.since(start).as_micros());
            }
            cdg.pass(Span::from_micros(gap));
        }
        assert_eq!(found, exit, "{gap}");
    }
}

#[test]
fn a_delayed_ack_counts_for_the_least_rtt_only() {
    let (mut memory, view) = (Memory::default(), View::default());
    let ack = |segments| Ack { cumulative_segments: segments, ..Ack::default() };
    memory.sample(100, &ack(2), &view);
    memory.sample(300, &ack(1), &view);
    assert_eq!(memory.rtt.map(|pair| (pair.min, pair.max)), Some((100, 100)));
    memory.sample(300, &ack(1), &view);
    assert_eq!(memory.rtt.map(|pair| (pair.min, pair.max)), Some((100, 300)));
}
