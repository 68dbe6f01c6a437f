//! CUBIC in the form of Linux 2.6.22 (tcp_cubic 2.1), which ns-2.35's TCP-Linux runs: `cubic` of profile `linux26`.
//!
//! Its curve is that of `cc/cubic/linux.rs` with beta 819/1024. Different are: an ACK counts one, whatever it acknowledges, and
//! `cnt` is divided by an estimate of segments per ACK; an increment takes one ACK more than `cnt`; above the plateau the
//! window grows by 16 segments in 100 ms at most; before the first loss `cnt` is 50.

use crate::cc::algorithm::Setup;
use crate::cc::controller::CongestionControl;
use crate::cc::cubic::linux::{Curve, LinuxCubic, STALE};
use crate::cc::cubic::window::CubicWindow;
use crate::cc::jiffies::jiffies;
use crate::cc::parameters::ParamValues;
use crate::cc::signals::{Ack, Cause, Congestion, State, View};
use crate::cc::window::{IdleRule, Window};
use crate::compat::LINUX_MAX_BURST;
use crate::units::{Bytes, Span};

/// Ticks in 100 ms: the time of `max_increment`.
const PER_INCREMENT: u64 = 100;
/// `cnt` before the first loss.
const CNT_BEFORE_LOSS: u64 = 50;
/// Segments per ACK are kept in sixteenths, and a new sample counts one sixteenth. They start at two.
const RATIO_SHIFT: u32 = 4;
const FIRST_RATIO: u64 = 2 << RATIO_SHIFT;

/// Profile `linux26`.
#[derive(Debug)]
pub(crate) struct Linux26Cubic {
    linux: LinuxCubic,
    max_increment: u64,
    /// Segments per ACK, in sixteenths.
    ratio: u64,
    /// ACKs towards the next increment.
    acks: u64,
    /// The sender is TCP-Linux itself.
    agent: bool,
    /// An epoch that has not begun counts as begun at time zero, where no clock of Linux ever was: no delay is sampled in the first
    /// second of a run.
    since_zero: bool,
}

impl Linux26Cubic {
    pub(crate) fn new(values: &ParamValues, setup: &Setup) -> Linux26Cubic {
        let max_increment = values.number("max_increment") as u64;
        let (linux, agent) = (LinuxCubic::new(values, setup), setup.agent.is_some());
        let since_zero = agent && !values.flag("hystart");
        Linux26Cubic { linux, max_increment, ratio: FIRST_RATIO, acks: 0, agent, since_zero }
    }

    /// The window, slow start and its end.
    pub(super) fn base(&mut self) -> &mut CubicWindow {
        &mut self.linux.base
    }

    /// Whether the curve has an epoch.
    pub(super) fn has_epoch(&self) -> bool {
        self.linux.curve.epoch_start.is_some()
    }

    /// How long the curve's epoch has lasted.
    pub(super) fn epoch_age(&self, view: &View) -> Option<Span> {
        let start = self.linux.curve.epoch_start.or(self.since_zero.then_some(0));
        start.map(|start| Span::from_millis(jiffies(view.now) - start))
    }

    /// Minimum RTT in eighths of a tick, by timestamps that tick; 0 before the first sample.
    fn delay_min(&self) -> u64 {
        match self.linux.base.hystart.delay_min() {
            0 => 0,
            micros => (micros / 1_000 * 8).max(1),
        }
    }

    /// ratio = (15 ratio + sample) / 16, in Linux's truncating sixteenths; while nothing is wrong.
    fn track_ratio(&mut self, ack: &Ack, view: &View) {
        if ack.cumulative_segments > 0 && view.state == State::Open {
            self.ratio = self.ratio - (self.ratio >> RATIO_SHIFT) + u64::from(ack.cumulative_segments);
        }
    }

    fn update_cnt(&mut self, w: u64, view: &View) {
        let now = jiffies(view.now);
        let one = view.mss;
        self.linux.curve.acked += one;
        let Curve { last_cwnd, last_time, .. } = self.linux.curve;
        if last_cwnd == w && now - last_time <= STALE {
            return;
        }
        (self.linux.curve.last_cwnd, self.linux.curve.last_time) = (w, now);
        if self.linux.curve.epoch_start.is_none() {
            self.linux.begin_epoch(w, one, now);
        }
        let t = self.linux.elapsed(now, self.delay_min() >> 3);
        self.linux.curve.cnt = self.linux.cnt(w, t);
        if self.delay_min() > 0 && t >= self.linux.curve.k {
            // At most max_increment segments in 100 ms: W buys max_increment delay_min / 100 ms of them in an RTT.
            let least = w.saturating_mul(8 * PER_INCREMENT) / self.max_increment.saturating_mul(self.delay_min());
            self.linux.curve.cnt = self.linux.curve.cnt.max(least);
        }
        if self.linux.curve.last_max == 0 {
            self.linux.curve.cnt = CNT_BEFORE_LOSS;
        }
        if self.linux.base.reno_friendly {
            self.linux.keep_up_with_reno(w, view.mss);
        }
        let curve = &mut self.linux.curve;
        curve.cnt = ((curve.cnt << RATIO_SHIFT) / self.ratio.max(1)).max(1);
    }
}

impl CongestionControl for Linux26Cubic {
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        self.track_ratio(ack, view);
        let epoch_age = self.epoch_age(view);
        if self.linux.base.slow_start(ack, view, epoch_age) == Bytes::ZERO {
            return;
        }
        self.update_cnt(self.linux.base.window.cwnd.segments(view.mss), view);
        if self.acks >= self.linux.curve.cnt {
            self.linux.base.window.cwnd += view.mss;
            self.acks = 0;
        } else {
            self.acks += 1;
        }
    }

    fn on_congestion(&mut self, event: &Congestion, view: &View) {
        self.acks = 0;
        if event.cause == Cause::Timeout {
            self.ratio = FIRST_RATIO;
        }
        self.linux.on_congestion(event, view);
    }

    /// At the end of every episode, that of a time-out too, TCP-Linux raises cwnd to ssthresh, but for a burst of three.
    fn on_recovery_end(&mut self, view: &View) {
        let Window { cwnd, ssthresh } = self.linux.base.window;
        if self.agent && cwnd < ssthresh {
            self.linux.base.window.cwnd = ssthresh.min(view.pipe + view.mss * LINUX_MAX_BURST);
        }
    }

    fn beta(&self) -> f64 {
        self.linux.beta()
    }

    fn spares_marks(&self) -> bool {
        self.linux.spares_marks()
    }

    fn after_round(&self, window: Bytes, view: &View) -> Bytes {
        self.linux.after_round(window, view)
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.linux.base.window
    }

    fn on_undo(&mut self, before: Window, view: &View) {
        // cwnd = max(cwnd, last_max)
        let window = &mut self.linux.base.window;
        window.cwnd = window.cwnd.max(view.mss * self.linux.curve.last_max);
        window.ssthresh = window.ssthresh.max(before.ssthresh);
    }

    fn on_idle(&mut self, idle: Span, view: &View) {
        // The epoch is not moved by an idle period: Linux does that since 2015.
        let initial_window = self.linux.base.initial_window;
        self.linux.base.window.on_idle(idle, view, initial_window, IdleRule::Halve);
    }

    fn observe(&self, put: &mut dyn FnMut(&'static str, f64)) {
        self.linux.observe(put);
        put("segments_per_ack", self.ratio as f64 / f64::from(1 << RATIO_SHIFT));
    }
}

#[cfg(test)]
mod tests;
