//! Socket options that an application changes while a connection lasts: TCP_NODELAY, TCP_CORK, SO_SNDBUF, SO_RCVBUF,
//! TCP_USER_TIMEOUT, and MSG_MORE of a write.

use super::Connection;
use crate::sender::{Sender, Unanswered};
use crate::timers::Timer;
use crate::units::{Bytes, Span, Time};

impl Connection {
    /// Writes like [`Connection::write`] what more will follow: a segment that is not full waits until then, until an ACK
    /// arrives, or for a time-out (Linux's MSG_MORE).
    pub fn write_more(&mut self, bytes: u64) -> u64 {
        self.write_by(bytes, Sender::write_more)
    }

    /// Changes the user time-out (RFC 9293 §3.9.1); zero is none. What waits for an answer is given up in time for it.
    pub fn set_user_timeout(&mut self, now: Time, timeout: Span) {
        self.exceptional().user_timeout = timeout;
        let since = self.exceptional().since;
        let waits = self.sender.as_ref().is_some_and(|sender| sender.unanswered() != Unanswered::default());
        self.timers.stop(Timer::UserTimeout);
        if waits && timeout > Span::ZERO {
            self.timers.arm(Timer::UserTimeout, now.max(since + timeout));
        }
    }

    /// Nagle's rule (TCP_NODELAY is its absence). Switching it off sends what waits, corked or not, as in Linux.
    pub fn set_nagle(&mut self, nagle: bool) {
        if let Some(handshake) = &mut self.handshake {
            handshake.nagle = nagle;
        }
        if let Some(sender) = &mut self.sender {
            sender.set_nagle(nagle);
        }
    }

    /// While corked only full segments are sent, and a FIN (TCP_CORK).
    pub fn set_cork(&mut self, cork: bool) {
        if let Some(handshake) = &mut self.handshake {
            handshake.cork = cork;
        }
        if let Some(sender) = &mut self.sender {
            sender.set_cork(cork);
        }
    }

    /// The send buffer (SO_SNDBUF). What it holds stays, if it is more than this.
    pub fn set_send_buffer(&mut self, bytes: Bytes) {
        self.send_buffer = bytes;
        self.wake_writer();
    }

    /// The receive buffer (SO_RCVBUF). What was advertised stays so, and the window scale is that of the handshake.
    pub fn set_recv_buffer(&mut self, bytes: Bytes) {
        if let Some(handshake) = &mut self.handshake {
            handshake.set_recv_buffer(bytes);
        }
        self.receiver.set_buffer(bytes);
    }
}
