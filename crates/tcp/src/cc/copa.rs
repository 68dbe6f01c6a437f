//! Copa: the rate aimed at is the inverse of the queueing delay (Arun, Balakrishnan, NSDI 2018).
//!
//! With delay dq, a standing RTT and a weight delta the window aims at RTT / (delta dq): every flow then keeps about 1 / delta
//! packets in the queue. It moves by v / delta segments per round trip towards it; v doubles while the direction stays the
//! same. A queue that is never nearly empty must have others in it that fill it: delta then follows an AIMD rule of its own,
//! in the competitive mode. The paper doubles v from the third round trip in one direction on, the published code from
//! the first; both give v up at the check once per RTT. mvfst does so as soon as the target is passed (`turns_at_once`): the
//! window then lacks the fast way back that undoes an overshoot, and swings by 300 of 208 segments of BDP without end.
//!
//! A departure: the paper asks for a nearly empty queue within 5 RTTs, which is the very period of its own swing (§3). A trough
//! missed by one packet of the ten per cent then makes a flow take others of its kind for fillers; its larger queue hides the
//! troughs of all, and the mode locks in. The default is two periods, 10 RTTs. Not modelled: the choice of delta by purpose, and
//! the jitter on the times of sending.

mod windowed;

use super::algorithm::{Algorithm, Internal, Requirements, Setup};
use super::controller::CongestionControl;
use super::parameters::{Param, ParamValues, Profile, Value};
use super::signals::{Ack, Cause, Congestion, Lost, View};
use super::window::Window;
use crate::units::{Bytes, Rate, Span, Time};
use windowed::{Extreme, Windowed};

/// Queueing delay against rate.
pub(super) const COPA: Algorithm = Algorithm {
    name: "copa",
    title: "Copa: a rate inverse to the queueing delay",
    reference: "Arun, Balakrishnan 2018, Copa: Practical Delay-Based Congestion Control for the Internet",
    requirements: Requirements { owns_window: true, ..Requirements::NONE },
    starts: None,
    params: PARAMS,
    profiles: &[
        Profile { name: "paper", set: &[], recovery: None },
        Profile {
            name: "authors",
            set: &[("doubles_after", Value::Number(1.0)), ("mode_rtts", Value::Number(4.0))],
            recovery: None,
        },
    ],
    internals: INTERNALS,
    states: &[],
    build: &|values, setup| Box::new(Copa::new(values, setup)),
};

/// What it shows of itself.
const INTERNALS: &[Internal] = &[
    Internal::of("delta", "queueing delay against rate"),
    Internal::of("velocity", "speed of the window"),
    Internal::of("competitive", "1 in competitive mode"),
    Internal::of("queueing_delay_s", "standing RTT less minimum RTT"),
    Internal::of("target", "target of the window, segments"),
];

const PARAMS: &[Param] = &[
    Param::number("delta", 0.01..=10.0, 0.5)
        .unit("1/packets")
        .doc("weight of delay against rate: a flow keeps about 1/delta packets in the queue")
        .source("Copa (2018)"),
    Param::flag("mode_switching", true)
        .doc("compete with flows that fill queues: 1/delta grows by 1 per RTT and halves on loss")
        .source("Copa (2018)"),
    Param::number("mode_rtts", 1.0..=100.0, 10.0)
        .unit("RTTs")
        .doc("the queue must have been nearly empty within this many; otherwise other flows are filling it")
        .source("two periods of the swing of Copa (2018), which asks for one, 5; the code of the authors: 4"),
    Param::number("nearly_empty", 0.0..=1.0, 0.1)
        .doc("the part of the maximum queueing delay below which the queue counts as nearly empty")
        .source("Copa (2018)"),
    Param::number("doubles_after", 1.0..=100.0, 3.0)
        .unit("RTTs")
        .doc("v doubles once the window has moved in one direction so often")
        .source("Copa (2018): 3; the code of the authors: 1"),
    Param::flag("turns_at_once", false)
        .doc("a v above 1 is given up when the window passes its target, not at the next check, once per RTT")
        .source("Copa (2018) and the code of the authors: at the check; mvfst: at once"),
    Param::number("min_rtt_window", 1.0..=1000.0, 10.0)
        .unit("s")
        .doc("expiry of the minimum RTT")
        .source("Copa (2018)"),
];

/// The window in segments never falls below this.
const MIN_WINDOW: f64 = 2.0;
/// Heavy loss: this share over two RTTs and this many segments cuts the window to `HEAVY_CUT`.
const HEAVY_SHARE: f64 = 0.3;
const HEAVY_SEGMENTS: f64 = 20.0;
const HEAVY_CUT: f64 = 0.7;

