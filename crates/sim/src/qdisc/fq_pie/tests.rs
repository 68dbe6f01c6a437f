//! The queue of each flow is judged by itself; turns are those of FQ-CoDel.

use tcp::Ecn::{Ect0, NotEct};
use tcp::units::{Span, Time};

use super::super::bench::Bench;
use super::super::{Qdisc, QueueReport};
use super::*;

/// Flows 0 and 1 have queues of their own.
fn bench(more: &str) -> Bench {
    Bench::new(&format!(r#"{{"kind": "fq_pie", "flows": 65536 {more}}}"#))
}

fn at(bench: &mut Bench, ms: u64) {
    bench.at(Time::ZERO + Span::from_millis(ms));
}

#[test]
fn flows_take_turns_by_bytes_as_in_fq_codel() {
    for kind in ["fq_pie", "fq_codel"] {
        let mut bench = Bench::new(&format!(r#"{{"kind": "{kind}", "quantum": "1000B"}}"#));
        (0..4).for_each(|_| bench.enqueue_of(0, 1000, NotEct).unwrap());
        (0..8).for_each(|_| bench.enqueue_of(1, 500, NotEct).unwrap());
        let order: Vec<u32> = std::iter::from_fn(|| bench.dequeue_packet().map(|packet| packet.to.flow().0)).collect();
        assert_eq!(order, [0, 1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1], "{kind}");
    }
}

/// Flow 0 brings two packets of 1000 B every millisecond, of which one leaves; flow 1 one every 10 ms, which leaves at once.
fn overloaded(more: &str, ecn: tcp::Ecn) -> (Bench, [u64; 2]) {
    let (mut bench, mut refused) = (bench(more), [0, 0]);
    for ms in 1..1000 {
        at(&mut bench, ms);
        (0..2).for_each(|_| refused[0] += u64::from(bench.enqueue_of(0, 1000, ecn).is_err()));
        if ms % 10 == 0 {
            refused[1] += u64::from(bench.enqueue_of(1, 1000, ecn).is_err());
            bench.dequeue().unwrap();
        }
        bench.dequeue().unwrap();
    }
    (bench, refused)
}

#[test]
fn a_flow_pays_for_its_own_queue_alone() {
    let (bench, refused) = overloaded("", NotEct);
    assert!(refused[0] > 50, "{refused:?}");
    assert_eq!((refused[1], bench.marks()), (0, 0));
    let Qdisc::FqPie(queue) = &bench.queue else { unreachable!("made as FQ-PIE") };
    assert_eq!(queue.packets(), queue.queues.iter().map(|one| one.waiting.packets()).sum::<u64>());
}

#[test]
fn who_takes_marks_is_marked_up_to_mark_p() {
    let (bench, refused) = overloaded(r#", "ecn": true, "mark_p": 1"#, Ect0);
    assert!(bench.marks() > 50 && refused == [0, 0], "{} {refused:?}", bench.marks());
    let (_, refused) = overloaded(r#", "ecn": true"#, Ect0);
    assert!(refused[0] > 0, "above a tenth they are dropped");
}

#[test]
fn a_queue_at_rest_makes_up_for_its_updates() {
    let mut bench = overloaded("", NotEct).0;
    while bench.dequeue().is_some() {}
    at(&mut bench, 3_600_000);
    let burst = (0..100).filter(|_| bench.enqueue_of(0, 1000, NotEct).is_err()).count();
    assert_eq!(burst, 0, "an hour later the probability is 0 and bursts are welcome");
}

#[test]
fn the_limit_is_of_all_queues_and_refuses_the_arrival() {
    let mut bench = bench(r#", "limit": "10p""#);
    (0..10).for_each(|i| bench.enqueue_of(i % 2, 1000, NotEct).unwrap());
    assert_eq!(bench.enqueue_of(2, 1000, NotEct), Err(DropReason::Queue));
    let Some(QueueReport::FqCodel(report)) = bench.queue.report(Time::ZERO) else { panic!("a report") };
    assert_eq!((report.new_flow_count, report.collided_packets, report.backlog_max_bytes), (2, 0, 10_000));
    assert_eq!(bench.take(1000), 10);
    assert_eq!((bench.queue.packets(), bench.queue.bytes()), (0, Bytes::ZERO));
}
