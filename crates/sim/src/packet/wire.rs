//! Packets as bytes on the wire: headers of IPv4 (RFC 791), TCP (RFC 9293) and UDP (RFC 768), with options and checksums.
//!
//! Payload is counted, not carried: on the wire it is zeros, which add nothing to a checksum. Sequence numbers wrap here.

use std::net::Ipv4Addr;

use tcp::{Ecn, Flags, Segment};

use super::{Packet, Payload};
use crate::ids::NodeId;

/// Don't fragment; with it the identification may be 0 (RFC 6864 §4.1).
const DONT_FRAGMENT: u16 = 0x4000;
pub(crate) const TCP: u8 = 6;
pub(crate) const UDP: u8 = 17;
const NO_OPERATION: u8 = 1;
/// AccECN option of order 0 (RFC 9768 §3.2.3).
const ACC_ECN_0: u8 = 172;

/// Address and port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Socket {
    pub(crate) address: Ipv4Addr,
    pub(crate) port: u16,
}

/// First port that is nobody's (RFC 6335 §6), and how many there are.
const DYNAMIC_PORTS: (u16, u32) = (49152, 16384);
const SINK_PORT: u16 = 5001;
/// 10.0.0.0/8, private (RFC 1918 §3).
const NETWORK: u32 = 10 << 24;

/// The address of a node: 10.0.0.0 + n + 1.
pub(crate) fn address(node: NodeId) -> Ipv4Addr {
    Ipv4Addr::from_bits(NETWORK + node.0 + 1)
}

/// Addresses and ports of source and sink; every flow has a port of its own.
pub(crate) fn sockets(flow: u32, [source, sink]: [NodeId; 2]) -> [Socket; 2] {
    let (first, count) = DYNAMIC_PORTS;
    let ports = [first + (flow % count) as u16, SINK_PORT + (flow / count) as u16];
    [(source, ports[0]), (sink, ports[1])].map(|(node, port)| Socket { address: address(node), port })
}

/// The headers of a packet. `shift` is the scale of its window field (RFC 7323 §2.2).
pub(crate) fn headers(packet: &Packet, from: Socket, to: Socket, shift: u8) -> Vec<u8> {
    let (protocol, mut transport) = match &packet.payload {
        Payload::Tcp(segment) => (TCP, tcp_header(segment, from.port, to.port, shift)),
        Payload::Udp(_) => (UDP, [from.port, to.port, 0, 0].iter().flat_map(|word| word.to_be_bytes()).collect()),
    };
    let payload = packet.payload_bytes().0;
    // Lengths that the field cannot hold are 0, as in captures of packets that a network card cuts (RFC 2675 §4 for UDP).
    let length = |header: usize| u16::try_from(header as u64 + payload).unwrap_or(0);
    let of_transport = length(transport.len());
    if protocol == UDP {
        transport[4..6].copy_from_slice(&of_transport.to_be_bytes());
    }
    let mut pseudo_header = [from.address.octets(), to.address.octets()].concat();
    pseudo_header.extend([0, protocol]);
    pseudo_header.extend(of_transport.to_be_bytes());
    pseudo_header.extend(&transport);
    let at = if protocol == TCP { 16 } else { 6 };
    let sum = match checksum(&pseudo_header) {
        // RFC 768: 0 would say that there is none.
        0 if protocol == UDP => 0xffff,
        sum => sum,
    };
    transport[at..at + 2].copy_from_slice(&sum.to_be_bytes());

    let of_datagram = length(20 + transport.len());
    let ip =
        Ipv4 { ecn: packet.ecn(), length: of_datagram, ttl: packet.ttl, protocol, from: from.address, to: to.address };
    [ip.header().to_vec(), transport].concat()
}

/// All of a packet whose payload is carried, of which the transport is not ours: for UDP with its header.
pub(crate) fn carried(packet: &Packet, from: Socket, to: Socket, protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut transport = Vec::new();
    if protocol == UDP {
        let length = (8 + payload.len()) as u16;
        transport.extend([from.port, to.port, length, 0].iter().flat_map(|word| word.to_be_bytes()));
    }
    transport.extend(payload);
    if protocol == UDP {
        let sum = udp_checksum(&transport, from, to);
        transport[6..8].copy_from_slice(&sum.to_be_bytes());
    }
    let length = (20 + transport.len()) as u16;
    let ip = Ipv4 { ecn: packet.ecn(), length, ttl: packet.ttl, protocol, from: from.address, to: to.address };
    [ip.header().to_vec(), transport].concat()
}

/// The checksum of a UDP datagram, whose own field is 0 (RFC 768).
fn udp_checksum(datagram: &[u8], from: Socket, to: Socket) -> u16 {
    let mut bytes = [from.address.octets(), to.address.octets()].concat();
    bytes.extend([0, UDP]);
    bytes.extend((datagram.len() as u16).to_be_bytes());
    bytes.extend(datagram);
    match checksum(&bytes) {
        0 => 0xffff,
        sum => sum,
    }
}