/// How fast the window moves, and where it has been going.
#[derive(Clone, Copy, Debug)]
struct Velocity {
    v: f64,
    /// Up or down in the last RTT; absent if neither.
    direction: Option<bool>,
    /// RTTs that went the way of the one before.
    same: u32,
    /// Steps up less steps down in this RTT.
    net: f64,
    since: Time,
}

/// Arrived and lost, in segments, since some time.
#[derive(Clone, Copy, Debug, Default)]
struct Fate {
    arrived: f64,
    lost: f64,
    since: Time,
}

#[derive(Debug)]
struct Copa {
    window: Window,
    /// cwnd in segments.
    w: f64,
    mss: Bytes,
    delta: f64,
    least_delta_inverse: f64,
    mode_switching: bool,
    mode_rtts: f64,
    nearly_empty: f64,
    doubles_after: u32,
    turns_at_once: bool,
    min_rtt_window: Span,
    slow_start: bool,
    velocity: Velocity,
    fate: Fate,
    min_rtt: Windowed,
    standing_rtt: Windowed,
    recent_min: Windowed,
    recent_max: Windowed,
    competitive: bool,
    delta_raised: Time,
    delta_cut: Time,
    /// Something was lost since the last ACK.
    loss: bool,
    /// The last episode began or went on with a time-out.
    timed_out: bool,
}

impl Copa {
    fn new(values: &ParamValues, setup: &Setup) -> Copa {
        let delta = values.number("delta");
        let slow_start = setup.initial_window < setup.initial_ssthresh;
        Copa {
            window: Window { cwnd: setup.initial_window, ssthresh: setup.initial_ssthresh },
            w: setup.initial_window.as_f64() / setup.mss.as_f64(),
            mss: setup.mss,
            delta,
            least_delta_inverse: 1.0 / delta,
            mode_switching: values.flag("mode_switching"),
            mode_rtts: values.number("mode_rtts"),
            nearly_empty: values.number("nearly_empty"),
            doubles_after: values.number("doubles_after") as u32,
            turns_at_once: values.flag("turns_at_once"),
            min_rtt_window: Span::from_secs_f64(values.number("min_rtt_window")),
            slow_start,
            velocity: Velocity { v: 1.0, direction: None, same: 0, net: 0.0, since: setup.now },
            fate: Fate { since: setup.now, ..Fate::default() },
            min_rtt: Windowed::new(Extreme::Least),
            standing_rtt: Windowed::new(Extreme::Least),
            recent_min: Windowed::new(Extreme::Least),
            recent_max: Windowed::new(Extreme::Greatest),
            competitive: false,
            delta_raised: setup.now,
            delta_cut: setup.now,
            loss: false,
            timed_out: false,
        }
    }

    fn measure(&mut self, rtt: Span, view: &View) {
        let srtt = view.srtt.unwrap_or(rtt);
        let mode = Span::from_secs_f64(self.mode_rtts * srtt.as_secs_f64());
        self.min_rtt.take(view.now, rtt, self.min_rtt_window);
        // Copa: half an RTT, against ACKs that come late in bundles.
        self.standing_rtt.take(view.now, rtt, srtt / 2);
        self.recent_min.take(view.now, rtt, mode);
        self.recent_max.take(view.now, rtt, mode);
    }

    /// dq = RTTstanding - RTTmin, in seconds.
    fn queueing_delay(&self) -> Option<f64> {
        let (standing, least) = (self.standing_rtt.value()?, self.min_rtt.value()?);
        Some(standing.saturating_sub(least).as_secs_f64())
    }

    /// Copa eq. 1: the rate 1 / (delta dq) over the standing RTT; absent while there is no queue.
    fn target(&self) -> Option<f64> {
        let delay = self.queueing_delay().filter(|delay| *delay > 0.0)?;
        Some(self.standing_rtt.value()?.as_secs_f64() / (self.delta * delay))
    }

    /// Copa: is the queue ever nearly empty?
    fn find_mode(&mut self, rtt: Span, now: Time) {
        let (Some(least), Some(low), Some(high)) =
            (self.min_rtt.value(), self.recent_min.value(), self.recent_max.value())
        else {
            return;
        };
        let limit = self.nearly_empty * high.saturating_sub(least).as_secs_f64();
        self.competitive = self.mode_switching && low.saturating_sub(least).as_secs_f64() > limit;
        let mut inverse = 1.0 / self.delta;
        if !self.competitive {
            inverse = self.least_delta_inverse;
            // As in the published code: the first step is due an RTT after the mode began.
            self.delta_raised = now;
        } else if std::mem::take(&mut self.loss) && now.since(self.delta_cut) >= rtt {
            inverse /= 2.0;
            self.delta_cut = now;
        } else if now.since(self.delta_raised) >= rtt {
            inverse += 1.0;
            self.delta_raised = now;
        }
        self.loss = false;
        self.delta = 1.0 / inverse.max(self.least_delta_inverse);
    }

