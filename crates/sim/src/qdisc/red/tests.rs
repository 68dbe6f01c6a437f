//! Vectors computed apart from this code, and the rules one by one.

use tcp::Ecn::{Ce, Ect0, NotEct};
use tcp::units::Span;

use super::super::Qdisc;
use super::super::bench::Bench;
use super::*;

fn red(def: &str, rate: &str) -> Red {
    let def: RedDef = serde_json::from_str(def).unwrap();
    Red::new(&def, rate.parse().unwrap(), Span::ZERO, Rng::stream(1, "test"))
}

fn near(x: f64, expected: f64) {
    assert!((x / expected - 1.0).abs() < 2e-5, "{x}, not {expected}");
}

#[test]
fn automatic_parameters_follow_from_rate_and_delay() {
    for (def, rate, weight, min) in [
        (r#"{"mean_packet": "500B"}"#, "10Mbps", 0.00039992, 6.25),
        (r#"{"profile": "ns2"}"#, "1.5Mbps", 0.00266311, 5.0),
        (r#"{}"#, "100Mbps", 7.99968e-5, 31.25),
    ] {
        let red = red(def, rate);
        near(red.weight, weight);
        assert_eq!((red.min, red.max), (min, 3.0 * min));
    }
    near(red(r#"{"mean_packet": "500B"}"#, "10Mbps").packets_per_second, 2500.0);
    // ns-3's are fixed; what is given is kept, and the maximum follows a minimum that is given.
    let fixed = red(r#"{"profile": "ns3"}"#, "10Mbps");
    assert_eq!((fixed.weight, fixed.min, fixed.max, fixed.max_p), (0.002, 5.0, 15.0, 0.02));
    assert_eq!(red(r#"{"profile": "ns3", "min_threshold": 10}"#, "10Mbps").max, 30.0);
}

#[test]
fn the_base_probability_is_linear_between_the_thresholds() {
    let probability = |average, gentle| {
        let mut red = red(r#"{"min_threshold": 5, "max_threshold": 15}"#, "10Mbps");
        red.settings.gentle = gentle;
        red.average = average;
        red.probability()
    };
    assert_eq!((probability(4.99, true), probability(10.0, true), probability(30.0, true)), (0.0, 0.05, 1.0));
    assert!((probability(20.0, true) - 0.4).abs() < 1e-12);
    assert_eq!(probability(15.0, false), 1.0);
}

#[test]
fn drops_are_spread_and_kept_apart() {
    // p_b = 0.05. With wait the gap is uniform over 20 to 39 packets, without over 1 to 19 (§4 of the paper).
    for (wait, least, most) in [(true, 20, 39), (false, 1, 19)] {
        let mut red = red(r#"{"min_threshold": 5, "max_threshold": 15}"#, "10Mbps");
        red.settings.wait = wait;
        red.average = 10.0;
        let (mut gaps, mut gap) = (Vec::new(), 0);
        while gaps.len() < 4000 {
            gap += 1;
            if red.decide(Bytes(1000)) == Verdict::Early {
                gaps.push(gap);
                gap = 0;
            }
        }
        assert_eq!((gaps.iter().min(), gaps.iter().max()), (Some(&least), Some(&most)), "wait = {wait}");
        let mean = f64::from(gaps.iter().sum::<i32>()) / 4000.0;
        // Uniform: standard deviation below 6.1, five standard errors.
        assert!((mean - f64::from(least + most) / 2.0).abs() < 5.0 * 6.1 / f64::sqrt(4000.0), "{mean}");
    }
}

#[test]
fn byte_mode_drops_in_proportion_to_the_size() {
    let share = |size| {
        let mut red = red(r#"{"min_threshold": 5, "max_threshold": 15, "byte_mode": true}"#, "10Mbps");
        red.average = 10.0;
        (0..40_000).filter(|_| red.decide(Bytes(size)) == Verdict::Early).count() as f64 / 40_000.0
    };
    // One drop in 30,000 bytes, the middle of 20,000 to 40,000.
    assert!((share(1000) * 30.0 - 1.0).abs() < 0.05, "{}", share(1000));
    assert!((share(100) * 300.0 - 1.0).abs() < 0.15, "{}", share(100));
}

#[test]
fn the_average_follows_the_length_and_fades_while_idle() {
    let mut red = red(r#"{"weight": 0.5, "mean_packet": "500B"}"#, "10Mbps");
    red.average = 8.0;
    red.observe(Span::ZERO);
    assert_eq!(red.average, 4.0);
    // 2500 packets per second: in 0.8 ms two could have gone, so 0.5^3 of it is left.
    red.observe(Span::from_micros(800));
    assert!((red.average - 0.5).abs() < 1e-12);
}

#[test]
fn adaptive_red_moves_the_greatest_probability_twice_a_second() {
    let mut red = red(r#"{"min_threshold": 5, "max_threshold": 15, "adaptive": true}"#, "10Mbps");
    let at = |ms| Time::ZERO + Span::from_millis(ms);
    red.average = 12.0;
    red.adapt(at(499));
    assert_eq!(red.max_p, 0.1);
    red.adapt(at(500));
    red.adapt(at(999));
    assert!((red.max_p - 0.11).abs() < 1e-12, "+ min(0.01, max_p / 4)");
    red.average = 10.0;
    red.adapt(at(1000));
    assert!((red.max_p - 0.11).abs() < 1e-12, "in the middle nothing changes");
    red.average = 8.0;
    red.adapt(at(1500));
    assert!((red.max_p - 0.099).abs() < 1e-12, "x 0.9");
}

/// A queue of 10 packets with the average and the drop probability of a test.
fn full_bench(average: f64, more: &str) -> Bench {
    let def = format!(
        r#"{{"kind": "red", "limit": "1000p", "min_threshold": 5, "max_threshold": 15, "weight": 1e-9, "ecn": true {more}}}"#
    );
    let mut bench = Bench::new(&def);
    for _ in 0..10 {
        bench.enqueue(NotEct).unwrap();
    }
    let Qdisc::Red(red) = &mut bench.queue else { unreachable!("made as RED") };
    red.average = average;
    bench
}

#[test]
fn who_takes_marks_is_marked_and_others_are_dropped() {
    let mut bench = full_bench(10.0, "");
    let dropped = (0..300).filter(|_| bench.enqueue(NotEct) == Err(DropReason::Aqm)).count();
    assert!(dropped >= 7 && bench.marks() == 0, "{dropped}");
    let mut bench = full_bench(10.0, "");
    assert!((0..300).all(|_| bench.enqueue(Ect0).is_ok()));
    let marked = std::iter::from_fn(|| bench.dequeue()).filter(|ecn| *ecn == Ce).count();
    assert!(marked >= 7 && bench.marks() == marked as u64, "{marked}");
}

#[test]
fn out_of_control_even_who_takes_marks_is_dropped() {
    // Gentle at avg 20: p_b = 0.4, above mark_p = 0.1.
    let mut bench = full_bench(20.0, "");
    assert!((0..30).any(|_| bench.enqueue(Ect0) == Err(DropReason::Aqm)));
    assert_eq!(bench.marks(), 0);
    let mut bench = full_bench(20.0, r#", "mark_p": 1"#);
    assert!((0..30).all(|_| bench.enqueue(Ect0).is_ok()));
    assert!(bench.marks() > 5);
    let mut bench = full_bench(16.0, r#", "gentle": false"#);
    assert!((0..30).all(|_| bench.enqueue(Ect0) == Err(DropReason::Aqm)));
    // Linux marks there too.
    let mut bench = full_bench(16.0, r#", "gentle": false, "hard_drop": false"#);
    assert!((0..30).all(|_| bench.enqueue(Ect0).is_ok()));
    assert_eq!(bench.marks(), 30);
}
