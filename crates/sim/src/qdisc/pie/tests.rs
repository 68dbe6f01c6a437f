//! Vectors computed apart from this code, and the rules one by one.

use tcp::Ecn::{Ce, Ect0, NotEct};

use super::super::Qdisc;
use super::super::bench::Bench;
use super::*;

fn updated(p: f64, delay_ms: f64, before_ms: f64) -> f64 {
    let def = PieDef::default().with_defaults();
    let mut control = Control { p, delay: before_ms / 1e3, burst_allowance: Span::ZERO, burst: Burst::None };
    control.update(&def, delay_ms / 1e3, false);
    control.p
}

#[test]
fn the_drop_probability_is_updated_by_rfc_8033_4_2() {
    for (p, delay, before, expected) in [
        (0.0, 30.0, 20.0, 7.0190e-6),
        (0.05, 30.0, 30.0, 0.0509375),
        (0.2, 300.0, 20.0, 0.22),
        (0.01, 0.0, 0.0, 0.00888125),
        (0.99, 300.0, 20.0, 1.0),
        (1e-7, 0.0, 20.0, 0.0),
    ] {
        let p = updated(p, delay, before);
        assert!((p - expected).abs() <= 1e-5 * expected, "{p}, not {expected}");
    }
}

fn at(bench: &mut Bench, ms: u64) {
    bench.at(Time::ZERO + Span::from_millis(ms));
}

fn pie(bench: &mut Bench) -> &mut Regulated {
    let Qdisc::Pie(pie) = &mut bench.queue else { unreachable!("made as PIE") };
    &mut pie.one
}

