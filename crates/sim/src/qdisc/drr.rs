//! Deficit round robin (Shreedhar, Varghese 1995), with a queue for each flow or host; and stochastic fairness queueing
//! (McKenney 1990), the same over hashed queues.

use std::collections::{BTreeMap, VecDeque};

use tcp::rng::Rng;
use tcp::units::{Bytes, Span, Time};

use super::Dequeued;
use super::context::QueueContext;
use super::fifo::{Fifo, Held, Limit, QueuedPacket};
use crate::hash::spread;
use crate::packet::DropReason;
use crate::scenario::{DrrBy, DrrDef, DrrDrop, SfqDef};

/// Queues of SFQ in use at once, at most.
const SFQ_IN_USE: usize = 128;

/// Queues served in turn, by bytes.
#[derive(Debug)]
pub(crate) struct Drr {
    classify: Classify,
    quantum: u64,
    limit: Limit,
    drop: DrrDrop,
    /// Packets of one queue, at most.
    depth: u64,
    /// The queues that hold something, by key.
    queues: BTreeMap<u64, Queue>,
    /// Their keys, in the order of their turns.
    turns: VecDeque<u64>,
    /// The first of them has received its quantum.
    served: bool,
    held: Held,
}

/// The packets of one key.
#[derive(Debug, Default)]
struct Queue {
    waiting: Fifo,
    /// Bytes that it may still send in its turn.
    deficit: u64,
}

/// What packets share a queue.
#[derive(Debug)]
enum Classify {
    By(DrrBy),
    Hash(Hash),
}

/// The hash of SFQ.
#[derive(Debug)]
struct Hash {
    queues: u64,
    salt: u64,
    /// Distance of new salts, and when the next is due.
    perturb: Option<(Span, Time)>,
    rng: Rng,
}

impl Hash {
    fn index_of(&mut self, now: Time, flow: u64) -> u64 {
        if let Some((every, due)) = &mut self.perturb
            && now >= *due
        {
            self.salt = self.rng.next_u64();
            *due = *due + *every * (now.since(*due).as_nanos() / every.as_nanos() + 1);
        }
        spread(flow ^ self.salt) % self.queues
    }
}

impl Drr {
    /// An empty DRR queue.
    pub(super) fn new(def: &DrrDef) -> Drr {
        Drr::of(Classify::By(def.by), def.quantum, def.limit.into(), def.drop, u64::MAX)
    }

    /// An empty SFQ queue.
    pub(super) fn sfq(def: &SfqDef, mut rng: Rng) -> Drr {
        let perturb = def.perturb.map(|every| (every, Time::ZERO + every));
        let hash = Hash { queues: def.queues, salt: rng.next_u64(), perturb, rng };
        Drr::of(Classify::Hash(hash), def.quantum, def.limit.into(), DrrDrop::LongestTail, def.depth)
    }

    fn of(classify: Classify, quantum: Bytes, limit: Limit, drop: DrrDrop, depth: u64) -> Drr {
        Drr {
            classify,
            quantum: quantum.0,
            limit,
            drop,
            depth,
            queues: BTreeMap::new(),
            turns: VecDeque::new(),
            served: false,
            held: Held::default(),
        }
    }

    /// The queue of a packet.
    fn key(&mut self, ctx: &QueueContext<'_>, arrival: &QueuedPacket) -> u64 {
        let packet = ctx.packet(arrival);
        match &mut self.classify {
            Classify::By(DrrBy::Flow) => ctx.flow_key(packet.to),
            Classify::By(DrrBy::Source) => ctx.ends(packet.to).source_of(packet.to).0.into(),
            Classify::By(DrrBy::Destination) => packet.destination.0.into(),
            Classify::Hash(hash) => hash.index_of(ctx.now(), ctx.flow_key(packet.to)),
        }
    }

    #[inline(never)]
    pub(super) fn enqueue(&mut self, ctx: &mut QueueContext<'_>, arrival: QueuedPacket) -> Result<(), DropReason> {
        let key = self.key(ctx, &arrival);
        let in_use = self.queues.len();
        let is_sfq = matches!(self.classify, Classify::Hash(_));
        let queue = match self.queues.get_mut(&key) {
            Some(queue) if queue.waiting.packets() >= self.depth => return Err(DropReason::Queue),
            Some(queue) => queue,
            None if is_sfq && in_use >= SFQ_IN_USE => return Err(DropReason::Queue),
            None => {
                self.turns.push_back(key);
                self.queues.entry(key).or_default()
            }
        };
        queue.waiting.push(arrival);
        self.held.add(&arrival);
        while self.limit.is_exceeded(self.held.packets(), self.held.bytes()) {
            self.drop_from_longest(ctx);
        }
        Ok(())
    }

