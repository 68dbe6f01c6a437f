//! The network of one part of a world ([`crate::parallel`]): packets that come from other parts.

use super::Network;
use crate::engine::context::Context;
use crate::engine::crossing::{Crossing, EventPlace};
use crate::engine::event::{Event, EventKey};
use crate::engine::event_list::TieBreak;
use crate::ids::LinkId;
use crate::link::Departure;

/// The place of the arrival of a packet over `link` in the order of events.
pub(super) fn arrival_of(link: LinkId, departure: Departure) -> EventPlace {
    let key = EventKey::new(departure.arrives, Event::ARRIVE);
    EventPlace { key, tie_break: TieBreak { pushed: departure.starts.to_bits(), tie: link.0 } }
}

impl Network {
    /// From now on this is the network of a part, which these links leave.
    pub(crate) fn become_part(&mut self, leaving: impl Iterator<Item = LinkId>) {
        self.last_held_up = vec![EventPlace::default(); self.links.len()];
        leaving.for_each(|link| self.links[link.index()].set_leaving());
    }

    /// A packet comes from another part. It passes the links behind without an event where it would do so if there were no parts:
    /// what counts is the state when the packet was put on its link, not that of now.
    pub(crate) fn enter(&mut self, ctx: &mut Context, crossing: Crossing) {
        let Crossing { mut link, starts, arrives, packet, place, next_observation } = crossing;
        if let Some(outbox) = &mut ctx.outbox {
            (outbox.place, outbox.next_observation) = (place, next_observation);
        }
        let id = ctx.packets.put_back(packet);
        let header = ctx.packets.forwarding_header(id);
        let (mut departure, mut ttl) = (Departure { starts, arrives }, header.ttl);
        loop {
            let here = &self.links[link.index()];
            let node = here.to.unwrap_or(header.destination);
            let goes_on = here.upstream.feeds_fast_links && ttl > 1 && node != header.destination;
            let next = if goes_on { self.routes.next(node, header.destination) } else { None };
            let Some(next) = next.filter(|next| self.links[next.index()].upstream.only == Some(link)) else { break };
            let is_held_up = self.last_held_up[next.index()] > place
                || self.links[next.index()].earliest_start(departure.arrives) >= next_observation;
            if is_held_up {
                self.hold_up([link, next], departure);
                break;
            }
            self.links[link.index()].metrics.delivered += 1;
            self.nodes[node.index()].forwarded += 1;
            ctx.packets.decrement_ttl(id);
            ttl -= 1;
            let now = EventKey::new(departure.arrives, Event::ARRIVE);
            link = next;
            match self.links[link.index()].forward(ctx, now, id, header.size) {
                Some(next) => departure = next,
                None => return,
            }
        }
        self.links[link.index()].receive(ctx, departure, id);
    }
}
