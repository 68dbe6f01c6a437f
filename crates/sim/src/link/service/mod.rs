//! How the transmitter of a link serves its queue, where that is not at a constant rate. A file for each kind.
//!
//! A service is asked at each arrival and at each `LinkReady` that it has set; it takes packets from the queue and lets them leave.
//! Nothing happens while nothing waits.

mod aggregate;
mod boost;
mod opportunities;
mod outage;
mod request_grant;
mod slots;
mod steps;

use tcp::rng::Rng;
use tcp::units::{Bytes, Rate, Span, Time};

use super::Link;
use crate::engine::context::Context;
use crate::engine::event::Event;
use crate::ids::PacketId;
use crate::link::draw::Draw;
use crate::packet::DropReason;
use crate::qdisc::{Dequeued, QueueContext, QueuedPacket};
use crate::scenario::{ServiceDef, WhileOff};

use aggregate::Aggregate;
use boost::Boost;
use opportunities::Opportunities;
use outage::Outage;
use request_grant::RequestGrant;
use slots::Slots;
use steps::{Steps, Varying};

/// A service with its state.
#[derive(Debug)]
pub(crate) struct Service {
    kind: Kind,
    counts: Counts,
    /// What it offered before the measurement interval, in bytes.
    offered_before: f64,
    /// What it had offered at the last sample, in bytes.
    offered_at_sample: f64,
}

/// What a service counts in the measurement interval.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Counts {
    /// Opportunities that have passed, used or not.
    pub(crate) opportunities: u64,
    /// Bytes of packets that were served.
    pub(crate) used: Bytes,
    /// Packets sent together, or granted together.
    pub(crate) bursts: u64,
    /// Packets in them.
    pub(crate) burst_packets: u64,
    /// Grants that have come.
    pub(crate) grants: u64,
}

/// What the summary says of a service.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct ServiceReport {
    pub(crate) counts: Counts,
    /// Bytes that could have been sent in the measurement interval.
    pub(crate) offered: f64,
    /// Bytes of an opportunity; nothing for a service without them.
    pub(crate) opportunity: Option<Bytes>,
    pub(crate) slots: Option<u64>,
}

/// What a service adds to the propagation delay of a packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beside {
    pub(super) delay: Span,
    /// How often jitter counts.
    pub(super) jitter: u64,
}

impl Beside {
    pub(super) const NOTHING: Beside = Beside { delay: Span::ZERO, jitter: 1 };
}

#[derive(Debug)]
enum Kind {
    /// At the rate of the link, which has effects.
    Rate,
    Opportunities(Opportunities),
    Varying(Varying),
    Boost(Boost),
    Outage(Outage),
    Aggregate(Aggregate),
    RequestGrant(RequestGrant),
    Slots(Varying, Box<Slots>),
}

impl Service {
    /// The service of a link of this rate. `rng` is for this service alone.
    pub(crate) fn new(def: &ServiceDef, rate: Rate, rng: Rng) -> Box<Service> {
        let kind = match def {
            ServiceDef::Rate(_) => Kind::Rate,
            ServiceDef::Trace(trace) => Kind::Opportunities(Opportunities::trace(trace)),
            ServiceDef::Poisson(poisson) => {
                Kind::Opportunities(Opportunities::poisson(poisson.rate, poisson.opportunity, rng))
            }
            ServiceDef::RateTrace(trace) => Kind::Varying(Varying::new(Steps::table(trace))),
            ServiceDef::Boost(boost) => Kind::Boost(Boost::new(boost)),
            ServiceDef::OnOff(on_off) => {
                let steps = Steps::on_off(on_off, rate, rng);
                match on_off.while_off {
                    WhileOff::Hold => Kind::Varying(Varying::new(steps)),
                    WhileOff::Drop => Kind::Outage(Outage::new(Varying::new(steps), rate)),
                }
            }
            ServiceDef::Aggregate(def) => {
                let jitter = def.jitter.as_ref().map(|jitter| (Draw::of(jitter), rng));
                Kind::Aggregate(Aggregate::new(def, rate, jitter))
            }
            ServiceDef::RequestGrant(def) => Kind::RequestGrant(RequestGrant::new(def, def.rate.unwrap_or(rate))),
            ServiceDef::Slots(def) => {
                let slots = Slots::new(def, rng);
                Kind::Slots(Varying::new(Steps::slots(slots.clone())), Box::new(slots))
            }
        };
        Box::new(Service { kind, counts: Counts::default(), offered_before: 0.0, offered_at_sample: 0.0 })
    }

