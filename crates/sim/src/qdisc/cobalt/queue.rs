//! One queue under COBALT, without CAKE around it.

use tcp::rng::Rng;
use tcp::units::Rate;

use super::{Cobalt, MTU, Settings};
use crate::packet::DropReason;
use crate::qdisc::context::QueueContext;
use crate::qdisc::fifo::{Fifo, Limit, QueuedPacket};
use crate::scenario::CobaltDef;

/// A COBALT queue.
#[derive(Debug)]
pub(crate) struct CobaltQueue {
    limit: Limit,
    ecn: bool,
    settings: Settings,
    control: Cobalt,
    rng: Rng,
    pub(in crate::qdisc) waiting: Fifo,
}

impl CobaltQueue {
    /// An empty queue before a transmitter of this rate.
    pub(in crate::qdisc) fn new(def: &CobaltDef, rate: Rate, rng: Rng) -> CobaltQueue {
        let CobaltDef { limit, target, interval, ecn } = *def;
        let settings = Settings { target, interval, mtu_time: rate.transmission_time(MTU) };
        let (control, waiting) = (Cobalt::default(), Fifo::default());
        CobaltQueue { limit: limit.into(), ecn, settings, control, rng, waiting }
    }

    #[inline(never)]
    pub(in crate::qdisc) fn enqueue(
        &mut self,
        ctx: &mut QueueContext<'_>,
        arrival: QueuedPacket,
    ) -> Result<(), DropReason> {
        if self.limit.refuses(&self.waiting, &arrival) {
            self.control.on_overflow(&self.settings, ctx.now());
            return Err(DropReason::Queue);
        }
        self.waiting.push(arrival);
        Ok(())
    }

    /// The last packet of the queue may be marked, but is not dropped.
    #[inline(never)]
    pub(in crate::qdisc) fn dequeue(&mut self, ctx: &mut QueueContext<'_>) -> Option<QueuedPacket> {
        loop {
            let Some(head) = self.waiting.pop() else {
                self.control.on_empty(&self.settings, ctx.now());
                return None;
            };
            let (ecn, waited) = (self.ecn, (ctx.now(), ctx.sojourn(&head)));
            let mark = || ecn && ctx.mark(&head);
            let unwanted = self.control.drops(&self.settings, waited, 0, mark, &mut self.rng);
            if !unwanted || self.waiting.packets() == 0 {
                return Some(head);
            }
            ctx.drop(&head, DropReason::Aqm);
        }
    }
}
