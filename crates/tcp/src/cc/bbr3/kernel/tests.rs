//! Profile `linux`: the vector and the table of constants of Google's kernel, and what it does otherwise than the draft.

use super::*;
use crate::cc::algorithm::Setup;
use crate::cc::config::CcConfig;
use crate::cc::controller::CongestionControl as _;
use crate::cc::driver::{Driver, MSS, near};
use crate::cc::parameters::Value;
use crate::cc::signals::{Cause, Congestion, State};
use crate::cc::vectors::vectors;

fn of_profile(profile: &str, changed: &[(&str, Value)]) -> Bbr3 {
    let changed: Vec<(String, Value)> = changed.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    let config = CcConfig::by_name("bbr3", Some(profile), &changed).expect("registered");
    let setup = Setup { handshake_rtt: Some(Span::from_millis(40)), ..Setup::plain(MSS, MSS * 10) };
    Bbr3::new(&config.values, &setup)
}

fn linux() -> Bbr3 {
    of_profile("linux", &[])
}

/// A round in which `segments` arrived within 40 ms, at its first ACK.
fn round(bbr: &mut Driver, segments: u64) {
    let ack = bbr.sample(40, segments, true);
    bbr.pass(Span::from_millis(40));
    bbr.ack_with(&ack);
}

/// Past the start, with a bandwidth of 50 segments per 40 ms, in the drain.
fn draining(changed: &[(&str, Value)]) -> Driver {
    let mut bbr = Driver::new("bbr3", "linux", changed, 10, None);
    bbr.view.pipe = MSS * 200;
    (0..4).for_each(|_| round(&mut bbr, 50));
    assert_eq!(bbr.internal("state"), f64::from(Mode::Drain as u8));
    bbr
}

fn cruising(changed: &[(&str, Value)]) -> Driver {
    let mut bbr = draining(changed);
    bbr.view.pipe = MSS * 40;
    for _ in 0..3 {
        let ack = bbr.sample(40, 50, false);
        bbr.ack_with(&ack);
    }
    assert_eq!(bbr.internal("state"), f64::from(Mode::Cruise as u8));
    bbr
}

/// The vector: every ACK that brings a quarter more begins the count anew, in the draft the first of a round alone.
#[test]
fn the_full_pipe_of_the_vector() {
    let table = vectors("bbr3_full_pipe");
    for (profile, key) in [("linux", "kernel_full_at"), ("draft", "draft_full_at")] {
        let mut bbr = of_profile(profile, &[]);
        let full_at = table["acks"].as_array().unwrap().iter().position(|ack| {
            bbr.round.start = ack[0].as_bool().unwrap();
            bbr.sample.rate = ack[1].as_f64();
            bbr.check_full_pipe();
            bbr.full.now
        });
        assert_eq!(full_at, table[key].as_u64().map(|at| at as usize), "{profile}");
    }
}

/// Gains and shares in 256ths, as tcp_bbr.c of branch v3 has them.
#[test]
fn the_constants_are_those_of_the_kernel() {
    let settings = linux().settings;
    let in_256ths = [
        (settings.startup_gain, 256 * 277 / 100 + 1),
        (settings.drain_gain, 256 * 1000 / 2885),
        (settings.up_gain, 256 * 5 / 4),
        (settings.down_gain, 256 * 91 / 100),
        (settings.cwnd_gain, 256 * 2),
        (settings.up_cwnd_gain, 256 * 2 + 256 / 4),
        (settings.probe_rtt_gain, 256 / 2),
        (settings.loss_threshold, 256 * 2 / 100),
        (1.0 - settings.beta, 256 * 30 / 100),
        (settings.headroom, 256 * 15 / 100),
    ];
    for (value, wanted) in in_256ths {
        assert_eq!(value * 256.0, f64::from(wanted), "{value}");
    }
    assert_eq!((settings.startup_losses, settings.probe_rounds, settings.min_cwnd), (6, 63.0, 4000.0));
}

