//! Rounds, keys, overload and hashes.

use std::collections::BTreeMap;

use tcp::Ecn::NotEct;
use tcp::rng::Rng;
use tcp::units::{Bytes, Span, Time};

use super::super::bench::Bench;
use super::*;

fn flows(bench: &mut Bench) -> Vec<u32> {
    bench.departures().iter().map(|(flow, _, _)| *flow).collect()
}

/// So many packets of a flow, of this size.
fn fill(bench: &mut Bench, arrivals: &[(u32, usize, u64)]) {
    for &(flow, count, size) in arrivals {
        (0..count).for_each(|_| bench.enqueue_of(flow, size, NotEct).unwrap());
    }
}

#[test]
fn a_round_serves_each_flow_by_its_deficit() {
    for kind in ["drr", "sfq"] {
        let mut bench = Bench::new(&format!(r#"{{"kind": "{kind}", "quantum": "1000B"}}"#));
        fill(&mut bench, &[(0, 4, 600), (1, 2, 1000), (2, 8, 200)]);
        let order: String = flows(&mut bench).into_iter().map(|flow| ['A', 'B', 'C'][flow as usize]).collect();
        assert_eq!(order, "ABCCCCCAABCCCA", "{kind}");
    }
}

/// The rounds one by one, as the paper writes them.
fn naive(arrivals: &[(u32, u64)], quantum: u64) -> Vec<u32> {
    let mut queues: BTreeMap<u32, (VecDeque<u64>, u64)> = BTreeMap::new();
    let mut turns: VecDeque<u32> = VecDeque::new();
    for &(flow, size) in arrivals {
        if !queues.contains_key(&flow) {
            turns.push_back(flow);
        }
        queues.entry(flow).or_default().0.push_back(size);
    }
    let mut order = Vec::new();
    while let Some(flow) = turns.pop_front() {
        let (waiting, deficit) = queues.get_mut(&flow).unwrap();
        *deficit += quantum;
        while waiting.front().is_some_and(|size| size <= deficit) {
            *deficit -= waiting.pop_front().unwrap();
            order.push(flow);
        }
        if !waiting.is_empty() {
            turns.push_back(flow);
        }
    }
    order
}

#[test]
fn rounds_that_are_skipped_change_nothing() {
    let mut rng = Rng::stream(3, "drr");
    for quantum in [1, 7, 100, 1000, 5000] {
        let mut bench = Bench::new(&format!(r#"{{"kind": "drr", "quantum": "{quantum}B"}}"#));
        let arrivals: Vec<(u32, u64)> = (0..200).map(|_| (rng.below(9) as u32, 40 + rng.below(1461))).collect();
        arrivals.iter().for_each(|&(flow, size)| bench.enqueue_of(flow, size, NotEct).unwrap());
        assert_eq!(flows(&mut bench), naive(&arrivals, quantum), "{quantum}");
    }
}

#[test]
fn to_look_changes_nothing_even_if_packets_come_meanwhile() {
    let mut rng = Rng::stream(4, "drr");
    let [mut looked, mut not] = [0; 2].map(|_| Bench::new(r#"{"kind": "drr", "quantum": "700B"}"#));
    for _ in 0..500 {
        if rng.chance(0.55) {
            let (flow, size) = (rng.below(5) as u32, 40 + rng.below(1461));
            [&mut looked, &mut not].into_iter().for_each(|bench| bench.enqueue_of(flow, size, NotEct).unwrap());
        } else {
            let head = looked.peek();
            let left = [&mut looked, &mut not].map(|bench| bench.dequeue_packet().map(|p| (p.to.flow().0, p.size)));
            assert_eq!(left, [head; 2]);
        }
    }
}

#[test]
fn packets_of_a_node_share_a_queue_if_asked() {
    // Flows 0 and 1 start at one node, flow 2 at another; all end at the same.
    for (by, expected) in [("flow", [4, 4, 4]), ("source", [3, 3, 6]), ("destination", [6, 6, 0])] {
        let mut bench = Bench::new(&format!(r#"{{"kind": "drr", "quantum": "1000B", "by": "{by}"}}"#));
        (0..12).for_each(|i| bench.enqueue_of(i % 2, 1000, NotEct).unwrap());
        fill(&mut bench, &[(2, 12, 1000)]);
        let mut left = [0; 3];
        (0..12).for_each(|_| left[bench.dequeue_packet().unwrap().to.flow().index()] += 1);
        assert_eq!(left, expected, "{by}");
    }
}

#[test]
fn an_overload_is_paid_by_the_longest_queue_from_the_end_that_is_asked_for() {
    for (drop, sizes) in [("longest_tail", [500, 501, 502]), ("longest_head", [502, 503, 504])] {
        let mut bench = Bench::new(&format!(r#"{{"kind": "drr", "limit": "5p", "drop": "{drop}"}}"#));
        (500..505).for_each(|size| bench.enqueue_of(0, size, NotEct).unwrap());
        fill(&mut bench, &[(1, 2, 700)]);
        assert_eq!((bench.drops(DropReason::Queue), bench.queue.packets(), bench.queue.bytes().0 > 2000), (2, 5, true));
        let left: Vec<u64> =
            bench.departures().iter().filter(|(flow, ..)| *flow == 0).map(|(_, size, _)| *size).collect();
        assert_eq!(left, sizes, "{drop}");
    }
    // A packet that exceeds the limit alone pays for itself.
    let mut bench = Bench::new(r#"{"kind": "drr", "limit": "3000B"}"#);
    fill(&mut bench, &[(0, 2, 1000), (1, 1, 5000)]);
    assert_eq!((flows(&mut bench), bench.drops(DropReason::Queue)), (vec![0, 0], 1));
}

fn queues_in_use(bench: &Bench) -> usize {
    let super::super::Qdisc::Drr(queue) = &bench.queue else { unreachable!("made as DRR") };
    queue.queues.len()
}

#[test]
fn sfq_limits_queues_their_depth_and_all_together() {
    let mut bench = Bench::new(r#"{"kind": "sfq", "depth": 3, "limit": "1000p", "queues": 65536}"#);
    let results = [0; 4].map(|_| bench.enqueue(NotEct));
    assert_eq!(results, [Ok(()), Ok(()), Ok(()), Err(DropReason::Queue)]);
    (1..200).for_each(|flow| _ = bench.enqueue_of(flow, 1000, NotEct));
    // Flow 0 still has its queue; a queue less, and another one has a place.
    assert_eq!((queues_in_use(&bench), bench.enqueue_of(199, 1000, NotEct)), (SFQ_IN_USE, Err(DropReason::Queue)));
    (0..SFQ_IN_USE).for_each(|_| _ = bench.dequeue());
    assert!(queues_in_use(&bench) < SFQ_IN_USE && bench.enqueue_of(199, 1000, NotEct).is_ok());
    let mut bench = Bench::new(r#"{"kind": "sfq"}"#);
    fill(&mut bench, &[(0, 127, 100), (1, 1, 1500)]);
    // The longest in packets, not in bytes.
    assert_eq!((bench.drops(DropReason::Queue), bench.queue.packets(), bench.queue.bytes()), (1, 127, Bytes(14_100)));
}

#[test]
fn a_new_salt_moves_flows_and_leaves_what_waits() {
    let mut bench = Bench::new(r#"{"kind": "sfq", "queues": 65536, "perturb": "10ms", "quantum": "1000B"}"#);
    fill(&mut bench, &[(0, 2, 1000)]);
    bench.at(Time::ZERO + Span::from_nanos(9_999_999));
    fill(&mut bench, &[(0, 1, 1000)]);
    assert_eq!(queues_in_use(&bench), 1);
    bench.at(Time::ZERO + Span::from_millis(10));
    fill(&mut bench, &[(0, 1, 1000)]);
    assert_eq!(queues_in_use(&bench), 2);
    bench.at(Time::ZERO + Span::from_millis(1234));
    fill(&mut bench, &[(0, 1, 1000)]);
    assert_eq!((queues_in_use(&bench), bench.queue.packets()), (3, 5));
}

#[test]
fn what_is_taken_leaves_no_turn_behind() {
    let mut bench = Bench::new(r#"{"kind": "drr", "quantum": "1000B"}"#);
    fill(&mut bench, &[(0, 3, 600), (1, 2, 500), (2, 1, 600)]);
    assert!(bench.dequeue().is_some());
    assert_eq!(bench.take(600), 3);
    assert_eq!((bench.queue.packets(), bench.queue.bytes()), (2, Bytes(1000)));
    assert_eq!([0; 3].map(|_| bench.dequeue_packet().map(|p| p.to.flow().0)), [Some(1), Some(1), None]);
}
