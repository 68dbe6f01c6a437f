//! TCP-NV: compares the window with what the rate and the minimum RTT explain (Brakmo 2010; Linux tcp_nv).
//!
//! A descendant of Vegas for data centres. Each ACK gives a rate, what was delivered in an RTT over that RTT; the
//! maximum of a round times the minimum RTT is the window that makes no queue. Above it and ten segments more the window
//! comes down by 30 % of the excess and stops growing; two below that it grows again, as Reno's. Decisions need enough
//! ACKs; the minimum RTT is measured anew about every 5 s, at random times. Where the queue never drains, that takes ten
//! segments of it for the path each time. Integers as in Linux 6.1. Not modelled: base RTTs set by a BPF program, and the
//! faster growth that the kernel has switched off.

use super::algorithm::{Algorithm, Internal, Requirements, Setup};
use super::controller::CongestionControl;
use super::jiffies::jiffies;
use super::parameters::{Param, ParamValues, Profile};
use super::signals::{Ack, Cause, Congestion, State, View};
use super::window::{Counter, IdleRule, Window};
use crate::rng::Rng;
use crate::seq::SeqNo;
use crate::units::{Bytes, Span};

/// Congestion avoidance by rate and minimum RTT.
pub(super) const NV: Algorithm = Algorithm {
    name: "nv",
    title: "TCP-NV: a queue of about ten segments, by rate and least RTT",
    reference: "Brakmo 2010, TCP-NV: Congestion Avoidance for Data Centers; Linux tcp_nv",
    requirements: Requirements { random: true, ..Requirements::NONE },
    starts: None,
    params: PARAMS,
    profiles: &[Profile { name: "linux", set: &[], recovery: None }],
    internals: INTERNALS,
    states: &[],
    build: &|values, setup| Box::new(Nv::new(values, setup)),
};

/// What it shows of itself.
const INTERNALS: &[Internal] = &[
    Internal::of("max_rate_bps", "largest rate"),
    Internal::of("base_rtt_s", "minimum RTT"),
    Internal::of("may_grow", "1 unless a queue was seen"),
];

const KERNEL: &str = "Linux tcp_nv";

const PARAMS: &[Param] = &[
    Param::number("pad", 0.0..=1e4, 10.0).unit("segments").doc("queue that is allowed").source(KERNEL),
    Param::number("pad_buffer", 0.0..=1e4, 2.0)
        .unit("segments")
        .doc("distance below the allowed queue at which the window grows again")
        .source(KERNEL),
    Param::number("reset_period", 0.0..=1e3, 5.0)
        .unit("s")
        .doc("mean time after which the minimum RTT is measured anew; varies by a quarter")
        .source(KERNEL),
    Param::number("min_cwnd", 0.0..=1e3, 2.0)
        .unit("segments")
        .doc("delay does not take cwnd below this")
        .source(KERNEL),
    Param::number("cong_dec_mult", 0.0..=128.0, 38.0)
        .unit("1/128")
        .doc("share of the excess that a decision takes away; 0 takes it down immediately")
        .source(KERNEL),
    Param::number("loss_dec_factor", 0.0..=1024.0, 819.0)
        .unit("1/1024")
        .doc("what remains of the window after a loss")
        .source(KERNEL),
    Param::number("dec_eval_min_calls", 0.0..=255.0, 60.0)
        .unit("ACKs")
        .doc("samples before the window comes down")
        .source(KERNEL),
    Param::number("inc_eval_min_calls", 0.0..=255.0, 20.0)
        .unit("ACKs")
        .doc("samples before the window grows again")
        .source(KERNEL),
    Param::number("ssthresh_eval_min_calls", 0.0..=255.0, 30.0)
        .unit("ACKs")
        .doc("samples before the first slow start ends")
        .source(KERNEL),
    Param::number("stop_rtt_cnt", 0.0..=255.0, 10.0)
        .unit("RTT")
        .doc("time without enough samples after which the window stops growing")
        .source(KERNEL),
    Param::number("rtt_min_cnt", 0.0..=255.0, 2.0)
        .unit("RTT")
        .doc("minimum time between a decision and one to come down")
        .source(KERNEL),
    Param::number("growth_rate_neg", 0.0..=1e4, 8.0)
        .unit("decisions")
        .doc("a growth slowed by time-outs doubles after this many; 0 never slows")
        .source(KERNEL),
];

/// Growth is slowed by at most this many halvings.
const SLOWEST: u32 = 8;
/// Bounds of `Nv::needed` (kernel: NV_MIN_CWND, NV_TSO_CWND_BOUND + 1) and its step.
const MIN_NEEDED: u64 = 4;
const MAX_NEEDED: u64 = 81;
const NEEDED_STEP: u64 = 2;
/// The kernel's rates are in 100 bit/s: bytes x 8 x 10^6 µs / 100.
const RATE_SCALE: u64 = 80_000;
/// A counter of eight bits.
const MAX_CALLS: u64 = 255;

