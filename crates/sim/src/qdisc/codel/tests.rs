//! Vectors computed apart from this code, and the rules one by one.

use tcp::Ecn::{self, Ce, Ect0, Ect1, NotEct};

use super::super::bench::Bench;
use super::*;

const CODEL: &str = r#"{"kind": "codel", "ecn": true}"#;

fn at_micros(us: u64) -> Time {
    Time::ZERO + Span::from_micros(us)
}

/// One packet leaves per millisecond from a queue of 900 that came at 0; the milliseconds at which one was dropped or
/// marked.
fn signals(queue: &str, ecn: Ecn) -> Vec<u64> {
    let mut bench = Bench::new(queue);
    (0..900).for_each(|_| bench.enqueue(ecn).unwrap());
    let (mut seen, mut times) = (0, Vec::new());
    for ms in 5..520 {
        bench.at(at_micros(1000 * ms));
        bench.dequeue().unwrap();
        let now = bench.drops(DropReason::Aqm) + bench.marks();
        times.extend((seen..now).map(|_| ms));
        seen = now;
    }
    times
}

#[test]
fn drops_follow_the_control_law_of_rfc_8289_3_3() {
    // The wait is above target from 5 ms on. T = 105 ms; then T + 100, 170.711, 228.446, 278.446, 323.167, 363.992 ms,
    // each at the next departure.
    let expected = [105, 205, 276, 334, 384, 429, 469, 507];
    assert_eq!(signals(CODEL, NotEct), expected);
    assert_eq!(signals(CODEL, Ect0), expected, "marks follow the same law");
}

#[test]
fn one_step_of_newtons_method_for_each_drop_is_behind_the_law_at_first() {
    // x' = x (3 - n x^2) / 2 from x = 1: 0.5, 0.5625, 0.4878, 0.4415, 0.4041, 0.3752, 0.3515 for n = 2 to 8.
    let newton = r#"{"kind": "codel", "inverse_sqrt": "newton"}"#;
    assert_eq!(signals(newton, NotEct), [105, 205, 255, 312, 361, 405, 445, 483, 518]);
}

#[test]
fn beyond_the_second_threshold_every_packet_is_marked() {
    let mut bench = Bench::new(r#"{"kind": "codel", "ce_threshold": "1ms"}"#);
    (0..3).for_each(|_| bench.enqueue(Ect0).unwrap());
    bench.at(at_micros(1_000));
    assert_eq!(bench.dequeue(), Some(Ect0), "not above");
    bench.at(at_micros(1_001));
    assert_eq!((bench.dequeue(), bench.dequeue()), (Some(Ce), Some(Ce)));
}

#[test]
fn a_selector_leaves_the_threshold_to_ect1_or_to_a_code_point() {
    let left = |selector: &str, dscp: &str| {
        let mut bench = Bench::new(&format!(
            r#"{{"kind": "fq_codel", "ce_threshold": "1ms", "ce_threshold_selector": "{selector}"}}"#
        ));
        bench.set_dscp(0, dscp);
        [Ect0, Ect1, NotEct].iter().for_each(|ecn| bench.enqueue(*ecn).unwrap());
        bench.at(at_micros(1_001));
        [0; 3].map(|_| bench.dequeue().unwrap())
    };
    assert_eq!(left("ect1", "DF"), [Ect0, Ce, NotEct]);
    assert_eq!(left("EF", "DF"), [Ect0, Ect1, NotEct]);
    assert_eq!(left("46", "EF"), [Ce, Ce, NotEct]);
}

#[test]
fn who_takes_marks_is_marked_and_others_are_dropped() {
    let mut bench = Bench::new(CODEL);
    for ecn in [NotEct, Ect0, NotEct, Ect0, Ect0] {
        bench.enqueue(ecn).unwrap();
    }
    bench.at(at_micros(5_000));
    assert_eq!(bench.dequeue(), Some(NotEct));
    bench.at(at_micros(105_000));
    // Marked, not dropped, and the next mark is not due.
    assert_eq!((bench.dequeue(), bench.marks(), bench.drops(DropReason::Aqm)), (Some(Ce), 1, 0));
    bench.at(at_micros(205_000));
    // The next is due, takes no mark, and is dropped; what follows it is short enough.
    assert_eq!((bench.dequeue(), bench.marks(), bench.drops(DropReason::Aqm)), (Some(Ect0), 1, 1));
}

#[test]
fn a_short_queue_or_a_short_wait_ends_the_dropping() {
    let mut bench = Bench::new(r#"{"kind": "codel"}"#);
    for _ in 0..3 {
        bench.enqueue(NotEct).unwrap();
    }
    for ms in [5, 105, 500] {
        bench.at(at_micros(1000 * ms));
        bench.dequeue().unwrap();
    }
    assert_eq!(bench.drops(DropReason::Aqm), 0, "1000 bytes behind the head are less than an MTU");
    assert_eq!(bench.dequeue(), None);
}

#[test]
fn dropping_resumes_at_the_rate_of_before_if_that_is_recent() {
    let settings = Settings {
        target: Span::from_millis(5),
        interval: Span::from_millis(100),
        mtu: Bytes(1500),
        ecn: false,
        ce_threshold: None,
        ce_threshold_selector: None,
        inverse_sqrt: InverseSqrt::Exact,
    };
    let entered = |count, last_count, now_ms| {
        let drop_next = Time::ZERO + Span::from_millis(1000);
        let mut control = Control { count, last_count, drop_next, ..Control::default() };
        control.enter(Time::ZERO + Span::from_millis(now_ms), &settings);
        control.count
    };
    assert_eq!(entered(9, 1, 1500), 8);
    assert_eq!(entered(9, 8, 1500), 1, "only one drop more than last time");
    assert_eq!(entered(9, 1, 2600), 1, "16 intervals later");
}

#[test]
fn the_limit_holds() {
    let mut bench = Bench::new(r#"{"kind": "codel", "limit": "2p"}"#);
    assert!(bench.enqueue(Ect0).is_ok() && bench.enqueue(Ect0).is_ok());
    assert_eq!(bench.enqueue(Ect0), Err(DropReason::Queue));
}
