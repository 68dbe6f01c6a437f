//! Strict priority: bands with a discipline each, the first that may send goes first.

use tcp::Ecn;
use tcp::rng::Rng;
use tcp::units::{Bytes, Rate, Span};

use super::context::QueueContext;
use super::fifo::QueuedPacket;
use super::{Dequeued, Qdisc};
use crate::packet::DropReason;
use crate::scenario::{PriorityBy, PriorityDef};

/// Bands in the order of their precedence.
#[derive(Debug)]
pub(crate) struct Priority {
    by: PriorityBy,
    bands: Vec<Qdisc>,
}

impl Priority {
    /// Empty bands. Each draws from a stream of its own.
    pub(super) fn new(def: &PriorityDef, rate: Rate, delay: Span, mut rng: Rng) -> Priority {
        let seed = rng.next_u64();
        let band = |(i, queue)| Qdisc::new(queue, rate, delay, Rng::stream(seed, &format!("band/{i}")));
        Priority { by: def.by, bands: def.bands.iter().enumerate().map(band).collect() }
    }

    #[inline(never)]
    pub(super) fn enqueue(&mut self, ctx: &mut QueueContext<'_>, arrival: QueuedPacket) -> Result<(), DropReason> {
        let packet = ctx.packet(&arrival);
        let band = match self.by {
            // RFC 9331 §5.1: the identifier of L4S is ECT(1), and CE, which may have been ECT(1).
            PriorityBy::Ecn => usize::from(!matches!(packet.ecn(), Ecn::Ect1 | Ecn::Ce)),
            PriorityBy::Flow => ctx.ends(packet.to).priority.into(),
        };
        let last = self.bands.len() - 1;
        self.bands[band.min(last)].enqueue(ctx, arrival)
    }

    /// The answer of the first band that is ready; otherwise the earliest time at which one will be.
    fn first(&mut self, mut ask: impl FnMut(&mut Qdisc) -> Dequeued) -> Dequeued {
        let mut later = None;
        for band in &mut self.bands {
            match ask(band) {
                Dequeued::Empty => {}
                Dequeued::Later(at) => later = Some(later.map_or(at, |earliest| at.min(earliest))),
                ready => return ready,
            }
        }
        later.map_or(Dequeued::Empty, Dequeued::Later)
    }

    #[inline(never)]
    pub(super) fn dequeue(&mut self, ctx: &mut QueueContext<'_>) -> Dequeued {
        self.first(|band| band.dequeue(ctx))
    }

    pub(super) fn peek(&mut self, ctx: &mut QueueContext<'_>) -> Dequeued {
        self.first(|band| band.peek(ctx))
    }

    /// Removes the packets for which `wanted` is true, band by band.
    pub(super) fn take(&mut self, wanted: &dyn Fn(&QueuedPacket) -> bool) -> Vec<QueuedPacket> {
        self.bands.iter_mut().flat_map(|band| band.take(wanted)).collect()
    }

    pub(super) fn packets(&self) -> u64 {
        self.bands.iter().map(Qdisc::packets).sum()
    }

    pub(super) fn bytes(&self) -> Bytes {
        self.bands.iter().fold(Bytes::ZERO, |sum, band| sum + band.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use crate::packet::DropReason::Queue;
    use tcp::Ecn::{Ce, Ect0, Ect1, NotEct};
    use tcp::units::{Span, Time};

    #[test]
    fn ect1_and_ce_go_before_the_rest() {
        let mut bench = Bench::new(r#"{"kind": "priority", "by": "ecn", "bands": ["2p", "2p"]}"#);
        let arrivals = [NotEct, Ect0, Ect1, Ce];
        assert!(arrivals.iter().all(|ecn| bench.enqueue(*ecn).is_ok()));
        // The limits are those of the bands.
        assert_eq!([Ect0, Ect1].map(|ecn| bench.enqueue(ecn)), [Err(Queue); 2]);
        let left: Vec<_> = std::iter::from_fn(|| bench.dequeue()).collect();
        assert_eq!(left, [Ect1, Ce, NotEct, Ect0]);
    }

    #[test]
    fn flows_go_by_their_priority_and_a_band_that_is_missing_is_the_last() {
        let mut bench = Bench::new(r#"{"kind": "priority", "by": "flow", "bands": ["9p", "9p", "9p"]}"#);
        for (flow, priority) in [(0, 2), (1, 1), (2, 0), (3, 7)] {
            bench.set_priority(flow, priority);
        }
        for flow in [0, 1, 2, 3, 2] {
            bench.enqueue_of(flow, 1000, NotEct).unwrap();
        }
        let order: Vec<u32> = std::iter::from_fn(|| bench.dequeue_packet()).map(|p| p.to.flow().0).collect();
        assert_eq!(order, [2, 2, 1, 0, 3]);
    }

    #[test]
    fn a_band_that_is_held_lets_others_pass_and_the_earliest_time_is_told() {
        let shaped = |rate: &str| format!(r#"{{"kind": "tbf", "rate": "{rate}", "burst": "1000B"}}"#);
        let queue = format!(
            r#"{{"kind": "priority", "by": "flow", "bands": [{}, {}, "5p"]}}"#,
            shaped("1Mbps"),
            shaped("4Mbps")
        );
        let mut bench = Bench::new(&queue);
        (0..3).for_each(|flow| bench.set_priority(flow, flow as u8));
        for flow in [2, 1, 1, 0, 0] {
            bench.enqueue_of(flow, 1000, NotEct).unwrap();
        }
        let flow = |bench: &mut Bench| bench.dequeue_packet().map(|packet| packet.to.flow().0);
        assert_eq!([0; 4].map(|_| flow(&mut bench)), [Some(0), Some(1), Some(2), None]);
        assert_eq!(bench.later(), Some(Time::ZERO + Span::from_millis(2)));
        bench.at(Time::ZERO + Span::from_millis(2));
        assert_eq!((flow(&mut bench), bench.later()), (Some(1), Some(Time::ZERO + Span::from_millis(8))));
    }
}