/// Parameters as the kernel has them.
#[derive(Debug)]
struct Tuning {
    pad: u64,
    pad_buffer: u64,
    reset_period: f64,
    min_cwnd: u64,
    cong_dec_mult: u64,
    loss_dec_factor: u64,
    dec_eval_min_calls: u64,
    inc_eval_min_calls: u64,
    ssthresh_eval_min_calls: u64,
    stop_rtt_cnt: u64,
    rtt_min_cnt: u64,
    growth_rate_neg: u64,
}

/// RTTs in µs, rates in 100 bit/s, windows in segments.
#[derive(Debug)]
struct Nv {
    window: Window,
    counter: Counter,
    initial_window: Bytes,
    tuning: Tuning,
    rng: Rng,
    may_grow: bool,
    /// Growth is 2^-slowdown of Reno's.
    slowdown: u32,
    /// The sender's state after the last ACK or time-out: the kernel takes its samples before it judges the ACK.
    state: State,
    /// An episode has begun; what was measured is void once it is over.
    reset_due: bool,
    reset_min_rtt_at: u64,
    min_rtt: u64,
    /// Least since the last reset; the next `min_rtt`.
    min_rtt_new: u64,
    /// Segments in flight below which ACKs may come bundled into one per round.
    needed: u64,
    measured: Measured,
}

/// Since the last decision, or the end of the last episode.
#[derive(Debug, Default)]
struct Measured {
    /// Samples.
    calls: u64,
    /// Rounds.
    rounds: u64,
    max_rate: u64,
    /// Smoothed RTT of its own, half old and half new; 0 before the first.
    avg_rtt: u64,
    round_end: SeqNo,
    last_una: SeqNo,
    /// Decisions in a row that saw no queue.
    calm: u64,
}

impl Measured {
    fn begin(una: SeqNo) -> Measured {
        Measured { round_end: una, last_una: una, ..Measured::default() }
    }
}

impl Nv {
    fn new(values: &ParamValues, setup: &Setup) -> Nv {
        let number = |name| values.number(name) as u64;
        Nv {
            window: Window { cwnd: setup.initial_window, ssthresh: setup.initial_ssthresh },
            counter: Counter::default(),
            initial_window: setup.initial_window,
            tuning: Tuning {
                pad: number("pad"),
                pad_buffer: number("pad_buffer"),
                reset_period: values.number("reset_period"),
                min_cwnd: number("min_cwnd").max(1),
                cong_dec_mult: number("cong_dec_mult"),
                loss_dec_factor: number("loss_dec_factor"),
                dec_eval_min_calls: number("dec_eval_min_calls"),
                inc_eval_min_calls: number("inc_eval_min_calls"),
                ssthresh_eval_min_calls: number("ssthresh_eval_min_calls"),
                stop_rtt_cnt: number("stop_rtt_cnt"),
                rtt_min_cnt: number("rtt_min_cnt"),
                growth_rate_neg: number("growth_rate_neg"),
            },
            rng: Rng::stream(setup.seed, "nv"),
            may_grow: true,
            slowdown: 0,
            state: State::Open,
            reset_due: false,
            // The first after 2 s.
            reset_min_rtt_at: jiffies(setup.now) + 2_000,
            min_rtt: u64::from(u32::MAX),
            min_rtt_new: u64::from(u32::MAX),
            needed: MIN_NEEDED,
            measured: Measured::begin(SeqNo::FIRST_DATA),
        }
    }

    /// Takes the sample of an ACK, if it has one, and decides once per round.
    fn measure(&mut self, ack: &Ack, view: &View) {
        let Some(rtt) = ack.rtt else { return };
        let measured = &mut self.measured;
        let acked = view.snd_una.since(measured.last_una).0;
        measured.last_una = view.snd_una;
        // What was delivered since the newest reported segment left: what was in flight with it and has arrived.
        let Some(rate) = ack.rate.filter(|rate| rate.delivered > Bytes::ZERO) else { return };
        let rtt = rtt.latest.as_micros().max(1);
        if measured.avg_rtt == 0 {
            measured.avg_rtt = rtt;
            self.min_rtt = 2 * rtt;
        } else {
            measured.avg_rtt = (rtt + measured.avg_rtt) / 2;
        }
        let avg_rtt = measured.avg_rtt;
        let rate = (rate.delivered.0.saturating_mul(RATE_SCALE) / avg_rtt).min(u64::from(u32::MAX));
        measured.max_rate = measured.max_rate.max(rate);
        measured.calls = (measured.calls + 1).min(MAX_CALLS);
        self.min_rtt = self.min_rtt.min(avg_rtt);
        self.min_rtt_new = self.min_rtt_new.min(avg_rtt);
        self.reset_min_rtt(jiffies(view.now));
        if self.measured.round_end < view.snd_una {
            self.end_round(acked, view);
        }
    }

    /// The minimum RTT of the last period takes the place of the one before.
    fn reset_min_rtt(&mut self, now: u64) {
        if now < self.reset_min_rtt_at {
            return;
        }
        self.min_rtt = self.min_rtt_new;
        self.min_rtt_new = u64::from(u32::MAX);
        // 3/4 to 5/4 of the period
        let part = (384 + self.rng.below(256)) as f64 / 512.0;
        self.reset_min_rtt_at = now + (self.tuning.reset_period * 1e3 * part) as u64;
        self.needed = (self.needed / 2).max(MIN_NEEDED);
    }

