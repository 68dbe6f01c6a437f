//! A test bench for disciplines: a queue that tests fill and empty by hand.

use tcp::rng::Rng;
use tcp::units::{Bytes, Rate, Span, Time};
use tcp::{Ecn, Segment};

use super::{Dequeued, Qdisc, QueueContext, QueuedPacket};
use crate::engine::context::Context;
use crate::engine::event::Event;
use crate::engine::flow_ends::FlowEnds;
use crate::ids::{FlowId, LinkId, NodeId};
use crate::metrics::LinkMetrics;
use crate::packet::{DropReason, Packet, PacketHeader};
use crate::scenario::{Dscp, Queue};

/// A queue before a transmitter of 10 Mb/s that is busy all the time.
pub(super) struct Bench {
    ctx: Context,
    metrics: LinkMetrics,
    pub(super) queue: Qdisc,
    held: u64,
}

/// Flows that may send to the bench.
const FLOWS: usize = 200;

impl Bench {
    /// The queue as a scenario writes it.
    pub(super) fn new(queue: &str) -> Bench {
        let def: Queue = serde_json::from_str(queue).unwrap_or_else(|e| panic!("{e}"));
        let rate = Rate::from_bps(10_000_000).unwrap();
        let queue = Qdisc::new(&def, rate, Span::from_millis(10), Rng::stream(1, "test"));
        let mut ctx = Context::new(FLOWS, None);
        // Flows 2n and 2n + 1 start at node n + 1; all end at node 0.
        let ends = |flow| FlowEnds {
            source: NodeId(flow / 2 + 1),
            sink: NodeId(0),
            priority: 1,
            dscp: Dscp::default(),
            group: 0,
            serial: FlowId(flow),
        };
        ctx.ends.extend((0..FLOWS as u32).map(ends));
        Bench { ctx, metrics: LinkMetrics::default(), queue, held: 0 }
    }

    /// Flows start at one node for each group of so many, in their order.
    pub(super) fn gather(&mut self, groups: &[u32]) {
        let nodes = groups.iter().zip(1..).flat_map(|(flows, node)| (0..*flows).map(move |_| NodeId(node)));
        self.ctx.ends.iter_mut().zip(nodes).for_each(|(ends, node)| ends.source = node);
    }

    /// The sender of a flow has a retransmission time-out now.
    pub(super) fn rehash(&mut self, flow: u32) {
        self.ctx.rehashes.add(FlowId(flow).sink(), self.ctx.now);
    }

    /// Moves the clock.
    pub(super) fn at(&mut self, time: Time) {
        self.ctx.schedule(time, Event::Sample);
        self.ctx.next();
    }

    /// A packet of 1000 bytes of flow 0 comes.
    pub(super) fn enqueue(&mut self, ecn: Ecn) -> Result<(), DropReason> {
        self.enqueue_of(0, 1000, ecn)
    }

    pub(super) fn enqueue_of(&mut self, flow: u32, size: u64, ecn: Ecn) -> Result<(), DropReason> {
        let segment = Segment { len: size as u32 - 40, ecn, ..Segment::default() };
        let header = PacketHeader {
            to: FlowId(flow).sink(),
            destination: NodeId(1),
            size: Bytes(size),
            sent_at: self.ctx.now,
            retransmission: false,
            ttl: 64,
        };
        let packet = self.ctx.packets.insert_segment(&header, &segment);
        let arrival = QueuedPacket { packet, size: Bytes(size), since: self.ctx.now };
        let result = self.queue.enqueue(&mut queue_context(&mut self.ctx, &mut self.metrics), arrival);
        match result {
            Ok(()) => self.held += 1,
            Err(_) => {
                self.ctx.packets.remove(arrival.packet);
            }
        }
        self.check();
        result
    }

    /// Flow and mark of the next packet that leaves.
    pub(super) fn dequeue_packet(&mut self) -> Option<Packet> {
        self.packet_or_time().ok()
    }

    /// The next packet that leaves, or when there will be one.
    fn packet_or_time(&mut self) -> Result<Packet, Option<Time>> {
        let answer = self.queue.dequeue(&mut queue_context(&mut self.ctx, &mut self.metrics));
        let next = match answer {
            Dequeued::Ready(next) => next,
            Dequeued::Empty => return Err(None),
            Dequeued::Later(at) => {
                assert!(at > self.ctx.now, "the link would ask for ever");
                return Err(Some(at));
            }
        };
        self.held -= 1;
        self.check();
        Ok(self.ctx.packets.remove(next.packet))
    }

    /// When the next packet may leave, if that is later than now. Asks by `peek`, which is not to change anything.
    pub(super) fn later(&mut self) -> Option<Time> {
        match self.queue.peek(&mut queue_context(&mut self.ctx, &mut self.metrics)) {
            Dequeued::Later(at) => Some(at),
            Dequeued::Ready(_) | Dequeued::Empty => None,
        }
    }

    /// The next packet and its size, without taking it.
    pub(super) fn peek(&mut self) -> Option<(u32, Bytes)> {
        let answer = self.queue.peek(&mut queue_context(&mut self.ctx, &mut self.metrics));
        self.check();
        let Dequeued::Ready(head) = answer else { return None };
        Some((self.ctx.packets.get(head.packet).to.flow().0, head.size))
    }

    /// Flow, size and time of all packets as they leave an infinitely fast transmitter, which waits when told to.
    pub(super) fn departures(&mut self) -> Vec<(u32, u64, Time)> {
        let mut left = Vec::new();
        loop {
            match self.packet_or_time() {
                Ok(packet) => left.push((packet.to.flow().0, packet.size.0, self.ctx.now)),
                Err(Some(at)) => self.at(at),
                Err(None) => return left,
            }
        }
    }

    /// Takes the packets of a size out of the queue, as a link does that goes down; says how many.
    pub(super) fn take(&mut self, size: u64) -> usize {
        let taken = self.queue.take(&|waiting| waiting.size == Bytes(size));
        for gone in &taken {
            self.ctx.packets.remove(gone.packet);
        }
        self.held -= taken.len() as u64;
        self.check();
        taken.len()
    }

    pub(super) fn set_priority(&mut self, flow: u32, priority: u8) {
        self.ctx.ends[flow as usize].priority = priority;
    }

    pub(super) fn set_dscp(&mut self, flow: u32, dscp: &str) {
        self.ctx.ends[flow as usize].dscp = dscp.parse().unwrap();
    }

    /// The mark of the next packet that leaves.
    pub(super) fn dequeue(&mut self) -> Option<Ecn> {
        self.dequeue_packet().map(|packet| packet.ecn())
    }

    /// What came and did not leave is in the queue or was dropped there.
    fn check(&self) {
        assert_eq!(self.held, self.queue.packets() + self.metrics.dropped());
    }

    pub(super) fn marks(&self) -> u64 {
        self.metrics.marks
    }

    /// Packets of a flow that its metrics count as marked.
    pub(super) fn marks_of_flow(&self, flow: u32) -> u64 {
        self.ctx.flows[flow as usize].interval.marked
    }

    /// Packets dropped after they had been enqueued.
    pub(super) fn drops(&self, reason: DropReason) -> u64 {
        self.metrics.drops()[reason as usize]
    }
}

fn queue_context<'a>(ctx: &'a mut Context, metrics: &'a mut LinkMetrics) -> QueueContext<'a> {
    let busy = ctx.now;
    QueueContext::new(ctx, metrics, Some(LinkId(0)), busy)
}
