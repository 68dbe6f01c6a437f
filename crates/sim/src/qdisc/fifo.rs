//! What every discipline is made of: a first-in first-out queue that knows its bytes, and a limit.

use std::collections::VecDeque;

use tcp::units::Bytes;

use super::Waiting;
use crate::scenario::Amount;

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

impl Limit {
    /// True if so much is too much.
    pub(crate) fn is_exceeded(self, packets: u64, bytes: Bytes) -> bool {
        match self {
            Limit::Packets(limit) => packets > limit,
            Limit::Bytes(limit) => bytes > limit,
            Limit::Unlimited => false,
        }
    }

    /// True if `arrival` does not fit behind what waits already.
    pub(super) fn refuses(self, waiting: &Fifo, arrival: &Waiting) -> bool {
        self.is_exceeded(waiting.packets() + 1, waiting.bytes() + arrival.size)
    }
}

impl From<Amount> for Limit {
    fn from(amount: Amount) -> Limit {
        match amount {
            Amount::Packets(packets) => Limit::Packets(packets),
            Amount::Bytes(bytes) => Limit::Bytes(bytes),
            Amount::Unlimited => Limit::Unlimited,
        }
    }
}

/// A first-in first-out queue.
#[derive(Debug, Default)]
pub(super) struct Fifo {
    waiting: VecDeque<Waiting>,
    bytes: Bytes,
}

impl Fifo {
    pub(super) fn push(&mut self, arrival: Waiting) {
        self.bytes += arrival.size;
        self.waiting.push_back(arrival);
    }

    pub(super) fn pop(&mut self) -> Option<Waiting> {
        let next = self.waiting.pop_front()?;
        self.bytes -= next.size;
        Some(next)
    }

    /// Takes those out that are wanted; the others keep their order.
    pub(super) fn take(&mut self, wanted: &impl Fn(&Waiting) -> bool) -> Vec<Waiting> {
        let (taken, left): (Vec<Waiting>, Vec<Waiting>) = self.waiting.drain(..).partition(wanted);
        self.waiting.extend(left);
        self.bytes = self.waiting.iter().map(|waiting| waiting.size).fold(Bytes::ZERO, |sum, size| sum + size);
        taken
    }

    pub(super) fn packets(&self) -> u64 {
        self.waiting.len() as u64
    }

    pub(super) fn bytes(&self) -> Bytes {
        self.bytes
    }
}
