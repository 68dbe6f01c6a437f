//! Vectors of the token bucket, what it does not pass, and the disciplines inside it.

use tcp::Ecn::{Ce, Ect0, NotEct};
use tcp::units::{Bytes, Span, Time};

use super::super::bench::Bench;
use crate::packet::DropReason::{Aqm, Queue, TooLong};

fn starts(bench: &mut Bench) -> Vec<u64> {
    bench.departures().iter().map(|(_, _, at)| at.as_nanos()).collect()
}

fn ms(time: u64) -> Time {
    Time::ZERO + Span::from_millis(time)
}

#[test]
fn a_burst_passes_at_once_and_the_rest_at_the_rate() {
    let mut bench = Bench::new(r#"{"kind": "tbf", "rate": "1Mbps", "burst": "5000B"}"#);
    (0..7).for_each(|_| bench.enqueue_of(0, 1500, NotEct).unwrap());
    let expected = [0, 0, 0, 8, 20, 32, 44];
    assert_eq!(starts(&mut bench), expected.map(|ms| ms * 1_000_000));
}

#[test]
fn the_peak_rate_spreads_a_burst() {
    // 1500 B take 1.2 ms at 10 Mb/s; from the sixth packet on the sustained bucket has fewer than 1500 B.
    let mut bench =
        Bench::new(r#"{"kind": "tbf", "rate": "1Mbps", "burst": "6000B", "peak": "10Mbps", "peak_burst": "1500B"}"#);
    (0..6).for_each(|_| bench.enqueue_of(0, 1500, NotEct).unwrap());
    // After five packets 7500 B: 6000 B and those of 12 ms; after six 24 ms.
    let expected = [0, 1_200_000, 2_400_000, 3_600_000, 12_000_000, 24_000_000];
    assert_eq!(starts(&mut bench), expected);
}

#[test]
fn a_packet_above_the_bucket_is_too_long_and_small_ones_do_not_overtake() {
    let mut bench = Bench::new(r#"{"kind": "tbf", "rate": "1Mbps", "burst": "1500B"}"#);
    assert_eq!(bench.enqueue_of(0, 1501, NotEct), Err(TooLong));
    for (flow, size) in [(0, 1500), (1, 1500), (2, 40)] {
        bench.enqueue_of(flow, size, NotEct).unwrap();
    }
    let left: Vec<(u32, u64)> = bench.departures().iter().map(|(flow, _, at)| (*flow, at.as_nanos())).collect();
    assert_eq!(left, [(0, 0), (1, 12_000_000), (2, 12_320_000)]);
    let peak = r#"{"kind": "tbf", "rate": "1Mbps", "burst": "9kB", "peak": "2Mbps", "peak_burst": "1kB"}"#;
    assert_eq!(Bench::new(peak).enqueue_of(0, 1001, NotEct), Err(TooLong));
}

#[test]
fn a_packet_that_was_looked_at_still_counts_in_every_discipline_inside() {
    for inner in [
        r#""3p""#,
        r#"{"kind": "codel", "limit": "3p"}"#,
        r#"{"kind": "pie", "limit": "3p"}"#,
        r#"{"kind": "red", "limit": "3p"}"#,
        r#"{"kind": "fq", "limit": "3p"}"#,
        r#"{"kind": "policer", "rate": "1Gbps", "queue": "3p"}"#,
        r#"{"kind": "tbf", "rate": "1Gbps", "queue": "3p"}"#,
    ] {
        let queue = format!(r#"{{"kind": "tbf", "rate": "1Mbps", "burst": "1500B", "queue": {inner}}}"#);
        let mut bench = Bench::new(&queue);
        bench.enqueue_of(0, 1500, NotEct).unwrap();
        assert_eq!(bench.peek(), Some((0, Bytes(1500))), "{inner}");
        assert_eq!(bench.peek(), Some((0, Bytes(1500))), "{inner}");
        assert!(bench.dequeue().is_some());
        for flow in 1..4 {
            assert_eq!(bench.later(), (flow > 1).then(|| ms(12)), "{inner}");
            bench.enqueue_of(flow, 1500, NotEct).unwrap();
        }
        assert_eq!(bench.enqueue_of(4, 1500, NotEct), Err(Queue), "{inner}");
        assert_eq!((bench.queue.packets(), bench.queue.bytes()), (3, Bytes(4500)), "{inner}");
        assert_eq!(bench.take(1500), 3, "{inner}");
        assert_eq!((bench.queue.packets(), bench.queue.bytes(), bench.later()), (0, Bytes::ZERO, None), "{inner}");
    }
}

#[test]
fn queues_that_drop_what_waits_longest_count_what_was_looked_at() {
    // FQ-CoDel drops half of the bytes at once, without the packet that was looked at.
    for (kind, dropped, left) in
        [("fq_codel", 2, &[12, 24][..]), ("sfq", 1, &[12, 24, 36][..]), ("drr", 1, &[12, 24, 36][..])]
    {
        let inner = format!(r#"{{"kind": "{kind}", "limit": "3p"}}"#);
        let queue = format!(r#"{{"kind": "tbf", "rate": "1Mbps", "burst": "1500B", "queue": {inner}}}"#);
        let mut bench = Bench::new(&queue);
        (0..2).for_each(|_| bench.enqueue_of(0, 1500, NotEct).unwrap());
        assert!(bench.dequeue().is_some());
        assert_eq!(bench.later(), Some(ms(12)));
        (0..3).for_each(|_| bench.enqueue_of(0, 1500, NotEct).unwrap());
        let waiting = 4 - dropped;
        assert_eq!((bench.queue.packets(), bench.drops(Queue)), (waiting, dropped), "{kind}");
        assert_eq!(bench.queue.bytes(), Bytes(1500) * waiting, "{kind}");
        let expected: Vec<u64> = left.iter().map(|ms| ms * 1_000_000).collect();
        assert_eq!(starts(&mut bench), expected, "{kind}");
        assert_eq!((bench.queue.packets(), bench.queue.bytes()), (0, Bytes::ZERO));
    }
}

#[test]
fn codel_inside_measures_the_wait_that_the_shaper_makes() {
    for (inner, ecn) in [("codel", NotEct), ("fq_codel", NotEct), ("codel", Ect0), ("fq_codel", Ect0)] {
        let queue = format!(r#"{{"kind": "tbf", "rate": "8Mbps", "queue": {{"kind": "{inner}", "ecn": true}}}}"#);
        let mut bench = Bench::new(&queue);
        // Ten milliseconds of the line waiting all the time: above CoDel's target.
        let (mut ce, mut at) = (0, 0);
        (0..30).for_each(|_| bench.enqueue(ecn).unwrap());
        while at < 400 {
            bench.at(ms(at));
            while let Some(left) = bench.dequeue() {
                ce += u64::from(left == Ce);
            }
            bench.enqueue(ecn).unwrap();
            at += 1;
        }
        let acted = if ecn == Ect0 { ce } else { bench.drops(Aqm) };
        assert!(acted >= 2 && bench.marks() == ce, "{inner}: {acted}");
    }
}

#[test]
fn a_bucket_that_may_be_overdrawn_spaces_packets_and_gives_credit_after_a_pause_only() {
    let mut bench = Bench::new(r#"{"kind": "tbf", "rate": "1Mbps", "burst": "16B", "debt": true}"#);
    (0..4).for_each(|_| bench.enqueue_of(0, 1500, NotEct).unwrap());
    // 16 B take 128 us, 1500 B 12 ms: only the first gap is shorter.
    assert_eq!(starts(&mut bench), [0, 11_872_000, 23_872_000, 35_872_000]);
}

#[test]
fn with_debt_the_queue_inside_chooses_at_the_start_of_the_transmission() {
    // A flow that comes later goes first in FQ-CoDel, unless a packet of the other one has been chosen already.
    let second_of = |bucket: &str| {
        let inner = r#"{"kind": "fq_codel", "quantum": "1500B"}"#;
        let mut bench = Bench::new(&format!(r#"{{"kind": "tbf", "rate": "1Mbps", {bucket}, "queue": {inner}}}"#));
        (0..3).for_each(|_| bench.enqueue_of(0, 1500, NotEct).unwrap());
        assert_eq!(bench.dequeue_packet().unwrap().to.flow().0, 0);
        assert!(bench.later().is_some());
        bench.at(ms(6));
        bench.enqueue_of(1, 1500, NotEct).unwrap();
        bench.departures()[0].0
    };
    assert_eq!(second_of(r#""burst": "1500B""#), 0);
    assert_eq!(second_of(r#""burst": "16B", "debt": true"#), 1);
}