    /// The instant before which it can do nothing, whatever comes; a queue that holds its packets back may name another.
    #[inline]
    pub(super) fn awaits(&self) -> Option<Time> {
        if let Kind::Opportunities(kind) = &self.kind { Some(kind.awaits) } else { None }
    }

    /// Packets that it has taken from the queue and that have not left.
    pub(crate) fn holds(&self) -> u64 {
        u64::from(match &self.kind {
            Kind::Opportunities(kind) => kind.under_way.is_some(),
            Kind::Outage(kind) => kind.under_way.is_some(),
            Kind::Aggregate(kind) => kind.held.is_some(),
            Kind::RequestGrant(kind) => kind.next.is_some(),
            Kind::Rate | Kind::Varying(_) | Kind::Boost(_) | Kind::Slots(..) => false,
        })
    }

    /// The link goes down: takes away what it holds, and forgets what it waits for.
    pub(super) fn interrupt(&mut self) -> Option<PacketId> {
        let held = match &mut self.kind {
            Kind::Rate => None,
            Kind::Opportunities(kind) => kind.under_way.take().map(|under_way| under_way.0),
            Kind::Outage(kind) => kind.under_way.take(),
            Kind::Aggregate(kind) => kind.interrupt(),
            Kind::RequestGrant(kind) => kind.interrupt(),
            Kind::Varying(_) | Kind::Boost(_) | Kind::Slots(..) => None,
        };
        held.map(|held| held.packet)
    }

    /// Bytes offered from time 0 to `now`, which never decreases from call to call.
    fn offered(&mut self, now: Time) -> f64 {
        match &mut self.kind {
            Kind::Rate => 0.0,
            Kind::Opportunities(kind) => kind.count(now) as f64 * kind.opportunity.as_f64(),
            Kind::Varying(steps) | Kind::Slots(steps, _) => steps.offered(now),
            Kind::Outage(kind) => kind.steps.offered(now),
            Kind::Boost(kind) => kind.offered(now),
            Kind::Aggregate(kind) => kind.rate.as_bps() as f64 / 8.0 * now.as_secs_f64(),
            Kind::RequestGrant(kind) => kind.rate.as_bps() as f64 / 8.0 * now.as_secs_f64(),
        }
    }

    /// The measurement interval begins.
    pub(super) fn on_warmup_end(&mut self, now: Time) {
        self.counts = Counts::default();
        self.offered_before = self.offered(now);
        if let Kind::Opportunities(kind) = &mut self.kind {
            kind.counted_before = kind.count(now);
        }
        if let Kind::Slots(_, slots) = &mut self.kind {
            slots.begun_before = slots.begun(now);
        }
    }

    /// Mean rate offered since the last call, which was `interval` ago, in bits per second; nothing for a constant rate.
    pub(crate) fn sample(&mut self, now: Time, interval: Span) -> Option<f64> {
        if matches!(self.kind, Kind::Rate) {
            return None;
        }
        let offered = self.offered(now);
        let bytes = offered - std::mem::replace(&mut self.offered_at_sample, offered);
        Some(8.0 * bytes / interval.as_secs_f64())
    }

