//! What a connection tells its application, and the states it goes through.

/// Where a connection stands (RFC 9293 §3.3.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Waits for a SYN.
    Listen,
    /// A SYN is out.
    SynSent,
    /// A SYN-ACK is out.
    SynReceived,
    /// Data flows.
    Established,
    /// Closed here; the FIN is not yet acknowledged.
    FinWait1,
    /// Closed here; waits for the other side.
    FinWait2,
    /// Closed there.
    CloseWait,
    /// Closed on both sides at once; our FIN is not yet acknowledged.
    Closing,
    /// Closed there, then here; our FIN is not yet acknowledged.
    LastAck,
    /// Over, but remembered.
    TimeWait,
    /// Over.
    Closed,
}

/// What the application is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// The handshake is done.
    Connected,
    /// This many new bytes arrived in order: read already, or to be read by [`crate::Connection::read`].
    Delivered(u64),
    /// A write that was cut short may go on.
    Writable,
    /// The other side has sent its last byte, and it has been read.
    PeerClosed,
    /// The connection is over, or was given up.
    Closed,
}

/// Events not yet told.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pending {
    pub(crate) connected: bool,
    pub(crate) delivered: u64,
    pub(crate) writable: bool,
    pub(crate) peer_closed: bool,
    pub(crate) closed: bool,
}

impl Pending {
    /// The next of them; `all_read` if the application has read all that arrived.
    pub(crate) fn poll(&mut self, all_read: bool) -> Option<Event> {
        // One test: mostly there is nothing.
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
        // The end is told last: what arrived before it may still be read.
        if self.peer_closed {
            return None;
        }
        std::mem::take(&mut self.closed).then_some(Event::Closed)
    }
}
