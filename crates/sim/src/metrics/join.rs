//! Metrics that belong together: packets of several flows, and one flow in several parts of a world ([`crate::parallel`]).

use super::{FlowMetrics, ReverseData, Tally};

impl Tally {
    /// Adds the packets of another flow.
    pub(crate) fn merge(&mut self, other: &Tally) {
        self.sent += other.sent;
        self.delivered += other.delivered;
        self.dropped += other.dropped;
        self.duplicated += other.duplicated;
    }
}

impl FlowMetrics {
    /// The run is over: takes what another part of the world has counted of the same flow. This is the part of its sink, which alone
    /// has the delays of its data.
    pub(crate) fn join(&mut self, other: &FlowMetrics) {
        self.tally.merge(&other.tally);
        self.total_sent_bytes += other.total_sent_bytes;
        self.total_received_bytes += other.total_received_bytes;
        self.interval.merge(&other.interval);
        if let Some(theirs) = &other.interval.reverse_data {
            self.interval.reverse_data().join(theirs);
        }
    }
}

impl ReverseData {
    /// As [`FlowMetrics::join`]; the part of the source has the delays.
    fn join(&mut self, other: &ReverseData) {
        self.sent += other.sent;
        self.retransmitted += other.retransmitted;
        self.received += other.received;
        self.dropped += other.dropped;
        self.marked += other.marked;
        self.delivered_bytes += other.delivered_bytes;
        if other.received > 0 {
            self.delays = other.delays.clone();
        }
    }
}
