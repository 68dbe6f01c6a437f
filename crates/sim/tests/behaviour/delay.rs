//! Algorithms that listen to the delay: Veno, YeAH, Illinois, CDG, Compound.

use crate::common::{one_flow, run, scenario};
use serde_json::{Value, json};
use sim::Simulation;

const MSS: f64 = 1460.0;
const PACKET: f64 = 1500.0;

/// cwnd in segments at these times (s), sampled every 10 ms.
fn windows(mut world: Value, times: &[f64]) -> Vec<f64> {
    world["record"] = json!({"series": ["cwnd"], "every": "10ms"});
    let outcome = Simulation::new(&scenario(&world), 1).unwrap_or_else(|e| panic!("{e}")).run();
    let column = &outcome.series[0].1;
    let at = |time: &f64| column.t_s.iter().position(|t| t >= time).expect("the run is long enough");
    times.iter().map(|time| column.value[at(time)] / MSS).collect()
}

/// Undelayed ACKs, a window that is validated as in Linux, slow start up to `ssthresh`.
fn tcp(name: &str, profile: &str, ssthresh: &str) -> Value {
    json!({
        "cc": {"name": name, "profile": profile}, "recovery": "sack", "ack_every": 1, "cwnd_validation": true,
        "initial_ssthresh": ssthresh,
    })
}

#[test]
fn illinois_grows_ever_slower_as_the_delay_rises() {
    // 20 Mbit/s, 100 ms, a queue of one BDP: a packet takes 0.6 ms, 168 fill the path, 336 path and queue. Slow start ends at 300,
    // the first loss cuts 336 to 168. From there W dW = alpha dt / 0.6 ms, with Illinois's alpha in 128ths.
    let mut world = one_flow("20Mbps", 50, "168p", "90s", tcp("illinois", "linux", "300p"));
    world["record"] = json!({"series": ["cwnd"], "every": "10ms"});
    let outcome = Simulation::new(&scenario(&world), 1).unwrap_or_else(|e| panic!("{e}")).run();
    let column = &outcome.series[0].1;
    let samples: Vec<(f64, f64)> = column.t_s.iter().copied().zip(column.value.iter().map(|w| w / MSS)).collect();
    let loss = samples.windows(2).position(|pair| pair[0].1 > 330.0 && pair[1].1 < 200.0).expect("a loss");
    let reached = |w: f64| samples[loss + 1..].iter().find(|s| s.1 >= w).expect("the window grows").0;
    let alpha = |w: f64| {
        let (most, mean) = (0.99 * 168.0, w - 168.0 - 1.68);
        most * 1280.0 / (most + mean * 1242.0 / 38.0) / 128.0
    };
    let time = |from: u32, to: u32| (from..to).map(|w| 0.6e-3 * f64::from(w) / alpha(f64::from(w))).sum::<f64>();
    // The delay is the mean of a round that lies one round back, so that W was lower by up to 2 alpha: 3 at W = 200 of 32 that
    // wait (9 %), 1 at 300 of 132 (1 %). On the way from 200 to 330 this is 2 %; alpha in 128ths, 40 to 200 of them, is 1 % low.
    let (low, high) = (reached(220.0) - reached(200.0), reached(330.0) - reached(310.0));
    let all = reached(330.0) - reached(200.0);
    assert!((all / time(200, 330) - 1.0).abs() < 0.03, "{all} s of {}", time(200, 330));
    assert!((low / time(200, 220) - 1.0).abs() < 0.1, "{low} s of {}", time(200, 220));
    assert!((high / time(310, 330) - 1.0).abs() < 0.03, "{high} s of {}", time(310, 330));
}

#[test]
fn veno_takes_losses_without_a_queue_for_chance() {
    // A window that keeps 0.8 at each loss and grows by one per RTT: a period from 0.8 W to W moves (1 - 0.64) W^2 / 2 = 1 / p
    // packets, mean sqrt(4.5 / p) against Reno's sqrt(1.5 / p). 15 % as for Reno in `analytic.rs`: the round of recovery
    // without growth, here one of 0.2 W = 15 (7 %), losses that are not evenly spaced, and some 500 losses a run (2 %).
    let goodput = |name: &str| {
        let mut world = one_flow("1Gbps", 50, "unlimited", "600s", tcp(name, "linux", "60p"));
        world["network"]["bottleneck"]["loss"] = json!({"kind": "packet", "p": 1e-3});
        run(&world, 1).flows[0].measures.goodput_bps
    };
    let (veno, reno) = (goodput("veno"), goodput("reno"));
    let law = MSS * 8.0 / 0.1 * f64::sqrt(4.5 / 1e-3);
    assert!((veno / law - 1.0).abs() < 0.15, "{veno} of {law}");
    // sqrt(3), with the same 15 %
    assert!(veno / reno > 1.73 * 0.85, "{veno} against Reno's {reno}");
}

