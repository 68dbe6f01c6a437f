//! Pure ACKs that a later one makes superfluous: of consecutive ones of a flow that could be merged one of so many passes, or
//! the newest takes the place of the one that waits.

use std::collections::BTreeMap;

use tcp::units::{Span, Time};
use tcp::{Flags, Sack, Segment};

use crate::engine::context::Context;
use crate::ids::{EndpointId, PacketId};
use crate::packet::Payload;
use crate::scenario::DecimateDef;

/// Holds the newest pure ACK of each flow.
#[derive(Debug)]
pub(super) struct AckDecimator {
    every: u64,
    timeout: Span,
    held: BTreeMap<EndpointId, Held>,
}

/// The newest of some ACKs.
#[derive(Clone, Copy, Debug)]
struct Held {
    packet: PacketId,
    count: u64,
    until: Time,
}

/// What becomes of a packet that comes, and of the ACK that was held before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Decision {
    /// It is superfluous.
    pub(super) drops: Option<PacketId>,
    /// They pass, in this order.
    pub(super) passes: [Option<PacketId>; 2],
    /// The packet is held until then.
    pub(super) holds_until: Option<Time>,
}

impl AckDecimator {
    pub(super) fn new(def: &DecimateDef) -> AckDecimator {
        AckDecimator { every: def.every, timeout: def.timeout, held: BTreeMap::new() }
    }

    pub(super) fn holds(&self) -> u64 {
        self.held.len() as u64
    }

    /// A packet comes.
    pub(super) fn on_packet(&mut self, ctx: &Context, id: PacketId) -> Decision {
        let packet = ctx.packets.get(id);
        let Payload::Tcp(segment) = packet.payload else {
            return Decision { passes: [Some(id), None], ..Decision::default() };
        };
        let before = self.held.remove(&packet.to);
        if !is_pure_ack(&segment) {
            return Decision { passes: [before.map(|held| held.packet), Some(id)], ..Decision::default() };
        }
        let merges = before.filter(
            |held| matches!(ctx.packets.get(held.packet).payload, Payload::Tcp(older) if replaces(&segment, &older)),
        );
        let drops = merges.map(|held| held.packet);
        let passes = before.filter(|_| drops.is_none()).map(|held| held.packet);
        let is_duplicate = before.is_some() && drops.is_none();
        let Held { count, until, .. } = merges.unwrap_or(Held { packet: id, count: 0, until: ctx.now + self.timeout });
        if count + 1 >= self.every || is_duplicate {
            return Decision { drops, passes: [passes, Some(id)], holds_until: None };
        }
        self.held.insert(packet.to, Held { packet: id, count: count + 1, until });
        Decision { drops, passes: [passes, None], holds_until: Some(until) }
    }

    /// The ACKs that have been held for long enough.
    pub(super) fn take_due(&mut self, now: Time) -> Vec<PacketId> {
        let due = self.held.extract_if(.., |_, held| held.until <= now);
        due.map(|(_, held)| held.packet).collect()
    }

    /// All ACKs held.
    pub(super) fn take_all(&mut self) -> Vec<PacketId> {
        std::mem::take(&mut self.held).into_values().map(|held| held.packet).collect()
    }
}

/// Knows the newest pure ACK of each flow that waits in the queue.
#[derive(Debug, Default)]
pub(super) struct AckReplacer {
    waiting: BTreeMap<EndpointId, PacketId>,
    /// Packets dropped on the link so far. When the queue has dropped others by itself, nobody knows which.
    dropped: u64,
}

impl AckReplacer {
    /// A packet comes before the queue, on a link that has dropped so many. Returns the one in the queue whose place it can take,
    /// which has the same length.
    pub(super) fn place_for(&mut self, ctx: &Context, id: PacketId, dropped: u64) -> Option<PacketId> {
        self.check(dropped);
        let packet = ctx.packets.get(id);
        let Payload::Tcp(segment) = packet.payload else { return None };
        if !is_pure_ack(&segment) {
            // What waits has packets of its flow behind it.
            self.waiting.remove(&packet.to);
            return None;
        }
        let place = *self.waiting.get(&packet.to)?;
        let older = ctx.packets.get(place);
        let merges = matches!(older.payload, Payload::Tcp(older) if replaces(&segment, &older));
        (merges && older.size == packet.size).then_some(place)
    }

    /// True if all that it knows to wait is there still.
    fn check(&mut self, dropped: u64) -> bool {
        let is_current = self.dropped == dropped;
        if !is_current {
            self.waiting.clear();
            self.dropped = dropped;
        }
        is_current
    }