/// Rates in segments per microsecond times 2^24, rounded up; windows in whole segments; bundles as BBRv1's.
#[test]
fn numbers_are_whole() {
    let mut bbr = linux();
    let ack = Driver::new("bbr3", "linux", &[], 10, None).sample(40, 50, true);
    bbr.take_sample(&ack);
    // 50 x 2^24 / 40,000 = 20971.52
    assert_eq!(bbr.settings.units(bbr.sample.rate.unwrap()), 20_972);
    let rate = bbr.sample.rate.unwrap();
    // ceil(20972 x 40000 x 710/256 / 2^24) = ceil(138.68)
    assert_eq!(bbr.settings.product(rate, Span::from_millis(40), 710.0 / 256.0), 139_000.0);
    // floor(20972 x 180 / 256) = 14745
    assert_eq!(bbr.settings.units(bbr.settings.cut(rate, bbr.settings.beta)), 14_745);
    bbr.bounds.inflight_long = 101_000.0;
    assert_eq!(bbr.with_headroom(), 87_000.0, "101 x 38 / 256 is 14");
    // ceil(99 x 5 / 256) = 2 may be lost; one was: (2 - 1) x 256 / 251 is 1
    assert_eq!(bbr.inflight_at_loss(99_000.0, Bytes(1000)), 100_000.0);
    assert_eq!(bbr.inflight_at_loss(99_000.0, Bytes(3000)), 99_000.0);
    // 10 Mbit/s: 1.25 MB/s >> 10 is 1220 B: one segment, two at least; on a path of 2 ms 65536 >> 3 more.
    bbr.pacing = 1.25e6;
    assert_eq!(bbr.bundle(), 2000.0);
    bbr.rtt.least = Some(Span::from_micros(2000));
    assert_eq!(bbr.bundle(), 9000.0, "(1220 + 8192) / 1000");
}

#[test]
fn draining_waits_for_the_queue_however_long() {
    let mut bbr = draining(&[]);
    (0..20).for_each(|_| round(&mut bbr, 50));
    assert_eq!((bbr.internal("state"), bbr.internal("pacing_gain")), (f64::from(Mode::Drain as u8), 0.34375));
    assert_eq!(bbr.internal("cwnd_gain"), 2.0);
    bbr.view.pipe = MSS * 50;
    round(&mut bbr, 50);
    assert_ne!(bbr.internal("state"), f64::from(Mode::Drain as u8));
}

/// What leaves before the next bundle does is no longer in flight then; the bundle counts where more is to be sent.
#[test]
fn in_flight_is_what_it_is_at_the_next_departure() {
    let mut bbr = linux();
    bbr.bw = 1.25e6;
    let view = View { now: Time::ZERO, paced_until: Time::ZERO + Span::from_millis(8), ..View::default() };
    bbr.mode = Mode::Cruise;
    assert!(near(bbr.at_departure(MSS * 50, &view), 40_000.0), "8 ms are 10 segments");
    bbr.mode = Mode::Up;
    assert!(near(bbr.at_departure(MSS * 50, &view), 40_000.0 + bbr.bundle()));
    let draft = of_profile("draft", &[]);
    assert!(near(draft.at_departure(MSS * 50, &view), 50_000.0));
}

/// Six ACKs that report losses in a round of recovery end the start, however many gaps those are.
#[test]
fn losses_are_counted_by_the_acks_that_report_them() {
    for (acks, ends) in [(6, true), (5, false)] {
        let mut bbr = linux();
        let mut view = View { mss: MSS, state: State::Recovery, delivered: MSS * 100, ..View::default() };
        let ack = Ack { lost: MSS * 20, ..Ack::default() };
        (bbr.sample.lost, bbr.sample.tx_in_flight) = (20_000.0, 100_000.0);
        for n in 1..=acks {
            bbr.signals.round_start = n == acks;
            view.delivered += MSS;
            bbr.check_startup_done(&ack, &view);
        }
        assert_eq!(bbr.full.reached, ends, "{acks}");
        assert_eq!(bbr.signals.gaps, 0, "the round is over");
        assert_eq!(bbr.mode == Mode::Drain, ends);
    }
}

/// While the start's queue drains a long-term bound does not limit the window, and cruising begins below it.
#[test]
fn the_short_term_bound_comes_first() {
    let mut bbr = linux();
    (bbr.mode, bbr.full.reached, bbr.cwnd) = (Mode::Drain, true, 100_000.0);
    bbr.bounds.inflight_long = 30_000.0;
    (bbr.bw, bbr.max_bw) = (1.25e6, [1.25e6; 2]);
    let view = View { mss: MSS, ..View::default() };
    bbr.set_cwnd(&Ack::default(), &view);
    assert_eq!(bbr.cwnd, 100_000.0);
    bbr.bounds.inflight_short = 40_000.0;
    bbr.start_cruise();
    assert_eq!(bbr.bounds.inflight_short, 30_000.0);
    let mut draft = of_profile("draft", &[]);
    (draft.mode, draft.full.reached, draft.cwnd, draft.bounds) = (Mode::Drain, true, 100_000.0, bbr.bounds);
    draft.bounds.inflight_short = f64::INFINITY;
    draft.set_cwnd(&Ack::default(), &view);
    assert_eq!(draft.cwnd, 30_000.0);
}

