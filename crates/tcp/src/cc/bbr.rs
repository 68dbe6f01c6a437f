//! BBRv1: send at the bandwidth of the bottleneck, with a window of twice the bandwidth-delay product (Cardwell and
//! others 2016; Linux `tcp_bbr`).
//!
//! The model of the path is the largest delivery rate of ten rounds and the minimum RTT of ten seconds. Pacing at a cycle
//! of gains around 1 probes for more bandwidth and drains what that left in the queue; a dip to four segments measures
//! the RTT anew. Loss moves the window only while it is repaired. Profile `linux` has the kernel's integers, the
//! other a simulator's values in the same machine. Not modelled: 16-bit overflow of Linux's `extra_acked`.

pub(super) mod aggregation;
mod model;
mod params;
mod policer;
pub(super) mod rate;

use params::Settings;

use super::algorithm::{Algorithm, Internal, Requirements, Setup};
use super::controller::CongestionControl;
use super::filter::{Dip, WindowedMax};
use super::parameters::ParamValues;
use super::signals::{Ack, Cause, Congestion, State, View};
use super::window::Window;
use crate::rng::Rng;
use crate::units::{Bytes, Rate, Span, Time};
use aggregation::Aggregation;
pub(super) use model::maybe_delayed;
use policer::{Policer, Report};
use rate::{GAIN, count};

/// Version 1.
pub(super) const BBR: Algorithm = Algorithm {
    name: "bbr",
    title: "BBR version 1: bandwidth and round-trip propagation time",
    reference: "Cardwell, Cheng, Gunn, Yeganeh, Jacobson 2016, ACM Queue 14(5)",
    requirements: Requirements { owns_window: true, random: true, ..Requirements::NONE },
    starts: Some(Algorithm::RESUMES),
    params: params::PARAMS,
    profiles: params::PROFILES,
    internals: INTERNALS,
    states: &["startup", "drain", "probe_bw", "probe_rtt"],
    build: &|values, setup| Box::new(Bbr::new(values, setup)),
};

/// What it shows of itself.
const INTERNALS: &[Internal] = &[
    Internal::of("state", "phase of the state machine"),
    Internal::of(
        "bw_bps",
        "estimated bandwidth: the largest delivery rate of ten rounds, or what a policer lets through",
    ),
    Internal::of("pacing_bps", "pacing rate"),
    Internal::of("pacing_gain", "factor of the pacing rate"),
    Internal::of("cwnd_gain", "factor of the window"),
    Internal::of("phase", "place in the cycle of gains, 0 to 7"),
    Internal::of("full_pipe", "1 once the pipe was full"),
    Internal::of("extra_acked_bytes", "what ACK aggregation adds to the window"),
    Internal::of("policed", "1 while a policer is believed to limit"),
    Internal::of("min_rtt_s", "minimum RTT of ten seconds"),
];

/// Pacing gains of a cycle, in 256ths.
const CYCLE: [u64; 8] = [GAIN * 5 / 4, GAIN * 3 / 4, GAIN, GAIN, GAIN, GAIN, GAIN, GAIN];
/// The pipe is full when the bandwidth has not grown by a quarter in three rounds.
const FULL_ROUNDS: u32 = 3;
/// From this rate on (bytes per second) a burst has two segments at least.
const PAIRS_FROM: u64 = 150_000;
/// Maximum pacing quantum: a TSO packet of 64 KiB less headers.
const MAX_QUANTUM: u64 = 65_215;
/// Window before there is an RTT sample; as many bytes must be delivered before the model limits the window.
const INITIAL: u64 = 10;
/// The kernel's windows have 32 bits.
const MAX_WINDOW: u64 = u32::MAX as u64;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// Windows in segments, rates in bytes per second unless a name says otherwise.
#[derive(Debug)]
struct Bbr {
    settings: Settings,
    rng: Rng,
    cwnd: u64,
    /// BDP when the queue of the start was to be drained: distinguishes used windows from unused ones, as in Linux.
    ssthresh: Option<u64>,
    mode: Mode,
    pacing: u64,
    pacing_gain: u64,
    cwnd_gain: u64,
    /// Segments per microsecond in the kernel's unit.
    max_bw: WindowedMax,
    min_rtt_us: Option<u64>,
    min_rtt_at: Time,
    /// Minimum RTT ever.
    floor_us: Option<u64>,
    rounds: u64,
    round_start: bool,
    /// The round ends when a segment sent after this much had been delivered is acknowledged.
    round_end: Bytes,
    full_bw: u64,
    full_rounds: u32,
    filled: bool,
    phase: usize,
    phase_at: Time,
    delivered_at: Time,
    probe_rtt_ends: Option<Time>,
    probe_rtt_round_done: bool,
    dip: Dip,
    idle_restart: bool,
    has_seen_rtt: bool,
    prior_cwnd: u64,
    prior_state: State,
    /// The first round of recovery: send what has arrived.
    conserves: bool,
    aggregation: Aggregation,
    policer: Policer,
}