#[test]
fn veno_halves_where_a_queue_stands() {
    // 10 Mbit/s, 40 ms, a queue of one BDP: losses happen with some 33 segments waiting, far above 3, so it is as full and as
    // empty as Reno. Its slower growth fills the queue twice as long: W above the BDP always, hence no idle link.
    let summary = run(&one_flow("10Mbps", 20, "34p", "120s", tcp("veno", "linux", "30p")), 1);
    let goodput = summary.flows[0].measures.goodput_bps / (10e6 * MSS / PACKET);
    assert!(goodput > 0.98, "{goodput}");
    let reno = run(&one_flow("10Mbps", 20, "34p", "120s", tcp("reno", "linux", "30p")), 1);
    let (veno, reno) = (summary.flows[0].recovery_count.unwrap(), reno.flows[0].recovery_count.unwrap());
    // From 34 to 68 segments: as Reno below N = 3, in twice the rounds above it.
    assert!(veno * 3 < reno * 2 && veno * 5 > reno * 2, "{veno} losses against Reno's {reno}");
}

#[test]
fn cdg_keeps_the_queue_short_where_reno_fills_it() {
    // 10 Mbit/s, 40 ms: 34 packets fill the path, the queue takes 100 more. Reno's window swings between 67 and 134: at least 33
    // packets wait. CDG's gradient rises to 8 x 1.2 ms as soon as eight rounds have added a packet each: from then on a round
    // passes without backoff with probability exp(-9.6 ms x 42/s) = 2/3. So eight rounds and three more on average to a
    // backoff, which empties the queue: a mean below 11 / 2; 10 leaves room for backoffs that are not taken.
    let link = |name: &str, recovery: &str| {
        let mut world = one_flow("10Mbps", 20, "100p", "120s", tcp(name, "linux", "60p"));
        world["tcp"]["recovery"] = json!(recovery);
        world["warmup"] = json!("20s");
        let summary = run(&world, 1);
        (summary.links[0].queue_mean_packets, summary.links[0].utilisation, summary.links[0].dropped_packets)
    };
    let (reno, _, dropped) = link("reno", "rack");
    assert!(reno > 33.0 && dropped > 0, "Reno: {reno} packets wait");
    for recovery in ["rack", "newreno"] {
        let (cdg, utilisation, dropped) = link("cdg", recovery);
        assert!(cdg < 10.0 && dropped == 0, "CDG, {recovery}: {cdg} packets wait");
        // A backoff at 37 (nothing waits) leaves 26 of 34, which grow back in eight rounds: 12 % of 8 in at least 16 rounds; two
        // backoffs in a row leave 18, and are rare.
        assert!(utilisation > 0.8, "{recovery}: {utilisation}");
    }
}

#[test]
fn compounds_delay_window_fills_the_path_and_vanishes_in_the_queue() {
    // 50 Mbit/s, 50 ms: one packet takes 0.24 ms, 209 fill the path. Reno adds one per RTT from 60 on: 149 RTTs. Compound adds 1.7
    // more at first and 4.7 at last and is there after some 35; 3 s are 59.
    let world = |name: &str, profile: &str| one_flow("50Mbps", 25, "unlimited", "31s", tcp(name, profile, "60p"));
    let times = [3.0, 20.0, 30.0];
    let (reno, compound) = (windows(world("reno", "rfc"), &times), windows(world("compound", "paper"), &times));
    // Until Reno's window fills the path, the sum moves about where 30 segments wait: a round's gain of 5 for each round before the
    // RTT shows them, then 30 to 40 less, twice before the RTT shows that.
    assert!(reno[0] < 125.0, "{reno:?}");
    assert!((209.0 + 30.0 - 80.0..209.0 + 30.0 + 10.0).contains(&compound[0]), "{compound:?}");
    // Afterwards Reno's window alone is in force: W dW = dt / 0.24 ms, to 1 % for sampling and whole segments.
    let alpha = (compound[2] * compound[2] - compound[1] * compound[1]) / 2.0 * 0.24e-3 / 10.0;
    assert!((alpha - 1.0).abs() < 0.02, "{alpha}");
    // It has had fewer rounds than Reno by what the queue of 30 adds to the RTT of 150 rounds, one in seven: 20 segments.
    assert!(compound[2] <= reno[2] && compound[2] > reno[2] - 20.0, "{compound:?} {reno:?}");
}

#[test]
fn yeah_drains_the_queue_beyond_eighty_segments() {
    // 50 Mbit/s, 100 ms: 418 packets fill the path. An eighth of the RTT, 52 packets, ends the fast mode; then the queue grows by
    // one per RTT until more than 80 segments are seen, with the least RTT of a round: one round late in the estimate and one
    // in the effect, and a whole number exceeds 80 from 81 on: 84 at most. Then it is drained, as long as reno_count, at most
    // half of the window and a packet for each of the 30 slow rounds in up to four cycles, is below what is left.
    let mut world = one_flow("50Mbps", 50, "unlimited", "120s", tcp("yeah", "linux", "300p"));
    world["warmup"] = json!("20s");
    let summary = run(&world, 1);
    let link = &summary.links[0];
    assert!((80..=84).contains(&link.queue_max_packets), "{} packets wait at most", link.queue_max_packets);
    // Some 13 fast rounds from 0 to 52 and 30 slow ones from 52 to 82.
    let mean = (13.0 * 26.0 + 30.0 * 67.0) / 43.0;
    assert!((link.queue_mean_packets / mean - 1.0).abs() < 0.15, "{} of {mean}", link.queue_mean_packets);
    assert!(link.utilisation > 0.99, "{}", link.utilisation);
}
