use super::super::bench::Bench;
use crate::qdisc::QueueReport;
use std::collections::BTreeMap;
use tcp::Ecn::NotEct;
use tcp::units::{Span, Time};

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// Bytes that flows have sent between two times, of those that leave an infinitely fast transmitter.
fn sent(left: &[(u32, u64, Time)], [from, to]: [u64; 2]) -> BTreeMap<u32, u64> {
    let mut sums = BTreeMap::new();
    for (flow, size, _) in left.iter().filter(|(.., time)| (at(from)..at(to)).contains(time)) {
        *sums.entry(*flow).or_default() += size;
    }
    sums
}

/// Flow n has the n-th code point, and so many packets of 1000 B of it wait from the start.
fn run(classes: &str, waiting: &[(&str, u64)], more: &str) -> (Bench, Vec<(u32, u64, Time)>) {
    let mut bench = Bench::new(&format!(r#"{{"kind": "htb", "classes": [{classes}]{more}}}"#));
    for (flow, (dscp, packets)) in waiting.iter().enumerate() {
        bench.set_dscp(flow as u32, dscp);
        (0..*packets).for_each(|_| bench.enqueue_of(flow as u32, 1000, NotEct).unwrap());
    }
    let left = bench.departures();
    (bench, left)
}

fn leaf(name: &str, rate: &str, more: &str) -> String {
    format!(
        r#"{{"name": "{name}", "parent": "all", "rate": "{rate}", "ceiling": "8Mbps", "dscp": ["{name}"],
        "queue": "9000p"{more}}}"#
    )
}

const ALL: &str = r#"{"name": "all", "rate": "8Mbps"}"#;

#[test]
fn each_has_its_rate_and_lends_what_it_does_not_use() {
    let classes = [ALL.into(), leaf("EF", "2Mbps", ""), leaf("CS1", "1Mbps", ""), leaf("DF", "5Mbps", "")].join(",");
    // 1 MB/s in all. All three for a second, then one ends.
    let (mut bench, left) = run(&classes, &[("EF", 250), ("CS1", 2000), ("DF", 4000)], "");
    let first = sent(&left, [100, 900]);
    for (flow, share) in [(0, 200_000.0), (1, 100_000.0), (2, 500_000.0)] {
        let part = first[&flow] as f64 / 0.8;
        assert!((part / share / 1.25 - 1.0).abs() < 0.03, "flow {flow}: {part} B/s");
    }
    // What EF leaves goes to the others by their quanta, 1 Mb/s and 5 Mb/s in 0.1 s: 12.5 and 62.5 kB.
    let later = sent(&left, [1200, 2700]);
    let [cs1, df] = [1, 2].map(|flow| later[&flow] as f64 / 1.5);
    assert!(((cs1 - 125_000.0) / (df - 625_000.0) - 0.2).abs() < 0.03, "{cs1} {df}");
    assert!((cs1 + df - 1e6).abs() < 5e3, "{}", cs1 + df);
    let Some(QueueReport::Htb { classes }) = bench.queue.report(at(5000)) else { panic!("classes") };
    let counts: Vec<_> = classes.iter().map(|class| (class.class.as_str(), class.packets)).collect();
    assert_eq!(counts, [("all", 0), ("EF", 250), ("CS1", 2000), ("DF", 4000)]);
    assert_eq!(classes[0].lent, classes.iter().map(|class| class.borrowed).sum::<u64>());
}

#[test]
fn nothing_is_above_its_ceiling_over_any_second() {
    let capped =
        r#"{"name": "CS1", "parent": "all", "rate": "1Mbps", "ceiling": "3Mbps", "dscp": ["CS1"], "queue": "9000p"}"#;
    let classes = [ALL, capped, &leaf("DF", "1Mbps", "")].join(",");
    let (_, left) = run(&classes, &[("CS1", 1500), ("DF", 100)], "");
    for start in (0..3000).step_by(50) {
        let bytes = sent(&left, [start, start + 1000]);
        let own = bytes.get(&0).copied().unwrap_or(0);
        assert!(own <= 375_000 + 1600 + 1000, "{own} B from {start} ms on");
    }
    // Alone it has its ceiling, within 1 %.
    let alone = sent(&left, [1000, 3000])[&0] as f64 / 2.0;
    assert!((alone / 375_000.0 - 1.0).abs() < 0.01, "{alone}");
}

