//! Strict priority: bands with a discipline each, the first that may send goes first.

use std::collections::BTreeMap;

use tcp::Ecn;
use tcp::rng::Rng;
use tcp::units::{Bytes, Rate, Span, Time};

use super::context::QueueContext;
use super::fifo::QueuedPacket;
use super::report::{BandReport, ClassCounts, QueueReport};
use super::{Dequeued, Qdisc};
use crate::ids::FlowId;
use crate::packet::DropReason;
use crate::scenario::{Dscp, PriorityBy, PriorityDef};

/// Bands in the order of their precedence.
#[derive(Debug)]
pub(crate) struct Priority {
    by: PriorityBy,
    /// With `by = "dscp"`: the bands of code points.
    map: BTreeMap<Dscp, u8>,
    bands: Vec<Band>,
}

/// A band and what it has counted.
#[derive(Debug)]
struct Band {
    queue: Qdisc,
    counts: ClassCounts,
}

impl Priority {
    /// Empty bands. Each draws from a stream of its own.
    pub(super) fn new(def: &PriorityDef, rate: Rate, delay: Span, mut rng: Rng) -> Priority {
        let seed = rng.next_u64();
        let band = |(i, queue)| Band {
            queue: Qdisc::inside(queue, rate, delay, Rng::stream(seed, &format!("band/{i}"))),
            counts: ClassCounts::default(),
        };
        Priority { by: def.by, map: def.map.clone(), bands: def.bands.iter().enumerate().map(band).collect() }
    }

    #[inline(never)]
    pub(super) fn enqueue(&mut self, ctx: &mut QueueContext<'_>, arrival: QueuedPacket) -> Result<(), DropReason> {
        let packet = ctx.packet(&arrival);
        let band = match self.by {
            // RFC 9331 §5.1: the identifier of L4S is ECT(1), and CE, which may have been ECT(1).
            PriorityBy::Ecn => u8::from(!matches!(packet.ecn(), Ecn::Ect1 | Ecn::Ce)),
            PriorityBy::Flow => ctx.ends(packet.to).priority,
            PriorityBy::Dscp => self.map.get(&ctx.dscp(&arrival)).copied().unwrap_or(PriorityDef::DEFAULT_BAND),
        };
        let last = self.bands.len() - 1;
        let band = &mut self.bands[usize::from(band).min(last)];
        let result = band.counts.of_act(&mut band.queue, ctx, |queue, ctx| queue.enqueue(ctx, arrival));
        band.counts.drops += u64::from(result.is_err());
        result
    }

    /// The answer of the first band that is ready, and which that is; otherwise the earliest time at which one will be.
    fn first(&mut self, mut ask: impl FnMut(&mut Band) -> Dequeued) -> (Dequeued, usize) {
        let mut later = None;
        for (index, band) in self.bands.iter_mut().enumerate() {
            match ask(band) {
                Dequeued::Empty => {}
                Dequeued::Later(at) => later = Some(later.map_or(at, |earliest| at.min(earliest))),
                ready => return (ready, index),
            }
        }
        (later.map_or(Dequeued::Empty, Dequeued::Later), 0)
    }

    #[inline(never)]
    pub(super) fn dequeue(&mut self, ctx: &mut QueueContext<'_>) -> Dequeued {
        let (answer, band) = self.first(|band| band.counts.of_act(&mut band.queue, ctx, Qdisc::dequeue));
        if let Dequeued::Ready(next) = &answer {
            self.bands[band].counts.on_departure(next.size, ctx.sojourn(next));
        }
        answer
    }

    pub(super) fn peek(&mut self, ctx: &mut QueueContext<'_>) -> Dequeued {
        self.first(|band| band.counts.of_act(&mut band.queue, ctx, Qdisc::peek)).0
    }

    /// Removes the packets for which `wanted` is true, band by band.
    pub(super) fn take(&mut self, wanted: &dyn Fn(&QueuedPacket) -> bool) -> Vec<QueuedPacket> {
        self.bands.iter_mut().flat_map(|band| band.queue.take(wanted)).collect()
    }

    /// The measurement interval begins.
    pub(super) fn on_warmup_end(&mut self, now: Time) {
        for band in &mut self.bands {
            band.counts.on_warmup_end();
            band.queue.on_warmup_end(now);
        }
    }

    /// A flow has measured a delay.
    pub(super) fn on_delay(&mut self, now: Time, flow: FlowId, delay: Span) {
        self.bands.iter_mut().for_each(|band| band.queue.on_delay(now, flow, delay));
    }

    /// What it counted until now.
    pub(super) fn report(&mut self, now: Time) -> QueueReport {
        let report = |band: &mut Band| {
            let [delay_mean_s, delay_p50_s, delay_p99_s, delay_max_s] = band.counts.delays_s();
            let ClassCounts { packets, bytes: Bytes(bytes), drops, marks, .. } = band.counts;
            let queue = band.queue.report(now);
            BandReport { packets, bytes, delay_mean_s, delay_p50_s, delay_p99_s, delay_max_s, drops, marks, queue }
        };
        QueueReport::Priority { bands: self.bands.iter_mut().map(report).collect() }
    }

    pub(super) fn packets(&self) -> u64 {
        self.bands.iter().map(|band| band.queue.packets()).sum()
    }

    pub(super) fn bytes(&self) -> Bytes {
        self.bands.iter().fold(Bytes::ZERO, |sum, band| sum + band.queue.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use crate::packet::DropReason::Queue;
    use crate::qdisc::QueueReport;
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
    fn code_points_go_to_their_bands_and_all_others_to_band_1() {
        let queue =
            r#"{"kind": "priority", "by": "dscp", "map": {"EF": 0, "CS6": 0, "LE": 2}, "bands": ["9p", "9p", "1p"]}"#;
        let mut bench = Bench::new(queue);
        for (flow, dscp) in ["LE", "DF", "CS6", "AF41", "EF"].into_iter().enumerate() {
            bench.set_dscp(flow as u32, dscp);
        }
        for flow in [0, 1, 2, 3, 4] {
            bench.enqueue_of(flow, 1000, NotEct).unwrap();
        }
        assert_eq!(bench.enqueue_of(0, 1000, NotEct), Err(Queue));
        bench.at(Time::ZERO + Span::from_millis(4));
        let order: Vec<u32> = std::iter::from_fn(|| bench.dequeue_packet()).map(|p| p.to.flow().0).collect();
        assert_eq!(order, [2, 4, 1, 3, 0]);
        let QueueReport::Priority { bands } = bench.queue.report(Time::ZERO).unwrap() else { panic!("bands") };
        let counts: Vec<_> =
            bands.iter().map(|band| (band.packets, band.bytes, band.drops, band.delay_max_s)).collect();
        assert_eq!(counts, [(2, 2000, 0, Some(0.004)), (2, 2000, 0, Some(0.004)), (1, 1000, 1, Some(0.004))]);
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
