//! Frames of IEEE 802.15.4 without FCS, as a monitor would store them that hears every frame: MAC headers.

use super::{Captured, address};
use crate::engine::trace::{AirFrame, FrameKind};
use crate::ids::NodeId;
use crate::scenario::{AddressLength, RadioDef};

/// LINKTYPE_IEEE802_15_4_NOFCS
pub(super) const LINK_TYPE: u16 = 230;

/// Bits of the frame control field (IEEE 802.15.4-2011 §5.2.1.1).
const DATA: u16 = 1;
const ACKNOWLEDGMENT: u16 = 2;
const ACK_REQUEST: u16 = 1 << 5;
const PAN_ID_COMPRESSION: u16 = 1 << 6;
const DESTINATION_MODE: u16 = 10;
const SOURCE_MODE: u16 = 14;
const SHORT: u16 = 2;
const EXTENDED: u16 = 3;
const BROADCAST: [u8; 2] = [0xff; 2];
const FCS: u64 = 2;

/// A channel of 802.15.4.
#[derive(Debug)]
pub(super) struct Ieee802154 {
    pan: u16,
    has_long_addresses: bool,
    acks: bool,
    /// By station.
    nodes: Vec<NodeId>,
    /// By station, the number of its last data frame: an acknowledgment repeats it.
    last: Vec<u8>,
}

impl Ieee802154 {
    pub(super) fn new(index: u32, radio: &RadioDef, nodes: Vec<NodeId>) -> Ieee802154 {
        let settings = radio.lrwpan.unwrap_or_default();
        Ieee802154 {
            pan: index as u16 + 1,
            has_long_addresses: settings.addresses == Some(AddressLength::Long),
            acks: settings.acks != Some(false),
            last: vec![0; nodes.len()],
            nodes,
        }
    }

    pub(super) fn frame(&mut self, frame: &AirFrame) -> Captured {
        let bytes = match (frame.kind, frame.to) {
            (FrameKind::Ack, Some(to)) => self.acknowledgment(to),
            _ => self.header(frame),
        };
        let rest = (frame.size.0 - FCS).saturating_sub(bytes.len() as u64);
        Captured { bytes, rest }
    }

    /// The acknowledgment of the last frame of `to`, which has no addresses.
    fn acknowledgment(&self, to: u32) -> Vec<u8> {
        let [low, high] = ACKNOWLEDGMENT.to_le_bytes();
        vec![low, high, self.last[to as usize]]
    }

    /// The MAC header of a data frame (§5.2.2.2).
    fn header(&mut self, frame: &AirFrame) -> Vec<u8> {
        let own = if self.has_long_addresses { EXTENDED } else { SHORT };
        let (receiver, mode, request) = match frame.to {
            Some(to) => (self.address(to), own, if self.acks { ACK_REQUEST } else { 0 }),
            None => (BROADCAST.to_vec(), SHORT, 0),
        };
        let addressing = mode << DESTINATION_MODE | own << SOURCE_MODE | PAN_ID_COMPRESSION;
        let number = frame.sequence as u8;
        self.last[frame.from as usize] = number;
        let control = (DATA | request | addressing).to_le_bytes();
        [control.as_slice(), &[number], &self.pan.to_le_bytes(), &receiver, &self.address(frame.from)].concat()
    }

    /// The last bytes of the IPv4 address of the node, or an EUI-64 of them; both the last byte first.
    fn address(&self, station: u32) -> Vec<u8> {
        let [a, b, c, d] = address(self.nodes[station as usize]).octets();
        if self.has_long_addresses { vec![d, c, b, 0xfe, 0xff, a, 0, 2] } else { vec![d, c] }
    }
}

#[cfg(test)]
mod tests {
    use tcp::units::{Bytes, Span};

    use super::*;

    fn frame(kind: FrameKind, from: u32, to: Option<u32>, size: u64) -> AirFrame {
        let rate = "250kbps".parse().unwrap();
        let (airtime, duration) = (Span::ZERO, Span::ZERO);
        AirFrame { channel: 0, from, to, kind, sequence: 300, size: Bytes(size), rate, airtime, duration }
    }

    fn channel(settings: &str) -> Ieee802154 {
        let radio = format!(r#"{{"standard": "802.15.4", "lrwpan": {settings}}}"#);
        Ieee802154::new(0, &serde_json::from_str(&radio).unwrap(), [0, 256].map(NodeId).to_vec())
    }

    /// §5.2.1.1: the least significant bit of the frame control is the first.
    #[test]
    fn headers_and_acknowledgments() {
        let mut short = channel("{}");
        let data = short.frame(&frame(FrameKind::Data, 0, Some(1), 127));
        assert_eq!(data, Captured { bytes: vec![0x61, 0x88, 44, 1, 0, 1, 1, 1, 0], rest: 116 });
        let ack = short.frame(&frame(FrameKind::Ack, 1, Some(0), 5));
        assert_eq!(ack, Captured { bytes: vec![2, 0, 44], rest: 0 });
        let mut long = channel(r#"{"addresses": "long", "acks": false}"#);
        let broadcast = long.frame(&frame(FrameKind::Data, 1, None, 40));
        assert_eq!(broadcast.bytes, [0x41, 0xc8, 44, 1, 0, 0xff, 0xff, 1, 1, 0, 0xfe, 0xff, 10, 0, 2]);
        let unicast = long.frame(&frame(FrameKind::Data, 1, Some(0), 40));
        assert_eq!((&unicast.bytes[..2], unicast.bytes.len(), unicast.rest), ([0x41, 0xcc].as_slice(), 21, 17));
    }
}
