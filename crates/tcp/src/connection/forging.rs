//! When a connection whose receiver misleads its sender forges ACKs, and what it does not wait for.

use super::Connection;
use super::forger::Forger;
use crate::segment::Segment;
use crate::timers::Timer;
use crate::units::{Bytes, Time};

impl Connection {
    /// An ACK that may be forged.
    #[cold]
    pub(super) fn make_exceptional_ack(&mut self, now: Time) -> Segment {
        let ack = self.make_segment(now, None);
        let size = self.receiver.largest_payload();
        let forger = self.exceptional.as_mut().and_then(|exceptional| exceptional.forger.as_mut());
        let Some(forger) = forger else { return ack };
        if forger.passes_over() && self.receiver.fin_received() {
            // Nothing lies ahead any more.
            return ack;
        }
        let first = forger.on_ack(ack, size);
        if let Some(every) = forger.interval().filter(|_| !self.timers.armed(Timer::Forgery)) {
            self.timers.arm(Timer::Forgery, now + every);
        }
        first
    }

    /// A segment is about to be received by a connection that may have a receiver which waits for no gap.
    #[cold]
    #[inline(never)]
    pub(super) fn on_exceptional_segment(&mut self, segment: &Segment) {
        let Some(exceptional) = &mut self.exceptional else { return };
        exceptional.answered = true;
        if let Some(forger) = exceptional.forger.as_mut().filter(|forger| forger.passes_over())
            && segment.sequence_len() > Bytes::ZERO
        {
            forger.on_gap(self.receiver.pass_over(segment.seq));
        }
    }

    /// Bytes that an optimistic receiver has acknowledged and passed over since they had not come; absent of another receiver.
    pub fn undelivered(&self) -> Option<Bytes> {
        self.exceptional.as_ref().and_then(|exceptional| exceptional.forger.as_ref()).and_then(Forger::undelivered)
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
