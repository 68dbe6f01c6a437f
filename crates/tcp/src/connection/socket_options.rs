//! Socket options that an application changes while a connection lasts: TCP_NODELAY, TCP_CORK, SO_SNDBUF, SO_RCVBUF.

use super::Connection;
use crate::units::Bytes;

impl Connection {
    /// Nagle's rule (TCP_NODELAY is its absence). Switching it off sends what waits, corked or not, as in Linux.
    pub fn set_nagle(&mut self, nagle: bool) {
        if let Some(handshake) = &mut self.handshake {
            handshake.config.nagle = nagle;
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
        if self.write_blocked && self.send_space() > Bytes::ZERO {
            self.write_blocked = false;
            self.pending.writable = true;
        }
    }

    /// The receive buffer (SO_RCVBUF). What was advertised stays so, and the window scale is that of the handshake.
    pub fn set_recv_buffer(&mut self, bytes: Bytes) {
        if let Some(handshake) = &mut self.handshake {
            handshake.set_recv_buffer(bytes);
        }
        self.receiver.set_buffer(bytes);
    }
}
