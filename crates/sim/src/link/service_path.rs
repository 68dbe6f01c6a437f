//! The path of a packet over a link that has a service or effects; `fast_path.rs` has that over others.

use std::collections::VecDeque;

use tcp::units::{Bytes, Span, Time};

use super::Link;
use super::acks::AckReplacer;
use super::effects::{End, Flight};
use super::service::Beside;
use super::virtual_queue::{Departure, InFlight};
use crate::engine::context::Context;
use crate::engine::event::Event;
use crate::engine::trace::Record;
use crate::ids::PacketId;
use crate::packet::DropReason;
use crate::qdisc::{QueueContext, QueuedPacket};

/// The packets in flight behind one whose arrival is an event. Over a link with a service and without effects they arrive in their
/// order, and where many leave at one instant, an event for each arrival would make the event list sort them all: only the first has
/// one, as on the fast path.
#[derive(Debug, Default)]
pub(super) struct InOrder {
    waiting: VecDeque<InFlight>,
    /// No packet in flight arrives later.
    last_arrival: Time,
}

impl InOrder {
    /// Keeps a packet until those before it have arrived; false if its arrival has to be an event now, as for the `only` one in flight and
    /// for one that overtakes another on a new path.
    pub(super) fn keep(&mut self, flight: InFlight, only: bool) -> bool {
        let arrives = flight.departure.arrives;
        if !only && arrives < self.last_arrival {
            return false;
        }
        self.last_arrival = arrives;
        if !only {
            self.waiting.push_back(flight);
        }
        !only
    }

    /// A packet has arrived: the next, if it was kept.
    pub(super) fn next(&mut self) -> Option<InFlight> {
        self.waiting.pop_front()
    }
}

impl Link {
    /// A packet reaches the far end of a link that may lose it; true if it does.
    #[inline(never)]
    pub(super) fn loses(&mut self, ctx: &mut Context, id: PacketId) -> bool {
        let reason = self.reason_to_lose(ctx, id);
        if let Some(reason) = reason {
            self.drop(ctx, id, reason);
        }
        reason.is_some()
    }

    #[inline]
    fn reason_to_lose(&mut self, ctx: &mut Context, id: PacketId) -> Option<DropReason> {
        if self.lost_in_flight > 0 {
            self.lost_in_flight -= 1;
            return Some(DropReason::LinkDown);
        }
        let size = self.on_link(ctx.packets.forwarding_header(id).size);
        if self.effects.is_some()
            && let Some(reason) = self.land(ctx, id, size)
        {
            return Some(reason);
        }
        let lossy = self.lossy.as_mut()?;
        lossy.loss.at_receiver(ctx.now, size, &mut lossy.rng).then_some(DropReason::Loss)
    }

    /// A packet enters: ACKs may be held back, others copied.
    #[cold]
    #[inline(never)]
    pub(super) fn enter(&mut self, ctx: &mut Context, id: PacketId) {
        let Some(effects) = &mut self.effects else { return self.admit(ctx, id) };
        let decision = effects.acks.as_mut().map(|acks| acks.on_packet(ctx, id));
        let Some(decision) = decision else { return self.enqueue(ctx, id) };
        if let Some(until) = decision.holds_until {
            ctx.schedule(until, Event::LinkReady { link: self.id });
        }
        if let Some(superfluous) = decision.drops {
            self.drop(ctx, superfluous, DropReason::AckFilter);
        }
        decision.passes.into_iter().flatten().for_each(|packet| self.enqueue(ctx, packet));
    }

    fn enqueue(&mut self, ctx: &mut Context, id: PacketId) {
        let is_copied = self.effects.as_mut().is_some_and(|effects| effects.copies_at_entrance(ctx.now));
        let copy = is_copied.then(|| self.copy(ctx, id));
        for packet in [Some(id), copy].into_iter().flatten() {
            if !self.takes_place(ctx, packet) {
                self.admit(ctx, packet);
            }
        }
    }

