//! Headers of IPv4 (RFC 791), IPv6 (RFC 8200), TCP (RFC 9293), UDP (RFC 768) and ICMP: what the network and its tables ask of them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use tcp::Ecn;

const ICMP: u8 = 1;
pub(crate) const TCP: u8 = 6;
pub(crate) const UDP: u8 = 17;
const FRAGMENT: u8 = 44;
const ICMPV6: u8 = 58;
/// Extension headers with a length field (RFC 8200 §4): hop-by-hop options, routing, destination options.
const EXTENSIONS: [u8; 3] = [0, 43, 60];

/// What tells a flow apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Tuple {
    /// Number of the protocol (IANA).
    pub protocol: u8,
    /// Source address and port; of an echo its identifier; 0 where there is none.
    pub from: (IpAddr, u16),
    /// Destination.
    pub to: (IpAddr, u16),
}

impl Tuple {
    /// That of packets in the other direction.
    pub(crate) fn turned(self) -> Tuple {
        Tuple { from: self.to, to: self.from, ..self }
    }
}

/// What the header of a TCP segment says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TcpHeader {
    pub(crate) seq: u32,
    pub(crate) ack: Option<u32>,
    pub(crate) syn: bool,
    pub(crate) fin: bool,
}

/// What the headers of a packet say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Headers {
    pub(crate) tuple: Tuple,
    /// Length of the IP datagram.
    pub(crate) size: usize,
    /// What the transport carries.
    pub(crate) payload: usize,
    pub(crate) ecn: Ecn,
    pub(crate) dscp: u8,
    pub(crate) tcp: Option<TcpHeader>,
}

impl Headers {
    /// Reads the headers of an IP datagram; none if it is none, or is cut.
    pub(crate) fn of(bytes: &[u8]) -> Option<Headers> {
        match bytes.first()? >> 4 {
            4 => Headers::of_v4(bytes),
            6 => Headers::of_v6(bytes),
            _ => None,
        }
    }

    fn of_v4(bytes: &[u8]) -> Option<Headers> {
        let header = usize::from(bytes[0] & 15) * 4;
        let (traffic, size) = (*bytes.get(1)?, usize::from(word(bytes, 2)?));
        let later_fragment = word(bytes, 6)? & 0x1fff != 0;
        let address = |at| Some(IpAddr::V4(Ipv4Addr::from(<[u8; 4]>::try_from(bytes.get(at..at + 4)?).ok()?)));
        let ends = (address(12)?, address(16)?);
        let protocol = bytes[9];
        let size = if size == 0 { bytes.len() } else { size };
        if header < 20 || size < header || size > bytes.len() {
            return None;
        }
        let rest = &bytes[header..size];
        Some(Headers::with(traffic, size, protocol, ends, if later_fragment { None } else { Some(rest) }, rest.len()))
    }

    fn of_v6(bytes: &[u8]) -> Option<Headers> {
        let traffic = ((word(bytes, 0)? >> 4) & 0xff) as u8;
        let length = usize::from(word(bytes, 4)?);
        let address = |at| Some(IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(bytes.get(at..at + 16)?).ok()?)));
        let ends = (address(8)?, address(24)?);
        let size = if length == 0 { bytes.len() } else { 40 + length };
        let (mut next, mut at, mut whole) = (bytes[6], 40, true);
        if size > bytes.len() {
            return None;
        }
        loop {
            if EXTENSIONS.contains(&next) {
                (next, at) = (*bytes.get(at)?, at + 8 + 8 * usize::from(*bytes.get(at + 1)?));
            } else if next == FRAGMENT {
                whole &= word(bytes, at + 2)? & 0xfff8 == 0;
                (next, at) = (*bytes.get(at)?, at + 8);
            } else {
                break;
            }
        }
        let rest = bytes.get(at..size)?;
        Some(Headers::with(traffic, size, next, ends, whole.then_some(rest), rest.len()))
    }

    /// With what the transport says, unless that is in another fragment.
    fn with(
        traffic: u8,
        size: usize,
        protocol: u8,
        (from, to): (IpAddr, IpAddr),
        transport: Option<&[u8]>,
        length: usize,
    ) -> Headers {
        let rest = transport.unwrap_or_default();
        let port = |at| word(rest, at).unwrap_or_default();
        let (ports, header, tcp) = match protocol {
            TCP => ([port(0), port(2)], usize::from(rest.get(12).copied().unwrap_or_default() >> 4) * 4, tcp_of(rest)),
            UDP => ([port(0), port(2)], 8, None),
            // The identifier of an echo and of its reply.
            ICMP if matches!(rest.first(), Some(0 | 8)) => ([port(4); 2], 8, None),
            ICMPV6 if matches!(rest.first(), Some(128 | 129)) => ([port(4); 2], 8, None),
            _ => ([0; 2], 0, None),
        };
        let payload = if transport.is_some() { length.saturating_sub(header) } else { length };
        Headers {
            tuple: Tuple { protocol, from: (from, ports[0]), to: (to, ports[1]) },
            size,
            payload,
            ecn: Ecn::of_field(traffic),
            dscp: traffic >> 2,
            tcp,
        }
    }
}

