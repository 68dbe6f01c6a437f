//! What is counted of one direction of a flow.

use tcp::units::{Bytes, Span, Time};

use super::Delays;

/// All packets of one direction, data and control, as a monitor at the IP layer sees them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Direction {
    pub(crate) sent: u64,
    pub(crate) received: u64,
    pub(crate) dropped: u64,
    pub(crate) received_ip_bytes: Bytes,
    pub(crate) first_sent: Option<Time>,
    pub(crate) last_received: Option<Time>,
}

/// Data packets from the sink to the source.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReverseData {
    pub(crate) sent: u64,
    pub(crate) retransmitted: u64,
    pub(crate) received: u64,
    pub(crate) dropped: u64,
    pub(crate) marked: u64,
    /// Payload read in order by the application.
    pub(crate) delivered_bytes: Bytes,
    /// Last transmission of a data packet to its reception.
    pub(crate) delays: Delays,
}

impl ReverseData {
    pub(super) fn on_sent(&mut self, retransmission: bool) {
        self.sent += 1;
        self.retransmitted += u64::from(retransmission);
    }

    pub(super) fn on_received(&mut self, delay: Span) {
        self.received += 1;
        self.delays.add(delay);
    }
}

impl Direction {
    pub(super) fn merge(&mut self, other: &Direction) {
        self.sent += other.sent;
        self.received += other.received;
        self.dropped += other.dropped;
        self.received_ip_bytes += other.received_ip_bytes;
        self.first_sent = [self.first_sent, other.first_sent].into_iter().flatten().min();
        self.last_received = self.last_received.max(other.last_received);
    }
}
