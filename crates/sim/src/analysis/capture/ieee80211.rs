//! Frames of IEEE 802.11 after a radiotap header, as a monitor would store them that hears every frame.

use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;

use tcp::Ecn;
use tcp::units::Time;

use super::{Captured, Flows, address};
use crate::engine::trace::{AirFrame, FrameKind, Mpdu, MpduContent};
use crate::ids::NodeId;
use crate::packet::message::{ArpMessage, AssociationMessage, Message};
use crate::packet::wire::{Ipv4, UDP};
use crate::scenario::{RadioDef, Standard};

/// LINKTYPE_IEEE802_11_RADIOTAP
pub(super) const LINK_TYPE: u16 = 127;

/// First byte of the frame control field: type and subtype (IEEE 802.11-2016 §9.2.4.1.3).
mod frame_control {
    pub(super) const ASSOCIATION_REQUEST: u8 = 0x00;
    pub(super) const ASSOCIATION_RESPONSE: u8 = 0x10;
    pub(super) const BEACON: u8 = 0x80;
    pub(super) const AUTHENTICATION: u8 = 0xb0;
    pub(super) const BLOCK_ACK_REQUEST: u8 = 0x84;
    pub(super) const BLOCK_ACK: u8 = 0x94;
    pub(super) const RTS: u8 = 0xb4;
    pub(super) const CTS: u8 = 0xc4;
    pub(super) const ACK: u8 = 0xd4;
    pub(super) const DATA: u8 = 0x08;
    pub(super) const QOS_DATA: u8 = 0x88;
}
/// Its second byte.
const TO_DS: u8 = 1;
const FROM_DS: u8 = 2;
const RETRY: u8 = 8;

/// Bits of the radiotap field `present`: flags, rate, channel, MCS, A-MPDU status.
const FLAGS: u32 = 1 << 1;
const RATE: u32 = 1 << 2;
const CHANNEL: u32 = 1 << 3;
const MCS: u32 = 1 << 19;
const AMPDU_STATUS: u32 = 1 << 20;
/// Of its field `channel`.
const CCK: u16 = 0x20;
const OFDM: u16 = 0x40;
const DYNAMIC: u16 = 0x400;
const TWO_GIGAHERTZ: u16 = 0x80;
const FIVE_GIGAHERTZ: u16 = 0x100;
/// Of its field `MCS`: bandwidth, index, guard interval and format are known, and are 20 MHz, 800 ns and mixed.
const MCS_KNOWN: u8 = 0x0f;
/// Of its field `A-MPDU status`.
const LAST_KNOWN: u16 = 4;
const IS_LAST: u16 = 8;

/// Ethertypes after an LLC/SNAP header (RFC 1042).
const SNAP: [u8; 6] = [0xaa, 0xaa, 3, 0, 0, 0];
const IPV4: u16 = 0x0800;
const ARP: u16 = 0x0806;
/// IP protocol of DSR (RFC 4728 §1); UDP ports of AODV (RFC 3561 §11) and of protocols for mobile ad hoc networks (RFC 5498).
const DSR: u8 = 48;
const AODV_PORT: u16 = 654;
const MANET_PORT: u16 = 269;
/// Compressed, TID 0.
const BLOCK_ACK_CONTROL: u16 = 4;
/// In units of 1024 us, and the capability ESS.
const BEACON_INTERVAL: u16 = 100;
const ESS: u16 = 1;
/// MPDUs that may be sent again: the window of a block ACK.
const REMEMBERED: usize = 64;

type Mac = [u8; 6];
const BROADCAST: Mac = [0xff; 6];

/// A channel of 802.11.
#[derive(Debug)]
pub(super) struct Ieee80211 {
    standard: Standard,
    megahertz: u16,
    /// Of an independent network.
    bssid: Mac,
    /// By station.
    nodes: Vec<NodeId>,
    access_points: Vec<bool>,
    /// By transmitter and receiver the last MPDUs: sequence number and frame body.
    sent: BTreeMap<(u32, u32), VecDeque<(u32, Captured)>>,
    /// Number of the last A-MPDU.
    aggregate: u32,
}

/// Where an MPDU stands in its A-MPDU.
#[derive(Clone, Copy)]
struct Place {
    aggregate: u32,
    is_last: bool,
}

