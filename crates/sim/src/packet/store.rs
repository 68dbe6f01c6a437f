//! The packets that exist, each in one cache line.
//!
//! A packet is accessed when it is sent, at each queue and at its destination, with thousands of others in between: what
//! nearly all packets have is in one line, the options that few have are elsewhere.

mod carried;
mod changes;

use tcp::units::{Bytes, Time};
use tcp::{Ecn, EcnBytes, Flags, Sack, Segment, SeqNo, SynOptions, Timestamps};

use super::header::PacketHeader;
use super::ip::{Datagram, Packet, Payload};
use crate::ids::{EndpointId, NodeId, PacketId};
use carried::CarriedPayloads;

/// A packet in its compact form.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct PackedPacket {
    to: EndpointId,
    destination: NodeId,
    size: Bytes,
    sent_at: Time,
    /// Of a datagram: its payload.
    seq: u64,
    /// Of a datagram: its number, or that of the payload that it carries.
    ack: u64,
    window: Bytes,
    /// The timestamps option if there is one. With more than that the first is the index of a [`RareOptions`].
    stamps: Timestamps,
    len: u32,
    flags: Flags,
    ecn: Ecn,
    ttl: u8,
    /// Of the constants below.
    bits: u8,
}

const RETRANSMISSION: u8 = 1;
const DATAGRAM: u8 = 2;
/// It has the timestamps option.
const TIMESTAMPED: u8 = 4;
/// It has a [`RareOptions`].
const RARE: u8 = 8;
/// A link has damaged it.
const DAMAGED: u8 = 16;
/// A policer has set its DSCP to lower effort; otherwise it has that of its flow.
const DEMOTED: u8 = 32;
/// Its payload is carried.
const CARRIED: u8 = 64;

/// The options that segments have only at losses and in the handshake, and the timestamps beside them.
#[derive(Clone, Copy, Debug)]
struct RareOptions {
    timestamps: Option<Timestamps>,
    sack: Sack,
    syn: Option<SynOptions>,
    ecn_bytes: Option<EcnBytes>,
}

/// A packet outside a store.
#[derive(Debug)]
pub(crate) struct MovedPacket {
    packed: PackedPacket,
    rare: Option<Box<RareOptions>>,
}

impl MovedPacket {
    /// The endpoint that the packet is for.
    pub(crate) fn receiver(&self) -> EndpointId {
        self.packed.to
    }

    /// The node of that endpoint.
    pub(crate) fn destination(&self) -> NodeId {
        self.packed.destination
    }

    /// The endpoint that the packet is for has another number.
    pub(crate) fn rename_receiver(&mut self, to: EndpointId) {
        self.packed.to = to;
    }
}

/// The part of the header that forwarding needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ForwardingHeader {
    pub(crate) destination: NodeId,
    pub(crate) size: Bytes,
    pub(crate) ttl: u8,
    /// A link has damaged the packet.
    pub(crate) damaged: bool,
}

/// Slots in one word of `occupied`.
const SLOTS: usize = u64::BITS as usize;

/// The packets that exist.
///
/// Slots are allocated in turn, past those still occupied, and not as they become free: packets sent one after the other are
/// adjacent in memory, as they are accessed in queues and at their destinations later, and a processor prefetches sequential
/// accesses. Allocation restarts at the first slot as soon as enough are free there, so that the working set stays small.
#[derive(Debug, Default)]
pub(crate) struct PacketStore {
    packets: Vec<PackedPacket>,
    /// A bit for each slot.
    occupied: Vec<u64>,
    /// Number of packets.
    count: usize,
    /// The search for a free slot begins here.
    next: usize,
    rare: Vec<RareOptions>,
    free_rare: Vec<u32>,
    carried: CarriedPayloads,
}

impl PackedPacket {
    /// With this header and without payload.
    #[inline]
    fn of(header: &PacketHeader) -> PackedPacket {
        let PacketHeader { to, destination, size, sent_at, retransmission, ttl } = *header;
        let (seq, ack, window, len, flags, ecn) = (0, 0, Bytes::ZERO, 0, Flags::default(), Ecn::NotEct);
        let (stamps, bits) = (Timestamps { value: 0, echo: 0 }, bit_if(retransmission, RETRANSMISSION));
        PackedPacket { to, destination, size, sent_at, seq, ack, window, stamps, len, flags, ecn, ttl, bits }
    }

    fn has(&self, bit: u8) -> bool {
        self.bits & bit != 0
    }

