//! CDG: backs off when the RTT rises, by chance in proportion to how fast (Hayes, Armitage 2011).
//!
//! Each round its least and greatest RTT are compared with those of the round before; the sums over the last eight rounds are
//! the gradient g. A positive one reduces the window with probability 1 - exp(-g / G). Backoffs that do not help stop after
//! five: whoever fills the queue does not listen. A shadow window, which those backoffs leave alone, keeps CDG alive beside
//! flows that go by loss. Profile `linux` is the kernel's module, with its HyStart; only its table of exponentials is left out.

use std::collections::VecDeque;

use super::delay::is_asked;
use super::{
    Ack, Algorithm, Cause, Congestion, CongestionControl, Counter, Demands, Param, ParamKind, Profile, Setup, Value,
    Values, View, Window,
};
use crate::rng::Rng;
use crate::units::{Bytes, Span, Time};

/// Probabilistic backoff on the gradient of delay.
pub(super) const CDG: Algorithm = Algorithm {
    name: "cdg",
    title: "CDG: backs off by chance when the delay rises",
    reference: "Hayes, Armitage 2011, Revisiting TCP Congestion Control using Delay Gradients; algorithms.md 8.11",
    demands: Demands::NONE,
    params: PARAMS,
    profiles: &[Profile { name: "linux", set: &[], recovery: None }],
    build: &|values, setup| Box::new(Cdg::new(values, setup)),
};

const PARAMS: &[Param] = &[
    Param {
        name: "window",
        kind: ParamKind::Number { min: 1.0, max: 256.0 },
        default: Value::Number(8.0),
        unit: "rounds",
        doc: "gradients are summed over so many rounds",
        source: "Linux tcp_cdg, window",
    },
    Param {
        name: "backoff_beta",
        kind: ParamKind::Number { min: 0.1, max: 1.0 },
        default: Value::Number(724.0 / 1024.0),
        unit: "",
        doc: "what remains of the window after a backoff",
        source: "Linux tcp_cdg, backoff_beta: the root of 1/2 in 1/1024",
    },
    Param {
        name: "backoff_factor",
        kind: ParamKind::Number { min: 0.0, max: 1e4 },
        default: Value::Number(42.0),
        unit: "1/s",
        doc: "the gradient's sum times this is the exponent of the probability",
        source: "Linux tcp_cdg, backoff_factor: 1000 / (G window) with G = 3",
    },
    Param {
        name: "use_ineff",
        kind: ParamKind::Number { min: 0.0, max: 1e4 },
        default: Value::Number(5.0),
        unit: "",
        doc: "backoffs in a row without effect before they stop; 0: they never do",
        source: "Linux tcp_cdg, use_ineff",
    },
    Param {
        name: "use_shadow",
        kind: ParamKind::Flag,
        default: Value::Flag(true),
        unit: "",
        doc: "a loss goes by the shadow window, which backoffs leave alone",
        source: "Linux tcp_cdg, use_shadow",
    },
    Param {
        name: "use_tolerance",
        kind: ParamKind::Flag,
        default: Value::Flag(false),
        unit: "",
        doc: "a loss while the queue is not believed full leaves the window",
        source: "Linux tcp_cdg, use_tolerance",
    },
    Param {
        name: "hystart_train",
        kind: ParamKind::Flag,
        default: Value::Flag(true),
        unit: "",
        doc: "slow start ends when closely spaced ACKs have come for half the least RTT",
        source: "Linux tcp_cdg, hystart_detect bit 0",
    },
    Param {
        name: "hystart_delay",
        kind: ParamKind::Flag,
        default: Value::Flag(true),
        unit: "",
        doc: "slow start ends when the RTT has risen by an eighth of its least",
        source: "Linux tcp_cdg, hystart_detect bit 1",
    },
];

/// A train of ACKs ends with a gap of this, in µs.
const TRAIN_GAP: u64 = 3_000;
/// Least threshold of both detectors, in µs.
const LEAST_THRESHOLD: i64 = 125;
/// Samples of a round before its delay is judged.
const MIN_SAMPLES: u32 = 8;
/// A sum of gradients down to this, in µs, shows that a backoff helped.
const EFFECT: i64 = -32;
/// With `use_tolerance` sums are rounded to units of so many µs.
const TOLERANCE: i64 = 64;
/// Samples in a row that may be taken for those of delayed ACKs.
const MOST_DELAYED: u32 = 5;

/// Something of the least and of the greatest RTT, in µs.
#[derive(Clone, Copy, Debug, Default)]
struct Pair {
    min: i64,
    max: i64,
}

impl Pair {
    fn less(self, other: Pair) -> Pair {
        Pair { min: self.min - other.min, max: self.max - other.max }
    }
}

/// What the queue is believed to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Queue {
    #[default]
    Unknown,
    NotFull,
    Full,
    /// A backoff is under way.
    Backoff,
}

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