    fn end_round(&mut self, acked: u64, view: &View) {
        let measured = &mut self.measured;
        measured.round_end = view.snd_nxt;
        measured.rounds = (measured.rounds + 1).min(MAX_CALLS);
        // One ACK for a whole round: the window is too small for how ACKs are bundled.
        if measured.calls == 1 && acked >= (self.needed - 1) * view.mss.0 && self.needed < MAX_NEEDED {
            self.needed = (self.needed + NEEDED_STEP).min(MAX_NEEDED);
            measured.round_end = view.snd_nxt + view.mss * self.needed;
            measured.calls = 0;
            self.may_grow = true;
            return;
        }
        let cwnd = self.window.cwnd.segments(view.mss);
        let most = self.explained(view.mss) + self.tuning.pad;
        let decided = if cwnd > most {
            self.come_down(cwnd, most, view.mss)
        } else {
            cwnd + self.tuning.pad_buffer <= most && self.grow_again()
        };
        if decided {
            self.measured.calls = 0;
            self.measured.rounds = 0;
            self.measured.max_rate = 0;
        }
    }

    /// The window that the maximum rate and the minimum RTT explain, in segments: W = rate x min_rtt.
    fn explained(&self, mss: Bytes) -> u64 {
        self.measured.max_rate.saturating_mul(self.min_rtt) / (RATE_SCALE * mss.0)
    }

    /// There is a queue. False if it is too early to say.
    fn come_down(&mut self, cwnd: u64, most: u64, mss: Bytes) -> bool {
        let (measured, tuning) = (&mut self.measured, &self.tuning);
        if measured.rounds < tuning.rtt_min_cnt {
            return false;
        }
        if self.window.ssthresh == Bytes::MAX {
            if measured.calls < tuning.ssthresh_eval_min_calls {
                return false;
            }
        } else if measured.calls < tuning.dec_eval_min_calls {
            self.may_grow &= measured.rounds <= tuning.stop_rtt_cnt;
            return false;
        }
        self.may_grow = false;
        measured.calm = 0;
        let excess = cwnd - most;
        let next = if excess > 2 { cwnd - (excess * tuning.cong_dec_mult / 128).max(2) } else { most };
        self.window.ssthresh = mss * most.max(1);
        self.window.cwnd = mss * next.max(tuning.min_cwnd);
        true
    }

    /// There is no queue. False if it is too early to say.
    fn grow_again(&mut self) -> bool {
        if self.measured.calls < self.tuning.inc_eval_min_calls {
            return false;
        }
        self.may_grow = true;
        self.measured.calm += 1;
        if self.slowdown > 0 && self.measured.calm > self.tuning.growth_rate_neg {
            self.slowdown -= 1;
            self.measured.calm = 0;
        }
        true
    }

    fn grow(&mut self, acked: Bytes, mss: Bytes) {
        let mut acked = acked;
        if self.window.in_slow_start() {
            acked = self.window.slow_start(acked, Bytes::MAX);
        }
        if acked > Bytes::ZERO {
            let cwnd = self.window.cwnd.segments(mss);
            let per_increment = if self.slowdown > 0 { cwnd << self.slowdown } else { cwnd.max(4) };
            self.counter.grow(&mut self.window, acked, mss * per_increment, mss);
        }
    }
}

impl CongestionControl for Nv {
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        let calm = |state| matches!(state, State::Open | State::Disorder);
        if calm(self.state) && calm(view.state) && !self.reset_due {
            self.measure(ack, view);
        }
        if self.reset_due && view.state == State::Open {
            self.reset_due = false;
            self.measured = Measured::begin(view.snd_una);
        }
        self.state = view.state;
        if view.may_grow && self.may_grow && ack.acked > Bytes::ZERO {
            self.grow(ack.acked, view.mss);
        }
    }

    fn on_congestion(&mut self, event: &Congestion, view: &View) {
        let cwnd = self.window.cwnd.segments(view.mss);
        let ssthresh = view.mss * (cwnd * self.tuning.loss_dec_factor / 1024).max(2);
        self.counter.reset();
        self.reset_due = true;
        self.may_grow = false;
        if event.cause == Cause::Timeout {
            self.state = State::Loss;
            self.window.collapse(ssthresh, event);
            if self.tuning.growth_rate_neg > 0 {
                self.slowdown = (self.slowdown + 1).min(SLOWEST);
            }
        } else {
            self.window.cut(ssthresh);
        }
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    fn on_idle(&mut self, idle: Span, view: &View) {
        self.window.on_idle(idle, view, self.initial_window, IdleRule::Halve);
    }

    fn observe(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("max_rate_bps", self.measured.max_rate as f64 * 100.0);
        put("base_rtt_s", self.min_rtt as f64 / 1e6);
        put("may_grow", f64::from(u8::from(self.may_grow)));
    }
}

#[cfg(test)]
mod tests;