impl Bbr {
    fn new(values: &ParamValues, setup: &Setup) -> Bbr {
        let settings = Settings::new(values, setup);
        let min_rtt_us = setup.handshake_rtt.map(|rtt| rtt.as_micros());
        let mut bbr = Bbr {
            rng: Rng::stream(setup.seed, "bbr"),
            cwnd: count(setup.initial_window, setup.mss),
            ssthresh: None,
            mode: Mode::Startup,
            pacing: 0,
            pacing_gain: settings.startup_gain,
            cwnd_gain: settings.startup_gain,
            max_bw: WindowedMax::new(),
            min_rtt_us,
            min_rtt_at: setup.now,
            floor_us: min_rtt_us,
            rounds: 0,
            round_start: false,
            round_end: Bytes::ZERO,
            full_bw: 0,
            full_rounds: 0,
            filled: false,
            phase: 0,
            phase_at: Time::ZERO,
            delivered_at: setup.now,
            probe_rtt_ends: None,
            probe_rtt_round_done: false,
            dip: Dip::default(),
            idle_restart: false,
            has_seen_rtt: false,
            prior_cwnd: 0,
            prior_state: State::Open,
            conserves: false,
            aggregation: Aggregation::new(setup.now, values.flag("ack_aggregation")),
            policer: Policer::new(values.flag("policer")),
            settings,
        };
        bbr.begin_pacing(setup.handshake_rtt);
        bbr
    }

    /// The window in one RTT, times the start's gain; without an RTT a millisecond is assumed.
    fn begin_pacing(&mut self, rtt: Option<Span>) {
        self.has_seen_rtt = rtt.is_some();
        let micros = rtt.map_or(1000, |rtt| rtt.as_micros().max(1));
        self.pacing = self.pace_of(rate::of(self.cwnd, micros), self.settings.startup_gain);
    }

    fn pace_of(&self, bw: u64, gain: u64) -> u64 {
        rate::bytes_per_second(bw, gain, self.settings.margin, self.settings.mss)
    }

    fn set_pacing(&mut self, gain: u64, view: &View) {
        if !self.has_seen_rtt && view.srtt.is_some() {
            self.begin_pacing(view.srtt);
        }
        let (bw, pacing) = (self.bw(), self.pace_of(self.bw(), gain));
        // While the pipe fills, low samples say nothing; without any the rate of the start stays, for at none nothing would leave.
        if bw > 0 && (self.filled || pacing > self.pacing) {
            self.pacing = pacing;
        }
    }

    fn max_bw(&self) -> u64 {
        self.max_bw.get() as u64
    }

    fn bw(&self) -> u64 {
        self.policer.bw().unwrap_or(self.max_bw())
    }

