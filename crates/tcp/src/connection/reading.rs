//! When the application reads: at every arrival, when it says so, or at intervals.

use super::Connection;
use crate::timers::Timer;
use crate::units::{Bytes, Time};

impl Connection {
    /// Bytes received in order and not yet read by [`Connection::read`].
    pub fn readable(&self) -> Bytes {
        self.receiver.unread()
    }

    /// Reads up to `bytes`; returns how many were available. Drain `poll_segment` afterwards: a window update may be due, or the ACK of a
    /// segment with PSH.
    pub fn read(&mut self, now: Time, bytes: u64) -> u64 {
        let read = self.receiver.read(now, bytes);
        self.ack_pending |= read > 0 && self.sender.is_some() && self.receiver.ack_due_at_read();
        read
    }

    /// Data has arrived, or the time to look again: the application that reads at intervals does so now or later.
    #[cold]
    pub(super) fn read_at_intervals(&mut self, now: Time) {
        let reader = self.exceptional.as_mut().and_then(|exceptional| exceptional.reader.as_mut());
        let Some(reader) = reader.filter(|_| self.receiver.unread() > Bytes::ZERO) else { return };
        if now < reader.next {
            return self.timers.arm(Timer::Read, reader.next);
        }
        reader.next = now + reader.interval;
        self.read(now, u64::MAX);
    }
}
