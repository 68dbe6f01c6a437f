//! CHOKe (Pan, Prabhakar, Psounis, INFOCOM 2000): a flow's arrivals meet its own packets in the queue in proportion to their number,
//! and take them away.

use tcp::rng::Rng;
use tcp::units::{Rate, Span};

use super::Red;
use crate::packet::DropReason;
use crate::qdisc::context::QueueContext;
use crate::qdisc::fifo::QueuedPacket;
use crate::scenario::ChokeDef;

/// A CHOKe queue.
#[derive(Debug)]
pub(crate) struct Choke {
    pub(in crate::qdisc) red: Red,
    /// Arrivals of the flow of the packet drawn, in the measurement interval.
    pub(in crate::qdisc) matched: u64,
}

impl Choke {
    /// An empty queue before a transmitter of this rate and delay.
    pub(in crate::qdisc) fn new(def: &ChokeDef, rate: Rate, delay: Span, rng: Rng) -> Choke {
        Choke { red: Red::new(&def.red(), rate, delay, rng), matched: 0 }
    }

    /// In the order of Linux (`choke_enqueue`): average, comparison, RED, limit.
    #[inline(never)]
    pub(in crate::qdisc) fn enqueue(
        &mut self,
        ctx: &mut QueueContext<'_>,
        arrival: QueuedPacket,
    ) -> Result<(), DropReason> {
        self.red.observe(ctx.idle());
        if self.red.average > self.red.min && self.takes_one_along(ctx, &arrival) {
            self.matched += 1;
            return Err(DropReason::Aqm);
        }
        let verdict = self.red.decide(arrival.size);
        self.red.signal(verdict, ctx, &arrival)?;
        if self.red.is_full(&arrival) {
            return Err(DropReason::Queue);
        }
        self.red.waiting.push(arrival);
        Ok(())
    }

    /// Drops a packet drawn from the queue if it is of the flow of the arrival, direction included.
    fn takes_one_along(&mut self, ctx: &mut QueueContext<'_>, arrival: &QueuedPacket) -> bool {
        let waiting = &mut self.red.waiting;
        if waiting.packets() == 0 {
            return false;
        }
        let place = self.red.rng.below(waiting.packets()) as usize;
        let drawn = waiting.iter().nth(place).map(|packet| ctx.receiver(packet));
        if drawn != Some(ctx.receiver(arrival)) {
            return false;
        }
        let victim = waiting.remove(place).expect("it was just there");
        ctx.drop(&victim, DropReason::Aqm);
        true
    }
}

#[cfg(test)]
mod tests;
