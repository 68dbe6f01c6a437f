//! To the TCP segment in a frame, through whatever stands before it: tags, labels, tunnels, extension headers.

use std::fmt;

use crate::frame::Frame;

/// What begins at a place.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    Ethernet,
    /// What an EtherType names.
    Type(u16),
    Vlan,
    Pppoe,
    Ppp,
    Mpls,
    /// A loopback.
    Null,
    /// Linux cooked, both versions.
    Sll,
    Sll2,
    Hdlc,
    Ip,
    /// What an IP protocol number names.
    Protocol(u8),
    Gre,
    Udp,
    Tcp,
}

const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
const VXLAN: [u16; 2] = [4789, 8472];
const GENEVE: u16 = 6081;
const ERSPAN_II: u16 = 0x88be;
const ERSPAN_III: u16 = 0x22eb;
const MAX_LAYERS: usize = 24;

/// Why a frame gives no segment, as a note says it of some frames.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(missing_docs)]
pub enum Why {
    LinkType(u16),
    EtherType(u16),
    PppProtocol(u16),
    IpProtocol(u8),
    Udp,
    Short,
    NotIp,
    BrokenIp,
    BrokenTcp,
    LaterFragment,
    Layers,
    /// Of a simple packet block.
    NoTime,
    /// It gives a segment, which is larger than it seems.
    FirstFragment,
}

impl fmt::Display for Why {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Why::LinkType(link) => return write!(to, "of link type {link}"),
            Why::EtherType(kind) => return write!(to, "of EtherType 0x{kind:04x}"),
            Why::PppProtocol(kind) => return write!(to, "of PPP protocol 0x{kind:04x}"),
            Why::IpProtocol(number) => return write!(to, "of IP protocol {number}"),
            Why::Udp => "of UDP",
            Why::Short => "of which the capture has not the headers (its snap length)",
            Why::NotIp => "that should be IP and are not",
            Why::BrokenIp => "with a broken IPv4 header",
            Why::BrokenTcp => "with a broken TCP header",
            Why::LaterFragment => "that are later fragments of a packet",
            Why::Layers => "in more layers than are read",
            Why::NoTime => "in simple packet blocks, which have no time",
            Why::FirstFragment => "that are the last fragment of a packet, and not in the capture beside the first",
        })
    }
}

/// The header of IP that was read last.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ip {
    pub(crate) at: usize,
    pub(crate) six: bool,
    /// Bytes of the packet as it says.
    pub(crate) total: usize,
    pub(crate) ident: u16,
    pub(crate) ecn: u8,
}

/// A datagram that came in pieces: its addresses and its identification.
pub(crate) type Datagram = ([u8; 32], u16);

/// A piece of a datagram that tells something of it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Piece {
    /// The first, which has the headers.
    First(Datagram),
    /// The last, and how many bytes the datagram has behind its IP header.
    Last(Datagram, usize),
}

/// Where a frame has been understood up to.
pub(crate) struct Layers<'a> {
    pub(crate) frame: Frame<'a>,
    pub(crate) off: usize,
    pub(crate) ip: Ip,
    /// What the header of IP that was read last says of pieces.
    pub(crate) piece: Option<Piece>,
}

impl<'a> Layers<'a> {
    pub(crate) fn new(frame: Frame<'a>) -> Layers<'a> {
        Layers { frame, off: 0, ip: Ip::default(), piece: None }
    }

    /// Goes to where TCP begins.
    pub(crate) fn find_tcp(&mut self) -> Result<(), Why> {
        let mut kind = match self.frame.link {
            0 | 108 => Kind::Null,
            1 => Kind::Ethernet,
            9 | 50 => Kind::Ppp,
            12 | 14 | 101 | 228 | 229 => Kind::Ip,
            51 => Kind::Pppoe,
            104 => Kind::Hdlc,
            113 => Kind::Sll,
            276 => Kind::Sll2,
            link => return Err(Why::LinkType(link)),
        };
        for _ in 0..MAX_LAYERS {
            kind = match kind {
                Kind::Ethernet => self.ethernet()?,
                Kind::Type(number) => ether_type(number)?,
                Kind::Vlan | Kind::Hdlc => self.header_with_type(2, 4)?,
                Kind::Sll => self.header_with_type(14, 16)?,
                Kind::Sll2 => self.header_with_type(0, 20)?,
                Kind::Pppoe => self.over(8, 6, Kind::Ppp)?,
                Kind::Ppp => self.ppp()?,
                Kind::Mpls => self.mpls()?,
                // The address family is in the byte order of the machine: IP tells its version itself.
                Kind::Null => self.over(5, 4, Kind::Ip)?,
                Kind::Ip => self.ip()?,
                Kind::Protocol(number) => self.protocol(number)?,
                Kind::Gre => self.gre()?,
                Kind::Udp => self.udp()?,
                Kind::Tcp => return Ok(()),
            };
        }
        Err(Why::Layers)
    }

    /// So many bytes from where we are.
    pub(crate) fn having(&self, size: usize) -> Result<&'a [u8], Why> {
        self.frame.bytes.get(self.off..self.off + size).ok_or(Why::Short)
    }

