//! A flow: its application, its two endpoints, and the metrics of these.

use std::collections::VecDeque;

use tcp::cc::Algorithm;
use tcp::settings::Headers;
use tcp::units::{Bytes, Span, Time};
use tcp::{Ecn, Limit, Segment, Snapshot, Totals};

use crate::host::app::App;
use crate::host::foreign::Foreign;
use crate::host::transport::{Side, Transport};
use crate::ids::{EndpointId, FlowId, NodeId};

/// What happens to a write when the send buffer is full.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OnFull {
    /// The application waits.
    Block,
    /// The message is discarded.
    Drop,
}

/// Who takes the packets at the sink of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SinkAgent {
    /// Its own receiver.
    Own,
    /// The receiver of another flow.
    Of(FlowId),
    /// Nobody.
    Silent,
    /// Whoever sends the packets of both directions from outside.
    Outside,
}

/// A flow. What each packet touches comes first: three cache lines.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Flow {
    pub(crate) transport: Transport,
    pub(crate) source: NodeId,
    pub(crate) sink: NodeId,
    /// Sequence number after the highest byte sent, to recognize retransmissions.
    pub(crate) highest_sent: u64,
    /// Bytes read in order by the sink's application.
    pub(crate) read: u64,
    /// The application has started.
    pub(crate) started: bool,
    /// The application has ended.
    pub(crate) finished: bool,
    pub(crate) on_full: OnFull,
    pub(crate) headers: Headers,
    pub(crate) sink_agent: SinkAgent,
    /// The rest of a write that did not fit.
    pub(crate) blocked: Bytes,
    /// Stream offset after the last message accepted.
    pub(crate) written: u64,
    pub(crate) cwnd_integral: CwndIntegral,
    /// Messages in transit: stream offset of the end, time of the write.
    pub(crate) messages: VecDeque<(u64, Time)>,
    pub(crate) app: App,
    /// The ECN field of datagrams.
    pub(crate) datagram_ecn: Ecn,
    /// As `highest_sent`, of the data that the sink sends.
    pub(crate) highest_answered: u64,
    /// The flow of the scenario that it belongs to: itself, unless it is a further connection of an application.
    pub(crate) owner: FlowId,
    /// Data segments to the sink that were sent again when it had received all of their bytes.
    pub(crate) needless: u64,
    /// When an application has opened this connection.
    pub(crate) opened_at: Option<Time>,
    pub(crate) stop: Option<Time>,
    pub(crate) connected_at: Option<Time>,
    /// The sink has read the first byte.
    pub(crate) first_byte_at: Option<Time>,
    /// The sink has read all there is: the last byte of a transfer with an end, or what was sent before it stopped.
    pub(crate) ended_at: Option<Time>,
}

/// Integral of cwnd over time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CwndIntegral {
    integral: u128,
    since: Option<Time>,
    start: Option<Time>,
    cwnd: Bytes,
}

impl CwndIntegral {
    /// Changes cwnd from now on.
    pub(crate) fn update(&mut self, now: Time, cwnd: Bytes) {
        if cwnd != self.cwnd || self.since.is_none() {
            self.advance_to(now);
            self.cwnd = cwnd;
        }
    }

    fn advance_to(&mut self, now: Time) {
        if let Some(since) = self.since.replace(now) {
            self.integral += u128::from(self.cwnd.0) * u128::from(now.since(since).as_nanos());
        }
        self.start.get_or_insert(now);
    }

    /// Restarts at the beginning of the measurement interval.
    pub(crate) fn restart(&mut self, now: Time) {
        if self.since.is_some() {
            *self = CwndIntegral { since: Some(now), start: Some(now), cwnd: self.cwnd, integral: 0 };
        }
    }

    /// Time-weighted mean up to now, in bytes.
    pub(crate) fn mean(&mut self, now: Time) -> Option<f64> {
        self.advance_to(now);
        let length = now.since(self.start?).as_nanos();
        (length > 0).then(|| self.integral as f64 / length as f64)
    }
}