    /// The queue has taken a packet, which it may have dropped at once.
    pub(super) fn on_queued(&mut self, ctx: &Context, id: PacketId, dropped: u64) {
        if !self.check(dropped) {
            return;
        }
        let packet = ctx.packets.get(id);
        if matches!(packet.payload, Payload::Tcp(segment) if is_pure_ack(&segment)) {
            self.waiting.insert(packet.to, id);
        }
    }

    /// A packet was dropped at the entrance, or in favour of another one.
    pub(super) fn on_drop(&mut self) {
        self.dropped += 1;
    }

    /// A packet leaves the queue.
    pub(super) fn on_departure(&mut self, ctx: &Context, id: PacketId) {
        let to = ctx.packets.get(id).to;
        if self.waiting.get(&to) == Some(&id) {
            self.waiting.remove(&to);
        }
    }

    /// The queue was emptied from outside.
    pub(super) fn forget(&mut self) {
        self.waiting.clear();
    }
}

/// True if a segment only acknowledges: no data, no flags but those of ECN, no options but timestamps and SACK.
fn is_pure_ack(segment: &Segment) -> bool {
    let others = [Flags::SYN, Flags::FIN, Flags::RST, Flags::PSH, Flags::AE];
    segment.len == 0
        && segment.flags.contains(Flags::ACK)
        && !others.into_iter().any(|flag| segment.flags.contains(flag))
        && segment.ecn_bytes.is_none()
        && !is_dsack(segment)
}

/// True if nothing is lost when `newer` comes in place of `older`, both pure ACKs.
fn replaces(newer: &Segment, older: &Segment) -> bool {
    let is_duplicate = newer.ack == older.ack && newer.sack == older.sack;
    let in_order = match (newer.timestamps, older.timestamps) {
        (Some(newer), Some(older)) => older.value <= newer.value,
        (newer, older) => newer.is_none() && older.is_none(),
    };
    newer.ack >= older.ack && newer.flags == older.flags && in_order && !is_duplicate && covers(newer, &older.sack)
}

/// True if a segment reports every block of an older option, by its own blocks or its acknowledgment number.
fn covers(newer: &Segment, older: &Sack) -> bool {
    older.blocks().all(|block| {
        block.end <= newer.ack || newer.sack.blocks().any(|own| own.start <= block.start && block.end <= own.end)
    })
}

/// True if the first SACK block reports a duplicate (RFC 2883 §4).
fn is_dsack(segment: &Segment) -> bool {
    let mut blocks = segment.sack.blocks();
    let Some(first) = blocks.next() else { return false };
    first.start < segment.ack
        || blocks.next().is_some_and(|second| second.start <= first.start && first.end <= second.end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tcp::SeqNo;

    fn ack(number: u64) -> Segment {
        Segment { ack: SeqNo(number), flags: Flags::ACK, ..Segment::default() }
    }

    fn with_sack(number: u64, blocks: &[(u64, u64)]) -> Segment {
        let mut sack = Sack::default();
        blocks.iter().for_each(|(start, end)| assert!(sack.push(tcp::SeqRange::new(SeqNo(*start), SeqNo(*end)))));
        Segment { sack, ..ack(number) }
    }

    #[test]
    fn a_later_ack_replaces_an_earlier_one_unless_it_repeats_it() {
        assert!(replaces(&ack(200), &ack(100)));
        assert!(!replaces(&ack(100), &ack(100)), "a duplicate ACK counts");
        assert!(!replaces(&ack(100), &ack(200)));
        assert!(!replaces(&Segment { flags: Flags::ACK.with(Flags::ECE), ..ack(200) }, &ack(100)));
    }

    #[test]
    fn every_block_is_still_reported() {
        assert!(replaces(&with_sack(100, &[(200, 400)]), &with_sack(100, &[(200, 300)])));
        assert!(!replaces(&with_sack(100, &[(500, 600)]), &with_sack(100, &[(200, 300)])));
        assert!(replaces(&ack(300), &with_sack(100, &[(200, 300)])));
    }

    #[test]
    fn a_dsack_is_no_candidate() {
        assert!(!is_pure_ack(&with_sack(300, &[(100, 200)])));
        assert!(!is_pure_ack(&with_sack(100, &[(200, 300), (200, 500)])));
        assert!(is_pure_ack(&with_sack(100, &[(200, 300), (400, 500)])));
    }
}
