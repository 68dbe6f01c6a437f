//! The sender's timers: the retransmission time-out (RFC 6298), probes for a lost tail and the wait for reordering
//! (RFC 8985), probes of a closed window (RFC 9293 §3.8.6.1), the pace.

use super::modern::TailProbe;
use super::transmit::Outgoing;
use super::{Repair, Sender};
use crate::cc::{Cause, State};
use crate::settings::RecoveryKind;
use crate::timers::{Timer, Timers};
use crate::units::{Bytes, Span, Time};

/// Added to short waits: two ticks of Linux's clock.
pub(super) const LEAST_WAIT: Span = Span::from_millis(2);
/// With one segment outstanding the receiver may delay its ACK this long (RFC 8985 §7.2, WCDelAckT).
const WORST_DELAYED_ACK: Span = Span::from_millis(200);

impl Sender {
    /// Some deadline may have been reached.
    #[inline(never)]
    pub(crate) fn on_timeout(&mut self, now: Time, timers: &mut Timers) {
        // The pace needs nothing but another look.
        timers.expire(Timer::Pacing, now);
        if timers.expire(Timer::Persist, now) && self.board.is_empty() {
            self.window_probe_due = true;
            self.window_probes += 1;
            timers.arm(Timer::Persist, now + self.persist_interval());
        }
        if timers.expire(Timer::Reorder, now) {
            self.on_reorder_timer(now, timers);
        }
        if timers.expire(Timer::Tlp, now) {
            self.on_probe_timer(now, timers);
        }
        if timers.expire(Timer::Rto, now) {
            self.on_rto(now, timers);
        }
        if timers.expire(Timer::Algorithm, now) {
            let view = self.view(now, false);
            self.cc.on_timer(&view);
        }
        self.tell_losses(now);
        self.arm_algorithm_timer(timers);
    }

    /// The algorithm may have changed its mind about when to be called.
    pub(super) fn arm_algorithm_timer(&self, timers: &mut Timers) {
        match self.cc.next_timer() {
            Some(at) => timers.arm(Timer::Algorithm, at),
            None => timers.stop(Timer::Algorithm),
        }
    }

    /// RFC 9293 §3.8.6.1: the first probe after a time-out, then at doubling intervals.
    pub(super) fn persist_interval(&self) -> Span {
        let most = Span::from_millis(120_000);
        self.rtt.rto().saturating_mul(1 << self.window_probes.min(16)).min(most)
    }

    /// The retransmission timer expired (RFC 6298 §5.4 to §5.6).
    fn on_rto(&mut self, now: Time, timers: &mut Timers) {
        if self.board.is_empty() {
            return;
        }
        self.totals.timeouts += 1;
        match self.repair {
            Repair::Classic(_) => self.on_rto_classic(now),
            Repair::Modern(_) => self.on_rto_modern(now),
        }
        self.timeouts_in_a_row += 1;
        self.rtt.back_off();
        timers.arm_alone(Timer::Rto, now + self.rtt.rto());
    }

    fn on_rto_modern(&mut self, now: Time) {
        let calm = self.state <= State::Disorder;
        let new_recovery = self.state < State::Recovery;
        let sacked = self.board.sacked_segments();
        self.board.presume(0);
        if self.board.is_reneged() {
            self.board.forget_sacked();
        }
        let age = self.modern().time_out_age();
        self.board.mark_lost_by_time_out(now, age);
        // Once per window of data: what reduced the window for these losses already counts.
        let reached = self.snd_una >= self.modern().point;
        let first = calm || reached || (self.state == State::Loss && self.timeouts_in_a_row == 0);
        if first {
            let (una, retransmitted, window) = (self.snd_una, self.board.retransmitted(), self.cc.window());
            self.modern().begin_undo(una, retransmitted, Some(window));
        }
        self.notify_congestion(now, Cause::Timeout, first);
        if calm {
            self.modern().on_time_out_in_disorder(sacked);
        }
        let again = self.timeouts_in_a_row > 0;
        self.state = State::Loss;
        let snd_nxt = self.snd_nxt;
        let modern = self.modern();
        modern.point = snd_nxt;
        modern.probe = None;
        modern.probe_due = false;
        modern.begin_frto(new_recovery || again);
    }

    /// What was sent early enough to be lost if nothing more has arrived (RFC 8985 §6.2 step 5).
    fn on_reorder_timer(&mut self, now: Time, timers: &mut Timers) {
        if !self.board.is_empty()
            && let Some(newest) = self.modern().rack.newest()
        {
            let before = self.board.pipe();
            let age = self.age_of_loss();
            let found = self.board.mark_lost_by_time(now, newest, age);
            if let Some(wait) = found.wait {
                timers.arm_alone(Timer::Reorder, now + wait + LEAST_WAIT);
            }
            if self.board.pipe() != before && self.state != State::Recovery {
                let segment = self.mss;
                self.enter_recovery(now, false, Bytes::ZERO);
                self.descend(segment, false);
            }
        }
        if !timers.any_armed(&Timers::OF_LOSS) {
            self.arm_rto(now, self.rto_from_head(), timers);
        }
    }

    /// When the oldest segment times out, counted from its last transmission.
    fn rto_from_head(&self) -> Option<Time> {
        self.board.head().map(|head| head.sent_at).map(|sent| sent + self.rtt.rto())
    }

