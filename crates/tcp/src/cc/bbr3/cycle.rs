//! Drain and ProbeBW: down, cruise, refill, up (§5.3.2, §5.3.3), and the long-term bound.

use super::{AckPhase, Bbr3, Mode};
use crate::cc::signals::{Ack, View};
use crate::units::Span;

/// The growth of the long-term bound doubles each round up to 2^30.
const MAX_UP_ROUNDS: u32 = 30;

impl Bbr3 {
    pub(super) fn check_drain_done(&mut self, view: &View) {
        let bw = if self.settings.kernel { self.max_bw() } else { self.bw };
        let drained = self.at_departure(view.pipe, view) <= self.inflight(bw, 1.0);
        let most = self.settings.drain_rounds;
        if self.mode == Mode::Drain && (drained || (most > 0 && self.round.count > self.drain_round + most)) {
            self.start_down(view);
        }
    }

    pub(super) fn start_down(&mut self, view: &View) {
        self.reset_signals();
        self.probe.up_cnt = f64::INFINITY;
        // §5.3.3.8: both waits are drawn, so that flows mix
        self.probe.rounds = self.rng.below(2);
        self.probe.wait = Span::from_secs_f64(self.settings.probe_wait + self.rng.uniform());
        self.probe.cycle_at = view.now;
        self.probe.acks = AckPhase::ProbeStopping;
        self.start_round(view);
        self.mode = Mode::Down;
    }

    fn start_refill(&mut self, view: &View) {
        self.reset_short_term();
        self.probe.up_rounds = 0;
        self.probe.up_acked = 0.0;
        self.probe.precautionary = false;
        self.probe.acks = AckPhase::Refilling;
        self.start_round(view);
        self.mode = Mode::Refill;
    }

    pub(super) fn start_up(&mut self, view: &View) {
        self.probe.acks = AckPhase::ProbeStarting;
        self.start_round(view);
        self.reset_full_pipe(self.sample.rate.unwrap_or(0.0));
        self.mode = Mode::Up;
        self.raise_slope();
    }

    pub(super) fn update_cycle(&mut self, ack: &Ack, view: &View) {
        if !self.full.reached || self.adapt_long_term(ack, view) {
            return;
        }
        match self.mode {
            Mode::Down | Mode::Cruise if self.is_time_to_probe(view) => self.start_refill(view),
            Mode::Down if self.is_time_to_cruise(ack, view) => self.start_cruise(),
            Mode::Refill if self.round.start => {
                self.probe.samples = true;
                self.start_up(view);
            }
            Mode::Up => self.check_up(ack, view),
            _ => {}
        }
    }

    fn check_up(&mut self, ack: &Ack, view: &View) {
        if self.is_time_to_go_down(ack, view) {
            self.probe.too_high = false;
            self.start_down(view);
        }
    }

    fn is_time_to_probe(&self, view: &View) -> bool {
        let elapsed = view.now > self.probe.cycle_at + self.probe.wait;
        // Reno would have grown by its window in as many rounds as the window has segments.
        let reno = libm::ceil(self.target_inflight() / self.settings.mss).min(self.settings.probe_rounds);
        elapsed || self.probe.rounds as f64 >= reno
    }

    fn is_time_to_cruise(&self, ack: &Ack, view: &View) -> bool {
        let pipe = self.in_cycle(ack, view);
        pipe <= self.with_headroom() && pipe <= self.inflight(self.max_bw(), 1.0)
    }

    /// Also sets what the next probe is to know of this one.
    fn is_time_to_go_down(&mut self, ack: &Ack, view: &View) -> bool {
        let long = self.bounds.inflight_long;
        if self.settings.precautionary && self.probe.too_high && self.in_cycle(ack, view) >= long {
            self.probe.precautionary = true;
            return true;
        }
        if view.cwnd_limited && self.cwnd >= long {
            // The bound, not the path, limits the rate.
            self.reset_full_pipe(self.sample.rate.unwrap_or(0.0));
            return false;
        }
        self.full.now
    }

    /// The long-term bound less what is left to others.
    pub(super) fn with_headroom(&self) -> f64 {
        let long = self.bounds.inflight_long;
        if long.is_infinite() {
            return long;
        }
        let headroom = self.settings.down(self.settings.headroom * long).max(self.settings.mss);
        (long - headroom).max(self.settings.min_cwnd)
    }

    fn raise_slope(&mut self) {
        let growth = (1_u64 << self.probe.up_rounds) as f64;
        self.probe.up_rounds = (self.probe.up_rounds + 1).min(MAX_UP_ROUNDS);
        self.probe.up_cnt = self.settings.down(self.cwnd / growth).max(self.settings.mss);
    }

    fn raise_long_term(&mut self, ack: &Ack, view: &View) {
        if !view.cwnd_limited || self.cwnd < self.bounds.inflight_long {
            return;
        }
        self.probe.up_acked += self.settings.up(ack.acked.as_f64());
        if self.probe.up_acked >= self.probe.up_cnt {
            let steps = libm::floor(self.probe.up_acked / self.probe.up_cnt);
            self.probe.up_acked -= steps * self.probe.up_cnt;
            self.bounds.inflight_long += steps * self.settings.mss;
        }
        if self.round.start {
            self.raise_slope();
        }
    }

    /// Follows the ACKs of a probe; true if that decided the next state.
    fn adapt_long_term(&mut self, ack: &Ack, view: &View) -> bool {
        if self.probe.acks == AckPhase::ProbeStarting && self.round.start {
            self.probe.acks = AckPhase::ProbeFeedback;
        }
        if self.probe.acks == AckPhase::ProbeStopping && self.round.start {
            self.probe.samples = false;
            self.probe.acks = AckPhase::Init;
            if self.mode.in_probe_bw() && !self.sample.app_limited {
                self.advance_max_bw();
            }
            if self.mode.in_probe_bw() && self.probe.precautionary && !self.probe.too_high {
                self.start_refill(view);
                return true;
            }
        }
        if self.sample_too_high() {
            if self.settings.kernel && self.probe.samples {
                self.handle_too_high(self.sample.tx_in_flight, self.sample.app_limited, view);
            }
        } else if self.bounds.inflight_long.is_finite() {
            self.bounds.inflight_long = self.bounds.inflight_long.max(self.sample.tx_in_flight);
            if self.mode == Mode::Up {
                self.raise_long_term(ack, view);
            }
        }
        false
    }

    /// A cycle ends. One without a sample is no reason to forget the one before.
    fn advance_max_bw(&mut self) {
        if self.max_bw[1] > 0.0 {
            self.max_bw = [self.max_bw[1], 0.0];
        }
    }
}
