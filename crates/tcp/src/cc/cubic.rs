//! CUBIC: the window is a cubic function of the time since the last loss (RFC 9438; Ha, Rhee, Xu 2008).
//!
//! The curve is flat where the last loss happened, so the window stays there long and then probes ever faster; growth
//! does not depend on the RTT. Below the window that Reno would reach by now, that window is used instead. Profile
//! `rfc` is the RFC in real numbers, profile `linux` the kernel's integer form in `linux.rs` (algorithms.md §4.1, §4.2).

pub(super) mod linux;

use super::hystart::{self, HyStart};
use super::{
    Ack, Algorithm, Cause, Congestion, CongestionControl, Demands, Param, ParamKind, Profile, Setup, Value, Values,
    View, Window,
};
use crate::units::{Bytes, Span, Time};

/// The cubic function of time.
pub(super) const CUBIC: Algorithm = Algorithm {
    name: "cubic",
    title: "CUBIC: a cubic function of the time since the last loss",
    reference: "RFC 9438",
    demands: Demands::NONE,
    params: PARAMS,
    profiles: &[
        Profile { name: "rfc", set: &[], recovery: None },
        Profile { name: "linux", set: LINUX, recovery: None },
    ],
    build: &|values, setup| {
        if values.flag("integer") {
            Box::new(linux::Linux::new(values, setup))
        } else {
            Box::new(Rfc::new(values, setup))
        }
    },
};

const LINUX: &[(&str, Value)] = &[
    ("integer", Value::Flag(true)),
    ("beta", Value::Number(717.0 / 1024.0)),
    ("c", Value::Number(410.0 / 1024.0)),
    ("slow_start_limit", Value::Number(1e6)),
    ("hystart", Value::Flag(true)),
];

const PARAMS: &[Param] = &[
    Param {
        name: "beta",
        kind: ParamKind::Number { min: 0.1, max: 0.9 },
        default: Value::Number(0.7),
        unit: "",
        doc: "what remains of the window after a loss",
        source: "RFC 9438 section 4.6; Linux 717/1024",
    },
    Param {
        name: "c",
        kind: ParamKind::Number { min: 0.01, max: 10.0 },
        default: Value::Number(0.4),
        unit: "segments/s^3",
        doc: "steepness of the curve",
        source: "RFC 9438 section 5.1; Linux 410/1024",
    },
    Param {
        name: "fast_convergence",
        kind: ParamKind::Flag,
        default: Value::Flag(true),
        unit: "",
        doc: "a loss below the last maximum lowers the plateau, to make room for new flows",
        source: "RFC 9438 section 4.7",
    },
    Param {
        name: "reno_friendly",
        kind: ParamKind::Flag,
        default: Value::Flag(true),
        unit: "",
        doc: "never slower than Reno would be",
        source: "RFC 9438 section 4.3; Linux tcp_friendliness",
    },
    Param {
        name: "per_segment",
        kind: ParamKind::Flag,
        default: Value::Flag(true),
        unit: "",
        doc: "growth per acknowledged segment, so that delayed ACKs cost nothing, instead of per ACK; profile rfc",
        source: "algorithms.md 4.1: RFC 9438 section 4.4 says per ACK",
    },
    Param {
        name: "slow_start_limit",
        kind: ParamKind::Number { min: 1.0, max: 1e6 },
        default: Value::Number(1.0),
        unit: "segments",
        doc: "the most that one ACK adds to cwnd in slow start",
        source: "RFC 5681 eq. 2; RFC 3465 calls it L",
    },
    Param {
        name: "integer",
        kind: ParamKind::Flag,
        default: Value::Flag(false),
        unit: "",
        doc: "the kernel's arithmetic: whole segments, whole milliseconds, losses measured against cwnd",
        source: "algorithms.md 4.2",
    },
    hystart::ENABLED,
    hystart::LOW_WINDOW,
    hystart::ACK_DELTA,
];

/// RTT samples are not taken for this long after an epoch began (Linux tcp_cubic).
const SETTLING: Span = Span::from_millis(1000);

/// What both forms share: the window, slow start and its end.
#[derive(Debug)]
struct Base {
    window: Window,
    hystart: HyStart,
    initial_window: Bytes,
    slow_start_limit: Bytes,
    fast_convergence: bool,
    reno_friendly: bool,
}

