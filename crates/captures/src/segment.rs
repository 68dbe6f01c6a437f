//! What the headers of a segment say.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::layers::{Datagram, Layers, Piece, Why, u16_at};

/// Addresses and ports of both ends, the lower one first: the same in both directions.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Ends {
    six: bool,
    low: [u8; 18],
    high: [u8; 18],
}

impl Ends {
    /// Address and port of an end; an IPv6 address stands in brackets (RFC 3986).
    pub fn named(&self, high: bool) -> (String, u16) {
        let end = if high { &self.high } else { &self.low };
        let mut address = [0; 16];
        address.copy_from_slice(&end[..16]);
        let text = if self.six {
            format!("[{}]", Ipv6Addr::from(address))
        } else {
            Ipv4Addr::new(end[0], end[1], end[2], end[3]).to_string()
        };
        (text, u16_at(end, 16))
    }
}

/// A TCP segment of a frame; sequence numbers as in its header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment<'a> {
    pub(crate) t_ns: i64,
    pub(crate) ends: Ends,
    /// True if the higher end sent it.
    pub(crate) from_high: bool,
    pub(crate) seq: u32,
    pub(crate) ack: u32,
    /// Nine bits, with AE.
    pub(crate) flags: u16,
    pub(crate) window: u16,
    /// Bytes of the IP packet, whether captured or not.
    pub(crate) size: usize,
    /// Bytes of it before the payload.
    pub(crate) headers: usize,
    /// Bytes of it before TCP.
    pub(crate) before: usize,
    pub(crate) ident: u16,
    pub(crate) ecn: u8,
    pub(crate) options: &'a [u8],
    /// The datagram whose first piece it is in.
    pub(crate) datagram: Option<Datagram>,
}

impl Segment<'_> {
    /// Payload in bytes, whether captured or not.
    pub(crate) fn length(&self) -> usize {
        self.size - self.headers
    }
}

/// The segment that begins where `layers` is.
pub(crate) fn read<'a>(layers: &Layers<'a>) -> Result<Segment<'a>, Why> {
    let (head, frame, ip) = (layers.having(20)?, &layers.frame, &layers.ip);
    let (offset, before) = (usize::from(head[12] >> 4) * 4, layers.off - ip.at);
    // A segment that the network card will cut has no length in its IP header, or is larger than it can say.
    let captured = (frame.size as usize).saturating_sub(ip.at);
    let size = if ip.total >= before + 20 { ip.total } else { captured };
    let headers = before + offset;
    if offset < 20 || size < headers {
        return Err(Why::BrokenTcp);
    }
    let (both, mut source, mut target) = (layers.addresses(), [0; 18], [0; 18]);
    source[..16].copy_from_slice(&both[..16]);
    source[16..].copy_from_slice(&head[..2]);
    target[..16].copy_from_slice(&both[16..]);
    target[16..].copy_from_slice(&head[2..4]);
    let from_high = source > target;
    let (low, high) = if from_high { (target, source) } else { (source, target) };
    let word = |at: usize| u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    let begin = layers.off + 20;
    Ok(Segment {
        t_ns: frame.t_ns,
        ends: Ends { six: ip.six, low, high },
        from_high,
        seq: word(4),
        ack: word(8),
        flags: u16_at(head, 12) & 0x1ff,
        window: u16_at(head, 14),
        size,
        headers,
        before,
        ident: ip.ident,
        ecn: ip.ecn,
        options: &frame.bytes[begin..(layers.off + offset).min(frame.bytes.len())],
        datagram: match layers.piece {
            Some(Piece::First(datagram)) => Some(datagram),
            _ => None,
        },
    })
}

/// What the options of a segment say.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Options {
    /// Maximum segment size in bytes, 0 without it.
    pub mss: u16,
    /// Blocks as sequence numbers: begin and end.
    pub sack: Vec<(u32, u32)>,
    /// Window scale.
    pub scale: Option<u8>,
    /// Timestamp and its echo.
    pub stamp: Option<(u32, u32)>,
}

impl Options {
    /// Reads options; what is wrong ends them.
    pub(crate) fn of(written: &[u8]) -> Options {
        let (mut found, mut left) = (Options::default(), written);
        while let [kind, after @ ..] = left {
            match kind {
                0 => break,
                1 => left = after,
                _ => {
                    let length = after.first().map_or(0, |length| usize::from(*length));
                    if length < 2 || length > left.len() {
                        break;
                    }
                    found.note(*kind, &left[2..length]);
                    left = &left[length..];
                }
            }
        }
        found
    }

    fn note(&mut self, kind: u8, value: &[u8]) {
        let pair = |bytes: &[u8]| {
            let word = |at: usize| u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
            (word(0), word(4))
        };
        match (kind, value.len()) {
            (2, 2) => self.mss = u16_at(value, 0),
            (3, 1) => self.scale = Some(value[0].min(14)),
            (5, length) if length % 8 == 0 => self.sack = value.chunks_exact(8).map(pair).collect(),
            (8, 8) => self.stamp = Some(pair(value)),
            _ => (),
        }
    }
}
