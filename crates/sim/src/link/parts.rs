//! A link whose ends are in several parts of a world ([`crate::parallel`]). Each part has the link: that of its near end queues and
//! transmits, those of its far ends have the packets in flight and receive them.

use tcp::units::{Span, Time};

use super::virtual_queue::Departure;
use super::{Delay, Link};
use crate::engine::context::Context;
use crate::ids::{NodeId, PacketId};

impl Link {
    /// A propagation delay that is never below up to `until`, if the link may join two parts: its far end needs nothing of its near one.
    pub(crate) fn dividing_delay(&self, until: Time) -> Option<Span> {
        (self.service.is_none() && self.effects.is_none()).then(|| self.delay.least(until))
    }

    /// The nodes to which it leads: one, or the terminals that share a downlink.
    pub(crate) fn far_ends(&self) -> Vec<NodeId> {
        match (&self.delay, self.to) {
            (Delay::Shared(downlink), None) => downlink.terminals().collect(),
            (_, to) => to.into_iter().collect(),
        }
    }

    /// From now on a far end is in another part. On a link with lookahead one packet that does not exist counts as in flight, so that
    /// no arrival is an event here.
    pub(crate) fn set_leaving(&mut self) {
        (self.upstream.leaves, self.upstream.feeds_fast_links) = (true, false);
        self.in_flight = u32::from(self.has_fast_path());
    }

    #[cold]
    #[inline(never)]
    pub(super) fn leave(&mut self, ctx: &mut Context, departure: Departure, id: PacketId) {
        self.in_flight -= 1;
        ctx.leave(self.id, departure.starts, departure.arrives, id);
    }

    /// A packet comes from the part at the near end.
    pub(crate) fn receive(&mut self, ctx: &mut Context, departure: Departure, id: PacketId) {
        if self.has_fast_path() {
            return self.schedule_arrival(ctx, departure, id);
        }
        self.in_flight += 1;
        ctx.schedule_arrival(departure.starts, departure.arrives, self.id, id);
    }

    /// The run is over: takes what the link has in other parts, at its far ends.
    pub(crate) fn join<'a>(&mut self, others: impl Iterator<Item = &'a Link>) {
        self.in_flight -= u32::from(self.has_fast_path());
        for far in others {
            self.in_flight += far.in_flight;
            self.metrics.join(&far.metrics);
        }
    }
}
