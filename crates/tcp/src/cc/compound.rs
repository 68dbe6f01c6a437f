//! Compound: Reno's window and one that goes by delay, added (Tan, Song, Zhang, Sridharan 2006).
//!
//! The sum W may be in the network. As long as fewer than gamma segments wait in the queue, the delay window grows by
//! alpha W^k - 1 per round, more than Reno as W grows; beyond, it gives up what waits. A loss halves the sum. So a path
//! without queue is filled fast, and where a queue stands Reno remains. Profile `linux26` is the module of Linux 2.6.22,
//! with the minimum RTT of the round and an integer root. Not modelled: the later tuning of gamma (draft-sridharan-tcpm-ctcp).

use super::algorithm::{Algorithm, Internal, Requirements, Setup};
use super::controller::CongestionControl;
use super::parameters::{Param, ParamValues, Profile, Value};
use super::round_rtt::RoundRtt;
use super::signals::{Ack, Cause, Congestion, View};
use super::window::{Counter, IdleRule, Window};
use crate::seq::SeqNo;
use crate::units::{Bytes, Span};

/// The sum of a loss window and a delay window.
pub(super) const COMPOUND: Algorithm = Algorithm {
    name: "compound",
    title: "Compound: Reno's window and one that goes by delay",
    reference: "Tan, Song, Zhang, Sridharan 2006, A Compound TCP Approach",
    requirements: Requirements::NONE,
    starts: Some(1),
    params: PARAMS,
    profiles: &[
        Profile { name: "paper", set: &[], recovery: None },
        Profile { name: "linux26", set: LINUX26, recovery: None },
    ],
    internals: INTERNALS,
    states: &[],
    build: &|values, setup| Box::new(Compound::new(values, setup)),
};

/// What it shows of itself.
const INTERNALS: &[Internal] = &[
    Internal::of("dwnd_bytes", "delay window"),
    Internal::of("diff", "own segments in the queue"),
    Internal::of("base_rtt_s", "minimum RTT"),
];

const LINUX26: &[(&str, Value)] = &[("integer", Value::Flag(true)), ("low_window", Value::Number(0.0))];

const PARAMS: &[Param] = &[
    Param::number("alpha", 0.01..=1.0, 0.125)
        .doc("the delay window grows by alpha W^k - 1 per round")
        .source("Tan et al. 2006, section IV"),
    Param::number("k", 0.1..=1.0, 0.75)
        .doc("the exponent of that growth; profile paper")
        .source("Tan et al. 2006, section IV"),
    Param::number("gamma", 1.0..=1e6, 30.0)
        .unit("segments")
        .doc("segments in the queue from which on the delay window shrinks")
        .source("Tan et al. 2006, section IV"),
    Param::number("zeta", 0.01..=100.0, 1.0)
        .doc("share of the queued segments that the delay window gives up per round")
        .source("Tan et al. 2006"),
    Param::number("beta", 0.1..=0.9, 0.5)
        .doc("part of the whole window given up at a loss; profile paper")
        .source("Tan et al. 2006, section IV"),
    Param::number("low_window", 0.0..=1e6, 41.0)
        .unit("segments")
        .doc("below this whole window the delay window does not grow")
        .source("draft-sridharan-tcpm-ctcp"),
    Param::flag("integer", false)
        .doc(
            "the module of Linux 2.6.22: minimum RTT of the round, W that of a round ago, integer root; \
             a loss leaves the delay window",
        )
        .source("ns-2.35, TCP-Linux"),
];

/// With `integer` a round is judged if it had more samples than this.
const TOO_FEW_SAMPLES: u64 = 2;

#[derive(Debug)]
struct Compound {
    /// Reno's window, and ssthresh of the sum.
    loss: Window,
    /// The delay window.
    delay_window: Bytes,
    counter: Counter,
    delay: RoundRtt,
    /// `snd_nxt` when the last round began: what it acknowledges is the window of a round ago.
    began_at: SeqNo,
    initial_window: Bytes,
    settings: Settings,
    /// What waited in the queue when the last round ended, in segments.
    diff: f64,
}

/// The parameters.
#[derive(Debug)]
struct Settings {
    alpha: f64,
    k: f64,
    gamma: f64,
    zeta: f64,
    beta: f64,
    low_window: u64,
    integer: bool,
}

impl Settings {
    /// What the delay window gains in a round, in segments.
    fn gain(&self, w: f64) -> f64 {
        let power = if self.integer {
            // W^3/4 and its part alpha in whole segments
            libm::floor(libm::floor(libm::pow(w, 0.75)) * self.alpha)
        } else {
            libm::pow(w, self.k) * self.alpha
        };
        (power - 1.0).max(0.0)
    }
}

impl Compound {
    fn new(values: &ParamValues, setup: &Setup) -> Compound {
        Compound {
            loss: Window { cwnd: setup.initial_window, ssthresh: setup.initial_ssthresh },
            delay_window: Bytes::ZERO,
            counter: Counter::default(),
            delay: RoundRtt::default(),
            began_at: SeqNo(1),
            initial_window: setup.initial_window,
            settings: Settings {
                alpha: values.number("alpha"),
                k: values.number("k"),
                gamma: values.number("gamma"),
                zeta: values.number("zeta"),
                beta: values.number("beta"),
                low_window: values.number("low_window") as u64,
                integer: values.flag("integer"),
            },
            diff: 0.0,
        }
    }