    /// What the summary says; nothing for a constant rate.
    pub(crate) fn report(&mut self, now: Time) -> Option<ServiceReport> {
        if matches!(self.kind, Kind::Rate) {
            return None;
        }
        let (offered, mut counts) = (self.offered(now) - self.offered_before, self.counts);
        let (mut opportunity, mut slots) = (None, None);
        if let Kind::Opportunities(kind) = &mut self.kind {
            counts.opportunities = kind.count(now) - kind.counted_before;
            opportunity = Some(kind.opportunity);
        }
        if let Kind::Slots(_, kind) = &mut self.kind {
            slots = Some(kind.begun(now) - kind.begun_before);
        }
        Some(ServiceReport { counts, offered, opportunity, slots })
    }
}

impl Link {
    /// Asks the service for what it can do now: packets wait, or it wanted to be asked.
    #[cold]
    #[inline(never)]
    pub(super) fn serve(&mut self, ctx: &mut Context) {
        let Some(mut service) = self.service.take() else { return };
        let Service { kind, counts, .. } = &mut *service;
        match kind {
            Kind::Rate => {
                let rate = self.rate;
                self.serve_one(ctx, counts, |now, size| (now + rate.transmission_time(size), Beside::NOTHING));
            }
            Kind::Opportunities(kind) => kind.serve(self, ctx, counts),
            Kind::Varying(steps) => {
                self.serve_one(ctx, counts, |now, size| (steps.finish(now, size), Beside::NOTHING));
            }
            Kind::Boost(kind) => {
                self.serve_one(ctx, counts, |now, size| (kind.finish(now, size), Beside::NOTHING));
            }
            Kind::Slots(steps, slots) => self.serve_one(ctx, counts, |now, size| {
                let leaves = steps.finish(now, size);
                (leaves, slots.beside(leaves))
            }),
            Kind::Outage(kind) => kind.serve(self, ctx, counts),
            Kind::Aggregate(kind) => kind.serve(self, ctx, counts),
            Kind::RequestGrant(kind) => kind.serve(self, ctx, counts),
        }
        self.service = Some(service);
        self.metrics.queue_grew(ctx.now, self.queue.packets(), self.queue.bytes());
    }

    /// Begins the transmission of a packet, if none is under way, that ends at a time known beforehand.
    fn serve_one(
        &mut self,
        ctx: &mut Context,
        counts: &mut Counts,
        mut finish: impl FnMut(Time, Bytes) -> (Time, Beside),
    ) {
        if ctx.now >= self.free_at {
            let Some(next) = self.dequeue(ctx) else { return };
            let (leaves, beside) = finish(ctx.now, next.size);
            self.free_at = leaves;
            counts.used += next.size;
            self.metrics.busy += self.free_at.since(ctx.now);
            self.depart(ctx, next, leaves, beside);
        }
        if self.queue.packets() > 0 {
            self.ask_at(ctx, self.free_at);
        }
    }

    /// Takes the next packet from the queue: its transmission begins. A queue that holds its packets back is asked again.
    fn dequeue(&mut self, ctx: &mut Context) -> Option<QueuedPacket> {
        let mut queue_ctx = QueueContext::new(ctx, &mut self.metrics, Some(self.id), self.free_at);
        let next = match self.queue.dequeue(&mut queue_ctx) {
            Dequeued::Ready(next) => next,
            Dequeued::Empty => return None,
            Dequeued::Later(at) => {
                self.ask_at(ctx, at);
                return None;
            }
        };
        self.metrics.on_transmission(next.size, Span::ZERO, ctx.now.since(next.since));
        if let Some(newest) = self.newest_acks() {
            newest.on_departure(ctx, next.packet);
        }
        Some(next)
    }

    /// Wants to be asked again at `at`.
    fn ask_at(&mut self, ctx: &mut Context, at: Time) {
        if self.ready_at != Some(at) {
            self.ready_at = Some(at);
            ctx.schedule(at, Event::LinkReady { link: self.id });
        }
    }

    /// Loses the packets queued and the one that the service holds: the link is down, or a pause of the service does that.
    pub(super) fn lose_waiting(&mut self, ctx: &mut Context, held: Option<PacketId>) {
        if let Some(packet) = held {
            self.drop(ctx, packet, DropReason::LinkDown);
        }
        self.drop_queued(ctx, None);
    }
}
