//! When a connection whose receiver misleads its sender forges ACKs.

use super::Connection;
use crate::segment::Segment;
use crate::timers::Timer;
use crate::units::Time;

impl Connection {
    /// An ACK that may be forged.
    #[cold]
    pub(super) fn make_exceptional_ack(&mut self, now: Time) -> Segment {
        let ack = self.make_segment(now, None);
        let size = self.receiver.largest_payload();
        let forger = self.exceptional.as_mut().and_then(|exceptional| exceptional.forger.as_mut());
        let Some(forger) = forger else { return ack };
        let first = forger.on_ack(ack, size);
        if let Some(every) = forger.interval().filter(|_| !self.timers.armed(Timer::Forgery)) {
            self.timers.arm(Timer::Forgery, now + every);
        }
        first
    }

    /// Forged duplicates may be due; the peer's FIN ends them.
    pub(super) fn on_forgery_timer(&mut self, now: Time) {
        let forger = self.exceptional.as_mut().and_then(|exceptional| exceptional.forger.as_mut());
        if let Some(forger) = forger
            && self.timers.expire(Timer::Forgery, now)
            && !self.receiver.fin_received()
        {
            forger.on_timer();
            forger.interval().into_iter().for_each(|every| self.timers.arm(Timer::Forgery, now + every));
        }
    }
}
