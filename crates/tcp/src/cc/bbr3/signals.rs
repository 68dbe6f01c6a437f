//! What ACKs and losses say: rounds, bandwidth, full pipe, bounds (§5.3.1, §5.5).

use super::{Bbr3, Mode};
use crate::cc::bbr::rate;
use crate::cc::signals::{Ack, Lost, State, View};
use crate::units::Bytes;

/// Rounds without growth by a quarter that make a full pipe.
const FULL_ROUNDS: u32 = 3;
/// Rounds that an excess of ACKs is remembered.
const EXTRA_ROUNDS: u64 = 10;
/// The same of each of the kernel's two slots.
const SLOT_ROUNDS: u32 = 5;

impl Bbr3 {
    pub(super) fn max_bw(&self) -> f64 {
        self.max_bw[0].max(self.max_bw[1])
    }

    /// A round begins: it ends with what is sent from now on.
    pub(super) fn start_round(&mut self, view: &View) {
        self.round.end = view.delivered;
    }

    pub(super) fn update_latest_signals(&mut self, view: &View) {
        let (sample, signals) = (&self.sample, &mut self.signals);
        signals.bw_latest = signals.bw_latest.max(sample.rate.unwrap_or(0.0));
        signals.inflight_latest = signals.inflight_latest.max(sample.delivered);
        signals.round_start = sample.prior_delivered >= signals.round_end;
        if signals.round_start {
            signals.round_end = view.delivered;
        }
    }

    pub(super) fn advance_latest_signals(&mut self) {
        if self.signals.round_start {
            self.signals.bw_latest = self.sample.rate.unwrap_or(0.0);
            self.signals.inflight_latest = self.sample.delivered;
            if !self.settings.losses_by_ack {
                self.signals.gaps = 0;
            }
        }
    }

    pub(super) fn reset_signals(&mut self) {
        self.signals.loss_in_round = false;
        self.signals.bw_latest = 0.0;
        self.signals.inflight_latest = 0.0;
    }

    pub(super) fn update_congestion_signals(&mut self, ack: &Ack, view: &View) {
        self.update_round(view);
        self.update_marks(ack, view);
        if let Some(rate) = self.sample.rate
            && (rate >= self.max_bw() || !self.sample.app_limited)
        {
            self.max_bw[1] = self.max_bw[1].max(rate);
        }
        if !self.signals.round_start {
            return;
        }
        if !self.mode.probes() {
            let by_marks = self.cut_by_marks();
            if self.signals.loss_in_round {
                self.lower_bounds();
            }
            self.bounds.inflight_short = self.bounds.inflight_short.min(by_marks);
        }
        self.signals.loss_in_round = false;
        self.marks.iter_mut().for_each(|marks| marks.in_round = false);
    }

    fn update_round(&mut self, view: &View) {
        self.round.start = self.sample.prior_delivered >= self.round.end;
        if self.round.start {
            self.start_round(view);
            self.round.count += 1;
            self.probe.rounds += 1;
        }
    }

    /// Once per round with loss, when not probing: toward what was delivered.
    fn lower_bounds(&mut self) {
        let beta = self.settings.beta;
        let bw = if self.bounds.bw_short.is_finite() { self.bounds.bw_short } else { self.max_bw() };
        let inflight = if self.bounds.inflight_short.is_finite() { self.bounds.inflight_short } else { self.cwnd };
        // bw_shortterm = max(bw_latest, Beta bw_shortterm), inflight_shortterm alike
        self.bounds.bw_short = self.signals.bw_latest.max(self.settings.cut(bw, beta));
        self.bounds.inflight_short = self.signals.inflight_latest.max(self.settings.down(beta * inflight));
    }

    pub(super) fn reset_short_term(&mut self) {
        self.bounds.bw_short = f64::INFINITY;
        self.bounds.inflight_short = f64::INFINITY;
    }

    pub(super) fn bound_bw(&mut self) {
        self.bw = self.max_bw().min(self.bounds.bw_short);
    }

    /// What ACK aggregation adds to the window.
    pub(super) fn extra_acked(&self) -> f64 {
        match &self.extra.slots {
            Some(slots) => slots.extra(self.settings.units(self.bw)) as f64 * self.settings.mss,
            None => self.extra.filter.get(),
        }
    }

    pub(super) fn update_aggregation(&mut self, ack: &Ack, view: &View) {
        if let Some(slots) = &mut self.extra.slots {
            let (units, cwnd) = (self.settings.units(self.bw), (self.cwnd / self.settings.mss) as u64);
            let round = self.round.start.then_some(if self.full.reached { SLOT_ROUNDS } else { 1 });
            let acked = rate::count(ack.acked, view.mss);
            return slots.on_ack(view.now, acked, round, units, cwnd);
        }
        let extra = &mut self.extra;
        let mut expected = self.bw * view.now.since(extra.start).as_secs_f64();
        if extra.delivered <= expected {
            extra.delivered = 0.0;
            extra.start = view.now;
            expected = 0.0;
        }
        extra.delivered += ack.acked.as_f64();
        let excess = (extra.delivered - expected).min(self.cwnd);
        // In Startup one round is remembered: the bandwidth is not known yet.
        let rounds = if self.full.reached { EXTRA_ROUNDS } else { 1 };
        extra.filter.update(excess, self.round.count, rounds);
    }

    pub(super) fn reset_full_pipe(&mut self, baseline: f64) {
        self.full.bw = baseline;
        self.full.rounds = 0;
        self.full.now = false;
    }

