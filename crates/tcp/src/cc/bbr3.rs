//! BBRv3: BBR that also listens to loss (draft-ietf-ccwg-bbr, text of August 2026).
//!
//! Besides bandwidth and minimum RTT the model has two bounds for what is in flight: a long-term one, learnt where a probe
//! for bandwidth lost more than 2 %, and a short-term one, lowered by every round with loss between probes. Probes are
//! two to three seconds or as many rounds apart as Reno needs to grow by its window, so that Reno and CUBIC can live
//! beside it. Profile `linux` is that of Google's kernel (branch v3), by what it does otherwise than the draft, each a parameter.
//! Not modelled: connections without SACK (every loss too much). Where the draft's table and pseudocode disagree (bounds while draining) the table is followed.

mod control;
mod cycle;
mod ecn;
mod kernel;
mod params;
mod probe_rtt;
mod signals;

use ecn::Marks;
use params::Settings;

use super::algorithm::{Algorithm, Internal, Requirements, Setup};
use super::bbr::aggregation::Aggregation;
use super::controller::CongestionControl;
use super::filter::{Dip, WindowedMax};
use super::parameters::ParamValues;
use super::signals::{Ack, Cause, Congestion, Lost, State, View};
use super::window::Window;
use crate::rng::Rng;
use crate::seq::SeqNo;
use crate::units::{Bytes, Rate, Span, Time};

/// Version 3.
pub(super) const BBR3: Algorithm = Algorithm {
    name: "bbr3",
    title: "BBR version 3: bandwidth, round-trip propagation time and loss",
    reference: "draft-ietf-ccwg-bbr (August 2026)",
    requirements: Requirements { owns_window: true, random: true, ..Requirements::NONE },
    starts: Some(Algorithm::RESUMES),
    params: params::PARAMS,
    profiles: params::PROFILES,
    internals: INTERNALS,
    states: &["startup", "drain", "probe_bw_down", "probe_bw_cruise", "probe_bw_refill", "probe_bw_up", "probe_rtt"],
    build: &|values, setup| Box::new(Bbr3::new(values, setup)),
};

/// What it shows of itself.
const INTERNALS: &[Internal] = &[
    Internal::of("state", "phase of the state machine"),
    Internal::of("bw_bps", "estimated bandwidth within its bounds (BBR.bw)"),
    Internal::of("max_bw_bps", "the largest delivery rate of two cycles (BBR.max_bw)"),
    Internal::of("pacing_bps", "pacing rate"),
    Internal::of("pacing_gain", "factor of the pacing rate"),
    Internal::of("cwnd_gain", "factor of the window"),
    Internal::of("full_pipe", "1 once the pipe was full (BBR.full_bw_reached)"),
    Internal::of("extra_acked_bytes", "what ACK aggregation adds to the window (BBR.extra_acked)"),
    Internal::of("min_rtt_s", "minimum RTT (BBR.min_rtt)"),
    Internal::of("bw_shortterm_bps", "bound of the bandwidth since the last loss (BBR.bw_shortterm)"),
    Internal::of(
        "inflight_shortterm_bytes",
        "bound of the data in flight since the last loss (BBR.inflight_shortterm)",
    ),
    Internal::of("inflight_longterm_bytes", "bound of the data in flight that loss has shown (BBR.inflight_longterm)"),
];

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Mode {
    #[default]
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl Mode {
    /// One of the four of ProbeBW.
    fn in_probe_bw(self) -> bool {
        matches!(self, Mode::Down | Mode::Cruise | Mode::Refill | Mode::Up)
    }

    /// Sends more than before, to find out.
    fn probes(self) -> bool {
        matches!(self, Mode::Startup | Mode::Refill | Mode::Up)
    }
}

/// What the ACKs of a probe acknowledge (ack_phase in the draft).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum AckPhase {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// The delivery-rate sample of the ACK under way; bytes and bytes per second.
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    rate: Option<f64>,
    delivered: f64,
    prior_delivered: Bytes,
    tx_in_flight: f64,
    lost: f64,
    app_limited: bool,
}

/// The full-pipe estimator (§5.3.1.2).
#[derive(Clone, Copy, Debug, Default)]
struct FullPipe {
    bw: f64,
    rounds: u32,
    now: bool,
    /// It was full once.
    reached: bool,
}

/// Packet-timed rounds (§5.5.1).
#[derive(Clone, Copy, Debug, Default)]
struct RoundCounter {
    count: u64,
    end: Bytes,
    start: bool,
}

