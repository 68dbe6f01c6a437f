//! Packets that wait at a station for a route.

use std::collections::VecDeque;

use tcp::units::{Span, Time};

use crate::ids::{PacketId, StationId};

/// A packet that waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Waiter {
    pub(crate) to: StationId,
    pub(crate) packet: PacketId,
    since: Time,
}

/// How many packets wait for a route, and how long.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct WaitingLimits {
    pub(crate) per_destination: usize,
    pub(crate) total: usize,
    pub(crate) lifetime: Option<Span>,
}

/// The packets of one station that wait, the oldest first.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    waiters: VecDeque<Waiter>,
    limits: WaitingLimits,
}

impl Waiting {
    pub(crate) fn new(limits: WaitingLimits) -> Waiting {
        Waiting { waiters: VecDeque::new(), limits }
    }

    pub(crate) fn len(&self) -> usize {
        self.waiters.len()
    }

    /// Takes a packet in; gives the one that makes room for it: the oldest of its destination, else of all.
    pub(crate) fn push(&mut self, now: Time, to: StationId, packet: PacketId) -> Option<PacketId> {
        self.waiters.push_back(Waiter { to, packet, since: now });
        let same = self.waiters.iter().filter(|waiter| waiter.to == to).count();
        let index = if same > self.limits.per_destination {
            self.waiters.iter().position(|waiter| waiter.to == to)
        } else {
            (self.waiters.len() > self.limits.total).then_some(0)
        };
        self.waiters.remove(index?).map(|waiter| waiter.packet)
    }

    /// The next packet that has waited too long.
    pub(crate) fn pop_expired(&mut self, now: Time) -> Option<PacketId> {
        let lifetime = self.limits.lifetime?;
        self.waiters.pop_front_if(|waiter| waiter.since + lifetime < now).map(|waiter| waiter.packet)
    }

    /// All packets, for each to be sent or put back in its place.
    pub(crate) fn take(&mut self) -> VecDeque<Waiter> {
        std::mem::take(&mut self.waiters)
    }

    pub(crate) fn put_back(&mut self, waiter: Waiter) {
        self.waiters.push_back(waiter);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{EndpointId, NodeId};
    use crate::packet::{PacketHeader, PacketStore, TTL};
    use tcp::units::Bytes;

    #[test]
    fn the_oldest_of_the_destination_makes_room_and_old_ones_leave() {
        let mut slab = PacketStore::default();
        let (to, destination, size) = (EndpointId(1), NodeId(0), Bytes(29));
        let header = PacketHeader { to, destination, size, sent_at: Time::ZERO, retransmission: false, ttl: TTL };
        let ids: Vec<PacketId> = (0..4).map(|_| slab.insert_datagram(&header, Bytes(1))).collect();
        let limits = WaitingLimits { per_destination: 2, total: 3, lifetime: Some(Span::from_millis(30_000)) };
        let mut waiting = Waiting::new(limits);
        let at = |secs: u64| Time::ZERO + Span::from_millis(1000 * secs);
        assert_eq!(waiting.push(at(0), StationId(7), ids[0]), None);
        assert_eq!(waiting.push(at(1), StationId(8), ids[1]), None);
        assert_eq!(waiting.push(at(2), StationId(8), ids[2]), None);
        assert_eq!(waiting.push(at(3), StationId(8), ids[3]), Some(ids[1]));
        assert_eq!(waiting.pop_expired(at(30)), None);
        assert_eq!(waiting.pop_expired(at(31)), Some(ids[0]));
        assert_eq!(waiting.len(), 2);
    }
}
