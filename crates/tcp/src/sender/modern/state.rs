//! The states of a sender with SACK or RACK, and what moves it between them.

use crate::cc::{Cause, State};
use crate::recovery::{Arrival, Settling};
use crate::sender::ack::Arrived;
use crate::sender::modern::First;
use crate::sender::timeouts::LEAST_WAIT;
use crate::sender::{Repair, Sender};
use crate::settings::RecoveryKind;
use crate::timers::{Timer, Timers};
use crate::units::{Bytes, Time};

impl Sender {
    /// What the ACK means for the state; the first half ends episodes, the second finds losses.
    #[inline(never)]
    pub(in crate::sender) fn judge_state(&mut self, arrived: &mut Arrived, timers: &mut Timers) {
        if self.end_by_point(arrived) {
            return;
        }
        match self.state {
            State::Recovery => {
                if !arrived.advances {
                    self.presume_one(arrived);
                } else if self.undo_by_partial(arrived) {
                    return;
                }
                if self.take_back_explained(arrived.now) {
                    self.settle_open(arrived);
                }
                self.find_losses(arrived, timers);
                if self.state != State::Recovery && self.board.lost() > Bytes::ZERO {
                    self.enter_recovery(arrived.now, arrived.marks.echo, arrived.ack.acked);
                }
            }
            State::Loss => {
                self.judge_loss(arrived);
                let lost_again = self.find_losses(arrived, timers);
                if self.state == State::Open || lost_again {
                    self.judge_open(arrived, timers, false);
                }
            }
            State::Open | State::Disorder | State::Cwr => self.judge_open(arrived, timers, true),
        }
    }

    /// The recovery point has been acknowledged. True if the state is to be held nevertheless.
    fn end_by_point(&mut self, arrived: &Arrived) -> bool {
        if self.state == State::Open {
            self.modern().undo.forget_retransmissions();
            return false;
        }
        let point = self.modern().point;
        if self.snd_una < point {
            return false;
        }
        match self.state {
            // Something above the point must be acknowledged, so that the CWR flag has arrived.
            State::Cwr if self.snd_una > point => self.end_descent(arrived.now),
            State::Recovery => {
                if !self.modern().sack {
                    self.board.presume(0);
                }
                return self.end_episode(arrived);
            }
            _ => {}
        }
        false
    }

    /// An episode of recovery, or of a time-out, is over. True if without SACK it is held until one ACK more, against
    /// a false fast retransmit (RFC 6582 §4).
    #[cold]
    #[inline(never)]
    fn end_episode(&mut self, arrived: &Arrived) -> bool {
        let echo = arrived.echo;
        if self.modern().is_spurious(echo) {
            self.take_back(arrived.now, false);
        } else {
            self.modern().rack.on_recovery_end();
        }
        if !self.modern().sack && self.snd_una == self.modern().point {
            if !self.board.head_was_retransmitted() {
                self.modern().undo.forget_retransmissions();
            }
            return true;
        }
        if self.state == State::Recovery {
            self.end_descent(arrived.now);
        } else {
            self.state = State::Open;
        }
        false
    }

    /// The window has come down.
    pub(in crate::sender) fn end_descent(&mut self, now: Time) {
        self.state = State::Open;
        let view = self.view(now, false);
        self.cc.on_recovery_end(&view);
    }

    /// Open, Disorder or CWR: is there loss?
    fn judge_open(&mut self, arrived: &mut Arrived, timers: &mut Timers, look: bool) {
        if !self.modern().sack {
            if arrived.advances {
                self.board.presume(0);
            }
            self.presume_one(arrived);
        }
        let calm = matches!(self.state, State::Open | State::Disorder);
        if calm {
            self.take_back_explained(arrived.now);
        }
        if look || self.state == State::Open {
            self.find_losses(arrived, timers);
        }
        if self.board.lost() > Bytes::ZERO {
            self.enter_recovery(arrived.now, arrived.marks.echo, arrived.ack.acked);
        } else {
            self.settle_open(arrived);
        }
    }

    /// Without SACK: a duplicate ACK says that one segment more has left the network, the hole excepted.
    fn presume_one(&mut self, arrived: &mut Arrived) {
        if self.modern().sack || !arrived.duplicate {
            return;
        }
        let outstanding = self.board.segments();
        let holes = (self.board.lost().0.div_ceil(self.mss.0) as usize).clamp(1, outstanding.max(1));
        let (before, bytes_before) = self.board.presumed();
        let wanted = before + 1;
        if wanted + holes > outstanding {
            // More duplicates than segments: reordering or duplication.
            let modern = self.modern();
            modern.reordering = modern.reordering.max(outstanding as u64 + 1).min(super::MOST_REORDERING);
            modern.rack.reordering_seen = true;
        }
        let after = wanted.min(outstanding.saturating_sub(holes));
        self.board.presume(after);
        arrived.ack.acked = self.board.presumed().1.saturating_sub(bytes_before);
        arrived.ack.acked_segments = u32::from(after > before);
    }

