//! 6LoWPAN: header compression (RFC 6282) and fragmentation (RFC 4944 §5.3) of IPv6 datagrams. Only sizes are computed;
//! the addresses of the stations of a PAN share one context.

use tcp::units::Bytes;

/// The largest PSDU (IEEE 802.15.4-2011 §9.2, aMaxPHYPacketSize).
pub(crate) const MAX_PSDU: Bytes = Bytes(127);
/// Minimum MTU of IPv6 (RFC 8200 §5), and the maximum of 6LoWPAN.
pub(crate) const MTU: Bytes = Bytes(1280);
pub(crate) const IPV6_HEADER: Bytes = Bytes(40);
const UDP_HEADER: Bytes = Bytes(8);

/// Size of the LOWPAN_IPHC encoding (RFC 6282 §3.1.1).
const IPHC: u64 = 2;
/// Sizes of the FRAG1 and FRAGN headers (RFC 4944 §5.3).
const FRAG1_HEADER: u64 = 4;
const FRAGN_HEADER: u64 = 5;
/// Unit of datagram_offset: bytes of the uncompressed datagram.
const FRAGMENT_UNIT: u64 = 8;

/// Compression of an address (RFC 6282 §3.2.1, §3.2.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Address {
    /// Elided: derived from the MAC address.
    Elided,
    /// Another station of the PAN: the prefix is that of the context; bytes of the interface identifier.
    Context(u64),
    /// 16 bytes inline: a node beyond the PAN, or any without a context.
    Inline,
    /// A multicast address of 8 bits, as ff02::1, all nodes.
    AllNodes,
    /// A multicast address of 48 bits: that of a solicited node (RFC 4291 §2.7.1).
    SolicitedNode,
}

impl Address {
    fn bytes(self) -> u64 {
        match self {
            Address::Elided => 0,
            Address::Context(bytes) => bytes,
            Address::Inline => 16,
            Address::AllNodes => 1,
            Address::SolicitedNode => 6,
        }
    }
}

/// Transport header after that of IPv6.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Transport {
    /// TCP, which is not compressed.
    Tcp,
    /// UDP, which is compressed.
    Udp,
    /// ICMPv6, which is not compressed.
    Icmpv6,
}

/// What decides the compressed size of a datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Datagram {
    pub(crate) transport: Transport,
    /// Bytes after the headers of IPv6 and UDP: TCP header and payload, or UDP payload.
    pub(crate) payload: Bytes,
    pub(crate) hop_limit: u8,
    /// Bytes of traffic class and flow label that are not elided (RFC 6282 §3.1.1).
    pub(crate) traffic_class: u64,
    pub(crate) source: Address,
    pub(crate) destination: Address,
}

impl Datagram {
    /// Size of the uncompressed headers, TCP excluded.
    fn uncompressed_headers(&self) -> u64 {
        match self.transport {
            Transport::Tcp | Transport::Icmpv6 => IPV6_HEADER.0,
            Transport::Udp => IPV6_HEADER.0 + UDP_HEADER.0,
        }
    }

    /// Size of the headers compressed by LOWPAN_IPHC and LOWPAN_NHC (RFC 6282 §3, §4.3).
    pub(crate) fn compressed_headers(&self) -> u64 {
        let next_header = match self.transport {
            Transport::Tcp | Transport::Icmpv6 => 1,
            // NHC dispatch and ports. The checksum is elided, as §4.3.2 allows if another integrity
            // check covers the datagram; it would be 2 B more.
            Transport::Udp => 1 + 4,
        };
        let hop_limit = u64::from(!matches!(self.hop_limit, 1 | 64 | 255));
        IPHC + self.traffic_class + next_header + hop_limit + self.source.bytes() + self.destination.bytes()
    }

    /// The frames, each with a MAC overhead of `mac`; `None` if the datagram is too long.
    pub(crate) fn frames(&self, mac: Bytes) -> Option<FrameSizes> {
        let (payload, room) = (self.payload.0, MAX_PSDU.saturating_sub(mac).0);
        let headers = self.compressed_headers();
        if headers + payload <= room {
            return Some(FrameSizes::one(mac + Bytes(headers + payload)));
        }
        if self.uncompressed_headers() + payload > MTU.0 {
            return None;
        }
        let fits = self.uncompressed_headers() + room.saturating_sub(FRAG1_HEADER + headers);
        let in_first = (fits / FRAGMENT_UNIT * FRAGMENT_UNIT).checked_sub(self.uncompressed_headers())?;
        let in_next = (room - FRAGN_HEADER) / FRAGMENT_UNIT * FRAGMENT_UNIT;
        let left = payload - in_first;
        // The last fragment need not end at a unit.
        let whole = left.saturating_sub(room - FRAGN_HEADER).div_ceil(in_next);
        Some(FrameSizes {
            count: 2 + whole as u32,
            first: mac + Bytes(FRAG1_HEADER + headers + in_first),
            middle: mac + Bytes(FRAGN_HEADER + in_next),
            last: mac + Bytes(FRAGN_HEADER + left - whole * in_next),
        })
    }
}

/// PSDU sizes of the frames of a datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FrameSizes {
    pub(crate) count: u32,
    first: Bytes,
    middle: Bytes,
    last: Bytes,
}

impl FrameSizes {
    /// An unfragmented datagram.
    pub(crate) fn one(psdu: Bytes) -> FrameSizes {
        FrameSizes { count: 1, first: psdu, middle: psdu, last: psdu }
    }

