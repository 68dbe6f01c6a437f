//! Packets over links that tell (`link/told.rs`): one event where they come to a link that others feed as well, none where
//! only one link feeds the next, for what comes out of the one goes into the other in order.
//!
//! What happens in between is booked at once, so nobody may look before it has happened: close to a sample or to the
//! end a packet takes its events one by one.

use tcp::units::Time;

use super::Network;
use crate::core::Core;
use crate::event::{Event, LinkId, Moment, NodeId};
use crate::packet::{Heading, PacketId};

/// Which links only one other feeds.
#[derive(Debug, Default)]
pub(super) struct Shortcuts {
    feeders: Vec<Feeder>,
}

/// What feeds a link.
#[derive(Clone, Copy, Debug, Default)]
struct Feeder {
    /// The one link that does.
    only: Option<LinkId>,
    /// There is more than one, or a host.
    several: bool,
    /// Packets that come by events and are not there yet: nothing overtakes them.
    awaited: u32,
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
        self.shortcuts.feeders = vec![Feeder::default(); self.links.len()];
        for (source, sink) in ends {
            self.note_feeders(*source, *sink);
            self.note_feeders(*sink, *source);
        }
        for (index, link) in self.links.iter().enumerate() {
            let feeder = &mut self.shortcuts.feeders[index];
            let by_one = !feeder.several && link.tells();
            feeder.only = feeder.only.filter(|only| by_one && self.links[only.index()].tells_surely());
        }
    }

    /// Follows the way of a packet.
    fn note_feeders(&mut self, from: NodeId, to: NodeId) {
        let (mut here, mut before) = (from, None);
        while here != to {
            let Some(link) = self.routes.next(here, to) else { return };
            let feeder = &mut self.shortcuts.feeders[link.index()];
            feeder.several |= before.is_none() || (feeder.only.is_some() && feeder.only != before);
            feeder.only = before;
            before = Some(link);
            here = self.links[link.index()].to.unwrap_or(to);
        }
    }

    /// Books what has left the queues of links that tell.
    pub(crate) fn settle(&mut self, now: Moment) {
        self.links.iter_mut().for_each(|link| link.settle(now));
    }

    /// Carries a packet over `link`, and over what only that link feeds.
    pub(super) fn tell(&mut self, core: &mut Core, mut link: LinkId, id: PacketId) {
        let Heading { destination, size, mut ttl } = core.packets.heading(id);
        let (real, mut now) = (core.now, core.moment());
        self.shortcuts.on_entry(link);
        while let Some(told) = self.links[link.index()].tell(core, now, id, size) {
            // The last node that may pass it on lets it expire at the next, where the plain way sees to it.
            let next = if ttl > 1 { self.leads_to(core, link, told.arrives, destination) } else { None };
            let here = &mut self.links[link.index()];
            let Some(next) = next else {
                here.announce(core, told, id);
                break;
            };
            here.metrics.delivered += 1;
            self.nodes[here.to.unwrap_or(destination).index()].forwarded += 1;
            core.packets.pass_on(id);
            ttl -= 1;
            now = Moment::new(told.arrives, Event::ARRIVE);
            // What is dropped on the next link is dropped then.
            core.now = told.arrives;
            link = next;
        }
        core.now = real;
    }

    /// The link that a packet takes next without an event of its own, arriving over `link` at `at`.
    fn leads_to(&mut self, core: &Core, link: LinkId, at: Time, destination: NodeId) -> Option<LinkId> {
        let node = self.links[link.index()].to.unwrap_or(destination);
        if destination == node || self.shortcuts.feeders.is_empty() {
            return None;
        }
        let next = self.routes.next(node, destination)?;
        let feeder = &mut self.shortcuts.feeders[next.index()];
        if feeder.only != Some(link) {
            return None;
        }
        if feeder.awaited > 0 || self.links[next.index()].would_start(at) >= core.looked_at {
            feeder.awaited += 1;
            return None;
        }
        Some(next)
    }
}

impl Shortcuts {
    /// A packet has come to a link by an event.
    fn on_entry(&mut self, link: LinkId) {
        if let Some(feeder) = self.feeders.get_mut(link.index())
            && feeder.awaited > 0
        {
            feeder.awaited -= 1;
        }
    }
}
