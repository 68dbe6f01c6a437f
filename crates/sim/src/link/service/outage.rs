//! Periods of service, and pauses in which everything is lost that waits, is under way or comes (mahimahi's `mm-onoff`).

use tcp::units::Rate;

use super::steps::Varying;
use super::{Beside, Counts, Link};
use crate::engine::context::Context;
use crate::qdisc::QueuedPacket;

/// Periods of service and pauses.
#[derive(Debug)]
pub(super) struct Outage {
    pub(super) steps: Varying,
    rate: Rate,
    /// In transmission until the link's `free_at`.
    pub(super) under_way: Option<QueuedPacket>,
}

impl Outage {
    pub(super) fn new(steps: Varying, rate: Rate) -> Outage {
        Outage { steps, rate, under_way: None }
    }

    pub(super) fn serve(&mut self, link: &mut Link, ctx: &mut Context, counts: &mut Counts) {
        // A packet that ends as the pause begins has left.
        if let Some(packet) = self.under_way.take_if(|_| ctx.now >= link.free_at) {
            counts.used += packet.size;
            link.depart(ctx, packet, ctx.now, Beside::NOTHING);
        }
        let (bps, ends) = self.steps.now(ctx.now);
        if bps == 0 {
            link.lose_waiting(ctx, self.under_way.take().map(|packet| packet.packet));
            link.free_at = ctx.now;
            return;
        }
        if self.under_way.is_none() {
            self.under_way = link.dequeue(ctx);
            let Some(packet) = self.under_way else { return };
            link.free_at = ctx.now + self.rate.transmission_time(packet.size);
        }
        link.ask_at(ctx, link.free_at.min(ends));
    }
}
