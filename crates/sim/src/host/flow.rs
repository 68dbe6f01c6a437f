//! A flow while it runs: its application, its two endpoints, and what only the endpoints can tell.

use std::collections::VecDeque;

use tcp::Connection;
use tcp::units::{Bytes, Time};

use crate::host::app::App;
use crate::ids::{EndpointId, NodeId};

/// How a flow's data travels.
#[derive(Debug)]
pub(crate) enum Transport {
    /// The two sides of a connection: source, sink.
    Tcp(Box<[Side; 2]>),
    /// Datagrams.
    Udp,
}

/// One side of a TCP connection and its pending wake-up, which lies beside what the connection needs for each segment.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Side {
    /// When its `Wake` is due; one at another time is stale.
    pub(crate) wake_at: Option<Time>,
    pub(crate) connection: Connection,
}

/// What a write does when the send buffer is full.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OnFull {
    /// The application waits.
    Block,
    /// The message is discarded.
    Drop,
}

/// A flow while it runs. What each packet of it touches comes first: three cache lines.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Flow {
    pub(crate) transport: Transport,
    pub(crate) source: NodeId,
    pub(crate) sink: NodeId,
    /// Sequence number after the highest byte sent, to tell retransmissions.
    pub(crate) highest_sent: u64,
    /// Bytes read in order by the sink's application.
    pub(crate) read: u64,
    /// The application has begun.
    pub(crate) started: bool,
    /// The application has ended.
    pub(crate) finished: bool,
    pub(crate) on_full: OnFull,
    /// The rest of a write that did not fit.
    pub(crate) blocked: Bytes,
    /// Stream offset after the last message accepted.
    pub(crate) written: u64,
    pub(crate) window_area: WindowArea,
    /// Messages on their way: stream offset of the end, time of the write.
    pub(crate) messages: VecDeque<(u64, Time)>,
    pub(crate) app: App,
    pub(crate) stop: Option<Time>,
    pub(crate) connected_at: Option<Time>,
    pub(crate) completed_at: Option<Time>,
}

/// Integral of cwnd over time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WindowArea {
    area: u128,
    since: Option<Time>,
    start: Option<Time>,
    cwnd: Bytes,
}

impl WindowArea {
    /// cwnd is this from now on.
    pub(crate) fn becomes(&mut self, now: Time, cwnd: Bytes) {
        if cwnd != self.cwnd || self.since.is_none() {
            self.add_up(now);
            self.cwnd = cwnd;
        }
    }

    fn add_up(&mut self, now: Time) {
        if let Some(since) = self.since.replace(now) {
            self.area += u128::from(self.cwnd.0) * u128::from(now.since(since).as_nanos());
        }
        self.start.get_or_insert(now);
    }

    /// The measurement window begins.
    pub(crate) fn restart(&mut self, now: Time) {
        if self.since.is_some() {
            *self = WindowArea { since: Some(now), start: Some(now), cwnd: self.cwnd, area: 0 };
        }
    }

    /// Time-weighted mean up to now, in bytes.
    pub(crate) fn mean(&mut self, now: Time) -> Option<f64> {
        self.add_up(now);
        let length = now.since(self.start?).as_nanos();
        (length > 0).then(|| self.area as f64 / length as f64)
    }
}

impl Flow {
    /// The side of the connection that `endpoint` names; `None` for UDP.
    pub(crate) fn side(&mut self, endpoint: EndpointId) -> Option<&mut Side> {
        match &mut self.transport {
            Transport::Tcp(sides) => Some(&mut sides[usize::from(!endpoint.is_source())]),
            Transport::Udp => None,
        }
    }

    /// Where `endpoint` is.
    pub(crate) fn node(&self, endpoint: EndpointId) -> NodeId {
        if endpoint.is_source() { self.source } else { self.sink }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::FlowMetrics;

    #[test]
    fn a_flow_takes_less_than_4_kib_besides_its_window() {
        let bytes = size_of::<Flow>() + size_of::<[Side; 2]>() + size_of::<FlowMetrics>();
        assert!(bytes < 4096, "{bytes}");
    }
}