    /// Goes on behind a header.
    fn over(&mut self, having: usize, size: usize, kind: Kind) -> Result<Kind, Why> {
        self.having(having)?;
        self.off += size;
        Ok(kind)
    }

    /// Goes over a header that has an EtherType in it.
    fn header_with_type(&mut self, place: usize, size: usize) -> Result<Kind, Why> {
        let number = u16_at(self.having(size)?, place);
        self.off += size;
        Ok(Kind::Type(number))
    }

    /// Addresses and type; a length instead of the type is of IEEE 802.2, whose SNAP header has the type.
    fn ethernet(&mut self) -> Result<Kind, Why> {
        let number = u16_at(self.having(14)?, 12);
        self.off += 14;
        if number < 1536 {
            let llc = self.having(8)?;
            if llc[..3] == [0xaa, 0xaa, 3] {
                self.off += 8;
                return Ok(Kind::Type(u16_at(llc, 6)));
            }
        }
        Ok(Kind::Type(number))
    }

    /// Address and control where they are, then the protocol, in one byte if that is odd (RFC 1661 section 6.5).
    fn ppp(&mut self) -> Result<Kind, Why> {
        let mut head = self.having(4)?;
        if head[..2] == [0xff, 3] {
            (head, self.off) = (&head[2..], self.off + 2);
        }
        let one = head[0] & 1 == 1;
        let number = if one { u16::from(head[0]) } else { u16_at(head, 0) };
        self.off += if one { 1 } else { 2 };
        match number {
            0x0021 | 0x0057 => Ok(Kind::Ip),
            0x0281 | 0x0283 => Ok(Kind::Mpls),
            _ => Err(Why::PppProtocol(number)),
        }
    }

    /// One label (RFC 3032). Behind the last there is IP, or a control word and Ethernet (RFC 4448).
    fn mpls(&mut self) -> Result<Kind, Why> {
        let head = self.having(5)?;
        self.off += 4;
        Ok(match (head[2] & 1, head[4] >> 4) {
            (0, _) => Kind::Mpls,
            (_, 4 | 6) => Kind::Ip,
            (_, 0) => {
                self.off += 4;
                Kind::Ethernet
            }
            _ => Kind::Ethernet,
        })
    }

    /// IPv4 (RFC 791) or IPv6 (RFC 8200).
    fn ip(&mut self) -> Result<Kind, Why> {
        let (head, at) = (self.having(20)?, self.off);
        self.piece = None;
        match head[0] >> 4 {
            4 if head[0] & 15 < 5 => Err(Why::BrokenIp),
            4 => {
                self.ip =
                    Ip { at, six: false, total: u16_at(head, 2).into(), ident: u16_at(head, 4), ecn: head[1] & 3 };
                self.off += usize::from(head[0] & 15) * 4;
                let piece = u16_at(head, 6);
                self.fragment(usize::from(piece & 0x1fff) * 8, piece & 0x2000 != 0)?;
                Ok(Kind::Protocol(head[9]))
            }
            6 => {
                let head = self.having(40)?;
                let total = 40 + usize::from(u16_at(head, 4));
                self.ip = Ip { at, six: true, total, ident: 0, ecn: head[1] >> 4 & 3 };
                self.off += 40;
                Ok(Kind::Protocol(head[6]))
            }
            _ => Err(Why::NotIp),
        }
    }