/// Upper bounds; infinite if unset.
#[derive(Clone, Copy, Debug)]
struct ModelBounds {
    bw_short: f64,
    inflight_short: f64,
    inflight_long: f64,
}

impl ModelBounds {
    const NONE: ModelBounds =
        ModelBounds { bw_short: f64::INFINITY, inflight_short: f64::INFINITY, inflight_long: f64::INFINITY };
}

/// What a round has delivered, and lost (§5.5.10.3).
#[derive(Clone, Copy, Debug, Default)]
struct CongestionSignals {
    bw_latest: f64,
    inflight_latest: f64,
    round_end: Bytes,
    round_start: bool,
    loss_in_round: bool,
    /// Gaps in the round, and where the last one ends.
    gaps: u32,
    gap_end: SeqNo,
}

/// The probe for bandwidth (§5.3.3).
#[derive(Clone, Copy, Debug)]
struct Probe {
    acks: AckPhase,
    /// Bytes acknowledged that raise the long-term bound by a segment.
    up_cnt: f64,
    up_acked: f64,
    up_rounds: u32,
    /// Losses are of data sent while probing.
    samples: bool,
    too_high: bool,
    precautionary: bool,
    cycle_at: Time,
    wait: Span,
    rounds: u64,
}

/// Minimum RTT (§5.3.4.3).
#[derive(Clone, Copy, Debug)]
struct MinRtt {
    least: Option<Span>,
    at: Time,
    /// The least of the last five seconds.
    recent: Option<Span>,
    recent_at: Time,
    expired: bool,
    ends: Option<Time>,
    round_done: bool,
}

/// ACKs beyond what the bandwidth explains (§5.5.9).
#[derive(Debug)]
struct Extra {
    start: Time,
    delivered: f64,
    filter: WindowedMax,
    /// As in Linux, in their place.
    slots: Option<Aggregation>,
}

/// Bytes, bytes per second and seconds in real numbers.
#[derive(Debug)]
struct Bbr3 {
    settings: Settings,
    rng: Rng,
    mode: Mode,
    cwnd: f64,
    ssthresh: Option<f64>,
    pacing: f64,
    has_seen_rtt: bool,
    bw: f64,
    /// Largest rate of the previous and of this cycle.
    max_bw: [f64; 2],
    sample: Sample,
    round: RoundCounter,
    full: FullPipe,
    bounds: ModelBounds,
    signals: CongestionSignals,
    probe: Probe,
    rtt: MinRtt,
    extra: Extra,
    marks: Option<Marks>,
    drain_round: u64,
    dip: Dip,
    idle_restart: bool,
    prior_cwnd: f64,
    prior_state: State,
    /// State and bounds when the loss episode under way began.
    undo: Option<(Mode, ModelBounds)>,
}

impl Bbr3 {
    fn new(values: &ParamValues, setup: &Setup) -> Bbr3 {
        let probe = Probe {
            acks: AckPhase::Init,
            up_cnt: f64::INFINITY,
            up_acked: 0.0,
            up_rounds: 0,
            samples: false,
            too_high: false,
            precautionary: false,
            cycle_at: Time::ZERO,
            wait: Span::ZERO,
            rounds: 0,
        };
        let settings = Settings::new(values, setup);
        let least = setup.handshake_rtt.map(|rtt| settings.whole(rtt));
        let rtt = MinRtt {
            least,
            at: setup.now,
            recent: least,
            recent_at: setup.now,
            expired: false,
            ends: None,
            round_done: false,
        };
        let slotted = values.flag("extra_slots");
        let slots = slotted.then(|| Aggregation::new(setup.now, slotted));
        let mut bbr = Bbr3 {
            rng: Rng::stream(setup.seed, "bbr3"),
            mode: Mode::Startup,
            cwnd: settings.up(setup.initial_window.as_f64()),
            settings,
            ssthresh: None,
            pacing: 0.0,
            has_seen_rtt: false,
            bw: 0.0,
            max_bw: [0.0; 2],
            sample: Sample::default(),
            round: RoundCounter::default(),
            full: FullPipe::default(),
            bounds: ModelBounds::NONE,
            signals: CongestionSignals::default(),
            probe,
            rtt,
            extra: Extra { start: setup.now, delivered: 0.0, filter: WindowedMax::new(), slots },
            marks: values.flag("ecn").then(Marks::new),
            drain_round: 0,
            dip: Dip::default(),
            idle_restart: false,
            prior_cwnd: 0.0,
            prior_state: State::Open,
            undo: None,
        };
        bbr.begin_pacing(setup.handshake_rtt);
        bbr
    }

