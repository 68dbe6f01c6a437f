//! Records of a pcap file in its forms, of either byte order.

use crate::frame::{Each, Frame, MAX_PACKET, Order, Wrong, grouped};

/// Bytes of the file before its first record.
const HEADER: usize = 24;

/// What the header of a pcap file says.
#[derive(Debug)]
pub(crate) struct Pcap {
    order: Order,
    /// Nanoseconds of a part of a second in its times.
    part_ns: i64,
    /// Bytes before each packet; 24 in Kuznetzov's form.
    before: usize,
    link: u16,
    begun: bool,
}

impl Pcap {
    /// The form of a file by its first bytes.
    pub(crate) fn of(head: &[u8]) -> Result<Option<Pcap>, Wrong> {
        let (big, part_ns, before) = match head.get(..4) {
            Some([0xd4, 0xc3, 0xb2, 0xa1]) => (false, 1000, 16),
            Some([0xa1, 0xb2, 0xc3, 0xd4]) => (true, 1000, 16),
            Some([0x4d, 0x3c, 0xb2, 0xa1]) => (false, 1, 16),
            Some([0xa1, 0xb2, 0x3c, 0x4d]) => (true, 1, 16),
            Some([0x34, 0xcd, 0xb2, 0xa1]) => (false, 1000, 24),
            Some([0xa1, 0xb2, 0xcd, 0x34]) => (true, 1000, 24),
            _ => return Ok(None),
        };
        if head.len() < HEADER {
            return Err(Wrong::at(head.len() as u64, "the file ends in its header"));
        }
        let order = Order { big };
        // The upper half has the length of a checksum behind each frame.
        let link = order.u32(head, 20) as u16;
        Ok(Some(Pcap { order, part_ns, before, link, begun: false }))
    }

    /// Goes over the records that are whole, and returns how many bytes they and the header have.
    pub(crate) fn walk<'a>(&mut self, data: &'a [u8], passed: u64, each: &mut Each<'_, 'a>) -> Result<usize, Wrong> {
        let mut at = if self.begun { 0 } else { HEADER };
        self.begun = true;
        while data.len() - at >= self.before {
            let captured = self.order.u32(data, at + 8) as usize;
            if captured > MAX_PACKET {
                let text =
                    format!("a packet of {} bytes, at most {}", grouped(captured as u64), grouped(MAX_PACKET as u64));
                return Err(Wrong::at(passed + at as u64, &text));
            }
            let start = at + self.before;
            let Some(bytes) = data.get(start..start + captured) else { break };
            let (seconds, parts) = (self.order.u32(data, at), self.order.u32(data, at + 4));
            let t_ns = i64::from(seconds) * 1_000_000_000 + i64::from(parts) * self.part_ns;
            each(Some(Frame { t_ns, link: self.link, size: self.order.u32(data, at + 12), bytes }));
            at = start + captured;
        }
        Ok(at)
    }
}
