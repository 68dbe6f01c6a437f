//! Deadlines that have been reached.

use super::Sender;
use crate::timers::{Timer, Timers};
use crate::units::Time;

impl Sender {
    /// Some deadline may have been reached.
    #[inline(never)]
    pub(crate) fn on_timeout(&mut self, now: Time, timers: &mut Timers) {
        // Pacing needs nothing but another poll.
        timers.expire(Timer::Pacing, now);
        let core = &mut self.core;
        if timers.expire(Timer::Persist, now) && core.board.is_empty() {
            core.on_persist_timer(now, timers);
        }
        self.recovery.on_own_timers(core, now, timers);
        if timers.expire(Timer::Rto, now) {
            self.on_rto(now, timers);
        }
        let core = &mut self.core;
        if timers.expire(Timer::Algorithm, now) {
            let view = core.view(now);
            core.cc.on_timer(&view);
        }
        core.report_losses(now);
        core.arm_algorithm_timer(timers);
    }

    /// The retransmission timer expired (RFC 6298 §5.4 to §5.6).
    fn on_rto(&mut self, now: Time, timers: &mut Timers) {
        let core = &mut self.core;
        if core.end_wait() {
            return;
        }
        if core.board.is_empty() {
            return self.recovery.on_idle_rto(core, now, timers);
        }
        core.totals.timeouts += 1;
        self.recovery.on_rto(core, now);
        core.timeouts_in_a_row += 1;
        core.rtt.back_off();
        self.recovery.after_rto(core);
        timers.arm_alone(Timer::Rto, now + core.rtt.rto());
    }
}
