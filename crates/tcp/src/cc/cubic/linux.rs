//! CUBIC in the Linux kernel's form (tcp_cubic 2.3): integers, whole segments, HZ = 1000.
//!
//! The curve gives `cnt`, the acknowledged segments that buy one segment of window; it is worked out again only when
//! the window or, after 31 ms, the clock has moved. Truncation is part of the behaviour. Segments are counted here in
//! bytes over MSS, which is the same as the kernel's count as long as segments are full.

use super::window::CubicWindow;
use crate::cc::algorithm::Setup;
use crate::cc::backoff::MarkBackoff;
use crate::cc::controller::CongestionControl;
use crate::cc::jiffies::{HZ, NANOS_PER_JIFFY, jiffies};
use crate::cc::parameters::ParamValues;
use crate::cc::signals::{Ack, Cause, Congestion, View};
use crate::cc::window::{Counter, IdleRule, Window};
use crate::units::{Bytes, Span};

/// Ticks before `cnt` is worked out again for the same window.
pub(crate) const STALE: u64 = HZ / 32;
/// log2 of the curve's time unit, 1/1024 s (kernel: BICTCP_HZ).
const TIME_SHIFT: u32 = 10;
/// log2 of the scale of `c` times that of a time cubed.
const CURVE_SHIFT: u32 = 10 + 3 * TIME_SHIFT;
/// `cnt` at most this much before the first loss.
const CNT_BEFORE_LOSS: u64 = 20;

/// Profile `linux`.
#[derive(Debug)]
pub(crate) struct LinuxCubic {
    pub(crate) base: CubicWindow,
    counter: Counter,
    /// beta in 1/1024.
    pub(crate) beta: u64,
    /// Of segments, and 1/1024.
    backoff: MarkBackoff<u64, u64>,
    /// C in 1/1024 (kernel: cube_rtt_scale, 10 bic_scale).
    c: u64,
    /// Acknowledged windows per segment of Reno's growth, in 1/8 (kernel: beta_scale).
    pub(crate) beta_scale: u64,
    pub(crate) curve: Curve,
}

/// What a time-out wipes out. Windows in segments, times in ticks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Curve {
    pub(crate) cnt: u64,
    /// Window at the last loss; 0 before the first.
    pub(crate) last_max: u64,
    pub(crate) last_cwnd: u64,
    pub(crate) last_time: u64,
    origin: u64,
    /// Time from the epoch's start to the plateau, in 1/1024 s.
    pub(crate) k: u64,
    pub(crate) epoch_start: Option<u64>,
    /// Acknowledged and not yet turned into Reno's growth.
    pub(crate) acked: Bytes,
    /// Window that Reno would have.
    reno_cwnd: u64,
}

/// The kernel's cube root: a guess from the leading bits and one Newton step, low by up to 0.3 %. `a` from 64 on.
fn cube_root(a: u64) -> u64 {
    // The leading four to six bits: a = lead * 8^shift.
    let shift = (a.ilog2() + 1 - 4) / 3;
    let lead = a >> (3 * shift);
    // 64 cbrt(lead), rounded down
    let guess = (1..256).take_while(|x| x * x * x <= lead << 18).last().unwrap_or(1);
    // 6/64 for the bits that were cut off: reproduces the kernel's roots
    let x = ((guess + 6) << shift) >> 6;
    // x = (2 x + a / (x (x - 1))) / 3, with 341/1024 for a third
    ((2 * x + a / (x * (x - 1))) * 341) >> 10
}

impl LinuxCubic {
    pub(crate) fn new(values: &ParamValues, setup: &Setup) -> LinuxCubic {
        let beta = libm::round(values.number("beta") * 1024.0) as u64;
        LinuxCubic {
            base: CubicWindow::new(values, setup),
            counter: Counter::default(),
            beta,
            backoff: MarkBackoff::new(values.beta_ecn().map(|beta| libm::round(beta * 1024.0) as u64)),
            c: libm::round(values.number("c") * 1024.0) as u64,
            // 8 / alpha = 8 (1 + beta) / (3 (1 - beta))
            beta_scale: 8 * (1024 + beta) / 3 / (1024 - beta),
            curve: Curve::default(),
        }
    }

