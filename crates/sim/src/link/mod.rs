//! A simplex point-to-point link: queue discipline, transmitter, propagation, loss.
//!
//! - here: entry, transmission and arrival at a constant rate; changes of the link
//! - `fast_path.rs`: lookahead, which schedules start and arrival at once
//! - `service_path.rs`: links with a service or effects
//! - `service/`: how a transmitter with a service serves
//! - `marking.rs`: what happens to headers at the entrance
//! - `parts.rs`: a link whose ends are in several parts of a run
//!
//! An idle transmitter schedules the arrival at the far end at once; `LinkReady` exists only while packets are queued, and
//! not at all on the fast path.

mod acks;
mod delay;
pub(crate) mod draw;
pub(crate) mod effects;
mod fast_path;
pub(crate) mod loss;
pub(crate) mod marking;
mod parts;
pub(crate) mod service;
mod service_path;
mod virtual_queue;

use tcp::rng::Rng;
use tcp::units::{Bytes, Rate, Span, Time};

use crate::engine::context::Context;
use crate::engine::event::Event;
use crate::engine::trace::Record;
use crate::ids::{LinkId, NodeId, PacketId};
use crate::link::loss::Loss;
use crate::metrics::LinkMetrics;
use crate::orbit::shared_downlink::SharedDownlink;
use crate::packet::DropReason;
use crate::qdisc::{Dequeued, HostBytes, Qdisc, QueueContext, QueueReport, QueueSample, QueuedPacket};

pub(crate) use delay::Delay;
use effects::Effects;
use marking::Marking;
use service::Service;
use service_path::InOrder;
pub(crate) use virtual_queue::Departure;
use virtual_queue::VirtualQueue;

/// A change of a link that the scenario schedules.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum LinkChange {
    Up,
    Down,
    Rate(Rate),
    Delay(Span),
    /// A new delay of a new path: what is sent later may arrive earlier.
    Path(Span),
}

/// A simplex link. The order of the fields matters: with a thousand flows the links to their hosts are not in the cache, and
/// what a packet touches of one lies in four cache lines: next hop, transmission, virtual queue, metrics.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Link {
    /// The transmitter is busy until this time.
    free_at: Time,
    in_flight: u32,
    /// Packets in flight that are lost because the link went down under them; they arrive first.
    lost_in_flight: u32,
    /// Bytes of link framing per packet.
    overhead: Bytes,
    /// The loss model; `None` where nothing is lost.
    lossy: Option<Box<Lossy>>,
    id: LinkId,
    /// The far end; `None` for a downlink that the terminals of a satellite share, whose far end is the destination of each packet.
    pub(crate) to: Option<NodeId>,
    pub(crate) upstream: Upstream,
    pub(crate) up: bool,
    /// The queue of the fast path, in place of `queue`.
    virtual_queue: Option<VirtualQueue>,
    pub(crate) rate: Rate,
    pub(crate) from: NodeId,
    pub(crate) metrics: LinkMetrics,
    delay: Delay,
    /// When the pending `LinkReady` is due; one at another time is stale.
    ready_at: Option<Time>,
    /// Keeps packets in order when the delay shrinks.
    last_arrival: Time,
    queue: Qdisc,
    /// How the transmitter serves, if not at a constant rate; a link with effects has one always.
    pub(crate) service: Option<Box<Service>>,
    pub(crate) effects: Option<Box<Effects>>,
    /// What it does to the headers of packets that enter; `None` where it does nothing.
    pub(crate) marking: Option<Box<Marking>>,
    /// The packets in flight that have no events yet, over a link with a service and without effects.
    in_order: Option<Box<InOrder>>,
}

/// A medium that loses packets.
#[derive(Debug)]
struct Lossy {
    loss: Loss,
    rng: Rng,
}

