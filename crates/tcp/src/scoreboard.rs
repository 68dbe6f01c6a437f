//! What was sent and not yet cumulatively acknowledged: one entry per segment, in sequence order.
//!
//! Gives flight (RFC 5681: sent, not acked) and pipe (RFC 6675: estimated to be in the network), and keeps per segment
//! what SACK, RACK (RFC 8985) and the rate sampler need. Work per ACK is bounded by what the ACK changes: stretches
//! that were reported before are not examined again, and each search starts where the last one ended.
//!
//! `impl Scoreboard` lies in:
//!
//! - this file: sums, sending, what is told of segments
//! - `sack.rs`: what SACK blocks report; `advance.rs`: what is cumulatively acknowledged
//! - `detect.rs`: what is lost; `fack.rs`: losses below the highest report
//! - `resend.rs`: what is sent again

use std::collections::VecDeque;

use crate::cc::Head;
use crate::seq::{SeqNo, SeqRange};
use crate::told::Told;
use crate::units::{Bytes, Time};

mod ack_summary;
mod advance;
mod detect;
mod fack;
mod rack_timeout;
mod resend;
mod sack;
#[cfg(test)]
mod tests;
mod tx_state;

pub(crate) use ack_summary::{AckSummary, Delivered, LostSegment, PriorAckState};
pub(crate) use rack_timeout::RackTimeout;
pub(crate) use tx_state::{SendOrder, TxState};

/// A sent segment: one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct SentSegment {
    seq: SeqNo,
    /// Sequence numbers occupied, a FIN included.
    len: u32,
    /// The receiver has reported it.
    sacked: bool,
    /// Considered lost; stays set while a retransmission is out.
    lost: bool,
    /// A retransmission is believed in the network.
    retransmitted: bool,
    /// Stays at 255 once there.
    transmissions: u8,
    /// Time of the latest transmission.
    sent_at: Time,
    tx: TxState,
}

impl SentSegment {
    fn end(&self) -> SeqNo {
        self.seq + Bytes(u64::from(self.len))
    }

    fn bytes(&self) -> u64 {
        u64::from(self.len)
    }

    /// Sent once, neither reported nor marked lost.
    fn is_plain(&self) -> bool {
        self.transmissions == 1 && !(self.sacked | self.lost | self.retransmitted)
    }

    /// Lost, and no retransmission is in the network.
    fn is_unrepaired(&self) -> bool {
        self.lost && !self.retransmitted
    }

    fn order(&self) -> SendOrder {
        SendOrder { sent_at: self.sent_at, end: self.end() }
    }

    fn delivered(&self) -> Delivered {
        Delivered {
            end: self.end(),
            bytes: Bytes(self.bytes()),
            transmissions: self.transmissions.into(),
            sent_at: self.sent_at,
            tx: self.tx,
        }
    }
}

/// Room for so many segments is made with the first: a short transfer needs no more.
const FIRST_SEGMENTS: usize = 8;

/// The next connection does not take over more than this: a thousand short transfers need not keep the memory of a long one each.
const KEPT_SEGMENTS: usize = 32;

/// A segment to be sent: a stretch of the sequence space.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Chunk {
    pub(crate) seq: SeqNo,
    /// Payload bytes.
    pub(crate) len: u32,
    pub(crate) fin: bool,
}

impl Chunk {
    /// Sequence numbers occupied.
    pub(crate) fn sequence_len(&self) -> Bytes {
        Bytes(u64::from(self.len) + u64::from(self.fin))
    }
}

/// Without SACK: what duplicate ACKs say has arrived beyond the gap.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Presumed {
    pub(crate) segments: usize,
    pub(crate) bytes: Bytes,
}

/// A retransmission, as far as the search for lost ones needs it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Retransmission {
    seq: SeqNo,
    sent_at: Time,
}

/// The scoreboard.
// Hot fields first; see connection.rs.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct Scoreboard {
    segments: VecDeque<SentSegment>,
    flight: u64,
    sacked: u64,
    lost: u64,
    retransmitted: u64,
    /// Without SACK: what duplicate ACKs say has left the network, the bytes of `presumed_segments` after the oldest.
    presumed: u64,
    /// Everything ever marked lost; a segment counts each time.
    lost_total: u64,
    /// All segments before this index are retransmitted or not lost.
    first_unrepaired: usize,
    /// All segments before this index that were sent once are known to be lost or delivered.
    first_undecided: usize,
    /// Retransmissions in the order they were sent.
    retransmissions: VecDeque<Retransmission>,
    /// Marked lost since the last [`Scoreboard::take_newly_lost`].
    newly_lost: Vec<LostSegment>,
    /// What is told to a log, from the first [`Scoreboard::take_told`] on.
    #[expect(clippy::box_collection, reason = "8 bytes in every connection instead of 24")]
    told: Option<Box<Vec<Told>>>,
    /// The number after the FIN; 0 before it has been sent.
    fin_end: SeqNo,
    /// The last ACK had SACK blocks.
    last_had_blocks: bool,
    /// The end of the highest segment reported selectively.
    highest_sacked: SeqNo,
    /// Segments of `sacked`.
    sacked_segments: u32,
    /// Segments of `presumed`.
    presumed_segments: u32,
    /// Blocks of the last SACK option, cut to whole segments: nothing new is inside them. Absent before the first.
    last_blocks: Option<Box<[SeqRange; 4]>>,
}

