//! The parts of every discipline: a first-in first-out queue that counts its bytes, and a limit.

use std::collections::VecDeque;

use tcp::units::{Bytes, Time};

use crate::ids::PacketId;
use crate::scenario::Amount;

/// A packet in a queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueuedPacket {
    /// The packet.
    pub packet: PacketId,
    /// Its size on this link, overhead included.
    pub size: Bytes,
    /// Time of its arrival.
    pub since: Time,
}

/// The limit of a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Limit {
    /// Packets.
    Packets(u64),
    /// Bytes, link overhead included.
    Bytes(Bytes),
    /// None.
    Unlimited,
}

impl Limit {
    /// True if a queue of this size exceeds the limit.
    pub(crate) fn is_exceeded(self, packets: u64, bytes: Bytes) -> bool {
        match self {
            Limit::Packets(limit) => packets > limit,
            Limit::Bytes(limit) => bytes > limit,
            Limit::Unlimited => false,
        }
    }

    /// True if `arrival` does not fit into the queue.
    pub(super) fn refuses(self, waiting: &Fifo, arrival: &QueuedPacket) -> bool {
        self.is_exceeded(waiting.packets() + 1, waiting.bytes() + arrival.size)
    }
}

impl From<Amount> for Limit {
    fn from(amount: Amount) -> Limit {
        match amount {
            Amount::Packets(packets) => Limit::Packets(packets),
            Amount::Bytes(bytes) => Limit::Bytes(bytes),
            Amount::Unlimited => Limit::Unlimited,
            Amount::Bdp { .. } => unreachable!("the expansion turns multiples of the BDP into bytes"),
        }
    }
}

/// Of x86-64: the space before a packet (NET_SKB_PAD), its Ethernet header and `skb_shared_info` behind it; its `sk_buff`.
const ROOM: u64 = 64 + 14 + 320;
const SK_BUFF: u64 = 256;

/// The memory of a packet in Linux, `truesize` of a linear skb: its buffer comes from the slabs of 512, 1024, … bytes. A datagram of
/// 1500 B has 2304, one of up to 114 B 768.
fn memory_of(packet: &QueuedPacket) -> Bytes {
    Bytes((packet.size.0 + ROOM).next_power_of_two().max(512) + SK_BUFF)
}

/// What several queues hold together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Held {
    packets: u64,
    bytes: Bytes,
    memory: Bytes,
}

impl Held {
    pub(super) fn add(&mut self, arrival: &QueuedPacket) {
        self.packets += 1;
        self.bytes += arrival.size;
        self.memory += memory_of(arrival);
    }

    pub(super) fn remove(&mut self, gone: &QueuedPacket) {
        self.packets -= 1;
        self.bytes -= gone.size;
        self.memory -= memory_of(gone);
    }

    /// A part is not what it was.
    pub(super) fn replace(&mut self, was: Held, is: Held) {
        self.packets = self.packets + is.packets - was.packets;
        self.bytes = self.bytes + is.bytes - was.bytes;
        self.memory = self.memory + is.memory - was.memory;
    }

    pub(super) fn packets(&self) -> u64 {
        self.packets
    }

    /// What the packets take in Linux, with their buffers.
    pub(super) fn memory(&self) -> Bytes {
        self.memory
    }

    pub(super) fn bytes(&self) -> Bytes {
        self.bytes
    }
}

/// A first-in first-out queue.
#[derive(Debug, Default)]
pub(super) struct Fifo {
    waiting: VecDeque<QueuedPacket>,
    held: Held,
}

impl Fifo {
    pub(super) fn push(&mut self, arrival: QueuedPacket) {
        self.held.add(&arrival);
        self.waiting.push_back(arrival);
    }

    pub(super) fn pop(&mut self) -> Option<QueuedPacket> {
        let next = self.waiting.pop_front()?;
        self.held.remove(&next);
        Some(next)
    }

    /// Removes the packet at this place, 0 at the head.
    pub(super) fn remove(&mut self, place: usize) -> Option<QueuedPacket> {
        let gone = self.waiting.remove(place)?;
        self.held.remove(&gone);
        Some(gone)
    }

    /// The packets in their order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &QueuedPacket> {
        self.waiting.iter()
    }

    /// The packet at the head.
    pub(super) fn front(&self) -> Option<&QueuedPacket> {
        self.waiting.front()
    }

    /// Removes the packet at the tail.
    pub(super) fn pop_back(&mut self) -> Option<QueuedPacket> {
        let last = self.waiting.pop_back()?;
        self.held.remove(&last);
        Some(last)
    }

    /// Removes the packets for which `wanted` is true; the others keep their order.
    pub(super) fn take(&mut self, wanted: &dyn Fn(&QueuedPacket) -> bool) -> Vec<QueuedPacket> {
        let (taken, left): (Vec<QueuedPacket>, Vec<QueuedPacket>) = self.waiting.drain(..).partition(wanted);
        self.waiting.extend(left);
        taken.iter().for_each(|gone| self.held.remove(gone));
        taken
    }

    pub(super) fn held(&self) -> Held {
        self.held
    }

    pub(super) fn packets(&self) -> u64 {
        self.held.packets
    }

    pub(super) fn bytes(&self) -> Bytes {
        self.held.bytes
    }
}
