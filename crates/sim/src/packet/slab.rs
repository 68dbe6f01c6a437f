//! The packets that exist, each in one cache line.
//!
//! A packet is touched when it is sent, at each queue and at its destination, with thousands of others in between: what
//! nearly all packets have is in one line, the seldom rest in a place of its own.

use tcp::units::{Bytes, Time};
use tcp::{Ecn, EcnBytes, Flags, Sack, Segment, SeqNo, SynOptions, Timestamps};

use super::{Envelope, Packet, PacketId, Payload};
use crate::event::{EndpointId, NodeId};

/// A packet as it is kept.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Kept {
    to: EndpointId,
    destination: NodeId,
    size: Bytes,
    sent_at: Time,
    /// Of a datagram: its payload.
    seq: u64,
    ack: u64,
    window: Bytes,
    /// The timestamps option if there is one. With more than that the first is the index of a [`Rare`].
    stamps: Timestamps,
    len: u32,
    flags: Flags,
    ecn: Ecn,
    ttl: u8,
    traits: u8,
}

const RETRANSMISSION: u8 = 1;
const DATAGRAM: u8 = 2;
/// It has timestamps.
const STAMPED: u8 = 4;
/// It has something rare.
const RARE: u8 = 8;

/// Options that no segment has between two losses, with the timestamps beside them.
#[derive(Clone, Copy, Debug)]
struct Rare {
    timestamps: Option<Timestamps>,
    sack: Sack,
    syn: Option<SynOptions>,
    ecn_bytes: Option<EcnBytes>,
}

/// What it takes to pass a packet on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heading {
    pub(crate) destination: NodeId,
    pub(crate) size: Bytes,
    pub(crate) ttl: u8,
}

/// Places of one word of `taken`.
const PLACES: usize = u64::BITS as usize;

/// The packets that exist.
///
/// Places are given out in turn, past those still taken, and not as they become free: packets sent one after the other lie one
/// after the other, as they come to queues and to their ends later, and a processor fetches ahead of who goes straight on. It
/// begins again at the first place as soon as enough are free there: what is gone through in turn stays as small as it can.
#[derive(Debug, Default)]
pub(crate) struct Slab {
    packets: Vec<Kept>,
    /// A bit for each place.
    taken: Vec<u64>,
    /// How many are.
    count: usize,
    /// From here on a free place is looked for.
    next: usize,
    rare: Vec<Rare>,
    free_rare: Vec<u32>,
}

impl Kept {
    /// Without anything in it.
    #[inline]
    fn of(envelope: &Envelope) -> Kept {
        let Envelope { to, destination, size, sent_at, retransmission, ttl } = *envelope;
        let (seq, ack, window, len, flags, ecn) = (0, 0, Bytes::ZERO, 0, Flags::default(), Ecn::NotEct);
        let (stamps, traits) = (Timestamps { value: 0, echo: 0 }, when(retransmission, RETRANSMISSION));
        Kept { to, destination, size, sent_at, seq, ack, window, stamps, len, flags, ecn, ttl, traits }
    }

    fn is(&self, quality: u8) -> bool {
        self.traits & quality != 0
    }

    /// All but what is rare. Each kind is built in one piece, where it is wanted: nothing is copied.
    #[inline(always)]
    fn unpack(&self) -> Packet {
        let Kept { to, destination, size, sent_at, seq, ack, window, stamps, len, flags, ecn, ttl, .. } = *self;
        let retransmission = self.is(RETRANSMISSION);
        if self.is(DATAGRAM) {
            return Packet { to, destination, size, sent_at, retransmission, ttl, payload: Payload::Udp(Bytes(seq)) };
        }
        let timestamps = self.is(STAMPED).then_some(stamps);
        let (seq, ack) = (SeqNo(seq), SeqNo(ack));
        let segment = Segment { seq, ack, len, flags, ecn, window, timestamps, ..Segment::default() };
        Packet { to, destination, size, sent_at, retransmission, ttl, payload: Payload::Tcp(segment) }
    }
}

/// `quality` if `has`.
fn when(has: bool, quality: u8) -> u8 {
    if has { quality } else { 0 }
}

impl Slab {
    /// Takes a datagram of so many bytes in.
    pub(crate) fn insert_datagram(&mut self, envelope: &Envelope, bytes: Bytes) -> PacketId {
        let seq = bytes.0;
        let empty = Kept::of(envelope);
        self.put(Kept { seq, traits: empty.traits | DATAGRAM, ..empty })
    }