impl Scoreboard {
    /// Takes the memory of the scoreboard of a connection that is over.
    pub(crate) fn take_memory(&mut self, before: &mut Scoreboard) {
        if before.segments.capacity() <= KEPT_SEGMENTS {
            self.segments = std::mem::take(&mut before.segments);
            self.segments.clear();
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// FlightSize (RFC 5681): sent and not cumulatively acknowledged.
    pub(crate) fn flight(&self) -> Bytes {
        Bytes(self.flight)
    }

    /// Estimated to be in the network (RFC 6675 §4): not reported and not lost, or sent again since.
    pub(crate) fn pipe(&self) -> Bytes {
        let left = self.sacked + self.lost + self.presumed;
        Bytes((self.flight + self.retransmitted).saturating_sub(left))
    }

    /// Reported or presumed to have arrived beyond a gap.
    pub(crate) fn sacked(&self) -> Bytes {
        Bytes(self.sacked + self.presumed)
    }

    /// Segments of [`Scoreboard::sacked`].
    pub(crate) fn sacked_segments(&self) -> usize {
        (self.sacked_segments + self.presumed_segments) as usize
    }

    /// Considered lost, sent again or not.
    pub(crate) fn lost(&self) -> Bytes {
        Bytes(self.lost)
    }

    /// Retransmissions believed in the network.
    pub(crate) fn retransmitted(&self) -> Bytes {
        Bytes(self.retransmitted)
    }

    /// Everything ever marked lost; a segment counts each time.
    pub(crate) fn lost_total(&self) -> Bytes {
        Bytes(self.lost_total)
    }

    /// True if something was marked lost since the last [`Scoreboard::take_newly_lost`].
    pub(crate) fn has_newly_lost(&self) -> bool {
        !self.newly_lost.is_empty()
    }

    /// What was marked lost since the last call.
    pub(crate) fn take_newly_lost(&mut self) -> Vec<LostSegment> {
        std::mem::take(&mut self.newly_lost)
    }

    /// Tells a log, if there is one.
    pub(crate) fn tell(&mut self, told: Told) {
        self.told.iter_mut().for_each(|log| log.push(told));
    }

    /// What was told since the last call; nothing is kept before the first.
    pub(crate) fn take_told(&mut self) -> Vec<Told> {
        std::mem::take(self.told.get_or_insert_default())
    }

    /// The end of the highest segment reported selectively; 0 if none is.
    pub(crate) fn highest_sacked(&self) -> SeqNo {
        if self.sacked > 0 { self.highest_sacked } else { SeqNo::default() }
    }

    /// Segments outstanding.
    pub(crate) fn segments(&self) -> usize {
        self.segments.len()
    }

    /// When the oldest segment was last sent, and how often.
    pub(crate) fn head(&self) -> Option<Head> {
        self.segments.front().map(|head| Head { sent_at: head.sent_at, transmissions: head.transmissions.into() })
    }

    /// True if a retransmission is outstanding or the oldest segment was sent more than once (Linux tests the same).
    pub(crate) fn head_was_retransmitted(&self) -> bool {
        self.retransmitted > 0 || self.segments.front().is_some_and(|head| head.transmissions > 1)
    }

    /// Notes that new data was sent.
    pub(crate) fn push(&mut self, now: Time, chunk: Chunk, tx: TxState) {
        let len = chunk.len + u32::from(chunk.fin);
        self.flight += u64::from(len);
        if chunk.fin {
            self.fin_end = chunk.seq + Bytes(u64::from(len));
        }
        if self.segments.capacity() == 0 {
            self.segments.reserve(FIRST_SEGMENTS);
        }
        self.segments.push_back(SentSegment {
            seq: chunk.seq,
            len,
            sacked: false,
            lost: false,
            retransmitted: false,
            transmissions: 1,
            sent_at: now,
            tx,
        });
    }

    /// True if the last ACK had SACK blocks, so that the next one changes something even without any.
    pub(crate) fn last_had_blocks(&self) -> bool {
        self.last_had_blocks
    }

    /// Without SACK: presumes that this many segments have arrived beyond the gap.
    #[inline(never)]
    pub(crate) fn presume(&mut self, segments: usize) {
        let after_the_head = self.segments.range(1.min(self.segments.len())..);
        self.presumed = match self.segments.get(segments) {
            Some(one_more) if segments == self.presumed_segments as usize + 1 => self.presumed + one_more.bytes(),
            _ => after_the_head.take(segments).map(SentSegment::bytes).sum(),
        };
        self.presumed_segments = segments as u32;
    }

    /// Without SACK: what is presumed to have arrived beyond the gap.
    pub(crate) fn presumed(&self) -> Presumed {
        Presumed { segments: self.presumed_segments as usize, bytes: Bytes(self.presumed) }
    }

    /// True if the oldest segment was reported and yet is not acknowledged: the receiver has discarded it (reneging).
    pub(crate) fn is_reneged(&self) -> bool {
        self.segments.front().is_some_and(|head| head.sacked)
    }

    /// The place of the first segment that begins at `seq` or above.
    fn index_from(&self, seq: SeqNo) -> usize {
        self.segments.partition_point(|sent| sent.seq < seq)
    }

    /// Forgets what was reported selectively (RFC 2018 §8).
    #[inline(never)]
    pub(crate) fn forget_sacked(&mut self) {
        self.segments.iter_mut().for_each(|sent| sent.sacked = false);
        self.sacked = 0;
        self.sacked_segments = 0;
        self.highest_sacked = SeqNo::default();
        self.last_blocks = None;
        self.first_undecided = 0;
    }
}
