//! CUBIC in the Linux kernel's form (tcp_cubic 2.3; algorithms.md §4.2): integers, whole segments, HZ = 1000.
//!
//! The curve gives `cnt`, the acknowledged segments that buy one segment of window; it is worked out again only when
//! the window or, after 31 ms, the clock has moved. Truncation is part of the behaviour. Segments are counted here in
//! bytes over MSS, which is the same as the kernel's count as long as segments are full.

use super::Base;
use crate::cc::{Ack, Cause, Congestion, CongestionControl, Counter, Setup, Values, View, Window};
use crate::units::{Bytes, Span, Time};

/// Nanoseconds in a tick of the kernel's clock at HZ = 1000.
const NANOS_PER_TICK: u64 = 1_000_000;
/// Ticks per second.
const HZ: u64 = 1000;
/// Ticks before `cnt` is worked out again for the same window.
const STALE: u64 = HZ / 32;
/// log2 of the curve's time unit, 1/1024 s (kernel: BICTCP_HZ).
const TIME_SHIFT: u32 = 10;
/// log2 of the scale of `c` times that of a time cubed.
const CURVE_SHIFT: u32 = 10 + 3 * TIME_SHIFT;
/// `cnt` at most this much before the first loss.
const CNT_BEFORE_LOSS: u64 = 20;

/// Profile `linux`.
#[derive(Debug)]
pub(super) struct Linux {
    base: Base,
    counter: Counter,
    /// beta in 1/1024.
    beta: u64,
    /// C in 1/1024 (kernel: cube_rtt_scale, 10 bic_scale).
    c: u64,
    /// Acknowledged windows per segment of Reno's growth, in 1/8 (kernel: beta_scale).
    beta_scale: u64,
    curve: Curve,
}

/// What a time-out wipes out. Windows in segments, times in ticks.
#[derive(Clone, Debug, Default)]
struct Curve {
    cnt: u64,
    /// Window at the last loss; 0 before the first.
    last_max: u64,
    last_cwnd: u64,
    last_time: u64,
    origin: u64,
    /// Time from the epoch's start to the plateau, in 1/1024 s.
    k: u64,
    epoch_start: Option<u64>,
    /// Acknowledged and not yet turned into Reno's growth.
    acked: Bytes,
    /// Window that Reno would have.
    reno_cwnd: u64,
}

fn ticks(time: Time) -> u64 {
    time.as_nanos() / NANOS_PER_TICK
}

/// The kernel's cube root: a guess from the leading bits and one Newton step, low by up to 0.3 %. `a` from 64 on.
fn cube_root(a: u64) -> u64 {
    // The leading four to six bits: a = lead * 8^shift.
    let shift = (a.ilog2() + 1 - 4) / 3;
    let lead = a >> (3 * shift);
    // 64 cbrt(lead), rounded down
    let guess = (1..256).take_while(|x| x * x * x <= lead << 18).last().unwrap_or(1);
    // 6/64 for the bits that were cut off: reproduces the roots of algorithms.md §4.2
    let x = ((guess + 6) << shift) >> 6;
    // x = (2 x + a / (x (x - 1))) / 3, with 341/1024 for a third
    ((2 * x + a / (x * (x - 1))) * 341) >> 10
}

impl Linux {
    pub(super) fn new(values: &Values, setup: &Setup) -> Linux {
        let beta = libm::round(values.number("beta") * 1024.0) as u64;
        Linux {
            base: Base::new(values, setup),
            counter: Counter::default(),
            beta,
            c: libm::round(values.number("c") * 1024.0) as u64,
            // 8 / alpha = 8 (1 + beta) / (3 (1 - beta))
            beta_scale: 8 * (1024 + beta) / 3 / (1024 - beta),
            curve: Curve::default(),
        }
    }

    fn begin_epoch(&mut self, w: u64, acked: Bytes, now: u64) {
        let curve = &mut self.curve;
        curve.epoch_start = Some(now);
        curve.acked = acked;
        curve.reno_cwnd = w;
        curve.origin = curve.last_max.max(w);
        // K = cbrt((W_max - cwnd_epoch) / C), all in 1/1024 s
        let cube_factor = (1 << CURVE_SHIFT) / self.c;
        curve.k = if curve.last_max <= w { 0 } else { cube_root(cube_factor.saturating_mul(curve.last_max - w)) };
    }

    /// The curve at tick `now`, one least RTT ahead.
    fn target(&self, now: u64) -> u64 {
        let curve = &self.curve;
        // usecs_to_jiffies rounds up
        let ahead = (self.base.hystart.delay_min() * HZ).div_ceil(1_000_000);
        let t = ((now - curve.epoch_start.unwrap_or(now) + ahead) << TIME_SHIFT) / HZ;
        // delta = C |t - K|^3; the kernel's 64 bits overflow here 346 s from K, which is not reproduced
        let distance = u128::from(t.abs_diff(curve.k));
        let delta = (u128::from(self.c) * distance * distance * distance) >> CURVE_SHIFT;
        let delta = u64::try_from(delta).unwrap_or(u64::MAX);
        if t < curve.k { curve.origin.saturating_sub(delta) } else { curve.origin.saturating_add(delta) }
    }

    fn update_cnt(&mut self, w: u64, acked: Bytes, view: &View) {
        let now = ticks(view.now);
        self.curve.acked += acked;
        if self.curve.last_cwnd == w && now - self.curve.last_time <= STALE {
            return;
        }
        if self.curve.epoch_start.is_none() || now != self.curve.last_time {
            self.curve.last_cwnd = w;
            self.curve.last_time = now;
            if self.curve.epoch_start.is_none() {
                self.begin_epoch(w, acked, now);
            }
            let target = self.target(now);
            self.curve.cnt = if target > w { w / (target - w) } else { 100 * w };
            if self.curve.last_max == 0 {
                self.curve.cnt = self.curve.cnt.min(CNT_BEFORE_LOSS);
            }
        }
        if self.base.reno_friendly {
            self.keep_up_with_reno(w, view.mss);
        }
        self.curve.cnt = self.curve.cnt.max(2);
    }

