//! H-TCP in the Linux kernel's form: integers, whole segments, HZ = 1000.
//!
//! alpha and beta are in 1/128, RTTs in whole milliseconds. alpha is worked out again only when the window has grown or
//! been cut. The clock starts again when an episode of loss begins and once more when it is over. The throughput is
//! that of stretches of at least an RTT and about a window; `max_rate` is its maximum smoothed value since three RTTs
//! after the last loss. An increase larger than the window makes the test for such a stretch fail, as in the kernel.

use super::*;
use crate::cc::jiffies::{HZ, jiffies};

/// 1 in 1/128.
const ONE: u64 = 128;
/// beta is 0.5 to 0.8.
const BETAS: (u64, u64) = (64, 102);
/// The maximum RTT rises by no more than this many ticks at once.
const MAX_RISE: u64 = 20;

/// Profile `linux`.
#[derive(Debug)]
pub(super) struct LinuxHtcp {
    base: Aimd,
    rtt_scaling: bool,
    bandwidth_switch: bool,
    /// In 1/128.
    alpha: u64,
    beta: u64,
    /// beta may follow the RTTs: the loss before came at about the same throughput.
    adaptive: bool,
    /// Segments that the last ACK took, while Open.
    per_ack: u64,
    /// snd_cwnd_cnt.
    count: u64,
    /// In ticks; 0 before the first.
    min_rtt: u64,
    max_rtt: u64,
    last_loss: u64,
    undo: Option<Undo>,
    rate: Throughput,
    /// The state after the last call: the kernel measures in the state that an ACK finds.
    prior: State,
}

/// What an undone reduction returns to.
#[derive(Clone, Copy, Debug)]
struct Undo {
    last_loss: u64,
    max_rtt: u64,
    previous_max: u64,
}

/// The throughput achieved, in segments per second.
#[derive(Debug, Default)]
struct Throughput {
    smoothed: u64,
    max: u64,
    /// `max` at the loss before.
    previous_max: u64,
    segments: u64,
    /// When the stretch under way began.
    since: u64,
}

impl LinuxHtcp {
    pub(super) fn new(values: &ParamValues, setup: &Setup) -> LinuxHtcp {
        LinuxHtcp {
            base: Aimd::new(values, setup),
            rtt_scaling: values.flag("rtt_scaling"),
            bandwidth_switch: values.flag("bandwidth_switch"),
            alpha: ONE,
            beta: BETAS.0,
            adaptive: false,
            per_ack: 1,
            count: 0,
            min_rtt: 0,
            max_rtt: 0,
            last_loss: jiffies(setup.now),
            undo: None,
            rate: Throughput::default(),
            prior: State::Open,
        }
    }

    fn measure_rtt(&mut self, rtt: Span) {
        // The kernel's microseconds, then ticks rounded up.
        let rtt = (rtt.as_nanos() / 1000).max(1).div_ceil(1000);
        if self.min_rtt > rtt || self.min_rtt == 0 {
            self.min_rtt = rtt;
        }
        if self.prior == State::Open {
            self.max_rtt = self.max_rtt.max(self.min_rtt);
            if rtt <= self.max_rtt + MAX_RISE {
                self.max_rtt = self.max_rtt.max(rtt);
            }
        }
    }

    fn measure(&mut self, ack: &Ack, view: &View) {
        let (now, acked) = (jiffies(view.now), u64::from(ack.cumulative_segments));
        if self.prior == State::Open {
            self.per_ack = acked;
        }
        if let Some(rtt) = ack.rtt {
            self.measure_rtt(rtt.latest);
        }
        if !self.bandwidth_switch {
            return;
        }
        if self.prior > State::Disorder {
            (self.rate.segments, self.rate.since) = (0, now);
            return;
        }
        self.rate.segments += acked;
        let elapsed = now - self.rate.since;
        let enough = self.base.segments(view.mss).checked_sub((self.alpha / ONE).max(1));
        let full = enough.is_some_and(|enough| self.rate.segments >= enough);
        if full && elapsed >= self.min_rtt && self.min_rtt > 0 {
            let rate = self.rate.segments * HZ / elapsed;
            if (now - self.last_loss) / self.min_rtt <= 3 {
                (self.rate.smoothed, self.rate.max) = (rate, rate);
            } else {
                self.rate.smoothed = (3 * self.rate.smoothed + rate) / 4;
                self.rate.max = self.rate.max.max(self.rate.smoothed);
            }
            (self.rate.segments, self.rate.since) = (0, now);
        }
    }

