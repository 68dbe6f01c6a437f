//! Vectors computed apart from this code by RFC 9438 §4.

use super::*;
use crate::cc::config::CcConfig;
use crate::cc::driver::Driver;
use crate::cc::parameters::Value;
use crate::cc::signals::State;

const MSS: Bytes = Bytes(1460);

fn cubic(segments: u64) -> Rfc {
    cubic_with(segments, &[])
}

fn cubic_with(segments: u64, overrides: &[(String, Value)]) -> Rfc {
    let values = CcConfig::by_name("cubic", None, overrides).unwrap().values;
    let (initial_window, initial_ssthresh) = (MSS * segments, Bytes::MAX);
    Rfc::new(&values, &Setup { initial_ssthresh, ..Setup::plain(MSS, initial_window) })
}

fn at(secs: f64) -> View {
    let now = Time::ZERO + Span::from_secs_f64(secs);
    View { now, mss: MSS, rto: Span::from_millis(1000), slow_start_after_idle: true, may_grow: true, ..View::default() }
}

fn ack(segments: u64) -> Ack {
    Ack { acked: MSS * segments, acked_segments: segments as u32, ..Ack::default() }
}

fn lose(cubic: &mut Rfc, cause: Cause, flight: u64) {
    cubic.on_congestion(
        &Congestion {
            cause,
            state_before: State::Open,
            flight: MSS * flight,
            first: true,
            again: false,
            loss_window: MSS,
            head: None,
        },
        &at(0.0),
    );
}

/// A sender that lost at `w_max` segments, used its whole window, and whose epoch begins at time zero.
fn after_loss(w_max: u64) -> Rfc {
    let mut cubic = cubic(w_max);
    lose(&mut cubic, Cause::DupAck, w_max);
    let epoch = cubic.begin_epoch(cubic.segments(MSS), Time::ZERO);
    cubic.epoch = Some(epoch);
    cubic
}

/// Within the specification's tolerance.
#[track_caller]
fn assert_close(value: f64, expected: f64) {
    assert!((value - expected).abs() <= 1e-6 * expected.abs(), "{value}, expected {expected}");
}

#[test]
fn curve_of_the_specification() {
    let rows = [
        (100, 4.217163, [70.0, 86.6808, 95.6403, 99.9959, 102.2667, 121.6527, 177.3540]),
        (1000, 9.085603, [700.0, 788.5551, 857.7047, 947.3877, 988.2489, 999.4882, 1000.3058]),
        (20, 2.466212, [14.0, 18.7392, 19.9595, 21.4433, 37.6515, 87.7841, 191.0410]),
    ];
    for (w_max, k, windows) in rows {
        let cubic = after_loss(w_max);
        let epoch = cubic.epoch.unwrap();
        assert_close(epoch.k, k);
        for (t, window) in [0, 1, 2, 4, 6, 8, 10].into_iter().zip(windows) {
            // The table has four decimals.
            let value = cubic.w_cubic(&epoch, Span::from_millis(t * 1000));
            assert!((value - window).abs() <= 0.6e-4, "W_cubic({t}) = {value}, expected {window}");
        }
    }
}

#[test]
fn cuts_to_beta_of_the_flight() {
    let mut cubic = cubic(100);
    lose(&mut cubic, Cause::DupAck, 100);
    assert_eq!(cubic.window(), Window { cwnd: MSS * 70, ssthresh: MSS * 70 });
    lose(&mut cubic, Cause::DupAck, 40);
    assert_eq!(cubic.window().cwnd, MSS * 28);
    lose(&mut cubic, Cause::DupAck, 1);
    assert_eq!(cubic.window(), Window { cwnd: MSS * 2, ssthresh: MSS * 2 });
}

#[test]
fn fast_convergence_lowers_w_max() {
    for (fast_convergence, w_max) in [(true, 76.5), (false, 90.0)] {
        let mut cubic = cubic_with(90, &[("fast_convergence".into(), Value::Flag(fast_convergence))]);
        cubic.w_max = Some(100.0);
        lose(&mut cubic, Cause::DupAck, 90);
        assert_close(cubic.w_max.unwrap(), w_max);
        assert_eq!(cubic.window().cwnd, MSS * 63);
        assert_close(cubic.cwnd_prior.unwrap(), 90.0);
    }
}

#[test]
fn target_is_at_most_half_a_window_above() {
    let mut cubic = after_loss(100);
    cubic.base.window.cwnd = MSS * 100;
    // W_cubic(10) = 177.35; an ACK of the whole window reaches the target.
    cubic.on_ack(&ack(100), &at(10.0));
    assert_close(cubic.segments(MSS), 150.0);
}