    /// Enqueues a packet, and asks the service.
    fn admit(&mut self, ctx: &mut Context, packet: PacketId) {
        let size = self.on_link(ctx.packets.forwarding_header(packet).size);
        let arrival = QueuedPacket { packet, size, since: ctx.now };
        let mut queue_ctx = QueueContext::new(ctx, &mut self.metrics, Some(self.id), self.free_at);
        if let Err(reason) = self.queue.enqueue(&mut queue_ctx, arrival) {
            return self.drop_before_queue(ctx, packet, reason);
        }
        if self.newest_acks().is_some() {
            self.note_newest(ctx, packet);
        }
        let awaits = self.service.as_ref().and_then(|service| service.awaits());
        if awaits.is_some_and(|at| at > ctx.now) && self.ready_at == awaits {
            return self.metrics.queue_grew(ctx.now, self.queue.packets(), self.queue.bytes());
        }
        self.serve(ctx);
    }

    #[cold]
    #[inline(never)]
    fn note_newest(&mut self, ctx: &mut Context, packet: PacketId) {
        let dropped = self.metrics.dropped();
        if let Some(newest) = self.newest_acks() {
            newest.on_queued(ctx, packet, dropped);
        }
    }

    /// The pure ACKs in the queue, where newer ones take their places.
    pub(super) fn newest_acks(&mut self) -> Option<&mut AckReplacer> {
        self.effects.as_mut()?.newest.as_mut()
    }

    /// True if a packet is a pure ACK that has taken the place of an older one in the queue, which is dropped.
    fn takes_place(&mut self, ctx: &mut Context, packet: PacketId) -> bool {
        let dropped = self.metrics.dropped();
        let Some(place) = self.newest_acks().and_then(|newest| newest.place_for(ctx, packet, dropped)) else {
            return false;
        };
        ctx.packets.swap(place, packet);
        self.drop_before_queue(ctx, packet, DropReason::AckFilter);
        true
    }

    fn drop_before_queue(&mut self, ctx: &mut Context, packet: PacketId, reason: DropReason) {
        if let Some(newest) = self.newest_acks() {
            newest.on_drop();
        }
        self.drop(ctx, packet, reason);
    }

    /// A copy of a packet, which counts as one that came.
    fn copy(&mut self, ctx: &mut Context, id: PacketId) -> PacketId {
        self.metrics.offered += 1;
        if let Some(effects) = &mut self.effects {
            effects.duplicated += 1;
        }
        ctx.duplicate(id)
    }

    /// The service wanted to be asked, or a packet has been held back for long enough.
    #[cold]
    #[inline(never)]
    pub(super) fn on_service_ready(&mut self, ctx: &mut Context) {
        if let Some(effects) = &mut self.effects {
            let due = effects.acks.as_mut().map_or_else(Vec::new, |acks| acks.take_due(ctx.now));
            let alone = effects.swapped.take_if(|(_, until)| *until <= ctx.now);
            due.into_iter().for_each(|packet| self.enqueue(ctx, packet));
            if let Some((packet, _)) = alone {
                self.fly(ctx, packet, ctx.now, End::Arrives);
            }
        }
        if self.ready_at == Some(ctx.now) {
            self.ready_at = None;
            self.serve(ctx);
        }
    }