impl Ieee80211 {
    pub(super) fn new(index: u32, radio: &RadioDef, nodes: Vec<NodeId>, access_points: Vec<bool>) -> Ieee80211 {
        let [.., high, low] = index.to_be_bytes();
        Ieee80211 {
            standard: radio.standard.unwrap_or(Standard::B),
            megahertz: radio.frequency.map_or(0, |frequency| (frequency.0 / 1e6) as u16),
            bssid: [2, 0xff, 0, 0, high, low],
            nodes,
            access_points,
            sent: BTreeMap::new(),
            aggregate: 0,
        }
    }

    /// What a transmission looks like: a frame, or each of its MPDUs.
    pub(super) fn frames(&mut self, now: Time, frame: &AirFrame, mpdus: &[Mpdu], flows: &Flows) -> Vec<Captured> {
        if frame.kind != FrameKind::Data {
            let bytes = [self.radiotap(frame, None), self.control(frame)].concat();
            return vec![Captured { bytes, rest: 0 }];
        }
        self.aggregate += u32::from(mpdus.len() > 1);
        let last = mpdus.len().saturating_sub(1);
        let numbered = mpdus.iter().enumerate();
        numbered
            .map(|(index, mpdu)| {
                let place = Place { aggregate: self.aggregate, is_last: index == last };
                let (body, retry) = self.body(now, frame, mpdu, flows);
                let head = self.radiotap(frame, (last > 0).then_some(place));
                let bytes = [head, self.header(frame, mpdu, retry), body.bytes].concat();
                Captured { bytes, rest: body.rest }
            })
            .collect()
    }

    /// 02:00 and the IPv4 address of the node.
    fn mac(&self, station: u32) -> Mac {
        let [a, b, c, d] = self.address(station).octets();
        [2, 0, a, b, c, d]
    }

    fn address(&self, station: u32) -> Ipv4Addr {
        address(self.nodes[station as usize])
    }

    /// The radiotap header; its fields stand at multiples of their size.
    fn radiotap(&self, frame: &AirFrame, place: Option<Place>) -> Vec<u8> {
        let bits = frame.rate.as_bps();
        let ht = self.standard == Standard::N && bits.is_multiple_of(6_500_000);
        let present = FLAGS | CHANNEL | if ht { MCS } else { RATE } | if place.is_some() { AMPDU_STATUS } else { 0 };
        let mut fields = present.to_le_bytes().to_vec();
        // No FCS; the rate in units of 500 kb/s, or a byte of padding.
        fields.extend([0, if ht { 0 } else { (bits / 500_000) as u8 }]);
        fields.extend(self.megahertz.to_le_bytes());
        let modulation = match self.standard {
            Standard::Dsss | Standard::B => CCK,
            Standard::G => DYNAMIC,
            Standard::A | Standard::N | Standard::Lrwpan => OFDM,
        };
        let band = match self.megahertz {
            2400..=2500 => TWO_GIGAHERTZ,
            4900..=5900 => FIVE_GIGAHERTZ,
            _ => 0,
        };
        fields.extend((modulation | band).to_le_bytes());
        if ht {
            // One stream: bits per symbol of 26 times 1, 2, 3, 4, 6, 8, 9, 10.
            let index = [1, 2, 3, 4, 6, 8, 9, 10].iter().position(|times| bits == times * 6_500_000);
            fields.extend([MCS_KNOWN, 0, index.unwrap_or(0) as u8]);
        }
        if let Some(Place { aggregate, is_last }) = place {
            fields.resize(16, 0);
            fields.extend(aggregate.to_le_bytes());
            fields.extend((LAST_KNOWN | if is_last { IS_LAST } else { 0 }).to_le_bytes());
            fields.extend([0, 0]);
        }
        let length = (4 + fields.len()) as u16;
        [&[0, 0], length.to_le_bytes().as_slice(), &fields].concat()
    }