/// How packets pass from one link to the next without an event: `network/fast_path.rs`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Upstream {
    /// The only link whose packets enter this one.
    pub(crate) only: Option<LinkId>,
    /// Packets whose arrival before this link is an event still to come: nothing overtakes them.
    pub(crate) pending_arrivals: u32,
    /// This link is the only one upstream of some other.
    pub(crate) feeds_fast_links: bool,
    /// The far end of this link is in another part of the world ([`crate::parallel`]).
    pub(crate) leaves: bool,
}

/// What a link is made of.
#[derive(Debug)]
pub(crate) struct LinkParts {
    pub(crate) from: NodeId,
    pub(crate) to: Option<NodeId>,
    pub(crate) rate: Rate,
    pub(crate) delay: Delay,
    pub(crate) overhead: Bytes,
    pub(crate) queue: Qdisc,
    pub(crate) loss: Loss,
    pub(crate) loss_rng: Rng,
    pub(crate) service: Option<Box<Service>>,
    pub(crate) effects: Option<Box<Effects>>,
    pub(crate) marking: Option<Box<Marking>>,
}

impl Link {
    pub(crate) fn new(id: LinkId, parts: LinkParts) -> Link {
        let LinkParts { from, to, rate, delay, overhead, queue, loss, loss_rng, service, effects, marking } = parts;
        Link {
            id,
            from,
            to,
            rate,
            delay,
            overhead,
            queue,
            in_order: (service.is_some() && effects.is_none()).then(Box::default),
            service,
            effects,
            marking,
            lossy: (!matches!(loss, Loss::None)).then(|| Box::new(Lossy { loss, rng: loss_rng })),
            upstream: Upstream::default(),
            up: true,
            free_at: Time::ZERO,
            ready_at: None,
            last_arrival: Time::ZERO,
            in_flight: 0,
            lost_in_flight: 0,
            virtual_queue: None,
            metrics: LinkMetrics::default(),
        }
    }

    /// Makes this the downlink of all terminals of a satellite.
    pub(crate) fn share(&mut self, downlink: SharedDownlink) {
        (self.to, self.delay) = (None, Delay::Shared(Box::new(downlink)));
    }

    /// Number of packets queued, held back and in flight.
    pub(crate) fn holds(&self) -> u64 {
        let served = self.service.as_ref().map_or(0, |service| service.holds());
        let held = self.effects.as_ref().map_or(0, |effects| effects.holds());
        self.queue.packets() + u64::from(self.in_flight) + served + held
    }

    /// Propagation delay to `destination` of a transmission that starts now.
    pub(crate) fn delay(&self, now: Time, destination: NodeId) -> Span {
        self.delay.at(now, destination)
    }

    /// How long a packet is in transmission.
    pub(crate) fn transmission_time(&self, size: Bytes) -> Span {
        self.rate.transmission_time(self.on_link(size))
    }

    /// Time to transmit so many packets of one size, and then a last one of another.
    pub(crate) fn train_time(&self, size: Bytes, packets: u64, last: Bytes) -> Span {
        self.rate.transmission_time(self.on_link(size) * packets + self.on_link(last))
    }

    /// What an IP datagram takes on the link.
    pub(crate) fn on_link(&self, size: Bytes) -> Bytes {
        let framing = self.effects.as_ref().and_then(|effects| effects.framing.as_ref());
        framing.map_or(size + self.overhead, |framing| framing.on_line(size))
    }

    /// Closes the link. Unlike when a link goes down, packets in flight arrive; the caller decides about the queue.
    pub(crate) fn close(&mut self) {
        self.up = false;
        self.ready_at = None;
    }

    /// Removes the queued packets, all or those for one terminal, as if they had never come.
    pub(crate) fn take_queued(&mut self, ctx: &Context, terminal: Option<NodeId>) -> Vec<PacketId> {
        let waiting = self.unqueue(ctx, terminal);
        self.metrics.offered -= waiting.len() as u64;
        waiting
    }

    /// Drops the queued packets, all or those for one terminal.
    pub(crate) fn drop_queued(&mut self, ctx: &mut Context, terminal: Option<NodeId>) {
        for packet in self.unqueue(ctx, terminal) {
            self.drop(ctx, packet, DropReason::LinkDown);
        }
    }

