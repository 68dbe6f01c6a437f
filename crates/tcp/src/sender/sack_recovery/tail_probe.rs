//! Tail loss probes (RFC 8985 §7), and retransmissions of what is not believed lost (RFC 6675 §4).

use super::detection::TIMER_SLACK;
use super::episode::Episode;
use super::{SackRecovery, TailProbe, TimeOut};
use crate::cc::{Cause, State};
use crate::scoreboard::Chunk;
use crate::sender::ack_context::{AckContext, AckVerdict};
use crate::sender::core::SenderCore;
use crate::sender::segments::{Nagle, Outgoing};
use crate::settings::RecoveryKind;
use crate::timers::{Timer, Timers};
use crate::units::{Bytes, Span, Time};

/// With one segment outstanding the receiver may delay its ACK this long (RFC 8985 §7.2, TLP.max_ack_delay).
const MAX_ACK_DELAY: Span = Span::from_millis(200);

impl SackRecovery {
    /// An ACK restarts the timers.
    #[inline]
    pub(super) fn restart_timers(&self, core: &SenderCore, now: Time, timers: &mut Timers) {
        if !self.schedule_tail_probe(core, now, TimeOut::FromNow, timers) {
            core.restart_rto(now, timers);
        }
    }

    /// RFC 8985 §7.2: a probe after two RTTs without an ACK, in place of the time-out.
    #[inline]
    pub(in crate::sender) fn schedule_tail_probe(
        &self,
        core: &SenderCore,
        now: Time,
        time_out: TimeOut,
        timers: &mut Timers,
    ) -> bool {
        let wanted = self.tail_probes && matches!(core.state, State::Open | State::Cwr);
        let Some(from_head) = core.rto_from_head().filter(|_| wanted) else { return false };
        let wait = match core.rtt.srtt() {
            Some(srtt) if core.board.segments() == 1 => srtt * 2 + core.rtt.rto_min().clamp(TIMER_SLACK, MAX_ACK_DELAY),
            Some(srtt) => srtt * 2 + TIMER_SLACK,
            None => Span::from_millis(1000),
        };
        let due = if time_out == TimeOut::FromNow { now + core.rtt.rto() } else { from_head };
        let latest = if due > now { due } else { Time::from_nanos(u64::MAX) };
        timers.arm_alone(Timer::Tlp, (now + wait).min(latest));
        true
    }

    /// RFC 8985 §7.3: one probe at a time.
    pub(in crate::sender) fn on_probe_timer(&mut self, core: &mut SenderCore, now: Time, timers: &mut Timers) {
        if self.probe.is_none() && !core.board.is_empty() {
            self.probe_due = true;
        }
        let at = if self.probe_due { Some(now + core.rtt.rto()) } else { core.rto_from_head() };
        core.arm_rto(now, at, timers);
    }

    /// True, once, if a probe is to be sent.
    #[inline]
    pub(in crate::sender) fn take_probe_due(&mut self) -> bool {
        std::mem::take(&mut self.probe_due)
    }

    /// The probe: new data if the receiver has room for it, else the last segment once more.
    #[cold]
    #[inline(never)]
    pub(in crate::sender) fn poll_tail_probe(
        &mut self,
        core: &mut SenderCore,
        now: Time,
        timers: &mut Timers,
    ) -> Option<Outgoing> {
        if core.board.is_empty() {
            return None;
        }
        core.totals.tail_probes += 1;
        let new = core.next_new_data(now, Nagle::Ignored, timers);
        let out = match &new {
            Some(new) => {
                self.on_new_data(core.state, new.chunk);
                Some(core.send_new(now, new, timers))
            }
            None => {
                let tx = core.tx_state(now, self.mss);
                core.board.resend_last(now, tx).map(|chunk| self.retransmit(core, now, chunk))
            }
        };
        self.probe = Some(TailProbe { end: core.snd_nxt, is_retransmission: new.is_none(), dsacked: false });
        timers.arm_alone(Timer::Rto, now + core.rtt.rto());
        out
    }

    fn retransmit(&mut self, core: &mut SenderCore, now: Time, chunk: Chunk) -> Outgoing {
        self.on_retransmission(now, chunk);
        core.retransmit(now, chunk)
    }

    /// RFC 8985 §7.4: was something lost that `probe`, which has been acknowledged, repaired?
    #[inline(never)]
    pub(super) fn judge_tail_probe(
        &mut self,
        core: &mut SenderCore,
        ack: &AckContext,
        probe: TailProbe,
        verdict: &AckVerdict,
    ) {
        let pure_duplicate = !ack.advances && ack.duplicate && !ack.report.summary.sacked;
        if !probe.is_retransmission || probe.dsacked || pure_duplicate {
            self.probe = None;
        } else if core.snd_una > probe.end {
            // Nothing reported the original: it was lost, and the probe repaired it.
            self.begin_reduction(core, ack.now, Cause::Tlp, verdict.acked);
            self.end_reduction(core, ack.now);
            self.keep_open(core);
        }
    }

    /// In recovery. RFC 6675 §4, NextSeg rules 3 and 4: with nothing else to send, a hole not yet believed lost, and once
    /// per episode the highest segment (the rescue retransmission).
    #[inline(never)]
    pub(in crate::sender) fn poll_hole(
        &mut self,
        core: &mut SenderCore,
        now: Time,
        send_window: Bytes,
    ) -> Option<Outgoing> {
        if self.kind != RecoveryKind::Sack || core.board.pipe() + self.mss > send_window {
            return None;
        }
        let tx = core.tx_state(now, self.mss);
        let chunk = match (core.board.resend_hole(now, tx), &mut self.episode) {
            (Some(chunk), _) => chunk,
            (None, Episode::Recovery { rescued, .. }) if !*rescued => {
                *rescued = true;
                core.board.resend_highest(now, tx)?
            }
            (None, _) => return None,
        };
        Some(self.retransmit(core, now, chunk))
    }
}