    /// A control frame, without FCS (IEEE 802.11-2016 §9.3.1).
    fn control(&self, frame: &AirFrame) -> Vec<u8> {
        let (kind, sends_address, fields) = match frame.kind {
            FrameKind::Rts => (frame_control::RTS, true, Vec::new()),
            FrameKind::Cts => (frame_control::CTS, false, Vec::new()),
            FrameKind::Ack => (frame_control::ACK, false, Vec::new()),
            FrameKind::BlockAck { start, received } => {
                let fields = [&block_ack_fields(start), received.to_le_bytes().as_slice()].concat();
                (frame_control::BLOCK_ACK, true, fields)
            }
            FrameKind::BlockAckRequest { start } => {
                (frame_control::BLOCK_ACK_REQUEST, true, block_ack_fields(start).to_vec())
            }
            FrameKind::Data => unreachable!("a data frame is no control frame"),
        };
        let mut bytes = vec![kind, 0];
        bytes.extend(duration(frame).to_le_bytes());
        bytes.extend(frame.to.map_or(BROADCAST, |to| self.mac(to)));
        if sends_address {
            bytes.extend(self.mac(frame.from));
        }
        bytes.extend(fields);
        bytes
    }

    /// The MAC header of a data or management frame (§9.3.2, §9.3.3).
    fn header(&self, frame: &AirFrame, mpdu: &Mpdu, retry: bool) -> Vec<u8> {
        let management = match &mpdu.content {
            MpduContent::Message(Message::Beacon) => Some(frame_control::BEACON),
            MpduContent::Message(Message::Association(step)) => Some(subtype(*step)),
            _ => None,
        };
        let is_access_point = |station: u32| self.access_points[station as usize];
        let (own, receiver) = (self.mac(frame.from), frame.to.map_or(BROADCAST, |to| self.mac(to)));
        // Access points are routers: they are what a station addresses, and what it hears from.
        let (direction, bssid) = match frame.to {
            Some(to) if is_access_point(to) => (TO_DS, receiver),
            _ if is_access_point(frame.from) => (FROM_DS, own),
            _ => (0, self.bssid),
        };
        let has_qos = self.standard == Standard::N && management.is_none();
        let data = if has_qos { frame_control::QOS_DATA } else { frame_control::DATA };
        let flags = if management.is_some() { 0 } else { direction } | if retry { RETRY } else { 0 };
        let mut bytes = vec![management.unwrap_or(data), flags];
        bytes.extend(duration(frame).to_le_bytes());
        bytes.extend([receiver, own, bssid].concat());
        bytes.extend(sequence_control(mpdu.sequence).to_le_bytes());
        if has_qos {
            bytes.extend([0, 0]);
        }
        bytes
    }

    /// The frame body as far as it is stored, and whether it was sent before. What was sent is remembered: a receiver may have
    /// passed it on since.
    fn body(&mut self, now: Time, frame: &AirFrame, mpdu: &Mpdu, flows: &Flows) -> (Captured, bool) {
        let Some(to) = frame.to else { return (self.new_body(now, frame, mpdu, flows), false) };
        let sent = self.sent.entry((frame.from, to)).or_default();
        if let Some((_, body)) = sent.iter().find(|(sequence, _)| *sequence == mpdu.sequence) {
            return (body.clone(), true);
        }
        let body = self.new_body(now, frame, mpdu, flows);
        let sent = self.sent.entry((frame.from, to)).or_default();
        sent.push_back((mpdu.sequence, body.clone()));
        if sent.len() > REMEMBERED {
            sent.pop_front();
        }
        (body, false)
    }

    fn new_body(&self, now: Time, frame: &AirFrame, mpdu: &Mpdu, flows: &Flows) -> Captured {
        let size = mpdu.size.0;
        let (ethertype, bytes) = match &mpdu.content {
            MpduContent::Packet(packet) => (IPV4, flows.headers(packet)),
            MpduContent::Repeated => (IPV4, Vec::new()),
            MpduContent::Message(Message::Arp(message)) => (ARP, self.arp(frame, message)),
            MpduContent::Message(Message::Ndp(_)) => unreachable!("stations of 802.11 resolve addresses by ARP"),
            MpduContent::Message(Message::Dsdv(_)) => (IPV4, self.datagram(frame, size, Some(MANET_PORT))),
            MpduContent::Message(Message::Aodv(_)) => (IPV4, self.datagram(frame, size, Some(AODV_PORT))),
            MpduContent::Message(Message::Dsr(_)) => (IPV4, self.datagram(frame, size, None)),
            MpduContent::Message(Message::Beacon) => return of_management(beacon(now), size),
            MpduContent::Message(Message::Association(step)) => return of_management(association(*step), size),
        };
        let rest = size.saturating_sub(bytes.len() as u64);
        Captured { bytes: [&SNAP, ethertype.to_be_bytes().as_slice(), &bytes].concat(), rest }
    }