    pub(super) fn check_full_pipe(&mut self) {
        let Some(rate) = self.sample.rate else { return };
        if self.full.now || self.sample.app_limited {
            return;
        }
        if rate >= self.full.bw * 1.25 && (self.round.start || self.settings.full_pipe_by_ack) {
            self.reset_full_pipe(rate);
            return;
        }
        if !self.round.start {
            return;
        }
        self.full.rounds += 1;
        self.full.now = self.full.rounds >= FULL_ROUNDS;
        self.full.reached |= self.full.now;
    }

    /// §5.3.1.3: a round of recovery with much loss in many places fills the pipe too.
    pub(super) fn check_startup_done(&mut self, ack: &Ack, view: &View) {
        let by_ack = self.settings.losses_by_ack;
        self.signals.gaps += u32::from(by_ack && ack.lost > Bytes::ZERO);
        let much = self.too_high(self.sample.lost, self.sample.tx_in_flight);
        let many = self.signals.gaps >= self.settings.startup_losses;
        let recovers = view.state == State::Recovery && self.signals.round_start;
        if !self.full.reached && recovers && much && many {
            let bdp = self.bdp(self.max_bw()).unwrap_or(0.0);
            self.end_startup(if by_ack { self.inflight(self.max_bw(), 1.0) } else { bdp });
        }
        if by_ack && self.signals.round_start {
            self.signals.gaps = 0;
        }
        if self.mode == Mode::Startup && self.full.reached {
            self.mode = Mode::Drain;
            self.drain_round = self.round.count;
            self.ssthresh = Some(self.inflight(self.max_bw(), 1.0));
            if self.settings.kernel {
                self.reset_signals();
            }
        }
    }

    /// Too much was in flight: the pipe is full, and the long-term bound known.
    pub(super) fn end_startup(&mut self, bdp: f64) {
        self.full.reached = true;
        self.bounds.inflight_long = bdp.max(self.signals.inflight_latest);
    }

    /// More than the threshold of what was in flight was lost.
    pub(super) fn too_high(&self, lost: f64, tx_in_flight: f64) -> bool {
        self.settings.up(lost) > self.settings.down(self.settings.up(tx_in_flight) * self.settings.loss_threshold)
    }

    pub(super) fn sample_too_high(&self) -> bool {
        self.too_high(self.sample.lost, self.sample.tx_in_flight) || self.too_many_marks()
    }

    /// The round, which then holds the whole loss, is one with loss.
    pub(super) fn note_loss(&mut self, view: &View) {
        if !self.signals.loss_in_round {
            self.signals.round_end = view.delivered;
        }
        self.signals.loss_in_round = true;
    }

    /// §5.5.10.2, HandleLostPacket.
    pub(super) fn handle_lost(&mut self, lost: &Lost, view: &View) {
        if !self.signals.loss_in_round && !self.settings.losses_by_ack {
            self.signals.gaps = 0;
        }
        self.note_loss(view);
        if self.settings.undo_state {
            self.save_for_undo();
        }
        if !self.settings.losses_by_ack {
            self.signals.gaps += u32::from(self.signals.gaps == 0 || lost.seq != self.signals.gap_end);
            self.signals.gap_end = lost.seq + lost.bytes;
        }
        let (size, tx_in_flight) = (lost.bytes.as_f64(), lost.tx_in_flight.as_f64());
        if !self.probe.samples || !self.too_high(lost.lost_since.as_f64(), tx_in_flight) {
            return;
        }
        let before = (tx_in_flight - size).max(0.0);
        let at_loss = self.inflight_at_loss(before, lost.lost_since.saturating_sub(lost.bytes));
        self.handle_too_high(at_loss, lost.app_limited, view);
    }

    /// Where in a burst did loss cross the threshold? What was in flight before the burst, and how much of that was lost.
    pub(super) fn inflight_at_loss(&self, before: f64, lost_before: Bytes) -> f64 {
        let (threshold, settings) = (self.settings.loss_threshold, &self.settings);
        if settings.kernel {
            let left = settings.up(threshold * settings.up(before)) - settings.up(lost_before.as_f64());
            return settings.up(before) + settings.down(left.max(0.0) / (1.0 - threshold));
        }
        // lost_prefix = (LossThresh inflight_prev - lost_prev) / (1 - LossThresh)
        let prefix = (threshold * before - lost_before.as_f64()) / (1.0 - threshold);
        before + prefix
    }

    pub(super) fn handle_too_high(&mut self, at_loss: f64, app_limited: bool, view: &View) {
        self.probe.too_high = true;
        self.probe.samples = false;
        if !app_limited {
            let target = self.settings.down(self.target_inflight() * self.settings.beta);
            self.bounds.inflight_long = at_loss.max(target);
        }
        if self.mode == Mode::Up {
            self.start_down(view);
        }
    }

    /// §5.5.11.1, but once per episode: the draft saves again with each round of loss and when recovery begins, when the
    /// first loss has already ended the probe that its appendix A.17 wants back.
    pub(super) fn save_for_undo(&mut self) {
        self.undo = self.undo.or(Some((self.mode, self.bounds)));
    }

    /// §5.5.11.2
    pub(super) fn handle_spurious_loss(&mut self, view: &View) {
        let Some((mode, bounds)) = self.undo.take() else { return };
        self.signals.loss_in_round = false;
        self.reset_full_pipe(0.0);
        self.bounds.bw_short = self.bounds.bw_short.max(bounds.bw_short);
        self.bounds.inflight_short = self.bounds.inflight_short.max(bounds.inflight_short);
        self.bounds.inflight_long = self.bounds.inflight_long.max(bounds.inflight_long);
        if !self.settings.undo_state {
            self.cwnd = self.cwnd.max(self.prior_cwnd);
            return;
        }
        match mode {
            _ if self.mode == Mode::ProbeRtt || self.mode == mode => {}
            Mode::Startup => self.mode = Mode::Startup,
            Mode::Up => self.start_up(view),
            _ => {}
        }
    }
}