/// Two slots of five rounds, and 100 ms of the bandwidth at most.
#[test]
fn aggregation_is_remembered_for_five_to_ten_rounds() {
    let mut bbr = cruising(&[]);
    let ack = bbr.sample(40, 50, true);
    bbr.ack_with(&Ack { acked: MSS * 500, acked_segments: 500, ..ack });
    let large = bbr.internal("extra_acked_bytes");
    assert!((2000.0..=125_000.0).contains(&large), "{large}");
    let rounds = (1..30).find(|_| {
        round(&mut bbr, 50);
        bbr.internal("extra_acked_bytes") < large
    });
    // The bandwidth has caught up with them after 400 ms, ten rounds; five to ten rounds later they are forgotten.
    assert!((15..=20).contains(&rounds.unwrap()), "{rounds:?}");
}

/// An equal sample renews the minimum, so that it expires later than in the draft.
#[test]
fn an_equal_sample_renews_the_minimum() {
    for (profile, renewed) in [("linux", true), ("draft", false)] {
        let mut bbr = of_profile(profile, &[]);
        let later = Time::ZERO + Span::from_millis(3000);
        bbr.rtt.recent_at = later;
        let view = View { now: Time::ZERO + Span::from_millis(3500), mss: MSS, ..View::default() };
        bbr.update_min_rtt(&Ack::default(), &view);
        assert_eq!(bbr.rtt.at == later, renewed, "{profile}");
    }
}

/// A repaired tail loss marks the round, and counts for a probe: one of what was in flight last and itself.
#[test]
fn a_tail_loss_counts() {
    for (in_flight, too_high) in [(20_000.0, true), (200_000.0, false)] {
        let mut bbr = linux();
        (bbr.mode, bbr.probe.samples, bbr.full.reached) = (Mode::Up, true, true);
        bbr.signals.inflight_latest = in_flight;
        bbr.on_tail_loss(&View { mss: MSS, ..View::default() });
        assert_eq!(bbr.probe.too_high, too_high, "one of {in_flight}");
        assert_eq!(bbr.bounds.inflight_long.is_finite(), too_high);
        assert_eq!(bbr.mode == Mode::Down, too_high, "a probe that lost too much is over");
    }
}

#[test]
fn a_time_out_bounds_what_is_in_flight_by_the_window_before() {
    let mut bbr = cruising(&[]);
    let before = bbr.cwnd();
    bbr.congestion(Cause::Timeout);
    assert_eq!(bbr.cwnd(), 1.0);
    assert!(near(bbr.internal("inflight_shortterm_bytes"), before * 1000.0));
    bbr.recovered();
    round(&mut bbr, 50);
    assert!(bbr.cwnd() >= before, "it is back");
}

/// What was no loss gives the bounds back, not the phase.
#[test]
fn an_undo_leaves_the_phase() {
    let mut bbr = linux();
    (bbr.mode, bbr.full.reached, bbr.cwnd) = (Mode::Up, true, 80_000.0);
    let view = View { mss: MSS, ..View::default() };
    let event = Congestion {
        cause: Cause::Rack,
        state_before: State::Open,
        flight: MSS * 80,
        first: true,
        again: false,
        loss_window: MSS,
        head: None,
    };
    bbr.on_congestion(&event, &view);
    (bbr.mode, bbr.cwnd, bbr.bounds.inflight_long) = (Mode::Down, 40_000.0, 40_000.0);
    let before = bbr.window();
    bbr.on_undo(before, &view);
    assert_eq!((bbr.mode, bbr.cwnd), (Mode::Down, 80_000.0));
    assert!(bbr.bounds.inflight_long.is_infinite());
}

/// With `ecn`, a round with marks cuts what is in flight by a third of alpha, which begins at one.
#[test]
fn marks_are_answered_on_short_paths_if_asked_for() {
    for (asked, ms, cut) in [(true, 4, true), (true, 6, false), (false, 4, false)] {
        let mut bbr = of_profile("linux", &[("ecn", Value::Flag(asked))]);
        (bbr.mode, bbr.full.reached, bbr.cwnd) = (Mode::Cruise, true, 90_000.0);
        bbr.rtt.least = Some(Span::from_millis(ms));
        let mut view = View { mss: MSS, delivered: MSS * 100, ..View::default() };
        let marked = Ack { acked: MSS, acked_segments: 1, ce: MSS, ..Ack::default() };
        bbr.round.start = true;
        bbr.update_marks(&marked, &view);
        view.delivered += MSS;
        let kept = bbr.cut_by_marks();
        // alpha is 240 after a round without marks: 256 - 240 x 85 / 256 = 177; 90 x 177 / 256 = 62
        assert_eq!(kept.is_finite().then_some(kept), cut.then_some(62_000.0), "{asked} {ms} ms");
    }
}
