//! Packets over links with lookahead (`link/fast_path.rs`): one event where a packet enters a link with several
//! links upstream, none where there is only one, for packets leave the one and enter the other in the same order.
//!
//! Metrics are updated before a packet arrives, and must not be observed in between: near a sample or the end of the run a
//! packet takes one event per hop.

use super::Network;
use super::parts::arrival_of;
use crate::engine::context::Context;
use crate::engine::event::{Event, EventKey};
use crate::ids::{LinkId, NodeId, PacketId};
use crate::link::Departure;
use crate::packet::ForwardingHeader;

/// The links upstream of a link.
#[derive(Clone, Copy, Default)]
struct Feeder {
    only: Option<LinkId>,
    /// There is more than one, or a host.
    several: bool,
}

impl Network {
    /// Enables the fast path for packets between these ends, where no link is `changing`. Without a list of ends, because it would
    /// be too long, every packet has an event on every link.
    pub(crate) fn enable_fast_path(&mut self, changing: &[LinkId], ends: Option<&[(NodeId, NodeId)]>) {
        // Packets leave a wireless channel at events of other ranks.
        if !self.channels.is_empty() {
            return;
        }
        for (index, link) in self.links.iter_mut().enumerate() {
            // Room in shared memory depends on the other queues of that moment.
            let shares = self.shared_buffers.as_ref().is_some_and(|memories| memories.of(link.from).is_some());
            if !shares && changing.binary_search(&LinkId(index as u32)).is_err() {
                link.enable_fast_path();
            }
        }
        // The next hop is chosen when a packet has come, with routes by flow and where routes change.
        let Some(ends) = ends.filter(|_| changing.is_empty() && self.flow_routes.is_none()) else { return };
        let mut feeders = vec![Feeder::default(); self.links.len()];
        for (source, sink) in ends {
            self.note_feeders(&mut feeders, *source, *sink);
            self.note_feeders(&mut feeders, *sink, *source);
        }
        for (index, feeder) in feeders.iter().enumerate() {
            let by_one = !feeder.several && self.links[index].has_fast_path();
            let only = feeder.only.filter(|only| by_one && self.links[only.index()].is_certain());
            self.links[index].upstream.only = only;
            if let Some(only) = only {
                self.links[only.index()].upstream.feeds_fast_links = true;
            }
        }
    }

    /// Notes the links upstream along the path of a packet.
    fn note_feeders(&self, feeders: &mut [Feeder], from: NodeId, to: NodeId) {
        let (mut here, mut before) = (from, None);
        while here != to {
            let Some(link) = self.routes.next(here, to) else { return };
            let feeder = &mut feeders[link.index()];
            feeder.several |= before.is_none() || (feeder.only.is_some() && feeder.only != before);
            feeder.only = before;
            before = Some(link);
            here = self.links[link.index()].to.unwrap_or(to);
        }
    }

    /// Removes from all virtual queues the packets that have left them before `now`.
    pub(crate) fn advance_to(&mut self, now: EventKey) {
        self.links.iter_mut().for_each(|link| link.advance_to(now));
    }

    /// Forwards a packet over `link`, and over the links of which only that one is upstream.
    pub(super) fn forward(&mut self, ctx: &mut Context, mut link: LinkId, id: PacketId, header: ForwardingHeader) {
        let ForwardingHeader { destination, size, mut ttl, .. } = header;
        let mut now = ctx.key();
        let pending = &mut self.links[link.index()].upstream.pending_arrivals;
        *pending = pending.saturating_sub(1);
        loop {
            let here = &mut self.links[link.index()];
            let Some(departure) = here.forward(ctx, now, id, size) else { return };
            let node = here.to.unwrap_or(destination);
            // The last node that may forward it lets it expire at the next, where the event of its arrival sees to it.
            if !here.upstream.feeds_fast_links || ttl <= 1 || node == destination {
                return here.schedule_arrival(ctx, departure, id);
            }
            let Some(next) = self.routes.next(node, destination) else {
                return here.schedule_arrival(ctx, departure, id);
            };
            if !self.passes(ctx, [link, next], departure) {
                return self.links[link.index()].schedule_arrival(ctx, departure, id);
            }
            self.links[link.index()].metrics.delivered += 1;
            self.nodes[node.index()].forwarded += 1;
            ctx.packets.decrement_ttl(id);
            ttl -= 1;
            now = EventKey::new(departure.arrives, Event::ARRIVE);
            link = next;
        }
    }

    /// True if a packet passes from `link` to `next` without an event.
    #[inline]
    fn passes(&mut self, ctx: &Context, [link, next]: [LinkId; 2], departure: Departure) -> bool {
        let downstream = &mut self.links[next.index()];
        if downstream.upstream.only != Some(link) {
            return false;
        }
        let at = departure.arrives;
        if downstream.upstream.pending_arrivals > 0 || downstream.earliest_start(at) >= ctx.next_observation {
            self.hold_up([link, next], departure);
            return false;
        }
        true
    }

    /// The arrival of a packet before `next` is an event.
    #[inline]
    pub(super) fn hold_up(&mut self, [link, next]: [LinkId; 2], departure: Departure) {
        self.links[next.index()].upstream.pending_arrivals += 1;
        if let Some(last) = self.last_held_up.get_mut(next.index()) {
            *last = arrival_of(link, departure);
        }
    }
}
