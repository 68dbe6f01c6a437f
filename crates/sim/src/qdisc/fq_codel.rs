//! FQ-CoDel (RFC 8290): flows hashed into queues, served by deficit round robin with precedence for queues that have
//! just become active, each under CoDel's control.

use tcp::rng::Rng;
use tcp::units::Bytes;

use super::codel::{Control, Settings};
use super::context::QueueContext;
use super::fifo::{Fifo, Held, Limit, QueuedPacket};
use super::rounds::Rounds;
use crate::packet::DropReason;
use crate::scenario::{Backlog, FqCodelDef};

/// RFC 8290 §4.1: on overload at most this many packets are dropped at once, and at most half of the bytes of a queue.
const BATCH: u64 = 64;

/// An FQ-CoDel queue.
#[derive(Debug)]
pub(crate) struct FqCodel {
    limit: Limit,
    memory_limit: Bytes,
    settings: Settings,
    /// What CoDel's guard for short queues counts.
    guarded: Backlog,
    pub(super) rounds: Rounds,
    queues: Vec<Queue>,
    held: Held,
    /// A packet that a discipline around this one has looked at: the drops before it have happened, nothing overtakes it. It
    /// counts as queued.
    peeked: Option<QueuedPacket>,
    /// The device's own queue below, first in, first out, if the discipline hands packets down.
    device: Option<Device>,
}

/// The queue of a device: it takes packets from the discipline while it has room.
#[derive(Debug)]
struct Device {
    limit: Limit,
    waiting: Fifo,
}

/// The queue of the flows with one hash.
#[derive(Debug, Default)]
struct Queue {
    waiting: Fifo,
    control: Control,
}

impl FqCodel {
    /// An empty queue.
    pub(super) fn new(def: &FqCodelDef, mut rng: Rng) -> FqCodel {
        FqCodel {
            limit: def.limit.into(),
            memory_limit: def.memory_limit,
            settings: Settings {
                target: def.target,
                interval: def.interval,
                mtu: def.mtu,
                ecn: def.ecn,
                ce_threshold: def.ce_threshold,
                ce_threshold_selector: def.ce_threshold_selector,
                inverse_sqrt: def.inverse_sqrt,
            },
            guarded: def.guarded,
            rounds: Rounds::new(def.queues, def.quantum, def.hash, &mut rng),
            queues: (0..def.queues).map(|_| Queue::default()).collect(),
            held: Held::default(),
            peeked: None,
            device: def.device.map(|limit| Device { limit: limit.into(), waiting: Fifo::default() }),
        }
    }

    /// RFC 8290 §4.1: the arrival is enqueued; beyond the limit, packets of the longest queue are dropped.
    #[inline(never)]
    pub(super) fn enqueue(&mut self, ctx: &mut QueueContext<'_>, arrival: QueuedPacket) -> Result<(), DropReason> {
        let placed = self.rounds.place(ctx, &arrival);
        let queue = &mut self.queues[placed.index];
        self.rounds.on_arrival(placed, queue.waiting.packets() > 0);
        queue.waiting.push(arrival);
        self.held.add(&arrival);
        while self.limit.is_exceeded(self.held.packets(), self.held.bytes()) || self.held.memory() > self.memory_limit {
            self.drop_from_longest(ctx);
        }
        self.rounds.on_backlog(self.held.memory(), self.bytes());
        self.hand_down(ctx);
        Ok(())
    }

    /// The measurement interval begins.
    pub(super) fn on_warmup_end(&mut self) {
        let bytes = self.bytes();
        self.rounds.on_warmup_end(&self.held, bytes);
    }

    fn drop_from_longest(&mut self, ctx: &mut QueueContext<'_>) {
        // Of equals the first, so that the choice is the same on every machine.
        let longest = self.queues.iter_mut().rev().max_by_key(|queue| queue.waiting.bytes());
        let queue = longest.expect("there is at least one queue");
        let enough = queue.waiting.bytes() / 2;
        let mut gone = Bytes::ZERO;
        for _ in 0..BATCH {
            let Some(head) = queue.waiting.pop() else { break };
            ctx.drop(&head, DropReason::Queue);
            self.held.remove(&head);
            gone += head.size;
            if gone >= enough {
                break;
            }
        }
    }

    /// The next packet to transmit: that of the device where there is one.
    #[inline(never)]
    pub(super) fn dequeue(&mut self, ctx: &mut QueueContext<'_>) -> Option<QueuedPacket> {
        if let Some(head) = self.peeked.take() {
            self.held.remove(&head);
            return Some(head);
        }
        let Some(device) = &mut self.device else { return self.serve(ctx) };
        let head = device.waiting.pop();
        self.hand_down(ctx);
        head
    }

    /// Fills the queue of the device.
    fn hand_down(&mut self, ctx: &mut QueueContext<'_>) {
        let Some(mut device) = self.device.take() else { return };
        while !device.limit.is_exceeded(device.waiting.packets() + 1, device.waiting.bytes() + Bytes(1)) {
            let Some(next) = self.serve(ctx) else { break };
            device.waiting.push(next);
        }
        self.device = Some(device);
    }

    /// RFC 8290 §4.2: new queues first, then the old ones in turn.
    fn serve(&mut self, ctx: &mut QueueContext<'_>) -> Option<QueuedPacket> {
        loop {
            let (list, index) = self.rounds.next()?;
            let queue = &mut self.queues[index];
            let own = queue.waiting.held();
            let beside = if self.guarded == Backlog::All { self.held.bytes() - own.bytes() } else { Bytes::ZERO };
            let next = queue.control.dequeue(&self.settings, &mut queue.waiting, beside, ctx);
            self.held.replace(own, queue.waiting.held());
            match next {
                Some(head) => {
                    self.rounds.on_sent(index, head.size);
                    return Some(head);
                }
                None => self.rounds.on_empty(list),
            }
        }
    }

    /// What `dequeue` will return, after the drops that come first.
    pub(super) fn peek(&mut self, ctx: &mut QueueContext<'_>) -> Option<QueuedPacket> {
        let head = self.dequeue(ctx)?;
        self.held.add(&head);
        self.peeked = Some(head);
        self.peeked
    }

    /// Removes the packets for which `wanted` is true, queue by queue, without CoDel.
    pub(super) fn take(&mut self, wanted: &dyn Fn(&QueuedPacket) -> bool) -> Vec<QueuedPacket> {
        let mut taken: Vec<QueuedPacket> = self.peeked.take_if(|head| wanted(head)).into_iter().collect();
        taken.extend(self.queues.iter_mut().flat_map(|queue| queue.waiting.take(wanted)));
        taken.iter().for_each(|gone| self.held.remove(gone));
        let below = self.device.as_mut().map(|device| device.waiting.take(wanted)).unwrap_or_default();
        below.into_iter().chain(taken).collect()
    }

    pub(super) fn packets(&self) -> u64 {
        self.held.packets() + self.device.as_ref().map_or(0, |device| device.waiting.packets())
    }

    pub(super) fn bytes(&self) -> Bytes {
        self.held.bytes() + self.device.as_ref().map_or(Bytes::ZERO, |device| device.waiting.bytes())
    }
}

#[cfg(test)]
mod tests;
