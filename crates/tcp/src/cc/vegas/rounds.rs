//! Vegas once per round trip over the sender's ordinary recovery: the kernels' form, and a simulator's.
//!
//! Whole segments, the minimum RTT of a round, growth and losses as in Reno while something is missing. The decision and
//! slow start do not ask whether the window is used; Reno's growth does.

use crate::cc::algorithm::Setup;
use crate::cc::controller::CongestionControl;
use crate::cc::parameters::ParamValues;
use crate::cc::signals::{Ack, Cause, Congestion, Sent, State, View};
use crate::cc::window::{Counter, IdleRule, Window};
use crate::seq::SeqNo;
use crate::units::{Bytes, Span};

/// With fewer RTTs in a round than this, delayed ACKs may account for all of them.
const ENOUGH_SAMPLES: u32 = 3;
/// In segments.
const MIN_WINDOW: u64 = 2;

/// Vegas that judges once per round trip.
#[derive(Debug)]
pub(super) struct Rounds {
    window: Window,
    counter: Counter,
    initial_window: Bytes,
    alpha: f64,
    beta: f64,
    gamma: f64,
    slow_start_limit: Bytes,
    by_target: bool,
    sent_window: bool,
    barely_lower: bool,
    keeps_base: bool,
    /// Nothing is missing: Vegas decides, not Reno.
    active: bool,
    /// As last heard of.
    state: State,
    snd_nxt: SeqNo,
    /// Minimum RTT of all and of this round, in µs as the kernel counts them: one more than measured.
    base: Option<u64>,
    min: Option<u64>,
    samples: u32,
    /// The round ends when more than this has been acknowledged.
    round_end: SeqNo,
    /// Where the round began, and the window then, in segments.
    round_from: SeqNo,
    round_window: u64,
    backlog: f64,
}

impl Rounds {
    pub(super) fn new(values: &ParamValues, setup: &Setup) -> Rounds {
        Rounds {
            window: Window { cwnd: setup.initial_window, ssthresh: setup.initial_ssthresh },
            counter: Counter::default(),
            initial_window: setup.initial_window,
            alpha: values.number("alpha"),
            beta: values.number("beta"),
            gamma: values.number("gamma"),
            slow_start_limit: setup.mss * values.number("slow_start_limit") as u64,
            by_target: values.flag("by_target"),
            sent_window: values.flag("sent_window"),
            barely_lower: values.flag("barely_lower"),
            keeps_base: values.flag("keeps_base"),
            active: true,
            state: State::Open,
            snd_nxt: SeqNo::FIRST_DATA,
            base: None,
            min: None,
            samples: 0,
            round_end: SeqNo::FIRST_DATA,
            round_from: SeqNo::FIRST_DATA,
            round_window: setup.initial_window.segments(setup.mss),
            backlog: 0.0,
        }
    }

    /// Begins anew: what was measured before says nothing of the window now.
    fn enable(&mut self, snd_nxt: SeqNo) {
        self.active = true;
        self.round_end = snd_nxt;
        self.forget_round();
    }

    fn forget_round(&mut self) {
        (self.samples, self.min) = (0, None);
    }

    fn sample(&mut self, rtt: Span) {
        let rtt = rtt.as_micros() + 1;
        self.base = Some(self.base.map_or(rtt, |base| base.min(rtt)));
        self.min = Some(self.min.map_or(rtt, |min| min.min(rtt)));
        self.samples += 1;
    }

    fn in_slow_start(&self) -> bool {
        // Linux 2.6.22 is in slow start at equality too.
        self.window.in_slow_start() || (self.sent_window && self.window.cwnd == self.window.ssthresh)
    }

    fn slow_start(&mut self, acked: Bytes, view: &View) -> Bytes {
        if self.sent_window {
            self.window.cwnd += view.mss.min(acked);
            return Bytes::ZERO;
        }
        self.window.slow_start(acked, self.slow_start_limit)
    }

    fn grow_as_reno(&mut self, ack: &Ack, view: &View) {
        if !view.may_grow {
            return;
        }
        let mut acked = ack.acked;
        if self.in_slow_start() {
            acked = self.slow_start(acked, view);
        }
        if acked > Bytes::ZERO && !self.in_slow_start() {
            let per_increment = self.window.cwnd;
            self.counter.grow(&mut self.window, acked, per_increment, view.mss);
        }
    }

    /// The round is over.
    fn end_round(&mut self, ack: &Ack, view: &View) {
        let w = self.window.cwnd.segments(view.mss);
        let sent = self.round_end.since(self.round_from).segments(view.mss);
        let window_before = std::mem::replace(&mut self.round_window, w);
        (self.round_from, self.round_end) = (self.round_end, view.snd_nxt);
        match (self.base, self.min) {
            (Some(base), Some(min)) if self.samples >= ENOUGH_SAMPLES => {
                let target = self.judge(if self.sent_window { sent } else { w }, base, min);
                self.decide(ack, view, target, window_before);
            }
            _ => self.grow_as_reno(ack, view),
        }
        self.forget_round();
    }

