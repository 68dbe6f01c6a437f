//! The deadlines that every sender has: the retransmission time-out (RFC 6298), probes of a closed window (RFC 9293
//! §3.8.6.1), the algorithm's own.

use super::core::SenderCore;
use crate::timers::{Timer, Timers};
use crate::units::{Span, Time};

impl SenderCore {
    /// The algorithm may have changed when it wants to be called.
    #[inline]
    pub(crate) fn arm_algorithm_timer(&self, timers: &mut Timers) {
        match self.cc.next_timer() {
            Some(at) => timers.arm(Timer::Algorithm, at),
            None => timers.stop(Timer::Algorithm),
        }
    }

    /// RFC 3168 §6.1.2: a mark at a window of one segment restarts the retransmission timer, and the next segment waits for
    /// it. An ACK without a mark ends that, and the back-off.
    #[cold]
    pub(crate) fn wait_after_mark(&mut self, now: Time, waits: bool, timers: &mut Timers) {
        self.feedback.waits = waits && self.cc.is_strict();
        if self.feedback.waits {
            self.rtt.back_off_to(self.feedback.waits_in_a_row);
            timers.arm_alone(Timer::Rto, now + self.rtt.rto());
        } else {
            self.feedback.waits_in_a_row = 0;
        }
    }

    /// The retransmission timer expired. True if the sender had waited for it with nothing outstanding: no loss, but the
    /// next such wait is twice as long.
    pub(crate) fn end_wait(&mut self) -> bool {
        let waited = std::mem::take(&mut self.feedback.waits) && self.board.is_empty();
        if waited {
            self.totals.ecn_waits += 1;
            self.feedback.waits_in_a_row += 1;
            self.rtt.back_off_to(self.feedback.waits_in_a_row);
        }
        waited
    }

    /// RFC 9293 §3.8.6.1: the first probe after a time-out, then at doubling intervals.
    pub(crate) fn persist_interval(&self) -> Span {
        let max = Span::from_millis(120_000);
        self.rtt.rto().saturating_mul(1 << self.window_probes.min(16)).min(max)
    }

    /// The persist timer expired with nothing outstanding. Into a window that was merely too small for a segment goes what
    /// it has room for: the override timeout of RFC 9293 §3.8.6.2.1, for which Linux uses this timer too.
    #[cold]
    pub(crate) fn on_persist_timer(&mut self, now: Time, timers: &mut Timers) {
        let has_room = self.snd_una + self.rwnd > self.snd_nxt;
        if has_room && self.end > self.snd_nxt {
            self.override_due = true;
            self.window_probes = 0;
        } else {
            self.window_probe_due = true;
            self.window_probes += 1;
            timers.arm(Timer::Persist, now + self.persist_interval());
        }
    }

    /// When the oldest segment times out, counted from its last transmission.
    #[inline]
    pub(crate) fn rto_from_head(&self) -> Option<Time> {
        self.board.head().map(|head| head.sent_at).map(|sent| sent + self.rtt.rto())
    }

    #[inline]
    pub(crate) fn arm_rto(&self, now: Time, at: Option<Time>, timers: &mut Timers) {
        match at {
            None => Timers::OF_LOSS.iter().for_each(|timer| timers.stop(*timer)),
            Some(at) => timers.arm_alone(Timer::Rto, at.max(now + Span::from_micros(1))),
        }
    }

    /// Restarts the retransmission timer: from now, or from the oldest segment where another timer stood in for it.
    #[inline]
    pub(crate) fn restart_rto(&self, now: Time, timers: &mut Timers) {
        let stood_in = timers.armed(Timer::Tlp) || timers.armed(Timer::Reorder);
        let from_head = self.rto_from_head();
        let at = if stood_in { from_head } else { from_head.map(|_| now + self.rtt.rto()) };
        self.arm_rto(now, at, timers);
    }
}
