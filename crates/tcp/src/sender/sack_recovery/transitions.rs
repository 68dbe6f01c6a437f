//! The states, and what moves the sender between them.

use super::episode::Episode;
use super::undo::LossMarks;
use super::{AckKind, SackRecovery};
use crate::cc::{Cause, State};
use crate::ecn::Marks;
use crate::recovery::{CwndReduction, PrrInput, ReductionStart};
use crate::sender::ack_context::{AckContext, AckVerdict};
use crate::sender::core::{CongestionSign, SenderCore};
use crate::settings::RecoveryKind;
use crate::timers::Timers;
use crate::units::{Bytes, Time};

/// Whether losses are still to be looked for on an ACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Search {
    Due,
    Done,
}

impl SackRecovery {
    /// An episode begins, or takes the place of another.
    pub(super) fn enter(&mut self, core: &mut SenderCore, episode: Episode) {
        core.state = episode.state();
        self.episode = episode;
    }

    /// No episode is under way: `state` is Open or Disorder.
    pub(super) fn leave(&mut self, core: &mut SenderCore, state: State) {
        core.state = state;
        self.episode = Episode::None;
    }

    /// What the ACK means for the state: first episodes end, then losses are found.
    #[inline(never)]
    pub(super) fn judge_state(
        &mut self,
        core: &mut SenderCore,
        ack: &AckContext,
        verdict: &mut AckVerdict,
        timers: &mut Timers,
    ) {
        if self.end_at_recovery_point(core, ack) {
            return;
        }
        match core.state {
            State::Recovery => {
                if !ack.advances {
                    self.presume_one(core, ack, verdict);
                } else if self.undo_by_partial_ack(core, ack) {
                    return;
                }
                if self.undo_if_dsacked(core, ack.now) {
                    self.try_to_open(core, ack, verdict);
                }
                let lost_again = self.find_losses(core, ack, verdict, timers);
                self.reduce_again(core, ack.now, lost_again);
                if core.state != State::Recovery && core.board.lost() > Bytes::ZERO {
                    self.enter_recovery(core, ack.now, ack.marks, verdict.acked);
                }
            }
            State::Loss => {
                self.judge_loss(core, ack, verdict);
                let lost_again = self.find_losses(core, ack, verdict, timers);
                if core.state == State::Open || lost_again.is_some() {
                    let search = if core.state == State::Open { Search::Due } else { Search::Done };
                    self.judge_open(core, ack, verdict, timers, search);
                }
            }
            State::Open | State::Disorder | State::Cwr => self.judge_open(core, ack, verdict, timers, Search::Due),
        }
    }

    /// Ends an episode whose recovery point has been acknowledged. True if the state is kept nevertheless.
    fn end_at_recovery_point(&mut self, core: &mut SenderCore, ack: &AckContext) -> bool {
        if core.state == State::Open {
            self.undo.forget_retransmissions();
            return false;
        }
        if core.snd_una < self.recover {
            return false;
        }
        match self.episode {
            // Something above the point must be acknowledged, so that the CWR flag has arrived.
            Episode::Cwr { .. } if core.snd_una > self.recover => self.end_reduction(core, ack.now),
            Episode::Recovery { .. } => {
                if !self.sack {
                    core.board.presume(0);
                }
                return self.end_episode(core, ack);
            }
            _ => {}
        }
        false
    }

    /// An episode of recovery, or of a time-out, is over. True if without SACK it is kept until one more ACK, against a
    /// false fast retransmit (RFC 6582 §4).
    #[cold]
    #[inline(never)]
    pub(super) fn end_episode(&mut self, core: &mut SenderCore, ack: &AckContext) -> bool {
        if self.is_spurious(ack.tsecr) {
            self.undo_episode(core, ack.now, LossMarks::Kept);
        } else {
            self.rack.on_recovery_end();
        }
        if !self.sack && core.snd_una == self.recover {
            self.forget_settled_retransmissions(core);
            return true;
        }
        if core.state == State::Recovery {
            self.end_reduction(core, ack.now);
        } else {
            self.leave(core, State::Open);
        }
        false
    }