    pub(crate) fn begin_epoch(&mut self, w: u64, acked: Bytes, now: u64) {
        let curve = &mut self.curve;
        curve.epoch_start = Some(now);
        curve.acked = acked;
        curve.reno_cwnd = w;
        curve.origin = curve.last_max.max(w);
        // K = cbrt((W_max - cwnd_epoch) / C), all in 1/1024 s
        let cube_factor = (1 << CURVE_SHIFT) / self.c;
        curve.k = if curve.last_max <= w { 0 } else { cube_root(cube_factor.saturating_mul(curve.last_max - w)) };
    }

    /// One minimum RTT in ticks.
    fn ahead(&self) -> u64 {
        // usecs_to_jiffies rounds up
        (self.base.hystart.delay_min() * HZ).div_ceil(1_000_000)
    }

    /// Time since the epoch began, `ahead` included, in 1/1024 s.
    pub(crate) fn elapsed(&self, now: u64, ahead: u64) -> u64 {
        ((now - self.curve.epoch_start.unwrap_or(now) + ahead) << TIME_SHIFT) / HZ
    }

    /// The curve after `t`.
    pub(crate) fn target(&self, t: u64) -> u64 {
        let curve = &self.curve;
        // delta = C |t - K|^3; the kernel's 64 bits overflow here 346 s from K, which is not reproduced
        let distance = u128::from(t.abs_diff(curve.k));
        let delta = (u128::from(self.c) * distance * distance * distance) >> CURVE_SHIFT;
        let delta = u64::try_from(delta).unwrap_or(u64::MAX);
        if t < curve.k { curve.origin.saturating_sub(delta) } else { curve.origin.saturating_add(delta) }
    }

    /// Acknowledged segments that buy one, on the curve after `t`.
    pub(crate) fn cnt(&self, w: u64, t: u64) -> u64 {
        let target = self.target(t);
        if target > w { w / (target - w) } else { 100 * w }
    }

    fn update_cnt(&mut self, w: u64, acked: Bytes, view: &View) {
        let now = jiffies(view.now);
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
            self.curve.cnt = self.cnt(w, self.elapsed(now, self.ahead()));
            if self.curve.last_max == 0 {
                self.curve.cnt = self.curve.cnt.min(CNT_BEFORE_LOSS);
            }
        }
        if self.base.reno_friendly {
            self.keep_up_with_reno(w, view.mss);
        }
        self.curve.cnt = self.curve.cnt.max(2);
    }

    pub(crate) fn keep_up_with_reno(&mut self, w: u64, mss: Bytes) {
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

impl CongestionControl for LinuxCubic {
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        let now = jiffies(view.now);
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
        } else if !event.after_mark() {
            let converges = self.base.fast_convergence && w < self.curve.last_max;
            // last_max = W (1 + beta) / 2 if W < last_max
            self.curve.last_max = if converges { w * (1024 + self.beta) / 2048 } else { w };
            self.curve.epoch_start = None;
        }
        // ssthresh = max(beta W, 2)
        let (w, beta) = self.backoff.of(event, w, self.beta);
        let ssthresh = view.mss * (w * beta / 1024).max(2);
        self.base.reduce(event, ssthresh, view);
    }

    fn after_round(&self, window: Bytes, _view: &View) -> Bytes {
        super::after_round(window)
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.base.window
    }

    fn beta(&self) -> f64 {
        self.beta as f64 / 1024.0
    }

    fn spares_marks(&self) -> bool {
        self.backoff.spares_marks()
    }

    fn on_idle(&mut self, idle: Span, view: &View) {
        // The kernel's TX_START event: the epoch moves by the idle period, but not beyond now.
        let silent = idle.as_nanos() / NANOS_PER_JIFFY;
        self.curve.epoch_start = self.curve.epoch_start.map(|start| (start + silent).min(jiffies(view.now)));
        self.base.window.on_idle(idle, view, self.base.initial_window, IdleRule::Halve);
    }

    fn observe(&self, put: &mut dyn FnMut(&'static str, f64)) {
        self.base.observe(put);
        let curve = &self.curve;
        put("w_max", curve.last_max as f64);
        put("cnt", curve.cnt as f64);
        put("delay_min_s", Span::from_micros(self.base.hystart.delay_min()).as_secs_f64());
        if let Some(start) = curve.epoch_start {
            put("epoch_s", start as f64 / HZ as f64);
            put("k_s", curve.k as f64 / f64::from(1 << TIME_SHIFT));
            put("w_est", curve.reno_cwnd as f64);
        }
    }
}

#[cfg(test)]
mod tests;
