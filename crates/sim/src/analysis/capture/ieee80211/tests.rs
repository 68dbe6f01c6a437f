//! Frames held byte by byte against IEEE 802.11 and radiotap.

use tcp::units::{Bytes, Span};

use super::*;

/// Stations 0 and 1, at nodes 0 and 256; station 2 is an access point at node 2.
fn channel(radio: &str) -> Ieee80211 {
    let radio: RadioDef = serde_json::from_str(radio).unwrap();
    let nodes = [0, 256, 2].map(NodeId).to_vec();
    Ieee80211::new(3, &radio, nodes, vec![false, false, true])
}

const N: &str = r#"{"standard": "n", "frequency": "5180MHz"}"#;
const B: &str = r#"{"standard": "b", "frequency": "2412MHz"}"#;

fn frame(kind: FrameKind, from: u32, to: Option<u32>, rate: &str) -> AirFrame {
    let (rate, duration) = (rate.parse().unwrap(), Span::from_nanos(44_001));
    AirFrame { channel: 0, from, to, kind, sequence: 7, size: Bytes(0), rate, airtime: Span::ZERO, duration }
}

fn seen(channel: &mut Ieee80211, frame: &AirFrame, mpdus: &[Mpdu]) -> Vec<Captured> {
    channel.frames(Time::from_nanos(5_000_000), frame, mpdus, &Flows(Vec::new()))
}

fn message(sequence: u32, size: u64, message: Message) -> Mpdu {
    Mpdu { sequence, size: Bytes(size), content: MpduContent::Message(message) }
}

#[test]
fn control_frames() {
    let mut channel = channel(B);
    let zero = [2, 0, 10, 0, 0, 1];
    let one = [2, 0, 10, 0, 1, 1];
    // Version 0, length 14, present, no FCS, 1 Mb/s in units of 500 kb/s, channel 2412 MHz, CCK at 2 GHz.
    let radiotap = [0, 0, 14, 0, 0x0e, 0, 0, 0, 0, 2, 0x6c, 0x09, 0xa0, 0];
    let bytes = |fields: [&[u8]; 2]| [radiotap.as_slice(), fields[0], fields[1]].concat();
    // 44.001 us take 45 units of the Duration field.
    let rts = [[0xb4, 0, 45, 0].as_slice(), &one, &zero].concat();
    for (kind, expected) in [
        (FrameKind::Rts, bytes([&rts, &[]])),
        (FrameKind::Cts, bytes([&[0xc4, 0, 45, 0], &one])),
        (FrameKind::Ack, bytes([&[0xd4, 0, 45, 0], &one])),
    ] {
        assert_eq!(seen(&mut channel, &frame(kind, 0, Some(1), "1Mbps"), &[]), [Captured { bytes: expected, rest: 0 }]);
    }
}

#[test]
fn block_acks_have_a_start_and_a_bitmap() {
    let mut channel = channel(N);
    let ack = frame(FrameKind::BlockAck { start: 4097, received: 0x8000_0000_0000_0005 }, 0, Some(1), "24Mbps");
    let bytes = seen(&mut channel, &ack, &[]).remove(0).bytes;
    // Compressed; sequence number 1 after the wrap at 4096, above the fragment number.
    assert_eq!(bytes[14 + 16..], [4, 0, 0x10, 0, 5, 0, 0, 0, 0, 0, 0, 0x80]);
    let request = frame(FrameKind::BlockAckRequest { start: 2 }, 0, Some(1), "24Mbps");
    assert_eq!(seen(&mut channel, &request, &[]).remove(0).bytes[14 + 16..], [4, 0, 0x20, 0]);
}