fn tcp_of(bytes: &[u8]) -> Option<TcpHeader> {
    let number = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let flags = *bytes.get(13)?;
    Some(TcpHeader {
        seq: number(4)?,
        ack: number(8).filter(|_| flags & 16 != 0),
        syn: flags & 2 != 0,
        fin: flags & 1 != 0,
    })
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

/// Writes the ECN field of an IP datagram, and the checksum of an IPv4 header with it (RFC 1624 eq. 3).
pub(crate) fn set_ecn(bytes: &mut [u8], ecn: Ecn) {
    let field = ecn.field();
    match bytes.first().map(|first| first >> 4) {
        Some(4) if bytes.len() >= 20 => {
            let before = [bytes[0], bytes[1]];
            bytes[1] = bytes[1] & !3 | field;
            let sum = u16::from_be_bytes([bytes[10], bytes[11]]);
            let parts = [!sum, !u16::from_be_bytes(before), u16::from_be_bytes([bytes[0], bytes[1]])];
            let sum: u32 = parts.iter().map(|part| u32::from(*part)).sum();
            let folded = (sum & 0xffff) + (sum >> 16);
            let folded = (folded & 0xffff) + (folded >> 16);
            bytes[10..12].copy_from_slice(&(!(folded as u16)).to_be_bytes());
        }
        // Version, traffic class and flow label: the field is in bits 10 and 11.
        Some(6) if bytes.len() >= 40 => bytes[1] = bytes[1] & !0x30 | field << 4,
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 1071.
    fn checksum(header: &[u8]) -> u16 {
        let sum: u32 = header.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum();
        !((sum & 0xffff) + (sum >> 16)) as u16
    }

    fn v4(protocol: u8, traffic: u8, transport: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0x45, traffic, 0, 0, 0x12, 0x34, 0x40, 0, 64, protocol, 0, 0, 10, 77, 0, 1, 10, 77, 0, 2];
        let size = (bytes.len() + transport.len()) as u16;
        bytes[2..4].copy_from_slice(&size.to_be_bytes());
        let sum = checksum(&bytes);
        bytes[10..12].copy_from_slice(&sum.to_be_bytes());
        bytes.extend(transport);
        bytes
    }

    fn segment(flags: u8, payload: usize) -> Vec<u8> {
        let mut bytes = vec![0x9c, 0x40, 0, 80, 0, 0, 0, 5, 0, 0, 0, 9, 0x50, flags, 1, 0, 0, 0, 0, 0];
        bytes.resize(20 + payload, 7);
        bytes
    }

    #[test]
    fn segments_of_ipv4_are_read() {
        let found = Headers::of(&v4(TCP, 0xb8 | 2, &segment(0x11, 100))).unwrap();
        assert_eq!((found.size, found.payload, found.ecn, found.dscp), (140, 100, Ecn::Ect0, 46));
        assert_eq!((found.tuple.from.1, found.tuple.to.1), (40000, 80));
        assert_eq!(found.tcp, Some(TcpHeader { seq: 5, ack: Some(9), syn: false, fin: true }));
        assert_eq!(found.tuple.turned().turned(), found.tuple);
    }

    #[test]
    fn what_is_cut_or_nothing_is_refused() {
        let whole = v4(TCP, 0, &segment(16, 10));
        for length in 0..whole.len() {
            assert_eq!(Headers::of(&whole[..length]), None, "{length}");
        }
        assert_eq!(Headers::of(&[0x55; 60]), None);
        let mut short = whole.clone();
        short[0] = 0x42;
        assert_eq!(Headers::of(&short), None);
    }

    #[test]
    fn ipv6_is_read_through_extension_headers() {
        let mut bytes = vec![0x62, 0xe1, 0, 0, 0, 0, 60, 64];
        bytes.extend([0xfd, 0x77, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        bytes.extend([0xfd, 0x77, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
        // Destination options of 8 bytes, then UDP of 4 bytes of data.
        bytes.extend([UDP, 0, 1, 4, 0, 0, 0, 0]);
        bytes.extend([0, 53, 0x9c, 0x40, 0, 12, 0, 0, 1, 2, 3, 4]);
        bytes[4..6].copy_from_slice(&20_u16.to_be_bytes());
        let found = Headers::of(&bytes).unwrap();
        assert_eq!((found.tuple.protocol, found.payload, found.size), (UDP, 4, 60));
        assert_eq!((found.tuple.from.1, found.ecn, found.dscp), (53, Ecn::Ect0, 11));
        set_ecn(&mut bytes, Ecn::Ce);
        assert_eq!((bytes[0], bytes[1]), (0x62, 0xf1));
        assert_eq!(Headers::of(&bytes).unwrap().ecn, Ecn::Ce);
    }

    #[test]
    fn marks_keep_the_checksum_right_whatever_the_header() {
        for traffic in 0..=255_u8 {
            for ecn in [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce] {
                let mut bytes = v4(UDP, traffic, &[0, 53, 1, traffic, 0, 8, 0, 0]);
                set_ecn(&mut bytes, ecn);
                assert_eq!((checksum(&bytes[..20]), bytes[1] >> 2), (0, traffic >> 2), "{traffic} {ecn:?}");
                assert_eq!(Headers::of(&bytes).unwrap().ecn, ecn);
            }
        }
    }

    #[test]
    fn a_later_fragment_has_no_ports_and_an_echo_its_identifier() {
        let mut bytes = v4(UDP, 0, &[0, 53, 0, 54, 0, 8, 0, 0]);
        bytes[7] = 10;
        let found = Headers::of(&bytes).unwrap();
        assert_eq!((found.tuple.from.1, found.payload), (0, 8));
        let [ask, reply] = [8, 0].map(|kind| Headers::of(&v4(ICMP, 0, &[kind, 0, 0, 0, 0x12, 0x34, 0, 1])).unwrap());
        assert_eq!((ask.tuple.from.1, reply.tuple.to.1), (0x1234, 0x1234));
    }
}
