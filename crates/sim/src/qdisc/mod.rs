//! Queue disciplines: which packets wait for a transmitter, which are dropped, and which are marked.
//!
//! The packet in transmission is not in the queue. A new discipline: one file, one variant, one of `Queue` in
//! `scenario/queue.rs`.

mod ahead;
mod autorate;
mod cake;
mod cobalt;
mod codel;
mod context;
mod drop_tail;
mod drr;
mod dualpi2;
mod fifo;
mod fq;
mod fq_codel;
mod fq_pie;
mod htb;
mod pie;
mod policer;
mod priority;
mod red;
mod report;
mod rounds;
mod shaping;
mod tbf;
mod token_bucket;

#[cfg(test)]
mod bench;

use ahead::Ahead;
use cake::Cake;
use cobalt::CobaltQueue;
use codel::Codel;
pub(crate) use context::QueueContext;
use drop_tail::DropTail;
use drr::Drr;
use dualpi2::DualPi2;
pub(crate) use fifo::{Limit, QueuedPacket};
use fq::Fq;
use fq_codel::FqCodel;
use fq_pie::FqPie;
use htb::Htb;
use pie::Pie;
use policer::Policer;
use priority::Priority;
use red::{Choke, Red};
pub use report::{BandReport, DualPi2Report, FqCodelReport, HtbClassReport, QueueReport, TinReport};
pub(crate) use report::{HostBytes, QueueSample};
use tbf::Tbf;

use tcp::rng::Rng;
use tcp::units::{Bytes, Rate, Span, Time};

use crate::ids::FlowId;
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
    /// Drops by the average length, and arrivals with a packet of their own flow.
    Choke(Box<Choke>),
    /// Drops by the minimum sojourn time of an interval.
    Codel(Box<Codel>),
    /// The control of a queue of CAKE, alone.
    Cobalt(Box<CobaltQueue>),
    /// A queue for each flow, each with CoDel.
    FqCodel(Box<FqCodel>),
    /// Drops with a probability that a controller of the queueing delay sets.
    Pie(Box<Pie>),
    /// A queue for each flow, each with PIE.
    FqPie(Box<FqPie>),
    /// A queue for each flow, host or hash, served in turn by bytes: DRR and SFQ.
    Drr(Box<Drr>),
    /// A queue for each flow, served in turn, each no faster than a rate.
    Fq(Box<Fq>),
    /// Holds packets until a token bucket has their tokens.
    Tbf(Box<Tbf>),
    /// Drops or marks what exceeds a token bucket.
    Policer(Box<Policer>),
    /// Bands, the first of which goes first.
    Priority(Box<Priority>),
    /// A shaper with tins, a queue for each flow, fairness among hosts and COBALT.
    Cake(Box<Cake>),
    /// Two coupled queues, for scalable and for classic flows.
    DualPi2(Box<DualPi2>),
    /// Token buckets of classes, which lend to one another.
    Htb(Box<Htb>),
    /// One inside another that it cannot be asked by without sending.
    Ahead(Box<Ahead>),
}

/// The answer of a discipline that is asked for a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Dequeued {
    /// This packet is next.
    Ready(QueuedPacket),
    /// None may start before this time, which is later than now.
    Later(Time),
    /// None waits.
    Empty,
}

impl From<Option<QueuedPacket>> for Dequeued {
    #[inline]
    fn from(next: Option<QueuedPacket>) -> Dequeued {
        next.map_or(Dequeued::Empty, Dequeued::Ready)
    }
}