    /// A packet leaves the transmitter at `leaves`.
    pub(super) fn depart(&mut self, ctx: &mut Context, next: QueuedPacket, leaves: Time, beside: Beside) {
        ctx.note_wait(self.id, next.packet, next.since);
        if ctx.sink.is_some() {
            let packet = ctx.packets.get(next.packet);
            ctx.record(&Record::Transmitted { packet: &packet, link: self.id });
        }
        self.free_at = self.free_at.max(leaves);
        let destination = ctx.packets.forwarding_header(next.packet).destination;
        let delay = self.delay.at(ctx.now, destination) + beside.delay;
        let Some(effects) = &mut self.effects else {
            self.last_arrival = self.last_arrival.max(leaves + delay);
            return self.fly(ctx, next.packet, self.last_arrival, End::Arrives);
        };
        let Flight { arrives, end, swaps, copied } = effects.fly(leaves, delay, beside.jitter, &mut self.last_arrival);
        if swaps {
            let until = effects.hold(next.packet, arrives);
            return ctx.schedule(until, Event::LinkReady { link: self.id });
        }
        let swapped = effects.swapped.take();
        self.fly(ctx, next.packet, arrives, end);
        if let Some((before, _)) = swapped {
            self.fly(ctx, before, arrives, End::Arrives);
        }
        if copied {
            let copy = self.copy(ctx, next.packet);
            self.fly(ctx, copy, arrives, End::Arrives);
        }
    }

    /// A packet is on its way.
    fn fly(&mut self, ctx: &mut Context, packet: PacketId, arrives: Time, end: End) {
        self.in_flight += 1;
        if let Some(effects) = &mut self.effects {
            effects.in_flight.add(packet, end);
        }
        // Arrivals come first at an instant: one that would be caused at this very instant, without any delay, is a nanosecond late.
        let arrives = arrives.max(ctx.now + Span::from_nanos(1));
        let flight = InFlight { departure: Departure { starts: ctx.key(), arrives }, id: packet };
        let only = self.in_flight == 1;
        if !self.in_order.as_mut().is_some_and(|in_order| in_order.keep(flight, only)) {
            ctx.schedule_arrival(flight.departure.starts, arrives, self.id, packet);
        }
    }

    /// A packet reaches the far end of a link with effects; the reason if it is lost there.
    #[cold]
    #[inline(never)]
    fn land(&mut self, ctx: &mut Context, id: PacketId, size: Bytes) -> Option<DropReason> {
        let effects = self.effects.as_mut()?;
        match effects.in_flight.remove(id) {
            End::LinkDown => Some(DropReason::LinkDown),
            End::Failed => Some(DropReason::Loss),
            End::Arrives => {
                if effects.damages(ctx.now, size) {
                    ctx.packets.damage(id);
                }
                None
            }
        }
    }

    /// The link goes down: what it holds back is lost too.
    #[cold]
    #[inline(never)]
    pub(super) fn on_effects_down(&mut self, ctx: &mut Context) {
        let Some(effects) = &mut self.effects else { return };
        effects.in_flight.on_link_down();
        self.lost_in_flight = 0;
        let acks = effects.acks.as_mut().map_or_else(Vec::new, |acks| acks.take_all());
        let swapped = effects.swapped.take().map(|(packet, _)| packet);
        acks.into_iter().chain(swapped).for_each(|packet| self.drop(ctx, packet, DropReason::LinkDown));
    }
}

#[cfg(test)]
mod tests {
    use tcp::units::Span;

    use super::super::virtual_queue::Departure;
    use super::*;
    use crate::engine::event::EventKey;
    use crate::ids::PacketId;

    #[test]
    fn a_packet_that_overtakes_has_an_event_of_its_own() {
        let mut in_order = InOrder::default();
        let mut keep = |id: u32, ms: u64, only: bool| {
            let departure = Departure { starts: EventKey::default(), arrives: Time::ZERO + Span::from_millis(ms) };
            in_order.keep(InFlight { departure, id: PacketId(id) }, only)
        };
        let kept = [keep(0, 10, true), keep(1, 12, false), keep(2, 11, false), keep(3, 12, false), keep(4, 13, false)];
        assert_eq!(kept, [false, true, false, true, true]);
        let next: Vec<_> = std::iter::from_fn(|| in_order.next()).map(|flight| flight.id).collect();
        assert_eq!(next, [PacketId(1), PacketId(3), PacketId(4)]);
    }
}
