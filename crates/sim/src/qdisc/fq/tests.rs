//! Pacing, turns, limits and marks.

use tcp::Ecn::{Ce, Ect0, NotEct};
use tcp::units::{Bytes, Span, Time};

use super::super::bench::Bench;
use crate::packet::DropReason::Queue;

fn starts(bench: &mut Bench) -> Vec<u64> {
    bench.departures().iter().map(|(_, _, at)| at.as_nanos()).collect()
}

#[test]
fn a_paced_flow_spends_its_credit_and_then_leaves_in_quanta() {
    let mut bench = Bench::new(r#"{"kind": "fq", "flow_rate": "12Mbps"}"#);
    (0..16).for_each(|_| bench.enqueue_of(0, 1514, NotEct).unwrap());
    let mut expected = vec![0; 10];
    // 3028 B at 12 Mb/s, each gap rounded up to a nanosecond.
    expected.extend([1, 1, 2, 2, 3, 3].map(|i| i * 2_018_667));
    assert_eq!(starts(&mut bench), expected);
    let mut bench = Bench::new(r#"{"kind": "fq", "flow_rate": "500kbps"}"#);
    (0..4).for_each(|_| bench.enqueue_of(0, 1514, NotEct).unwrap());
    assert_eq!(starts(&mut bench), [0, 24_224_000, 48_448_000, 72_672_000]);
}

#[test]
fn a_gap_is_a_second_at_most() {
    let mut bench = Bench::new(r#"{"kind": "fq", "flow_rate": "1kbps"}"#);
    (0..3).for_each(|_| bench.enqueue_of(0, 1514, NotEct).unwrap());
    assert_eq!(starts(&mut bench), [0, 1_000_000_000, 2_000_000_000]);
}

#[test]
fn without_a_ceiling_flows_take_turns_by_quanta_and_new_ones_go_first() {
    let mut bench = Bench::new(r#"{"kind": "fq", "quantum": "2000B", "initial_quantum": "2000B"}"#);
    for flow in [0, 0, 0, 0, 1, 1, 1, 1] {
        bench.enqueue_of(flow, 1000, NotEct).unwrap();
    }
    let next = |bench: &mut Bench| bench.dequeue_packet().map(|packet| packet.to.flow().0);
    assert_eq!([0; 5].map(|_| next(&mut bench)), [0, 0, 1, 1, 0].map(Some));
    bench.enqueue_of(2, 1000, NotEct).unwrap();
    assert_eq!([0; 5].map(|_| next(&mut bench)), [Some(2), Some(0), Some(1), Some(1), None]);
}

#[test]
fn a_flow_that_has_to_wait_does_not_hold_up_another() {
    let mut bench = Bench::new(r#"{"kind": "fq", "flow_rate": "500kbps"}"#);
    (0..2).for_each(|_| bench.enqueue_of(0, 1000, NotEct).unwrap());
    assert!(bench.dequeue().is_some());
    assert_eq!(bench.later(), Some(Time::ZERO + Span::from_millis(16)));
    bench.at(Time::ZERO + Span::from_millis(1));
    bench.enqueue_of(1, 500, NotEct).unwrap();
    assert_eq!(bench.peek(), Some((1, Bytes(500))));
    let left: Vec<(u32, u64)> = bench.departures().iter().map(|(flow, _, at)| (*flow, at.as_nanos())).collect();
    assert_eq!(left, [(1, 1_000_000), (0, 16_000_000)]);
}

#[test]
fn an_idle_flow_has_a_quantum_again_after_the_refill_time() {
    // The first packet leaves a credit of 200 B. Soon after it is still 200 B: one packet until the next round. Later it is a
    // quantum: two.
    for (idle_ms, together) in [(40, 1), (41, 2)] {
        let mut bench = Bench::new(r#"{"kind": "fq", "quantum": "2000B", "initial_quantum": "1200B"}"#);
        bench.enqueue_of(0, 1000, NotEct).unwrap();
        assert_eq!([0; 2].map(|_| bench.dequeue_packet().is_some()), [true, false]);
        bench.at(Time::ZERO + Span::from_millis(idle_ms));
        for flow in [0, 0, 0, 1] {
            bench.enqueue_of(flow, 1000, NotEct).unwrap();
        }
        let order: Vec<u32> = bench.departures().iter().map(|(flow, _, _)| *flow).collect();
        let expected = if together == 1 { [0, 1, 0, 0] } else { [0, 0, 1, 0] };
        assert_eq!(order, expected, "{idle_ms} ms");
    }
}

#[test]
fn limits_refuse_the_arrival() {
    let mut bench = Bench::new(r#"{"kind": "fq", "limit": "5p", "flow_limit": 3}"#);
    assert_eq!([0; 4].map(|_| bench.enqueue(NotEct)), [Ok(()), Ok(()), Ok(()), Err(Queue)]);
    assert_eq!([1, 1, 2].map(|flow| bench.enqueue_of(flow, 1000, NotEct)), [Ok(()), Ok(()), Err(Queue)]);
}

#[test]
fn the_wait_beyond_pacing_is_marked_above_the_threshold() {
    let mut bench = Bench::new(r#"{"kind": "fq", "flow_rate": "500kbps", "ce_threshold": "1ms"}"#);
    (0..4).for_each(|_| bench.enqueue_of(0, 1000, Ect0).unwrap());
    let ms = |ms| Time::ZERO + Span::from_millis(ms);
    assert_eq!(bench.dequeue(), Some(Ect0));
    // Paced: 16 ms of waiting are no congestion.
    bench.at(ms(16));
    assert_eq!(bench.dequeue(), Some(Ect0));
    // Allowed at 32 ms, sent at 33 and then at 51.1 instead of 49 ms.
    bench.at(ms(33));
    assert_eq!(bench.dequeue(), Some(Ect0));
    bench.at(ms(51));
    assert_eq!((bench.dequeue(), bench.marks()), (Some(Ce), 1));
}

#[test]
fn what_is_taken_is_not_waited_for() {
    let mut bench = Bench::new(r#"{"kind": "fq", "flow_rate": "500kbps"}"#);
    (0..3).for_each(|_| bench.enqueue_of(0, 1000, NotEct).unwrap());
    assert!(bench.dequeue().is_some() && bench.later().is_some());
    assert_eq!(bench.take(1000), 2);
    assert_eq!((bench.queue.packets(), bench.queue.bytes(), bench.later()), (0, Bytes::ZERO, None));
    bench.enqueue_of(0, 1000, NotEct).unwrap();
    assert_eq!(bench.later(), Some(Time::ZERO + Span::from_millis(16)));
}
