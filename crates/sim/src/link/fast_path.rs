//! Lookahead of a link: after the arrival of a packet a first-in first-out queue before a transmitter of constant rate decides
//! nothing more, so that the start of its transmission and its arrival are known at once. The transmitter needs no events of
//! its own; metrics are updated when the packet is accepted, and corrected if the run ends before its transmission.
//!
//! Exact, as `tests/event_modes.rs` proves: an arrival is scheduled in the order in which `Link::transmit` would do it.

use tcp::units::{Bytes, Span, Time};

use super::virtual_queue::{Departure, InFlight, Queued, VirtualQueue};
use super::{Delay, Link};
use crate::engine::context::Context;
use crate::engine::event::EventKey;
use crate::engine::trace::Record;
use crate::ids::{FlowId, PacketId};
use crate::link::loss::Loss;
use crate::metrics::Waited;
use crate::packet::DropReason;
use crate::qdisc::Qdisc;

impl Link {
    /// Enables lookahead if queue and delay allow it. Not for a link that changes during the run.
    pub(crate) fn enable_fast_path(&mut self) {
        if let (Qdisc::DropTail(queue), Delay::Fixed(delay)) = (&self.queue, &self.delay)
            && !queue.marks()
            && self.service.is_none()
            && self.marking.is_none()
        {
            self.virtual_queue = Some(VirtualQueue::new(queue.limit(), *delay));
        }
    }

    /// True if lookahead is enabled.
    #[inline]
    pub(crate) fn has_fast_path(&self) -> bool {
        self.virtual_queue.is_some()
    }

    /// True if every [`Departure`] becomes an arrival: the medium loses nothing.
    pub(crate) fn is_certain(&self) -> bool {
        self.has_fast_path() && self.lossy.as_ref().is_none_or(|lossy| matches!(lossy.loss, Loss::Nth { .. }))
    }

    /// The earliest start of the transmission of a packet that arrives at `at`.
    #[inline]
    pub(crate) fn earliest_start(&self, at: Time) -> Time {
        self.free_at.max(at)
    }

    /// Removes from the virtual queue the packets that have left it before `now`.
    pub(crate) fn advance_to(&mut self, now: EventKey) {
        if let Some(queue) = &mut self.virtual_queue {
            queue.advance_to(now);
        }
    }

    /// The measurement interval begins. The packets in the queue belong to it, but not the time they have waited.
    pub(crate) fn on_warmup_end(&mut self, now: Time) {
        self.metrics.on_warmup_end(now, self.queue_bytes());
        if let Some(service) = &mut self.service {
            service.on_warmup_end(now);
        }
        self.queue.on_warmup_end(now);
        let Some(queue) = &self.virtual_queue else { return };
        self.metrics.max_queue = queue.waiting.len() as u64;
        for (Queued { starts, since, size }, transmission) in queue.scheduled(self.free_at) {
            self.metrics.on_transmission(size, transmission, starts.since(since));
            self.metrics.correct_area(Span::ZERO, now.since(since));
        }
    }

    /// A flow that probes for controllers of this link's shapers has measured a delay.
    pub(crate) fn on_delay(&mut self, now: Time, flow: FlowId, delay: Span) {
        self.queue.on_delay(now, flow, delay);
    }

    /// The transmissions of the measurement interval that have begun, and how long their packets waited.
    pub(crate) fn waited(&self) -> Waited {
        let mut waited = Waited { packets: self.metrics.transmitted, sum: self.metrics.waited };
        if let Some(queue) = &self.virtual_queue {
            for (Queued { starts, since, .. }, _) in queue.scheduled(self.free_at) {
                waited.packets -= 1;
                waited.sum = waited.sum.saturating_sub(starts.since(since));
            }
        }
        waited
    }

    /// The run ends: transmissions that have not begun, but were counted when their packets came, are uncounted.
    pub(crate) fn finalize(&mut self, now: Time) {
        let Some(queue) = &self.virtual_queue else { return };
        for (Queued { starts, since, size }, transmission) in queue.scheduled(self.free_at) {
            self.metrics.uncount(size, transmission, starts.since(since));
            self.metrics.correct_area(now.since(since), Span::ZERO);
        }
        self.metrics.correct_area(self.metrics.waited, Span::ZERO);
    }