    /// Segments per burst: a millisecond's worth (1/1024 s; Linux bbr_tso_segs_goal).
    fn bundle(&self) -> u64 {
        if !self.settings.bundles {
            return 1;
        }
        let least = if self.pacing < PAIRS_FROM { 1 } else { 2 };
        ((self.pacing >> 10).min(MAX_QUANTUM) / self.settings.mss.0).max(least).min(127)
    }

    /// ceil(gain bw min_rtt)
    fn bdp(&self, bw: u64, gain: u64) -> u64 {
        let Some(min_rtt_us) = self.min_rtt_us else { return INITIAL };
        let scaled = u128::from(bw) * u128::from(min_rtt_us) * u128::from(gain) / u128::from(GAIN);
        scaled.div_ceil(u128::from(rate::UNIT)) as u64
    }

    /// Room for what both ends hold back: bundles in the making, and an ACK for every other segment.
    fn with_budget(&self, cwnd: u64) -> u64 {
        let mut budget = cwnd + 3 * self.bundle();
        if self.settings.bundles {
            budget += budget % 2;
        }
        // Also with a small BDP the probe is to put more in flight than that.
        if self.mode == Mode::ProbeBw && self.phase == 0 { budget + 2 } else { budget }
    }

    fn inflight(&self, gain: u64) -> u64 {
        self.with_budget(self.bdp(self.max_bw(), gain))
    }

    /// What will be in the network when pacing lets the next bundle leave.
    fn in_network(&self, pipe: u64, view: &View) -> u64 {
        let wait = view.paced_until.since(view.now).as_micros();
        let with_next = if self.pacing_gain > GAIN { pipe + self.bundle() } else { pipe };
        with_next.saturating_sub(rate::segments(self.bw(), wait))
    }

    /// What to return to when recovery or the dip is over.
    fn save_cwnd(&mut self) {
        let undisturbed = self.prior_state < State::Recovery && self.mode != Mode::ProbeRtt;
        self.prior_cwnd = if undisturbed { self.cwnd } else { self.prior_cwnd.max(self.cwnd) };
    }

    fn set_gains(&mut self) {
        let start = self.settings.startup_gain;
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (start, start),
            Mode::Drain => (GAIN * GAIN / start, start),
            Mode::ProbeBw if self.policer.bw().is_some() => (GAIN, self.settings.cwnd_gain),
            Mode::ProbeBw => (CYCLE[self.phase], self.settings.cwnd_gain),
            Mode::ProbeRtt => (GAIN, GAIN),
        };
    }

    /// Recovery's part in the window: what was lost leaves it, its first round conserves packets, its end restores it.
    fn recover(&mut self, ack: &Ack, view: &View) {
        let acked = u64::from(ack.acked_segments);
        let conserved = count(view.pipe, view.mss) + acked;
        self.cwnd = self.cwnd.saturating_sub(count(ack.lost, view.mss)).max(1);
        if view.state == State::Recovery && self.prior_state != State::Recovery {
            self.conserves = true;
            self.round_end = view.delivered;
            self.cwnd = conserved;
        } else if self.prior_state >= State::Recovery && view.state < State::Recovery {
            self.cwnd = self.cwnd.max(self.prior_cwnd);
            self.conserves = false;
        }
        self.prior_state = view.state;
        if self.conserves {
            self.cwnd = self.cwnd.max(conserved);
        }
    }

    fn set_cwnd(&mut self, ack: &Ack, view: &View) {
        let acked = u64::from(ack.acked_segments);
        if acked > 0 {
            self.recover(ack, view);
            if !self.conserves {
                let bw = self.bw();
                let extra = if self.filled { self.aggregation.extra(bw) } else { 0 };
                let target = self.with_budget(self.bdp(bw, self.cwnd_gain) + extra);
                // The kernel counts the SYN as delivered too.
                if self.filled {
                    self.cwnd = (self.cwnd + acked).min(target);
                } else if self.cwnd < target || count(view.delivered, view.mss) + 1 < INITIAL {
                    self.cwnd += acked;
                }
                self.cwnd = self.cwnd.max(self.settings.min_cwnd);
            }
        }
        let most = if self.mode == Mode::ProbeRtt { self.settings.min_cwnd } else { MAX_WINDOW };
        self.cwnd = self.cwnd.min(most);
    }
}

