//! EWPHCC: ns-2's Vegas with another decision in congestion avoidance.
//!
//! Once per round it doubles the window, adds the root mean square of a delay and a loss "target", takes one off or halves,
//! by thresholds on delays per packet. The quantities carry the names and the formulas of the author's code, not the
//! dimensions they claim: "probabilities" are seconds and events per second. Slow start, duplicates, fine timer and
//! time-outs are Vegas'. Profile `code` is the code as it was, but W stays below 2^31 segments, where ns-2 overflows;
//! `code_fixed` is ours and not the default.

use super::native_vegas::{Bounds, MAX_WINDOW, MIN_WINDOW, Native, RoundEnd};
use crate::cc::algorithm::{Algorithm, Internal, Requirements, Setup};
use crate::cc::controller::CongestionControl;
use crate::cc::parameters::{Param, ParamValues, Profile, Value};
use crate::cc::signals::{Ack, Cause, Congestion, Sent, View};
use crate::cc::vegas::GAMMA;
use crate::cc::window::Window;
use crate::compat::AgentSignals;
use crate::settings::RecoveryKind;
use crate::units::{Bytes, Span, Time};

/// EWPHCC.
pub(crate) const EWPHCC: Algorithm = Algorithm {
    name: "ewphcc",
    title: "EWPHCC: Vegas with targets from weighted delays and losses",
    reference: "S. J. Hisham, BUET 2023, ns-2.35",
    requirements: Requirements::NONE,
    starts: None,
    params: &[
        Param::number("phi", 0.0..=1.0, 0.8)
            .doc("weight of the old value in the averages of RTT and loss")
            .source("the author's code"),
        Param::number("alpha", 0.0..=1e3, 1.0)
            .unit("segments")
            .doc(
                "taken off the window per round trip in the critical phase, which is rare: the window is tiny or the \
                 last RTT far below the mean of its round",
            )
            .source("ns-2.35 v_alpha_"),
        GAMMA,
        Param::flag("relative_delay", false)
            .doc(
                "queueing delay and the average of RTTs in units of the base RTT. Without it they are seconds: the \
                 target is 2 over the queueing delay, so 20 ms of queue add 71 segments per round trip and 1 ms adds \
                 1400",
            )
            .source(REPAIR),
        Param::flag("loss_per_packet", false)
            .doc(
                "losses per packet sent. Without it they are per second of the expired segment's age: the weight \
                 passes 1 at the second loss, and from there every loss makes the increase larger",
            )
            .source(REPAIR),
        Param::flag("only_if_used", false)
            .doc(
                "the window grows only while it is used. Without it a flow that the receiver holds back doubles its \
                 window every round trip without end, and only the receiver's window bounds what is sent",
            )
            .source(REPAIR),
        Param::flag("ghost_losses", true)
            .doc(
                "an ACK of everything, one of the two after a retransmission, counts as a loss: ns-2 finds no next \
                 segment and takes one as old as the connection. It ends the doubling a little earlier and weighs \
                 little, for that age is long",
            )
            .source("the study's code, on ns-2.35 tcp-vegas"),
    ],
    profiles: &[
        Profile { name: "code", set: &[], recovery: Some(RecoveryKind::Vegas) },
        Profile { name: "code_fixed", set: FIXED, recovery: Some(RecoveryKind::Vegas) },
    ],
    internals: INTERNALS,
    states: &[],
    build: &|values, setup| Box::new(Ewphcc::new(values, setup)),
};

/// What it shows of itself.
const INTERNALS: &[Internal] = &[
    Internal::of("base_rtt_s", "minimum RTT"),
    Internal::of("backlog", "own segments in the queue"),
    Internal::of("w", "window, segments"),
    Internal::of("rtt_s", "RTT of the round"),
    Internal::of("head_timeout_s", "fine-grained time-out"),
    Internal::of("increment", "what an ACK adds, segments"),
    Internal::of("p_delay", "probability of a reduction for delay"),
    Internal::of("p_loss", "probability of a reduction for loss"),
    Internal::of("t_delay", "target of the delay"),
    Internal::of("losses", "losses"),
    Internal::of("ghost_losses", "losses that were none"),
    Internal::of("phase", "place in the phases"),
    Internal::of("ewphcc_saturated", "arithmetic that was out of range"),
];

const REPAIR: &str = "ours: a repair of the study's units";

const FIXED: &[(&str, Value)] = &[
    ("relative_delay", Value::Flag(true)),
    ("loss_per_packet", Value::Flag(true)),
    ("only_if_used", Value::Flag(true)),
    ("ghost_losses", Value::Flag(false)),
];

