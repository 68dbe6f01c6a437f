//! FQ-PIE (Linux, sch_fq_pie): flows hashed into queues, served as those of FQ-CoDel, each under PIE's control.
//!
//! A queue that rests is not touched: its controller makes up for the updates when a packet comes.

use tcp::rng::Rng;
use tcp::units::Bytes;

use super::context::QueueContext;
use super::fifo::{Held, Limit, QueuedPacket};
use super::pie::Regulated;
use super::rounds::Rounds;
use crate::packet::DropReason;
use crate::scenario::{FqPieDef, PieDef};

/// An FQ-PIE queue.
#[derive(Debug)]
pub(crate) struct FqPie {
    limit: Limit,
    def: PieDef,
    pub(super) rounds: Rounds,
    queues: Vec<Regulated>,
    held: Held,
    rng: Rng,
}

impl FqPie {
    /// An empty queue.
    pub(super) fn new(given: &FqPieDef, mut rng: Rng) -> FqPie {
        let def = given.pie().with_defaults();
        FqPie {
            limit: def.limit.into(),
            rounds: Rounds::new(given.flows, given.quantum, given.hash, &mut rng),
            queues: (0..given.flows).map(|_| Regulated::new(&def)).collect(),
            held: Held::default(),
            def,
            rng,
        }
    }

    /// Drops happen here only; the flow's own queue decides about them, the limit is of all.
    #[inline(never)]
    pub(super) fn enqueue(&mut self, ctx: &mut QueueContext<'_>, arrival: QueuedPacket) -> Result<(), DropReason> {
        let placed = self.rounds.place(ctx, &arrival);
        let queue = &mut self.queues[placed.index];
        let full = self.limit.is_exceeded(self.held.packets() + 1, self.held.bytes() + arrival.size);
        queue.admit(&self.def, full, ctx, &arrival, &mut self.rng)?;
        self.rounds.on_arrival(placed, queue.waiting.packets() > 0);
        queue.waiting.push(arrival);
        self.held.add(&arrival);
        self.rounds.on_backlog(self.held.memory(), self.held.bytes());
        Ok(())
    }

    #[inline(never)]
    pub(super) fn dequeue(&mut self, ctx: &mut QueueContext<'_>) -> Option<QueuedPacket> {
        loop {
            let (list, index) = self.rounds.next()?;
            match self.queues[index].pop(&self.def, ctx) {
                Some(head) => {
                    self.held.remove(&head);
                    self.rounds.on_sent(index, head.size);
                    return Some(head);
                }
                None => self.rounds.on_empty(list),
            }
        }
    }

    /// Removes the packets for which `wanted` is true, queue by queue.
    pub(super) fn take(&mut self, wanted: &dyn Fn(&QueuedPacket) -> bool) -> Vec<QueuedPacket> {
        let taken: Vec<QueuedPacket> = self.queues.iter_mut().flat_map(|queue| queue.take(wanted)).collect();
        taken.iter().for_each(|gone| self.held.remove(gone));
        taken
    }

    /// The measurement interval begins.
    pub(super) fn on_warmup_end(&mut self) {
        self.rounds.on_warmup_end(&self.held, self.held.bytes());
    }

    pub(super) fn packets(&self) -> u64 {
        self.held.packets()
    }

    pub(super) fn bytes(&self) -> Bytes {
        self.held.bytes()
    }
}

#[cfg(test)]
mod tests;
