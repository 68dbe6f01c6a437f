//! CDG: backs off when the RTT rises, by chance in proportion to how fast (Hayes, Armitage 2011).
//!
//! Each round its minimum and maximum RTT are compared with those of the round before; the sums over the last eight rounds are
//! the gradient g. A positive one reduces the window with probability 1 - exp(-g / G). Backoffs that do not help stop after
//! five: whoever fills the queue does not listen. A shadow window, which those backoffs leave alone, keeps CDG alive beside
//! flows that go by loss. Profile `linux` is the kernel's module, with its HyStart; only its table of exponentials is left out.

mod memory;

use memory::{Memory, Pair, Queue};

use super::algorithm::{Algorithm, Internal, Requirements, Setup};
use super::controller::CongestionControl;
use super::parameters::{Param, ParamValues, Profile};
use super::round_rtt::is_cong_avoid_called;
use super::signals::{Ack, Congestion, View};
use super::window::{Counter, IdleRule, Window};
use crate::rng::Rng;
use crate::seq::SeqNo;
use crate::units::{Bytes, Span};

/// Probabilistic backoff on the gradient of delay.
pub(super) const CDG: Algorithm = Algorithm {
    name: "cdg",
    title: "CDG: backs off by chance when the delay rises",
    reference: "Hayes, Armitage 2011, Revisiting TCP Congestion Control using Delay Gradients",
    requirements: Requirements { random: true, ..Requirements::NONE },
    starts: None,
    params: PARAMS,
    profiles: &[Profile { name: "linux", set: &[], recovery: None }],
    internals: INTERNALS,
    states: &[],
    build: &|values, setup| Box::new(Cdg::new(values, setup)),
};

/// What it shows of itself.
const INTERNALS: &[Internal] = &[
    Internal::of("shadow", "shadow window, segments"),
    Internal::of("backoffs", "back-offs in a row without effect"),
    Internal::of("gradient_min_s", "smoothed gradient of the minimum RTT"),
    Internal::of("gradient_max_s", "smoothed gradient of the maximum RTT"),
];

const PARAMS: &[Param] = &[
    Param::number("window", 1.0..=256.0, 8.0)
        .unit("rounds")
        .doc("rounds over which gradients are summed")
        .source("Linux tcp_cdg, window"),
    Param::number("backoff_beta", 0.1..=1.0, 724.0 / 1024.0)
        .doc("what remains of the window after a backoff")
        .source("Linux tcp_cdg, backoff_beta: the root of 1/2 in 1/1024"),
    Param::number("backoff_factor", 0.0..=1e4, 42.0)
        .unit("1/s")
        .doc("the gradient's sum times this is the exponent of the probability")
        .source("Linux tcp_cdg, backoff_factor: 1000 / (G window) with G = 3"),
    Param::number("use_ineff", 0.0..=1e4, 5.0)
        .doc("backoffs in a row without effect before they stop; 0: they never do")
        .source("Linux tcp_cdg, use_ineff"),
    Param::flag("use_shadow", true)
        .doc("a loss goes by the shadow window, which backoffs leave alone")
        .source("Linux tcp_cdg, use_shadow"),
    Param::flag("use_tolerance", false)
        .doc("a loss while the queue is not believed full leaves the window")
        .source("Linux tcp_cdg, use_tolerance"),
    Param::flag("hystart_train", true)
        .doc("slow start ends when closely spaced ACKs have come for half the minimum RTT")
        .source("Linux tcp_cdg, hystart_detect bit 0"),
    Param::flag("hystart_delay", true)
        .doc("slow start ends when the RTT has risen by an eighth of its minimum")
        .source("Linux tcp_cdg, hystart_detect bit 1"),
];

#[derive(Debug)]
struct Cdg {
    window: Window,
    counter: Counter,
    rng: Rng,
    initial_window: Bytes,
    settings: Settings,
    memory: Memory,
    /// A backoff waits for the sender.
    wanted: bool,
    /// Recovery or CWR is over since the last ACK.
    completed: bool,
}

/// The parameters.
#[derive(Debug)]
struct Settings {
    window: usize,
    backoff_beta: u64,
    backoff_factor: f64,
    use_ineff: u64,
    use_shadow: bool,
    use_tolerance: bool,
    hystart_train: bool,
    hystart_delay: bool,
}

impl Cdg {
    fn new(values: &ParamValues, setup: &Setup) -> Cdg {
        let mut memory = Memory::new(SeqNo::FIRST_DATA, setup.initial_window.segments(setup.mss));
        // The kernel's first round holds the RTT of the handshake.
        memory.rtt =
            setup.handshake_rtt.map(|rtt| rtt.as_micros().max(1) as i64).map(|rtt| Pair { min: rtt, max: rtt });
        Cdg {
            window: Window { cwnd: setup.initial_window, ssthresh: setup.initial_ssthresh },
            counter: Counter::default(),
            rng: Rng::stream(setup.seed, "cdg"),
            initial_window: setup.initial_window,
            settings: Settings {
                window: values.number("window") as usize,
                backoff_beta: (values.number("backoff_beta") * 1024.0) as u64,
                backoff_factor: values.number("backoff_factor"),
                use_ineff: values.number("use_ineff") as u64,
                use_shadow: values.flag("use_shadow"),
                use_tolerance: values.flag("use_tolerance"),
                hystart_train: values.flag("hystart_train"),
                hystart_delay: values.flag("hystart_delay"),
            },
            memory,
            wanted: false,
            completed: false,
        }
    }

