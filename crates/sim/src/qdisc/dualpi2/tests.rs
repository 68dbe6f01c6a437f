//! The vectors of RFC 9332's controller and scheduler, computed by hand from their formulas, and what each key changes.

use super::super::bench::Bench;
use super::control::Control;
use super::*;
use crate::qdisc::Qdisc;
use crate::scenario::DualPi2Profile;
use tcp::Ecn::{Ce, Ect0, Ect1, NotEct};

fn at(nanos: u64) -> Time {
    Time::from_nanos(nanos)
}

fn at_ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

fn bench(more: &str) -> Bench {
    Bench::new(&format!(r#"{{"kind": "dualpi2"{more}}}"#))
}

fn inside(bench: &mut Bench) -> &mut DualPi2 {
    let Qdisc::DualPi2(queue) = &mut bench.queue else { panic!("the bench holds DualPI2") };
    queue
}

fn control(profile: DualPi2Profile) -> Control {
    let def = DualPi2Def { profile: Some(profile), ..DualPi2Def::default() }.with_defaults();
    let gains = [def.alpha.unwrap(), def.beta.unwrap()];
    Control::new(def.target.unwrap(), def.update.unwrap(), gains, 1.0)
}

#[test]
fn the_controller_follows_the_ages_of_heads_by_rfc_9332_a_1() {
    let ages_ms = [0, 8, 24, 40, 30, 20, 15, 15, 5, 0];
    let linux = [
        0.0, 0.02447266, 0.07710156, 0.13229297, 0.10270313, 0.07151172, 0.05551563, 0.05551563, 0.02192188, 0.00352344,
    ];
    let rfc = [0.0, 0.02295, 0.0723, 0.12405, 0.0963, 0.06705, 0.05205, 0.05205, 0.02055, 0.0033];
    for (profile, expected) in [(DualPi2Profile::Linux, linux), (DualPi2Profile::Rfc, rfc)] {
        let mut control = control(profile);
        for (age, p) in ages_ms.iter().zip(expected) {
            control.step(f64::from(*age) / 1e3);
            assert!((control.p - p).abs() < 5.1e-9, "{profile:?}, {age} ms: {} and not {p}", control.p);
        }
    }
}

#[test]
fn an_empty_queue_takes_42_updates_from_a_tenth_to_nothing() {
    // Internet 1.1 (f): alpha x target a step, 0.1 / (0.160156 x 0.015) = 41.6.
    let mut control = control(DualPi2Profile::Linux);
    control.p = 0.1;
    let mut steps = 0;
    while control.p > 0.0 {
        control.step(0.0);
        steps += 1;
    }
    assert_eq!(steps, 42);
}

#[test]
fn updates_are_caught_up_with_the_age_that_the_head_had_at_each_of_them() {
    // One packet that came at 3 ms; asked at 50 ms, after the updates at 16, 32 and 48 ms.
    let mut bench = bench("");
    bench.at(at_ms(3));
    bench.enqueue(NotEct).unwrap();
    let p = inside(&mut bench).sample(at_ms(50)).p.unwrap();
    let mut by_hand = control(DualPi2Profile::Linux);
    [13.0, 29.0, 45.0].iter().for_each(|age| by_hand.step(age / 1e3));
    assert!((p - by_hand.p).abs() < 1e-15 && p > 0.1, "{p} {}", by_hand.p);
    // The controller of an L that waits: only profile `linux` looks at it.
    for (more, sees) in [("", true), (r#", "delay": "classic""#, false), (r#", "profile": "rfc""#, false)] {
        let mut bench = self::bench(more);
        bench.enqueue(Ect1).unwrap();
        assert_eq!(inside(&mut bench).sample(at_ms(50)).p.unwrap() > 0.0, sees, "{more}");
    }
}

/// A queue whose controller stands at p, both queues holding `held` packets of 1500 B.
fn held_at(p: f64, more: &str, held: usize) -> Bench {
    let mut bench = bench(&format!(r#", "limit": "unlimited"{more}"#));
    inside(&mut bench).control = Control::new(Span::from_millis(15), Span::from_millis(1_000_000), [0.0, 0.0], 1.0);
    inside(&mut bench).control.p = p;
    for _ in 0..held {
        bench.enqueue_of(0, 1500, Ect1).unwrap();
        bench.enqueue_of(1, 1500, NotEct).unwrap();
    }
    bench
}

#[test]
fn the_classic_probability_is_the_square_and_that_of_l_the_double() {
    for (p, low) in [(0.1, 0.2), (0.25, 0.5), (0.5, 1.0), (0.6, 1.0)] {
        let mut bench = held_at(p, "", 1);
        let sample = inside(&mut bench).sample(Time::ZERO);
        assert_eq!((sample.p, sample.p_low), (Some(p), Some(low)));
    }
    // p_C = p²: 0.01, 0.0625, 0.25, 0.36, seen over evenly spread decisions of 10,000 packets.
    for (p, share) in [(0.1, 0.01), (0.25, 0.0625), (0.5, 0.25), (0.6, 0.36)] {
        let mut chance = Chance::new(Draws::Recur, Rng::stream(1, "unused"));
        let chosen = (0..10_000).filter(|_| chance.squared(Class::Classic, p)).count() as f64;
        assert!((chosen - 10_000.0 * share).abs() <= 1.0, "{p}: {chosen}");
    }
}

#[test]
fn linux_spares_what_leaves_fewer_than_two_packets_and_the_rfc_spares_nothing() {
    // p' = 1: whatever is not spared is marked in L.
    for (profile, behind, marked) in [("linux", 1, false), ("linux", 2, true), ("rfc", 0, true), ("rfc", 1, true)] {
        let mut bench = held_at(1.0, &format!(r#", "profile": "{profile}", "overload": "mark", "draws": "random""#), 0);
        (0..=behind).for_each(|_| bench.enqueue_of(0, 1500, Ect1).unwrap());
        assert_eq!(bench.dequeue(), Some(if marked { Ce } else { Ect1 }), "{profile}, {behind} behind it");
    }
}

#[test]
fn the_ramp_of_l_is_that_of_rfc_9332_a_1() {
    let mut bench = bench(r#", "profile": "rfc""#);
    let queue = inside(&mut bench);
    for (waited_us, p) in [(0, 0.0), (800, 0.0), (900, 0.25), (1000, 0.5), (1199, 0.9975), (1200, 1.0), (9000, 1.0)] {
        assert!((queue.ramp(Span::from_micros(waited_us), 1) - p).abs() < 1e-12, "{waited_us}");
    }
    assert_eq!(queue.ramp(Span::from_micros(1200), 0), 0.0, "a packet that found L empty");
}

#[test]
fn weighted_round_robin_serves_by_its_weights() {
    let mut bench = held_at(0.0, "", 40);
    let (mut order, mut credits) = (String::new(), Vec::new());
    for _ in 0..30 {
        order.push(if bench.dequeue().unwrap() == Ect1 { 'L' } else { 'C' });
        credits.push(inside(&mut bench).scheduler.credit());
    }
    assert_eq!(order, "LLLLLLLLLC".repeat(3));
    assert_eq!([credits[0], credits[1], credits[8], credits[9]], [-106_120.0, -91_120.0, 13_880.0, -121_120.0]);
    // L of 200 B against C of 1500 B: by bytes all the same.
    let mut bench = self::bench(r#", "limit": "unlimited""#);
    let mut bytes = [0, 0];
    let arrive = |bench: &mut Bench, flow| match flow {
        0 => bench.enqueue_of(0, 200, Ect1).unwrap(),
        _ => bench.enqueue_of(1, 1500, NotEct).unwrap(),
    };
    (0..20).for_each(|packet| arrive(&mut bench, packet % 2));
    for _ in 0..30_000 {
        let packet = bench.dequeue_packet().unwrap();
        bytes[packet.to.flow().index()] += packet.size.0;
        arrive(&mut bench, packet.to.flow().0);
    }
    let share = bytes[1] as f64 / (bytes[0] + bytes[1]) as f64;
    assert!((share - 0.0999).abs() < 0.002, "{share}");
}

#[test]
fn the_credit_starts_again_when_both_queues_have_been_empty() {
    let mut bench = held_at(0.0, "", 5);
    while bench.dequeue().is_some() {}
    bench.enqueue(Ect1).unwrap();
    assert_eq!(inside(&mut bench).scheduler.credit(), -121_120.0);
}

#[test]
fn time_shifted_serves_l_as_if_it_had_come_earlier() {
    let mut bench = bench(r#", "scheduler": {"kind": "time_shifted", "shift": "50ms"}"#);
    bench.enqueue(NotEct).unwrap();
    bench.at(at_ms(50));
    bench.enqueue(Ect1).unwrap();
    bench.at(at_ms(51));
    // The C packet is exactly 50 ms older: L goes first.
    assert_eq!(bench.dequeue(), Some(Ect1));
    bench.at(at(51_000_001));
    bench.enqueue(Ect1).unwrap();
    assert_eq!([bench.dequeue(), bench.dequeue()], [Some(NotEct), Some(Ect1)]);
}

#[test]
fn recur_chooses_each_fourth_packet_at_a_quarter_by_rfc_9332_a_1() {
    let mut chance = Chance::new(Draws::Recur, Rng::stream(1, "unused"));
    let chosen: Vec<u32> = (1..=14).filter(|_| chance.once(Class::Low, 0.25)).collect();
    assert_eq!(chosen, [5, 9, 13]);
}

#[test]
fn shares_of_drops_and_marks_are_those_of_coupled_probabilities() {
    // p' at 0.25: of 10^6 packets each C drops 62,500 ± 1,200 and L marks 500,000 ± 2,500, five standard deviations.
    let mut bench = held_at(0.25, r#", "l_aqm": {"kind": "step", "threshold": "900s"}"#, 3);
    let (mut low, mut marks, mut left) = (0, 0, 0);
    while low < 1_000_000 || left < 1_000_000 {
        if bench.queue.packets() < 8 {
            for _ in 0..8 {
                bench.enqueue_of(0, 1500, Ect1).unwrap();
                bench.enqueue_of(1, 1500, NotEct).unwrap();
            }
        }
        let packet = bench.dequeue_packet().unwrap();
        if packet.to.flow().0 == 0 && low < 1_000_000 {
            low += 1;
            marks += u32::from(packet.ecn() == Ce);
        }
        left += u64::from(packet.to.flow().0 == 1);
        if left + bench.drops(DropReason::Aqm) >= 1_000_000 && low >= 1_000_000 {
            break;
        }
    }
    let share = bench.drops(DropReason::Aqm) as f64 / (left + bench.drops(DropReason::Aqm)) as f64;
    assert!((f64::from(marks) - 500_000.0).abs() < 2_500.0, "{marks}");
    assert!((share - 0.0625).abs() < 0.0012, "{share}");
}

#[test]
fn packets_are_told_apart_by_their_ecn_field() {
    for (more, low) in [("", vec![Ect1, Ce]), (r#", "classify": "any_ect""#, vec![Ect0, Ect1, Ce])] {
        let mut bench = bench(more);
        [NotEct, Ect0, Ect1, Ce].iter().for_each(|ecn| bench.enqueue(*ecn).unwrap());
        let sample = inside(&mut bench).sample(Time::ZERO);
        assert_eq!(sample.low, Some(Bytes(1000 * low.len() as u64)), "{more}");
        assert_eq!(sample.classic, Some(Bytes(4000 - 1000 * low.len() as u64)), "{more}");
    }
}

#[test]
fn the_step_marks_what_waited_longer_than_its_threshold_once() {
    // Too few bytes wait for the controller to act; the step acts all the same.
    for (min_packets, waited_us, marks) in [(0, 1000, 0), (0, 1001, 1), (1, 1001, 0), (1, 5000, 0)] {
        let mut bench = bench(&format!(r#", "l_aqm": {{"kind": "step", "min_packets": {min_packets}}}"#));
        bench.enqueue(Ect1).unwrap();
        bench.at(at(1000 * waited_us));
        let expected = if marks > 0 { Ce } else { Ect1 };
        assert_eq!((bench.dequeue(), bench.marks()), (Some(expected), marks), "{min_packets}, {waited_us} us");
    }
    // With min_packets = 1 the second packet, which found one, is marked; one that is CE already is not counted again.
    let mut bench = bench(r#", "l_aqm": {"kind": "step", "min_packets": 1}"#);
    [Ect1, Ect1, Ce].iter().for_each(|ecn| bench.enqueue(*ecn).unwrap());
    bench.at(at_ms(2));
    assert_eq!([bench.dequeue(), bench.dequeue(), bench.dequeue()], [Some(Ect1), Some(Ce), Some(Ce)]);
    let QueueReport::DualPi2(report) = inside(&mut bench).report(at_ms(2)) else { panic!() };
    assert_eq!((report.marks_step, report.marks_coupled, report.l_packets, bench.marks()), (1, 0, 3, 1));
}

#[test]
fn overload_drops_from_both_queues_or_marks_without_end() {
    // p' = 0.6, k p' = 1.2: L drops 0.36 and marks the rest; C drops 0.36, ECN-capable or not.
    let count = |more: &str, ecn| {
        let mut bench = held_at(0.6, more, 8);
        for _ in 0..4000 {
            bench.enqueue_of(2, 1500, ecn).unwrap();
        }
        let (mut left, mut marked) = (0, 0);
        while let Some(packet) = bench.dequeue_packet() {
            left += u32::from(packet.to.flow().0 == 2);
            marked += u32::from(packet.to.flow().0 == 2 && packet.ecn() == Ce);
        }
        (f64::from(left) / 4000.0, marked, left)
    };
    for ecn in [Ect0, Ect1] {
        let (share, marked, left) = count("", ecn);
        assert!((share - 0.64).abs() < 0.04, "{ecn:?}: {share}");
        assert!(if ecn == Ect1 { marked + 8 > left } else { marked == 0 }, "{ecn:?}: {marked} of {left}");
    }
    // "mark" holds p' at 1/k, where C is not overloaded: it marks p'² of what can be marked.
    let mut bench = bench(r#", "overload": "mark""#);
    bench.enqueue(NotEct).unwrap();
    assert_eq!(inside(&mut bench).sample(at_ms(10_000)).p, Some(0.5));
}

#[test]
fn arrivals_are_dropped_instead_where_the_scenario_says_so() {
    let mut bench = held_at(0.5, r#", "drop_at": "enqueue", "draws": "recur""#, 3);
    // p'² = 0.25 adds up to more than 1 at every fourth packet after the first four; those of `held_at` began before two
    // packets waited.
    let refused = (0..40).filter(|_| bench.enqueue_of(1, 1500, NotEct) == Err(DropReason::Aqm)).count();
    assert!((9..=11).contains(&refused), "{refused}");
    let waiting = bench.queue.packets();
    let left = std::iter::from_fn(|| bench.dequeue()).count() as u64;
    assert_eq!((left, bench.drops(DropReason::Aqm)), (waiting, 0), "nothing is decided twice");
}

#[test]
fn the_limit_covers_both_queues() {
    let mut bench = bench(r#", "limit": "4p""#);
    let results = [Ect1, NotEct, Ect1, NotEct, Ect1, NotEct].map(|ecn| bench.enqueue(ecn).is_ok());
    assert_eq!(results, [true, true, true, true, false, false]);
    let QueueReport::DualPi2(report) = inside(&mut bench).report(Time::ZERO) else { panic!() };
    assert_eq!((report.drops_queue, report.l_drops, report.c_drops), (2, 1, 1));
    // RFC 9332, Appendix A.1: 250 ms at the 10 Mb/s of the bench.
    let mut bench = self::bench(r#", "profile": "rfc""#);
    assert_eq!(inside(&mut bench).limit, Limit::Bytes(Bytes(312_500)));
}

#[test]
fn looking_at_the_head_takes_nothing_and_taking_leaves_the_rest() {
    let mut bench = bench("");
    for (flow, size, ecn) in [(0, 1000, Ect1), (1, 900, NotEct), (0, 800, Ect1)] {
        bench.enqueue_of(flow, size, ecn).unwrap();
    }
    assert_eq!([bench.peek(), bench.peek()], [Some((0, Bytes(1000))); 2]);
    assert_eq!((bench.queue.packets(), bench.queue.bytes()), (3, Bytes(2700)));
    assert_eq!((bench.take(1000), bench.queue.packets(), bench.queue.bytes()), (1, 2, Bytes(1700)));
    assert_eq!((bench.take(900), bench.dequeue(), bench.dequeue()), (1, Some(Ect1), None));
}

#[test]
fn a_limit_in_bytes_takes_small_packets_only_while_a_full_one_fits() {
    let mut bench = bench(r#", "profile": "rfc", "limit": "4200B""#);
    // 4060 B wait in the end: 140 B are left, less than an MTU.
    for size in [1500, 900, 60, 100, 1500] {
        assert_eq!(bench.enqueue_of(0, size, NotEct), Ok(()), "{size}");
    }
    for size in [60, 100, 1500] {
        assert_eq!(bench.enqueue_of(0, size, NotEct), Err(DropReason::Queue), "{size}");
    }
}
