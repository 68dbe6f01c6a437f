//! A simplex point-to-point link: queue discipline, transmitter, propagation, loss.
//!
//! An idle transmitter tells the far end's arrival at once; `LinkReady` exists only while something waits, and not at all
//! where `fast_path.rs` takes the shortcut.

mod fast_path;
pub(crate) mod loss;

use tcp::rng::Rng;
use tcp::units::{Bytes, Rate, Span, Time};

use crate::engine::context::Context;
use crate::engine::event::Event;
use crate::engine::trace::Record;
use crate::ids::{LinkId, NodeId, PacketId};
use crate::link::loss::Loss;
use crate::metrics::LinkMetrics;
use crate::orbit::path::PropagationPath;
use crate::orbit::shared_downlink::SharedDownlink;
use crate::packet::DropReason;
use crate::qdisc::{Ledger, Qdisc, Waiting};

use fast_path::Line;

/// A change that the scenario foresees for a link.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum LinkChange {
    Up,
    Down,
    Rate(Rate),
    Delay(Span),
}

/// How long a bit travels.
#[derive(Debug)]
pub(crate) enum Delay {
    /// Always as long.
    Fixed(Span),
    /// As far as the ends are apart when the transmission starts.
    Path(Box<PropagationPath>),
    /// The same, by the terminal that a packet is for.
    Shared(Box<SharedDownlink>),
}

impl Delay {
    /// For what starts now and is for `destination`.
    fn at(&self, now: Time, destination: NodeId) -> Span {
        match self {
            Delay::Fixed(span) => *span,
            Delay::Path(path) => path.delay(now),
            Delay::Shared(downlink) => downlink.delay(destination, now),
        }
    }
}

/// A simplex link. The order matters: with a thousand flows the links to their hosts come from afar each time, and what a
/// packet touches of one lies in four cache lines: where it goes, how long that takes, what is before it, what is counted.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Link {
    /// The transmitter is busy until then.
    free_at: Time,
    in_flight: u32,
    /// Packets in flight that a break of the link has already killed; they come first.
    doomed: u32,
    /// Bytes of link framing per packet.
    overhead: Bytes,
    /// What the medium loses; none where it loses nothing.
    lossy: Option<Box<Lossy>>,
    id: LinkId,
    /// None: the destination of each packet, one of the terminals of a satellite.
    pub(crate) to: Option<NodeId>,
    pub(crate) feeds: Feeds,
    pub(crate) up: bool,
    /// What waits, where each packet is told at once when it will leave.
    line: Option<Line>,
    pub(crate) rate: Rate,
    pub(crate) from: NodeId,
    pub(crate) metrics: LinkMetrics,
    delay: Delay,
    /// When the pending `LinkReady` is due; one at another time is stale.
    ready_at: Option<Time>,
    /// First in, first out also when the delay shrinks.
    last_arrival: Time,
    queue: Qdisc,
}

/// A medium that loses packets.
#[derive(Debug)]
struct Lossy {
    loss: Loss,
    draws: Rng,
}

/// How packets come to a link from another and go on to others without an event: `network/fast_path.rs`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Feeds {
    /// The one link that feeds this one.
    pub(crate) from: Option<LinkId>,
    /// Packets that come by events and are not there yet: nothing overtakes them.
    pub(crate) awaited: u32,
    /// Some link is fed by this one alone.
    pub(crate) others: bool,
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
    pub(crate) loss_draws: Rng,
}

impl Link {
    pub(crate) fn new(id: LinkId, parts: LinkParts) -> Link {
        let LinkParts { from, to, rate, delay, overhead, queue, loss, loss_draws } = parts;
        Link {
            id,
            from,
            to,
            rate,
            delay,
            overhead,
            queue,
            lossy: (!matches!(loss, Loss::None)).then(|| Box::new(Lossy { loss, draws: loss_draws })),
            feeds: Feeds::default(),
            up: true,
            free_at: Time::ZERO,
            ready_at: None,
            last_arrival: Time::ZERO,
            in_flight: 0,
            doomed: 0,
            line: None,
            metrics: LinkMetrics::default(),
        }
    }

    /// Makes this the one link to all terminals of a satellite.
    pub(crate) fn share(&mut self, downlink: SharedDownlink) {
        (self.to, self.delay) = (None, Delay::Shared(Box::new(downlink)));
    }

    /// Packets waiting and on their way.
    pub(crate) fn holds(&self) -> u64 {
        self.queue.packets() + u64::from(self.in_flight)
    }

    /// Propagation delay of what would start now and is for `destination`.
    pub(crate) fn delay(&self, now: Time, destination: NodeId) -> Span {
        self.delay.at(now, destination)
    }

    /// Takes the link out of use. Unlike a link that breaks, what travels arrives; what waits is for the caller to decide.
    pub(crate) fn close(&mut self) {
        self.up = false;
        self.ready_at = None;
    }