    /// P = 1 - exp(-g factor), g in seconds.
    fn probability(&self, gradient: i64) -> f64 {
        1.0 - libm::exp(-(gradient as f64) * 1e-6 * self.settings.backoff_factor)
    }

    /// A round has ended; true if the window is to come down.
    fn judge_round(&mut self, view: &View) -> bool {
        let memory = &mut self.memory;
        let gradient = match (memory.rtt, memory.previous) {
            (Some(rtt), Some(previous)) => memory.gradient(rtt.less(previous), &self.settings),
            _ => 0,
        };
        memory.begin_round(view);
        (memory.last_ack, memory.samples) = (None, 0);
        gradient > 0 && self.backs_off(gradient, view)
    }

    fn backs_off(&mut self, gradient: i64, view: &View) -> bool {
        let probability = self.probability(gradient);
        if self.rng.uniform() >= probability {
            return false;
        }
        let memory = &mut self.memory;
        if self.settings.use_ineff > 0 {
            memory.backoffs += 1;
            if memory.backoffs > self.settings.use_ineff {
                return false;
            }
        }
        memory.shadow = memory.shadow.max(self.window.cwnd.segments(view.mss));
        memory.queue = Queue::Backoff;
        self.wanted = true;
        true
    }

    /// Growth is Reno's, and the shadow window takes part in it.
    fn grow(&mut self, ack: &Ack, view: &View) {
        let before = self.window.cwnd.segments(view.mss);
        let mut acked = ack.acked;
        if self.window.in_slow_start() {
            acked = self.window.slow_start(acked, acked);
        }
        if acked > Bytes::ZERO && !self.window.in_slow_start() {
            let per_increment = self.window.cwnd;
            self.counter.grow(&mut self.window, acked, per_increment, view.mss);
        }
        self.memory.shadow += self.window.cwnd.segments(view.mss) - before;
    }

    /// Where a reduction ends, in segments.
    fn reduced(&mut self, w: u64) -> u64 {
        let (memory, settings) = (&mut self.memory, &self.settings);
        match memory.queue {
            Queue::Backoff => return (w * settings.backoff_beta) >> 10,
            Queue::NotFull if settings.use_tolerance => return w,
            _ => memory.shadow = (memory.shadow / 2).min(w),
        }
        if settings.use_shadow { memory.shadow.max(w / 2) } else { w / 2 }
    }
}

impl CongestionControl for Cdg {
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        self.wanted = false;
        if let Some(sample) = ack.rtt.filter(|sample| sample.latest.as_micros() > 0) {
            self.memory.sample(sample.latest.as_micros() as i64, ack, view);
        }
        if std::mem::take(&mut self.completed) {
            // What the descent did to the delay is no gradient.
            self.memory.queue = Queue::Unknown;
            self.memory.begin_round(view);
        }
        if !is_cong_avoid_called(ack, view) {
            return;
        }
        if self.window.in_slow_start() && self.memory.slow_start_ends(view, &self.settings) {
            self.window.ssthresh = self.window.cwnd;
        }
        if view.snd_una > self.memory.end && self.memory.rtt.is_some() && self.judge_round(view) {
            return;
        }
        if view.may_grow {
            self.grow(ack, view);
        } else {
            self.memory.shadow = self.memory.shadow.min(self.window.cwnd.segments(view.mss));
        }
    }

    fn on_congestion(&mut self, event: &Congestion, view: &View) {
        self.wanted = false;
        let w = self.window.cwnd.segments(view.mss);
        let ssthresh = view.mss * self.reduced(w).max(2);
        self.counter.reset();
        self.window.reduce(ssthresh, event);
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    fn on_recovery_end(&mut self, _view: &View) {
        self.completed = true;
    }

    fn on_idle(&mut self, idle: Span, view: &View) {
        if view.slow_start_after_idle && idle > view.rto {
            self.memory = Memory::new(view.snd_nxt, self.window.cwnd.segments(view.mss));
        }
        self.window.on_idle(idle, view, self.initial_window, IdleRule::Halve);
    }

    fn wants_reduction(&self) -> bool {
        self.wanted
    }

    fn observe(&self, put: &mut dyn FnMut(&'static str, f64)) {
        let memory = &self.memory;
        put("shadow", memory.shadow as f64);
        put("backoffs", memory.backoffs as f64);
        put("gradient_min_s", memory.gradients.iter().map(|pair| pair.min).sum::<i64>() as f64 / 1e6);
        put("gradient_max_s", memory.gradients.iter().map(|pair| pair.max).sum::<i64>() as f64 / 1e6);
    }
}

#[cfg(test)]
mod tests;
