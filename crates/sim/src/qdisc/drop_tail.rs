//! DropTail: the arriving packet is dropped if the queue is full (networks.md §4.1).

use std::collections::VecDeque;

use tcp::units::Bytes;

use super::Waiting;
use crate::packet::DropReason;

/// How much may wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Limit {
    /// So many packets.
    Packets(u64),
    /// So many bytes, link overhead included.
    Bytes(Bytes),
    /// Anything.
    Unlimited,
}

/// A first-in first-out queue.
#[derive(Debug)]
pub(crate) struct DropTail {
    limit: Limit,
    waiting: VecDeque<Waiting>,
    bytes: Bytes,
}

impl DropTail {
    /// An empty queue.
    pub(crate) fn new(limit: Limit) -> DropTail {
        DropTail { limit, waiting: VecDeque::new(), bytes: Bytes::ZERO }
    }

    pub(super) fn enqueue(&mut self, arrival: Waiting) -> Result<(), DropReason> {
        let full = match self.limit {
            Limit::Packets(limit) => self.packets() >= limit,
            Limit::Bytes(limit) => self.bytes + arrival.size > limit,
            Limit::Unlimited => false,
        };
        if full {
            return Err(DropReason::Queue);
        }
        self.bytes += arrival.size;
        self.waiting.push_back(arrival);
        Ok(())
    }

    pub(super) fn dequeue(&mut self) -> Option<Waiting> {
        let next = self.waiting.pop_front()?;
        self.bytes -= next.size;
        Some(next)
    }

    pub(super) fn packets(&self) -> u64 {
        self.waiting.len() as u64
    }

    pub(super) fn bytes(&self) -> Bytes {
        self.bytes
    }
}
