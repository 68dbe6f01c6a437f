//! YeAH: fast while the path has room, Reno while it has none (Baiocchi, Castellani, Vacirca 2007).
//!
//! At the end of each round the queue this flow keeps is estimated as in Vegas. As long as it is short and the RTT near its
//! least, the window grows as in Scalable TCP. Otherwise it grows as in Reno, and a queue beyond a limit is drained at
//! once (precautionary decongestion), though not below `reno_count`, the window a Reno flow would have by now. After a loss
//! the window gives up the queue it had, or half of itself if Reno flows have been around. This is Linux's module.

use super::algorithm::{Algorithm, Internal, Requirements, Setup};
use super::controller::CongestionControl;
use super::parameters::{Param, ParamValues, Profile};
use super::round_rtt::RoundRtt;
use super::signals::{Ack, Congestion, View};
use super::window::{Counter, IdleRule, Window};
use crate::units::{Bytes, Span};

/// Scalable growth with precautionary decongestion.
pub(super) const YEAH: Algorithm = Algorithm {
    name: "yeah",
    title: "YeAH: Scalable growth until the queue fills, then Reno's",
    reference: "Baiocchi, Castellani, Vacirca 2007, YeAH-TCP",
    requirements: Requirements::NONE,
    starts: Some(Algorithm::EVERY),
    params: PARAMS,
    profiles: &[Profile { name: "linux", set: &[], recovery: None }],
    internals: INTERNALS,
    states: &[],
    build: &|values, setup| Box::new(Yeah::new(values, setup)),
};

/// What it shows of itself.
const INTERNALS: &[Internal] = &[
    Internal::of("queue", "own queue when the last round ended, segments"),
    Internal::of("reno_count", "window that a Reno flow would have, segments"),
    Internal::of("slow_rounds", "slow rounds in a row; 0 in fast mode"),
    Internal::of("base_rtt_s", "minimum RTT"),
];

const PARAMS: &[Param] = &[
    Param::number("alpha", 1.0..=1e6, 80.0)
        .unit("segments")
        .doc("a longer queue of this flow is drained (paper: Q_max)")
        .source("Linux tcp_yeah, TCP_YEAH_ALPHA"),
    Param::number("gamma", 1.0..=1e3, 1.0)
        .doc("the queue over this is drained in a round")
        .source("Linux tcp_yeah, TCP_YEAH_GAMMA"),
    Param::number("epsilon", 1.0..=16.0, 1.0)
        .doc("draining takes at most 2^-epsilon of the window")
        .source("Linux tcp_yeah, TCP_YEAH_EPSILON"),
    Param::number("delta", 1.0..=16.0, 3.0)
        .doc("a loss costs at least 2^-delta of the window")
        .source("Linux tcp_yeah, TCP_YEAH_DELTA"),
    Param::number("phi", 1.0..=1e3, 8.0)
        .doc("an RTT longer than the minimum by its phi-th part ends the fast mode")
        .source("Linux tcp_yeah, TCP_YEAH_PHY"),
    Param::number("rho", 0.0..=1e6, 16.0)
        .unit("rounds")
        .doc("slow rounds in a row after which Reno flows are assumed to be present: a loss costs half")
        .source("Linux tcp_yeah, TCP_YEAH_RHO"),
    Param::number("zeta", 0.0..=1e6, 50.0)
        .unit("rounds")
        .doc("after more fast rounds than this Reno flows are believed to be gone")
        .source("Linux tcp_yeah, TCP_YEAH_ZETA"),
    Param::number("increment_acks", 1.0..=1e6, 100.0)
        .unit("segments")
        .doc("fast mode: acknowledged segments, at most a window of them, that add one segment")
        .source("Linux tcp_yeah, TCP_SCALABLE_AI_CNT"),
];

/// A round is judged if it had more samples than this: fewer may all have come from delayed ACKs.
const TOO_FEW_SAMPLES: u64 = 2;
/// The least estimate of a Reno flow's window.
const MIN_RENO: u64 = 2;

