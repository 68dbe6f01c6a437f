//! Packets over links that tell (`link/fast_path.rs`): one event where they come to a link that others feed as well, none where
//! only one link feeds the next, for what comes out of the one goes into the other in order.
//!
//! What happens in between is booked at once, so nobody may look before it has happened: close to a sample or to the
//! end a packet takes its events one by one.

use tcp::units::Time;

use super::Network;
use crate::engine::context::Context;
use crate::engine::event::{Event, Moment};
use crate::ids::{LinkId, NodeId, PacketId};
use crate::packet::ForwardingHeader;

/// What feeds a link.
#[derive(Clone, Copy, Default)]
struct Feeder {
    only: Option<LinkId>,
    /// There is more than one, or a host.
    several: bool,
}

impl Network {
    /// Takes the shortcuts for packets between these ends, where no link is `changing`.
    pub(crate) fn take_shortcuts(&mut self, changing: &[LinkId], ends: &[(NodeId, NodeId)]) {
        // A channel hands packets over at moments of other ranks.
        if !self.channels.is_empty() {
            return;
        }
        for (index, link) in self.links.iter_mut().enumerate() {
            if changing.binary_search(&LinkId(index as u32)).is_err() {
                link.take_shortcut();
            }
        }
        if !changing.is_empty() {
            return;
        }
        let mut feeders = vec![Feeder::default(); self.links.len()];
        for (source, sink) in ends {
            self.note_feeders(&mut feeders, *source, *sink);
            self.note_feeders(&mut feeders, *sink, *source);
        }
        for (index, feeder) in feeders.iter().enumerate() {
            let by_one = !feeder.several && self.links[index].tells();
            let only = feeder.only.filter(|only| by_one && self.links[only.index()].tells_surely());
            self.links[index].feeds.from = only;
            if let Some(only) = only {
                self.links[only.index()].feeds.others = true;
            }
        }
    }

    /// Follows the way of a packet.
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

    /// From now on the queues of links that tell hold only what waits.
    pub(crate) fn settle(&mut self, now: Moment) {
        self.links.iter_mut().for_each(|link| link.settle(now));
    }

    /// Carries a packet over `link`, and over what only that link feeds.
    pub(super) fn tell(&mut self, ctx: &mut Context, mut link: LinkId, id: PacketId, heading: ForwardingHeader) {
        let ForwardingHeader { destination, size, mut ttl } = heading;
        let (real, mut now) = (ctx.now, ctx.moment());
        let awaited = &mut self.links[link.index()].feeds.awaited;
        *awaited = awaited.saturating_sub(1);
        loop {
            let here = &mut self.links[link.index()];
            let Some(told) = here.tell(ctx, now, id, size) else { break };
            // The last node that may pass it on lets it expire at the next, where the plain way sees to it.
            if !here.feeds.others || ttl <= 1 {
                here.announce(ctx, told, id);
                break;
            }
            let Some(next) = self.leads_to(ctx, link, told.arrives, destination) else {
                self.links[link.index()].announce(ctx, told, id);
                break;
            };
            let passed = &mut self.links[link.index()];
            passed.metrics.delivered += 1;
            self.nodes[passed.to.unwrap_or(destination).index()].forwarded += 1;
            ctx.packets.decrement_ttl(id);
            ttl -= 1;
            now = Moment::new(told.arrives, Event::ARRIVE);
            // What is dropped on the next link is dropped then.
            ctx.now = told.arrives;
            link = next;
        }
        ctx.now = real;
    }

    /// The link that a packet takes next without an event of its own, arriving over `link` at `at`.
    fn leads_to(&mut self, ctx: &Context, link: LinkId, at: Time, destination: NodeId) -> Option<LinkId> {
        let node = self.links[link.index()].to.unwrap_or(destination);
        if destination == node {
            return None;
        }
        let next = self.routes.next(node, destination)?;
        let fed = &mut self.links[next.index()];
        if fed.feeds.from != Some(link) {
            return None;
        }
        if fed.feeds.awaited > 0 || fed.would_start(at) >= ctx.looked_at {
            fed.feeds.awaited += 1;
            return None;
        }
        Some(next)
    }
}
