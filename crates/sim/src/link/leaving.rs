//! A link whose ends are in two parts of a world ([`crate::parallel`]). Each part has the link: that of its near end queues and
//! transmits, that of its far end has the packets in flight and receives them.

use tcp::units::Span;

use super::virtual_queue::Departure;
use super::{Delay, Link};
use crate::engine::context::Context;
use crate::ids::PacketId;

impl Link {
    /// The propagation delay, if the link may join two parts: it is constant, and its far end needs nothing of its near one.
    pub(crate) fn dividing_delay(&self) -> Option<Span> {
        match self.delay {
            Delay::Fixed(delay) if self.service.is_none() && self.effects.is_none() && self.to.is_some() => Some(delay),
            _ => None,
        }
    }

    /// From now on the far end is in another part. One packet that does not exist counts as in flight, so that no arrival is an
    /// event here.
    pub(crate) fn set_leaving(&mut self) {
        (self.upstream.leaves, self.upstream.feeds_fast_links) = (true, false);
        self.in_flight = 1;
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

    /// The run is over: takes what the link has at its far end.
    pub(crate) fn join(&mut self, far: &Link) {
        self.in_flight = far.in_flight;
        self.metrics.join(&far.metrics);
    }
}