#[derive(Debug)]
struct Yeah {
    window: Window,
    counter: Counter,
    delay: RoundRtt,
    limits: Limits,
    initial_window: Bytes,
    /// This flow's queue when the last round ended.
    last_queue: u64,
    /// Slow rounds in a row; 0 in fast mode.
    slow_rounds: u64,
    /// Fast rounds since the last loss.
    fast_rounds: u64,
    /// The window that a Reno flow would have.
    reno_count: u64,
}

/// The parameters.
#[derive(Debug)]
struct Limits {
    alpha: u64,
    gamma: u64,
    epsilon: u32,
    delta: u32,
    phi: u64,
    rho: u64,
    zeta: u64,
    increment_acks: u64,
}

impl Yeah {
    fn new(values: &ParamValues, setup: &Setup) -> Yeah {
        let number = |name| values.number(name) as u64;
        Yeah {
            window: Window { cwnd: setup.initial_window, ssthresh: setup.initial_ssthresh },
            counter: Counter::default(),
            delay: RoundRtt::default(),
            limits: Limits {
                alpha: number("alpha"),
                gamma: number("gamma"),
                epsilon: number("epsilon") as u32,
                delta: number("delta") as u32,
                phi: number("phi"),
                rho: number("rho"),
                zeta: number("zeta"),
                increment_acks: number("increment_acks"),
            },
            initial_window: setup.initial_window,
            last_queue: 0,
            slow_rounds: 0,
            fast_rounds: 0,
            reno_count: MIN_RENO,
        }
    }

    fn grow(&mut self, ack: &Ack, view: &View) {
        let mut acked = ack.acked;
        if self.window.in_slow_start() {
            acked = self.window.slow_start(acked, acked);
        }
        if acked == Bytes::ZERO || self.window.in_slow_start() {
            return;
        }
        let w = self.window.cwnd;
        let per_increment = if self.slow_rounds == 0 { w.min(view.mss * self.limits.increment_acks) } else { w };
        self.counter.grow(&mut self.window, acked, per_increment, view.mss);
    }

    /// What the round that has ended says.
    fn judge(&mut self, view: &View) {
        let (Some(base), Some(rtt)) = (self.delay.base, self.delay.least) else { return };
        let (limits, w) = (&self.limits, self.window.cwnd.segments(view.mss));
        // Q = W (RTT - base) / RTT
        let queue = (u128::from(w) * u128::from(rtt - base) / u128::from(rtt)) as u64;
        self.last_queue = queue;
        if queue <= limits.alpha && rtt - base <= base / limits.phi {
            self.slow_rounds = 0;
            self.fast_rounds += 1;
            if self.fast_rounds > limits.zeta {
                (self.reno_count, self.fast_rounds) = (MIN_RENO, 0);
            }
            return;
        }
        let mut w = w;
        if queue > limits.alpha && w > self.reno_count {
            w = (w - (queue / limits.gamma).min(w >> limits.epsilon)).max(self.reno_count);
            self.window.cut(view.mss * w);
        }
        self.reno_count = if self.reno_count <= MIN_RENO { (w / 2).max(MIN_RENO) } else { self.reno_count + 1 };
        self.slow_rounds += 1;
    }
}

