//! Parameters of the MAC: constants of 802.15.4 at 2.4 GHz (IEEE 802.15.4-2011 §6.4, §8), and where a profile departs
//! from them.

use tcp::Ecn;
use tcp::units::{Bytes, Rate, Span};

use super::sixlowpan::{Address, Datagram, FrameSizes, IPV6_HEADER, MAX_PSDU, Transport};
use crate::packet::header::{IP_HEADER, UDP_HEADER};
use crate::packet::message::{Message, NdpMessage};
use crate::radio::errors::{Mode, PhyHeader, RateMode};
use crate::radio::queue::QueueOrder;
use crate::radio::receiver::{MacTiming, Reception};
use crate::radio::service::MacRequest;

/// A symbol of O-QPSK carries four bits.
const SYMBOL_TIME: Span = Span::from_micros(16);
const BYTE_TIME: Span = Span::from_micros(32);
/// SHR and PHR: preamble, start-of-frame delimiter and length.
const PHY_OVERHEAD: Bytes = Bytes(6);
/// aUnitBackoffPeriod.
pub(super) const UNIT_BACKOFF_PERIOD: Span = Span::from_micros(20 * 16);
/// Duration of a CCA.
pub(super) const CCA_TIME: Span = Span::from_micros(8 * 16);
/// aTurnaroundTime.
pub(super) const TURNAROUND_TIME: Span = Span::from_micros(12 * 16);
/// macAckWaitDuration.
pub(super) const ACK_WAIT: Span = Span::from_micros(54 * 16);
/// PSDU of an acknowledgment.
pub(super) const ACK_PSDU: Bytes = Bytes(5);
/// macSIFSPeriod follows frames up to this size (aMaxSIFSFrameSize), macLIFSPeriod larger ones.
const MAX_SIFS_FRAME: Bytes = Bytes(18);

/// Encapsulation of datagrams.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Encap {
    /// IPv6 over 6LoWPAN; bytes of an interface identifier that is not elided: 2 or 8. Without a context, addresses and flow
    /// labels are not compressed.
    Sixlowpan { iid_bytes: u64, has_context: bool },
    /// Uncompressed IPv4.
    RawIpv4,
}

/// The medium access of all stations of a PAN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Access {
    /// Unslotted CSMA/CA (IEEE 802.15.4-2011 §5.1.1.4).
    Csma,
    /// CSMA/CA with a CCA that is one sample in its middle; a station may stall on a broadcast or on a frame that is too long.
    SampledCca,
}

/// Parameters of the MAC, the same for all stations of a PAN.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct LrWpanRules {
    pub(crate) encap: Encap,
    /// MAC overhead of a unicast and of a broadcast frame.
    pub(crate) unicast_header: Bytes,
    pub(crate) broadcast_header: Bytes,
    pub(crate) min_be: u32,
    pub(crate) max_be: u32,
    /// macMaxCSMABackoffs.
    pub(crate) max_backoffs: u32,
    /// macMaxFrameRetries.
    pub(crate) max_retries: u32,
    /// A channel access failure counts as one of the attempts, and the frame is tried again.
    pub(crate) retries_access: bool,
    /// The longest random delay before an attempt is repeated.
    pub(crate) retry_delay: Span,
    /// Time that the board takes to hand a frame to its radio.
    pub(crate) board_time: Span,
    /// Unicast frames are acknowledged.
    pub(crate) acks: bool,
    pub(crate) access: Access,
    /// Frames are flooded, with so many hops left at the start, and never acknowledged.
    pub(crate) mesh_under: Option<u8>,
    /// Interframe spacing is observed.
    pub(crate) spaces: bool,
    pub(crate) reception: Reception,
    /// Probability that a decoded frame is in error all the same.
    pub(crate) frame_error: f64,
    /// SINR that a frame needs.
    pub(crate) ratio: f64,
    pub(crate) queue_limit: usize,
    pub(crate) queue_order: QueueOrder,
    pub(crate) queue_lifetime: Option<Span>,
}

/// Data rate of the 2.4 GHz PHY.
pub(crate) fn rate() -> Rate {
    Rate::from_bps(250_000).expect("250 kb/s are above zero")
}

/// Airtime of a frame.
pub(super) fn airtime(psdu: Bytes) -> Span {
    BYTE_TIME * (PHY_OVERHEAD + psdu).0
}

/// Where a hop is on the path of a packet, which decides how its addresses are compressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PathPosition {
    /// The transmitter is not the source.
    pub(super) after_first_hop: bool,
    /// The receiver is not the destination.
    pub(super) before_last_hop: bool,
    /// The destination is beyond the PAN.
    pub(super) leaves_pan: bool,
}

