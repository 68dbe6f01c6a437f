use super::*;
use crate::cc::config::CcConfig;
use crate::cc::driver::Driver;
use crate::cc::parameters::Value;
use crate::cc::signals::{RttSample, State};
use crate::seq::SeqNo;
use crate::units::Time;

const MSS: Bytes = Bytes(1460);

fn cubic(segments: u64) -> LinuxCubic {
    cubic_with(segments, &[])
}

fn cubic_with(segments: u64, overrides: &[(String, Value)]) -> LinuxCubic {
    let values = CcConfig::by_name("cubic", Some("linux"), overrides).unwrap().values;
    let (initial_window, initial_ssthresh) = (MSS * segments, Bytes::MAX);
    LinuxCubic::new(&values, &Setup { initial_ssthresh, ..Setup::plain(MSS, initial_window) })
}

fn at(millis: u64) -> View {
    let now = Time::ZERO + Span::from_millis(millis);
    let rto = Span::from_millis(1000);
    View {
        now,
        mss: MSS,
        snd_una: SeqNo(millis + 1),
        snd_nxt: SeqNo(millis + 2),
        rto,
        slow_start_after_idle: true,
        may_grow: true,
        ..View::default()
    }
}

fn ack(segments: u64) -> Ack {
    Ack { acked: MSS * segments, acked_segments: segments as u32, ..Ack::default() }
}

fn ack_with_rtt(micros: u64) -> Ack {
    let rtt = Span::from_micros(micros);
    Ack { rtt: Some(RttSample { latest: rtt, oldest: rtt }), ..ack(1) }
}

fn lose(cubic: &mut LinuxCubic, cause: Cause, millis: u64) {
    let flight = cubic.base.window.cwnd;
    cubic.on_congestion(
        &Congestion {
            cause,
            state_before: State::Open,
            flight,
            first: true,
            again: false,
            loss_window: MSS,
            head: None,
        },
        &at(millis),
    );
}

fn segments(cubic: &mut LinuxCubic) -> u64 {
    cubic.window().cwnd.segments(MSS)
}

#[test]
fn cube_root_of_the_specification() {
    for (difference, k) in [(1, 1388), (10, 2991), (30, 4316), (300, 9294)] {
        let mut cubic = cubic(100);
        cubic.curve.last_max = 100 + difference;
        cubic.begin_epoch(100, MSS, 0);
        assert_eq!(cubic.curve.k, k, "last_max - W = {difference}");
    }
}

#[test]
fn cube_root_is_within_three_per_mille() {
    for step in 0..2_000_000 {
        let a = 2_681_735_677_u64.saturating_mul(1 + step * step / 64);
        let (root, exact) = (cube_root(a) as f64, libm::cbrt(a as f64));
        assert!((root / exact - 1.0).abs() < 0.003, "{a}: {root} for {exact}");
    }
}

#[test]
fn constants_follow_from_beta_and_c() {
    let cubic = cubic(10);
    assert_eq!((cubic.beta, cubic.c, cubic.beta_scale), (717, 410, 15));
    assert_eq!((1_u64 << CURVE_SHIFT) / cubic.c, 2_681_735_677);
}

#[test]
fn target_and_cnt_after_a_loss_at_100() {
    for (millis, target, cnt) in
        [(0, 71, 70), (100, 73, 23), (1000, 87, 4), (2000, 96, 2), (4000, 100, 2), (8000, 121, 2)]
    {
        let mut cubic = cubic(100);
        lose(&mut cubic, Cause::DupAck, 0);
        cubic.on_ack(&ack(1), &at(50));
        cubic.on_ack(&ack(1), &at(50 + millis));
        assert_eq!((cubic.target(cubic.elapsed(50 + millis, 0)), cubic.curve.cnt), (target, cnt), "at {millis} ms");
    }
}

#[test]
fn ssthresh_is_717_of_1024() {
    for (w, ssthresh) in [(100, 70), (90, 63), (37, 25), (10, 7), (2, 2), (1, 2)] {
        let mut cubic = cubic(w);
        lose(&mut cubic, Cause::DupAck, 0);
        assert_eq!(cubic.window(), Window { cwnd: MSS * ssthresh, ssthresh: MSS * ssthresh });
    }
}

#[test]
fn fast_convergence_lowers_the_plateau() {
    for (fast_convergence, last_max) in [(true, 76), (false, 90)] {
        let mut cubic = cubic_with(90, &[("fast_convergence".into(), Value::Flag(fast_convergence))]);
        cubic.curve.last_max = 100;
        lose(&mut cubic, Cause::DupAck, 0);
        assert_eq!(cubic.curve.last_max, last_max);
    }
}

#[test]
fn one_segment_per_cnt_acknowledged_segments() {
    let mut cubic = cubic(100);
    lose(&mut cubic, Cause::DupAck, 0);
    // The window stands still for less than 31 ms: cnt stays 70.
    for i in 0..69 {
        cubic.on_ack(&ack(1), &at(100 + i / 3));
        assert_eq!(segments(&mut cubic), 70);
    }
    cubic.on_ack(&ack(1), &at(123));
    assert_eq!(segments(&mut cubic), 71);
}

