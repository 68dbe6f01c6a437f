//! DropTail: the arriving packet is dropped if the queue is full. With a threshold it is the switch
//! of DCTCP (RFC 8257 §3.1): the queue at an arrival, and nothing else, decides about the mark.

use super::context::QueueContext;
use super::fifo::{Fifo, Limit, QueuedPacket};
use crate::packet::DropReason;
use crate::scenario::DropTailDef;

/// A first-in first-out queue with a limit.
#[derive(Debug)]
pub(crate) struct DropTail {
    limit: Limit,
    /// An arrival that finds more packets than this is marked, if it is ECN-capable.
    mark_threshold: u64,
    pub(super) waiting: Fifo,
}

impl DropTail {
    /// An empty queue.
    pub(super) fn new(def: &DropTailDef) -> DropTail {
        DropTail {
            limit: def.limit.into(),
            mark_threshold: def.mark_threshold.unwrap_or(u64::MAX),
            waiting: Fifo::default(),
        }
    }

    /// The limit of the queue.
    pub(crate) fn limit(&self) -> Limit {
        self.limit
    }

    /// True if it marks.
    pub(crate) fn marks(&self) -> bool {
        self.mark_threshold < u64::MAX
    }

    #[inline]
    pub(super) fn enqueue(&mut self, ctx: &mut QueueContext<'_>, arrival: QueuedPacket) -> Result<(), DropReason> {
        if self.limit.refuses(&self.waiting, &arrival) {
            return Err(DropReason::Queue);
        }
        if self.waiting.packets() > self.mark_threshold {
            ctx.mark(&arrival);
        }
        self.waiting.push(arrival);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use crate::packet::DropReason::Queue;
    use tcp::Ecn::{Ce, Ect0, NotEct};

    #[test]
    fn a_packet_that_finds_more_than_the_threshold_is_marked_if_it_can_be() {
        let mut bench = Bench::new(r#"{"kind": "drop_tail", "limit": "5p", "mark_threshold": 2}"#);
        let arrivals = [Ect0, Ect0, Ect0, Ect0, NotEct];
        assert!(arrivals.iter().all(|ecn| bench.enqueue(*ecn).is_ok()));
        assert_eq!(bench.enqueue(Ect0), Err(Queue));
        let left: Vec<_> = std::iter::from_fn(|| bench.dequeue()).collect();
        assert_eq!(left, [Ect0, Ect0, Ect0, Ce, NotEct]);
        assert_eq!((bench.marks(), bench.marks_of_flow(0), bench.drops(Queue)), (1, 1, 0));
    }
}
