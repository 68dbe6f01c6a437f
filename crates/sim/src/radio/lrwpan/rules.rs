//! The rules of one PAN: constants of 802.15.4 at 2.4 GHz, and where a profile departs from them (IEEE 802.15.4-2011 §6.4, §8).

use crate::radio::service::MacRequest;
use tcp::units::{Bytes, Rate, Span};

use super::sixlowpan::{Address, Datagram, FrameSizes, MAX_PSDU, Transport};
use crate::packet::header::{IP_HEADER, UDP_HEADER};
use crate::packet::message::Message;
use crate::radio::errors::{Mode, PhyHeader, RateMode};
use crate::radio::queue::QueueOrder;
use crate::radio::receiver::{MacTiming, Reception};

/// A symbol of O-QPSK carries four bits.
const SYMBOL_TIME: Span = Span::from_micros(16);
const BYTE_TIME: Span = Span::from_micros(32);
/// Preamble, start of frame and length.
const PHY_OVERHEAD: Bytes = Bytes(6);
/// aUnitBackoffPeriod.
pub(super) const UNIT_BACKOFF_PERIOD: Span = Span::from_micros(20 * 16);
/// How long a station listens before it sends.
pub(super) const CCA_TIME: Span = Span::from_micros(8 * 16);
/// aTurnaroundTime: from receiving to sending and back.
pub(super) const TURNAROUND_TIME: Span = Span::from_micros(12 * 16);
/// macAckWaitDuration.
pub(super) const ACK_WAIT: Span = Span::from_micros(54 * 16);
/// PSDU of an acknowledgment.
pub(super) const ACK_PSDU: Bytes = Bytes(5);
/// macSIFSPeriod follows frames up to this size (aMaxSIFSFrameSize), macLIFSPeriod larger ones.
const MAX_SIFS_FRAME: Bytes = Bytes(18);

/// How datagrams are put into frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Encap {
    /// IPv6 with 6LoWPAN; bytes of the part of an address that comes from the station's own: 2 or 8.
    Sixlowpan { iid_bytes: u64 },
    /// IPv4 as it is.
    RawIpv4,
}

/// The rules of a PAN.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct LrWpanRules {
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
    pub(crate) queue_order: QueueOrder,
    pub(crate) queue_lifetime: Option<Span>,
}

/// The rate of the 2.4 GHz layer.
pub(super) fn rate() -> Rate {
    Rate::from_bps(250_000).expect("250 kb/s are above zero")
}

/// How long a frame is in the air.
pub(super) fn airtime(psdu: Bytes) -> Span {
    BYTE_TIME * (PHY_OVERHEAD + psdu).0
}

/// What a datagram or message is in the air.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PathPosition {
    /// The packet did not start here.
    pub(super) after_first_hop: bool,
    /// The next station is not where it ends.
    pub(super) before_last_hop: bool,
    /// It leaves the PAN.
    pub(super) leaves_pan: bool,
}

impl LrWpanRules {
    /// The times that the receiver knows; there is nothing of 802.11 in them.
    pub(super) fn timing(&self) -> MacTiming {
        let header = PhyHeader {
            end: BYTE_TIME * PHY_OVERHEAD.0,
            length: BYTE_TIME,
            bits: 8.0,
            mode: Mode::Oqpsk,
            tail: Span::ZERO,
        };
        MacTiming {
            slot: UNIT_BACKOFF_PERIOD,
            difs: Span::ZERO,
            eifs: Span::ZERO,
            reception: self.reception,
            rate_modes: vec![RateMode { rate: rate(), ratio: self.ratio, mode: Mode::Oqpsk }],
            preamble: header,
        }
    }

    /// Frames are readable from this power on, without interference.
    pub(crate) fn min_rx_power(&self) -> f64 {
        self.reception.min_rx_power(self.ratio)
    }

    /// The space after a frame.
    pub(super) fn ifs(&self, psdu: Bytes) -> Span {
        match (self.spaces, psdu <= MAX_SIFS_FRAME) {
            (false, _) => Span::ZERO,
            (true, true) => SYMBOL_TIME * 12,
            (true, false) => SYMBOL_TIME * 40,
        }
    }

    fn mac_header(&self, to_one: bool) -> Bytes {
        if to_one { self.unicast_header } else { self.broadcast_header }
    }

    /// The longest message of routing, headers of IPv4 and UDP counted, that goes into one frame to all.
    pub(crate) fn longest_message(&self) -> Bytes {
        let room = MAX_PSDU.saturating_sub(self.broadcast_header);
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
            payload: payload,
            // Routing goes from neighbour to neighbour.
            hop_limit: 1,
            has_traffic_class: false,
            source: Address::Elided,
            destination: if to_one { Address::Elided } else { Address::AllNodes },
        }
    }

    /// The frames of a message; none if it does not fit.
    pub(super) fn message_frames(&self, message: &Message, request: &MacRequest) -> Option<FrameSizes> {
        let to_one = request.to.is_some();
        let mac = self.mac_header(to_one);
        let payload = match message {
            // Address resolution is no datagram.
            Message::Arp(_) => return Self::raw(mac, request.size),
            Message::Dsdv(lines) => crate::routing::DSDV_ENTRY_SIZE * lines.len() as u64,
            Message::Aodv(_) => request.size.saturating_sub(IP_HEADER + UDP_HEADER),
            Message::Beacon | Message::Association(_) => unreachable!("802.15.4 with access points is refused"),
        };
        match self.encap {
            Encap::RawIpv4 => Self::raw(mac, request.size),
            Encap::Sixlowpan { .. } => self.message(payload, to_one).frames(mac),
        }
    }

    /// The frames of a packet whose size counts an IPv4 header; none if it does not fit.
    pub(super) fn packet_frames(
        &self,
        packet: &crate::packet::Packet,
        size: Bytes,
        position: PathPosition,
    ) -> Option<FrameSizes> {
        let mac = self.unicast_header;
        let Encap::Sixlowpan { iid_bytes } = self.encap else { return Self::raw(mac, size) };
        let (transport, inner) = match packet.payload {
            crate::packet::Payload::Tcp(_) => (Transport::Tcp, size.saturating_sub(IP_HEADER)),
            crate::packet::Payload::Udp(_) => (Transport::Udp, size.saturating_sub(IP_HEADER + UDP_HEADER)),
        };
        let destination = match position {
            PathPosition { leaves_pan: true, .. } => Address::Inline,
            PathPosition { before_last_hop: true, .. } => Address::Context(iid_bytes),
            PathPosition { .. } => Address::Elided,
        };
        let datagram = Datagram {
            transport,
            payload: inner,
            hop_limit: packet.ttl,
            has_traffic_class: packet.ecn() != tcp::Ecn::NotEct,
            source: if position.after_first_hop { Address::Context(iid_bytes) } else { Address::Elided },
            destination,
        };
        datagram.frames(mac)
    }

    fn raw(mac: Bytes, size: Bytes) -> Option<FrameSizes> {
        (mac + size <= MAX_PSDU).then(|| FrameSizes::one(mac + size))
    }
}
