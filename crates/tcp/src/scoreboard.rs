//! What was sent and not yet cumulatively acknowledged: one entry per segment, in sequence order.
//!
//! Gives flight (RFC 5681: sent, not acked) and pipe (RFC 6675: estimated to be in the network), and keeps per segment
//! what SACK, RACK (RFC 8985) and the rate sampler need. Work per ACK is bounded by what the ACK changes: stretches
//! that were reported before are not looked at again, and each search starts where the last one ended.

use std::collections::VecDeque;

use crate::cc::Head;
use crate::rate::Stamp;
use crate::units::{Bytes, Time};

mod advance;
mod detect;
mod news;
mod resend;
#[cfg(test)]
mod tests;

use news::widen;
pub(crate) use news::{Delivered, Loss, News, Seen, ages};

/// A sent segment: one line of the cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Sent {
    seq: u64,
    /// Sequence numbers occupied, a FIN included.
    len: u32,
    /// The receiver has reported it.
    sacked: bool,
    /// Considered lost; stays set while a retransmission is out.
    lost: bool,
    /// A retransmission is believed in the network.
    retransmitted: bool,
    /// It does not count beyond 255.
    transmissions: u8,
    /// Of the latest transmission.
    sent_at: Time,
    stamp: Stamp,
}

impl Sent {
    fn end(&self) -> u64 {
        self.seq + u64::from(self.len)
    }

    fn bytes(&self) -> u64 {
        u64::from(self.len)
    }

    /// Sent once, and neither reported nor given up.
    fn is_plain(&self) -> bool {
        self.transmissions == 1 && !(self.sacked | self.lost | self.retransmitted)
    }

    fn waits(&self) -> bool {
        self.lost && !self.retransmitted
    }
}

/// A segment to be sent: a stretch of the sequence space.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Chunk {
    pub(crate) seq: u64,
    /// Payload bytes.
    pub(crate) len: u32,
    pub(crate) fin: bool,
}

impl Chunk {
    /// Sequence numbers occupied.
    pub(crate) fn sequence_len(&self) -> u64 {
        u64::from(self.len) + u64::from(self.fin)
    }
}

/// The board.
/// Fields lie in memory as written, those of every segment together.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct Scoreboard {
    segments: VecDeque<Sent>,
    flight: u64,
    sacked: u64,
    lost: u64,
    retransmitted: u64,
    /// Without SACK: what duplicate ACKs say has left the network, the bytes of `presumed_segments` after the oldest.
    presumed: u64,
    /// Everything ever marked lost, each time it was.
    lost_in_all: u64,
    /// No segment before this index is lost and waiting.
    first_waiting: usize,
    /// No segment before this index, sent once, is without a verdict.
    first_open: usize,
    /// Retransmissions in the order they were sent: sequence number and time.
    retransmissions: VecDeque<(u64, Time)>,
    /// Marked lost since [`Scoreboard::take_losses`] was last asked.
    losses: Vec<Loss>,
    /// The number after the FIN; 0 before it has been sent.
    fin_end: u64,
    /// The last SACK option reported something.
    has_reported: bool,
    /// The end of the highest segment reported selectively.
    highest_sacked: u64,
    /// Segments of `sacked`.
    sacked_segments: usize,
    /// Segments of `presumed`.
    presumed_segments: usize,
    /// Stretches of the last SACK option, up to whole segments: nothing new is inside them.
    reported: [(u64, u64); 4],
}

impl Scoreboard {
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