impl LrWpanRules {
    /// Parameters of the receiver; interframe spaces are up to the MAC.
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
            frame_error: self.frame_error,
            rate_modes: vec![RateMode { rate: rate(), ratio: self.ratio, sensitivity: 0.0, mode: Mode::Oqpsk, header }],
        }
    }

    /// Minimum power of readable frames, absent interference.
    pub(crate) fn min_rx_power(&self) -> f64 {
        self.reception.min_rx_power(self.ratio)
    }

    /// The interframe space after a frame.
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

    /// The longest routing message, headers of IPv4 and UDP included, that fits into one broadcast frame.
    pub(crate) fn longest_message(&self) -> Bytes {
        let room = MAX_PSDU.saturating_sub(self.broadcast_header);
        match self.encap {
            Encap::RawIpv4 => room,
            Encap::Sixlowpan { .. } => {
                let headers = Bytes(self.message(Bytes::ZERO, Address::AllNodes).compressed_headers());
                IP_HEADER + UDP_HEADER + room.saturating_sub(headers)
            }
        }
    }

    fn message(&self, payload: Bytes, destination: Address) -> Datagram {
        Datagram {
            transport: Transport::Udp,
            payload,
            // Routing messages go one hop.
            hop_limit: 1,
            traffic_class: self.traffic_class(Ecn::NotEct),
            source: Address::Elided,
            destination,
        }
    }

    /// Bytes of traffic class and flow label: ECN alone, or ECN and the label.
    fn traffic_class(&self, ecn: Ecn) -> u64 {
        match self.encap {
            Encap::Sixlowpan { has_context: false, .. } => 3,
            Encap::Sixlowpan { .. } | Encap::RawIpv4 => u64::from(ecn != Ecn::NotEct),
        }
    }

    /// A global address that a context compresses so.
    fn global(&self, compressed: Address) -> Address {
        match self.encap {
            Encap::Sixlowpan { has_context: false, .. } => Address::Inline,
            Encap::Sixlowpan { .. } | Encap::RawIpv4 => compressed,
        }
    }

    /// A message of Neighbor Discovery as a datagram.
    fn ndp(&self, message: NdpMessage, request: &MacRequest) -> Datagram {
        let global = self.global(Address::Elided);
        let source = match message {
            // The unspecified address; the link-local address.
            NdpMessage::Solicitation { is_tentative: true, .. } | NdpMessage::RouterSolicitation => Address::Elided,
            NdpMessage::Solicitation { .. } | NdpMessage::Advertisement => global,
        };
        let destination = match message {
            NdpMessage::Solicitation { .. } if request.to.is_none() => Address::SolicitedNode,
            NdpMessage::Solicitation { .. } | NdpMessage::Advertisement => global,
            NdpMessage::RouterSolicitation => Address::AllNodes,
        };
        let payload = request.size.saturating_sub(IPV6_HEADER);
        let traffic_class = self.traffic_class(Ecn::NotEct);
        Datagram { transport: Transport::Icmpv6, payload, hop_limit: 255, traffic_class, source, destination }
    }

    /// The frames of a message; `None` if it does not fit.
    pub(super) fn message_frames(&self, message: &Message, request: &MacRequest) -> Option<FrameSizes> {
        let to_one = request.to.is_some();
        let mac = self.mac_header(to_one);
        let payload = match message {
            // ARP messages are not IP datagrams.
            Message::Arp(_) => return self.raw(mac, request.size),
            Message::Ndp(message) => return self.ndp(*message, request).frames(mac),
            Message::Dsdv(lines) => crate::routing::DSDV_ENTRY_SIZE * lines.len() as u64,
            Message::Aodv(_) => request.size.saturating_sub(IP_HEADER + UDP_HEADER),
            Message::Beacon | Message::Association(_) | Message::Dsr(_) => {
                unreachable!("802.15.4 with access points or DSR is refused")
            }
        };
        match self.encap {
            Encap::RawIpv4 => self.raw(mac, request.size),
            Encap::Sixlowpan { .. } => {
                let destination = if to_one { Address::Elided } else { Address::AllNodes };
                self.message(payload, destination).frames(mac)
            }
        }
    }

    /// The frames of a packet, whose size includes an IPv4 header; `None` if it does not fit.
    pub(super) fn packet_frames(
        &self,
        packet: &crate::packet::Packet,
        size: Bytes,
        position: PathPosition,
    ) -> Option<FrameSizes> {
        let mac = self.unicast_header;
        let Encap::Sixlowpan { iid_bytes, .. } = self.encap else { return self.raw(mac, size) };
        let (transport, inner) = match packet.payload {
            crate::packet::Payload::Tcp(_) => (Transport::Tcp, size.saturating_sub(IP_HEADER)),
            crate::packet::Payload::Udp(_) => (Transport::Udp, size.saturating_sub(IP_HEADER + UDP_HEADER)),
        };
        let source = if position.after_first_hop { Address::Context(iid_bytes) } else { Address::Elided };
        let destination = match position {
            PathPosition { leaves_pan: true, .. } => Address::Inline,
            PathPosition { before_last_hop: true, .. } => Address::Context(iid_bytes),
            PathPosition { .. } => Address::Elided,
        };
        let datagram = Datagram {
            transport,
            payload: inner,
            hop_limit: packet.ttl,
            traffic_class: self.traffic_class(packet.ecn()),
            source: self.global(source),
            destination: self.global(destination),
        };
        datagram.frames(mac)
    }

    fn raw(&self, mac: Bytes, size: Bytes) -> Option<FrameSizes> {
        self.access.raw_frame(mac, size)
    }
}