    /// Marks what is lost. True if a retransmission was among it.
    fn find_losses(&mut self, arrived: &mut Arrived, timers: &mut Timers) -> bool {
        if self.board.is_empty() {
            return false;
        }
        let (mss, state, advances) = (self.mss, self.state, arrived.advances);
        let enough = self.modern().reordering as usize;
        let Sender { repair, board, .. } = self;
        let Repair::Modern(modern) = repair else { return false };
        let calm = state < State::Recovery;
        if !modern.sack {
            if (calm && board.presumed().0 >= enough) || (state == State::Recovery && advances) {
                board.mark_head_lost_once();
            }
            return false;
        }
        if modern.kind == RecoveryKind::Sack {
            board.mark_lost_by_sack(modern.threshold, mss);
            // RFC 6675 §5 step 1: that many duplicate ACKs are a sign of their own, however little they report.
            if calm && modern.duplicates >= modern.threshold {
                board.mark_head_lost_once();
            }
            return false;
        }
        let newest = modern.rack.take_advance();
        newest.is_some_and(|newest| self.find_losses_by_time(arrived, newest, timers))
    }

    fn find_losses_by_time(&mut self, arrived: &mut Arrived, newest: (Time, u64), timers: &mut Timers) -> bool {
        let age = self.age_of_loss();
        let found = self.board.mark_lost_by_time(arrived.now, newest, age);
        if let Some(wait) = found.wait {
            timers.arm_alone(Timer::Reorder, arrived.now + wait + LEAST_WAIT);
            arrived.restarts_timers = false;
        }
        found.retransmission
    }

    /// From this age on what was sent before something that has arrived is lost.
    pub(in crate::sender) fn age_of_loss(&mut self) -> crate::units::Span {
        let (min_rtt, srtt) = (self.rtt.min(), self.rtt.srtt());
        let sacked = self.board.sacked_segments() as u64;
        let loss_is_evident = self.state >= State::Recovery || sacked >= self.modern().reordering;
        self.modern().rack.age(&Settling { loss_is_evident, min_rtt, srtt })
    }

    #[cold]
    #[inline(never)]
    pub(in crate::sender) fn enter_recovery(&mut self, now: Time, echo: bool, delivered: Bytes) {
        self.totals.recoveries += 1;
        let (una, retransmitted, window) = (self.snd_una, self.board.retransmitted(), self.cc.window());
        if !self.board.head_was_retransmitted() {
            self.modern().undo.forget_retransmissions();
        }
        let descending = self.state.in_cwnd_reduction();
        let before = (!echo && !descending).then_some(window);
        self.modern().begin_undo(una, retransmitted, before);
        self.modern().rescued = false;
        if !descending {
            let cause = match (self.modern().sack, self.modern().kind) {
                (false, _) => Cause::DupAck,
                (true, RecoveryKind::Sack) => Cause::Sack,
                (true, _) => Cause::Rack,
            };
            self.begin_descent(now, cause, delivered);
        }
        self.state = State::Recovery;
    }

    /// The window is to come down.
    #[cold]
    #[inline(never)]
    pub(in crate::sender) fn begin_descent(&mut self, now: Time, cause: Cause, delivered: Bytes) {
        let (cwnd, snd_nxt) = (self.cc.window().cwnd, self.snd_nxt);
        // RecoverFS of RFC 9937 §6.2: what this ACK reports was outstanding before it.
        let outstanding = self.board.flight().saturating_sub(self.board.sacked()) + delivered;
        self.notify_congestion(now, cause, true);
        let ssthresh = self.cc.window().cwnd;
        let modern = self.modern();
        modern.point = snd_nxt;
        modern.probe = None;
        modern.limited = Bytes::ZERO;
        modern.way.begin(cwnd, outstanding, ssthresh);
    }

    /// The way down goes on: `delivered` has left the network.
    pub(in crate::sender) fn descend(&mut self, delivered: Bytes, safe: bool) {
        let (pipe, ssthresh) = (self.board.pipe(), self.cc.window().cwnd);
        self.modern().way.on_ack(&Arrival { delivered, safe, pipe, ssthresh });
    }