    /// Once per RTT: does the window go on in one direction?
    fn find_velocity(&mut self, rtt: Span, now: Time) {
        if now.since(self.velocity.since) < rtt {
            return;
        }
        let Velocity { v, direction, same, net, .. } = self.velocity;
        let went = (net != 0.0).then_some(net > 0.0);
        let goes_on = went.is_some() && went == direction;
        let same = if goes_on { same.saturating_add(1) } else { 0 };
        let doubles = same >= self.doubles_after;
        let v = if doubles {
            2.0 * v
        } else if goes_on {
            v
        } else {
            1.0
        };
        self.velocity = Velocity { v, direction: went, same, net: 0.0, since: now };
    }

    /// v / (delta W) per segment, up or down.
    fn step(&mut self, segments: f64, may_grow: bool, now: Time) {
        let target = self.target();
        let up = target.is_none_or(|target| self.w < target);
        if self.slow_start {
            self.w += if may_grow && up { segments } else { 0.0 };
            self.slow_start = target.is_none_or(|target| self.w < target);
            return;
        }
        if self.turns_at_once && self.velocity.v > 1.0 && self.velocity.direction != Some(up) {
            self.velocity = Velocity { v: 1.0, direction: Some(up), same: 0, net: 0.0, since: now };
        }
        let most = self.w * self.delta;
        while self.velocity.v > most.max(1.0) {
            self.velocity.v = (self.velocity.v / 2.0).max(1.0);
        }
        self.velocity.net += if up { segments } else { -segments };
        // Not faster than slow start: in the competitive mode delta W may be below 1.
        let change = segments * (self.velocity.v / most).min(1.0);
        if !up {
            self.w -= change;
        } else if may_grow {
            self.w += change;
        }
    }

    /// Loss beyond what a full queue explains.
    fn find_heavy_loss(&mut self, rtt: Span, now: Time) {
        let Fate { arrived, lost, since } = self.fate;
        if now.since(since) < rtt * 2 || arrived + lost <= HEAVY_SEGMENTS {
            return;
        }
        if lost > HEAVY_SHARE * (arrived + lost) {
            self.w *= HEAVY_CUT;
        }
        self.fate = Fate { since: now, ..Fate::default() };
    }

    fn settle(&mut self, ssthresh: Bytes) {
        self.w = self.w.max(MIN_WINDOW);
        let cwnd = Bytes((self.w * self.mss.as_f64()) as u64).max(self.mss);
        self.window = Window { cwnd, ssthresh: if self.slow_start { ssthresh } else { cwnd } };
    }
}

impl CongestionControl for Copa {
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        if let Some(rtt) = ack.rtt {
            self.measure(rtt.latest, view);
        }
        if ack.acked == Bytes::ZERO {
            return;
        }
        let segments = ack.acked.as_f64() / self.mss.as_f64();
        self.fate.arrived += segments;
        let rtt = ack.rtt.map(|rtt| rtt.latest).or(view.srtt).unwrap_or_default();
        self.find_mode(rtt, view.now);
        if !self.slow_start {
            self.find_velocity(rtt, view.now);
        }
        self.step(segments, view.cwnd_limited, view.now);
        self.find_heavy_loss(rtt, view.now);
        self.settle(self.window.ssthresh);
    }

    /// Copa does not take loss for congestion: delta and heavy loss are dealt with per ACK. A time-out, of which the paper says
    /// nothing, takes the window to the loss window (RFC 5681 §3.1; mvfst does so at persistent congestion), from which it
    /// moves on as ever.
    fn on_congestion(&mut self, event: &Congestion, _view: &View) {
        self.timed_out = event.cause == Cause::Timeout;
        if self.timed_out {
            self.window.cwnd = event.loss_window;
            self.w = self.window.cwnd.as_f64() / self.mss.as_f64();
        }
    }

    fn on_lost(&mut self, lost: &Lost, _view: &View) {
        self.loss = true;
        self.fate.lost += lost.bytes.as_f64() / self.mss.as_f64();
    }

    fn on_undo(&mut self, before: Window, _view: &View) {
        if std::mem::take(&mut self.timed_out) {
            self.w = self.w.max(before.cwnd.as_f64() / self.mss.as_f64());
            self.settle(before.ssthresh);
        }
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    /// Copa: 2 cwnd / RTTstanding, so that pacing smooths without holding back.
    fn pacing_rate(&self) -> Option<Rate> {
        self.standing_rtt.value().map(|rtt| Rate::of(self.window.cwnd * 2, rtt))
    }

    fn observe(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("delta", self.delta);
        put("velocity", self.velocity.v);
        put("competitive", f64::from(u8::from(self.competitive)));
        if let Some(delay) = self.queueing_delay() {
            put("queueing_delay_s", delay);
        }
        if let Some(target) = self.target() {
            put("target", target);
        }
    }
}

#[cfg(test)]
mod tests;
