//! Buffer for packets that wait for a route.

use std::collections::VecDeque;

use tcp::units::{Span, Time};

use crate::ids::{PacketId, StationId};

/// A buffered packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct BufferedPacket {
    pub(crate) to: StationId,
    pub(crate) packet: PacketId,
    since: Time,
}

/// Limits of a route buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct BufferLimits {
    pub(crate) per_destination: usize,
    pub(crate) total: usize,
    pub(crate) lifetime: Option<Span>,
}

/// The buffered packets of a station, the oldest first.
#[derive(Clone, Debug)]
pub(crate) struct RouteBuffer {
    packets: VecDeque<BufferedPacket>,
    limits: BufferLimits,
}

impl RouteBuffer {
    pub(crate) fn new(limits: BufferLimits) -> RouteBuffer {
        RouteBuffer { packets: VecDeque::new(), limits }
    }

    pub(crate) fn len(&self) -> usize {
        self.packets.len()
    }

    /// Appends a packet; returns the one dropped for it, if any: the oldest for its destination, else of all.
    pub(crate) fn push(&mut self, now: Time, to: StationId, packet: PacketId) -> Option<PacketId> {
        self.packets.push_back(BufferedPacket { to, packet, since: now });
        let same = self.packets.iter().filter(|packet| packet.to == to).count();
        let index = if same > self.limits.per_destination {
            self.packets.iter().position(|packet| packet.to == to)
        } else {
            (self.packets.len() > self.limits.total).then_some(0)
        };
        self.packets.remove(index?).map(|packet| packet.packet)
    }

    /// Removes a packet whose lifetime is over.
    pub(crate) fn pop_expired(&mut self, now: Time) -> Option<PacketId> {
        let lifetime = self.limits.lifetime?;
        self.packets.pop_front_if(|packet| packet.since + lifetime < now).map(|packet| packet.packet)
    }

    /// Removes all packets, each to be sent or put back in order.
    pub(crate) fn take(&mut self) -> VecDeque<BufferedPacket> {
        std::mem::take(&mut self.packets)
    }

    pub(crate) fn put_back(&mut self, packet: BufferedPacket) {
        self.packets.push_back(packet);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{EndpointId, NodeId};
    use crate::packet::{Datagram, PacketHeader, PacketStore, TTL};
    use tcp::Ecn;
    use tcp::units::Bytes;

    #[test]
    fn the_oldest_of_the_destination_makes_room_and_old_ones_leave() {
        let mut slab = PacketStore::default();
        let (to, destination, size) = (EndpointId(1), NodeId(0), Bytes(29));
        let envelope = PacketHeader { to, destination, size, sent_at: Time::ZERO, retransmission: false, ttl: TTL };
        let datagram = Datagram { bytes: Bytes(1), ecn: Ecn::NotEct, number: 0, carried: false };
        let ids: Vec<PacketId> = (0..4).map(|_| slab.insert_datagram(&envelope, datagram)).collect();
        let limits = BufferLimits { per_destination: 2, total: 3, lifetime: Some(Span::from_millis(30_000)) };
        let mut buffers = RouteBuffer::new(limits);
        let at = |secs: u64| Time::ZERO + Span::from_millis(1000 * secs);
        assert_eq!(buffers.push(at(0), StationId(7), ids[0]), None);
        assert_eq!(buffers.push(at(1), StationId(8), ids[1]), None);
        assert_eq!(buffers.push(at(2), StationId(8), ids[2]), None);
        assert_eq!(buffers.push(at(3), StationId(8), ids[3]), Some(ids[1]));
        assert_eq!(buffers.pop_expired(at(30)), None);
        assert_eq!(buffers.pop_expired(at(31)), Some(ids[0]));
        assert_eq!(buffers.len(), 2);
    }
}
