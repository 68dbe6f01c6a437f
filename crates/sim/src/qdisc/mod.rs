//! Queue disciplines: what waits in front of a transmitter, what is dropped, and what is marked.
//!
//! The packet in transmission is not in the queue. A new discipline: one file, one variant, one of `Queue` in
//! `scenario/queue.rs`.

mod codel;
mod drop_tail;
mod fifo;
mod fq_codel;
mod ledger;
mod pie;
mod red;

#[cfg(test)]
mod bench;

use codel::Codel;
use drop_tail::DropTail;
use fifo::Fifo;
pub(crate) use fifo::Limit;
use fq_codel::FqCodel;
pub(crate) use ledger::Ledger;
use pie::Pie;
use red::Red;

use tcp::rng::Rng;
use tcp::units::{Bytes, Rate, Span, Time};

use crate::ids::PacketId;
use crate::packet::DropReason;
use crate::scenario::Queue;

/// A packet waiting for the transmitter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    /// The packet.
    pub packet: PacketId,
    /// Its size on this link, overhead included.
    pub size: Bytes,
    /// When it came.
    pub since: Time,
}

/// A queue discipline. Those with much state are boxed, one box per link, to keep a link small; their entry points are
/// not inlined, to keep the path of a packet through drop-tail short.
#[derive(Debug)]
pub(crate) enum Qdisc {
    /// First in, first out; what does not fit is dropped.
    DropTail(DropTail),
    /// Drops by the average length.
    Red(Box<Red>),
    /// Drops by the least wait of an interval.
    Codel(Box<Codel>),
    /// A queue for each flow, each under CoDel.
    FqCodel(Box<FqCodel>),
    /// Drops by a probability that a controller of the delay sets.
    Pie(Box<Pie>),
}

impl Qdisc {
    /// The empty queue before a transmitter of this rate and delay. A discipline that draws has `draws` for itself.
    pub(crate) fn new(queue: &Queue, rate: Rate, delay: Span, draws: Rng) -> Qdisc {
        match queue {
            Queue::DropTail(def) => Qdisc::DropTail(DropTail::new(def)),
            Queue::Red(def) => Qdisc::Red(Box::new(Red::new(def, rate, delay, draws))),
            Queue::Codel(def) => Qdisc::Codel(Box::new(Codel::new(def))),
            Queue::FqCodel(def) => Qdisc::FqCodel(Box::new(FqCodel::new(def, draws))),
            Queue::Pie(def) => Qdisc::Pie(Box::new(Pie::new(def, draws))),
        }
    }

    /// Takes a packet in, or says why not. Others may be dropped for it.
    #[inline]
    pub(crate) fn enqueue(&mut self, ledger: &mut Ledger<'_>, arrival: Waiting) -> Result<(), DropReason> {
        match self {
            Qdisc::DropTail(queue) => queue.enqueue(ledger, arrival),
            Qdisc::Red(queue) => queue.enqueue(ledger, arrival),
            Qdisc::Codel(queue) => queue.enqueue(arrival),
            Qdisc::FqCodel(queue) => queue.enqueue(ledger, arrival),
            Qdisc::Pie(queue) => queue.enqueue(ledger, arrival),
        }
    }

    /// Gives the next packet to transmit. Others may be dropped before it; `None` leaves the queue empty.
    #[inline]
    pub(crate) fn dequeue(&mut self, ledger: &mut Ledger<'_>) -> Option<Waiting> {
        match self {
            Qdisc::DropTail(queue) => queue.waiting.pop(),
            Qdisc::Red(queue) => queue.waiting.pop(),
            Qdisc::Codel(queue) => queue.dequeue(ledger),
            Qdisc::FqCodel(queue) => queue.dequeue(ledger),
            Qdisc::Pie(queue) => queue.dequeue(ledger),
        }
    }

    /// Takes the packets out that are wanted, without the discipline's judgement.
    pub(crate) fn take(&mut self, wanted: impl Fn(&Waiting) -> bool) -> Vec<Waiting> {
        match self {
            Qdisc::DropTail(queue) => queue.waiting.take(&wanted),
            Qdisc::Red(queue) => queue.waiting.take(&wanted),
            Qdisc::Codel(queue) => queue.waiting.take(&wanted),
            Qdisc::FqCodel(queue) => queue.take(&wanted),
            Qdisc::Pie(queue) => queue.take(&wanted),
        }
    }

    /// Packets waiting.
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

    /// Bytes waiting, link overhead included.
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
