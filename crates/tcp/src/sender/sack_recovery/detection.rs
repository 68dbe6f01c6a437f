//! What is lost: by SACK (RFC 6675), by time (RFC 8985), or without SACK by duplicate ACKs; and reordering.

use super::{AckKind, MAX_REORDERING, SackRecovery};
use crate::cc::State;
use crate::ecn::Marks;
use crate::recovery::ReoWndInput;
use crate::scoreboard::{RackTimeout, SendOrder};
use crate::sender::ack_context::{AckContext, AckVerdict};
use crate::sender::core::SenderCore;
use crate::seq::SeqNo;
use crate::settings::RecoveryKind;
use crate::timers::{Timer, Timers};
use crate::units::{Bytes, Span, Time};

/// Added to short waits: two ticks of Linux's clock.
pub(super) const TIMER_SLACK: Span = Span::from_millis(2);

impl SackRecovery {
    /// Something that was sent once arrived after something sent later.
    pub(super) fn on_reordering(&mut self, from: SeqNo, highest_sacked: SeqNo) {
        let extent = highest_sacked.since(from);
        if extent == Bytes::ZERO {
            return;
        }
        if extent > self.mss * self.reordering {
            self.reordering = extent.0.div_ceil(self.mss.0).min(MAX_REORDERING);
        }
        self.rack.reordering_seen = true;
    }

    /// Without SACK a duplicate ACK says that one segment more has left the network; the hole has not.
    pub(super) fn presume_one(&mut self, core: &mut SenderCore, ack: &AckContext, verdict: &mut AckVerdict) {
        if self.sack || !ack.duplicate {
            return;
        }
        let outstanding = core.board.segments();
        let holes = (core.board.lost().0.div_ceil(self.mss.0) as usize).clamp(1, outstanding.max(1));
        let before = core.board.presumed();
        let wanted = before.segments + 1;
        if wanted + holes > outstanding {
            // More duplicates than segments: reordering or duplication.
            self.reordering = self.reordering.max(outstanding as u64 + 1).min(MAX_REORDERING);
            self.rack.reordering_seen = true;
        }
        let after = wanted.min(outstanding.saturating_sub(holes));
        core.board.presume(after);
        verdict.acked = core.board.presumed().bytes.saturating_sub(before.bytes);
        verdict.acked_segments = u32::from(after > before.segments);
    }

    /// Marks what is lost. If a retransmission was among it: what had been delivered when that was sent.
    pub(super) fn find_losses(
        &mut self,
        core: &mut SenderCore,
        ack: &AckContext,
        verdict: &mut AckVerdict,
        timers: &mut Timers,
    ) -> Option<Bytes> {
        if core.board.is_empty() {
            return None;
        }
        let before_recovery = core.state < State::Recovery;
        if !self.sack {
            let enough = core.board.presumed().segments >= self.reordering as usize;
            if (before_recovery && enough) || (core.state == State::Recovery && ack.advances) {
                core.board.mark_head_lost_once();
            }
            return None;
        }
        if self.kind == RecoveryKind::Sack {
            core.board.mark_lost_by_sack(self.dup_thresh, self.mss);
            // RFC 6675 §5 step 1: DupThresh duplicate ACKs are a sign of their own, however little they report.
            if before_recovery && self.duplicates >= self.dup_thresh {
                core.board.mark_head_lost_once();
            }
            return None;
        }
        let newest = self.rack.take_advance()?;
        let found = core.board.mark_lost_by_time(&self.rack_timeout(core, ack.now, newest));
        if let Some(wait) = found.wait {
            timers.arm_alone(Timer::Reorder, ack.now + wait + TIMER_SLACK);
            verdict.restarts_timers = false;
        }
        found.retransmission
    }

    fn rack_timeout(&self, core: &SenderCore, now: Time, newest: SendOrder) -> RackTimeout {
        let (min_rtt, srtt) = (core.rtt.min(), core.rtt.srtt());
        let sacked = core.board.sacked_segments() as u64;
        let loss_is_evident = core.state >= State::Recovery || sacked >= self.reordering;
        let timeout = self.rack.rack_timeout(&ReoWndInput { loss_is_evident, min_rtt, srtt });
        RackTimeout { now, newest, timeout }
    }

    /// Nothing more has arrived: what was sent early enough is lost (RFC 8985 §6.2 step 5).
    pub(in crate::sender) fn on_reorder_timer(&mut self, core: &mut SenderCore, now: Time, timers: &mut Timers) {
        if !core.board.is_empty()
            && let Some(newest) = self.rack.newest()
        {
            let before = core.board.pipe();
            let found = core.board.mark_lost_by_time(&self.rack_timeout(core, now, newest));
            if let Some(wait) = found.wait {
                timers.arm_alone(Timer::Reorder, now + wait + TIMER_SLACK);
            }
            if core.state == State::Recovery {
                self.reduce_again(core, now, found.retransmission);
            } else if core.board.pipe() != before {
                self.enter_recovery(core, now, Marks::default(), Bytes::ZERO);
                self.reduce(core, self.mss, AckKind::Other);
            }
        }
        if !timers.any_armed(&Timers::OF_LOSS) {
            core.arm_rto(now, core.rto_from_head(), timers);
        }
    }
}
