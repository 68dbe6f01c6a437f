//! The minimum RTT, the state that measures it, and the start after an idle period (§5.3.4, §5.4).

use super::{AckPhase, Bbr3, Mode};
use crate::cc::bbr::maybe_delayed;
use crate::cc::signals::{Ack, State, View};
use crate::units::Bytes;

impl Bbr3 {
    pub(super) fn update_min_rtt(&mut self, ack: &Ack, view: &View) {
        let (rtt, settings) = (&mut self.rtt, &self.settings);
        let renews = settings.renew_min_rtt;
        rtt.expired = settings.is_later(view.now, rtt.recent_at + settings.probe_rtt_interval);
        if let Some(sample) = ack.rtt.map(|sample| settings.whole(sample.latest))
            && (rtt.expired && !(renews && maybe_delayed(ack, view)) || rtt.recent.is_none_or(|recent| sample < recent))
        {
            rtt.recent = Some(sample);
            rtt.recent_at = view.now;
        }
        let stale = settings.is_later(view.now, rtt.at + settings.min_rtt_window);
        if let Some(recent) = rtt.recent
            && (stale || rtt.least.is_none_or(|least| recent < least || renews && recent == least))
        {
            rtt.least = Some(recent);
            rtt.at = rtt.recent_at;
        }
    }

    pub(super) fn check_probe_rtt(&mut self, view: &View) {
        if self.mode != Mode::ProbeRtt && self.rtt.expired && !self.idle_restart {
            self.mode = Mode::ProbeRtt;
            self.save_cwnd(self.prior_state);
            self.rtt.ends = None;
            self.probe.acks = AckPhase::ProbeStopping;
            self.start_round(view);
        }
        if self.mode == Mode::ProbeRtt {
            self.handle_probe_rtt(view);
        }
        if self.sample.delivered > 0.0 {
            self.idle_restart = false;
        }
    }

    fn handle_probe_rtt(&mut self, view: &View) {
        self.dip.hold(view.now, view.delivered, view.pipe);
        if self.rtt.ends.is_some() {
            self.rtt.round_done |= self.round.start;
            if self.rtt.round_done {
                self.check_probe_rtt_done(view);
            }
        } else if view.pipe.as_f64() <= self.probe_rtt_cwnd() {
            self.rtt.ends = Some(view.now + self.settings.probe_rtt_time);
            self.rtt.round_done = false;
            self.start_round(view);
        }
    }

    fn check_probe_rtt_done(&mut self, view: &View) {
        if self.rtt.ends.is_none_or(|ends| !self.settings.is_later(view.now, ends)) {
            return;
        }
        self.rtt.recent_at = view.now;
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        self.reset_short_term();
        if self.full.reached {
            // The queue is empty already: down is over as soon as it begins.
            self.start_down(view);
            self.start_cruise();
        } else {
            self.mode = Mode::Startup;
        }
    }

    /// §5.6.4.4: what to return to when recovery or the measurement is over.
    pub(super) fn save_cwnd(&mut self, state: State) {
        let undisturbed = state < State::Recovery && self.mode != Mode::ProbeRtt;
        self.prior_cwnd = if undisturbed { self.cwnd } else { self.prior_cwnd.max(self.cwnd) };
    }

    pub(super) fn restart_from_idle(&mut self, view: &View) {
        let nothing_in_flight = view.pipe == Bytes::ZERO;
        if !nothing_in_flight || !(view.app_limited || self.dip.lasts(view.delivered)) {
            return;
        }
        self.idle_restart = true;
        // The draft of August 2026 leaves the volume, so that all that was ever acknowledged counts as one burst; Linux sets
        // ack_epoch_acked to 0 here.
        self.extra.start = view.now;
        self.extra.delivered = 0.0;
        self.extra.slots.iter_mut().for_each(|slots| slots.restart(view.now));
        if self.mode.in_probe_bw() {
            self.set_pacing(1.0, view);
        } else if self.mode == Mode::ProbeRtt {
            self.check_probe_rtt_done(view);
        }
    }
}
