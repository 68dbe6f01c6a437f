//! Block acknowledgment (IEEE 802.11-2016 §10.24): the window of an originator and the reordering buffer of a recipient.
//! Agreements exist from the start, and sequence numbers do not wrap.

use std::collections::VecDeque;

use crate::ids::StationId;
use crate::radio::frame::Content;
use crate::radio::service::MacRequest;

/// MPDUs in an originator's window, and in a recipient's reordering buffer.
pub(super) const WINDOW: u32 = 64;

/// What a block ACK says: everything below `start` has been received or given up, and of `start + i` bit i tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct BlockAck {
    pub(crate) start: u32,
    pub(crate) received: u64,
}

impl BlockAck {
    fn covers(&self, sequence: u32) -> bool {
        sequence.checked_sub(self.start).is_none_or(|bit| bit < WINDOW && self.received >> bit & 1 == 1)
    }
}

/// An MPDU that is not acknowledged yet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Mpdu {
    pub(super) request: MacRequest,
    pub(super) sequence: u32,
    /// The recipient has it, though no acknowledgment may have arrived.
    pub(super) delivered: bool,
}

/// Whether the recipient has to be asked for a block ACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum BlockAckRequest {
    #[default]
    None,
    /// Before the next MPDU.
    WithNextMpdu,
    Due,
}

/// The state of an originator towards one recipient.
#[derive(Clone, Debug)]
pub(super) struct Originator {
    /// Unacknowledged MPDUs in order: all of them are in each PPDU.
    pub(super) window: VecDeque<Mpdu>,
    next_sequence: u32,
    pub(super) request: BlockAckRequest,
}

impl Originator {
    fn new() -> Originator {
        Originator { window: VecDeque::new(), next_sequence: 0, request: BlockAckRequest::None }
    }

    /// WinStartO: the sequence number of the oldest unacknowledged MPDU.
    pub(super) fn start(&self) -> u32 {
        self.window.front().map_or(self.next_sequence, |mpdu| mpdu.sequence)
    }

    pub(super) fn has_room(&self) -> bool {
        self.next_sequence < self.start() + WINDOW
    }

    /// Appends an MPDU; the window has room.
    pub(super) fn admit(&mut self, request: MacRequest) {
        self.window.push_back(Mpdu { request, sequence: self.next_sequence, delivered: false });
        self.next_sequence += 1;
        if self.request == BlockAckRequest::WithNextMpdu {
            self.request = BlockAckRequest::Due;
        }
    }

    /// Handles a block ACK; returns the MPDUs that it acknowledges.
    pub(super) fn on_block_ack(&mut self, ack: BlockAck) -> Vec<Mpdu> {
        self.request = BlockAckRequest::None;
        let (acknowledged, left): (Vec<Mpdu>, Vec<Mpdu>) =
            self.window.drain(..).partition(|mpdu| ack.covers(mpdu.sequence));
        self.window = left.into();
        acknowledged
    }

    /// Removes the MPDUs whose time is over; the recipient must not wait for them, and is told so before it receives another.
    pub(super) fn give_up(&mut self, over: impl Fn(&MacRequest) -> bool) -> Vec<Mpdu> {
        if !self.window.iter().any(|mpdu| over(&mpdu.request)) {
            return Vec::new();
        }
        let (lost, left): (Vec<Mpdu>, Vec<Mpdu>) = self.window.drain(..).partition(|mpdu| over(&mpdu.request));
        self.window = left.into();
        let all = self.window.is_empty();
        self.request = if all { BlockAckRequest::WithNextMpdu } else { BlockAckRequest::Due };
        lost
    }
}

/// The reordering buffer of a recipient for one originator.
#[derive(Clone, Debug, Default)]
pub(super) struct Recipient {
    /// WinStartB: the lowest sequence number that has not been passed up.
    start: u32,
    /// From `start` on; `None` is missing.
    buffer: VecDeque<Option<Content>>,
}

impl Recipient {
    /// Receives an MPDU, and appends to `released` what is in order or has left the window; false for a duplicate.
    pub(super) fn receive(&mut self, sequence: u32, content: Content, released: &mut Vec<Content>) -> bool {
        self.advance(sequence.saturating_sub(WINDOW - 1), released);
        let Some(index) = sequence.checked_sub(self.start).map(|index| index as usize) else { return false };
        if self.buffer.len() <= index {
            self.buffer.resize(index + 1, None);
        }
        let is_new = self.buffer[index].is_none();
        self.buffer[index].get_or_insert(content);
        self.release(released);
        is_new
    }

    /// Moves the window to `start`, as a block ACK request asks, and releases what it passes.
    pub(super) fn advance(&mut self, start: u32, released: &mut Vec<Content>) {
        while self.start < start {
            released.extend(self.buffer.pop_front().flatten());
            self.start += 1;
        }
        self.release(released);
    }

    fn release(&mut self, released: &mut Vec<Content>) {
        while let Some(Some(content)) = self.buffer.front() {
            released.push(*content);
            self.buffer.pop_front();
            self.start += 1;
        }
    }

    pub(super) fn block_ack(&self) -> BlockAck {
        let bits = self.buffer.iter().enumerate().filter(|(_, content)| content.is_some());
        BlockAck { start: self.start, received: bits.map(|(bit, _)| 1 << bit).sum() }
    }
}

/// The block-ACK state of a station, by neighbour.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockAcks {
    originators: Vec<(StationId, Originator)>,
    recipients: Vec<(StationId, Recipient)>,
    /// Number of the last transmission of an aggregate.
    pub(super) transmission: u64,
    /// ACKs and block ACKs that did not arrive since the last ACK, or since an MPDU was given up for it.
    pub(super) failures: u32,
}

impl BlockAcks {
    pub(super) fn originator(&mut self, to: StationId) -> &mut Originator {
        let known = self.originators.iter().position(|(station, _)| *station == to);
        let index = known.unwrap_or_else(|| {
            self.originators.push((to, Originator::new()));
            self.originators.len() - 1
        });
        &mut self.originators[index].1
    }

    pub(super) fn recipient(&mut self, from: StationId) -> &mut Recipient {
        let known = self.recipients.iter().position(|(station, _)| *station == from);
        let index = known.unwrap_or_else(|| {
            self.recipients.push((from, Recipient::default()));
            self.recipients.len() - 1
        });
        &mut self.recipients[index].1
    }

    /// Packets that only this station holds: unacknowledged ones that the recipient does not have, and those that wait
    /// in a reordering buffer.
    pub(super) fn packets(&self) -> u64 {
        let windows = self.originators.iter().flat_map(|(_, originator)| &originator.window);
        let unacknowledged = windows.filter(|mpdu| !mpdu.delivered && mpdu.request.content.is_packet()).count();
        let buffers = self.recipients.iter().flat_map(|(_, recipient)| recipient.buffer.iter().flatten());
        (unacknowledged + buffers.filter(|content| content.is_packet()).count()) as u64
    }
}

#[cfg(test)]
mod tests;
