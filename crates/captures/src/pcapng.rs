//! Blocks of a pcapng file (draft-ietf-opsawg-pcapng), of either byte order, section by section.

use crate::frame::{Each, Frame, MAX_PACKET, Order, Wrong, grouped};

const SECTION: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
const BYTE_ORDER: u32 = 0x1a2b_3c4d;
const INTERFACE: u32 = 1;
/// The packet block of the first pcapng.
const OLD_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const PACKET: u32 = 6;
/// Options of an interface: parts of a second in its times, and seconds to add to them.
const RESOLUTION: u16 = 9;
const OFFSET: u16 = 14;
const MAX_BLOCK: usize = MAX_PACKET + (1 << 20);
/// Seconds since 1970 that no capture reaches (the year 2242): 64-bit nanoseconds hold them.
const LAST_S: i128 = 1 << 33;
/// Powers of ten up to here are computed with; of more no time is left.
const MAX_POWER: u32 = 29;

/// What a section says of an interface.
#[derive(Debug)]
struct Interface {
    link: u16,
    /// Parts of a second in its times.
    ticks: u128,
    offset_s: i64,
}

/// A pcapng file: its section's byte order and interfaces.
#[derive(Debug)]
pub(crate) struct Pcapng {
    order: Order,
    interfaces: Vec<Interface>,
}

impl Pcapng {
    pub(crate) fn new() -> Pcapng {
        Pcapng { order: Order { big: false }, interfaces: Vec::new() }
    }

    pub(crate) fn begins(head: &[u8]) -> bool {
        head.starts_with(&SECTION)
    }

    /// Goes over the blocks that are whole, and returns how many bytes they have.
    pub(crate) fn walk<'a>(&mut self, data: &'a [u8], passed: u64, each: &mut Each<'_, 'a>) -> Result<usize, Wrong> {
        let mut at = 0;
        while data.len() - at >= 12 {
            let (left, place) = (&data[at..], passed + at as u64);
            if left.starts_with(&SECTION) {
                *self = Pcapng { order: section_order(left, place)?, interfaces: Vec::new() };
            }
            let (kind, length) = (self.order.u32(left, 0), self.order.u32(left, 4) as usize);
            if length < 12 || length % 4 != 0 || length > MAX_BLOCK {
                let (length, rest) = (grouped(length as u64), grouped(left.len() as u64));
                return Err(Wrong::at(place, &format!("a block of {length} bytes, {rest} are left of what was read")));
            }
            let Some(block) = left.get(..length) else { break };
            if self.order.u32(block, length - 4) as usize != length {
                let text = "a block ends with another length than it begins with";
                return Err(Wrong::at(place + length as u64 - 4, text));
            }
            match kind {
                INTERFACE => self.interfaces.push(self.interface(&block[8..length - 4], place)?),
                PACKET | OLD_PACKET => each(Some(self.packet(block, kind, place)?)),
                SIMPLE_PACKET => each(None),
                _ => (),
            }
            at += length;
        }
        Ok(at)
    }

    /// What a block says of an interface.
    fn interface(&self, body: &[u8], place: u64) -> Result<Interface, Wrong> {
        if body.len() < 8 {
            return Err(Wrong::at(place, "the block of an interface is too short"));
        }
        let mut found = Interface { link: self.order.u16(body, 0), ticks: 1_000_000, offset_s: 0 };
        let mut at = 8;
        while body.len() >= at + 4 {
            let (code, length) = (self.order.u16(body, at), usize::from(self.order.u16(body, at + 2)));
            let left = body.len() - at - 4;
            let Some(value) = body.get(at + 4..at + 4 + length) else {
                let text = format!("an option of {length} bytes, {left} are left");
                return Err(Wrong::at(place + 8 + at as u64, &text));
            };
            match (code, value) {
                (RESOLUTION, [power]) if power & 0x80 != 0 => found.ticks = 1 << (power & 0x7f).min(63),
                (RESOLUTION, [power]) => found.ticks = 10_u128.pow(u32::from(*power).min(MAX_POWER)),
                (OFFSET, [_, _, _, _, _, _, _, _]) => {
                    let words = [self.order.u32(value, 0), self.order.u32(value, 4)].map(u64::from);
                    let [high, low] = if self.order.big { words } else { [words[1], words[0]] };
                    found.offset_s = (high << 32 | low) as i64;
                }
                _ => (),
            }
            at += 4 + length.next_multiple_of(4);
        }
        Ok(found)
    }

    /// The frame of a packet's block.
    fn packet<'a>(&self, block: &'a [u8], kind: u32, place: u64) -> Result<Frame<'a>, Wrong> {
        if block.len() < 32 {
            return Err(Wrong::at(place, "the block of a packet is too short"));
        }
        let word = |at| self.order.u32(block, at);
        // A packet block of the first pcapng has the interface in 16 bits, and a count of drops behind it.
        let number = if kind == OLD_PACKET { u32::from(self.order.u16(block, 8)) } else { word(8) };
        let Some(interface) = self.interfaces.get(number as usize) else {
            let section = self.interfaces.len();
            let text = format!("a packet of an interface that is not there: the section has {section}");
            return Err(Wrong::at(place, &text));
        };
        let captured = word(20) as usize;
        if captured > block.len() - 32 {
            return Err(Wrong::at(place, "a packet of more bytes than its block has"));
        }
        let t_ns = interface.nanoseconds(u64::from(word(12)) << 32 | u64::from(word(16)));
        let t_ns = t_ns.ok_or_else(|| Wrong::at(place, "a packet has a time that is not between 1970 and 2242"))?;
        Ok(Frame { t_ns, link: interface.link, size: word(24), bytes: &block[28..28 + captured] })
    }
}

impl Interface {
    /// A time in nanoseconds since 1970.
    fn nanoseconds(&self, ticks: u64) -> Option<i64> {
        let seconds = (u128::from(ticks) / self.ticks) as i128 + i128::from(self.offset_s);
        let ns = u128::from(ticks) * 1_000_000_000 / self.ticks;
        let total = ns as i128 + i128::from(self.offset_s) * 1_000_000_000;
        (0..LAST_S).contains(&seconds).then_some(total as i64)
    }
}

/// The byte order of a section, of which at least twelve bytes are there.
fn section_order(block: &[u8], place: u64) -> Result<Order, Wrong> {
    let mark = |big| Order { big }.u32(block, 8) == BYTE_ORDER;
    let found = [false, true].into_iter().find(|big| mark(*big));
    let order = found.map(|big| Order { big });
    order.ok_or_else(|| Wrong::at(place + 8, "a section without the mark of its byte order"))
}