impl Flow {
    /// A flow that has not started.
    pub(crate) fn new([source, sink]: [NodeId; 2], app: App, transport: Transport, id: FlowId) -> Flow {
        Flow {
            source,
            sink,
            app,
            transport,
            headers: Headers::Options,
            sink_agent: SinkAgent::Own,
            datagram_ecn: Ecn::NotEct,
            on_full: OnFull::Block,
            stop: None,
            started: false,
            finished: false,
            blocked: Bytes::ZERO,
            messages: VecDeque::new(),
            written: 0,
            read: 0,
            highest_sent: 0,
            highest_answered: 0,
            owner: id,
            needless: 0,
            opened_at: None,
            connected_at: None,
            first_byte_at: None,
            ended_at: None,
            cwnd_integral: CwndIntegral::default(),
        }
    }

    /// A flow that a packet from outside may open.
    pub(crate) fn from_outside(id: FlowId) -> Flow {
        let flow = Flow::new([NodeId(0); 2], App::Bulk { bytes: None }, Transport::Udp, id);
        Flow { sink_agent: SinkAgent::Outside, ..flow }
    }

    /// True if its transport has nothing more to do: an end is closed, and no end waits for a time.
    pub(crate) fn is_closed(&self) -> bool {
        let waits = |side: &Side| !side.is_closed() && side.connection.next_timeout().is_some();
        match &self.transport {
            Transport::Tcp(sides) => self.has_closed_end() && !sides.iter().any(waits),
            Transport::Foreign(foreign) => foreign.is_closed(),
            Transport::Udp => false,
        }
    }

    /// True if the end of the connection that `endpoint` names is closed, and true if it waits for a time.
    pub(crate) fn end_state(&self, endpoint: EndpointId) -> [bool; 2] {
        match &self.transport {
            Transport::Tcp(sides) => {
                let side = &sides[usize::from(!endpoint.is_source())];
                [side.is_closed(), !side.is_closed() && side.connection.next_timeout().is_some()]
            }
            Transport::Udp | Transport::Foreign(_) => [false; 2],
        }
    }

    /// True if an end of the connection is closed.
    #[inline]
    pub(crate) fn has_closed_end(&self) -> bool {
        match &self.transport {
            Transport::Tcp(sides) => sides[0].is_closed() || sides[1].is_closed(),
            Transport::Foreign(foreign) => foreign.has_closed_end(),
            Transport::Udp => false,
        }
    }

    /// The side of the connection that `endpoint` names; `None` for UDP.
    pub(crate) fn side(&mut self, endpoint: EndpointId) -> Option<&mut Side> {
        match &mut self.transport {
            Transport::Tcp(sides) => Some(&mut sides[usize::from(!endpoint.is_source())]),
            Transport::Udp | Transport::Foreign(_) => None,
        }
    }

    /// Bytes that the sink has passed over, if its receiver is one that does.
    pub(crate) fn undelivered(&self) -> Option<Bytes> {
        match &self.transport {
            Transport::Tcp(sides) => sides[1].connection.undelivered(),
            Transport::Udp | Transport::Foreign(_) => None,
        }
    }

    /// The state of the sender, for series and summaries.
    pub(crate) fn snapshot(&self) -> Option<Snapshot> {
        match &self.transport {
            Transport::Tcp(sides) => sides[0].connection.snapshot(),
            Transport::Udp | Transport::Foreign(_) => None,
        }
    }