/// The weight of a value against what it was.
fn average(phi: f64, old: f64, new: f64) -> f64 {
    phi * old + (1.0 - phi) * new
}

/// EWPHCC. The names are those of the study.
#[derive(Debug)]
struct Ewphcc {
    vegas: Native,
    phi: f64,
    alpha: f64,
    relative_delay: bool,
    loss_per_packet: bool,
    only_if_used: bool,
    ghost_losses: bool,
    /// The RTT when the control phase last ran.
    prev_rtt: f64,
    /// P_D, P_L.
    delay_probability: f64,
    loss_probability: f64,
    /// L: expirations of the fine timer; never forgotten.
    losses: f64,
    /// T_L: the initial window for ever, for what would update it is commented out.
    loss_target: f64,
    /// T_D as it was last worked out.
    delay_target: f64,
    sent: f64,
    phase: ControlPhase,
    /// Losses that were none: the age of a segment that was never sent.
    ghosts: f64,
    /// ACKs of new data on which the fine timer still looks at the oldest segment, and how many once this one is over.
    worried: u32,
    worried_next: u32,
    started: Time,
    saturated: f64,
}

/// What the last round led to.
#[derive(Clone, Copy, Debug, Default)]
enum ControlPhase {
    /// Vegas' slow start.
    #[default]
    SlowStart,
    /// The window doubles.
    Normal,
    /// It grows by the root mean square of the targets.
    Control,
    /// It falls by alpha.
    Critical,
    /// It halves.
    TimeOut,
}

impl Ewphcc {
    fn new(values: &ParamValues, setup: &Setup) -> Ewphcc {
        let alpha = values.number("alpha");
        // Vegas' own decision in congestion avoidance does not run.
        let vegas = Native::new(Bounds { alpha, beta: alpha, gamma: values.number("gamma") }, setup);
        Ewphcc {
            phi: values.number("phi"),
            alpha,
            relative_delay: values.flag("relative_delay"),
            loss_per_packet: values.flag("loss_per_packet"),
            only_if_used: values.flag("only_if_used"),
            // An agent looks at such a segment itself.
            ghost_losses: values.flag("ghost_losses") && setup.agent.is_none(),
            prev_rtt: 0.0,
            delay_probability: 0.0,
            loss_probability: 0.0,
            losses: 0.0,
            loss_target: if setup.agent.is_some() { vegas.initial_window } else { vegas.w },
            delay_target: vegas.w,
            sent: 0.0,
            phase: ControlPhase::default(),
            ghosts: 0.0,
            worried: 0,
            worried_next: 0,
            started: setup.now,
            saturated: 0.0,
            vegas,
        }
    }

    /// Once per round trip: what the study's code makes of it.
    fn decide(&mut self, round: &RoundEnd, view: &View) {
        let (w, v, base) = (self.vegas.w, self.vegas.rtt, self.vegas.base);
        self.vegas.increment = 0.0;
        let RoundEnd { outstanding, expected, actual, queueing, sampled } = *round;
        let (delay, least_delay) = (2.0 * v / w, 2.0 * base / w);
        let (loss, least_loss) = (v * self.losses / w, base * self.losses / w);
        let by_delay = (expected - actual) * least_delay;
        let by_loss = (expected - actual) * least_loss;
        // With nothing outstanding this is infinite in ns-2 too, and nothing is selected.
        let threshold = self.vegas.ssthresh / expected;
        let selected = by_delay != 0.0 && by_loss != 0.0 && queueing != 0.0 && delay >= threshold;
        let (next, phase) = if !selected {
            (2.0 * w, ControlPhase::Normal)
        } else {
            let delay_threshold = (outstanding * (delay - least_delay) / by_delay).abs();
            let loss_threshold = (outstanding * (loss - least_loss) / by_loss).abs();
            if delay < delay_threshold.max(loss_threshold) {
                // d_i, which no clean sample sets in the original.
                let d = if sampled { delay } else { 0.0 };
                (w + self.targets(d, queueing), ControlPhase::Control)
            } else if delay < self.vegas.timeout {
                ((w - self.alpha).max(MIN_WINDOW), ControlPhase::Critical)
            } else {
                (w / 2.0, ControlPhase::TimeOut)
            }
        };
        self.phase = phase;
        let grows = next > w;
        if grows && self.only_if_used && !view.cwnd_limited {
            return;
        }
        if next > MAX_WINDOW {
            self.saturated += 1.0;
        }
        self.vegas.w = next.clamp(1.0, MAX_WINDOW);
    }