impl CongestionControl for Yeah {
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        self.delay.on_ack(ack);
        if self.delay.returns_to_open(view) {
            self.delay.begin_round(view);
        }
        // A round that ends while the window is not used goes on.
        if !view.may_grow {
            return;
        }
        self.grow(ack, view);
        if self.delay.round_ends(view) {
            if self.delay.samples > TOO_FEW_SAMPLES {
                self.judge(view);
            }
            self.delay.begin_round(view);
        }
    }

    fn on_congestion(&mut self, event: &Congestion, view: &View) {
        let w = self.window.cwnd.segments(view.mss);
        let half = (w / 2).max(2);
        let cut = if self.slow_rounds < self.limits.rho {
            self.last_queue.min(half).max(w >> self.limits.delta)
        } else {
            half
        };
        self.fast_rounds = 0;
        self.reno_count = (self.reno_count / 2).max(MIN_RENO);
        self.counter.reset();
        let ssthresh = view.mss * w.saturating_sub(cut).max(2);
        self.window.reduce(ssthresh, event);
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    fn on_idle(&mut self, idle: Span, view: &View) {
        // The kernel begins again whenever something is sent with nothing outstanding.
        self.delay.reset(view);
        self.window.on_idle(idle, view, self.initial_window, IdleRule::Halve);
    }

    fn observe(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("queue", self.last_queue as f64);
        put("reno_count", self.reno_count as f64);
        put("slow_rounds", self.slow_rounds as f64);
        if let Some(base) = self.delay.base {
            put("base_rtt_s", base as f64 / 1e6);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::driver::Driver;
    use super::*;
    use crate::cc::signals::Cause;

    /// Congestion avoidance from `cwnd` with a base RTT of 100 ms, at the beginning of a round.
    fn yeah(cwnd: u64) -> Driver {
        let mut yeah = Driver::new("yeah", "linux", &[], cwnd, Some(2));
        round(&mut yeah, 100.0);
        yeah
    }

    /// A round of four samples of `rtt_ms`. All but the last lie below its end.
    fn round(yeah: &mut Driver, rtt_ms: f64) {
        let (una, nxt) = (yeah.view.snd_una, yeah.view.snd_nxt);
        for ack in 0..4 {
            (yeah.view.snd_una, yeah.view.snd_nxt) =
                if ack < 3 { (una, nxt) } else { (nxt + Bytes(1), nxt + Bytes(2)) };
            let view = yeah.view;
            let rtt = Span::from_secs_f64(rtt_ms / 1e3);
            let rtt = Some(super::super::RttSample { latest: rtt, oldest: rtt });
            yeah.cc.on_ack(&Ack { acked: Bytes(1), rtt, ..Ack::default() }, &view);
        }
    }

    #[test]
    fn vectors_of_algorithms_8_7() {
        let mut yeah = yeah(400);
        round(&mut yeah, 130.0);
        assert_eq!((yeah.internal("queue"), yeah.internal("reno_count")), (92.0, 154.0));
        assert_eq!((yeah.cwnd(), yeah.ssthresh()), (308.0, 308.0));
        yeah.congestion(Cause::Rack);
        assert_eq!((yeah.cwnd(), yeah.ssthresh()), (216.0, 216.0));
        assert_eq!(yeah.internal("reno_count"), 77.0);
    }

    #[test]
    fn fast_growth_needs_100_acknowledged_segments_and_slow_growth_a_window() {
        for (rtt, acks) in [(110.0, 100), (120.0, 400)] {
            let mut yeah = yeah(400);
            round(&mut yeah, rtt);
            let before = yeah.cwnd();
            // The rounds above have left twelve bytes on the counter.
            yeah.ack(acks - 1, None);
            assert_eq!(yeah.cwnd(), before, "{rtt}");
            yeah.ack(1, None);
            assert_eq!(yeah.cwnd(), before + 1.0, "{rtt}");
        }
    }

    #[test]
    fn a_long_rtt_without_much_queue_slows_down_without_draining() {
        // W = 40: Q = 40 * 30 / 130 = 9 segments, but 30 ms are more than an eighth of 100 ms.
        let mut yeah = yeah(40);
        round(&mut yeah, 130.0);
        assert_eq!((yeah.cwnd(), yeah.internal("slow_rounds"), yeah.internal("reno_count")), (40.0, 1.0, 20.0));
        round(&mut yeah, 130.0);
        assert_eq!((yeah.cwnd(), yeah.internal("slow_rounds"), yeah.internal("reno_count")), (40.0, 2.0, 21.0));
        yeah.congestion(Cause::Rack);
        // The queue of 9 is more than an eighth of the window.
        assert_eq!(yeah.cwnd(), 31.0);
    }

    #[test]
    fn among_reno_flows_a_loss_costs_half() {
        let mut yeah = yeah(40);
        (0..16).for_each(|_| round(&mut yeah, 130.0));
        yeah.congestion(Cause::Rack);
        assert_eq!(yeah.cwnd(), 20.0);
    }

    #[test]
    fn after_more_than_fifty_fast_rounds_reno_is_forgotten() {
        let mut yeah = yeah(40);
        round(&mut yeah, 130.0);
        (0..49).for_each(|_| round(&mut yeah, 100.0));
        assert_eq!(yeah.internal("reno_count"), 20.0);
        // The very first round was fast too.
        round(&mut yeah, 100.0);
        assert_eq!(yeah.internal("reno_count"), 2.0);
    }
}