#[test]
fn a_loss_forgets_what_was_counted() {
    let mut cubic = cubic(100);
    lose(&mut cubic, Cause::DupAck, 0);
    cubic.on_ack(&ack(60), &at(100));
    lose(&mut cubic, Cause::DupAck, 200);
    assert_eq!(cubic.counter, Counter::default());
}

#[test]
fn cnt_is_kept_for_31_ms_at_the_same_window() {
    let mut cubic = cubic(100);
    lose(&mut cubic, Cause::DupAck, 0);
    cubic.on_ack(&ack(1), &at(1000));
    cubic.on_ack(&ack(1), &at(1031));
    assert_eq!((cubic.curve.cnt, cubic.curve.last_time), (70, 1000));
    cubic.on_ack(&ack(1), &at(1032));
    assert_eq!(cubic.curve.last_time, 1032);
}

#[test]
fn keeps_up_with_reno() {
    // d = 10 * 15 / 8 = 18: 19 segments in hand buy Reno one, 37 two.
    let mut cubic = cubic(10);
    cubic.curve = Curve { cnt: 1000, reno_cwnd: 10, acked: MSS * 18, ..Curve::default() };
    cubic.keep_up_with_reno(10, MSS);
    assert_eq!((cubic.curve.reno_cwnd, cubic.curve.cnt), (10, 1000));
    cubic.curve.acked = MSS * 37;
    cubic.keep_up_with_reno(10, MSS);
    assert_eq!((cubic.curve.reno_cwnd, cubic.curve.cnt, cubic.curve.acked), (12, 5, MSS));
}

#[test]
fn a_time_out_forgets_everything() {
    let mut cubic = cubic(100);
    cubic.on_ack(&ack_with_rtt(20_000), &at(10));
    lose(&mut cubic, Cause::DupAck, 20);
    lose(&mut cubic, Cause::Timeout, 2000);
    assert_eq!(cubic.window(), Window { cwnd: MSS, ssthresh: MSS * 49 });
    assert_eq!((cubic.curve.last_max, cubic.base.hystart.delay_min()), (0, 0));
    // Slow start takes the whole ACK and ends at ssthresh; the next epoch starts on its plateau.
    cubic.on_ack(&ack(48), &at(2100));
    assert_eq!((segments(&mut cubic), cubic.curve.epoch_start), (49, None));
    cubic.on_ack(&ack(1), &at(2200));
    assert_eq!((cubic.curve.k, cubic.curve.origin, cubic.curve.cnt), (0, 49, CNT_BEFORE_LOSS));
}

#[test]
fn the_epoch_moves_by_the_silence_but_not_beyond_now() {
    let mut cubic = cubic(100);
    lose(&mut cubic, Cause::DupAck, 0);
    cubic.on_ack(&ack(1), &at(1000));
    cubic.base.initial_window = MSS * 10;
    cubic.on_idle(Span::from_millis(500), &at(3000));
    assert_eq!(cubic.curve.epoch_start, Some(1500));
    cubic.on_idle(Span::from_millis(9000), &at(9500));
    assert_eq!(cubic.curve.epoch_start, Some(9500));
    assert_eq!(segments(&mut cubic), 10, "the restart window, after more than a time-out");
}

#[test]
fn delay_min_rests_for_a_second_after_the_epoch_began() {
    let mut cubic = cubic(100);
    lose(&mut cubic, Cause::DupAck, 0);
    cubic.on_ack(&ack_with_rtt(40_000), &at(100));
    cubic.on_ack(&ack_with_rtt(20_000), &at(1099));
    assert_eq!(cubic.base.hystart.delay_min(), 40_000);
    cubic.on_ack(&ack_with_rtt(30_000), &at(1100));
    assert_eq!(cubic.base.hystart.delay_min(), 30_000);
}

#[test]
fn hystart_ends_slow_start_and_its_flag_prevents_it() {
    for (hystart, ends) in [(true, true), (false, false)] {
        let mut cubic = cubic_with(20, &[("hystart".into(), Value::Flag(hystart))]);
        cubic.on_ack(&ack_with_rtt(100_000), &at(100));
        for i in 0..9 {
            let round = View { snd_una: SeqNo(150), snd_nxt: SeqNo(200), ..at(200 + 10 * i) };
            cubic.on_ack(&ack_with_rtt(150_000), &round);
        }
        assert_eq!(!cubic.window().in_slow_start(), ends);
    }
}

/// The windows of a flow in ns-3.37 after its first ACKs: of one segment, then of two each.
#[test]
fn ns3_grows_by_what_is_acknowledged() {
    let mut sender = Driver::new("cubic", "ns3", &[], 10, None);
    let windows = [1, 2, 2, 2, 2].map(|acked| {
        sender.ack(acked, None);
        sender.cwnd()
    });
    assert_eq!(windows, [11.0, 13.0, 15.0, 17.0, 19.0]);
}