    /// The increase of the control phase: sqrt((a^2 + b^2) / 2), a = |(1 - P_D) T_D|, b = |(1 - P_L) T_L|.
    fn targets(&mut self, d: f64, queueing: f64) -> f64 {
        let unit = if self.relative_delay { self.vegas.base } else { 1.0 };
        self.delay_probability = average(self.phi, self.delay_probability, self.prev_rtt / unit);
        self.prev_rtt = self.vegas.rtt;
        // T_D = d_i alpha / Dq with alpha = W / v: 2 over the queueing delay
        let rate = self.vegas.w / self.vegas.rtt;
        self.delay_target = d * rate / (queueing / unit);
        let a = (1.0 - self.delay_probability) * self.delay_target;
        let b = (1.0 - self.loss_probability) * self.loss_target;
        libm::sqrt((a * a + b * b) / 2.0)
    }

    /// The fine timer found a segment of this age, in seconds.
    fn on_expiry(&mut self, age: f64) {
        self.losses += 1.0;
        let per = if self.loss_per_packet { self.sent.max(1.0) } else { age };
        if per > 0.0 {
            self.loss_probability = average(self.phi, self.loss_probability, self.losses / per);
        }
    }

    /// In ns-2 a segment that was never sent looks as old as the connection and a second, so that an ACK of everything
    /// counts as an expiry while the sender worries.
    fn count_ghost(&mut self, view: &View) {
        let worried = self.worried > 0;
        self.worried_next = self.worried.saturating_sub(1);
        self.worried = 0;
        let age = view.now.since(self.started).as_secs_f64() + 1.0;
        if worried && self.ghost_losses && view.flight == Bytes::ZERO && age >= self.vegas.timeout {
            self.worried = self.worried_next;
            self.ghosts += 1.0;
            self.on_expiry(age);
        }
    }
}

impl CongestionControl for Ewphcc {
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        if let Some(round) = self.vegas.begin_ack(ack, view) {
            if self.vegas.in_slow_start() {
                self.phase = ControlPhase::SlowStart;
                self.vegas.decide_in_slow_start();
            } else {
                self.decide(&round, view);
            }
        }
        self.vegas.finish_ack(ack, view);
        if ack.cumulative_segments > 0 {
            self.count_ghost(view);
        }
    }

    fn on_congestion(&mut self, event: &Congestion, view: &View) {
        if let Some(head) = event.head.filter(|_| event.cause == Cause::HeadTimeout) {
            self.on_expiry(view.now.since(head.sent_at).as_secs_f64());
        }
        match event.cause {
            // The new oldest segment is too old as well: the next ACK may look again.
            Cause::HeadTimeout if !event.first => self.worried = self.worried_next,
            Cause::HeadTimeout | Cause::DupAck => self.worried = 2,
            _ => {}
        }
        self.vegas.on_congestion(event, view);
    }

    fn begin(&mut self, window: Window) {
        self.vegas.begin(window);
    }

    fn window(&mut self) -> Window {
        self.vegas.window()
    }

    fn on_undo(&mut self, before: Window, view: &View) {
        self.vegas.on_undo(before, view);
    }

    fn on_sent(&mut self, _sent: &Sent) {
        self.sent += 1.0;
    }

    fn on_idle(&mut self, idle: Span, view: &View) {
        self.vegas.on_idle(idle, view);
    }

    fn agent(&mut self) -> Option<&mut dyn AgentSignals> {
        Some(self)
    }

    fn observe(&self, put: &mut dyn FnMut(&'static str, f64)) {
        self.vegas.observe(put);
        put("p_delay", self.delay_probability);
        put("p_loss", self.loss_probability);
        put("t_delay", self.delay_target);
        put("losses", self.losses);
        put("ghost_losses", self.ghosts);
        put("phase", f64::from(self.phase as u8));
        put("ewphcc_saturated", self.saturated);
    }
}

impl AgentSignals for Ewphcc {
    fn head_timeout(&self) -> Option<Span> {
        self.vegas.head_timeout()
    }

    fn on_expired_head(&mut self, age: Span) {
        self.on_expiry(age.as_secs_f64());
        self.vegas.on_expired_head(age);
    }

    fn on_seconds(&mut self, now: f64, rtt: Option<f64>) {
        self.vegas.on_seconds(now, rtt);
    }
}

#[cfg(test)]
mod tests;