    /// The packet without rare options. Each kind is built in one piece, where it is needed: nothing is copied.
    #[inline(always)]
    fn unpack(&self) -> Packet {
        let PackedPacket { to, destination, size, sent_at, seq, ack, window, stamps, len, flags, ecn, ttl, .. } = *self;
        let retransmission = self.has(RETRANSMISSION);
        if self.has(DATAGRAM) {
            let payload = Payload::Udp(Datagram { bytes: Bytes(seq), ecn, number: ack, carried: self.has(CARRIED) });
            return Packet { to, destination, size, sent_at, retransmission, ttl, payload };
        }
        let timestamps = self.has(TIMESTAMPED).then_some(stamps);
        let (seq, ack) = (SeqNo(seq), SeqNo(ack));
        let segment = Segment { seq, ack, len, flags, ecn, window, timestamps, ..Segment::default() };
        Packet { to, destination, size, sent_at, retransmission, ttl, payload: Payload::Tcp(segment) }
    }
}

/// `bit` if `is_set`.
fn bit_if(is_set: bool, bit: u8) -> u8 {
    if is_set { bit } else { 0 }
}

impl PacketStore {
    /// Inserts a UDP datagram.
    pub(crate) fn insert_datagram(&mut self, header: &PacketHeader, datagram: Datagram) -> PacketId {
        let Datagram { bytes, ecn, number, .. } = datagram;
        let empty = PackedPacket::of(header);
        self.put(PackedPacket { seq: bytes.0, ack: number, ecn, bits: empty.bits | DATAGRAM, ..empty })
    }

    /// Inserts a packet with a TCP segment.
    #[inline]
    pub(crate) fn insert_segment(&mut self, header: &PacketHeader, segment: &Segment) -> PacketId {
        let Segment { seq, ack, window, len, flags, ecn, timestamps, .. } = *segment;
        let empty = PackedPacket::of(header);
        let stamps = timestamps.unwrap_or(empty.stamps);
        let bits = empty.bits | bit_if(timestamps.is_some(), TIMESTAMPED);
        let mut packed = PackedPacket { seq: seq.0, ack: ack.0, window, stamps, len, flags, ecn, bits, ..empty };
        if !segment.sack.is_empty() || segment.syn.is_some() || segment.ecn_bytes.is_some() {
            packed = self.store_rare(packed, segment);
        }
        self.put(packed)
    }

    #[inline]
    fn put(&mut self, packed: PackedPacket) -> PacketId {
        // Then a quarter of the slots before this one is free, and the next free slot is near.
        if self.next >= self.count + self.count / 3 + SLOTS {
            self.next = 0;
        }
        let slot = self.free_slot();
        if slot / SLOTS == self.occupied.len() {
            self.occupied.push(0);
        }
        self.occupied[slot / SLOTS] |= 1 << (slot % SLOTS);
        self.count += 1;
        self.next = slot + 1;
        match self.packets.get_mut(slot) {
            Some(left) => *left = packed,
            None => self.packets.push(packed),
        }
        PacketId(u32::try_from(slot).expect("fewer than 2^32 packets exist at once"))
    }

    #[inline]
    fn free_slot(&self) -> usize {
        let mut from = self.next;
        while let Some(occupied) = self.occupied.get(from / SLOTS) {
            let free = !occupied >> (from % SLOTS);
            if free != 0 {
                return from + free.trailing_zeros() as usize;
            }
            from = (from / SLOTS + 1) * SLOTS;
        }
        from
    }

    #[inline]
    fn exists(&self, slot: usize) -> bool {
        self.occupied[slot / SLOTS] >> (slot % SLOTS) & 1 != 0
    }

    #[cold]
    #[inline(never)]
    fn store_rare(&mut self, packed: PackedPacket, segment: &Segment) -> PackedPacket {
        let Segment { timestamps, sack, syn, ecn_bytes, .. } = *segment;
        let index = self.rare_slot(RareOptions { timestamps, sack, syn, ecn_bytes });
        PackedPacket { bits: packed.bits | RARE, stamps: Timestamps { value: index, echo: 0 }, ..packed }
    }

    /// The index that these options have from now on.
    fn rare_slot(&mut self, rare: RareOptions) -> u32 {
        let index = self.free_rare.pop().unwrap_or(self.rare.len() as u32);
        match self.rare.get_mut(index as usize) {
            Some(slot) => *slot = rare,
            None => self.rare.push(rare),
        }
        index
    }

    /// Removes a packet.
    #[inline]
    pub(crate) fn remove(&mut self, id: PacketId) -> Packet {
        let packet = self.unpack(self.packed(id));
        self.free(id);
        packet
    }

    #[inline]
    fn free(&mut self, id: PacketId) {
        let slot = id.0 as usize;
        let packed = &self.packets[slot];
        if packed.bits & (RARE | CARRIED) != 0 {
            self.free_beside(slot);
        }
        self.occupied[slot / SLOTS] &= !(1 << (slot % SLOTS));
        self.count -= 1;
    }

