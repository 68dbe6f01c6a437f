//! Vectors computed apart from this code by the rules of Linux 2.6.22.

use super::*;
use crate::cc::config::CcConfig;
use crate::cc::driver::{Driver, MSS};
use crate::units::Time;

fn cubic(segments: u64) -> Linux26Cubic {
    let values = CcConfig::by_name("cubic", Some("linux26"), &[]).unwrap().values;
    let setup = Setup::plain(MSS, MSS * segments);
    Linux26Cubic::new(&values, &setup)
}

fn lose(cubic: &mut Linux26Cubic) {
    let flight = cubic.linux.base.window.cwnd;
    let event = Congestion {
        cause: Cause::DupAck,
        state_before: State::Open,
        flight,
        first: true,
        again: false,
        loss_window: MSS,
        head: None,
    };
    cubic.on_congestion(&event, &View { mss: MSS, ..View::default() });
}

fn at(millis: u64) -> View {
    View { now: Time::ZERO + Span::from_millis(millis), mss: MSS, may_grow: true, ..View::default() }
}

fn ack(segments: u64) -> Ack {
    Ack {
        acked: MSS * segments,
        acked_segments: segments as u32,
        cumulative_segments: segments as u32,
        ..Ack::default()
    }
}

#[test]
fn beta_is_819_of_1024() {
    assert_eq!((cubic(10).linux.beta, cubic(10).linux.beta_scale), (819, 23));
    let mut sender = Driver::new("cubic", "linux26", &[], 100, None);
    sender.congestion(Cause::DupAck);
    assert_eq!((sender.cwnd(), sender.internal("w_max")), (79.0, 100.0));
    let mut sender = cubic(90);
    sender.linux.curve.last_max = 100;
    lose(&mut sender);
    assert_eq!(sender.linux.curve.last_max, 80);
}

#[test]
fn slow_start_counts_acks_and_goes_on_at_the_threshold() {
    let mut sender = Driver::new("cubic", "linux26", &[], 9, Some(10));
    for cwnd in [10.0, 11.0, 11.0] {
        sender.ack(2, None);
        assert_eq!(sender.cwnd(), cwnd);
    }
    let mut modern = Driver::new("cubic", "linux", &[], 9, Some(10));
    modern.ack(1, None);
    modern.ack(1, None);
    assert_eq!(modern.cwnd(), 10.0);
}

#[test]
fn ratio_follows_the_acks_while_open() {
    let mut sender = cubic(10);
    // 32 - 2 + 1, then 31 - 1 + 1: truncation keeps it there.
    for (state, ratio) in [(State::Open, 31), (State::Open, 31), (State::Loss, 31)] {
        sender.track_ratio(&ack(1), &View { state, ..at(0) });
        assert_eq!(sender.ratio, ratio);
    }
    sender.track_ratio(&ack(4), &at(0));
    assert_eq!(sender.ratio, 34);
}

#[test]
fn before_the_first_loss_cnt_is_50_over_the_ratio() {
    let mut sender = cubic(1000);
    sender.linux.base.window.ssthresh = MSS * 10;
    sender.on_ack(&ack(1), &at(10));
    // 50 * 16 / 31
    assert_eq!(sender.linux.curve.cnt, 25);
}

#[test]
fn an_increment_takes_one_ack_more_than_cnt() {
    let mut sender = cubic(1000);
    sender.linux.base.window.ssthresh = MSS * 10;
    (0..25).for_each(|_| sender.on_ack(&ack(2), &at(10)));
    assert_eq!(sender.window().cwnd, MSS * 1000);
    sender.on_ack(&ack(2), &at(10));
    assert_eq!(sender.window().cwnd, MSS * 1001);
}

#[test]
fn above_the_plateau_sixteen_segments_in_100_ms_at_most() {
    // 10 s above the plateau at 79 the curve wants far more than W = 100; delay_min is 100 ms, 800 eighths: 100 / 16 = 6.
    for (delay_us, cnt) in [(100_000, 6), (200_000, 3), (0, 1)] {
        let mut sender = cubic(100);
        lose(&mut sender);
        sender.linux.base.window.cwnd = MSS * 100;
        sender.linux.base.reno_friendly = false;
        sender.ratio = 16;
        sender.update_cnt(100, &at(0));
        if delay_us > 0 {
            let rtt = Span::from_micros(delay_us);
            let sample = crate::cc::RttSample { latest: rtt, oldest: rtt };
            sender.on_ack(&Ack { rtt: Some(sample), ..Ack::default() }, &at(10_000));
        }
        sender.update_cnt(100, &at(20_000));
        assert_eq!(sender.linux.curve.cnt, cnt, "{delay_us}");
    }
    // Below it the curve alone counts: 79 to 100 takes the kernel's steps.
    let mut sender = cubic(100);
    lose(&mut sender);
    sender.ratio = 16;
    sender.update_cnt(79, &at(0));
    assert_eq!(sender.linux.curve.cnt, 79);
}

#[test]
fn undo_returns_to_the_last_maximum() {
    let mut sender = cubic(100);
    let before = sender.window();
    lose(&mut sender);
    sender.on_undo(before, &at(0));
    assert_eq!(sender.window(), Window { cwnd: MSS * 100, ssthresh: Bytes::MAX });
}

#[test]
fn a_time_out_forgets_everything() {
    let mut sender = Driver::new("cubic", "linux26", &[], 100, None);
    (0..50).for_each(|_| sender.ack(1, Some(40.0)));
    sender.congestion(Cause::Timeout);
    assert_eq!((sender.cwnd(), sender.ssthresh()), (1.0, 119.0));
    assert_eq!(
        (sender.internal("w_max"), sender.internal("delay_min_s"), sender.internal("segments_per_ack")),
        (0.0, 0.0, 2.0)
    );
}
