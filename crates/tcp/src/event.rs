//! Events that a connection reports to its application.

/// An event for the application.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// The handshake is complete.
    Connected,
    /// This many bytes were received in order: already read, or to be read by [`crate::Connection::read`].
    Delivered(u64),
    /// The send buffer has space again after a write it took in part.
    Writable,
    /// The peer has closed, and all its data has been read.
    PeerClosed,
    /// The peer has reset the connection, or refused it.
    Reset,
    /// The connection is given up: the peer has not answered for too long.
    Aborted,
    /// The connection is over; the last event.
    Closed,
}

/// Events not yet reported.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pending {
    pub(crate) connected: bool,
    pub(crate) delivered: u64,
    pub(crate) writable: bool,
    pub(crate) peer_closed: bool,
    pub(crate) reset: bool,
    pub(crate) aborted: bool,
    pub(crate) closed: bool,
}

impl Pending {
    /// The next event; `all_read` if the application has read everything received.
    pub(crate) fn poll(&mut self, all_read: bool) -> Option<Event> {
        // Nothing pending is the common case.
        if self.delivered == 0 && !(self.connected | self.writable | self.peer_closed | self.closed) {
            return None;
        }
        if std::mem::take(&mut self.connected) {
            return Some(Event::Connected);
        }
        let delivered = std::mem::take(&mut self.delivered);
        if delivered > 0 {
            return Some(Event::Delivered(delivered));
        }
        if std::mem::take(&mut self.writable) {
            return Some(Event::Writable);
        }
        if all_read && std::mem::take(&mut self.peer_closed) {
            return Some(Event::PeerClosed);
        }
        // Closed is reported last: data received before may still be read.
        if self.peer_closed {
            return None;
        }
        if std::mem::take(&mut self.reset) {
            return Some(Event::Reset);
        }
        if std::mem::take(&mut self.aborted) {
            return Some(Event::Aborted);
        }
        std::mem::take(&mut self.closed).then_some(Event::Closed)
    }
}