/// What a restart after silence forgets.
#[derive(Debug, Default)]
struct Memory {
    /// Least and greatest RTT of the round; absent before its first sample.
    rtt: Option<Pair>,
    previous: Option<Pair>,
    gradients: VecDeque<Pair>,
    queue: Queue,
    /// Samples to come that may be of delayed ACKs.
    delayed: u32,
    /// The round is over when more than this has been acknowledged.
    end: u64,
    /// In segments.
    shadow: u64,
    backoffs: u64,
    samples: u32,
    /// Least RTT for HyStart; 0 before the first.
    delay_min: i64,
    last_ack: Option<u64>,
    train_start: u64,
}

fn micros(time: Time) -> u64 {
    time.as_nanos() / 1_000
}

/// Reported beyond a gap, which the view does not say outright: pipe = flight - sacked - lost + sent again.
fn sacked(view: &View) -> Bytes {
    (view.flight + view.retransmitted).saturating_sub(view.pipe + view.lost)
}

impl Memory {
    fn new(end: u64, shadow: u64) -> Memory {
        Memory { end, shadow, ..Memory::default() }
    }

    /// Takes a sample. After ACKs of several segments one that covers a single segment may have been delayed: it counts only
    /// if it lowers the least RTT.
    fn sample(&mut self, rtt: i64, ack: &Ack, view: &View) {
        if sacked(view) == Bytes::ZERO {
            if ack.cumulative_segments == 1 && self.delayed > 0 {
                if let Some(pair) = &mut self.rtt {
                    pair.min = pair.min.min(rtt);
                }
                self.delayed -= 1;
                return;
            }
            if ack.cumulative_segments > 1 && self.delayed < MOST_DELAYED {
                self.delayed += 1;
            }
        }
        let pair = self.rtt.unwrap_or(Pair { min: rtt, max: rtt });
        self.rtt = Some(Pair { min: pair.min.min(rtt), max: pair.max.max(rtt) });
    }

    fn begin_round(&mut self, view: &View) {
        self.end = view.snd_nxt;
        self.previous = self.rtt.take();
    }

    /// The sum of the gradients with that of the round that has ended, in µs; what the window does not hold yet is
    /// extrapolated.
    fn gradient(&mut self, latest: Pair, settings: &Settings) -> i64 {
        if self.gradients.len() == settings.window {
            self.gradients.pop_front();
        }
        self.gradients.push_back(latest);
        let sum = |part: fn(&Pair) -> i64| self.gradients.iter().map(part).sum::<i64>();
        let (min, max) = (sum(|pair| pair.min), sum(|pair| pair.max));
        let gradient = if min > 0 { min } else { max };
        if min <= EFFECT || max <= EFFECT {
            self.backoffs = 0;
        }
        if settings.use_tolerance {
            self.judge_queue(min, max);
        }
        let (seen, wanted) = (self.gradients.len() as i64, settings.window as i64);
        gradient * wanted / seen
    }

    /// A queue whose least delay grows while the greatest does not is full.
    fn judge_queue(&mut self, min: i64, max: i64) {
        let round = |sum: i64| (sum + sum.signum() * TOLERANCE / 2) / TOLERANCE;
        let (min, max) = (round(min), round(max));
        if min > 0 && max <= 0 {
            self.queue = Queue::Full;
        } else if min > 0 || max < 0 {
            self.queue = Queue::NotFull;
        }
    }

    /// True if a detector says that the path is full.
    fn slow_start_ends(&mut self, view: &View, settings: &Settings) -> bool {
        let least = self.rtt.map_or(0, |pair| pair.min);
        if self.delay_min == 0 || (least > 0 && least < self.delay_min) {
            self.delay_min = least;
        }
        if self.delay_min == 0 {
            return false;
        }
        if settings.hystart_train && self.train_is_long(view) {
            return true;
        }
        if !settings.hystart_delay {
            return false;
        }
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
            return false;
        }
        least > (self.delay_min + self.delay_min / 8).max(LEAST_THRESHOLD)
    }

    fn train_is_long(&mut self, view: &View) -> bool {
        let now = micros(view.now);
        match self.last_ack.filter(|_| view.cwnd_limited) {
            None => (self.last_ack, self.train_start) = (Some(now), now),
            Some(last) if now < last + TRAIN_GAP => {
                self.last_ack = Some(now);
                return now > self.train_start + (self.delay_min / 2).max(LEAST_THRESHOLD) as u64;
            }
            Some(_) => {}
        }
        false
    }
}

impl Cdg {
    fn new(values: &Values, setup: &Setup) -> Cdg {
        let mut memory = Memory::new(1, setup.initial_window.segments(setup.mss));
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
        if !is_asked(ack, view) {
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
        if event.cause == Cause::Timeout {
            self.window.collapse(ssthresh, event);
        } else {
            self.window.cut(ssthresh);
        }
    }

    fn window(&self) -> Window {
        self.window
    }

    fn on_recovery_end(&mut self, _view: &View) {
        self.completed = true;
    }

    fn on_undo(&mut self, before: Window, _view: &View) {
        self.window.restore(before);
    }

    fn on_idle(&mut self, idle: Span, view: &View) {
        if !view.idle_restart {
            return;
        }
        if idle > view.rto {
            self.memory = Memory::new(view.snd_nxt, self.window.cwnd.segments(view.mss));
        }
        self.window.halve_while_idle(idle, view, self.initial_window);
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