    /// No loss: Open, Disorder while something is missing, CWR if the network reports congestion.
    fn settle_open(&mut self, arrived: &Arrived) {
        if !self.board.head_was_retransmitted() {
            self.modern().undo.forget_retransmissions();
        }
        if arrived.marks.echo && self.state < State::Cwr {
            self.totals.ecn_reductions += 1;
            self.modern().undo.forget();
            self.begin_descent(arrived.now, Cause::Ecn, arrived.ack.acked);
            self.state = State::Cwr;
        }
        if self.state != State::Cwr {
            self.keep_open();
        }
    }

    pub(in crate::sender) fn keep_open(&mut self) {
        let missing = self.board.sacked() > Bytes::ZERO || self.board.lost() > Bytes::ZERO;
        let state = if missing || self.board.head_was_retransmitted() { State::Disorder } else { State::Open };
        if self.state != state {
            self.state = state;
            self.modern().point = self.snd_nxt;
        }
    }

    /// A partial ACK of data that was merely late (RFC 3522). True if nothing more is to be marked lost for now.
    #[cold]
    #[inline(never)]
    fn undo_by_partial(&mut self, arrived: &Arrived) -> bool {
        let echo = arrived.echo;
        if !(self.modern().undo_wanted && self.modern().undo.original_arrived(echo)) {
            return false;
        }
        let highest = self.board.highest_sacked();
        self.modern().on_reordering(arrived.prior_una, highest);
        // While retransmissions are out their fate decides.
        if self.board.retransmitted() > Bytes::ZERO {
            return true;
        }
        self.modern().undo.forget_retransmissions();
        self.take_back(arrived.now, true);
        self.keep_open();
        false
    }

    /// Takes the episode back if every retransmission was reported as a duplicate; true if so.
    fn take_back_explained(&mut self, now: Time) -> bool {
        let explained = self.modern().is_explained();
        if explained {
            self.modern().rack.on_undone_by_duplicates();
            self.take_back(now, false);
        }
        explained
    }

    /// Takes the episode back; `unmark` if what was believed lost is not.
    fn take_back(&mut self, now: Time, unmark: bool) {
        if unmark {
            self.board.unmark_lost();
        }
        self.totals.undone += 1;
        self.modern().rack.look_again();
        if let Some(before) = self.modern().undo.take() {
            let view = self.view(now, false);
            self.cc.on_undo(before, &view);
        }
    }

    /// After a time-out: was it spurious (Eifel, RFC 3522; F-RTO, RFC 5682), is it over, what goes first?
    fn judge_loss(&mut self, arrived: &mut Arrived) {
        let over = self.snd_una >= self.modern().point;
        if arrived.advances && self.modern().is_spurious(arrived.echo) {
            return self.take_back_loss(arrived, false);
        }
        if self.modern().frto {
            // RFC 5682 §3.1 step 3b: something never sent again has arrived.
            if arrived.news.original_delivered {
                return self.take_back_loss(arrived, true);
            }
            if self.snd_nxt > self.modern().point {
                if arrived.news.sacked || arrived.duplicate {
                    // Step 3a: the loss was real.
                    self.modern().frto = false;
                }
            } else if arrived.advances && !over {
                self.modern().point = self.snd_nxt;
                // Step 2b: two new segments, if there are any and they may leave.
                let new = self.end > self.snd_nxt && self.snd_una + self.rwnd.0 > self.snd_nxt;
                self.modern().first = if new { First::New } else { First::Lost };
                self.modern().frto = new;
                if new {
                    return;
                }
            }
        }
        if over {
            self.end_episode(arrived);
        } else if !self.modern().sack {
            if self.snd_nxt > self.modern().point && arrived.duplicate {
                self.presume_one(arrived);
            } else if arrived.advances {
                self.board.presume(0);
            }
        }
    }

    fn take_back_loss(&mut self, arrived: &Arrived, by_frto: bool) {
        self.take_back(arrived.now, true);
        self.timeouts_in_a_row = 0;
        let held = !self.modern().sack && self.snd_una == self.modern().point;
        if !held && (by_frto || self.modern().sack) {
            self.state = State::Open;
        }
    }

    /// True while new data goes before what is lost.
    pub(in crate::sender) fn new_data_goes_first(&self) -> bool {
        matches!(&self.repair, Repair::Modern(modern) if modern.first == First::New)
    }

    /// No new data could leave for F-RTO: if none has since the time-out, recovery is conventional.
    pub(in crate::sender) fn give_up_frto_without_new_data(&mut self) -> bool {
        let none_left = self.snd_nxt <= self.modern().point;
        if none_left {
            self.modern().frto = false;
            self.modern().first = First::Lost;
        }
        none_left
    }
}