impl CongestionControl for Bbr {
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        if ack.acked > Bytes::ZERO {
            self.delivered_at = view.now;
        }
        self.floor_us = view.min_rtt.map(|rtt| rtt.as_micros()).or(self.floor_us);
        self.update_bw(ack, view);
        self.advance_phase(ack, view);
        self.check_drain(view);
        self.update_min_rtt(ack, view);
        self.set_gains();
        self.set_pacing(self.pacing_gain, view);
        self.set_cwnd(ack, view);
    }

    fn on_congestion(&mut self, event: &Congestion, view: &View) {
        if event.cause != Cause::Timeout {
            self.save_cwnd();
            return;
        }
        if event.first {
            self.save_cwnd();
        }
        self.cwnd = count(event.loss_window, view.mss).max(1);
        self.prior_state = State::Loss;
        self.full_bw = 0;
        // A time-out ends a round.
        self.round_start = true;
        let report = Report { new_loss: true, ..self.report(view) };
        self.look_for_policer(&report, view);
    }

    fn window(&mut self) -> Window {
        let mss = self.settings.mss;
        Window { cwnd: mss * self.cwnd, ssthresh: self.ssthresh.map_or(Bytes::MAX, |segments| mss * segments) }
    }

    fn begin(&mut self, _window: Window) {
        // What a start around it sent was too much: the pipe is full, and the queue drains.
        self.filled = true;
    }

    fn on_undo(&mut self, _before: Window, _view: &View) {
        // cwnd comes back when the state does; what was taken for a full pipe or a policer may have been none.
        self.full_bw = 0;
        self.full_rounds = 0;
        self.policer.reset();
    }

    fn on_idle(&mut self, _idle: Span, view: &View) {
        if !view.app_limited && !self.dip.lasts(view.delivered) {
            return;
        }
        self.idle_restart = true;
        self.aggregation.restart(view.now);
        match self.mode {
            // Nothing is in flight: more than the bandwidth would only fill a buffer.
            Mode::ProbeBw => self.set_pacing(GAIN, view),
            Mode::ProbeRtt => self.check_probe_rtt_done(view),
            Mode::Startup | Mode::Drain => {}
        }
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Some(rate::rate(self.pacing))
    }

    fn send_quantum(&self) -> Option<Bytes> {
        // On paths shorter than some milliseconds Linux makes larger bundles (tcp_tso_rtt_log).
        let shift = self.floor_us.map_or(64, |rtt| rtt >> 9).min(63);
        let extra = if self.settings.bundles { (65_536_u64 >> shift) / self.settings.mss.0 } else { 0 };
        Some(self.settings.mss * (self.bundle() + extra).min((MAX_QUANTUM / self.settings.mss.0).max(1)))
    }

    fn observe(&self, put: &mut dyn FnMut(&'static str, f64)) {
        let mss = self.settings.mss;
        put("state", f64::from(self.mode as u8));
        put("bw_bps", rate::bytes_per_second(self.bw(), GAIN, 0, mss) as f64 * 8.0);
        put("pacing_bps", self.pacing as f64 * 8.0);
        put("pacing_gain", self.pacing_gain as f64 / GAIN as f64);
        put("cwnd_gain", self.cwnd_gain as f64 / GAIN as f64);
        put("phase", self.phase as f64);
        put("full_pipe", f64::from(u8::from(self.filled)));
        put("extra_acked_bytes", self.aggregation.extra(self.bw()) as f64 * mss.as_f64());
        put("policed", f64::from(u8::from(self.policer.bw().is_some())));
        if let Some(min_rtt_us) = self.min_rtt_us {
            put("min_rtt_s", Span::from_micros(min_rtt_us).as_secs_f64());
        }
    }
}

#[cfg(test)]
mod tests;
