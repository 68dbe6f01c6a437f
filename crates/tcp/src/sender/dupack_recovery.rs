//! Recovery by duplicate ACKs at work: Tahoe, Reno and NewReno.

use super::ack_context::{AckContext, AckVerdict};
use super::core::{CongestionSign, SenderCore};
use crate::cc::{Cause, Head, State, View};
use crate::recovery::{DupAckRecovery, Progress};
use crate::timers::{Timer, Timers};
use crate::units::Time;

impl DupAckRecovery {
    #[inline(never)]
    pub(crate) fn on_ack(&mut self, core: &mut SenderCore, ack: &AckContext, timers: &mut Timers) {
        let before = core.state;
        let mut verdict = AckVerdict::default();
        if ack.advances {
            let progress = self.on_new_ack(core, ack, &mut verdict);
            self.restart_rto(core, ack.now, progress, timers);
        } else if ack.duplicate {
            self.on_duplicate_ack(core, ack.now);
            verdict.duplicate = self.duplicates();
        }
        self.finish_ack(core, ack, before, verdict, None);
    }

    /// What follows once it is known what an ACK means: congestion marks, growth, the algorithm's own wishes. `before` was the
    /// state when the ACK arrived; `head` is the oldest segment if it is known better than the scoreboard has it.
    pub(crate) fn finish_ack(
        &mut self,
        core: &mut SenderCore,
        ack: &AckContext,
        before: State,
        mut verdict: AckVerdict,
        head: Option<Head>,
    ) {
        if core.marks_reduce_in_recovery(ack) {
            // In force when fast recovery, which has a window of its own, is over.
            core.totals.ecn_reductions += 1;
            core.report_congestion(ack.now, &CongestionSign { first: false, head, ..self.sign(core, Cause::Ecn) });
        }
        if ack.marks.echo && matches!(core.state, State::Open | State::Disorder) {
            // RFC 3168 §6.1.2: once per window of data.
            core.totals.ecn_reductions += 1;
            self.enter_cwr(core, ack.now, &CongestionSign { head, ..self.sign(core, Cause::Ecn) });
        }
        if ack.advances || ack.duplicate {
            // RFC 5681 §3.2 step 6: the ACK that ends fast recovery deflates the window to ssthresh; it adds nothing.
            verdict.may_grow = !before.in_cwnd_reduction();
            if core.report_ack(ack, &verdict) {
                self.enter_cwr(core, ack.now, &CongestionSign { head, ..self.sign(core, Cause::Algorithm) });
            }
        }
    }

    /// `snd_una` has moved.
    pub(crate) fn on_new_ack(&mut self, core: &mut SenderCore, ack: &AckContext, verdict: &mut AckVerdict) -> Progress {
        let before = core.state;
        let summary = &ack.report.summary;
        verdict.acked = summary.acked_in_flight;
        verdict.acked_segments = summary.acked_in_flight_segments;
        let progress = self.on_advance(before, core.snd_una, summary.acked, &mut core.board);
        verdict.partial = matches!(progress, Progress::Partial { .. });
        if progress == Progress::Done || before == State::Disorder {
            core.state = State::Open;
        }
        if progress == Progress::Done && before.in_cwnd_reduction() {
            let view = View { round_start: ack.round_start, ..core.view(ack.now) };
            core.cc.on_recovery_end(&view);
        }
        progress
    }

    /// RFC 6298 §5.2, §5.3; RFC 6582 §3.2: of several partial ACKs only the first restarts the timer.
    pub(crate) fn restart_rto(&self, core: &SenderCore, now: Time, progress: Progress, timers: &mut Timers) {
        if core.board.is_empty() {
            timers.stop(Timer::Rto);
        } else if progress != (Progress::Partial { restart_timer: false }) {
            timers.arm(Timer::Rto, now + core.rtt.rto());
        }
    }

    /// True if it means a loss.
    pub(crate) fn on_duplicate_ack(&mut self, core: &mut SenderCore, now: Time) -> bool {
        let state = core.state;
        let means_loss = self.on_duplicate(state, core.snd_una);
        if means_loss {
            core.totals.recoveries += u32::from(state != State::Recovery);
            let after_mark = state == State::Cwr;
            if !after_mark || core.cc.spares_marks() {
                let sign = CongestionSign { first: !after_mark, again: after_mark, ..self.sign(core, Cause::DupAck) };
                core.report_congestion(now, &sign);
            }
            core.state = self.begin(core.snd_nxt, core.cc.window().cwnd, &mut core.board);
        } else if state == State::Open {
            core.state = State::Disorder;
        }
        means_loss
    }

    /// The first reduction of an episode.
    pub(crate) fn sign(&self, core: &SenderCore, cause: Cause) -> CongestionSign {
        let limited_transmit = self.limited_transmit_sent();
        CongestionSign { cause, first: true, again: false, limited_transmit, loss_window: core.mss, head: None }
    }

    /// The window is reduced although nothing was lost.
    fn enter_cwr(&mut self, core: &mut SenderCore, now: Time, sign: &CongestionSign) {
        core.report_congestion(now, sign);
        self.begin_cwr(core.snd_nxt);
        core.state = State::Cwr;
    }

    /// The retransmission timer expired (RFC 6298 §5.4 to §5.6).
    pub(crate) fn on_rto(&mut self, core: &mut SenderCore, now: Time) {
        // RFC 5681 §3.1: ssthresh is left alone when the same segment times out again.
        if core.timeouts_in_a_row == 0 {
            core.report_congestion(now, &self.sign(core, Cause::Timeout));
        }
        self.on_timeout(core.snd_nxt, &mut core.board);
        core.state = State::Loss;
    }
}
