//! Queue disciplines: which packets wait for a transmitter, which are dropped, and which are marked.
//!
//! The packet in transmission is not in the queue. A new discipline: one file, one variant, one of `Queue` in
//! `scenario/queue.rs`.

mod codel;
mod context;
mod drop_tail;
mod fifo;
mod fq_codel;
mod pie;
mod red;

#[cfg(test)]
mod bench;

use codel::Codel;
pub(crate) use context::QueueContext;
use drop_tail::DropTail;
pub(crate) use fifo::{Limit, QueuedPacket};
use fq_codel::FqCodel;
use pie::Pie;
use red::Red;

use tcp::rng::Rng;
use tcp::units::{Bytes, Rate, Span};

use crate::packet::DropReason;
use crate::scenario::Queue;

/// A queue discipline. Those with much state are boxed to keep a link small; their entry points are not inlined, to keep
/// the code path of drop-tail short.
#[derive(Debug)]
pub(crate) enum Qdisc {
    /// First in, first out; an arrival at a full queue is dropped.
    DropTail(DropTail),
    /// Drops by the average length.
    Red(Box<Red>),
    /// Drops by the minimum sojourn time of an interval.
    Codel(Box<Codel>),
    /// A queue for each flow, each with CoDel.
    FqCodel(Box<FqCodel>),
    /// Drops with a probability that a controller of the queueing delay sets.
    Pie(Box<Pie>),
}

impl Qdisc {
    /// The empty queue before a transmitter of this rate and delay; `rng` is for this queue alone.
    pub(crate) fn new(queue: &Queue, rate: Rate, delay: Span, rng: Rng) -> Qdisc {
        match queue {
            Queue::DropTail(def) => Qdisc::DropTail(DropTail::new(def)),
            Queue::Red(def) => Qdisc::Red(Box::new(Red::new(def, rate, delay, rng))),
            Queue::Codel(def) => Qdisc::Codel(Box::new(Codel::new(def))),
            Queue::FqCodel(def) => Qdisc::FqCodel(Box::new(FqCodel::new(def, rng))),
            Queue::Pie(def) => Qdisc::Pie(Box::new(Pie::new(def, rng))),
        }
    }

    /// Enqueues a packet, or returns why not. Others may be dropped for it.
    #[inline]
    pub(crate) fn enqueue(&mut self, ctx: &mut QueueContext<'_>, arrival: QueuedPacket) -> Result<(), DropReason> {
        match self {
            Qdisc::DropTail(queue) => queue.enqueue(ctx, arrival),
            Qdisc::Red(queue) => queue.enqueue(ctx, arrival),
            Qdisc::Codel(queue) => queue.enqueue(arrival),
            Qdisc::FqCodel(queue) => queue.enqueue(ctx, arrival),
            Qdisc::Pie(queue) => queue.enqueue(ctx, arrival),
        }
    }

    /// Returns the next packet to transmit. Others may be dropped before it; `None` if the queue is empty then.
    #[inline]
    pub(crate) fn dequeue(&mut self, ctx: &mut QueueContext<'_>) -> Option<QueuedPacket> {
        match self {
            Qdisc::DropTail(queue) => queue.waiting.pop(),
            Qdisc::Red(queue) => queue.waiting.pop(),
            Qdisc::Codel(queue) => queue.dequeue(ctx),
            Qdisc::FqCodel(queue) => queue.dequeue(ctx),
            Qdisc::Pie(queue) => queue.dequeue(ctx),
        }
    }

    /// Removes the packets for which `wanted` is true; the discipline does not count this as departures.
    pub(crate) fn take(&mut self, wanted: impl Fn(&QueuedPacket) -> bool) -> Vec<QueuedPacket> {
        match self {
            Qdisc::DropTail(queue) => queue.waiting.take(&wanted),
            Qdisc::Red(queue) => queue.waiting.take(&wanted),
            Qdisc::Codel(queue) => queue.waiting.take(&wanted),
            Qdisc::FqCodel(queue) => queue.take(&wanted),
            Qdisc::Pie(queue) => queue.take(&wanted),
        }
    }

    /// Number of packets queued.
    #[inline]
    pub(crate) fn packets(&self) -> u64 {
        match self {
            Qdisc::DropTail(queue) => queue.waiting.packets(),
            Qdisc::Red(queue) => queue.waiting.packets(),
            Qdisc::Codel(queue) => queue.waiting.packets(),
            Qdisc::FqCodel(queue) => queue.packets(),
            Qdisc::Pie(queue) => queue.waiting.packets(),
        }
    }

    /// Bytes queued, link overhead included.
    pub(crate) fn bytes(&self) -> Bytes {
        match self {
            Qdisc::DropTail(queue) => queue.waiting.bytes(),
            Qdisc::Red(queue) => queue.waiting.bytes(),
            Qdisc::Codel(queue) => queue.waiting.bytes(),
            Qdisc::FqCodel(queue) => queue.bytes(),
            Qdisc::Pie(queue) => queue.waiting.bytes(),
        }
    }
}
