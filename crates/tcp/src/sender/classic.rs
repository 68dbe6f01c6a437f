//! Judging an ACK by duplicates: Tahoe, Reno, NewReno and ns-2's Vegas.

use super::ack::Arrived;
use super::{Repair, Sender};
use crate::cc::{Cause, State};
use crate::recovery::{DupAck, Duplicate, Progress};
use crate::timers::{Timer, Timers};
use crate::units::Time;

impl Sender {
    fn dupack(&mut self) -> &mut DupAck {
        match &mut self.repair {
            Repair::Classic(dupack) => dupack,
            Repair::Modern(_) => unreachable!("the way to repair losses does not change"),
        }
    }

    #[inline(never)]
    pub(super) fn judge_classic(&mut self, arrived: &mut Arrived, timers: &mut Timers) {
        let recovering = self.state == State::Recovery;
        let before = self.state;
        if arrived.advances {
            self.on_advance(arrived, timers);
        } else if arrived.duplicate {
            self.on_duplicate(arrived, timers);
        }
        if arrived.marks.echo && matches!(self.state, State::Open | State::Disorder) {
            self.reduce_on_echo(arrived.now);
        }
        if arrived.advances || arrived.duplicate {
            // RFC 5681 §3.2 step 6: the ACK that ends fast recovery deflates the window to ssthresh; it adds nothing.
            self.tell_algorithm(arrived, !recovering && before != State::Cwr);
        }
        if arrived.advances && self.dupack().worries() {
            self.look_at_head_again(arrived.now);
        }
    }

    fn is_vegas(&self) -> bool {
        matches!(&self.repair, Repair::Classic(dupack) if dupack.is_vegas())
    }

    /// True if the oldest segment is older than the algorithm lets it become; only Vegas asks.
    fn head_expired(&self, now: Time) -> bool {
        let (head, limit) = (self.board.head(), self.cc.head_timeout());
        self.is_vegas() && head.zip(limit).is_some_and(|(head, limit)| now.since(head.sent_at) >= limit)
    }

    /// As in ns-2's Vegas: after a retransmission more may be missing. The window has come down for that already.
    fn look_at_head_again(&mut self, now: Time) {
        let Some(head) = self.board.head().filter(|_| self.head_expired(now)) else {
            self.dupack().calm_down();
            return;
        };
        self.notify_congestion(now, Cause::HeadTimeout, false);
        let Sender { repair, board, .. } = self;
        let Repair::Classic(dupack) = repair else { return };
        dupack.send_head_again(head.transmissions, board);
        if self.state != State::Loss {
            self.state = State::Recovery;
        }
    }

    /// `snd_una` has moved.
    fn on_advance(&mut self, arrived: &mut Arrived, timers: &mut Timers) {
        let (now, una, was) = (arrived.now, self.snd_una, self.state);
        arrived.ack.acked = arrived.news.believed;
        arrived.ack.acked_segments = arrived.news.believed_segments;
        let advanced = arrived.news.advanced;
        let Sender { repair, board, .. } = self;
        let Repair::Classic(dupack) = repair else { return };
        let progress = dupack.on_advance(was, una, advanced, board);
        arrived.ack.partial = matches!(progress, Progress::Partial { .. });
        if progress == Progress::Done || was == State::Disorder {
            self.state = State::Open;
        }
        if progress == Progress::Done && was.in_cwnd_reduction() {
            let view = self.view(now, arrived.round_start);
            self.cc.on_recovery_end(&view);
        }
        // RFC 6298 §5.2, §5.3; RFC 6582 §3.2: of several partial ACKs only the first restarts the timer.
        if self.board.is_empty() {
            timers.stop(Timer::Rto);
        } else if progress != (Progress::Partial { restart_timer: false }) {
            timers.arm(Timer::Rto, now + self.rtt.rto());
        }
    }

    fn on_duplicate(&mut self, arrived: &mut Arrived, timers: &mut Timers) {
        let head_expired = self.head_expired(arrived.now);
        let (state, snd_una, pipe) = (self.state, self.snd_una, self.board.pipe());
        let meant_loss = self.dupack().on_duplicate(&Duplicate { state, snd_una, pipe, head_expired });
        if meant_loss {
            self.totals.recoveries += u64::from(state != State::Recovery);
            if self.state != State::Cwr {
                let cause = if head_expired { Cause::HeadTimeout } else { Cause::DupAck };
                self.notify_congestion(arrived.now, cause, true);
            }
            if self.is_vegas() {
                // ns-2's Vegas: the retransmission starts the time-out anew.
                timers.arm(Timer::Rto, arrived.now + self.rtt.rto());
            }
            let (snd_nxt, cwnd) = (self.snd_nxt, self.cc.window().cwnd);
            let Sender { repair, board, .. } = self;
            let Repair::Classic(dupack) = repair else { return };
            self.state = dupack.begin(snd_nxt, cwnd, board);
        } else if self.state == State::Open {
            self.state = State::Disorder;
        }
        arrived.ack.duplicate = self.dupack().duplicates();
    }

    /// RFC 3168 §6.1.2: once per window of data.
    fn reduce_on_echo(&mut self, now: Time) {
        self.totals.ecn_reductions += 1;
        self.begin_cwr(now, Cause::Ecn);
    }

    /// The window comes down although nothing was lost.
    pub(super) fn begin_cwr(&mut self, now: Time, cause: Cause) {
        self.notify_congestion(now, cause, true);
        let snd_nxt = self.snd_nxt;
        self.dupack().begin_cwr(snd_nxt);
        self.state = State::Cwr;
    }

    /// The retransmission timer expired (RFC 6298 §5.4 to §5.6).
    pub(super) fn on_rto_classic(&mut self, now: Time) {
        // RFC 5681 §3.1: ssthresh is left alone when the same segment times out again.
        if self.timeouts_in_a_row == 0 {
            self.notify_congestion(now, Cause::Timeout, true);
        }
        let Sender { repair, board, snd_nxt, .. } = self;
        let Repair::Classic(dupack) = repair else { return };
        dupack.on_timeout(*snd_nxt, board);
        self.state = State::Loss;
    }
}
