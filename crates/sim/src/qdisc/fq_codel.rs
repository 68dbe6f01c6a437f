//! FQ-CoDel (RFC 8290): flows hashed into queues, served by deficit round robin with precedence for queues that have
//! just become active, each under CoDel's control.

use std::collections::VecDeque;

use tcp::rng::Rng;
use tcp::units::Bytes;

use super::codel::{Control, Settings};
use super::context::QueueContext;
use super::fifo::{Fifo, Held, Limit, QueuedPacket};
use crate::hash::spread;
use crate::packet::DropReason;
use crate::scenario::{Backlog, FlowHash, FqCodelDef};

/// RFC 8290 §4.1: on overload at most this many packets are dropped at once, and at most half of the bytes of a queue.
const BATCH: u64 = 64;

/// An FQ-CoDel queue.
#[derive(Debug)]
pub(crate) struct FqCodel {
    limit: Limit,
    quantum: i64,
    settings: Settings,
    /// What CoDel's guard for short queues counts.
    guarded: Backlog,
    hash: FlowHash,
    /// Perturbation of the hash, different in each run and on each link.
    salt: u64,
    queues: Vec<Queue>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
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
    /// Bytes that it may still send in this round.
    deficit: i64,
    /// True if it is on one of the lists.
    active: bool,
}

/// The list of an active queue.
#[derive(Clone, Copy, PartialEq, Eq)]
enum List {
    New,
    Old,
}

impl FqCodel {
    /// An empty queue.
    pub(super) fn new(def: &FqCodelDef, mut rng: Rng) -> FqCodel {
        FqCodel {
            limit: def.limit.into(),
            quantum: def.quantum.0 as i64,
            settings: Settings {
                target: def.target,
                interval: def.interval,
                mtu: def.mtu,
                ecn: def.ecn,
                ce_threshold: def.ce_threshold,
                inverse_sqrt: def.inverse_sqrt,
            },
            guarded: def.guarded,
            hash: def.hash,
            salt: rng.next_u64(),
            queues: (0..def.queues).map(|_| Queue::default()).collect(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            held: Held::default(),
            peeked: None,
            device: def.device.map(|limit| Device { limit: limit.into(), waiting: Fifo::default() }),
        }
    }

    fn index_of(&self, flow_key: u64) -> usize {
        (spread(flow_key ^ self.salt) % self.queues.len() as u64) as usize
    }

    /// RFC 8290 §4.1: the arrival is enqueued; beyond the limit, packets of the longest queue are dropped.
    #[inline(never)]
    pub(super) fn enqueue(&mut self, ctx: &mut QueueContext<'_>, arrival: QueuedPacket) -> Result<(), DropReason> {
        let packet = ctx.packet(&arrival);
        let index = self.index_of(match self.hash {
            FlowHash::Header => ctx.flow_key(packet.to),
            FlowHash::Sender => ctx.sender_key(&packet),
        });
        let queue = &mut self.queues[index];
        if !queue.active {
            queue.active = true;
            queue.deficit = self.quantum;
            self.new.push_back(index as u32);
        }
        queue.waiting.push(arrival);
        self.held.add(&arrival);
        while self.limit.is_exceeded(self.held.packets(), self.held.bytes()) {
            self.drop_from_longest(ctx);
        }
        self.hand_down(ctx);
        Ok(())
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
            let list = if self.new.is_empty() { List::Old } else { List::New };
            let index = *if list == List::New { self.new.front() } else { self.old.front() }?;
            let queue = &mut self.queues[index as usize];
            if queue.deficit <= 0 {
                queue.deficit += self.quantum;
                self.retire(list);
                continue;
            }
            let own = queue.waiting.held();
            let beside = if self.guarded == Backlog::All { self.held.bytes() - own.bytes() } else { Bytes::ZERO };
            let next = queue.control.dequeue(&self.settings, &mut queue.waiting, beside, ctx);
            self.held.replace(own, queue.waiting.held());
            match next {
                Some(head) => {
                    queue.deficit -= head.size.0 as i64;
                    return Some(head);
                }
                // A new queue has to pass through the old ones first, or it would be new again at its next packet.
                None if list == List::New => self.retire(list),
                None => {
                    queue.active = false;
                    self.old.pop_front();
                }
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

    /// The head of `list` goes to the end of the old queues.
    fn retire(&mut self, list: List) {
        let head = if list == List::New { self.new.pop_front() } else { self.old.pop_front() };
        self.old.extend(head);
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