    /// Takes a packet with a segment in.
    #[inline]
    pub(crate) fn insert_segment(&mut self, envelope: &Envelope, segment: &Segment) -> PacketId {
        let Segment { seq, ack, window, len, flags, ecn, timestamps, .. } = *segment;
        let empty = Kept::of(envelope);
        let stamps = timestamps.unwrap_or(empty.stamps);
        let traits = empty.traits | when(timestamps.is_some(), STAMPED);
        let mut kept = Kept { seq: seq.0, ack: ack.0, window, stamps, len, flags, ecn, traits, ..empty };
        if !segment.sack.is_empty() || segment.syn.is_some() || segment.ecn_bytes.is_some() {
            kept = self.keep_rare(kept, segment);
        }
        self.put(kept)
    }

    #[inline]
    fn put(&mut self, kept: Kept) -> PacketId {
        // Then a quarter of the places before this one is free, and the next free place is near.
        if self.next >= self.count + self.count / 3 + PLACES {
            self.next = 0;
        }
        let place = self.free_place();
        if place / PLACES == self.taken.len() {
            self.taken.push(0);
        }
        self.taken[place / PLACES] |= 1 << (place % PLACES);
        self.count += 1;
        self.next = place + 1;
        match self.packets.get_mut(place) {
            Some(left) => *left = kept,
            None => self.packets.push(kept),
        }
        PacketId(u32::try_from(place).expect("fewer than 2^32 packets exist at once"))
    }

    #[inline]
    fn free_place(&self) -> usize {
        let mut from = self.next;
        while let Some(taken) = self.taken.get(from / PLACES) {
            let free = !taken >> (from % PLACES);
            if free != 0 {
                return from + free.trailing_zeros() as usize;
            }
            from = (from / PLACES + 1) * PLACES;
        }
        from
    }

    #[inline]
    fn exists(&self, place: usize) -> bool {
        self.taken[place / PLACES] >> (place % PLACES) & 1 != 0
    }

    #[cold]
    #[inline(never)]
    fn keep_rare(&mut self, kept: Kept, segment: &Segment) -> Kept {
        let Segment { timestamps, sack, syn, ecn_bytes, .. } = *segment;
        let rare = Rare { timestamps, sack, syn, ecn_bytes };
        let index = self.free_rare.pop().unwrap_or(self.rare.len() as u32);
        match self.rare.get_mut(index as usize) {
            Some(place) => *place = rare,
            None => self.rare.push(rare),
        }
        Kept { traits: kept.traits | RARE, stamps: Timestamps { value: index, echo: 0 }, ..kept }
    }

    /// Gives a packet up.
    #[inline]
    pub(crate) fn remove(&mut self, id: PacketId) -> Packet {
        let packet = self.unpack(self.kept(id));
        self.forget(id);
        packet
    }

    #[inline]
    fn forget(&mut self, id: PacketId) {
        let place = id.0 as usize;
        let kept = &self.packets[place];
        if kept.is(RARE) {
            self.free_rare.push(kept.stamps.value);
        }
        self.taken[place / PLACES] &= !(1 << (place % PLACES));
        self.count -= 1;
    }

    /// A packet that exists.
    #[inline(never)]
    pub(crate) fn get(&self, id: PacketId) -> Packet {
        self.unpack(self.kept(id))
    }

    #[inline]
    fn kept(&self, id: PacketId) -> &Kept {
        debug_assert!(self.exists(id.0 as usize), "a packet leaves the network once");
        &self.packets[id.0 as usize]
    }

    #[inline]
    fn unpack(&self, kept: &Kept) -> Packet {
        if kept.is(RARE) { self.unpack_rare(kept) } else { kept.unpack() }
    }

    #[cold]
    #[inline(never)]
    fn unpack_rare(&self, kept: &Kept) -> Packet {
        let mut packet = kept.unpack();
        if let Payload::Tcp(segment) = &mut packet.payload {
            let Rare { timestamps, sack, syn, ecn_bytes } = self.rare[kept.stamps.value as usize];
            *segment = Segment { timestamps, sack, syn, ecn_bytes, ..*segment };
        }
        packet
    }

    /// What it takes to pass a packet on.
    #[inline]
    pub(crate) fn heading(&self, id: PacketId) -> Heading {
        let Kept { destination, size, ttl, .. } = *self.kept(id);
        Heading { destination, size, ttl }
    }

    /// One node more has a packet; false if it has passed too many.
    pub(crate) fn pass_on(&mut self, id: PacketId) -> bool {
        let ttl = &mut self.packets[id.0 as usize].ttl;
        *ttl = ttl.saturating_sub(1);
        *ttl > 0
    }

    /// No more than `most` nodes may still pass a packet on.
    pub(crate) fn limit_ttl(&mut self, id: PacketId, most: u8) {
        let ttl = &mut self.packets[id.0 as usize].ttl;
        *ttl = most.min(*ttl);
    }