impl Base {
    fn new(values: &Values, setup: &Setup) -> Base {
        Base {
            window: Window { cwnd: setup.initial_window, ssthresh: setup.initial_ssthresh },
            hystart: HyStart::new(values),
            initial_window: setup.initial_window,
            slow_start_limit: setup.mss * values.number("slow_start_limit") as u64,
            fast_convergence: values.flag("fast_convergence"),
            reno_friendly: values.flag("reno_friendly"),
        }
    }

    /// Takes the RTT sample and does slow start. Gives the acknowledged bytes that are left for congestion avoidance.
    fn slow_start(&mut self, ack: &Ack, view: &View, epoch_age: Option<Span>) -> Bytes {
        if epoch_age.is_none_or(|age| age >= SETTLING) {
            self.hystart.on_ack(ack, view, &mut self.window);
        }
        if !view.may_grow {
            Bytes::ZERO
        } else if self.window.in_slow_start() {
            self.window.slow_start(ack.acked, self.slow_start_limit)
        } else {
            ack.acked
        }
    }

    /// The reduced window, or slow start from one segment after a time-out.
    fn reduce(&mut self, event: &Congestion, ssthresh: Bytes, view: &View) {
        if event.cause == Cause::Timeout {
            self.window.collapse(ssthresh, event);
            self.hystart.reset(view);
        } else {
            self.window.cut(ssthresh);
        }
    }
}

/// Profile `rfc`: windows in segments, times in seconds, both real.
#[derive(Debug)]
struct Rfc {
    base: Base,
    beta: f64,
    c: f64,
    per_segment: bool,
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
    fn new(values: &Values, setup: &Setup) -> Rfc {
        Rfc {
            base: Base::new(values, setup),
            beta: values.number("beta"),
            c: values.number("c"),
            per_segment: values.flag("per_segment"),
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
        let w = self.segments(view.mss);
        self.saved = Saved { w_max: self.w_max, cwnd_prior: self.cwnd_prior, epoch: self.epoch };
        self.w_max = match self.w_max {
            _ if event.cause == Cause::Timeout => None,
            // RFC 9438 §4.7: W_max = cwnd (1 + beta) / 2 if cwnd < W_max
            Some(w_max) if self.base.fast_convergence && w < w_max => Some(w * (1.0 + self.beta) / 2.0),
            _ => Some(w),
        };
        self.cwnd_prior = Some(w);
        self.epoch = None;
        self.fraction = 0.0;
        // RFC 9438 §4.6: ssthresh = max(flight_size * beta, 2)
        let ssthresh = Bytes(libm::round(event.flight.as_f64() * self.beta) as u64).max(view.mss * 2);
        self.base.reduce(event, ssthresh, view);
    }

    fn window(&self) -> Window {
        self.base.window
    }

    fn on_undo(&mut self, before: Window, view: &View) {
        // RFC 9438 §4.9.2: back to the state before, time standing still meanwhile excepted
        self.base.window.restore(before);
        let Saved { w_max, cwnd_prior, epoch } = self.saved;
        (self.w_max, self.cwnd_prior, self.epoch) = (w_max, cwnd_prior, epoch);
        self.accounted = view.now;
    }

    fn on_idle(&mut self, idle: Span, view: &View) {
        self.leave_out_time(view.now);
        self.accounted = view.now;
        let before = self.base.window.cwnd;
        if view.idle_restart {
            self.base.window.after_idle(idle, view.rto, self.base.initial_window);
        }
        // W_est belongs to a window that is gone: the CA stage after the restart is a new one.
        if self.base.window.cwnd < before {
            self.epoch = None;
            self.fraction = 0.0;
        }
    }

    fn observe(&self, put: &mut dyn FnMut(&'static str, f64)) {
        if let Some(w_max) = self.w_max {
            put("w_max", w_max);
        }
        if let Some(prior) = self.cwnd_prior {
            put("cwnd_prior", prior);
        }
        if let Some(epoch) = &self.epoch {
            put("epoch", epoch.start.as_secs_f64());
            put("k", epoch.k);
            put("w_est", epoch.w_est);
        }
    }
}

#[cfg(test)]
mod tests;
