//! Headers held against vectors and against their own rules.

use tcp::units::{Bytes, Time};
use tcp::{EcnBytes, Sack, SeqNo, SeqRange, SynOptions, Timestamps};

use super::*;
use crate::ids::{EndpointId, NodeId};
use crate::packet::Datagram;

const FROM: Socket = Socket { address: Ipv4Addr::new(10, 0, 0, 1), port: 49152 };
const TO: Socket = Socket { address: Ipv4Addr::new(10, 0, 0, 2), port: 5001 };

fn packet(payload: Payload) -> Packet {
    Packet {
        to: EndpointId(1),
        destination: NodeId(1),
        size: Bytes(0),
        sent_at: Time::ZERO,
        retransmission: false,
        ttl: 64,
        payload,
    }
}

/// The sum over the pseudo-header, the header with its checksum, and a payload of zeros is all ones (RFC 9293 §3.1).
fn assert_checksums(bytes: &[u8], payload: usize) {
    assert_eq!(checksum(&bytes[..20]), 0, "header of IP");
    let mut covered = bytes[12..20].to_vec();
    covered.extend([0, bytes[9]]);
    covered.extend(((bytes.len() - 20 + payload) as u16).to_be_bytes());
    covered.extend(&bytes[20..]);
    assert_eq!(checksum(&covered), 0, "header of the transport");
}

#[test]
fn the_checksum_of_rfc_1071() {
    // §3: the words 0001 f203 f4f5 f6f7 sum to ddf2.
    assert_eq!(checksum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
    assert_eq!(checksum(&[0x01]), !0x0100);
}

#[test]
fn a_syn_with_all_options() {
    let syn = SynOptions { mss: 1460, window_scale: Some(7), sack_permitted: true };
    let segment = Segment {
        flags: Flags::SYN,
        window: Bytes(100_000),
        timestamps: Some(Timestamps { value: 1, echo: 0 }),
        syn: Some(syn),
        ..Segment::default()
    };
    let bytes = headers(&packet(Payload::Tcp(segment)), FROM, TO, 7);
    // Version, total length 60, DF, TTL 64, TCP.
    assert_eq!(bytes[..10], [0x45, 0, 0, 60, 0, 0, 0x40, 0, 64, 6]);
    // Ports, numbers 0, data offset 10, SYN, the window unscaled.
    assert_eq!(bytes[20..36], [0xc0, 0, 0x13, 0x89, 0, 0, 0, 0, 0, 0, 0, 0, 0xa0, 2, 0xff, 0xff]);
    // MSS, SACK-permitted, timestamps, window scale.
    assert_eq!(bytes[40..], [2, 4, 5, 180, 4, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 0, 1, 3, 3, 7]);
    assert_checksums(&bytes, 0);
}

#[test]
fn an_ack_with_sack_blocks_and_ecn_feedback_wraps_its_numbers() {
    let mut sack = Sack::default();
    assert!(sack.push(SeqRange::new(SeqNo((1 << 32) + 9), SeqNo((1 << 32) + 19))));
    let segment = Segment {
        seq: SeqNo(1),
        ack: SeqNo((1 << 32) + 5),
        flags: Flags::ACK.with(Flags::AE).with(Flags::ECE),
        ecn: Ecn::Ect1,
        window: Bytes(1 << 20),
        sack,
        ecn_bytes: Some(EcnBytes { ect0: 0, ce: 0x0102_0304, ect1: 0xff_ffff }),
        ..Segment::default()
    };
    let bytes = headers(&packet(Payload::Tcp(segment)), FROM, TO, 7);
    assert_eq!(bytes[1], 1);
    assert_eq!(bytes[28..36], [0, 0, 0, 5, 0xb1, 0x50, 0x20, 0]);
    assert_eq!(bytes[40..52], [172, 11, 0, 0, 1, 2, 3, 4, 0, 0, 0, 1]);
    assert_eq!(bytes[52..], [1, 1, 5, 10, 0, 0, 0, 9, 0, 0, 0, 19]);
    assert_checksums(&bytes, 0);
}

#[test]
fn headers_are_as_long_as_segments_count_them() {
    let stamps = Timestamps { value: 7, echo: 8 };
    for timestamps in [None, Some(stamps)] {
        for syn in [None, Some((None, false)), Some((None, true)), Some((Some(3), false)), Some((Some(3), true))] {
            for blocks in 0..=2 {
                let syn =
                    syn.map(|(window_scale, sack_permitted)| SynOptions { mss: 536, window_scale, sack_permitted });
                let mut segment = Segment { len: 1001, timestamps, syn, ..Segment::default() };
                for i in 0..blocks {
                    assert!(segment.sack.push(SeqRange::new(SeqNo(i * 10), SeqNo(i * 10 + 5))));
                }
                let bytes = headers(&packet(Payload::Tcp(segment)), FROM, TO, 0);
                assert_eq!(bytes.len() as u64, 20 + segment.header().0, "{segment:?}");
                assert_eq!(u16::from_be_bytes([bytes[2], bytes[3]]) as usize, bytes.len() + 1001);
                assert_checksums(&bytes, 1001);
            }
        }
    }
}

#[test]
fn a_datagram_has_a_length_and_a_checksum() {
    let bytes = headers(
        &packet(Payload::Udp(Datagram { bytes: Bytes(500), ecn: Ecn::Ect1, number: 0, carried: false })),
        FROM,
        TO,
        0,
    );
    assert_eq!(bytes[..4], [0x45, 1, 2, 16]);
    assert_eq!(bytes[20..26], [0xc0, 0, 0x13, 0x89, 1, 252]);
    assert_checksums(&bytes, 500);
}