    /// PSDU size of the frame with this index.
    pub(crate) fn psdu(&self, index: u32) -> Bytes {
        match index {
            0 => self.first,
            index if index + 1 == self.count => self.last,
            _ => self.middle,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Bytes = Bytes(11);
    const LONG: Bytes = Bytes(23);

    fn datagram(transport: Transport, payload: u64) -> Datagram {
        let (source, destination) = (Address::Elided, Address::Elided);
        Datagram { transport, payload: Bytes(payload), hop_limit: 64, traffic_class: 0, source, destination }
    }

    fn tcp(mss: u64) -> Datagram {
        datagram(Transport::Tcp, 20 + mss)
    }

    fn sizes(datagram: Datagram, mac: Bytes) -> Vec<u64> {
        let frames = datagram.frames(mac).expect("it is not too long");
        (0..frames.count).map(|index| frames.psdu(index).0).collect()
    }

    /// RFC 6282: 3 B before TCP, 7 B for IPv6 and UDP; one byte for an inline hop limit; addresses that are not elided.
    #[test]
    fn headers() {
        assert_eq!(tcp(0).compressed_headers(), 3);
        assert_eq!(datagram(Transport::Udp, 0).compressed_headers(), 7);
        assert_eq!(Datagram { hop_limit: 63, ..datagram(Transport::Udp, 0) }.compressed_headers(), 8);
        let after_first_hop = Datagram { hop_limit: 62, source: Address::Context(2), ..tcp(0) };
        assert_eq!(after_first_hop.compressed_headers(), 3 + 1 + 2);
        assert_eq!(Datagram { destination: Address::Context(8), ..after_first_hop }.compressed_headers(), 6 + 8);
        assert_eq!(Datagram { destination: Address::Inline, traffic_class: 1, ..tcp(0) }.compressed_headers(), 3 + 17);
        let update = Datagram { destination: Address::AllNodes, ..datagram(Transport::Udp, 0) };
        assert_eq!(update.compressed_headers(), 7 + 1);
    }

    /// The largest payload of TCP in one frame is 93 B, with long addresses 81 B.
    #[test]
    fn one_frame() {
        assert_eq!(sizes(tcp(93), SHORT), [127]);
        assert_eq!(sizes(tcp(81), LONG), [127]);
        assert_eq!(sizes(tcp(94), SHORT).len(), 2);
        assert_eq!(sizes(tcp(82), LONG).len(), 2);
    }

    /// RFC 4944 §5.3, computed by hand, for a segment of 256 B: 316 B of IPv6 are 144, 104 and 68; the first is
    /// compressed from 60 + 84 to 23 + 84.
    #[test]
    fn fragments_byte_for_byte() {
        assert_eq!(sizes(tcp(256), SHORT), [11 + 4 + 23 + 84, 11 + 5 + 104, 11 + 5 + 68]);
        assert_eq!(sizes(tcp(100), SHORT), [11 + 4 + 23 + 84, 11 + 5 + 16]);
        // With long addresses 100 B remain for the first and 99 for the next: 136 = 60 + 76, then 96 each.
        assert_eq!(sizes(tcp(256), LONG), [23 + 4 + 23 + 76, 23 + 5 + 96, 23 + 5 + 84]);
        // The last fragment may fill its frame though it is no multiple of 8.
        assert_eq!(sizes(tcp(84 + 111), SHORT), [122, 127]);
        assert_eq!(sizes(tcp(84 + 112), SHORT), [122, 120, 24]);
    }

    /// The frames of ns-3.37 in a mesh (18 B around the datagram): a segment of 100 B with timestamps, and an ACK, without a
    /// context and with the flow label.
    #[test]
    fn frames_without_a_context() {
        let (source, destination) = (Address::Inline, Address::Inline);
        let of = |payload| Datagram { traffic_class: 3, source, destination, ..datagram(Transport::Tcp, payload) };
        assert_eq!(sizes(of(20 + 12 + 100), Bytes(18)), [124, 91]);
        assert_eq!(sizes(of(20 + 12), Bytes(18)), [88]);
    }

    /// The numbers of frames of `lrwpan.out`.
    #[test]
    fn numbers_of_fragments() {
        for (mss, short, long) in [(160, 2, 2), (536, 6, 6), (1220, 12, 13)] {
            assert_eq!((sizes(tcp(mss), SHORT).len(), sizes(tcp(mss), LONG).len()), (short, long), "{mss} B");
        }
        for (payload, short, long) in [(100, 1, 2), (256, 3, 3), (512, 5, 6), (1000, 10, 11)] {
            let udp = |mac| sizes(datagram(Transport::Udp, payload), mac).len();
            assert_eq!((udp(SHORT), udp(LONG)), (short, long), "{payload} B");
        }
    }

    /// Every byte is in one frame, and none exceeds the maximum PSDU.
    #[test]
    fn nothing_is_lost_or_too_large() {
        for mac in [SHORT, LONG] {
            for payload in 20..1240 {
                let datagram =
                    Datagram { hop_limit: 60, source: Address::Context(8), ..datagram(Transport::Tcp, payload) };
                let sizes = sizes(datagram, mac);
                let fragments =
                    if sizes.len() == 1 { 0 } else { FRAG1_HEADER + FRAGN_HEADER * (sizes.len() as u64 - 1) };
                let carried = sizes.iter().map(|psdu| psdu - mac.0).sum::<u64>() - fragments;
                assert_eq!(carried, datagram.compressed_headers() + payload);
                assert!(sizes.iter().all(|psdu| *psdu <= 127), "{sizes:?}");
            }
        }
    }

    /// 1280 B of IPv6 are a segment of 1220 B.
    #[test]
    fn what_is_longer_than_the_mtu_has_no_frames() {
        assert_eq!(sizes(tcp(1220), SHORT).len(), 12);
        assert_eq!(tcp(1221).frames(SHORT), None);
    }
}
