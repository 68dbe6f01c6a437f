//! Who is compared, what goes, and what is left to RED.

use tcp::Ecn::{Ect0, NotEct};
use tcp::units::Time;

use super::super::super::bench::Bench;
use super::super::super::{Qdisc, QueueReport};
use super::*;

/// `own` packets of flow 0 and `others` of flow 1 wait; the average is `average` and stays there.
fn bench(average: f64, own: u64, others: u64, more: &str) -> Bench {
    let mut bench = Bench::new(&format!(r#"{{"kind": "choke", "weight": 1e-12 {more}}}"#));
    (0..own).for_each(|_| bench.enqueue_of(0, 1000, NotEct).unwrap());
    (0..others).for_each(|_| bench.enqueue_of(1, 1000, NotEct).unwrap());
    let Qdisc::Choke(choke) = &mut bench.queue else { unreachable!("made as CHOKe") };
    choke.red.average = average;
    bench
}

fn matched(bench: &mut Bench) -> u64 {
    let Some(QueueReport::Choke { matched }) = bench.queue.report(Time::ZERO) else { panic!("a report") };
    matched
}

#[test]
fn an_arrival_takes_a_packet_of_its_flow_along() {
    // Only its own wait: both go, whatever ECN says.
    let mut own = bench(20.1, 30, 0, r#", "ecn": true"#);
    assert_eq!(own.enqueue_of(0, 1000, Ect0), Err(DropReason::Aqm));
    assert_eq!((own.queue.packets(), own.drops(DropReason::Aqm), matched(&mut own)), (29, 1, 1));
    own.queue.on_warmup_end(Time::ZERO);
    assert_eq!(matched(&mut own), 0);
    // None of its own: never.
    let mut others = bench(20.0001, 0, 30, "");
    assert!((2..32).all(|flow| others.enqueue_of(flow, 1000, NotEct).is_ok()));
    assert_eq!((others.drops(DropReason::Aqm), matched(&mut others)), (0, 0));
    // At or below the threshold nobody is compared.
    let mut below = bench(19.999, 30, 0, "");
    assert!(below.enqueue_of(0, 1000, NotEct).is_ok());
    assert_eq!(matched(&mut below), 0);
}

fn set_average(bench: &mut Bench, average: f64) {
    let Qdisc::Choke(choke) = &mut bench.queue else { unreachable!("made as CHOKe") };
    choke.red.average = average;
}

#[test]
fn the_packet_is_drawn_uniformly() {
    // A quarter of the queue is of flow 0, at every arrival: what it took along comes back, and what stayed goes.
    let mut bench = bench(20.0001, 10, 30, "");
    let mut hits = 0;
    for _ in 0..4000 {
        if bench.enqueue_of(0, 999, NotEct).is_err() {
            hits += 1;
            set_average(&mut bench, 0.0);
            bench.enqueue_of(0, 1000, NotEct).unwrap();
            set_average(&mut bench, 20.0001);
        } else {
            assert_eq!(bench.take(999), 1);
        }
    }
    // Five standard deviations: 137.
    assert!((863..=1137).contains(&hits), "{hits}");
}

#[test]
fn above_the_threshold_all_are_dropped_or_marked_unless_hard_drop() {
    for (more, ecn, passes) in [
        ("", Ect0, false),
        (r#", "ecn": true"#, Ect0, true),
        (r#", "ecn": true"#, NotEct, false),
        (r#", "ecn": true, "hard_drop": true"#, Ect0, false),
    ] {
        let mut bench = bench(60.1, 0, 30, more);
        assert!((2..22).all(|flow| bench.enqueue_of(flow, 1000, ecn).is_ok() == passes), "{more}");
        assert_eq!(bench.marks(), if passes { 20 } else { 0 }, "{more}");
    }
}

#[test]
fn between_the_thresholds_red_decides_and_the_limit_comes_last() {
    // p_b = 0.05: gaps uniform over 1 to 19 arrivals.
    let mut bench = bench(40.0, 0, 30, r#", "limit": "1000p""#);
    let dropped = (2..182).filter(|flow| bench.enqueue_of(*flow, 1000, NotEct).is_err()).count();
    assert!((10..=30).contains(&dropped), "{dropped}");
    let mut full = self::bench(0.0, 0, 30, r#", "limit": "30p""#);
    assert_eq!(full.enqueue_of(0, 1000, NotEct), Err(DropReason::Queue));
}
