//! The model of the path and the state machine that feeds it, in the kernel's order: bandwidth, phase of the cycle, full
//! pipe, drained queue, minimum RTT.

use super::policer::{Report, Verdict};
use super::rate::{self, GAIN, count};
use super::{Bbr, CYCLE, FULL_ROUNDS, Mode};
use crate::cc::jiffies::jiffies;
use crate::cc::signals::{Ack, View};
use crate::units::Bytes;

/// Rounds after which the older half of what ACKs have acknowledged in bursts is forgotten.
const EXTRA_ROUNDS: u32 = 5;

impl Bbr {
    pub(super) fn update_bw(&mut self, ack: &Ack, view: &View) {
        self.round_start = false;
        let Some(sample) = ack.rate.filter(|sample| sample.rate.is_some()) else { return };
        if sample.prior_delivered >= self.round_end {
            self.round_end = view.delivered;
            self.rounds += 1;
            self.round_start = true;
            self.conserves = false;
        }
        let app_limited = self.dip.spoils(&sample);
        let report = Report { new_loss: ack.lost > Bytes::ZERO, app_limited, ..self.report(view) };
        self.look_for_policer(&report, view);
        let bw = rate::of(count(sample.delivered, view.mss), sample.interval.as_micros());
        if !app_limited || bw >= self.max_bw() {
            self.max_bw.update(bw as f64, self.rounds, self.settings.bw_window);
        }
        if ack.acked > Bytes::ZERO {
            let acked = u64::from(ack.acked_segments);
            self.aggregation.on_ack(view.now, acked, self.round_start.then_some(EXTRA_ROUNDS), self.bw(), self.cwnd);
        }
        self.look_for_full_pipe(app_limited);
    }

    /// What is reported of the path: no loss, no limit but the network's.
    pub(super) fn report(&self, view: &View) -> Report {
        Report {
            milliseconds: jiffies(self.delivered_at),
            delivered: count(view.delivered, view.mss),
            lost: count(view.lost_total, view.mss),
            new_loss: false,
            round_start: self.round_start,
            app_limited: false,
            cycling: self.mode == Mode::ProbeBw,
        }
    }

    pub(super) fn look_for_policer(&mut self, report: &Report, view: &View) {
        if self.policer.on_report(report, view.mss) == Verdict::Over {
            self.begin_probe_bw();
        }
    }

    fn look_for_full_pipe(&mut self, app_limited: bool) {
        if self.filled || !self.round_start || app_limited {
            return;
        }
        if self.max_bw() >= self.full_bw * 5 / 4 {
            self.full_bw = self.max_bw();
            self.full_rounds = 0;
            return;
        }
        self.full_rounds += 1;
        self.filled = self.full_rounds >= FULL_ROUNDS;
    }

    /// Any phase but the one that drains, drawn so that flows do not probe in step.
    pub(super) fn begin_probe_bw(&mut self) {
        self.mode = Mode::ProbeBw;
        self.phase = (8 - self.rng.below(7) as usize) % 8;
        self.phase_at = self.delivered_at;
    }

    pub(super) fn advance_phase(&mut self, ack: &Ack, view: &View) {
        if self.mode != Mode::ProbeBw {
            return;
        }
        let lasted = self.delivered_at.since(self.phase_at).as_micros();
        let full_length = self.min_rtt_us.is_some_and(|min_rtt| lasted > min_rtt);
        let in_network = self.in_network(count(ack.prior_pipe, view.mss), view);
        let over = match self.pacing_gain {
            GAIN => full_length,
            gain if gain > GAIN => full_length && (ack.lost > Bytes::ZERO || in_network >= self.inflight(gain)),
            _ => full_length || in_network <= self.inflight(GAIN),
        };
        if over {
            self.phase = (self.phase + 1) % CYCLE.len();
            self.phase_at = self.delivered_at;
        }
    }

    pub(super) fn check_drain(&mut self, view: &View) {
        if self.mode == Mode::Startup && self.filled {
            self.mode = Mode::Drain;
            self.ssthresh = Some(self.inflight(GAIN));
        }
        let in_network = self.in_network(count(view.pipe, view.mss), view);
        if self.mode == Mode::Drain && in_network <= self.inflight(GAIN) {
            self.begin_probe_bw();
        }
    }

    pub(super) fn update_min_rtt(&mut self, ack: &Ack, view: &View) {
        let expired = jiffies(view.now) > jiffies(self.min_rtt_at + self.settings.min_rtt_window);
        if let Some(rtt) = ack.rtt {
            let rtt = rtt.latest.as_micros();
            if self.min_rtt_us.is_none_or(|least| rtt < least) || (expired && !maybe_delayed(ack, view)) {
                self.min_rtt_us = Some(rtt);
                self.min_rtt_at = view.now;
            }
        }
        if expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_cwnd();
            self.probe_rtt_ends = None;
        }
        if self.mode == Mode::ProbeRtt {
            self.probe_rtt(view);
        }
        if ack.rate.is_some_and(|sample| sample.delivered > Bytes::ZERO) {
            self.idle_restart = false;
        }
    }

    fn probe_rtt(&mut self, view: &View) {
        self.dip.hold(view.now, view.delivered, view.pipe);
        if self.probe_rtt_ends.is_some() {
            self.probe_rtt_round_done |= self.round_start;
            if self.probe_rtt_round_done {
                self.check_probe_rtt_done(view);
            }
        } else if count(view.pipe, view.mss) <= self.settings.min_cwnd {
            self.probe_rtt_ends = Some(view.now + self.settings.probe_rtt_time);
            self.probe_rtt_round_done = false;
            self.round_end = view.delivered;
        }
    }

    pub(super) fn check_probe_rtt_done(&mut self, view: &View) {
        if self.probe_rtt_ends.is_none_or(|ends| jiffies(view.now) <= jiffies(ends)) {
            return;
        }
        self.min_rtt_at = view.now;
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        if self.filled {
            self.begin_probe_bw();
        } else {
            self.mode = Mode::Startup;
        }
    }
}

/// A lone small segment whose ACK may have waited.
pub(in crate::cc) fn maybe_delayed(ack: &Ack, view: &View) -> bool {
    let alone = ack.rate.is_some_and(|sample| sample.prior_delivered + ack.acked == view.delivered);
    ack.cumulative_segments == 1 && ack.acked < view.mss && alone
}