    /// ARP for IPv4 over Ethernet addresses (RFC 826).
    fn arp(&self, frame: &AirFrame, message: &ArpMessage) -> Vec<u8> {
        let (operation, target, known) = match (message, frame.to) {
            (ArpMessage::Request(target), _) => (1, target.0, [0; 6]),
            (ArpMessage::Reply, to) => (2, to.unwrap_or(frame.from), to.map_or(BROADCAST, |to| self.mac(to))),
        };
        let mut bytes = vec![0, 1, 8, 0, 6, 4, 0, operation];
        bytes.extend(self.mac(frame.from));
        bytes.extend(self.address(frame.from).octets());
        bytes.extend(known);
        bytes.extend(self.address(target).octets());
        bytes
    }

    /// The headers of a routing message between neighbours: IPv4 and UDP, or IPv4 alone for DSR.
    fn datagram(&self, frame: &AirFrame, size: u64, port: Option<u16>) -> Vec<u8> {
        let length = u16::try_from(size).unwrap_or(0);
        let ip = Ipv4 {
            ecn: Ecn::NotEct,
            length,
            ttl: 1,
            protocol: if port.is_some() { UDP } else { DSR },
            from: self.address(frame.from),
            to: frame.to.map_or(Ipv4Addr::BROADCAST, |to| self.address(to)),
        };
        let mut bytes = ip.header().to_vec();
        if let Some(port) = port {
            // Without a checksum (RFC 768): the payload is not there to be summed.
            let words = [port, port, length.saturating_sub(20), 0];
            bytes.extend(words.iter().flat_map(|word| word.to_be_bytes()));
        }
        bytes
    }
}

/// The Duration field: microseconds, rounded up (§9.2.5.1).
fn duration(frame: &AirFrame) -> u16 {
    u16::try_from(frame.duration.as_nanos().div_ceil(1000)).unwrap_or(32_767).min(32_767)
}

/// Sequence numbers have 12 bits; there are no fragments.
fn sequence_control(sequence: u32) -> u16 {
    (sequence << 4) as u16
}

/// Control field and starting sequence control of a block ACK and of a request for one (§9.3.1.8, §9.3.1.9).
fn block_ack_fields(start: u32) -> [u8; 4] {
    let ([a, b], [c, d]) = (BLOCK_ACK_CONTROL.to_le_bytes(), sequence_control(start).to_le_bytes());
    [a, b, c, d]
}

fn subtype(step: AssociationMessage) -> u8 {
    match step {
        AssociationMessage::AuthenticationRequest | AssociationMessage::AuthenticationResponse => {
            frame_control::AUTHENTICATION
        }
        AssociationMessage::AssociationRequest => frame_control::ASSOCIATION_REQUEST,
        AssociationMessage::AssociationResponse => frame_control::ASSOCIATION_RESPONSE,
    }
}

/// The fixed fields of a beacon (§9.3.3.3).
fn beacon(now: Time) -> Vec<u8> {
    let micros = now.as_nanos() / 1000;
    [micros.to_le_bytes().as_slice(), &BEACON_INTERVAL.to_le_bytes(), &ESS.to_le_bytes()].concat()
}

/// The fixed fields of authentication (open system) and association (§9.3.3.6, §9.3.3.7, §9.3.3.12).
fn association(step: AssociationMessage) -> Vec<u8> {
    let words: &[u16] = match step {
        AssociationMessage::AuthenticationRequest => &[0, 1, 0],
        AssociationMessage::AuthenticationResponse => &[0, 2, 0],
        AssociationMessage::AssociationRequest => &[ESS, 1],
        AssociationMessage::AssociationResponse => &[ESS, 0, 0xc001],
    };
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The body of a management frame, which the model makes as long as a data frame with as large a packet.
fn of_management(bytes: Vec<u8>, size: u64) -> Captured {
    let rest = (SNAP.len() as u64 + 2 + size).saturating_sub(bytes.len() as u64);
    Captured { bytes, rest }
}

#[cfg(test)]
mod tests;