    /// Takes a packet out, as it is. Its bytes do not leave with it: a world with carried ones has one part.
    pub(crate) fn take(&mut self, id: PacketId) -> MovedPacket {
        let packed = *self.packed(id);
        let rare = packed.has(RARE).then(|| Box::new(self.rare[packed.stamps.value as usize]));
        self.free(id);
        MovedPacket { packed, rare }
    }

    /// Puts a packet in, as it was.
    pub(crate) fn put_back(&mut self, moved: MovedPacket) -> PacketId {
        let MovedPacket { mut packed, rare } = moved;
        if let Some(rare) = rare {
            let value = self.rare_slot(*rare);
            packed.stamps = Timestamps { value, echo: 0 };
        }
        self.put(packed)
    }

    /// Takes out the packets that exist.
    pub(crate) fn take_all(&mut self) -> Vec<MovedPacket> {
        let occupied = (0..self.packets.len()).filter(|slot| self.exists(*slot)).collect::<Vec<_>>();
        occupied.into_iter().map(|slot| self.take(PacketId(slot as u32))).collect()
    }

    /// Returns a packet that exists.
    #[inline(never)]
    pub(crate) fn get(&self, id: PacketId) -> Packet {
        self.unpack(self.packed(id))
    }

    #[inline]
    fn packed(&self, id: PacketId) -> &PackedPacket {
        debug_assert!(self.exists(id.0 as usize), "a packet leaves the network once");
        &self.packets[id.0 as usize]
    }

    #[inline]
    fn unpack(&self, packed: &PackedPacket) -> Packet {
        if packed.has(RARE) { self.unpack_rare(packed) } else { packed.unpack() }
    }

    #[cold]
    #[inline(never)]
    fn unpack_rare(&self, packed: &PackedPacket) -> Packet {
        let mut packet = packed.unpack();
        if let Payload::Tcp(segment) = &mut packet.payload {
            let RareOptions { timestamps, sack, syn, ecn_bytes } = self.rare[packed.stamps.value as usize];
            *segment = Segment { timestamps, sack, syn, ecn_bytes, ..*segment };
        }
        packet
    }

    /// The part of the header that forwarding needs.
    #[inline]
    pub(crate) fn forwarding_header(&self, id: PacketId) -> ForwardingHeader {
        let packed = self.packed(id);
        let PackedPacket { destination, size, ttl, .. } = *packed;
        ForwardingHeader { destination, size, ttl, damaged: packed.has(DAMAGED) }
    }

    /// The endpoint that a packet is for.
    pub(crate) fn receiver(&self, id: PacketId) -> EndpointId {
        self.packed(id).to
    }

    /// Decrements the TTL of a packet; false if it expires.
    pub(crate) fn decrement_ttl(&mut self, id: PacketId) -> bool {
        let ttl = &mut self.packets[id.0 as usize].ttl;
        *ttl = ttl.saturating_sub(1);
        *ttl > 0
    }

    /// Limits the TTL of a packet to `max`.
    pub(crate) fn limit_ttl(&mut self, id: PacketId, max: u8) {
        let ttl = &mut self.packets[id.0 as usize].ttl;
        *ttl = max.min(*ttl);
    }

    /// Inserts a copy of a packet.
    pub(crate) fn copy(&mut self, id: PacketId) -> PacketId {
        let packet = self.get(id);
        let Packet { to, destination, size, sent_at, retransmission, ttl, payload } = packet;
        let header = PacketHeader { to, destination, size, sent_at, retransmission, ttl };
        let copy = match payload {
            Payload::Tcp(segment) => self.insert_segment(&header, &segment),
            Payload::Udp(bytes) => self.insert_datagram(&header, bytes),
        };
        let PackedPacket { bits, ack, .. } = *self.packed(id);
        self.packets[copy.0 as usize].bits |= bits & (DAMAGED | CARRIED);
        if bits & CARRIED != 0 {
            self.carried.share(ack as u32);
        }
        copy
    }

    /// Exchanges two packets: each has the other's id from now on.
    pub(crate) fn swap(&mut self, one: PacketId, other: PacketId) {
        self.packets.swap(one.0 as usize, other.0 as usize);
    }

    /// Memory that the store takes.
    pub(crate) fn held_bytes(&self) -> u64 {
        let rare = self.rare.len() * (size_of::<RareOptions>() + size_of::<u32>());
        let own = self.packets.len() * size_of::<PackedPacket>() + self.occupied.len() * size_of::<u64>();
        (own + rare) as u64 + self.carried.held_bytes()
    }

    /// Iterates over the packets that exist.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Packet> {
        let occupied = self.packets.iter().enumerate().filter(|(slot, _)| self.exists(*slot));
        occupied.map(|(_, packed)| self.unpack(packed))
    }
}

#[cfg(test)]
mod tests;