    /// Works out the backlog; gives the window that would not queue, in segments.
    fn judge(&mut self, w: u64, base: u64, min: u64) -> u64 {
        let (w, base, min) = (u128::from(w), u128::from(base), u128::from(min));
        let unit = if self.sent_window { 2 } else { 1 };
        let target = unit * w * base / min;
        let backlog = if self.by_target { unit * w - target } else { w * (min - base) / base };
        self.backlog = backlog as f64 / unit as f64;
        (target / unit) as u64
    }

    fn decide(&mut self, ack: &Ack, view: &View, target: u64, window_before: u64) {
        let mss = view.mss;
        let w = self.window.cwnd.segments(mss);
        if self.in_slow_start() {
            let too_fast = self.backlog > self.gamma;
            if too_fast {
                self.window.cwnd = mss * w.min(target + 1);
                self.lower_ssthresh(mss);
            }
            // Linux 2.6.22 still takes the step of slow start.
            if !too_fast || self.sent_window {
                self.slow_start(ack.acked, view);
            }
        } else {
            let from = if self.sent_window { window_before } else { w };
            let too_fast = self.backlog > self.beta;
            let next = match self.backlog {
                _ if too_fast => from.saturating_sub(1),
                backlog if backlog < self.alpha => from + 1,
                _ => from,
            };
            // One step towards it, whatever happened meanwhile.
            let step = next.clamp(w.saturating_sub(1), w + 1);
            if step != w {
                self.window.cwnd = mss * step;
            }
            if too_fast && !self.sent_window {
                self.lower_ssthresh(mss);
            }
        }
        self.window.cwnd = self.window.cwnd.max(mss * MIN_WINDOW);
        if !self.sent_window {
            // Three quarters of the window are remembered (tcp_current_ssthresh).
            let w = self.window.cwnd.segments(mss);
            self.window.ssthresh = self.window.ssthresh.max(mss * (w / 2 + w / 4));
        }
    }

    /// ssthresh follows the window down.
    fn lower_ssthresh(&mut self, mss: Bytes) {
        let ssthresh = match (self.sent_window, self.barely_lower) {
            (true, _) => mss * MIN_WINDOW,
            (_, true) => self.below(mss),
            _ => self.window.ssthresh.min(self.window.cwnd),
        };
        self.window.ssthresh = ssthresh;
    }

    /// max(min(ssthresh, W - 1), 2)
    fn below(&self, mss: Bytes) -> Bytes {
        self.window.ssthresh.min(self.window.cwnd.saturating_sub(mss)).max(mss * MIN_WINDOW)
    }
}

impl CongestionControl for Rounds {
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        if let Some(rtt) = ack.rtt {
            self.sample(rtt.latest);
        }
        self.snd_nxt = view.snd_nxt;
        if view.state != self.state {
            self.state = view.state;
            self.active = false;
            if view.state == State::Open {
                self.enable(view.snd_nxt);
            }
        }
        // An unused window grows too: the decision does not ask.
        let asked = view.may_grow || (ack.cumulative_segments > 0 && !view.state.in_cwnd_reduction());
        if !asked {
            return;
        }
        if !self.active {
            self.grow_as_reno(ack, view);
        } else if view.snd_una > self.round_end {
            self.end_round(ack, view);
        } else if self.in_slow_start() {
            self.slow_start(ack.acked, view);
        }
    }

    fn on_congestion(&mut self, event: &Congestion, view: &View) {
        self.active = false;
        self.snd_nxt = view.snd_nxt;
        self.state = match event.cause {
            Cause::Timeout => State::Loss,
            Cause::Ecn | Cause::Tlp => State::Cwr,
            _ => State::Recovery,
        };
        self.counter.reset();
        let half = self.window.cwnd.segments(view.mss) / 2;
        let ssthresh = if self.barely_lower { self.below(view.mss) } else { view.mss * half.max(MIN_WINDOW) };
        self.window.reduce(ssthresh, event);
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    fn on_sent(&mut self, sent: &Sent) {
        // Nothing else is in the network, also after a time-out that took all for lost (TX_START): the path may be
        // another one by now. What is sent now is not yet part of snd_nxt.
        if sent.pipe <= sent.bytes && !self.keeps_base {
            self.base = None;
            self.enable(if sent.retransmission { self.snd_nxt } else { sent.seq });
        }
    }

    fn on_idle(&mut self, idle: Span, view: &View) {
        self.window.on_idle(idle, view, self.initial_window, IdleRule::Halve);
    }

    fn observe(&self, put: &mut dyn FnMut(&'static str, f64)) {
        if let Some(base) = self.base {
            put("base_rtt_s", Span::from_micros(base).as_secs_f64());
        }
        if let Some(min) = self.min {
            put("min_rtt_s", Span::from_micros(min).as_secs_f64());
        }
        put("backlog", self.backlog);
        put("active", f64::from(u8::from(self.active)));
    }
}