/// Ten packets wait, the controller is at work with probability `p` and the burst is over.
fn bench_at(p: f64, more: &str) -> Bench {
    let mut bench = Bench::new(&format!(r#"{{"kind": "pie", "ecn": true {more}}}"#));
    (0..10).for_each(|_| bench.enqueue(NotEct).unwrap());
    pie(&mut bench).control = Control { p, delay: 0.02, burst_allowance: Span::ZERO, burst: Burst::None };
    bench
}

#[test]
fn who_takes_marks_is_marked_and_others_are_dropped() {
    let mut bench = bench_at(0.1, "");
    let dropped = (0..500).filter(|_| bench.enqueue(NotEct) == Err(DropReason::Aqm)).count();
    // Five standard deviations of 500 rng: 34.
    assert!((16..=84).contains(&dropped), "{dropped}");
    let mut bench = bench_at(0.1, "");
    assert!((0..500).all(|_| bench.enqueue(Ect0).is_ok()));
    let marked = std::iter::from_fn(|| bench.dequeue()).filter(|ecn| *ecn == Ce).count();
    assert!((16..=84).contains(&marked) && bench.marks() == marked as u64, "{marked}");
    let mut bench = bench_at(0.11, "");
    assert!((0..500).any(|_| bench.enqueue(Ect0).is_err()), "beyond mark_p");
    assert_eq!(bench.marks(), 0);
}

#[test]
fn bursts_calm_queues_and_two_packets_pass() {
    let dropped = |bench: &mut Bench| (0..200).filter(|_| bench.enqueue(NotEct).is_err()).count();
    let mut burst = bench_at(0.5, "");
    pie(&mut burst).control.burst_allowance = Span::from_millis(1);
    assert_eq!(dropped(&mut burst), 0);
    let mut calm = bench_at(0.19, "");
    pie(&mut calm).control.delay = 0.007;
    assert_eq!(dropped(&mut calm), 0);
    let mut short = bench_at(1.0, "");
    while short.dequeue().is_some() {}
    assert_eq!(dropped(&mut short), 197, "of 200 the first three find no more than 2000 bytes");
}

#[test]
fn derandomised_drops_are_neither_close_nor_far_apart() {
    let mut bench = bench_at(0.1, r#", "derandomise": true"#);
    let (mut gaps, mut gap) = (Vec::new(), 0);
    for _ in 0..900 {
        gap += 1;
        if bench.enqueue(NotEct).is_err() {
            gaps.push(gap);
            gap = 0;
        }
    }
    // 0.85 / 0.1 packets at least, 8.5 / 0.1 at most.
    assert!(gaps.len() > 30 && gaps.iter().all(|gap| (9..=85).contains(gap)), "{gaps:?}");
}

#[test]
fn the_controller_works_every_update_whoever_asks() {
    // 100 packets at 0, one leaves each millisecond: at update k the last wait is 15 k - 1 ms (the departure of the same
    // instant comes after the update).
    let mut bench = Bench::new(r#"{"kind": "pie"}"#);
    (0..100).for_each(|_| bench.enqueue(NotEct).unwrap());
    for ms in 1..=60 {
        at(&mut bench, ms);
        bench.dequeue().unwrap();
    }
    let mut expected = Control { p: 0.0, delay: 0.0, burst_allowance: Span::from_millis(150), burst: Burst::None };
    for delay in [0.014, 0.029, 0.044, 0.059] {
        expected.update(&PieDef::default().with_defaults(), delay, true);
    }
    assert_eq!(pie(&mut bench).control, expected);
    // A long silence is made up for: the queue is empty, the probability dies, bursts are welcome again.
    while bench.dequeue().is_some() {}
    at(&mut bench, 3_600_000);
    bench.enqueue(NotEct).unwrap();
    let rest = Control { p: 0.0, delay: 0.0, burst_allowance: Span::from_millis(150), burst: Burst::None };
    assert_eq!(pie(&mut bench).control, rest);
    assert!(pie(&mut bench).next_update > Time::ZERO + Span::from_millis(3_600_000));
}

#[test]
fn the_delay_by_departure_rate_is_the_backlog_over_the_rate() {
    let mut bench = Bench::new(r#"{"kind": "pie", "estimator": "departure_rate", "departure_threshold": "10000B"}"#);
    (0..100).for_each(|_| bench.enqueue(NotEct).unwrap());
    for ms in 1..=30 {
        at(&mut bench, ms);
        bench.dequeue().unwrap();
    }
    let def: PieDef =
        serde_json::from_str(r#"{"estimator": "departure_rate", "departure_threshold": "10000B"}"#).unwrap();
    // Ten packets, the last nine milliseconds after the first: RFC 8033 counts the first one in.
    assert!((pie(&mut bench).queueing_delay(&def) - 70.0 * 0.9e-3).abs() < 1e-9);
}

/// With the constants of RFC 8034, Appendix A.1.2.
const DOCSIS: &str = r#", "rules": "docsis", "target": "10ms", "update": "16ms", "alpha": 0.25, "beta": 2.5,
    "max_burst": "142ms", "mean_packet": "1024B", "derandomise": true, "limit": "30kB""#;

#[test]
fn the_drop_probability_of_docsis_is_updated_by_rfc_8034_a_2() {
    // 0.25 (delay - 0.01) + 2.5 (delay - before), over the divisor, then what the delay adds.
    for (p, delay_ms, before_ms, expected) in [
        (0.0, 30.0, 20.0, (0.25 * 0.02 + 2.5 * 0.01) / 2048.0),
        (0.05, 30.0, 30.0, 0.05 + 0.25 * 0.02 / 2.0),
        (0.05, 4.0, 4.0, (0.05 - 0.25 * 0.006 / 2.0) * 0.98),
        (0.2, 300.0, 20.0, 0.2 + 0.02 + 0.02),
        (0.2, 30.0, 30.0, 0.2 + 0.25 * 0.02 / 0.5),
        (13.5, 300.0, 20.0, 13.54),
        (13.59, 300.0, 20.0, 13.6),
    ] {
        let def: PieDef = serde_json::from_str(&format!("{{{}}}", &DOCSIS[1..])).unwrap();
        let mut control = Control { p, delay: before_ms / 1e3, burst_allowance: Span::ZERO, burst: Burst::Protecting };
        control.update(&def.with_defaults(), delay_ms / 1e3, false);
        assert!((control.p - expected).abs() <= 1e-9, "{}, not {expected}", control.p);
    }
}

#[test]
fn docsis_drops_in_proportion_to_size_and_lets_a_burst_pass_after_the_first_drop() {
    let lost = |size: u64| {
        let mut bench = Bench::new(&format!(r#"{{"kind": "pie" {DOCSIS}}}"#).replace("30kB", "1GB"));
        (0..10).for_each(|_| bench.enqueue(NotEct).unwrap());
        let mut lost = 0;
        for _ in 0..20_000 {
            pie(&mut bench).control =
                Control { p: 0.1, delay: 0.02, burst_allowance: Span::ZERO, burst: Burst::Protecting };
            lost += u64::from(bench.enqueue_of(0, size, NotEct).is_err());
        }
        lost as f64
    };
    // p = 0.125 and 0.025: 6 and 33 packets until the sum is 0.85, then 1/p on average.
    let (large, small) = (20_000.0 / 14.0, 20_000.0 / 73.0);
    let found = [lost(1280) / large, lost(256) / small];
    assert!(found.iter().all(|ratio| (ratio - 1.0).abs() < 0.15), "{found:?}");
    let mut bench = Bench::new(&format!(r#"{{"kind": "pie" {DOCSIS}}}"#));
    let drops = |bench: &mut Bench| {
        pie(bench).control.p = 1.0;
        pie(bench).control.delay = 0.02;
        (0..5).filter(|_| bench.enqueue(NotEct) == Err(DropReason::Aqm)).count()
    };
    assert_eq!(drops(&mut bench), 0, "not a third of 30 kB");
    assert_eq!(drops(&mut bench), 0);
    assert_eq!(drops(&mut bench), 1, "then a burst has passage");
    assert_eq!(pie(&mut bench).control.burst_allowance, Span::from_millis(142));
}

/// The vectors of `tests/vectors/drafts.json`, computed apart from this code.
fn vectors(name: &str) -> Vec<[f64; 2]> {
    let all: serde_json::Value = serde_json::from_str(include_str!("../../../tests/vectors/drafts.json")).unwrap();
    let rows = all["pie"][name].as_array().unwrap().iter();
    rows.map(|row| ["delay_s", "p"].map(|key| row[key].as_f64().unwrap())).collect()
}

#[test]
fn the_probability_follows_the_vectors_of_linux() {
    for (name, def) in [
        ("tc: target 25ms alpha 3 beta 24", r#"{"profile": "linux", "target": "25ms", "alpha": 0.1875, "beta": 1.5}"#),
        ("default", r#"{"profile": "linux"}"#),
        ("default, without the step above 250 ms", "{}"),
    ] {
        let def = serde_json::from_str::<PieDef>(def).unwrap().with_defaults();
        let mut control = Control { burst_allowance: Span::ZERO, ..Control::new(&def) };
        for [delay, expected] in vectors(name) {
            control.update(&def, delay, false);
            assert!(
                (control.p - expected).abs() <= 1e-9 * expected,
                "{name}, {delay} s: {}, not {expected}",
                control.p
            );
        }
    }
}

#[test]
fn linux_lets_the_probability_decay_by_a_64th_and_only_without_backlog() {
    let updated = |def: &str, backlog| {
        let def = serde_json::from_str::<PieDef>(def).unwrap().with_defaults();
        let mut control = Control { p: 0.9, delay: 0.0, burst_allowance: Span::ZERO, burst: Burst::None };
        control.update(&def, 0.0, backlog);
        control.p
    };
    // 0.125 x 15 ms less, then the decay.
    let less = 0.9 - 0.125 * 0.015;
    for (def, backlog, expected) in [
        (r#"{"profile": "linux"}"#, false, less * 63.0 / 64.0),
        (r#"{"profile": "linux"}"#, true, less),
        (r#"{"profile": "linux", "rules": "rfc8033"}"#, true, less * 0.98),
        ("{}", true, less * 0.98),
    ] {
        assert!((updated(def, backlog) - expected).abs() < 1e-15, "{def}, {backlog}");
    }
}

#[test]
fn linux_drops_from_a_queue_of_exactly_two_packets() {
    for (profile, dropped) in [("linux", true), ("rfc", false)] {
        let def = format!(r#"{{"kind": "pie", "profile": "{profile}", "mean_packet": "1000B", "derandomise": false}}"#);
        let mut bench = Bench::new(&def);
        (0..2).for_each(|_| bench.enqueue(NotEct).unwrap());
        pie(&mut bench).control = Control { p: 1.0, delay: 0.02, burst_allowance: Span::ZERO, burst: Burst::None };
        assert_eq!(bench.enqueue(NotEct).is_err(), dropped, "{profile}");
    }
}
