use super::*;
use crate::ids::FlowId;
use crate::packet::TTL;
use tcp::SeqRange;

fn packet(payload: Payload) -> Packet {
    let (to, destination) = (FlowId(3).sink(), NodeId(7));
    let sent_at = Time::from_nanos(11);
    Packet { to, destination, size: Bytes(1500), sent_at, retransmission: true, ttl: TTL, payload }
}

fn datagram(bytes: u64, ecn: Ecn) -> Payload {
    Payload::Udp(Datagram { bytes: Bytes(bytes), ecn, number: bytes + 1, carried: false })
}

fn insert(store: &mut PacketStore, packet: &Packet) -> PacketId {
    let Packet { to, destination, size, sent_at, retransmission, ttl, payload } = *packet;
    let header = PacketHeader { to, destination, size, sent_at, retransmission, ttl };
    match payload {
        Payload::Tcp(segment) => store.insert_segment(&header, &segment),
        Payload::Udp(datagram) => store.insert_datagram(&header, datagram),
    }
}

#[test]
fn a_packet_takes_a_cache_line() {
    assert_eq!(size_of::<PackedPacket>(), 64);
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
    let payloads = segments.map(Payload::Tcp).into_iter().chain([datagram(9_999_999_999, Ecn::Ect1)]);
    let all: Vec<Packet> = payloads.map(packet).collect();
    let mut store = PacketStore::default();
    for _ in 0..30 {
        // The second time in slots that others have left.
        let ids: Vec<PacketId> = all.iter().map(|packet| insert(&mut store, packet)).collect();
        assert_eq!(store.iter().count(), all.len());
        for (id, packet) in ids.iter().zip(&all) {
            assert_eq!(store.get(*id), *packet);
            assert_eq!(store.remove(*id), *packet);
        }
        assert_eq!(store.iter().count(), 0);
    }
    assert!(store.packets.len() < 2 * SLOTS, "{}", store.packets.len());
    assert_eq!(store.rare.len(), 3);
}

#[test]
fn slots_follow_one_another_past_those_still_occupied() {
    let mut store = PacketStore::default();
    let one = packet(datagram(1, Ecn::NotEct));
    let stay: Vec<PacketId> = (0..100).map(|_| insert(&mut store, &one)).collect();
    let mut before = *stay.last().unwrap();
    for number in 0..10_000 {
        let id = insert(&mut store, &one);
        assert!(!stay.contains(&id));
        assert!(
            id.0 == before.0 + 1 || id.0 == 100 && before.0 as usize >= 133 + SLOTS - 1,
            "{number}: {id:?} {before:?}"
        );
        store.remove(id);
        before = id;
    }
    assert_eq!((store.iter().count(), store.packets.len()), (100, 133 + SLOTS));
}

#[test]
fn a_mark_stays() {
    let mut store = PacketStore::default();
    let segment = Segment { ecn: Ecn::Ect0, ..Segment::default() };
    let payloads = [Payload::Tcp(segment), datagram(5, Ecn::Ect1), datagram(5, Ecn::NotEct)];
    let ids = payloads.map(|payload| insert(&mut store, &packet(payload)));
    assert_eq!(ids.map(|id| store.mark(id).ecn()), [Ecn::Ce, Ecn::Ce, Ecn::NotEct]);
    assert_eq!(store.get(ids[0]).ecn(), Ecn::Ce);
}
