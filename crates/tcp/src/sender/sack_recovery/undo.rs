//! Undoing a spurious episode (RFC 3522, RFC 3708).

use super::SackRecovery;
use crate::cc::Window;
use crate::sender::ack_context::AckContext;
use crate::sender::core::SenderCore;
use crate::units::{Bytes, Time};

/// What becomes of the segments that the undone episode took for lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LossMarks {
    Kept,
    Removed,
}

impl SackRecovery {
    /// An episode begins; an undo would return to `prior_window`.
    pub(super) fn begin_undo(&mut self, core: &SenderCore, prior_window: Option<Window>) {
        let segments = core.board.retransmitted().0.div_ceil(self.mss.0) as u32;
        if self.undo_enabled || self.frto_enabled {
            self.undo.begin(core.snd_una, segments, prior_window);
        }
    }

    /// True if Eifel or DSACKs show the episode to be spurious.
    pub(super) fn is_spurious(&self, tsecr: Option<u32>) -> bool {
        self.undo_enabled && self.undo.is_spurious(tsecr)
    }

    /// A partial ACK of data that was merely late (RFC 3522). True if nothing more is to be marked lost for now.
    #[cold]
    #[inline(never)]
    pub(super) fn undo_by_partial_ack(&mut self, core: &mut SenderCore, ack: &AckContext) -> bool {
        if !(self.undo_enabled && self.undo.original_arrived(ack.tsecr)) {
            return false;
        }
        self.on_reordering(ack.prior.snd_una, core.board.highest_sacked());
        // While retransmissions are outstanding, what becomes of them decides.
        if core.board.retransmitted() > Bytes::ZERO {
            return true;
        }
        self.undo.forget_retransmissions();
        self.undo_episode(core, ack.now, LossMarks::Removed);
        self.keep_open(core);
        false
    }

    /// Undoes the episode if a DSACK reported every retransmission; true if so.
    pub(super) fn undo_if_dsacked(&mut self, core: &mut SenderCore, now: Time) -> bool {
        let spurious = self.undo_enabled && self.undo.all_retransmissions_dsacked();
        if spurious {
            self.rack.on_undone_by_dsack();
            self.undo_episode(core, now, LossMarks::Kept);
        }
        spurious
    }

    /// Undoes the episode; `unmark`: what was believed lost is not.
    pub(super) fn undo_episode(&mut self, core: &mut SenderCore, now: Time, marks: LossMarks) {
        if marks == LossMarks::Removed {
            core.board.unmark_lost();
        }
        core.totals.undone += 1;
        self.rack.recheck();
        if let Some(prior_window) = self.undo.take() {
            let view = core.view(now);
            core.cc.on_undo(prior_window, &view);
        }
    }
}