    /// Accepts a packet of `size` at `now`, which never decreases from call to call; `None` if the packet is dropped.
    #[inline]
    pub(crate) fn forward(&mut self, ctx: &mut Context, now: EventKey, id: PacketId, size: Bytes) -> Option<Departure> {
        self.metrics.offered += 1;
        let size = size + self.overhead;
        if self.is_lost_at_entrance(ctx, id) {
            self.drop_at(ctx, now.time(), id, DropReason::Loss);
            return None;
        }
        let Link { virtual_queue: Some(queue), metrics, free_at, rate, .. } = self else { return None };
        let Some(starts) = queue.reserve(now, size, *free_at, [&mut metrics.max_queue, &mut metrics.max_queue_bytes.0])
        else {
            self.drop_at(ctx, now.time(), id, DropReason::Queue);
            return None;
        };
        if queue.last.0 != size {
            queue.last = (size, rate.transmission_time(size));
        }
        let (begins, transmission) = (starts.time(), queue.last.1);
        metrics.on_transmission(size, transmission, begins.since(now.time()));
        *free_at = begins + transmission;
        let arrives = *free_at + queue.delay;
        if ctx.sink.is_some() {
            self.record(ctx, begins, id);
        }
        Some(Departure { starts, arrives })
    }

    #[cold]
    #[inline(never)]
    fn record(&self, ctx: &mut Context, at: Time, id: PacketId) {
        let packet = ctx.packets.get(id);
        ctx.record_at(at, &Record::Transmitted { packet: &packet, link: self.id });
    }

    /// Puts an accepted packet in flight: its arrival is scheduled, now or once the packets before it have arrived.
    #[inline]
    pub(crate) fn schedule_arrival(&mut self, ctx: &mut Context, departure: Departure, id: PacketId) {
        self.in_flight += 1;
        if self.in_flight == 1 {
            ctx.schedule_arrival(departure.starts, departure.arrives, self.id, id);
        } else if self.upstream.leaves {
            self.leave(ctx, departure, id);
        } else if let Some(queue) = &mut self.virtual_queue {
            queue.in_flight.push_back(InFlight { departure, id });
        }
    }

    /// Schedules the next arrival after one. Events that are equal but for their order of insertion are arrivals over the
    /// same link ([`TieBreak`](crate::engine::event_list::TieBreak)), so that it makes no difference when they are inserted.
    #[inline]
    pub(super) fn schedule_next_arrival(&mut self, ctx: &mut Context) {
        let next = match &mut self.virtual_queue {
            Some(queue) => queue.in_flight.pop_front(),
            None => self.in_order.as_mut().and_then(|in_order| in_order.next()),
        };
        if let Some(InFlight { departure, id }) = next {
            ctx.schedule_arrival(departure.starts, departure.arrives, self.id, id);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::super::virtual_queue::VirtualQueue;
    use super::Link;
    use crate::scenario::Scenario;
    use crate::simulation::Simulation;

    #[test]
    fn what_a_packet_touches_of_a_link_lies_in_four_lines() {
        assert_eq!((offset_of!(Link, virtual_queue), offset_of!(Link, metrics)), (64, 192));
        assert!(size_of::<Option<VirtualQueue>>() <= 128);
    }

    #[test]
    fn the_event_list_holds_links_and_not_the_packets_on_them() {
        let text = r#"{"duration": "2s", "network": {"kind": "dumbbell", "pairs": 2, "flows": 2,
            "bottleneck": {"rate": "500Mbps", "delay": "20ms", "queue": "1000p"}}}"#;
        let mut run = Simulation::new(&Scenario::from_json(text).unwrap(), 1).unwrap();
        let (mut max_packets, mut max_events) = (0, 0);
        while !run.advance(1_000) {
            max_packets = max_packets.max(run.world.ctx.packets.iter().count());
            max_events = max_events.max(run.world.ctx.future_events());
        }
        assert!(max_packets > 1_000, "{max_packets}");
        // An arrival for each of ten links, a wake-up or two for each end, the end of the run.
        assert!(max_events < 30, "{max_events}");
    }
}
