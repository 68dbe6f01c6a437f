//! CUBIC as RFC 9438 has it: windows in segments, times in seconds, both real.
//!
//! W_cubic(t) is the curve, W_est the window that Reno would have by now; the larger one counts. Growth is per
//! acknowledged segment unless `per_segment` is off. Time in which the application held the sender back does not count.
//! Slow start, and what ends it, is `CubicWindow`'s.

use super::window::CubicWindow;
use crate::cc::algorithm::Setup;
use crate::cc::backoff::MarkBackoff;
use crate::cc::controller::CongestionControl;
use crate::cc::parameters::ParamValues;
use crate::cc::signals::{Ack, Cause, Congestion, View};
use crate::cc::window::{IdleRule, Window};
use crate::units::{Bytes, Span, Time};

/// Profile `rfc`: windows in segments, times in seconds, both real.
#[derive(Debug)]
pub(super) struct Rfc {
    base: CubicWindow,
    beta: f64,
    backoff: MarkBackoff<Bytes, f64>,
    c: f64,
    per_segment: bool,
    strict: bool,
    /// Growth not yet in cwnd, below one byte.
    fraction: f64,
    /// W_max; absent before the first loss or CA stage, and after a time-out.
    w_max: Option<f64>,
    cwnd_prior: Option<f64>,
    epoch: Option<Epoch>,
    /// The time up to which the epoch is accounted for.
    accounted: Time,
    /// As it was before the last reduction.
    saved: Saved,
}

/// What an undone reduction returns to (RFC 9438 §4.9.2).
#[derive(Clone, Copy, Debug, Default)]
struct Saved {
    w_max: Option<f64>,
    cwnd_prior: Option<f64>,
    epoch: Option<Epoch>,
}

/// A stage of congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// Its start, moved forward by the time in which the application held the sender back.
    start: Time,
    origin: f64,
    k: f64,
    w_est: f64,
}

impl Rfc {
    pub(super) fn new(values: &ParamValues, setup: &Setup) -> Rfc {
        Rfc {
            base: CubicWindow::new(values, setup),
            beta: values.number("beta"),
            backoff: MarkBackoff::new(values.beta_ecn()),
            c: values.number("c"),
            per_segment: values.flag("per_segment"),
            strict: values.flag("strict"),
            fraction: 0.0,
            w_max: None,
            cwnd_prior: None,
            epoch: None,
            accounted: setup.now,
            saved: Saved::default(),
        }
    }

    /// cwnd in segments.
    fn segments(&self, mss: Bytes) -> f64 {
        (self.base.window.cwnd.as_f64() + self.fraction) / mss.as_f64()
    }

    /// RFC 9438 §4.2, §4.8: without a W_max (first CA stage, or first after a time-out) the epoch begins on its plateau.
    fn begin_epoch(&mut self, w: f64, now: Time) -> Epoch {
        let origin = self.w_max.get_or_insert(w).max(w);
        self.cwnd_prior.get_or_insert(w);
        // RFC 9438 eq. 2: K = cbrt((W_max - cwnd_epoch) / C)
        Epoch { start: now, origin, k: libm::cbrt((origin - w) / self.c), w_est: w }
    }

    fn w_cubic(&self, epoch: &Epoch, t: Span) -> f64 {
        // RFC 9438 eq. 1: W_cubic(t) = C (t - K)^3 + W_max
        let past_k = t.as_secs_f64() - epoch.k;
        self.c * past_k * past_k * past_k + epoch.origin
    }

    fn avoid_congestion(&mut self, acked: f64, view: &View) {
        let w = self.segments(view.mss);
        let mut epoch = self.epoch.unwrap_or_else(|| self.begin_epoch(w, view.now));
        let caught_up = self.cwnd_prior.is_some_and(|prior| epoch.w_est >= prior);
        // RFC 9438 §4.3: alpha = 3 (1 - beta) / (1 + beta), then 1 once W_est >= cwnd_prior
        let alpha = if caught_up { 1.0 } else { 3.0 * (1.0 - self.beta) / (1.0 + self.beta) };
        // RFC 9438 eq. 4: W_est = W_est + alpha * segments_acked / cwnd
        epoch.w_est += alpha * acked / w;
        let t = view.now.since(epoch.start);
        let growth = if self.base.reno_friendly && self.w_cubic(&epoch, t) < epoch.w_est {
            (epoch.w_est - w).max(0.0)
        } else {
            // RFC 9438 §4.2: target = W_cubic(t + RTT) within [cwnd, 1.5 cwnd]
            let target = self.w_cubic(&epoch, t + view.srtt.unwrap_or_default()).clamp(w, 1.5 * w);
            // RFC 9438 §4.4: cwnd = cwnd + (target - cwnd) / cwnd; here per segment, at most a window of them
            let units = if self.per_segment { acked.min(w) } else { 1.0 };
            units * (target - w) / w
        };
        self.epoch = Some(epoch);
        let bytes = self.fraction + growth * view.mss.as_f64();
        self.fraction = bytes - libm::floor(bytes);
        self.base.window.cwnd += Bytes(bytes as u64);
    }