    fn unqueue(&mut self, ctx: &Context, terminal: Option<NodeId>) -> Vec<PacketId> {
        let wanted = |waiting: &QueuedPacket| {
            terminal.is_none_or(|terminal| ctx.packets.forwarding_header(waiting.packet).destination == terminal)
        };
        let gone = self.queue.take(&wanted);
        if let Some(newest) = self.newest_acks() {
            newest.forget();
        }
        self.metrics.queue_shrank(ctx.now, self.queue.packets());
        let held = self.service.as_mut().filter(|_| terminal.is_none()).and_then(|service| service.interrupt());
        held.into_iter().chain(gone.into_iter().map(|waiting| waiting.packet)).collect()
    }

    /// Bytes queued.
    pub(crate) fn queue_bytes(&self) -> Bytes {
        self.virtual_queue.as_ref().map_or(self.queue.bytes(), VirtualQueue::bytes)
    }

    /// What its queue has counted until now, beside what every link counts.
    pub(crate) fn queue_report(&mut self, now: Time) -> Option<QueueReport> {
        self.queue.report(now)
    }

    /// What hosts have sent and received through its queue, if that tells them apart.
    pub(crate) fn host_bytes(&self) -> Option<&HostBytes> {
        self.queue.host_bytes()
    }

    /// What series show of its queue now.
    pub(crate) fn queue_sample(&mut self, now: Time) -> QueueSample {
        self.queue.sample(now)
    }

    /// Enqueues a packet, and transmits it if the transmitter is free.
    #[inline(never)]
    pub(crate) fn send(&mut self, ctx: &mut Context, id: PacketId) {
        self.metrics.offered += 1;
        if !self.up {
            return self.drop(ctx, id, DropReason::LinkDown);
        }
        let size = ctx.packets.forwarding_header(id).size + self.overhead;
        if self.is_lost_at_entrance(ctx, id) {
            return self.drop(ctx, id, DropReason::Loss);
        }
        if self.marking.is_some() {
            self.mark_or_rewrite(ctx, id, self.on_link(ctx.packets.forwarding_header(id).size));
        }
        if self.service.is_some() {
            return self.enter(ctx, id);
        }
        let arrival = QueuedPacket { packet: id, size, since: ctx.now };
        let mut queue_ctx = QueueContext::new(ctx, &mut self.metrics, Some(self.id), self.free_at);
        if let Err(reason) = self.queue.enqueue(&mut queue_ctx, arrival) {
            return self.drop(ctx, id, reason);
        }
        if let Some(ready_at) = self.ready_at {
            self.metrics.queue_grew(ctx.now, self.queue.packets(), self.queue.bytes());
            if ready_at > ctx.now && ctx.now >= self.free_at {
                self.ask_again(ctx);
            }
        } else if ctx.now >= self.free_at {
            self.transmit(ctx);
        } else {
            self.metrics.queue_grew(ctx.now, self.queue.packets(), self.queue.bytes());
            self.await_transmitter(ctx);
        }
    }

    /// The transmitter is free.
    pub(crate) fn on_ready(&mut self, ctx: &mut Context) {
        if self.service.is_some() {
            return self.on_service_ready(ctx);
        }
        if self.ready_at != Some(ctx.now) {
            return;
        }
        self.ready_at = None;
        self.transmit(ctx);
        self.metrics.queue_shrank(ctx.now, self.queue.packets());
    }

    /// The queue holds back its packets before an idle transmitter, and another one has come: it may go first, or earlier.
    #[cold]
    #[inline(never)]
    fn ask_again(&mut self, ctx: &mut Context) {
        self.transmit(ctx);
        if self.queue.packets() == 0 {
            self.ready_at = None;
        }
        self.metrics.queue_shrank(ctx.now, self.queue.packets());
    }

