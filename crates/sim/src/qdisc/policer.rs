//! A policer: a token bucket at the entrance, whose excess is dropped, marked or demoted at once instead of waiting.

use tcp::rng::Rng;
use tcp::units::{Rate, Span};

use super::Qdisc;
use super::context::QueueContext;
use super::fifo::QueuedPacket;
use super::token_bucket::TokenBucket;
use crate::packet::DropReason;
use crate::scenario::{Overhead, PolicerAction, PolicerDef};

/// A policer and the discipline behind it.
#[derive(Debug)]
pub(crate) struct Policer {
    bucket: TokenBucket,
    action: PolicerAction,
    overhead: Overhead,
    pub(super) inner: Qdisc,
}

impl Policer {
    /// A full bucket before an empty queue.
    pub(super) fn new(def: &PolicerDef, line: Rate, delay: Span, rng: Rng) -> Policer {
        let def = def.with_defaults();
        let burst = def.burst.expect("filled in from the rate");
        let bucket = TokenBucket::new(def.rate, burst);
        let inner = Qdisc::inside(&def.queue, line, delay, rng);
        Policer { bucket, action: def.action, overhead: def.overhead, inner }
    }

    /// What does not conform takes no tokens. What conforms has taken them even if the queue is full.
    #[inline(never)]
    pub(super) fn enqueue(&mut self, ctx: &mut QueueContext<'_>, arrival: QueuedPacket) -> Result<(), DropReason> {
        let passes = self.bucket.take(ctx.now(), ctx.on_line(&self.overhead, &arrival))
            || match self.action {
                PolicerAction::Drop => false,
                PolicerAction::Mark => ctx.mark(&arrival),
                PolicerAction::Demote => {
                    ctx.demote(&arrival);
                    true
                }
            };
        if passes { self.inner.enqueue(ctx, arrival) } else { Err(DropReason::Policer) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use crate::packet::DropReason::Policer;
    use crate::qdisc::QueueReport;
    use tcp::Ecn::{self, Ce, Ect0, NotEct};
    use tcp::units::{Span, Time};

    /// Which of so many packets of 1500 B, one every 4 ms, pass.
    fn passed(bench: &mut Bench, ecn: Ecn, count: u64) -> Vec<u64> {
        let passes = |i: &u64| {
            bench.at(Time::ZERO + Span::from_millis(4 * i));
            let result = bench.enqueue_of(0, 1500, ecn);
            assert!(matches!(result, Ok(()) | Err(Policer)), "{result:?}");
            result.is_ok()
        };
        (0..count).filter(passes).collect()
    }

    #[test]
    fn three_times_the_rate_passes_until_the_bucket_is_empty() {
        let mut bench = Bench::new(r#"{"kind": "policer", "rate": "1Mbps", "burst": "3000B"}"#);
        assert_eq!(passed(&mut bench, NotEct, 15), [0, 1, 3, 6, 9, 12]);
        assert_eq!((bench.queue.packets(), bench.marks()), (6, 0));
    }

    #[test]
    fn excess_is_marked_where_it_can_be_and_takes_no_tokens() {
        let mut bench = Bench::new(r#"{"kind": "policer", "rate": "1Mbps", "burst": "3000B", "action": "mark"}"#);
        assert_eq!(passed(&mut bench, Ect0, 15).len(), 15);
        let marks: Vec<bool> = std::iter::from_fn(|| bench.dequeue()).map(|ecn| ecn == Ce).collect();
        let conforming: Vec<usize> = (0..15).filter(|i| !marks[*i]).collect();
        assert_eq!((conforming, bench.marks()), (vec![0, 1, 3, 6, 9, 12], 9));
        let mut bench = Bench::new(r#"{"kind": "policer", "rate": "1Mbps", "burst": "3000B", "action": "mark"}"#);
        assert_eq!(passed(&mut bench, NotEct, 15), [0, 1, 3, 6, 9, 12]);
    }

    #[test]
    fn excess_that_is_demoted_passes_and_goes_to_the_band_of_lower_effort() {
        let queue = r#"{"kind": "policer", "rate": "1Mbps", "burst": "3000B", "action": "demote",
            "queue": {"kind": "priority", "by": "dscp", "map": {"EF": 0, "LE": 2}, "bands": ["9p", "9p", "9p"]}}"#;
        let mut bench = Bench::new(queue);
        // Two packets conform and are of the default class; the third is not, nor is one that asks for expedited forwarding.
        (0..3).for_each(|_| bench.enqueue_of(0, 1500, NotEct).unwrap());
        bench.set_dscp(1, "EF");
        bench.enqueue_of(1, 1400, NotEct).unwrap();
        let QueueReport::Priority { bands } = bench.queue.report(Time::ZERO).unwrap() else { panic!("bands") };
        assert_eq!(bands.len(), 3);
        let sizes: Vec<u64> = std::iter::from_fn(|| bench.dequeue_packet()).map(|packet| packet.size.0).collect();
        assert_eq!(sizes, [1500, 1500, 1500, 1400]);
        let QueueReport::Priority { bands } = bench.queue.report(Time::ZERO).unwrap() else { panic!("bands") };
        assert_eq!(bands.iter().map(|band| band.packets).collect::<Vec<_>>(), [0, 2, 2]);
    }

    #[test]
    fn what_conforms_still_needs_a_place_in_the_queue() {
        let mut bench = Bench::new(r#"{"kind": "policer", "rate": "1Mbps", "burst": "30kB", "queue": "2p"}"#);
        let results = [0; 3].map(|_| bench.enqueue(NotEct));
        assert_eq!(results, [Ok(()), Ok(()), Err(crate::packet::DropReason::Queue)]);
    }
}