/// What stands in a header of IPv4.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ipv4 {
    pub(crate) ecn: Ecn,
    /// Of the datagram.
    pub(crate) length: u16,
    pub(crate) ttl: u8,
    pub(crate) protocol: u8,
    pub(crate) from: Ipv4Addr,
    pub(crate) to: Ipv4Addr,
}

impl Ipv4 {
    /// The header, with its checksum.
    pub(crate) fn header(&self) -> [u8; 20] {
        let mut bytes = [0; 20];
        bytes[..2].copy_from_slice(&[0x45, self.ecn.field()]);
        bytes[2..4].copy_from_slice(&self.length.to_be_bytes());
        bytes[6..8].copy_from_slice(&DONT_FRAGMENT.to_be_bytes());
        bytes[8..10].copy_from_slice(&[self.ttl, self.protocol]);
        bytes[12..16].copy_from_slice(&self.from.octets());
        bytes[16..].copy_from_slice(&self.to.octets());
        let sum = checksum(&bytes);
        bytes[10..12].copy_from_slice(&sum.to_be_bytes());
        bytes
    }
}

/// The TCP header, its checksum 0.
fn tcp_header(segment: &Segment, from: u16, to: u16, shift: u8) -> Vec<u8> {
    let options = options(segment);
    let mut bytes = [from.to_be_bytes(), to.to_be_bytes()].concat();
    bytes.extend((segment.seq.0 as u32).to_be_bytes());
    let ack = if segment.flags.contains(Flags::ACK) { segment.ack.0 as u32 } else { 0 };
    bytes.extend(ack.to_be_bytes());
    let bit = |flag, value| if segment.flags.contains(flag) { value } else { 0 };
    let offset = ((20 + options.len()) / 4) as u8;
    bytes.push(offset << 4 | bit(Flags::AE, 1));
    bytes.push(
        [(Flags::CWR, 128), (Flags::ECE, 64), (Flags::ACK, 16), (Flags::PSH, 8), (Flags::RST, 4), (Flags::SYN, 2)]
            .into_iter()
            .fold(bit(Flags::FIN, 1), |bits, (flag, value)| bits | bit(flag, value)),
    );
    let window = segment.window.0 >> if segment.flags.contains(Flags::SYN) { 0 } else { shift };
    bytes.extend(u16::try_from(window).unwrap_or(u16::MAX).to_be_bytes());
    bytes.extend([0; 4]);
    bytes.extend(options);
    bytes
}

/// The options, each padded to four bytes, as [`Segment::header`] counts them.
fn options(segment: &Segment) -> Vec<u8> {
    let mut bytes = Vec::new();
    let sack_permitted = segment.syn.is_some_and(|syn| syn.sack_permitted);
    if let Some(syn) = segment.syn {
        bytes.extend([2, 4]);
        bytes.extend(u16::try_from(syn.mss).unwrap_or(u16::MAX).to_be_bytes());
    }
    if sack_permitted {
        bytes.extend([4, 2]);
    }
    // Beside the timestamps SACK-permitted takes the place of their padding.
    if sack_permitted != segment.timestamps.is_some() {
        bytes.extend([NO_OPERATION; 2]);
    }
    if let Some(stamps) = segment.timestamps {
        bytes.extend([8, 10]);
        bytes.extend(stamps.value.to_be_bytes());
        bytes.extend(stamps.echo.to_be_bytes());
    }
    if let Some(shift) = segment.syn.and_then(|syn| syn.window_scale) {
        bytes.extend([NO_OPERATION, 3, 3, shift]);
    }
    if let Some(counts) = segment.ecn_bytes {
        bytes.extend([ACC_ECN_0, 11]);
        // RFC 9768 §3.2.3: 24 bits each; the counters of ECT begin at 1, here at 0.
        for count in [counts.ect0.wrapping_add(1), counts.ce, counts.ect1.wrapping_add(1)] {
            bytes.extend(&count.to_be_bytes()[1..]);
        }
        bytes.push(NO_OPERATION);
    }
    if !segment.sack.is_empty() {
        let blocks = segment.sack.blocks();
        bytes.extend([NO_OPERATION, NO_OPERATION, 5, 2 + 8 * blocks.len() as u8]);
        for block in blocks {
            bytes.extend((block.start.0 as u32).to_be_bytes());
            bytes.extend((block.end.0 as u32).to_be_bytes());
        }
    }
    bytes
}

/// The Internet checksum (RFC 1071): the ones' complement of the ones' complement sum of 16-bit words.
fn checksum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair.get(1).copied().unwrap_or(0)));
    let sum: u32 = words.sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded + (folded >> 16)) as u16)
}

#[cfg(test)]
mod tests;