    /// The queue holds back its packets until `at`. An event at another time goes stale.
    #[cold]
    #[inline(never)]
    fn await_queue(&mut self, ctx: &mut Context, at: Time) {
        debug_assert!(at > ctx.now, "the queue of {:?} would be asked for ever", self.id);
        self.metrics.queue_grew(ctx.now, self.queue.packets(), self.queue.bytes());
        if self.ready_at.replace(at) != Some(at) {
            ctx.schedule(at, Event::LinkReady { link: self.id });
        }
    }

    fn await_transmitter(&mut self, ctx: &mut Context) {
        self.ready_at = Some(self.free_at);
        ctx.schedule(self.free_at, Event::LinkReady { link: self.id });
    }

    /// Begins the transmission of the packet at the head of the queue.
    #[inline(never)]
    fn transmit(&mut self, ctx: &mut Context) {
        let mut queue_ctx = QueueContext::new(ctx, &mut self.metrics, Some(self.id), self.free_at);
        let next = match self.queue.dequeue(&mut queue_ctx) {
            Dequeued::Ready(next) => next,
            Dequeued::Empty => return,
            Dequeued::Later(at) => return self.await_queue(ctx, at),
        };
        let transmission = self.rate.transmission_time(next.size);
        self.free_at = ctx.now + transmission;
        self.last_arrival = match &mut self.delay {
            Delay::Fixed(delay) => self.last_arrival.max(self.free_at + *delay),
            Delay::Path(path) => self.last_arrival.max(self.free_at + path.delay(ctx.now)),
            Delay::Shared(downlink) => {
                downlink.arrival(ctx.packets.forwarding_header(next.packet).destination, ctx.now, self.free_at)
            }
        };
        self.in_flight += 1;
        self.metrics.on_transmission(next.size, transmission, ctx.now.since(next.since));
        ctx.note_wait(self.id, next.packet, next.since);
        if ctx.sink.is_some() {
            let packet = ctx.packets.get(next.packet);
            ctx.record(&Record::Transmitted { packet: &packet, link: self.id });
        }
        if self.upstream.leaves && ctx.is_elsewhere(self.to, next.packet) {
            self.leave(ctx, Departure { starts: ctx.key(), arrives: self.last_arrival }, next.packet);
        } else {
            ctx.schedule(self.last_arrival, Event::Arrive { link: self.id, packet: next.packet });
        }
        if self.queue.packets() > 0 || ctx.keeps_doubles() {
            self.await_transmitter(ctx);
        }
    }

    /// A packet reaches the far end; false if it is lost.
    #[inline]
    pub(crate) fn on_arrive(&mut self, ctx: &mut Context, id: PacketId) -> bool {
        self.in_flight -= 1;
        if self.in_flight > 0 {
            self.schedule_next_arrival(ctx);
        }
        let may_lose = self.lost_in_flight > 0 || self.effects.is_some() || self.lossy.is_some();
        if may_lose && self.loses(ctx, id) {
            return false;
        }
        self.metrics.delivered += 1;
        true
    }

    fn drop(&mut self, ctx: &mut Context, id: PacketId, reason: DropReason) {
        self.drop_at(ctx, ctx.now, id, reason);
    }

    #[inline(never)]
    fn drop_at(&mut self, ctx: &mut Context, at: Time, id: PacketId, reason: DropReason) {
        self.metrics.on_dropped(reason);
        ctx.drop_at(at, id, reason, Some(self.id));
    }

    /// Carries out a scheduled change.
    #[inline(never)]
    pub(crate) fn on_change(&mut self, ctx: &mut Context, change: LinkChange) {
        match change {
            LinkChange::Up => self.up = true,
            LinkChange::Rate(rate) => self.rate = rate,
            LinkChange::Delay(delay) => self.delay = Delay::Fixed(delay),
            LinkChange::Path(delay) => (self.delay, self.last_arrival) = (Delay::Fixed(delay), Time::ZERO),
            LinkChange::Down => {
                (self.up, self.lost_in_flight) = (false, self.in_flight);
                self.free_at = ctx.now;
                self.ready_at = None;
                self.drop_queued(ctx, None);
                if self.service.is_some() {
                    self.on_effects_down(ctx);
                }
            }
        }
    }
}