    /// RFC 9438 §5.8: t leaves out the time in which the sender was application-limited.
    fn leave_out_time(&mut self, now: Time) {
        if let Some(epoch) = &mut self.epoch {
            epoch.start = epoch.start + now.since(self.accounted);
        }
    }

    /// W_max and the window that a reduction starts from.
    fn note_window(&mut self, event: &Congestion, view: &View) {
        let w = self.segments(view.mss);
        self.w_max = match self.w_max {
            _ if event.cause == Cause::Timeout => None,
            // RFC 9438 §4.7: W_max = cwnd (1 + beta) / 2 if cwnd < W_max
            Some(w_max) if self.base.fast_convergence && w < w_max => Some(w * (1.0 + self.beta) / 2.0),
            _ => Some(w),
        };
        // A further time-out finds the loss window, which is no window before a reduction (RFC 9438 §4.1.2, cwnd_prior).
        if event.first || event.again {
            self.cwnd_prior = Some(w);
        }
    }
}

impl CongestionControl for Rfc {
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        if !view.may_grow {
            self.leave_out_time(view.now);
        }
        self.accounted = view.now;
        let epoch_age = self.epoch.map(|epoch| view.now.since(epoch.start));
        let acked = self.base.slow_start(ack, view, epoch_age);
        if acked > Bytes::ZERO {
            self.avoid_congestion(acked.as_f64() / view.mss.as_f64(), view);
        }
    }

    fn on_congestion(&mut self, event: &Congestion, view: &View) {
        if event.first {
            self.saved = Saved { w_max: self.w_max, cwnd_prior: self.cwnd_prior, epoch: self.epoch };
        }
        if !event.after_mark() {
            self.note_window(event, view);
        }
        self.epoch = None;
        self.fraction = 0.0;
        // RFC 9438 §4.6: ssthresh = flight_size * beta, cwnd = max(ssthresh, 2), or max(ssthresh, 1) on an ECN echo
        let floor = if event.cause == Cause::Ecn { view.mss } else { view.mss * 2 };
        let base = if event.again { self.base.window.ssthresh } else { event.flight };
        let (base, beta) = self.backoff.of(event, base, self.beta);
        let ssthresh = Bytes(libm::round(base.as_f64() * beta) as u64).max(floor);
        self.base.reduce(event, ssthresh, view);
    }

    fn after_round(&self, window: Bytes, _view: &View) -> Bytes {
        super::after_round(window)
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.base.window
    }

    fn on_undo(&mut self, before: Window, view: &View) {
        // RFC 9438 §4.9.2: back to the state before, time standing still meanwhile excepted
        self.base.window.restore(before);
        let Saved { w_max, cwnd_prior, epoch } = self.saved;
        (self.w_max, self.cwnd_prior, self.epoch) = (w_max, cwnd_prior, epoch);
        self.accounted = view.now;
    }

    fn is_strict(&self) -> bool {
        self.strict
    }

    fn beta(&self) -> f64 {
        self.beta
    }

    fn spares_marks(&self) -> bool {
        self.backoff.spares_marks()
    }

    fn on_idle(&mut self, idle: Span, view: &View) {
        self.leave_out_time(view.now);
        self.accounted = view.now;
        let before = self.base.window.cwnd;
        self.base.window.on_idle(idle, view, self.base.initial_window, IdleRule::Restart);
        // W_est belongs to a window that is gone: the CA stage after the restart is a new one.
        if self.base.window.cwnd < before {
            self.epoch = None;
            self.fraction = 0.0;
        }
    }

    fn observe(&self, put: &mut dyn FnMut(&'static str, f64)) {
        self.base.observe(put);
        if let Some(w_max) = self.w_max {
            put("w_max", w_max);
        }
        if let Some(prior) = self.cwnd_prior {
            put("cwnd_prior", prior);
        }
        if let Some(epoch) = &self.epoch {
            put("epoch_s", epoch.start.as_secs_f64());
            put("k_s", epoch.k);
            put("w_est", epoch.w_est);
        }
    }
}

#[cfg(test)]
mod tests;
