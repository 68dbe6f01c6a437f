//! Recovery by duplicate ACKs at work: Tahoe, Reno, NewReno and ns-2's Vegas.

use super::ack_context::{AckContext, AckVerdict};
use super::core::{CongestionSign, SenderCore};
use crate::cc::{Cause, State};
use crate::recovery::{DupAckRecovery, Duplicate, Progress};
use crate::timers::{Timer, Timers};
use crate::units::Time;

impl DupAckRecovery {
    #[inline(never)]
    pub(super) fn on_ack(&mut self, core: &mut SenderCore, ack: &AckContext, timers: &mut Timers) {
        let before = core.state;
        let mut verdict = AckVerdict::default();
        let sample = self.on_agent_ack(core, ack);
        let ack = sample.as_ref().unwrap_or(ack);
        if ack.advances {
            self.on_new_ack(core, ack, &mut verdict, timers);
        } else if ack.duplicate {
            self.on_duplicate_ack(core, ack, timers);
            verdict.duplicate = self.duplicates();
        }
        if core.marks_reduce_in_recovery(ack) {
            // In force when fast recovery, which has a window of its own, is over.
            core.totals.ecn_reductions += 1;
            self.report_congestion(core, ack.now, Cause::Ecn, false);
        }
        if ack.marks.echo && matches!(core.state, State::Open | State::Disorder) {
            // RFC 3168 §6.1.2: once per window of data.
            core.totals.ecn_reductions += 1;
            self.enter_cwr(core, ack.now, Cause::Ecn);
        }
        if ack.advances || ack.duplicate {
            // RFC 5681 §3.2 step 6: the ACK that ends fast recovery deflates the window to ssthresh; it adds nothing.
            verdict.may_grow = !before.in_cwnd_reduction();
            if core.report_ack(ack, &verdict) {
                self.enter_cwr(core, ack.now, Cause::Algorithm);
            }
        }
        if ack.advances && self.takes_vegas_check() {
            self.check_head_again(core, ack.now);
        }
    }

    /// True if the oldest segment is older than the algorithm lets it become; only Vegas asks.
    fn head_expired(&self, core: &SenderCore, now: Time) -> bool {
        let (head, limit) = (self.head(core.snd_una, &core.board), core.cc.head_timeout());
        self.is_vegas() && head.zip(limit).is_some_and(|(head, limit)| now.since(head.sent_at) >= limit)
    }

    /// As in ns-2's Vegas: after a retransmission more may be missing. The window has been reduced for that already.
    fn check_head_again(&mut self, core: &mut SenderCore, now: Time) {
        let Some(head) = self.head(core.snd_una, &core.board).filter(|_| self.head_expired(core, now)) else {
            self.end_vegas_checks();
            return;
        };
        self.report_congestion(core, now, Cause::HeadTimeout, false);
        if self.agent.is_some() {
            return self.retransmit_agent_head(core);
        }
        self.retransmit_head(head.transmissions, &mut core.board);
        if core.state != State::Loss {
            core.state = State::Recovery;
        }
    }

    /// `snd_una` has moved.
    fn on_new_ack(&mut self, core: &mut SenderCore, ack: &AckContext, verdict: &mut AckVerdict, timers: &mut Timers) {
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
            core.report_recovery_end(ack.now, ack.round_start);
        }
        // RFC 6298 §5.2, §5.3; RFC 6582 §3.2: of several partial ACKs only the first restarts the timer.
        if core.board.is_empty() && self.agent.is_none() {
            timers.stop(Timer::Rto);
        } else if progress != (Progress::Partial { restart_timer: false }) {
            timers.arm(Timer::Rto, ack.now + core.rtt.rto());
        }
    }

    fn on_duplicate_ack(&mut self, core: &mut SenderCore, ack: &AckContext, timers: &mut Timers) {
        let head_expired = self.head_expired(core, ack.now);
        let (state, snd_una, pipe) = (core.state, core.snd_una, core.board.pipe());
        let means_loss = self.on_duplicate(&Duplicate { state, snd_una, pipe, head_expired });
        if means_loss {
            core.totals.recoveries += u32::from(state != State::Recovery);
            if state != State::Cwr {
                let cause = if head_expired { Cause::HeadTimeout } else { Cause::DupAck };
                self.report_congestion(core, ack.now, cause, true);
            }
            self.on_agent_loss(core);
            if self.is_vegas() || self.agent.is_some() {
                // ns-2's Vegas: the retransmission restarts the timer.
                timers.arm(Timer::Rto, ack.now + core.rtt.rto());
            }
            core.state = self.begin(core.snd_una, core.snd_nxt, core.cc.window().cwnd, &mut core.board);
            return;
        }
        if head_expired && self.agent.is_some() {
            self.report_expired_head(core, ack.now);
        }
        if core.state == State::Open {
            core.state = State::Disorder;
        }
    }

    pub(super) fn report_congestion(&self, core: &mut SenderCore, now: Time, cause: Cause, first: bool) {
        let (limited_transmit, loss_window) = (self.limited_transmit_sent(), core.mss);
        let head = self.agent.as_ref().and_then(|agent| agent.head(core.snd_una));
        core.report_congestion(now, &CongestionSign { cause, first, limited_transmit, loss_window, head });
    }

    /// The window is reduced although nothing was lost.
    fn enter_cwr(&mut self, core: &mut SenderCore, now: Time, cause: Cause) {
        self.report_congestion(core, now, cause, true);
        self.begin_cwr(core.snd_nxt);
        core.state = State::Cwr;
    }

    /// The retransmission timer expired (RFC 6298 §5.4 to §5.6).
    pub(super) fn on_rto(&mut self, core: &mut SenderCore, now: Time) {
        // RFC 5681 §3.1: ssthresh is left alone when the same segment times out again.
        if core.timeouts_in_a_row == 0 {
            self.report_congestion(core, now, Cause::Timeout, true);
        }
        self.on_timeout(core.snd_nxt, &mut core.board);
        core.state = State::Loss;
    }
}