impl Qdisc {
    /// The empty queue before a transmitter of this rate and delay; `rng` is for this queue alone.
    pub(crate) fn new(queue: &Queue, rate: Rate, delay: Span, rng: Rng) -> Qdisc {
        match queue {
            Queue::DropTail(def) => Qdisc::DropTail(DropTail::new(def)),
            Queue::Red(def) => Qdisc::Red(Box::new(Red::new(def, rate, delay, rng))),
            Queue::Choke(def) => Qdisc::Choke(Box::new(Choke::new(def, rate, delay, rng))),
            Queue::Cobalt(def) => Qdisc::Cobalt(Box::new(CobaltQueue::new(def, rate, rng))),
            Queue::Codel(def) => Qdisc::Codel(Box::new(Codel::new(def))),
            Queue::FqCodel(def) => Qdisc::FqCodel(Box::new(FqCodel::new(def, rng))),
            Queue::Pie(def) => Qdisc::Pie(Box::new(Pie::new(def, rng))),
            Queue::FqPie(def) => Qdisc::FqPie(Box::new(FqPie::new(def, rng))),
            Queue::Drr(def) => Qdisc::Drr(Box::new(Drr::new(def))),
            Queue::Sfq(def) => Qdisc::Drr(Box::new(Drr::sfq(def, rng))),
            Queue::Fq(def) => Qdisc::Fq(Box::new(Fq::new(def))),
            Queue::Tbf(def) => Qdisc::Tbf(Box::new(Tbf::new(def, rate, delay, rng))),
            Queue::Policer(def) => Qdisc::Policer(Box::new(Policer::new(def, rate, delay, rng))),
            Queue::Priority(def) => Qdisc::Priority(Box::new(Priority::new(def, rate, delay, rng))),
            Queue::Cake(def) => Qdisc::Cake(Box::new(Cake::new(def, rng))),
            Queue::DualPi2(def) => Qdisc::DualPi2(Box::new(DualPi2::new(def, rate, rng))),
            Queue::Htb(def) => Qdisc::Htb(Box::new(Htb::new(def, rate, delay, rng))),
        }
    }

    /// The same, for another discipline that looks at its packets before it takes them.
    fn inside(queue: &Queue, rate: Rate, delay: Span, rng: Rng) -> Qdisc {
        match Qdisc::new(queue, rate, delay, rng) {
            inner @ (Qdisc::Cake(_) | Qdisc::Htb(_) | Qdisc::FqPie(_) | Qdisc::Cobalt(_)) => {
                Qdisc::Ahead(Box::new(Ahead::new(inner)))
            }
            inner => inner,
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
            Qdisc::Choke(queue) => queue.enqueue(ctx, arrival),
            Qdisc::Cobalt(queue) => queue.enqueue(ctx, arrival),
            Qdisc::Pie(queue) => queue.enqueue(ctx, arrival),
            Qdisc::FqPie(queue) => queue.enqueue(ctx, arrival),
            Qdisc::Drr(queue) => queue.enqueue(ctx, arrival),
            Qdisc::Fq(queue) => queue.enqueue(ctx, arrival),
            Qdisc::Tbf(queue) => queue.enqueue(ctx, arrival),
            Qdisc::Policer(queue) => queue.enqueue(ctx, arrival),
            Qdisc::Priority(queue) => queue.enqueue(ctx, arrival),
            Qdisc::Cake(queue) => queue.enqueue(ctx, arrival),
            Qdisc::DualPi2(queue) => queue.enqueue(ctx, arrival),
            Qdisc::Htb(queue) => queue.enqueue(ctx, arrival),
            Qdisc::Ahead(queue) => queue.inner.enqueue(ctx, arrival),
        }
    }

    /// Returns the next packet to transmit, or when there will be one. Others may be dropped before it.
    #[inline]
    pub(crate) fn dequeue(&mut self, ctx: &mut QueueContext<'_>) -> Dequeued {
        match self {
            Qdisc::DropTail(queue) => queue.waiting.pop().into(),
            Qdisc::Red(queue) => queue.waiting.pop().into(),
            Qdisc::Codel(queue) => queue.dequeue(ctx).into(),
            Qdisc::FqCodel(queue) => queue.dequeue(ctx).into(),
            Qdisc::Choke(queue) => queue.red.waiting.pop().into(),
            Qdisc::Cobalt(queue) => queue.dequeue(ctx).into(),
            Qdisc::Pie(queue) => queue.dequeue(ctx).into(),
            Qdisc::FqPie(queue) => queue.dequeue(ctx).into(),
            Qdisc::Drr(queue) => queue.dequeue(),
            Qdisc::Fq(queue) => queue.dequeue(ctx),
            Qdisc::Tbf(queue) => queue.dequeue(ctx),
            Qdisc::Policer(queue) => queue.inner.dequeue(ctx),
            Qdisc::Priority(queue) => queue.dequeue(ctx),
            Qdisc::Cake(queue) => queue.dequeue(ctx),
            Qdisc::DualPi2(queue) => queue.dequeue(ctx).into(),
            Qdisc::Htb(queue) => queue.dequeue(ctx),
            Qdisc::Ahead(queue) => queue.dequeue(ctx),
        }
    }

