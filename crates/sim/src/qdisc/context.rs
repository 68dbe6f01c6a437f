//! The context of a queue discipline: the time, and the accounting of drops and marks.
//!
//! A discipline may drop any packet, not only the arriving one, and also at dequeue. As each drop is counted where it happens,
//! packets of a link are conserved whatever a discipline does.

use tcp::Ecn;
use tcp::units::{Bytes, Span, Time};

use super::fifo::QueuedPacket;
use crate::engine::context::Context;
use crate::engine::flow_ends::FlowEnds;
use crate::ids::{EndpointId, LinkId, NodeId};
use crate::metrics::LinkMetrics;
use crate::packet::{DropReason, Packet};
use crate::scenario::{Dscp, Overhead};

/// The context of a call of a discipline.
#[derive(Debug)]
pub(crate) struct QueueContext<'a> {
    ctx: &'a mut Context,
    metrics: &'a mut LinkMetrics,
    /// The link that the queue stands before; none before a radio.
    link: Option<LinkId>,
    /// The transmitter is, or was, busy until this time.
    free_at: Time,
}

impl<'a> QueueContext<'a> {
    pub(crate) fn new(
        ctx: &'a mut Context,
        metrics: &'a mut LinkMetrics,
        link: Option<LinkId>,
        free_at: Time,
    ) -> QueueContext<'a> {
        QueueContext { ctx, metrics, link, free_at }
    }

    pub(super) fn now(&self) -> Time {
        self.ctx.now
    }

    /// How long the transmitter has been idle.
    pub(super) fn idle(&self) -> Span {
        self.ctx.now.since(self.free_at)
    }

    pub(super) fn packet(&self, waiting: &QueuedPacket) -> Packet {
        self.ctx.packets.get(waiting.packet)
    }

    /// The endpoint that a packet is for, which tells its flow and direction.
    #[inline]
    pub(super) fn receiver(&self, waiting: &QueuedPacket) -> EndpointId {
        self.ctx.packets.receiver(waiting.packet)
    }

    /// What a packet takes on a line.
    #[inline]
    pub(super) fn on_line(&self, overhead: &Overhead, waiting: &QueuedPacket) -> Bytes {
        match overhead {
            Overhead::Raw => waiting.size,
            Overhead::Framed(framing) => framing.on_line(self.packet(waiting).size),
        }
    }

    /// The ends and the priority of the flow that `endpoint` belongs to.
    pub(super) fn ends(&self, endpoint: EndpointId) -> FlowEnds {
        self.ctx.ends[endpoint.flow().index()]
    }

    /// The nodes that send and receive a packet.
    pub(super) fn hosts(&self, waiting: &QueuedPacket) -> [NodeId; 2] {
        let to = self.receiver(waiting);
        [self.ends(to).source_of(to), self.ctx.packets.forwarding_header(waiting.packet).destination]
    }

    /// What a router hashes in place of the five-tuple: one direction of one flow.
    #[inline]
    pub(super) fn flow_key(&self, endpoint: EndpointId) -> u64 {
        self.ctx.by_serial(endpoint).0.into()
    }

    /// What the hash covers that the sender's stack gave a packet: its flow, and how often that has changed.
    pub(super) fn sender_key(&self, packet: &Packet) -> u64 {
        let to = self.ctx.by_serial(packet.to);
        u64::from(to.0) | self.ctx.rehashes.before(to, packet.sent_at) << u32::BITS
    }

    /// The differentiated services code point of a packet.
    pub(super) fn dscp(&self, waiting: &QueuedPacket) -> Dscp {
        let demoted = self.ctx.packets.is_demoted(waiting.packet);
        if demoted { Dscp::LE } else { self.ends(self.packet(waiting).to).dscp }
    }

    /// Sets the code point of a packet to lower effort.
    pub(super) fn demote(&mut self, waiting: &QueuedPacket) {
        self.ctx.packets.demote(waiting.packet);
    }

    /// Packets dropped and marked on this link so far.
    pub(super) fn drops_and_marks(&self) -> [u64; 2] {
        [self.metrics.dropped(), self.metrics.marks]
    }

    /// Sojourn time of a packet.
    pub(super) fn sojourn(&self, waiting: &QueuedPacket) -> Span {
        self.ctx.now.since(waiting.since)
    }

    /// Drops a packet.
    pub(super) fn drop(&mut self, gone: &QueuedPacket, reason: DropReason) {
        self.metrics.on_dropped(reason);
        self.ctx.drop(gone.packet, reason, self.link);
    }

    /// Marks a packet CE; false if its transport is not ECN-capable (RFC 3168 §5).
    #[inline(never)]
    pub(crate) fn mark(&mut self, waiting: &QueuedPacket) -> bool {
        match self.packet(waiting).ecn() {
            Ecn::NotEct => return false,
            // Another queue marked it: one mark, counted once.
            Ecn::Ce => {}
            Ecn::Ect0 | Ecn::Ect1 => {
                self.metrics.marks += 1;
                self.ctx.mark(waiting.packet, self.link);
            }
        }
        true
    }
}