    /// Gives back what waits, all of it or what is for one terminal, as if it had never come.
    pub(crate) fn take_queued(&mut self, ctx: &Context, terminal: Option<NodeId>) -> Vec<PacketId> {
        let waiting = self.unqueue(ctx, terminal);
        self.metrics.offered -= waiting.len() as u64;
        waiting
    }

    /// Drops what waits, all of it or what is for one terminal.
    pub(crate) fn drop_queued(&mut self, ctx: &mut Context, terminal: Option<NodeId>) {
        for packet in self.unqueue(ctx, terminal) {
            self.drop(ctx, packet, DropReason::LinkDown);
        }
    }

    fn unqueue(&mut self, ctx: &Context, terminal: Option<NodeId>) -> Vec<PacketId> {
        let wanted = |waiting: &Waiting| {
            terminal.is_none_or(|terminal| ctx.packets.forwarding_header(waiting.packet).destination == terminal)
        };
        let gone = self.queue.take(wanted);
        self.metrics.queue_shrank(ctx.now, self.queue.packets());
        gone.into_iter().map(|waiting| waiting.packet).collect()
    }

    /// Bytes waiting.
    pub(crate) fn queue_bytes(&self) -> Bytes {
        self.line.as_ref().map_or(self.queue.bytes(), Line::bytes)
    }

    /// Takes a packet to carry.
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
        let arrival = Waiting { packet: id, size, since: ctx.now };
        let mut ledger = Ledger::new(ctx, &mut self.metrics, self.id, self.free_at);
        if let Err(reason) = self.queue.enqueue(&mut ledger, arrival) {
            return self.drop(ctx, id, reason);
        }
        if self.ready_at.is_some() {
            self.metrics.queue_grew(ctx.now, self.queue.packets());
        } else if ctx.now >= self.free_at {
            self.transmit(ctx);
        } else {
            self.metrics.queue_grew(ctx.now, self.queue.packets());
            self.await_transmitter(ctx);
        }
    }

    /// The transmitter is free.
    pub(crate) fn on_ready(&mut self, ctx: &mut Context) {
        if self.ready_at != Some(ctx.now) {
            return;
        }
        self.ready_at = None;
        self.transmit(ctx);
        self.metrics.queue_shrank(ctx.now, self.queue.packets());
    }

    fn await_transmitter(&mut self, ctx: &mut Context) {
        self.ready_at = Some(self.free_at);
        ctx.schedule(self.free_at, Event::LinkReady { link: self.id });
    }

    /// Begins the transmission of the packet at the head of the queue.
    #[inline(never)]
    fn transmit(&mut self, ctx: &mut Context) {
        let mut ledger = Ledger::new(ctx, &mut self.metrics, self.id, self.free_at);
        let Some(next) = self.queue.dequeue(&mut ledger) else { return };
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
        if ctx.sink.is_some() {
            let packet = ctx.packets.get(next.packet);
            ctx.record(&Record::Transmitted { packet: &packet, link: self.id });
        }
        ctx.schedule(self.last_arrival, Event::Arrive { link: self.id, packet: next.packet });
        if self.queue.packets() > 0 {
            self.await_transmitter(ctx);
        }
    }

    /// True if a packet that enters is to be taken out there.
    #[inline]
    fn is_lost_at_entrance(&mut self, ctx: &Context, id: PacketId) -> bool {
        self.lossy
            .as_mut()
            .is_some_and(|lossy| matches!(lossy.loss, Loss::Nth { .. }) && lossy.loss.at_entrance(&ctx.packets.get(id)))
    }

    /// A packet reaches the far end; true if it is handed up.
    pub(crate) fn on_arrive(&mut self, ctx: &mut Context, id: PacketId) -> bool {
        self.in_flight -= 1;
        if self.in_flight > 0 {
            self.expect_next(ctx);
        }
        if self.doomed > 0 {
            self.doomed -= 1;
            self.drop(ctx, id, DropReason::LinkDown);
            return false;
        }
        if let Some(lossy) = &mut self.lossy
            && lossy.loss.at_receiver(ctx.packets.forwarding_header(id).size + self.overhead, &mut lossy.draws)
        {
            self.drop(ctx, id, DropReason::Loss);
            return false;
        }
        self.metrics.delivered += 1;
        true
    }

    #[inline(never)]
    fn drop(&mut self, ctx: &mut Context, id: PacketId, reason: DropReason) {
        self.metrics.drops[reason as usize] += 1;
        ctx.drop(id, reason, Some(self.id));
    }

    /// Carries out a foreseen change.
    #[inline(never)]
    pub(crate) fn on_change(&mut self, ctx: &mut Context, change: LinkChange) {
        match change {
            LinkChange::Up => self.up = true,
            LinkChange::Rate(rate) => self.rate = rate,
            LinkChange::Delay(delay) => self.delay = Delay::Fixed(delay),
            LinkChange::Down => {
                self.up = false;
                self.doomed = self.in_flight;
                self.free_at = ctx.now;
                self.ready_at = None;
                self.drop_queued(ctx, None);
            }
        }
    }
}