    /// The same in segments.
    pub(crate) fn sacked_segments(&self) -> usize {
        self.sacked_segments + self.presumed_segments
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
    pub(crate) fn lost_in_all(&self) -> Bytes {
        Bytes(self.lost_in_all)
    }

    /// True if something was marked lost since [`Scoreboard::take_losses`] was last asked.
    pub(crate) fn has_losses(&self) -> bool {
        !self.losses.is_empty()
    }

    /// What was marked lost since this was last asked.
    pub(crate) fn take_losses(&mut self) -> Vec<Loss> {
        std::mem::take(&mut self.losses)
    }

    /// The end of the highest segment reported selectively; 0 if none is.
    pub(crate) fn highest_sacked(&self) -> u64 {
        if self.sacked > 0 { self.highest_sacked } else { 0 }
    }

    /// Segments outstanding.
    pub(crate) fn segments(&self) -> usize {
        self.segments.len()
    }

    /// When the oldest segment was last sent, and how often.
    pub(crate) fn head(&self) -> Option<Head> {
        self.segments.front().map(|head| Head { sent_at: head.sent_at, transmissions: head.transmissions.into() })
    }

    /// True if some outstanding segment was sent more than once, as far as the head tells (Linux asks the same).
    pub(crate) fn head_was_retransmitted(&self) -> bool {
        self.retransmitted > 0 || self.segments.front().is_some_and(|head| head.transmissions > 1)
    }

    /// Notes new data on its way.
    pub(crate) fn push(&mut self, now: Time, chunk: Chunk, stamp: Stamp) {
        let len = chunk.len + u32::from(chunk.fin);
        self.flight += u64::from(len);
        if chunk.fin {
            self.fin_end = chunk.seq + u64::from(len);
        }
        self.segments.push_back(Sent {
            seq: chunk.seq,
            len,
            sacked: false,
            lost: false,
            retransmitted: false,
            transmissions: 1,
            sent_at: now,
            stamp,
        });
    }

    /// True if the last SACK option had anything to report, so that the next one changes something even if empty.
    pub(crate) fn has_reported(&self) -> bool {
        self.has_reported
    }

    /// Takes note of what a SACK option reports; `each` sees what had not been reported before.
    pub(crate) fn sack(
        &mut self,
        blocks: &[(u64, u64)],
        seen: Seen,
        news: &mut News,
        mut each: impl FnMut(&Delivered),
    ) {
        let mut reported = [(0, 0); 4];
        for (slot, block) in reported.iter_mut().zip(blocks) {
            let fresh = self.not_yet_reported(*block);
            let (from, to) = self.sack_stretch(fresh, seen, news, &mut each);
            // What begins or ends within a segment is remembered from or up to whole segments only.
            let start = if fresh.0 == block.0 { from } else { block.0 };
            *slot = match to {
                _ if to >= fresh.1 => (start, block.1),
                _ if fresh.1 == block.1 => (start, to),
                _ => (0, 0),
            };
        }
        self.reported = reported;
        self.has_reported = !blocks.is_empty();
    }

    /// The part of a block between stretches that the last option reported already.
    fn not_yet_reported(&self, (mut start, mut end): (u64, u64)) -> (u64, u64) {
        for known in &self.reported {
            if known.0 <= start && start < known.1 {
                start = known.1;
            }
            if known.0 < end && end <= known.1 {
                end = known.0;
            }
        }
        (start, end.max(start))
    }

    /// Marks the segments that lie wholly inside; gives where the first begins and the last ends.
    #[inline(never)]
    fn sack_stretch(
        &mut self,
        (start, end): (u64, u64),
        seen: Seen,
        news: &mut News,
        each: &mut impl FnMut(&Delivered),
    ) -> (u64, u64) {
        let from = self.segments.partition_point(|sent| sent.seq < start);
        let covered_from = self.segments.get(from).map_or(end, |sent| sent.seq);
        let mut covered_to = start;
        for sent in self.segments.range_mut(from..) {
            if sent.end() > end {
                break;
            }
            covered_to = sent.end();
            if sent.sacked {
                continue;
            }
            let bytes = sent.bytes();
            self.lost -= if sent.lost { bytes } else { 0 };
            self.retransmitted -= if sent.retransmitted { bytes } else { 0 };
            self.sacked += bytes;
            self.sacked_segments += 1;
            self.highest_sacked = self.highest_sacked.max(covered_to);
            if sent.transmissions == 1 {
                widen(&mut news.sacked_sent, sent.sent_at);
                news.on_original(sent.seq, covered_to, seen);
            }
            news.sacked = true;
            news.delivered += Bytes(bytes);
            news.delivered_segments += 1;
            each(&delivered(sent));
            sent.sacked = true;
            sent.lost = false;
            sent.retransmitted = false;
        }
        (covered_from, covered_to)
    }

    /// Without SACK: so many segments are presumed to have arrived beyond the gap.
    #[inline(never)]
    pub(crate) fn presume(&mut self, segments: usize) {
        let after_the_head = self.segments.range(1.min(self.segments.len())..);
        self.presumed = match self.segments.get(segments) {
            Some(one_more) if segments == self.presumed_segments + 1 => self.presumed + one_more.bytes(),
            _ => after_the_head.take(segments).map(Sent::bytes).sum(),
        };
        self.presumed_segments = segments;
    }

    /// Without SACK: the segments presumed to have arrived beyond the gap, and their bytes.
    pub(crate) fn presumed(&self) -> (usize, Bytes) {
        (self.presumed_segments, Bytes(self.presumed))
    }

    /// True if the oldest segment was reported and yet is not acknowledged: the receiver has changed its mind.
    pub(crate) fn is_reneged(&self) -> bool {
        self.segments.front().is_some_and(|head| head.sacked)
    }

    /// Forgets what was reported selectively (RFC 2018 §8).
    #[inline(never)]
    pub(crate) fn forget_sacked(&mut self) {
        self.segments.iter_mut().for_each(|sent| sent.sacked = false);
        self.sacked = 0;
        self.sacked_segments = 0;
        self.highest_sacked = 0;
        self.reported = Default::default();
        self.first_open = 0;
    }
}

fn delivered(sent: &Sent) -> Delivered {
    Delivered {
        end: sent.end(),
        bytes: Bytes(sent.bytes()),
        transmissions: sent.transmissions.into(),
        sent_at: sent.sent_at,
        stamp: sent.stamp,
    }
}
