//! Noting what SACK blocks report (RFC 2018).

use super::ack_summary::SendTimes;
use super::{AckSummary, Delivered, PriorAckState, Scoreboard};
use crate::seq::SeqRange;
use crate::units::Bytes;

impl Scoreboard {
    /// Notes what a SACK option reports; `each` is called for what had not been reported before.
    pub(crate) fn sack(
        &mut self,
        blocks: &[SeqRange],
        prior: PriorAckState,
        summary: &mut AckSummary,
        mut each: impl FnMut(&Delivered),
    ) {
        let mut remembered = [SeqRange::default(); 4];
        for (slot, block) in remembered.iter_mut().zip(blocks) {
            let fresh = self.not_yet_reported(*block);
            let covered = self.sack_block(fresh, prior, summary, &mut each);
            // Of a block that begins or ends within a segment only whole segments are remembered.
            let start = if fresh.start == block.start { covered.start } else { block.start };
            *slot = match covered.end {
                end if end >= fresh.end => SeqRange::new(start, block.end),
                end if fresh.end == block.end => SeqRange::new(start, end),
                _ => SeqRange::default(),
            };
        }
        match &mut self.last_blocks {
            Some(last) => **last = remembered,
            None if blocks.is_empty() => {}
            None => self.last_blocks = Some(Box::new(remembered)),
        }
        self.last_had_blocks = !blocks.is_empty();
    }

    /// Segments wholly inside `block` that are still outstanding and were sent more than once.
    pub(crate) fn retransmitted_inside(&self, block: SeqRange) -> u32 {
        let from = self.index_from(block.start);
        let inside = self.segments.range(from..).take_while(|sent| sent.end() <= block.end);
        inside.filter(|sent| sent.transmissions > 1).count() as u32
    }

    /// The part of a block between blocks that the last option reported already.
    fn not_yet_reported(&self, SeqRange { mut start, mut end }: SeqRange) -> SeqRange {
        for known in self.last_blocks.iter().flat_map(|last| last.iter()) {
            if known.start <= start && start < known.end {
                start = known.end;
            }
            if known.start < end && end <= known.end {
                end = known.start;
            }
        }
        SeqRange::new(start, end.max(start))
    }

    /// Marks the segments that lie wholly inside; gives where the first begins and the last ends.
    #[inline(never)]
    fn sack_block(
        &mut self,
        SeqRange { start, end }: SeqRange,
        prior: PriorAckState,
        summary: &mut AckSummary,
        each: &mut impl FnMut(&Delivered),
    ) -> SeqRange {
        let from = self.index_from(start);
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
                summary.sacked_sent = Some(SendTimes::extended(summary.sacked_sent, sent.sent_at));
                summary.on_original(sent.seq, covered_to, prior);
            }
            summary.sacked = true;
            summary.delivered += Bytes(bytes);
            summary.delivered_segments += 1;
            each(&sent.delivered());
            sent.sacked = true;
            sent.lost = false;
            sent.retransmitted = false;
        }
        SeqRange::new(covered_from, covered_to)
    }
}
