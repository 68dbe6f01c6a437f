//! The rules of one PAN: constants of 802.15.4 at 2.4 GHz, and where a profile departs from them (IEEE 802.15.4-2011 §6.4, §8).

use tcp::units::{Bytes, Rate, Span};

use super::sixlowpan::{Address, Datagram, FrameSizes, MOST_PSDU, Transport};
use crate::packet::header::{IP_HEADER, UDP_HEADER};
use crate::packet::message::Message;
use crate::radio::errors::{Grade, Header, Mode};
use crate::radio::queue::{Order, Request};
use crate::radio::receiver::{Reception, Waits};

/// A symbol of O-QPSK carries four bits.
const SYMBOL: Span = Span::from_micros(16);
const BYTE: Span = Span::from_micros(32);
/// Preamble, start of frame and length.
const SYNC: Bytes = Bytes(6);
/// aUnitBackoffPeriod.
pub(super) const BACKOFF: Span = Span::from_micros(20 * 16);
/// How long a station listens before it sends.
pub(super) const CCA: Span = Span::from_micros(8 * 16);
/// aTurnaroundTime: from receiving to sending and back.
pub(super) const TURNAROUND: Span = Span::from_micros(12 * 16);
/// macAckWaitDuration.
pub(super) const ACK_WAIT: Span = Span::from_micros(54 * 16);
/// PSDU of an acknowledgment.
pub(super) const ACK: Bytes = Bytes(5);
/// macSIFSPeriod follows frames up to this size (aMaxSIFSFrameSize), macLIFSPeriod larger ones.
const MOST_SIFS: Bytes = Bytes(18);

/// How datagrams are put into frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Encap {
    /// IPv6 with 6LoWPAN; bytes of the part of an address that comes from the station's own: 2 or 8.
    Sixlowpan { own_part: u64 },
    /// IPv4 as it is.
    RawIpv4,
}

/// The rules of a PAN.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct PanRules {
    pub(crate) encap: Encap,
    /// MAC bytes around what a frame carries: to one station, and to all.
    pub(crate) unicast_header: Bytes,
    pub(crate) broadcast_header: Bytes,
    pub(crate) min_be: u32,
    pub(crate) max_be: u32,
    /// macMaxCSMABackoffs.
    pub(crate) max_backoffs: u32,
    /// macMaxFrameRetries.
    pub(crate) max_retries: u32,
    /// Frames to one station are acknowledged.
    pub(crate) acks: bool,
    /// Space between frames.
    pub(crate) spaces: bool,
    pub(crate) reception: Reception,
    /// Ratio to noise and interference that a frame needs.
    pub(crate) ratio: f64,
    pub(crate) queue_limit: usize,
    pub(crate) queue_order: Order,
    pub(crate) queue_lifetime: Option<Span>,
}

/// The rate of the 2.4 GHz layer.
pub(super) fn rate() -> Rate {
    Rate::from_bps(250_000).expect("250 kb/s are above zero")
}

/// How long a frame is in the air.
pub(super) fn airtime(psdu: Bytes) -> Span {
    BYTE * (SYNC + psdu).0
}

/// What a datagram or message is in the air.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Ends {
    /// The packet did not start here.
    pub(super) passed_on: bool,
    /// The next station is not where it ends.
    pub(super) goes_on: bool,
    /// It leaves the PAN.
    pub(super) leaves: bool,
}

impl PanRules {
    /// The times that the receiver knows; there is nothing of 802.11 in them.
    pub(super) fn waits(&self) -> Waits {
        let header = Header { end: BYTE * SYNC.0, length: BYTE, bits: 8.0, mode: Mode::Oqpsk, tail: Span::ZERO };
        Waits {
            slot: BACKOFF,
            difs: Span::ZERO,
            eifs: Span::ZERO,
            reception: self.reception,
            grades: vec![Grade { rate: rate(), ratio: self.ratio, mode: Mode::Oqpsk }],
            preamble: header,
        }
    }

    /// Frames are readable from this power on, without interference.
    pub(crate) fn least_power(&self) -> f64 {
        self.reception.least_power(self.ratio)
    }

    /// The space after a frame.
    pub(super) fn space(&self, psdu: Bytes) -> Span {
        match (self.spaces, psdu <= MOST_SIFS) {
            (false, _) => Span::ZERO,
            (true, true) => SYMBOL * 12,
            (true, false) => SYMBOL * 40,
        }
    }

    fn mac_header(&self, to_one: bool) -> Bytes {
        if to_one { self.unicast_header } else { self.broadcast_header }
    }

    /// The longest message of routing, headers of IPv4 and UDP counted, that goes into one frame to all.
    pub(crate) fn longest_message(&self) -> Bytes {
        let room = MOST_PSDU.saturating_sub(self.broadcast_header);
        match self.encap {
            Encap::RawIpv4 => room,
            Encap::Sixlowpan { .. } => {
                let headers = Bytes(self.message(Bytes::ZERO, false).compressed_headers());
                IP_HEADER + UDP_HEADER + room.saturating_sub(headers)
            }
        }
    }

    fn message(&self, payload: Bytes, to_one: bool) -> Datagram {
        Datagram {
            transport: Transport::Udp,
            rest: payload,
            // Routing goes from neighbour to neighbour.
            hop_limit: 1,
            marks: false,
            source: Address::FromFrame,
            destination: if to_one { Address::FromFrame } else { Address::AllNodes },
        }
    }

    /// The frames of a message; none if it does not fit.
    pub(super) fn message_frames(&self, message: &Message, request: &Request) -> Option<FrameSizes> {
        let to_one = request.to.is_some();
        let mac = self.mac_header(to_one);
        let payload = match message {
            // Address resolution is no datagram.
            Message::Arp(_) => return Self::raw(mac, request.size),
            Message::Dsdv(lines) => crate::routing::DSDV_LINE * lines.len() as u64,
            Message::Aodv(_) => request.size.saturating_sub(IP_HEADER + UDP_HEADER),
            Message::Beacon | Message::Join(_) => unreachable!("802.15.4 with access points is refused"),
        };
        match self.encap {
            Encap::RawIpv4 => Self::raw(mac, request.size),
            Encap::Sixlowpan { .. } => self.message(payload, to_one).frames(mac),
        }
    }

    /// The frames of a packet whose size counts an IPv4 header; none if it does not fit.
    pub(super) fn packet_frames(&self, packet: &crate::packet::Packet, size: Bytes, ends: Ends) -> Option<FrameSizes> {
        let mac = self.unicast_header;
        let Encap::Sixlowpan { own_part } = self.encap else { return Self::raw(mac, size) };
        let (transport, inner) = match packet.payload {
            crate::packet::Payload::Tcp(_) => (Transport::Tcp, size.saturating_sub(IP_HEADER)),
            crate::packet::Payload::Udp(_) => (Transport::Udp, size.saturating_sub(IP_HEADER + UDP_HEADER)),
        };
        let destination = match ends {
            Ends { leaves: true, .. } => Address::Beyond,
            Ends { goes_on: true, .. } => Address::InPan(own_part),
            Ends { .. } => Address::FromFrame,
        };
        let datagram = Datagram {
            transport,
            rest: inner,
            hop_limit: packet.ttl,
            marks: packet.ecn() != tcp::Ecn::NotEct,
            source: if ends.passed_on { Address::InPan(own_part) } else { Address::FromFrame },
            destination,
        };
        datagram.frames(mac)
    }

    fn raw(mac: Bytes, size: Bytes) -> Option<FrameSizes> {
        (mac + size <= MOST_PSDU).then(|| FrameSizes::one(mac + size))
    }
}