#[test]
fn who_goes_first_takes_all_that_is_lent() {
    let classes =
        [ALL.into(), leaf("EF", "1Mbps", r#", "priority": 0"#), leaf("DF", "1Mbps", r#", "priority": 1"#)].join(",");
    let (_, left) = run(&classes, &[("EF", 1500), ("DF", 1500)], "");
    let bytes = sent(&left, [100, 1100]);
    assert!((bytes[&1] as f64 - 125_000.0).abs() < 3_000.0 && bytes[&0] > 870_000, "{bytes:?}");
}

#[test]
fn three_levels_lend_from_the_nearest_one() {
    let classes = r#"{"name": "line", "rate": "8Mbps"},
        {"name": "a", "parent": "line", "rate": "6Mbps", "ceiling": "8Mbps"}, {"name": "b", "parent": "line", "rate": "2Mbps", "ceiling": "8Mbps"},
        {"name": "a1", "parent": "a", "rate": "1Mbps", "ceiling": "8Mbps", "dscp": ["EF"], "queue": "9000p"},
        {"name": "a2", "parent": "a", "rate": "1Mbps", "ceiling": "8Mbps", "dscp": ["CS1"], "queue": "9000p"},
        {"name": "b1", "parent": "b", "rate": "1Mbps", "ceiling": "8Mbps", "queue": "9000p"}"#;
    let (_, left) = run(classes, &[("EF", 3000), ("CS1", 200), ("DF", 3000)], "");
    // As long as a2 has packets, a1 and a2 share 6 Mb/s; afterwards a1 has all of it, and b1 its 2 Mb/s throughout.
    let both = sent(&left, [50, 450]);
    assert!((both[&0] as f64 / both[&1] as f64 - 1.0).abs() < 0.1, "{both:?}");
    let alone = sent(&left, [1000, 3000]);
    assert!((alone[&0] as f64 / 1_500_000.0 - 1.0).abs() < 0.01, "{alone:?}");
    assert!((alone[&2] as f64 / 500_000.0 - 1.0).abs() < 0.01, "{alone:?}");
}

#[test]
fn rates_change_at_their_times_and_whoever_waits_is_asked_again() {
    let class = r#"{"name": "all", "rate": "80kbps", "queue": "9000p", "changes": [{"at": "1s", "rate": "8Mbps", "ceiling": "8Mbps"}]}"#;
    let (_, left) = run(class, &[("DF", 1000)], "");
    // 10 kB/s with a burst of 1600 B, then 1 MB/s at once, although the next packet would have been due later.
    let (slow, fast) = (sent(&left, [0, 1000])[&0], sent(&left, [1000, 1500])[&0]);
    assert!((slow as i64 - 12_000).abs() <= 1000 && (fast as i64 - 500_000).abs() <= 2000, "{slow} {fast}");
}

#[test]
fn between_wake_ups_no_more_than_a_burst_is_saved() {
    // 112.5 kB fall due between ticks of 1 ms at 900 Mb/s; the bucket saves 5 kB: five packets and one on credit.
    let class = r#"{"name": "all", "rate": "900Mbps", "burst": "5000B", "ceiling_burst": "5000B", "queue": "9000p"}"#;
    let (_, left) = run(class, &[("DF", 600)], r#", "wake": "1ms""#);
    let times: std::collections::BTreeSet<Time> = left.iter().map(|(.., time)| *time).collect();
    assert_eq!(left.len() as u64 / times.len() as u64, 6);
    assert!(times.iter().all(|time| time.as_nanos() % 1_000_000 == 0));
    let (_, exact) = run(class, &[("DF", 600)], "");
    assert!(exact.last().unwrap().2 < at(6));
}

#[test]
fn overhead_is_what_the_rate_is_spent_on() {
    // 1000 B in 22 cells of 53 B.
    let class = r#"{"name": "all", "rate": "8Mbps", "queue": "9000p"}"#;
    let (_, left) = run(class, &[("DF", 1000)], r#", "overhead": {"bytes": 40, "framing": "atm"}"#);
    let rate = sent(&left, [0, 500])[&0] as f64 / 0.5;
    assert!((rate / (1e6 * 1000.0 / (22.0 * 53.0)) - 1.0).abs() < 0.01, "{rate}");
}

#[test]
fn cake_stands_in_a_leaf_and_behind_another_shaper() {
    let leaf = r#"{"name": "all", "rate": "8Mbps", "queue": {"kind": "cake", "rate": "4Mbps", "tins": "besteffort"}}"#;
    let (_, left) = run(leaf, &[("DF", 400)], "");
    let rate = sent(&left, [100, 600])[&0] as f64 / 0.5;
    assert!((rate / 500_000.0 - 1.0).abs() < 0.01, "{rate}");
    let mut bench = Bench::new(
        r#"{"kind": "tbf", "rate": "2Mbps", "burst": "1000B", "queue": {"kind": "cake", "overhead": "docsis"}}"#,
    );
    (0..100).for_each(|_| bench.enqueue_of(0, 1000, NotEct).unwrap());
    assert_eq!((bench.take(1000), bench.queue.packets()), (100, 0));
    (0..100).for_each(|_| bench.enqueue_of(0, 1000, NotEct).unwrap());
    let rate = sent(&bench.departures(), [0, 200])[&0] as f64 / 0.2;
    assert!((rate / 250_000.0 - 1.0).abs() < 0.03, "{rate}");
}