    fn whole(&self) -> Bytes {
        self.loss.cwnd + self.delay_window
    }

    /// diff = (W / base - W / R) base, and the W it was worked out from, in segments. R is the smoothed RTT (Tan et al.
    /// 2006, section III), with `integer` the least of the round.
    fn measure(&self, view: &View) -> Option<(f64, f64)> {
        let base = self.delay.base? as f64;
        let mss = view.mss.as_f64();
        let (w, rtt) = if self.settings.integer {
            let acknowledged = self.delay_round_size();
            (libm::floor(acknowledged.as_f64() / mss), self.delay.least? as f64)
        } else {
            (self.whole().as_f64() / mss, view.srtt?.as_micros() as f64 + 1.0)
        };
        Some((w, w - w * base / rtt.max(base)))
    }

    fn delay_round_size(&self) -> Bytes {
        self.delay.end().since(self.began_at)
    }

    /// A round has ended.
    fn judge(&mut self, view: &View) {
        let enough = !self.settings.integer || self.delay.samples > TOO_FEW_SAMPLES;
        let Some((w, diff)) = self.measure(view).filter(|_| enough) else { return };
        self.diff = diff;
        let dwnd = self.delay_window.as_f64() / view.mss.as_f64();
        let dwnd = if diff >= self.settings.gamma {
            // dwnd = max(dwnd - zeta diff, 0)
            (dwnd - self.settings.zeta * diff).max(0.0)
        } else if self.whole().segments(view.mss) >= self.settings.low_window {
            // dwnd = dwnd + max(alpha W^k - 1, 0)
            dwnd + self.settings.gain(w)
        } else {
            dwnd
        };
        self.delay_window = Bytes((dwnd * view.mss.as_f64()) as u64);
    }

    /// In the module the sum is halved from outside; what the delay window leaves of it is Reno's.
    fn split(&mut self, whole: Bytes) {
        if self.delay_window >= whole {
            self.delay_window = Bytes::ZERO;
        }
        self.loss.cwnd = whole - self.delay_window;
    }
}

impl CongestionControl for Compound {
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        self.delay.on_ack(ack);
        if self.delay.returns_to_open(view) {
            self.began_at = self.delay.end();
            self.delay.begin_round(view);
        }
        if !view.may_grow {
            return;
        }
        let mut acked = ack.acked;
        let slow_start = self.whole() < self.loss.ssthresh;
        if slow_start {
            acked = self.loss.slow_start(acked, view.mss);
        }
        if acked > Bytes::ZERO && self.whole() >= self.loss.ssthresh {
            // One segment per whole window of acknowledged data
            let per_increment = self.whole();
            self.counter.grow(&mut self.loss, acked, per_increment, view.mss);
        }
        if self.delay.round_ends(view) {
            // In slow start there is no delay window.
            if !slow_start {
                self.judge(view);
            }
            self.began_at = self.delay.end();
            self.delay.begin_round(view);
        }
    }

    fn on_congestion(&mut self, event: &Congestion, view: &View) {
        let whole = self.whole();
        let kept = if self.settings.integer {
            view.mss * (whole.segments(view.mss) / 2)
        } else {
            Bytes((whole.as_f64() * (1.0 - self.settings.beta)) as u64)
        };
        let ssthresh = kept.max(view.mss * 2);
        self.counter.reset();
        if event.cause == Cause::Timeout {
            self.delay_window = Bytes::ZERO;
            self.loss.collapse(ssthresh, event);
            return;
        }
        self.loss.ssthresh = ssthresh;
        if !self.settings.integer {
            // dwnd = max(W (1 - beta) - cwnd / 2, 0)
            self.delay_window = ssthresh.saturating_sub(self.loss.cwnd / 2);
        }
        self.split(ssthresh);
    }

    fn begin(&mut self, window: Window) {
        (self.loss, self.delay_window) = (window, Bytes::ZERO);
    }

    fn window(&mut self) -> Window {
        Window { cwnd: self.whole(), ssthresh: self.loss.ssthresh }
    }

    fn on_undo(&mut self, before: Window, _view: &View) {
        let mut window = self.window();
        window.restore(before);
        self.loss = Window { cwnd: window.cwnd - self.delay_window, ssthresh: window.ssthresh };
    }

    fn on_idle(&mut self, idle: Span, view: &View) {
        if self.settings.integer {
            // The module begins again whenever something is sent with nothing outstanding.
            self.loss.cwnd = self.whole();
            self.delay_window = Bytes::ZERO;
            self.delay.reset(view);
        }
        if view.slow_start_after_idle {
            let mut window = self.window();
            window.on_idle(idle, view, self.initial_window, IdleRule::Restart);
            self.split(window.cwnd);
        }
    }

    fn observe(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("dwnd_bytes", self.delay_window.as_f64());
        put("diff", self.diff);
        if let Some(base) = self.delay.base {
            put("base_rtt_s", base as f64 / 1e6);
        }
    }
}

#[cfg(test)]
mod tests;