    /// The throughput has changed by more than a fifth since the loss before.
    fn has_changed(&mut self) -> bool {
        let (new, old) = (self.rate.max, std::mem::replace(&mut self.rate.previous_max, self.rate.max));
        !(4 * old..=6 * old).contains(&(5 * new))
    }

    fn update_beta(&mut self) {
        if self.bandwidth_switch && self.has_changed() {
            (self.beta, self.adaptive) = (BETAS.0, false);
        } else if self.adaptive && self.min_rtt > 10 && self.max_rtt > 0 {
            self.beta = (self.min_rtt * ONE / self.max_rtt).clamp(BETAS.0, BETAS.1);
        } else {
            (self.beta, self.adaptive) = (BETAS.0, true);
        }
    }

    fn update_alpha(&mut self, now: u64) {
        let mut factor = 1;
        let since_loss = now - self.last_loss;
        if since_loss > HZ {
            // 1 + 10 (Delta - 1) + ((Delta - 1) / 2)^2, in ticks
            let late = since_loss - HZ;
            factor += (10 * late + (late / 2) * (late / 2) / HZ) / HZ;
        }
        if self.rtt_scaling && self.min_rtt > 0 {
            // 100 ms over the RTT, in 1/8, within 0.5 to 10
            let scale = (8 * HZ / (10 * self.min_rtt)).clamp(4, 80);
            factor = (8 * factor / scale).max(1);
        }
        self.alpha = 2 * factor * (ONE - self.beta);
    }

    fn grow(&mut self, view: &View) {
        let w = self.base.segments(view.mss);
        if self.count * self.alpha / ONE >= w {
            self.base.reno.window.cwnd += view.mss;
            self.count = 0;
            self.update_alpha(jiffies(view.now));
        } else {
            self.count += self.per_ack;
        }
        self.per_ack = 1;
    }
}

impl CongestionControl for LinuxHtcp {
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        self.measure(ack, view);
        self.prior = view.state;
        if view.state == State::Open && self.undo.take().is_some() {
            self.last_loss = jiffies(view.now);
        }
        let below = self.base.reno.window.in_slow_start();
        if self.base.slow_start(ack, view) > Bytes::ZERO && !below {
            self.grow(view);
        }
    }

    fn on_congestion(&mut self, event: &Congestion, view: &View) {
        let now = jiffies(view.now);
        if event.first {
            self.update_beta();
            self.update_alpha(now);
        }
        let kept = self.base.segments(view.mss) * self.beta / ONE;
        // The kernel fades the maximum RTT first and then notes it for an undo.
        if event.first && self.max_rtt > self.min_rtt {
            self.max_rtt = self.min_rtt + (self.max_rtt - self.min_rtt) * 95 / 100;
        }
        let previous_max = self.rate.previous_max;
        self.undo = Some(Undo { last_loss: self.last_loss, max_rtt: self.max_rtt, previous_max });
        self.last_loss = now;
        self.prior = State::Recovery;
        self.count = 0;
        self.base.reduce(kept as f64, event, view.mss);
    }

    fn after_round(&self, window: Bytes, view: &View) -> Bytes {
        window + Bytes((self.alpha as f64 / ONE as f64 * view.mss.as_f64()) as u64)
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.base.reno.window
    }

    fn on_undo(&mut self, before: Window, _view: &View) {
        self.base.reno.window.restore(before);
        if let Some(undo) = self.undo.take() {
            (self.last_loss, self.max_rtt) = (undo.last_loss, undo.max_rtt);
            self.rate.previous_max = undo.previous_max;
        }
    }

    fn on_idle(&mut self, idle: Span, view: &View) {
        self.base.on_idle(idle, view);
    }

    fn observe(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("alpha", self.alpha as f64 / ONE as f64);
        put("beta", self.beta as f64 / ONE as f64);
        put("min_rtt_s", self.min_rtt as f64 / HZ as f64);
        put("max_rtt_s", self.max_rtt as f64 / HZ as f64);
        put("throughput", self.rate.max as f64);
        put("last_loss_s", self.last_loss as f64 / HZ as f64);
    }
}