#[test]
fn an_aggregate_is_its_mpdus_and_a_retransmission_is_marked() {
    let mut channel = channel(N);
    let mpdus = [1, 2].map(|sequence| message(sequence, 28, Message::Arp(ArpMessage::Reply)));
    let sent = frame(FrameKind::Data, 0, Some(2), "52Mbps");
    let rows = seen(&mut channel, &sent, &mpdus);
    // MCS 5 of 20 MHz, mixed format; A-MPDU 1, the last MPDU known, and which it is.
    let head = [0, 0, 28, 0, 0x0a, 0, 0x18, 0, 0, 0, 0x3c, 0x14, 0x40, 1, 0x0f, 0, 5, 0, 0, 0];
    for (row, is_last) in rows.iter().zip([0, 8]) {
        assert_eq!(row.bytes[..20], head);
        assert_eq!(row.bytes[20..28], [1, 0, 0, 0, 4 + is_last, 0, 0, 0]);
        // QoS data to the access point, whose address is the BSSID and the destination.
        assert_eq!(row.bytes[28..32], [0x88, TO_DS, 45, 0]);
        assert_eq!(row.bytes[32..50], [[2, 0, 10, 0, 0, 3], [2, 0, 10, 0, 0, 1], [2, 0, 10, 0, 0, 3]].concat());
        assert_eq!(row.bytes[54..62], [0xaa, 0xaa, 3, 0, 0, 0, 8, 6]);
    }
    assert_eq!(rows.iter().map(|row| row.bytes[50] >> 4).collect::<Vec<u8>>(), [1, 2]);
    // The second one again, alone: its contents are remembered.
    let again = Mpdu { content: MpduContent::Repeated, ..mpdus[1].clone() };
    let row = seen(&mut channel, &sent, &[again]).remove(0);
    assert_eq!((row.bytes[2], row.bytes[18]), (17, TO_DS | RETRY));
    assert_eq!(row.bytes[19..], rows[1].bytes[30..]);
}

#[test]
fn management_frames_and_messages() {
    let mut channel = channel(B);
    let beacon = seen(&mut channel, &frame(FrameKind::Data, 2, None, "1Mbps"), &[message(9, 100, Message::Beacon)]);
    let [Captured { bytes, rest }] = beacon.as_slice() else { panic!("one frame") };
    let access_point = [2, 0, 10, 0, 0, 3];
    assert_eq!(bytes[14..18], [0x80, 0, 45, 0]);
    assert_eq!(bytes[18..36], [[0xff; 6], access_point, access_point].concat());
    // Number 9; 5000 us; every 100 units of time; ESS.
    assert_eq!(bytes[36..], [0x90, 0, 0x88, 0x13, 0, 0, 0, 0, 0, 0, 100, 0, 1, 0]);
    assert_eq!(bytes[38..].len() as u64 + rest, 8 + 100);

    let step = Message::Association(AssociationMessage::AuthenticationResponse);
    let row = seen(&mut channel, &frame(FrameKind::Data, 2, Some(0), "1Mbps"), &[message(1, 80, step)]).remove(0);
    assert_eq!((row.bytes[14], &row.bytes[38..]), (0xb0, [0, 0, 2, 0, 0, 0].as_slice()));

    // Between stations, in an independent network: ARP asks for 10.0.1.1, and DSDV is a datagram of UDP.
    let broadcast = frame(FrameKind::Data, 0, None, "1Mbps");
    let asked = message(1, 28, Message::Arp(ArpMessage::Request(crate::ids::StationId(1))));
    let row = seen(&mut channel, &broadcast, &[asked]).remove(0);
    assert_eq!((&row.bytes[14..16], &row.bytes[30..36]), ([0x08, 0].as_slice(), [2, 0xff, 0, 0, 0, 3].as_slice()));
    assert_eq!(row.bytes[46..54], [0, 1, 8, 0, 6, 4, 0, 1]);
    assert_eq!((&row.bytes[60..64], &row.bytes[70..]), ([10, 0, 0, 1].as_slice(), [10, 0, 1, 1].as_slice()));
    let update = seen(&mut channel, &broadcast, &[message(2, 52, Message::Dsdv(Vec::new()))]).remove(0);
    assert_eq!((&update.bytes[48..50], update.bytes[55], update.rest), ([0, 52].as_slice(), 17, 24));
    assert_eq!(update.bytes[66..], [1, 13, 1, 13, 0, 32, 0, 0]);
}