    fn take_sample(&mut self, ack: &Ack) {
        self.sample = ack.rate.map_or_else(Sample::default, |sample| Sample {
            rate: self.settings.rate_of(&sample),
            delivered: self.settings.up(sample.delivered.as_f64()),
            prior_delivered: sample.prior_delivered,
            tx_in_flight: self.settings.up(sample.tx_in_flight.as_f64()),
            lost: sample.lost.as_f64(),
            app_limited: self.dip.spoils(&sample),
        });
    }
}

impl CongestionControl for Bbr3 {
    /// The order of §5.2.3.
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        self.take_sample(ack);
        if ack.rate.is_some() {
            self.update_latest_signals(view);
            self.update_congestion_signals(ack, view);
            self.update_aggregation(ack, view);
            self.check_full_pipe();
            self.check_startup_done(ack, view);
            self.check_drain_done(view);
            self.update_cycle(ack, view);
        }
        self.update_min_rtt(ack, view);
        self.check_probe_rtt(view);
        if ack.rate.is_some() {
            self.advance_latest_signals();
        }
        self.bound_bw();
        self.set_pacing(self.pacing_gain(), view);
        self.set_cwnd(ack, view);
        self.prior_state = view.state;
        if view.state < State::Recovery {
            self.undo = None;
        }
    }

    fn on_congestion(&mut self, event: &Congestion, view: &View) {
        if event.cause == Cause::Ecn {
            return;
        }
        if event.cause == Cause::Timeout {
            if event.first {
                self.save_cwnd(event.state_before);
            }
            if self.settings.timeout_bound {
                self.on_time_out();
            }
            // §5.6.4.4: what is in flight and one segment
            self.cwnd = self.settings.up(event.loss_window.as_f64().max(view.mss.as_f64()));
            self.prior_state = State::Loss;
        } else {
            self.save_cwnd(event.state_before);
        }
        if event.cause == Cause::Tlp && self.settings.tail_loss {
            self.on_tail_loss(view);
        }
        if !self.settings.undo_state {
            self.undo = None;
        }
        self.save_for_undo();
    }

    fn on_lost(&mut self, lost: &Lost, view: &View) {
        self.handle_lost(lost, view);
    }

    fn window(&mut self) -> Window {
        let ssthresh = self.ssthresh.map_or(Bytes::MAX, |bytes| Bytes(bytes.max(self.settings.mss) as u64));
        Window { cwnd: Bytes(self.cwnd as u64), ssthresh }
    }

    fn begin(&mut self, _window: Window) {
        // What a start around it sent was too much: the pipe is full, and the queue drains.
        self.full.reached = true;
    }

    fn on_undo(&mut self, _before: Window, view: &View) {
        self.handle_spurious_loss(view);
    }

    fn on_idle(&mut self, _idle: Span, view: &View) {
        self.restart_from_idle(view);
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Rate::from_bps((self.pacing * 8.0) as u64).or(Rate::from_bps(1))
    }

    fn send_quantum(&self) -> Option<Bytes> {
        Some(Bytes(self.quantum() as u64))
    }

    fn observe(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("state", f64::from(self.mode as u8));
        put("bw_bps", self.bw * 8.0);
        put("max_bw_bps", self.max_bw() * 8.0);
        put("pacing_bps", self.pacing * 8.0);
        put("pacing_gain", self.pacing_gain());
        put("cwnd_gain", self.cwnd_gain());
        put("full_pipe", f64::from(u8::from(self.full.reached)));
        put("extra_acked_bytes", self.extra_acked());
        if let Some(least) = self.rtt.least {
            put("min_rtt_s", least.as_secs_f64());
        }
        let ModelBounds { bw_short, inflight_short, inflight_long } = self.bounds;
        let bounds = [
            ("bw_shortterm_bps", bw_short * 8.0),
            ("inflight_shortterm_bytes", inflight_short),
            ("inflight_longterm_bytes", inflight_long),
        ];
        bounds.into_iter().filter(|(_, value)| value.is_finite()).for_each(|(name, value)| put(name, value));
    }
}

#[cfg(test)]
mod tests;
