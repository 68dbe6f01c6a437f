//! Time-outs (RFC 6298, RFC 8985 §6.3) and F-RTO (RFC 5682).

use super::SackRecovery;
use super::episode::Episode;
use super::undo::LossMarks;
use crate::cc::{Cause, State};
use crate::sender::ack_context::{AckContext, AckVerdict};
use crate::sender::core::{CongestionSign, SenderCore};
use crate::seq::SeqNo;
use crate::settings::RecoveryKind;
use crate::units::Time;

/// What shows a time-out to be spurious.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Evidence {
    /// Eifel detection (RFC 3522).
    Timestamps,
    /// F-RTO (RFC 5682).
    Frto,
}

impl SackRecovery {
    /// The retransmission timer expired (RFC 6298 §5.4 to §5.6).
    pub(in crate::sender) fn on_rto(&mut self, core: &mut SenderCore, now: Time) {
        let before_reduction = core.state <= State::Disorder;
        let before_recovery = core.state < State::Recovery;
        let sacked = core.board.sacked_segments();
        core.board.presume(0);
        if core.board.is_reneged() {
            core.board.forget_sacked();
        }
        // RACK spares what was sent less than an RTT ago (RFC 8985 §6.3); by SACK all is lost (RFC 6675 §5.1).
        let timeout = (self.kind == RecoveryKind::Rack && self.sack).then(|| self.rack.rtt());
        core.board.mark_lost_by_time_out(now, timeout);
        // Once per window of data: an earlier reduction for these losses already counts.
        let reached = core.snd_una >= self.recover;
        let first = before_reduction || reached || (core.state == State::Loss && core.timeouts_in_a_row == 0);
        if first {
            self.begin_undo(core, Some(core.cc.window()));
        }
        core.report_congestion(now, &CongestionSign { first, ..self.sign(core, Cause::Timeout) });
        if before_reduction && sacked >= self.dup_thresh as usize {
            // A time-out after that many reports: reordering was overestimated.
            self.reordering = self.reordering.min(u64::from(self.dup_thresh));
        }
        let frto = self.frto_enabled && (before_recovery || core.timeouts_in_a_row > 0);
        self.enter(core, Episode::Loss { frto });
        self.recover = core.snd_nxt;
        self.probe = None;
        self.probe_due = false;
        self.new_data_first = false;
    }

    /// After a time-out: was it spurious (Eifel, RFC 3522; F-RTO, RFC 5682), is it over, what goes first?
    pub(super) fn judge_loss(&mut self, core: &mut SenderCore, ack: &AckContext, verdict: &mut AckVerdict) {
        let over = core.snd_una >= self.recover;
        if ack.advances && self.is_spurious(ack.tsecr) {
            return self.undo_time_out(core, ack, Evidence::Timestamps);
        }
        if let Episode::Loss { frto: true } = self.episode {
            let summary = &ack.report.summary;
            // RFC 5682 §3.1 step 3b: something never retransmitted has arrived.
            if summary.original_delivered {
                return self.undo_time_out(core, ack, Evidence::Frto);
            }
            if core.snd_nxt > self.recover {
                if summary.sacked || ack.duplicate {
                    // Step 3a: the loss was real.
                    self.episode = Episode::Loss { frto: false };
                }
            } else if ack.advances && !over {
                self.recover = core.snd_nxt;
                // Step 2b: two new segments, if there are any and they may be sent.
                let new = core.end > core.snd_nxt && core.snd_una + core.rwnd > core.snd_nxt;
                self.new_data_first = new;
                self.episode = Episode::Loss { frto: new };
                if new {
                    return;
                }
            }
        }
        if over {
            self.end_episode(core, ack);
        } else if !self.sack {
            if core.snd_nxt > self.recover && ack.duplicate {
                self.presume_one(core, ack, verdict);
            } else if ack.advances {
                core.board.presume(0);
            }
        }
    }

    /// The time-out was spurious.
    fn undo_time_out(&mut self, core: &mut SenderCore, ack: &AckContext, evidence: Evidence) {
        self.undo_episode(core, ack.now, LossMarks::Removed);
        core.timeouts_in_a_row = 0;
        let kept = !self.sack && core.snd_una == self.recover;
        if !kept && (evidence == Evidence::Frto || self.sack) {
            self.leave(core, State::Open);
        }
    }

    /// True while new data is sent before what is lost.
    #[inline]
    pub(in crate::sender) fn new_data_goes_first(&self) -> bool {
        self.new_data_first
    }

    /// No new data could be sent for F-RTO: if none has been since the time-out, recovery is conventional (RFC 5682 §2.1
    /// step 2a). True if F-RTO goes on.
    pub(in crate::sender) fn continue_frto(&mut self, snd_nxt: SeqNo) -> bool {
        let goes_on = snd_nxt > self.recover;
        if !goes_on {
            self.new_data_first = false;
            if let Episode::Loss { frto } = &mut self.episode {
                *frto = false;
            }
        }
        goes_on
    }
}