    /// Sets CE in a packet that takes marks; gives the packet as it is then.
    pub(crate) fn mark(&mut self, id: PacketId) -> Packet {
        let kept = &mut self.packets[id.0 as usize];
        if !kept.is(DATAGRAM) {
            kept.ecn = Ecn::Ce;
        }
        self.get(id)
    }

    /// Memory that it takes.
    pub(crate) fn held_bytes(&self) -> u64 {
        let rare = self.rare.len() * (size_of::<Rare>() + size_of::<u32>());
        (self.packets.len() * size_of::<Kept>() + self.taken.len() * size_of::<u64>() + rare) as u64
    }

    /// The packets that exist now.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Packet> {
        let places = self.packets.iter().enumerate().filter(|(place, _)| self.exists(*place));
        places.map(|(_, kept)| self.unpack(kept))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::FlowId;
    use crate::packet::TTL;
    use tcp::SeqRange;

    fn packet(payload: Payload) -> Packet {
        let (to, destination) = (FlowId(3).sink(), NodeId(7));
        let sent_at = Time::from_nanos(11);
        Packet { to, destination, size: Bytes(1500), sent_at, retransmission: true, ttl: TTL, payload }
    }

    fn insert(slab: &mut Slab, packet: &Packet) -> PacketId {
        let Packet { to, destination, size, sent_at, retransmission, ttl, payload } = *packet;
        let envelope = Envelope { to, destination, size, sent_at, retransmission, ttl };
        match payload {
            Payload::Tcp(segment) => slab.insert_segment(&envelope, &segment),
            Payload::Udp(bytes) => slab.insert_datagram(&envelope, bytes),
        }
    }

    #[test]
    fn a_packet_takes_a_cache_line() {
        assert_eq!(size_of::<Kept>(), 64);
    }

    #[test]
    fn what_comes_out_is_what_went_in() {
        let timestamps = Some(Timestamps { value: 5, echo: 4 });
        let plain =
            Segment { seq: SeqNo(1), ack: SeqNo(2), len: 3, flags: Flags::ACK, ecn: Ecn::Ect0, ..Segment::default() };
        let stamped = Segment { timestamps, window: Bytes(1 << 40), ..plain };
        let mut sack = Sack::default();
        sack.push(SeqRange::new(SeqNo(10), SeqNo(20)));
        let syn = Some(SynOptions { mss: 1460, window_scale: Some(7), sack_permitted: true });
        let ecn_bytes = Some(EcnBytes { ect0: 1, ce: 2, ect1: 3 });
        let segments =
            [plain, stamped, Segment { sack, ..stamped }, Segment { syn, ..plain }, Segment { ecn_bytes, ..stamped }];
        let payloads = segments.map(Payload::Tcp).into_iter().chain([Payload::Udp(Bytes(9_999_999_999))]);
        let all: Vec<Packet> = payloads.map(packet).collect();
        let mut slab = Slab::default();
        for _ in 0..30 {
            // After some of them in places that others have left.
            let ids: Vec<PacketId> = all.iter().map(|packet| insert(&mut slab, packet)).collect();
            assert_eq!(slab.iter().count(), all.len());
            for (id, packet) in ids.iter().zip(&all) {
                assert_eq!(slab.get(*id), *packet);
                assert_eq!(slab.remove(*id), *packet);
            }
            assert_eq!(slab.iter().count(), 0);
        }
        assert!(slab.packets.len() < 2 * PLACES, "{}", slab.packets.len());
        assert_eq!(slab.rare.len(), 3);
    }

    #[test]
    fn places_follow_one_another_past_those_still_taken() {
        let mut slab = Slab::default();
        let one = packet(Payload::Udp(Bytes(1)));
        let stay: Vec<PacketId> = (0..100).map(|_| insert(&mut slab, &one)).collect();
        let mut before = *stay.last().unwrap();
        for number in 0..10_000 {
            let id = insert(&mut slab, &one);
            assert!(!stay.contains(&id));
            assert!(
                id.0 == before.0 + 1 || id.0 == 100 && before.0 as usize >= 133 + PLACES - 1,
                "{number}: {id:?} {before:?}"
            );
            slab.remove(id);
            before = id;
        }
        assert_eq!((slab.iter().count(), slab.packets.len()), (100, 133 + PLACES));
    }

    #[test]
    fn a_mark_stays() {
        let mut slab = Slab::default();
        let segment = Segment { ecn: Ecn::Ect0, ..Segment::default() };
        let ids = [Payload::Tcp(segment), Payload::Udp(Bytes(5))].map(|payload| insert(&mut slab, &packet(payload)));
        assert_eq!(ids.map(|id| slab.mark(id).ecn()), [Ecn::Ce, Ecn::NotEct]);
        assert_eq!(slab.get(ids[0]).ecn(), Ecn::Ce);
    }
}