    /// Both addresses of the IP header, each in 16 bytes.
    pub(crate) fn addresses(&self) -> [u8; 32] {
        let (head, mut both) = (&self.frame.bytes[self.ip.at..], [0; 32]);
        if self.ip.six {
            both.copy_from_slice(&head[8..40]);
        } else {
            both[..4].copy_from_slice(&head[12..16]);
            both[16..20].copy_from_slice(&head[16..20]);
        }
        both
    }

    /// Notes a piece of a datagram: the first has the headers, the last tells the length.
    fn fragment(&mut self, place: usize, more: bool) -> Result<(), Why> {
        let datagram = || (self.addresses(), self.ip.ident);
        self.piece = match (place, more) {
            (0, false) => None,
            (0, true) => Some(Piece::First(datagram())),
            (_, true) => None,
            (_, false) => Some(Piece::Last(datagram(), (place + self.ip.total).saturating_sub(self.off - self.ip.at))),
        };
        if place > 0 { Err(Why::LaterFragment) } else { Ok(()) }
    }

    /// Goes on with what an IP protocol number names; the headers that IPv6 has between (RFC 6564) come first.
    fn protocol(&mut self, number: u8) -> Result<Kind, Why> {
        match number {
            4 | 41 => return Ok(Kind::Ip),
            6 => return Ok(Kind::Tcp),
            17 => return Ok(Kind::Udp),
            47 => return Ok(Kind::Gre),
            0 | 43 | 60 | 135 | 139 | 140 | FRAGMENT | AUTHENTICATION => (),
            _ => return Err(Why::IpProtocol(number)),
        }
        let head = self.having(8)?;
        let length = usize::from(head[1]);
        self.off += match number {
            FRAGMENT => 8,
            AUTHENTICATION => 4 * length + 8,
            _ => 8 * length + 8,
        };
        if number == FRAGMENT {
            let place = u16_at(head, 2);
            self.ip.ident = u16_at(head, 6);
            self.fragment(usize::from(place & 0xfff8), place & 1 != 0)?;
        }
        Ok(Kind::Protocol(head[0]))
    }

    /// RFC 2784 and 2890; version 1 is of PPTP (RFC 2637); the types of ERSPAN are those of a mirrored port.
    fn gre(&mut self) -> Result<Kind, Why> {
        let head = self.having(4)?;
        let (flags, number) = (u16_at(head, 0), u16_at(head, 2));
        let with = |bit: u32| usize::from(flags >> bit & 1) * 4;
        if flags & 7 == 1 {
            self.off += 8 + with(12) + with(7);
            return Ok(Kind::Ppp);
        }
        self.off += 4 + with(15) + with(13) + with(12);
        if number != ERSPAN_II && number != ERSPAN_III {
            return Ok(Kind::Type(number));
        }
        self.off += 2 * with(12) + if number == ERSPAN_III { 4 } else { 0 };
        Ok(Kind::Ethernet)
    }

    /// VXLAN (RFC 7348) and Geneve (RFC 8926) by their ports; other datagrams have no TCP.
    fn udp(&mut self) -> Result<Kind, Why> {
        let port = u16_at(self.having(8)?, 2);
        self.off += 8;
        if VXLAN.contains(&port) {
            return self.over(8, 8, Kind::Ethernet);
        }
        if port != GENEVE {
            return Err(Why::Udp);
        }
        let head = self.having(8)?;
        self.off += 8 + usize::from(head[0] & 63) * 4;
        Ok(Kind::Type(u16_at(head, 2)))
    }
}

/// What an EtherType names.
fn ether_type(number: u16) -> Result<Kind, Why> {
    Ok(match number {
        0x0800 | 0x86dd => Kind::Ip,
        0x8100 | 0x88a8 | 0x9100 | 0x9200 => Kind::Vlan,
        0x8864 => Kind::Pppoe,
        0x8847 | 0x8848 => Kind::Mpls,
        0x6558 => Kind::Ethernet,
        0x880b => Kind::Ppp,
        _ => return Err(Why::EtherType(number)),
    })
}

/// 16 bits at a place that is there, as networks write them.
pub(crate) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}