    fn keep_up_with_reno(&mut self, w: u64, mss: Bytes) {
        let curve = &mut self.curve;
        // d = W / alpha segments buy Reno one; what is left stays in 1..=d
        let price = mss * ((w * self.beta_scale) >> 3).max(1);
        let bought = curve.acked.0.saturating_sub(1) / price.0;
        curve.acked -= price * bought;
        curve.reno_cwnd += bought;
        if curve.reno_cwnd > w {
            curve.cnt = curve.cnt.min(w / (curve.reno_cwnd - w));
        }
    }
}

impl CongestionControl for Linux {
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        let now = ticks(view.now);
        let epoch_age = self.curve.epoch_start.map(|start| Span::from_millis(now - start));
        let acked = self.base.slow_start(ack, view, epoch_age);
        if acked > Bytes::ZERO {
            let w = self.base.window.cwnd.segments(view.mss);
            self.update_cnt(w, acked, view);
            let per_increment = view.mss * self.curve.cnt;
            self.counter.grow(&mut self.base.window, acked, per_increment, view.mss);
        }
    }

    fn on_congestion(&mut self, event: &Congestion, view: &View) {
        let w = self.base.window.cwnd.segments(view.mss);
        self.counter.reset();
        if event.cause == Cause::Timeout {
            self.curve = Curve::default();
        } else {
            let converges = self.base.fast_convergence && w < self.curve.last_max;
            // last_max = W (1 + beta) / 2 if W < last_max
            self.curve.last_max = if converges { w * (1024 + self.beta) / 2048 } else { w };
            self.curve.epoch_start = None;
        }
        // ssthresh = max(beta W, 2)
        let ssthresh = view.mss * (w * self.beta / 1024).max(2);
        self.base.reduce(event, ssthresh, view);
    }

    fn window(&self) -> Window {
        self.base.window
    }

    fn on_undo(&mut self, before: Window, _view: &View) {
        self.base.window.restore(before);
    }

    fn on_idle(&mut self, idle: Span, view: &View) {
        // The kernel's TX_START event: the epoch moves by the silence, but not beyond now.
        let silent = idle.as_nanos() / NANOS_PER_TICK;
        self.curve.epoch_start = self.curve.epoch_start.map(|start| (start + silent).min(ticks(view.now)));
        self.base.window.halve_while_idle(idle, view, self.base.initial_window);
    }

    fn observe(&self, put: &mut dyn FnMut(&'static str, f64)) {
        let curve = &self.curve;
        put("w_max", curve.last_max as f64);
        put("cnt", curve.cnt as f64);
        put("delay_min", Span::from_micros(self.base.hystart.delay_min()).as_secs_f64());
        if let Some(start) = curve.epoch_start {
            put("epoch", start as f64 / HZ as f64);
            put("k", curve.k as f64 / f64::from(1 << TIME_SHIFT));
            put("w_est", curve.reno_cwnd as f64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::{Choice, RttSample, State, Value};

    const MSS: Bytes = Bytes(1460);

    fn cubic(segments: u64) -> Linux {
        cubic_with(segments, &[])
    }

    fn cubic_with(segments: u64, overrides: &[(String, Value)]) -> Linux {
        let values = Choice::new("cubic", Some("linux"), overrides).unwrap().values;
        let (initial_window, initial_ssthresh) = (MSS * segments, Bytes::MAX);
        Linux::new(&values, &Setup { now: Time::ZERO, mss: MSS, initial_window, initial_ssthresh, handshake_rtt: None })
    }

    fn at(millis: u64) -> View {
        let now = Time::ZERO + Span::from_millis(millis);
        let rto = Span::from_millis(1000);
        View { now, mss: MSS, snd_una: millis + 1, snd_nxt: millis + 2, rto, may_grow: true, ..View::default() }
    }

    fn ack(segments: u64) -> Ack {
        Ack { acked: MSS * segments, acked_segments: segments as u32, ..Ack::default() }
    }

    fn ack_with_rtt(micros: u64) -> Ack {
        let rtt = Span::from_micros(micros);
        Ack { rtt: Some(RttSample { latest: rtt, oldest: rtt }), ..ack(1) }
    }

    fn lose(cubic: &mut Linux, cause: Cause, millis: u64) {
        let flight = cubic.base.window.cwnd;
        cubic.on_congestion(
            &Congestion { cause, state_before: State::Open, flight, first: true, loss_window: MSS },
            &at(millis),
        );
    }

    fn segments(cubic: &Linux) -> u64 {
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
            assert_eq!((cubic.target(50 + millis), cubic.curve.cnt), (target, cnt), "at {millis} ms");
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
            assert_eq!(segments(&cubic), 70);
        }
        cubic.on_ack(&ack(1), &at(123));
        assert_eq!(segments(&cubic), 71);
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
        assert_eq!((segments(&cubic), cubic.curve.epoch_start), (49, None));
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
        assert_eq!(segments(&cubic), 10, "the restart window, after more than a time-out");
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
                let round = View { snd_una: 150, snd_nxt: 200, ..at(200 + 10 * i) };
                cubic.on_ack(&ack_with_rtt(150_000), &round);
            }
            assert_eq!(!cubic.window().in_slow_start(), ends);
        }
    }
}