    fn arm_rto(&self, now: Time, at: Option<Time>, timers: &mut Timers) {
        match at {
            None => Timers::OF_LOSS.iter().for_each(|timer| timers.stop(*timer)),
            Some(at) => timers.arm_alone(Timer::Rto, at.max(now + Span::from_micros(1))),
        }
    }

    /// Sets the retransmission timer anew: from now, or from the oldest segment where another timer stood in for it.
    pub(super) fn restart_rto(&self, now: Time, timers: &mut Timers) {
        let stood_in = timers.armed(Timer::Tlp) || timers.armed(Timer::Reorder);
        let from_head = self.rto_from_head();
        let at = if stood_in { from_head } else { from_head.map(|_| now + self.rtt.rto()) };
        self.arm_rto(now, at, timers);
    }

    /// The ACK has given the timers a new start.
    pub(super) fn restart_timers(&mut self, now: Time, timers: &mut Timers) {
        if !self.schedule_tail_probe(now, true, timers) {
            self.restart_rto(now, timers);
        }
    }

    /// RFC 8985 §7.2: a probe after two RTTs without an ACK, in place of the time-out. `restarts`: counted from now.
    pub(super) fn schedule_tail_probe(&mut self, now: Time, restarts: bool, timers: &mut Timers) -> bool {
        let Repair::Modern(modern) = &self.repair else { return false };
        let wanted = modern.tail_probes && matches!(self.state, State::Open | State::Cwr);
        let Some(from_head) = self.rto_from_head().filter(|_| wanted) else { return false };
        let wait = match self.rtt.srtt() {
            Some(srtt) if self.board.segments() == 1 => {
                srtt * 2 + self.rtt.rto_min().clamp(LEAST_WAIT, WORST_DELAYED_ACK)
            }
            Some(srtt) => srtt * 2 + LEAST_WAIT,
            None => Span::from_millis(1000),
        };
        let due = if restarts { now + self.rtt.rto() } else { from_head };
        let latest = if due > now { due } else { Time::from_nanos(u64::MAX) };
        timers.arm_alone(Timer::Tlp, (now + wait).min(latest));
        true
    }

    /// RFC 8985 §7.3: one probe at a time.
    fn on_probe_timer(&mut self, now: Time, timers: &mut Timers) {
        if self.modern().probe.is_none() && !self.board.is_empty() {
            self.modern().probe_due = true;
        }
        let at = if self.modern().probe_due { Some(now + self.rtt.rto()) } else { self.rto_from_head() };
        self.arm_rto(now, at, timers);
    }

    /// The probe: new data if the receiver takes it, else the last segment once more.
    #[inline]
    pub(super) fn poll_tail_probe(&mut self, now: Time, timers: &mut Timers) -> Option<Outgoing> {
        let Repair::Modern(modern) = &mut self.repair else { return None };
        if !std::mem::take(&mut modern.probe_due) || self.board.is_empty() {
            return None;
        }
        self.make_tail_probe(now, timers)
    }

    #[cold]
    #[inline(never)]
    fn make_tail_probe(&mut self, now: Time, timers: &mut Timers) -> Option<Outgoing> {
        self.totals.tail_probes += 1;
        let new = self.poll_new(now, timers, true);
        let repeats = new.is_none();
        let out = new.or_else(|| {
            let stamp = self.stamp(now, self.mss);
            self.board.resend_last(now, stamp).map(|chunk| self.repeat(now, chunk))
        });
        let end = self.snd_nxt;
        self.modern().probe = Some(TailProbe { end, repeats, was_duplicate: false });
        timers.arm_alone(Timer::Rto, now + self.rtt.rto());
        out
    }

    /// RFC 8985 §7.4: was something lost that `probe`, which has been acknowledged, repaired?
    #[inline(never)]
    pub(super) fn judge_tail_probe(&mut self, arrived: &super::ack::Arrived, probe: TailProbe) {
        let una = self.snd_una;
        let pure_duplicate = !arrived.advances && arrived.duplicate && !arrived.news.sacked;
        if !probe.repeats || probe.was_duplicate || pure_duplicate {
            self.modern().probe = None;
        } else if una > probe.end {
            // Nothing reported the original: it was lost, and the probe repaired it.
            self.begin_descent(arrived.now, Cause::Tlp, arrived.ack.acked);
            self.end_descent(arrived.now);
            self.keep_open();
        }
    }

    /// In recovery. RFC 6675 §4, NextSeg rules 3 and 4: with nothing else to send, a hole not yet believed lost, and once per
    /// episode the last segment.
    #[inline(never)]
    pub(super) fn poll_hole(&mut self, now: Time) -> Option<Outgoing> {
        let by_sack = matches!(&self.repair, Repair::Modern(modern) if modern.kind == RecoveryKind::Sack);
        if !by_sack || self.board.pipe() + self.mss > self.send_window() {
            return None;
        }
        let stamp = self.stamp(now, self.mss);
        let chunk = match self.board.resend_hole(now, stamp) {
            Some(chunk) => chunk,
            None if !self.modern().rescued => {
                self.modern().rescued = true;
                self.board.resend_highest(now, stamp)?
            }
            None => return None,
        };
        Some(self.repeat(now, chunk))
    }
}