#[test]
fn target_is_one_rtt_ahead() {
    let mut cubic = after_loss(100);
    let view = View { srtt: Some(Span::from_millis(1000)), ..at(1.0) };
    cubic.on_ack(&ack(70), &view);
    let expected = cubic.w_cubic(&cubic.epoch.unwrap(), Span::from_millis(2000));
    assert_close(cubic.segments(MSS), expected);
    assert!((expected - 95.6403).abs() < 1e-4);
}

#[test]
fn w_est_grows_by_alpha_per_window() {
    let mut cubic = after_loss(100);
    let before = cubic.epoch.unwrap().w_est;
    cubic.avoid_congestion(70.0, &at(0.0));
    let grown = cubic.epoch.unwrap().w_est - before;
    assert!((grown - 0.529412).abs() < 1e-6, "{grown}");
}

#[test]
fn w_est_grows_like_reno_once_it_reached_cwnd_prior() {
    let mut cubic = after_loss(100);
    cubic.epoch.as_mut().unwrap().w_est = 100.0;
    cubic.avoid_congestion(70.0, &at(0.0));
    assert_close(cubic.epoch.unwrap().w_est, 101.0);
}

#[test]
fn below_w_est_the_window_is_renos() {
    let overrides = [("reno_friendly".to_owned(), Value::Flag(false))];
    for (overrides, w) in [(&[][..], 80.0), (&overrides[..], 70.0)] {
        let mut cubic = cubic_with(100, overrides);
        lose(&mut cubic, Cause::DupAck, 100);
        let mut epoch = cubic.begin_epoch(70.0, Time::ZERO);
        epoch.w_est = 80.0 - 3.0 * 0.3 / 1.7;
        cubic.epoch = Some(epoch);
        cubic.on_ack(&ack(70), &at(0.0));
        assert_close(cubic.segments(MSS), w);
    }
}

#[test]
fn w_est_never_takes_window_away() {
    let mut cubic = after_loss(100);
    cubic.base.window.cwnd = MSS * 100;
    // W_cubic(0) = 70 < W_est = 80 < W
    cubic.epoch.as_mut().unwrap().w_est = 80.0;
    cubic.on_ack(&ack(1), &at(0.0));
    assert_eq!((cubic.window().cwnd, cubic.fraction), (MSS * 100, 0.0));
}

#[test]
fn growth_does_not_depend_on_delayed_acks() {
    let grow = |per_segment: bool, segments_per_ack: u64| {
        let mut cubic = Rfc { per_segment, ..after_loss(100) };
        let before = cubic.segments(MSS);
        cubic.on_ack(&ack(segments_per_ack), &at(2.0));
        cubic.segments(MSS) - before
    };
    assert_close(grow(true, 2), 2.0 * grow(true, 1));
    assert_close(grow(false, 2), grow(false, 1));
}

#[test]
fn fractions_of_a_byte_are_kept() {
    let mut cubic = cubic_with(4, &[("reno_friendly".into(), Value::Flag(false))]);
    cubic.base.window = Window { cwnd: MSS * 1000, ssthresh: MSS * 1000 };
    cubic.w_max = Some(1000.1);
    // 0.146 B on the first ACK, 0.1 (1 - 0.999^100) segments = 13.9 B on all
    for _ in 0..100 {
        cubic.on_ack(&ack(1), &View { srtt: Some(Span::from_secs_f64(libm::cbrt(0.1 / 0.4))), ..at(0.0) });
    }
    assert_eq!(cubic.window().cwnd, MSS * 1000 + Bytes(13));
}

#[test]
fn time_held_back_by_the_application_is_left_out() {
    let mut cubic = after_loss(100);
    cubic.on_ack(&ack(1), &at(1.0));
    cubic.on_ack(&ack(1), &View { may_grow: false, ..at(4.0) });
    assert_eq!(cubic.epoch.unwrap().start, Time::ZERO + Span::from_millis(3000));
    // Sending again at 9 s after an idle period: the five seconds since the last ACK do not count either.
    cubic.on_idle(Span::from_millis(900), &at(9.0));
    cubic.on_ack(&ack(70), &at(9.5));
    assert_eq!(cubic.epoch.unwrap().start, Time::ZERO + Span::from_millis(8000));
}

#[test]
fn a_restart_after_idle_begins_a_new_epoch() {
    let mut cubic = cubic(10);
    cubic.base.window = Window { cwnd: MSS * 100, ssthresh: MSS * 20 };
    cubic.on_ack(&ack(1), &at(1.0));
    cubic.on_idle(Span::from_millis(5000), &at(6.0));
    assert_eq!((cubic.window().cwnd, cubic.epoch.is_none()), (MSS * 10, true));
    for i in 0..11 {
        cubic.on_ack(&ack(1), &at(7.0 + f64::from(i)));
    }
    assert_close(cubic.w_max.unwrap(), 100.0);
    assert_close(cubic.epoch.unwrap().k, libm::cbrt(80.0 / 0.4));
}