    /// The window has been reduced.
    pub(super) fn end_reduction(&mut self, core: &mut SenderCore, now: Time) {
        self.leave(core, State::Open);
        let view = core.view(now);
        core.cc.on_recovery_end(&view);
    }

    /// Open, Disorder or CWR: is something lost? `detect`: search for losses first.
    fn judge_open(
        &mut self,
        core: &mut SenderCore,
        ack: &AckContext,
        verdict: &mut AckVerdict,
        timers: &mut Timers,
        search: Search,
    ) {
        if !self.sack {
            if ack.advances {
                core.board.presume(0);
            }
            self.presume_one(core, ack, verdict);
        }
        if matches!(core.state, State::Open | State::Disorder) {
            self.undo_if_dsacked(core, ack.now);
        }
        if search == Search::Due {
            self.find_losses(core, ack, verdict, timers);
        }
        if core.board.lost() > Bytes::ZERO {
            self.enter_recovery(core, ack.now, ack.marks, verdict.acked);
        } else {
            self.try_to_open(core, ack, verdict);
        }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn enter_recovery(&mut self, core: &mut SenderCore, now: Time, marks: Marks, delivered: Bytes) {
        core.totals.recoveries += 1;
        self.forget_settled_retransmissions(core);
        self.reduce_after_mark(core, now);
        let under_way = self.episode.reduction().map(CwndReduction::with_retransmission);
        // What the network itself reported, or reduced the window for, is not undone.
        let prior_window = (!marks.echo && under_way.is_none()).then_some(core.cc.window());
        self.begin_undo(core, prior_window);
        let reduction = under_way.unwrap_or_else(|| {
            let cause = match (self.sack, self.kind) {
                (false, _) => Cause::DupAck,
                (true, RecoveryKind::Sack) => Cause::Sack,
                (true, _) => Cause::Rack,
            };
            self.begin_reduction(core, now, cause, delivered)
        });
        self.enter(core, Episode::Recovery { reduction, rescued: false });
    }

    /// The window is to be reduced; the caller enters the episode.
    #[cold]
    #[inline(never)]
    pub(super) fn begin_reduction(
        &mut self,
        core: &mut SenderCore,
        now: Time,
        cause: Cause,
        delivered: Bytes,
    ) -> CwndReduction {
        let cwnd = core.cc.window().cwnd;
        // RecoverFS of RFC 9937 §6.2: what this ACK reports was outstanding before it.
        let outstanding = core.board.flight().saturating_sub(core.board.sacked()) + delivered;
        core.report_congestion(now, &self.sign(core, cause));
        self.recover = core.snd_nxt;
        self.probe = None;
        self.limited_transmit = Bytes::ZERO;
        let retransmits = !matches!(cause, Cause::Ecn | Cause::Algorithm);
        let start = ReductionStart { cwnd, outstanding, ssthresh: core.cc.window().cwnd, retransmits };
        CwndReduction::new(self.reduction_kind, self.mss, &start)
    }

    /// The first reduction of an episode.
    pub(super) fn sign(&self, core: &SenderCore, cause: Cause) -> CongestionSign {
        let in_network = if cause == Cause::Timeout { core.board.pipe() } else { Bytes::ZERO };
        CongestionSign {
            cause,
            first: true,
            again: false,
            limited_transmit: self.limited_transmit,
            loss_window: in_network + self.mss,
            head: None,
        }
    }

    /// The reduction goes on: `delivered_data` has left the network.
    pub(super) fn reduce(&mut self, core: &SenderCore, delivered_data: Bytes, kind: AckKind) {
        let safe_ack = kind == AckKind::Safe;
        if let Some(reduction) = self.episode.reduction_mut() {
            let (in_flight, ssthresh) = (core.board.pipe(), core.cc.window().cwnd);
            reduction.on_ack(&PrrInput { delivered_data, safe_ack, in_flight, ssthresh });
        }
    }

    /// The algorithm sees congestion of its own: the window is reduced as after an ECN echo, from the next ACK on.
    #[cold]
    #[inline(never)]
    pub(super) fn reduce_as_asked(&mut self, core: &mut SenderCore, now: Time) {
        self.enter_cwr(core, now, Cause::Algorithm, Bytes::ZERO);
    }

    /// Marks in fast recovery: the reduction under way goes further down, and is not undone any more.
    #[cold]
    #[inline(never)]
    pub(super) fn reduce_in_recovery(&mut self, core: &mut SenderCore, now: Time) {
        core.totals.ecn_reductions += 1;
        self.undo.forget();
        self.lower(core, now, &CongestionSign { first: false, ..self.sign(core, Cause::Ecn) });
    }

    /// A retransmission was lost in fast recovery: a second indication of congestion, for which the window is lowered once
    /// more (RFC 5681 §4.3; RFC 8985 §3.4). Once per round trip: the retransmission was sent after the last reduction.
    pub(super) fn reduce_again(&mut self, core: &mut SenderCore, now: Time, lost: Option<Bytes>) {
        let counts = lost.is_some_and(|delivered| core.sent_since_reduction(delivered));
        if counts && core.state == State::Recovery && core.cc.is_strict() {
            self.lower_again(core, now);
        }
    }

    /// A loss in the round trip of a mark: where a mark reduces less, the loss counts.
    fn reduce_after_mark(&mut self, core: &mut SenderCore, now: Time) {
        if core.state == State::Cwr && core.cc.spares_marks() {
            self.lower_again(core, now);
        }
    }

    /// A further indication of congestion.
    fn lower_again(&mut self, core: &mut SenderCore, now: Time) {
        self.lower(core, now, &CongestionSign { first: false, again: true, ..self.sign(core, Cause::Rack) });
    }

    /// The reduction under way goes further down.
    fn lower(&mut self, core: &mut SenderCore, now: Time, sign: &CongestionSign) {
        core.report_congestion(now, sign);
        if let Some(reduction) = self.episode.reduction_mut() {
            reduction.lower(core.cc.window().cwnd);
        }
    }

    fn enter_cwr(&mut self, core: &mut SenderCore, now: Time, cause: Cause, delivered: Bytes) {
        self.undo.forget();
        let reduction = self.begin_reduction(core, now, cause, delivered);
        self.enter(core, Episode::Cwr { reduction });
    }

    /// Nothing is lost: Open, Disorder while something is missing, CWR if the network reports congestion.
    fn try_to_open(&mut self, core: &mut SenderCore, ack: &AckContext, verdict: &AckVerdict) {
        self.forget_settled_retransmissions(core);
        if ack.marks.echo && core.state < State::Cwr {
            core.totals.ecn_reductions += 1;
            self.enter_cwr(core, ack.now, Cause::Ecn, verdict.acked);
        }
        if core.state != State::Cwr {
            self.keep_open(core);
        }
    }

    /// Open, or Disorder while something is missing.
    pub(super) fn keep_open(&mut self, core: &mut SenderCore) {
        let missing = core.board.sacked() > Bytes::ZERO || core.board.lost() > Bytes::ZERO;
        let state = if missing || core.board.head_was_retransmitted() { State::Disorder } else { State::Open };
        if core.state != state {
            self.leave(core, state);
            self.recover = core.snd_nxt;
        }
    }

    /// Once no retransmission is outstanding the time of the first no longer counts.
    fn forget_settled_retransmissions(&mut self, core: &SenderCore) {
        if !core.board.head_was_retransmitted() {
            self.undo.forget_retransmissions();
        }
    }
}
