//! Rounds, lists, overload and marks.

use tcp::Ecn::{Ce, Ect0, NotEct};
use tcp::units::{Span, Time};

use super::super::Qdisc;
use super::super::QueueReport;
use super::super::bench::Bench;
use super::super::report::FqCodelReport;
use super::*;

fn flow_of_next(bench: &mut Bench) -> Option<u32> {
    bench.dequeue_packet().map(|packet| packet.to.flow().0)
}

/// A queue of its own for each of the first flows: the bench's salt puts these apart.
fn bench(more: &str) -> Bench {
    let bench = Bench::new(&format!(r#"{{"kind": "fq_codel", "queues": 65536 {more}}}"#));
    let Qdisc::FqCodel(queue) = &bench.queue else { unreachable!("made as FQ-CoDel") };
    let mut indices: Vec<usize> =
        (0..5).map(|flow| queue.rounds.index_of(crate::ids::FlowId(flow).sink().0.into())).collect();
    indices.sort_unstable();
    indices.dedup();
    assert_eq!(indices.len(), 5);
    bench
}

#[test]
fn flows_take_turns_by_bytes() {
    let mut bench = bench(r#", "quantum": "1000B""#);
    for _ in 0..4 {
        bench.enqueue_of(0, 1000, NotEct).unwrap();
    }
    for _ in 0..8 {
        bench.enqueue_of(1, 500, NotEct).unwrap();
    }
    let order: Vec<u32> = std::iter::from_fn(|| flow_of_next(&mut bench)).collect();
    assert_eq!(order, [0, 1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1]);
}

#[test]
fn a_queue_that_becomes_active_goes_first_but_only_for_a_quantum() {
    let mut bench = bench(r#", "quantum": "1000B""#);
    for flow in [0, 0, 0, 0, 1, 1, 1, 1] {
        bench.enqueue_of(flow, 1000, NotEct).unwrap();
    }
    assert_eq!([0; 4].map(|_| flow_of_next(&mut bench)), [Some(0), Some(1), Some(0), Some(1)]);
    // A third flow, sparse: ahead of both.
    bench.enqueue_of(2, 500, NotEct).unwrap();
    assert_eq!(flow_of_next(&mut bench), Some(2));
    // It has spent half its quantum and is still new; then it is one of the old ones, behind flow 0, whose turn it was
    // (flow 1 has spent its quantum and goes behind flow 2).
    bench.enqueue_of(2, 1000, NotEct).unwrap();
    bench.enqueue_of(2, 1000, NotEct).unwrap();
    assert_eq!([0; 4].map(|_| flow_of_next(&mut bench)), [Some(2), Some(0), Some(2), Some(1)]);
}

#[test]
fn a_flow_changes_its_queue_with_the_hash_of_its_sender() {
    for (hash, sizes) in [("header", [1000, 1000, 500]), ("sender", [1000, 500, 1000])] {
        let mut bench = bench(&format!(r#", "quantum": "1000B", "hash": "{hash}""#));
        (0..2).for_each(|_| bench.enqueue_of(0, 1000, NotEct).unwrap());
        bench.at(Time::ZERO + Span::from_millis(200));
        bench.rehash(0);
        bench.enqueue_of(0, 500, NotEct).unwrap();
        let left: Vec<u64> = std::iter::from_fn(|| bench.dequeue_packet()).map(|packet| packet.size.0).collect();
        assert_eq!(left, sizes, "{hash}");
    }
}

#[test]
fn an_overload_is_paid_by_the_fattest_queue_from_its_head() {
    let mut bench = bench(r#", "limit": "100p""#);
    (0..20).for_each(|_| bench.enqueue_of(1, 1000, NotEct).unwrap());
    (0..80).for_each(|_| bench.enqueue_of(0, 1000, NotEct).unwrap());
    // The longest queue loses half of its bytes, not the queue of the last packet.
    bench.enqueue_of(1, 1000, NotEct).unwrap();
    assert_eq!((bench.drops(DropReason::Queue), bench.queue.packets()), (40, 61));
    let mut left = [0; 2];
    while let Some(flow) = flow_of_next(&mut bench) {
        left[flow as usize] += 1;
    }
    assert_eq!(left, [40, 21]);
    // At most 64 at once.
    let mut bench = self::bench(r#", "limit": "200p""#);
    (0..201).for_each(|_| bench.enqueue_of(0, 1000, NotEct).unwrap());
    assert_eq!((bench.drops(DropReason::Queue), bench.queue.packets(), bench.queue.bytes()), (64, 137, Bytes(137_000)));
}

#[test]
fn every_queue_has_its_own_codel_which_marks_or_drops() {
    let mut bench = bench("");
    for _ in 0..500 {
        bench.enqueue_of(0, 1000, NotEct).unwrap();
        bench.enqueue_of(1, 1000, Ect0).unwrap();
    }
    let (mut marks, mut fresh) = (0, 0);
    for ms in 5..270 {
        bench.at(Time::ZERO + Span::from_millis(ms));
        // A flow that never waits is not touched.
        bench.enqueue_of(2, 1000, Ect0).unwrap();
        for _ in 0..4 {
            let packet = bench.dequeue_packet().unwrap();
            let marked = packet.ecn() == Ce;
            assert!(!marked || packet.to.flow().0 == 1);
            marks += u64::from(marked);
            fresh += u64::from(packet.to.flow().0 == 2);
        }
    }
    assert_eq!(fresh, 265);
    // 105 and 205 ms: as CoDel alone.
    assert_eq!((marks, bench.marks(), bench.drops(DropReason::Aqm)), (2, 2, 2));
}

#[test]
fn a_flush_takes_everything() {
    let mut bench = bench("");
    (0..50).for_each(|flow| bench.enqueue_of(flow, 1000, NotEct).unwrap());
    let Qdisc::FqCodel(queue) = &mut bench.queue else { unreachable!("made as FQ-CoDel") };
    assert_eq!(queue.take(&|_| true).len(), 50);
    assert_eq!((queue.packets(), queue.bytes()), (0, Bytes::ZERO));
}

/// Vector by hand: what the device has taken is first in, first out, whoever waits above.
#[test]
fn a_device_queue_below_takes_packets_ahead_of_the_rounds() {
    for (device, order) in [("", [0, 1, 0, 0, 0]), (r#", "device": "2p""#, [0, 0, 1, 0, 0])] {
        let mut bench = bench(&format!(r#", "quantum": "1000B"{device}"#));
        for flow in [0, 0, 0, 0, 1] {
            bench.enqueue_of(flow, 1000, NotEct).unwrap();
        }
        assert_eq!((bench.queue.packets(), bench.queue.bytes()), (5, Bytes(5000)));
        assert_eq!([0; 5].map(|_| flow_of_next(&mut bench)), order.map(Some), "{device}");
        assert_eq!((bench.queue.packets(), bench.queue.bytes()), (0, Bytes::ZERO));
    }
}

#[test]
fn the_guard_may_count_what_waits_in_other_queues() {
    // Two flows in turn, each with one packet of 1000 bytes behind its head and a wait of 18 ms: an MTU is more than either has.
    let drops = |guarded: &str| {
        let mut bench = bench(&format!(r#", "guarded": "{guarded}", "quantum": "1000B""#));
        [0, 1].iter().for_each(|flow| bench.enqueue_of(*flow, 1000, NotEct).unwrap());
        for round in 0..30 {
            bench.at(Time::ZERO + Span::from_millis(10 * round));
            [0, 1].iter().for_each(|flow| bench.enqueue_of(*flow, 1000, NotEct).unwrap());
            bench.at(Time::ZERO + Span::from_millis(10 * round + 8));
            (0..2).for_each(|_| assert!(bench.dequeue().is_some()));
        }
        bench.drops(DropReason::Aqm)
    };
    assert_eq!(drops("own"), 0);
    assert!(drops("all") > 0);
}

#[test]
fn the_guard_is_that_of_linux_and_memory_is_limited_by_buffers() {
    let def = FqCodelDef::default();
    assert_eq!((def.guarded, def.memory_limit), (Backlog::All, Bytes(32 << 20)));
    // 768 B each: the 5462nd does not fit, and half of the queue or 64 packets go.
    let mut bench = bench(r#", "memory_limit": "4194304B""#);
    (0..5461).for_each(|_| bench.enqueue_of(0, 44, NotEct).unwrap());
    assert_eq!((bench.queue.packets(), bench.drops(DropReason::Queue)), (5461, 0));
    bench.enqueue_of(1, 44, NotEct).unwrap();
    assert_eq!((bench.queue.packets(), bench.drops(DropReason::Queue)), (5398, 64));
}

#[test]
fn it_reports_its_lists_collisions_and_memory() {
    let mut bench = Bench::new(r#"{"kind": "fq_codel", "queues": 1, "quantum": "1000B"}"#);
    // 2304 B of memory for each: 256 + 2048.
    for flow in [0, 0, 1, 1, 0] {
        bench.enqueue_of(flow, 1000, NotEct).unwrap();
    }
    let report = |bench: &mut Bench| {
        let Some(QueueReport::FqCodel(report)) = bench.queue.report(Time::ZERO) else { panic!("a report") };
        report
    };
    let counts = FqCodelReport {
        new_flow_count: 1,
        new_flows_max: 1,
        old_flows_max: 0,
        collided_packets: 2,
        memory_max_bytes: 5 * 2304,
        backlog_max_bytes: 5000,
    };
    assert_eq!(report(&mut bench), counts);
    while bench.dequeue().is_some() {}
    assert_eq!(report(&mut bench), FqCodelReport { old_flows_max: 1, ..counts });
    bench.queue.on_warmup_end(Time::ZERO);
    assert_eq!(report(&mut bench), FqCodelReport::default());
}