#[test]
fn slow_start_without_loss_ends_on_the_plateau() {
    let mut cubic = cubic(10);
    cubic.base.window.ssthresh = MSS * 12;
    cubic.on_ack(&ack(2), &at(0.1));
    assert_eq!(cubic.window().cwnd, MSS * 11, "one segment per ACK");
    cubic.on_ack(&ack(1), &at(0.2));
    cubic.on_ack(&ack(1), &at(0.3));
    let epoch = cubic.epoch.unwrap();
    assert_eq!((epoch.k, epoch.origin, epoch.start), (0.0, 12.0, at(0.3).now));
    assert_eq!((cubic.w_max, cubic.cwnd_prior), (Some(12.0), Some(12.0)));
}

#[test]
fn after_a_time_out_the_first_stage_starts_on_its_plateau() {
    let mut cubic = after_loss(100);
    lose(&mut cubic, Cause::Timeout, 70);
    assert_eq!(cubic.window(), Window { cwnd: MSS, ssthresh: MSS * 49 });
    for i in 0..49 {
        cubic.on_ack(&ack(1), &at(2.0 + f64::from(i) / 10.0));
    }
    let epoch = cubic.epoch.unwrap();
    assert_eq!((epoch.k, epoch.origin), (0.0, 49.0));
    assert_eq!((cubic.w_max, cubic.cwnd_prior), (Some(49.0), Some(70.0)));
}

/// cwnd_prior is the window before the reduction (RFC 9438 §4.1.2), which the second time-out of an episode does not see; nor
/// does it change what an undone episode returns to.
#[test]
fn a_further_time_out_keeps_the_window_before_the_first() {
    let mut cubic = after_loss(100);
    lose(&mut cubic, Cause::Timeout, 70);
    let saved = cubic.saved.cwnd_prior;
    let loss_window = MSS;
    let (cause, state_before, flight) = (Cause::Timeout, State::Loss, MSS);
    let again = Congestion { cause, state_before, flight, first: false, again: false, loss_window, head: None };
    cubic.on_congestion(&again, &at(1.0));
    assert_eq!((cubic.cwnd_prior, cubic.window().ssthresh), (Some(70.0), MSS * 49));
    assert_eq!((cubic.saved.cwnd_prior, saved), (Some(100.0), Some(100.0)));
}

#[test]
fn internals_are_observed_by_name() {
    let mut names = Vec::new();
    after_loss(100).observe(&mut |name, value| names.push((name, value)));
    let names: Vec<_> = names.into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["w_max", "cwnd_prior", "epoch_s", "k_s", "w_est"]);
}

/// RFC 9406 in its place: L = 8, a quarter of the growth once the RTT has risen, and the end of slow start.
#[test]
fn hystart_plus_plus_slows_down_and_leaves() {
    let mut sender = Driver::new("cubic", "hystart++", &[], 100, None);
    sender.ack(20, Some(100.0));
    assert_eq!(sender.cwnd(), 108.0);
    let round = |sender: &mut Driver, rtt: f64| {
        // The driver lets as much leave as is acknowledged, so a round ends when all that was sent before it is.
        let end = sender.view.snd_nxt;
        while sender.view.snd_una < end {
            sender.ack(4, Some(rtt));
        }
    };
    round(&mut sender, 100.0);
    assert_eq!(sender.internal("css"), 0.0);
    // The first of these began with samples of 100 ms.
    (0..2).for_each(|_| round(&mut sender, 130.0));
    assert_eq!((sender.internal("css"), sender.cc.window().ssthresh), (1.0, Bytes::MAX));
    let before = sender.cwnd();
    sender.ack(4, Some(130.0));
    assert_eq!(sender.cwnd(), before + 1.0);
    (0..5).for_each(|_| round(&mut sender, 130.0));
    assert!(sender.ssthresh() <= sender.cwnd(), "{} {}", sender.ssthresh(), sender.cwnd());
}

#[test]
fn hystart_plus_plus_serves_the_first_slow_start_alone() {
    let mut sender = Driver::new("cubic", "hystart++", &[], 100, None);
    assert_eq!(sender.internal("css"), 0.0);
    sender.congestion(Cause::Timeout);
    let mut observed = false;
    sender.cc.observe(&mut |name, _| observed |= name == "css");
    assert!(!observed);
}
