//! Queue disciplines: what waits in front of a transmitter, and what is dropped.
//!
//! The packet in transmission is not in the queue. A new discipline: one file and one variant.

mod drop_tail;

pub(crate) use drop_tail::{DropTail, Limit};

use tcp::units::{Bytes, Time};

use crate::packet::{DropReason, PacketId};

/// A packet waiting for the transmitter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    /// The packet.
    pub packet: PacketId,
    /// Its size on this link, overhead included.
    pub size: Bytes,
    /// When it came.
    pub since: Time,
}

/// A queue discipline.
#[derive(Debug)]
pub(crate) enum Qdisc {
    /// First in, first out; what does not fit is dropped.
    DropTail(DropTail),
}

impl Qdisc {
    /// Takes a packet in, or says why not.
    pub(crate) fn enqueue(&mut self, waiting: Waiting) -> Result<(), DropReason> {
        match self {
            Qdisc::DropTail(queue) => queue.enqueue(waiting),
        }
    }

    /// Gives the next packet to transmit.
    pub(crate) fn dequeue(&mut self) -> Option<Waiting> {
        match self {
            Qdisc::DropTail(queue) => queue.dequeue(),
        }
    }

    /// Packets waiting.
    pub(crate) fn packets(&self) -> u64 {
        match self {
            Qdisc::DropTail(queue) => queue.packets(),
        }
    }

    /// Bytes waiting, link overhead included.
    pub(crate) fn bytes(&self) -> Bytes {
        match self {
            Qdisc::DropTail(queue) => queue.bytes(),
        }
    }
}