    fn drop_from_longest(&mut self, ctx: &mut QueueContext<'_>) {
        let in_packets = matches!(self.classify, Classify::Hash(_));
        let length = |queue: &Queue| if in_packets { queue.waiting.packets() } else { queue.waiting.bytes().0 };
        // Of equals the first in turn, so that the choice is the same on every machine.
        let longest = self.turns.iter().copied().rev().max_by_key(|key| length(&self.queues[key]));
        let key = longest.expect("a queue that exceeds its limit holds a packet");
        let queue = self.queues.get_mut(&key).expect("each turn has a queue");
        let gone = match self.drop {
            DrrDrop::LongestTail => queue.waiting.pop_back(),
            DrrDrop::LongestHead => queue.waiting.pop(),
        };
        let gone = gone.expect("a queue without packets has no turn");
        self.held.remove(&gone);
        ctx.drop(&gone, DropReason::Queue);
        self.forget_if_empty(key);
    }

    /// A queue without packets keeps no deficit.
    fn forget_if_empty(&mut self, key: u64) {
        if self.queues.get(&key).is_some_and(|queue| queue.waiting.packets() > 0) {
            return;
        }
        self.queues.remove(&key);
        if self.turns.front() == Some(&key) {
            self.served = false;
            self.turns.pop_front();
        } else {
            self.turns.retain(|turn| *turn != key);
        }
    }

    /// Passes the turn on to the first queue whose head its deficit covers. To ask again changes nothing.
    fn settle(&mut self) -> Option<(u64, QueuedPacket)> {
        let mut passed = 0;
        loop {
            let key = *self.turns.front()?;
            let queue = self.queues.get_mut(&key)?;
            if !self.served {
                queue.deficit += self.quantum;
                self.served = true;
            }
            let head = *queue.waiting.front()?;
            if head.size.0 <= queue.deficit {
                return Some((key, head));
            }
            self.turns.rotate_left(1);
            self.served = false;
            passed += 1;
            if passed == self.turns.len() {
                self.skip_rounds();
            }
        }
    }

    /// No head fitted in a whole round: adds the quanta of all further rounds in which none does. A small quantum before large
    /// packets would take thousands of them.
    fn skip_rounds(&mut self) {
        let quantum = self.quantum;
        let rounds = |queue: &Queue| {
            let size = queue.waiting.front().map_or(0, |head| head.size.0);
            size.saturating_sub(queue.deficit).div_ceil(quantum).saturating_sub(1)
        };
        let idle = self.queues.values().map(rounds).min().unwrap_or(0);
        self.queues.values_mut().for_each(|queue| queue.deficit += idle * quantum);
    }

    /// The packet whose turn it is.
    pub(super) fn peek(&mut self) -> Dequeued {
        self.settle().map_or(Dequeued::Empty, |(_, head)| Dequeued::Ready(head))
    }

    #[inline(never)]
    pub(super) fn dequeue(&mut self) -> Dequeued {
        let Some((key, head)) = self.settle() else { return Dequeued::Empty };
        let queue = self.queues.get_mut(&key).expect("it was looked at");
        queue.waiting.pop();
        queue.deficit -= head.size.0;
        self.held.remove(&head);
        self.forget_if_empty(key);
        Dequeued::Ready(head)
    }

    /// Removes the packets for which `wanted` is true, queue by queue.
    pub(super) fn take(&mut self, wanted: &dyn Fn(&QueuedPacket) -> bool) -> Vec<QueuedPacket> {
        let taken: Vec<QueuedPacket> = self.queues.values_mut().flat_map(|queue| queue.waiting.take(wanted)).collect();
        taken.iter().for_each(|gone| self.held.remove(gone));
        let empty: Vec<u64> =
            self.queues.iter().filter(|(_, queue)| queue.waiting.packets() == 0).map(|(key, _)| *key).collect();
        empty.into_iter().for_each(|key| self.forget_if_empty(key));
        taken
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
