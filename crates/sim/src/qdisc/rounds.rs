//! The turns of hashed queues: deficit round robin with precedence for queues that have just become active (RFC 8290 §4.2). Of
//! FQ-CoDel and FQ-PIE.

use std::collections::VecDeque;

use tcp::rng::Rng;
use tcp::units::Bytes;

use super::context::QueueContext;
use super::fifo::{Held, QueuedPacket};
use super::report::FqCodelReport;
use crate::hash::spread;
use crate::scenario::FlowHash;

/// Whose turn it is.
#[derive(Debug)]
pub(super) struct Rounds {
    quantum: i64,
    hash: FlowHash,
    /// Perturbation of the hash, different in each run and on each link.
    salt: u64,
    turns: Vec<Turn>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    /// Since the measurement interval began.
    pub(super) counts: FqCodelReport,
}

/// A queue in the rounds.
#[derive(Clone, Debug, Default)]
struct Turn {
    /// Bytes that it may still send in this round.
    deficit: i64,
    /// The flow of its newest packet.
    flow: u64,
    /// True if it is on one of the lists.
    active: bool,
}

/// The queue of a packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    pub(super) index: usize,
    flow: u64,
}

/// The list of an active queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum List {
    New,
    Old,
}

impl Rounds {
    /// Empty queues; takes the salt from `rng`.
    pub(super) fn new(queues: u64, quantum: Bytes, hash: FlowHash, rng: &mut Rng) -> Rounds {
        Rounds {
            quantum: quantum.0 as i64,
            hash,
            salt: rng.next_u64(),
            turns: vec![Turn::default(); queues as usize],
            new: VecDeque::new(),
            old: VecDeque::new(),
            counts: FqCodelReport::default(),
        }
    }

    pub(super) fn index_of(&self, flow_key: u64) -> usize {
        (spread(flow_key ^ self.salt) % self.turns.len() as u64) as usize
    }

    /// The queue that an arrival belongs to.
    #[inline]
    pub(super) fn place(&self, ctx: &QueueContext<'_>, arrival: &QueuedPacket) -> Placed {
        let packet = ctx.packet(arrival);
        let flow = ctx.flow_key(packet.to);
        let index = self.index_of(match self.hash {
            FlowHash::Header => flow,
            FlowHash::Sender => ctx.sender_key(&packet),
        });
        Placed { index, flow }
    }

    /// A packet joins its queue, in which others wait if it is `occupied`.
    #[inline]
    pub(super) fn on_arrival(&mut self, placed: Placed, occupied: bool) {
        let turn = &mut self.turns[placed.index];
        self.counts.collided_packets += u64::from(occupied && turn.flow != placed.flow);
        turn.flow = placed.flow;
        if !turn.active {
            turn.active = true;
            turn.deficit = self.quantum;
            self.new.push_back(placed.index as u32);
            self.counts.new_flow_count += 1;
            self.counts.new_flows_max = self.counts.new_flows_max.max(self.new.len() as u64);
        }
    }

    /// What waits in all queues now.
    #[inline]
    pub(super) fn on_backlog(&mut self, memory: Bytes, bytes: Bytes) {
        self.counts.memory_max_bytes = self.counts.memory_max_bytes.max(memory.0);
        self.counts.backlog_max_bytes = self.counts.backlog_max_bytes.max(bytes.0);
    }

    /// The queue whose turn it is: new ones first, then the old ones in turn. `None` if none is active.
    #[inline]
    pub(super) fn next(&mut self) -> Option<(List, usize)> {
        loop {
            let list = if self.new.is_empty() { List::Old } else { List::New };
            let index = *if list == List::New { self.new.front() } else { self.old.front() }? as usize;
            let turn = &mut self.turns[index];
            if turn.deficit > 0 {
                return Some((list, index));
            }
            turn.deficit += self.quantum;
            self.retire(list);
        }
    }

    /// The queue whose turn it is sends so much.
    #[inline]
    pub(super) fn on_sent(&mut self, index: usize, size: Bytes) {
        self.turns[index].deficit -= size.0 as i64;
    }

    /// The queue at the head of `list` is empty. A new one has to pass through the old ones first, or it would be new again at its
    /// next packet.
    #[inline]
    pub(super) fn on_empty(&mut self, list: List) {
        if list == List::New {
            self.retire(list);
        } else if let Some(index) = self.old.pop_front() {
            self.turns[index as usize].active = false;
        }
    }

    /// The head of `list` goes to the end of the old queues.
    fn retire(&mut self, list: List) {
        let head = if list == List::New { self.new.pop_front() } else { self.old.pop_front() };
        self.old.extend(head);
        self.counts.old_flows_max = self.counts.old_flows_max.max(self.old.len() as u64);
    }

    /// The measurement interval begins with so much waiting.
    pub(super) fn on_warmup_end(&mut self, held: &Held, bytes: Bytes) {
        self.counts = FqCodelReport {
            new_flows_max: self.new.len() as u64,
            old_flows_max: self.old.len() as u64,
            memory_max_bytes: held.memory().0,
            backlog_max_bytes: bytes.0,
            ..FqCodelReport::default()
        };
    }
}