    /// The algorithm that the source will have, before its handshake.
    pub(crate) fn planned_algorithm(&self) -> Option<&'static Algorithm> {
        match &self.transport {
            Transport::Tcp(sides) => sides[0].connection.planned_algorithm(),
            Transport::Udp | Transport::Foreign(_) => None,
        }
    }

    /// True if slow start will be another than the algorithm's own.
    pub(crate) fn has_start(&self) -> bool {
        matches!(&self.transport, Transport::Tcp(sides) if sides[0].connection.has_start())
    }

    /// What has become of saved windows at its ends: how many have jumped, by how much, how many have retreated; absent where
    /// its start does not jump.
    pub(crate) fn resumptions(&self) -> Option<[u64; 3]> {
        let Transport::Tcp(sides) = &self.transport else { return None };
        let known = sides.iter().filter_map(|side| side.connection.resumption());
        let counted = known.fold([0; 3], |[resumed, bytes, retreats], end| {
            [resumed + u64::from(end.resumed), bytes + end.jump_bytes.0, retreats + u64::from(end.retreated)]
        });
        sides.iter().any(|side| side.jumps).then_some(counted)
    }

    /// Passes what the algorithm of the source shows of itself to `put`.
    pub(crate) fn observe(&self, put: &mut dyn FnMut(&'static str, f64)) {
        if let Transport::Tcp(sides) = &self.transport {
            sides[0].connection.observe(put);
        }
    }

    /// How long each limit has kept the source from sending more.
    pub(crate) fn limited(&self, now: Time) -> Option<[Span; Limit::COUNT]> {
        match &self.transport {
            Transport::Tcp(sides) => sides[0].connection.limited(now),
            Transport::Udp | Transport::Foreign(_) => None,
        }
    }

    /// Counts a retransmission that reaches the sink if it brings nothing.
    #[cold]
    pub(crate) fn count_needless(&mut self, segment: &Segment) {
        if let Transport::Tcp(sides) = &self.transport {
            self.needless += u64::from(segment.len > 0 && sides[1].connection.has_received(segment));
        }
    }

    /// The measurement interval begins.
    pub(crate) fn on_warmup_end(&mut self, now: Time) {
        self.cwnd_integral.restart(now);
        match &mut self.transport {
            Transport::Tcp(sides) => sides[0].connection.restart_limits(now),
            Transport::Foreign(foreign) => foreign.on_warmup_end(now),
            Transport::Udp => {}
        }
    }

    /// The states of the senders of both ends.
    pub(crate) fn snapshots(&self) -> impl Iterator<Item = Snapshot> {
        let sides = match &self.transport {
            Transport::Tcp(sides) => sides.as_slice(),
            Transport::Udp | Transport::Foreign(_) => &[],
        };
        sides.iter().filter_map(|side| side.connection.snapshot())
    }

    /// Counters of the sender.
    pub(crate) fn totals(&self) -> Totals {
        match &self.transport {
            Transport::Tcp(sides) => sides[0].connection.totals(),
            Transport::Udp | Transport::Foreign(_) => Totals::default(),
        }
    }

    /// The congestion window of the source, if it is known.
    pub(crate) fn cwnd(&self, now: Time) -> Option<Bytes> {
        match &self.transport {
            Transport::Tcp(_) => self.snapshot().map(|snapshot| snapshot.window.cwnd),
            Transport::Foreign(foreign) => foreign.cwnd(now),
            Transport::Udp => None,
        }
    }

    /// The whole transport that carries it, if one does.
    pub(crate) fn foreign(&self) -> Option<&Foreign> {
        match &self.transport {
            Transport::Foreign(foreign) => Some(foreign),
            Transport::Tcp(_) | Transport::Udp => None,
        }
    }

    /// Where `endpoint` is.
    pub(crate) fn node(&self, endpoint: EndpointId) -> NodeId {
        if endpoint.is_source() { self.source } else { self.sink }
    }

    /// Flow completion time: start to the last byte.
    pub(crate) fn completion(&self, start: Time) -> Option<Span> {
        let is_complete = match &self.app {
            App::Conversation(member) => member.completed,
            app => app.is_finite(),
        };
        self.ended_at.filter(|_| is_complete).map(|at| at.since(start))
    }

    /// How long it has lasted, if it has an end and has not reached it.
    pub(crate) fn unfinished(&self, start: Time, now: Time) -> Option<Span> {
        (self.app.is_finite() && self.completion(start).is_none()).then(|| self.ended_at.unwrap_or(now).since(start))
    }

    /// The part of the measurement interval, which began at `warmup` and ends now, in which the flow lived: from its start to
    /// its end.
    pub(crate) fn lifetime(&self, start: Time, warmup: Time, now: Time) -> Span {
        self.ended_at.unwrap_or(now).since(start.max(warmup))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::FlowMetrics;

    #[test]
    fn a_flow_takes_less_than_2_kib_besides_its_senders() {
        let bytes = [size_of::<Flow>(), size_of::<[Side; 2]>(), size_of::<FlowMetrics>()];
        assert!(bytes.iter().sum::<usize>() < 2048, "{bytes:?}");
    }
}