    /// What `dequeue` would return now, after the drops that come first: these happen. The packet stays in the queue.
    pub(crate) fn peek(&mut self, ctx: &mut QueueContext<'_>) -> Dequeued {
        match self {
            Qdisc::DropTail(queue) => queue.waiting.front().copied().into(),
            Qdisc::Red(queue) => queue.waiting.front().copied().into(),
            Qdisc::Codel(queue) => queue.peek(ctx).into(),
            Qdisc::FqCodel(queue) => queue.peek(ctx).into(),
            Qdisc::Choke(queue) => queue.red.waiting.front().copied().into(),
            Qdisc::Pie(queue) => queue.one.waiting.front().copied().into(),
            Qdisc::Drr(queue) => queue.peek(),
            Qdisc::Fq(queue) => queue.peek(ctx.now()),
            Qdisc::Tbf(queue) => queue.peek(ctx),
            Qdisc::Policer(queue) => queue.inner.peek(ctx),
            Qdisc::Priority(queue) => queue.peek(ctx),
            Qdisc::DualPi2(queue) => queue.peek(ctx).into(),
            Qdisc::Ahead(queue) => queue.peek(ctx),
            Qdisc::Cake(_) | Qdisc::Htb(_) | Qdisc::FqPie(_) | Qdisc::Cobalt(_) => {
                unreachable!("inside another queue they are `Ahead`")
            }
        }
    }

    /// Removes the packets for which `wanted` is true; the discipline does not count this as departures.
    pub(crate) fn take(&mut self, wanted: &dyn Fn(&QueuedPacket) -> bool) -> Vec<QueuedPacket> {
        match self {
            Qdisc::DropTail(queue) => queue.waiting.take(wanted),
            Qdisc::Red(queue) => queue.waiting.take(wanted),
            Qdisc::Codel(queue) => queue.take(wanted),
            Qdisc::FqCodel(queue) => queue.take(wanted),
            Qdisc::Choke(queue) => queue.red.waiting.take(wanted),
            Qdisc::Cobalt(queue) => queue.waiting.take(wanted),
            Qdisc::Pie(queue) => queue.one.take(wanted),
            Qdisc::FqPie(queue) => queue.take(wanted),
            Qdisc::Drr(queue) => queue.take(wanted),
            Qdisc::Fq(queue) => queue.take(wanted),
            Qdisc::Tbf(queue) => queue.inner.take(wanted),
            Qdisc::Policer(queue) => queue.inner.take(wanted),
            Qdisc::Priority(queue) => queue.take(wanted),
            Qdisc::Cake(queue) => queue.take(wanted),
            Qdisc::DualPi2(queue) => queue.take(wanted),
            Qdisc::Htb(queue) => queue.take(wanted),
            Qdisc::Ahead(queue) => queue.take(wanted),
        }
    }

    /// Number of packets queued.
    #[inline]
    pub(crate) fn packets(&self) -> u64 {
        match self {
            Qdisc::DropTail(queue) => queue.waiting.packets(),
            Qdisc::Red(queue) => queue.waiting.packets(),
            Qdisc::Codel(queue) => queue.packets(),
            Qdisc::FqCodel(queue) => queue.packets(),
            Qdisc::Choke(queue) => queue.red.waiting.packets(),
            Qdisc::Cobalt(queue) => queue.waiting.packets(),
            Qdisc::Pie(queue) => queue.one.waiting.packets(),
            Qdisc::FqPie(queue) => queue.packets(),
            Qdisc::Drr(queue) => queue.packets(),
            Qdisc::Fq(queue) => queue.packets(),
            Qdisc::Tbf(queue) => queue.inner.packets(),
            Qdisc::Policer(queue) => queue.inner.packets(),
            Qdisc::Priority(queue) => queue.packets(),
            Qdisc::Cake(queue) => queue.packets(),
            Qdisc::DualPi2(queue) => queue.packets(),
            Qdisc::Htb(queue) => queue.packets(),
            Qdisc::Ahead(queue) => queue.packets(),
        }
    }

