//! Vectors of internet §1.2, and the rules one by one.

use tcp::Ecn::{Ce, Ect0, NotEct};
use tcp::units::{Bytes, Rate, Span, Time};

use super::super::bench::Bench;
use super::super::report::HostBytes;
use super::tin::Tin;
use crate::ids::NodeId;
use crate::packet::DropReason;
use crate::qdisc::QueueReport;
use crate::scenario::{CakeDef, Overhead, Queue};

fn def(text: &str) -> CakeDef {
    match serde_json::from_str(text) {
        Ok(Queue::Cake(def)) => def.with_defaults(),
        other => panic!("{other:?}"),
    }
}

fn sizes_on_line(overhead: &str) -> Vec<u64> {
    let text = format!(r#"{{"kind": "cake", "overhead": "{overhead}"}}"#);
    let Overhead::Framed(framing) = def(&text).overhead else { panic!("{overhead} is a framing") };
    [40, 52, 576, 1492, 1500].map(|size| framing.on_line(Bytes(size)).0).to_vec()
}

#[test]
fn sizes_on_the_lines_of_tc_cake() {
    // (a)
    assert_eq!(sizes_on_line("ethernet"), [84, 90, 614, 1530, 1538]);
    assert_eq!(sizes_on_line("docsis"), [64, 70, 594, 1510, 1518]);
    assert_eq!(sizes_on_line("bridged_ptm"), [63, 76, 608, 1538, 1546]);
    assert_eq!(sizes_on_line("pppoe_ptm"), [72, 84, 616, 1546, 1554]);
    assert_eq!(sizes_on_line("pppoe_vcmux"), [106, 106, 689, 1696, 1696]);
    assert_eq!(sizes_on_line("pppoe_llcsnap"), [106, 106, 689, 1696, 1749]);
    assert_eq!(sizes_on_line("conservative"), [106, 159, 689, 1749, 1749]);
    assert_eq!(sizes_on_line("ethernet ether_vlan"), [84, 94, 618, 1534, 1542]);
}

#[test]
fn settings_follow_from_the_rate() {
    // (b)
    let vectors = [
        (512_000, 35.484_4, 130.484_4, 300, 4 << 20),
        (1_000_000, 18.168, 113.168, 300, 4 << 20),
        (2_000_000, 9.084, 104.084, 300, 4 << 20),
        (5_000_000, 5.0, 100.0, 300, 4 << 20),
        (10_000_000, 5.0, 100.0, 305, 4 << 20),
        (20_000_000, 5.0, 100.0, 610, 4 << 20),
        (100_000_000, 5.0, 100.0, 1514, 5_000_000),
    ];
    for (bps, target_ms, interval_ms, quantum, memory) in vectors {
        let def = def(&format!(r#"{{"kind": "cake", "rate": "{bps}bps"}}"#));
        let tin = Tin::new(Rate::from_bps(bps), [def.target.unwrap(), def.rtt], 1024);
        assert!((1e3 * tin.settings.target.as_secs_f64() - target_ms).abs() < 1e-4, "{bps}");
        assert!((1e3 * tin.settings.interval.as_secs_f64() - interval_ms).abs() < 1e-4, "{bps}");
        assert_eq!((tin.quantum(), def.memory), (quantum, Some(Bytes(memory))), "{bps}");
    }
}

fn bench(keys: &str) -> Bench {
    Bench::new(&format!(r#"{{"kind": "cake", {keys}}}"#))
}

#[test]
fn the_shaper_spaces_packets_evenly_without_a_burst() {
    let mut bench = bench(r#""rate": "12Mbps", "tins": "besteffort""#);
    (0..4).for_each(|_| bench.enqueue_of(0, 1500, NotEct).unwrap());
    let starts: Vec<u64> = bench.departures().iter().map(|(_, _, at)| at.as_nanos() / 1000).collect();
    assert_eq!(starts, [0, 1000, 2000, 3000]);
    // A pause earns nothing.
    bench.at(Time::ZERO + Span::from_millis(50));
    (0..2).for_each(|_| bench.enqueue_of(0, 1500, NotEct).unwrap());
    let starts: Vec<u64> = bench.departures().iter().map(|(_, _, at)| at.as_nanos() / 1000).collect();
    assert_eq!(starts, [50_000, 51_000]);
}

/// The parts of so many packets that each sending node of `groups` of flows has, all of them backlogged.
fn shares(isolate: &str, groups: &[u32]) -> Vec<f64> {
    const PACKETS: usize = 20_000;
    let mut bench = bench(&format!(r#""isolate": "{isolate}", "tins": "besteffort""#));
    bench.gather(groups);
    let group_of = |flow: u32| {
        let mut first = 0;
        groups.iter().position(|count| {
            first += count;
            flow < first
        })
    };
    let flows: u32 = groups.iter().sum();
    (0..flows).for_each(|flow| (0..4).for_each(|_| bench.enqueue_of(flow, 1500, NotEct).unwrap()));
    let mut sent = vec![0; groups.len()];
    for _ in 0..PACKETS {
        let flow = bench.dequeue_packet().unwrap().to.flow().0;
        sent[group_of(flow).unwrap()] += 1;
        bench.enqueue_of(flow, 1500, NotEct).unwrap();
    }
    sent.iter().map(|count| f64::from(*count) / PACKETS as f64).collect()
}

#[test]
fn hosts_share_equally_whatever_their_flows() {
    // (f), at a tenth of its packets.
    let near = |found: Vec<f64>, expected: &[f64]| found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1.5e-3);
    assert!(near(shares("dual_src", &[1, 9]), &[0.5, 0.5]), "{:?}", shares("dual_src", &[1, 9]));
    assert!(near(shares("dual_src", &[1, 4, 16]), &[1.0 / 3.0; 3]), "{:?}", shares("dual_src", &[1, 4, 16]));
    assert!(near(shares("flows", &[1, 9]), &[0.1, 0.9]));
    // They have one receiver, whose flows share alike.
    assert!(near(shares("triple", &[1, 9]), &[0.1, 0.9]));
}

#[test]
fn the_last_packet_of_a_queue_is_marked_but_not_dropped() {
    let mut bench = bench(r#""tins": "besteffort""#);
    for step in 0..30_u64 {
        // One packet at a time, far over target for long.
        bench.at(Time::ZERO + Span::from_millis(200 * step));
        bench.enqueue(if step % 2 == 0 { NotEct } else { Ect0 }).unwrap();
        bench.at(Time::ZERO + Span::from_millis(200 * step + 150));
        assert!(bench.dequeue().is_some());
    }
    assert_eq!(bench.drops(DropReason::Aqm), 0);
}

#[test]
fn a_queue_over_target_is_marked_or_dropped() {
    for (ecn, marked) in [(Ect0, true), (NotEct, false)] {
        let mut bench = bench(r#""tins": "besteffort""#);
        (0..300).for_each(|_| bench.enqueue(ecn).unwrap());
        let mut left = Vec::new();
        for ms in 6..250 {
            bench.at(Time::ZERO + Span::from_millis(ms));
            left.push(bench.dequeue().unwrap());
        }
        // Drops follow at 100 and 170.7 ms after the first packet over target.
        assert_eq!((bench.marks(), bench.drops(DropReason::Aqm)), if marked { (3, 0) } else { (0, 3) });
        assert_eq!(left.contains(&Ce), marked);
    }
}

#[test]
fn a_full_memory_drops_the_head_of_the_longest_queue() {
    let mut bench = bench(r#""memory": "11600B", "tins": "besteffort""#);
    (0..4).for_each(|_| bench.enqueue_of(0, 1000, NotEct).unwrap());
    (0..2).for_each(|_| bench.enqueue_of(2, 1000, NotEct).unwrap());
    assert_eq!(bench.drops(DropReason::Queue), 1);
    let left: Vec<u32> = bench.departures().iter().map(|(flow, ..)| *flow).collect();
    assert_eq!(left.iter().filter(|flow| **flow == 0).count(), 3);
}

#[test]
fn memory_is_that_of_buffers_as_in_linux() {
    // sk_buff 256 B and a slab of 512 B or 2048 B: 4 MiB hold 5461 datagrams of 44 B, 1820 of 1500 B.
    for (size, holds) in [(44, 5461), (114, 5461), (115, 3276), (1500, 1820)] {
        let mut bench = bench(r#""memory": "4194304B", "tins": "besteffort""#);
        (0..6000).for_each(|_| bench.enqueue_of(0, size, NotEct).unwrap());
        assert_eq!(bench.queue.packets(), holds, "{size}");
    }
}

#[test]
fn a_tin_reports_as_tc_does() {
    let mut bench = bench(r#""rate": "12Mbps", "tins": "diffserv3", "ack_filter": "off""#);
    bench.set_dscp(2, "EF");
    (0..3).for_each(|_| bench.enqueue_of(0, 1500, NotEct).unwrap());
    bench.enqueue_of(2, 200, NotEct).unwrap();
    assert_eq!(bench.departures().len(), 4);
    let Some(QueueReport::Cake { tins, .. }) = bench.queue.report(Time::ZERO) else { panic!("tins") };
    let counts: Vec<_> = tins.iter().map(|tin| (tin.tin, tin.sent, tin.bytes, tin.way_misses)).collect();
    assert_eq!(counts, [("best_effort", 3, 4500, 1), ("bulk", 0, 0, 0), ("voice", 1, 200, 1)]);
    let [best_effort, bulk, voice] = &tins[..] else { panic!("three tins") };
    assert_eq!((best_effort.sparse_max, best_effort.bulk_max, voice.bulk_max), (1, 1, 0));
    // Voice goes first, 200 B of it.
    assert_eq!((best_effort.delay_max_s, bulk.delay_max_s), (Some(0.002_133_334), None));
    assert!((bulk.target_s - 1.5 * 1514.0 * 8.0 / 750e3).abs() < 1e-8);
    assert_eq!((best_effort.drops, best_effort.marks, best_effort.way_hits, best_effort.way_collisions), (0, 0, 0, 0));
}

#[test]
fn bytes_are_counted_by_host_from_the_warm_up_on() {
    let mut bench = bench(r#""tins": "besteffort""#);
    // Flows 0 and 1 start at node 1, flow 2 at node 2; all packets are for node 1.
    for (flow, size) in [(0, 1500), (1, 300), (2, 200)] {
        bench.enqueue_of(flow, size, NotEct).unwrap();
    }
    assert_eq!(bench.departures().len(), 3);
    let hosts = bench.queue.host_bytes().unwrap();
    assert_eq!(hosts.by_source, [(NodeId(1), Bytes(1800)), (NodeId(2), Bytes(200))].into());
    assert_eq!(hosts.by_destination, [(NodeId(1), Bytes(2000))].into());
    bench.queue.on_warmup_end(Time::ZERO);
    assert_eq!(bench.queue.host_bytes(), Some(&HostBytes::default()));
}