    /// Bytes queued, link overhead included.
    pub(crate) fn bytes(&self) -> Bytes {
        match self {
            Qdisc::DropTail(queue) => queue.waiting.bytes(),
            Qdisc::Red(queue) => queue.waiting.bytes(),
            Qdisc::Codel(queue) => queue.bytes(),
            Qdisc::FqCodel(queue) => queue.bytes(),
            Qdisc::Choke(queue) => queue.red.waiting.bytes(),
            Qdisc::Cobalt(queue) => queue.waiting.bytes(),
            Qdisc::Pie(queue) => queue.one.waiting.bytes(),
            Qdisc::FqPie(queue) => queue.bytes(),
            Qdisc::Drr(queue) => queue.bytes(),
            Qdisc::Fq(queue) => queue.bytes(),
            Qdisc::Tbf(queue) => queue.inner.bytes(),
            Qdisc::Policer(queue) => queue.inner.bytes(),
            Qdisc::Priority(queue) => queue.bytes(),
            Qdisc::Cake(queue) => queue.bytes(),
            Qdisc::DualPi2(queue) => queue.bytes(),
            Qdisc::Htb(queue) => queue.bytes(),
            Qdisc::Ahead(queue) => queue.bytes(),
        }
    }

    /// The measurement interval begins.
    pub(crate) fn on_warmup_end(&mut self, now: Time) {
        match self {
            Qdisc::Tbf(queue) => queue.inner.on_warmup_end(now),
            Qdisc::Policer(queue) => queue.inner.on_warmup_end(now),
            Qdisc::Priority(queue) => queue.on_warmup_end(now),
            Qdisc::Cake(queue) => queue.on_warmup_end(),
            Qdisc::FqCodel(queue) => queue.on_warmup_end(),
            Qdisc::FqPie(queue) => queue.on_warmup_end(),
            Qdisc::Choke(queue) => queue.matched = 0,
            Qdisc::DualPi2(queue) => queue.on_warmup_end(now),
            Qdisc::Htb(queue) => queue.on_warmup_end(now),
            Qdisc::Ahead(queue) => queue.inner.on_warmup_end(now),
            _ => {}
        }
    }

    /// What it counted until now, beside what every link counts; `None` if that is nothing.
    pub(crate) fn report(&mut self, now: Time) -> Option<QueueReport> {
        match self {
            Qdisc::Tbf(queue) => queue.inner.report(now),
            Qdisc::Policer(queue) => queue.inner.report(now),
            Qdisc::Priority(queue) => Some(queue.report(now)),
            Qdisc::Cake(queue) => Some(queue.report()),
            Qdisc::FqCodel(queue) => Some(QueueReport::FqCodel(queue.rounds.counts)),
            Qdisc::FqPie(queue) => Some(QueueReport::FqCodel(queue.rounds.counts)),
            Qdisc::Choke(queue) => Some(QueueReport::Choke { matched: queue.matched }),
            Qdisc::DualPi2(queue) => Some(queue.report(now)),
            Qdisc::Htb(queue) => Some(queue.report(now)),
            Qdisc::Ahead(queue) => queue.inner.report(now),
            _ => None,
        }
    }

    /// A probing flow has measured a delay: the controllers of shapers set their rates.
    pub(crate) fn on_delay(&mut self, now: Time, flow: FlowId, delay: Span) {
        match self {
            Qdisc::Tbf(queue) => queue.on_delay(now, flow, delay),
            Qdisc::Cake(queue) => queue.on_delay(now, flow, delay),
            Qdisc::Policer(queue) => queue.inner.on_delay(now, flow, delay),
            Qdisc::Ahead(queue) => queue.inner.on_delay(now, flow, delay),
            Qdisc::Priority(queue) => queue.on_delay(now, flow, delay),
            Qdisc::Htb(queue) => queue.on_delay(now, flow, delay),
            _ => {}
        }
    }

    /// What hosts have sent and received through it; `None` if it does not tell them apart.
    pub(crate) fn host_bytes(&self) -> Option<&HostBytes> {
        match self {
            Qdisc::Cake(queue) => Some(&queue.hosts),
            Qdisc::Tbf(queue) => queue.inner.host_bytes(),
            Qdisc::Policer(queue) => queue.inner.host_bytes(),
            Qdisc::Ahead(queue) => queue.inner.host_bytes(),
            _ => None,
        }
    }

    /// What series show of it now.
    pub(crate) fn sample(&mut self, now: Time) -> QueueSample {
        match self {
            Qdisc::Tbf(queue) => queue.inner.sample(now),
            Qdisc::Policer(queue) => queue.inner.sample(now),
            Qdisc::Pie(queue) => queue.sample(now),
            Qdisc::DualPi2(queue) => queue.sample(now),
            Qdisc::Ahead(queue) => queue.inner.sample(now),
            _ => QueueSample::default(),
        }
    }
}
