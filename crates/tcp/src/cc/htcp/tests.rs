//! Vectors computed apart from this code by the rules of Leith and Shorten.

use super::super::driver::{Driver, near};
use super::*;
use crate::cc::signals::Cause;

/// beta 0.5, minimum RTT 100 ms: alpha is that of the formula. `linux` takes it when the window grows.
#[test]
fn alpha_is_a_quadratic_function_of_the_time_since_the_loss() {
    for (seconds, alpha) in [(1.0, 1.0), (2.0, 11.25), (3.0, 22.0), (11.0, 126.0)] {
        assert!(near(alpha_of(Span::from_secs_f64(seconds)), alpha));
        let mut sender = Driver::new("htcp", "paper", &[], 1000, Some(2));
        sender.pass(Span::from_secs_f64(seconds));
        sender.ack(1, Some(100.0));
        // alpha / W of a segment of 1000 bytes, rounded down
        assert_eq!(sender.cwnd(), 1000.0 + libm::floor(alpha) / 1000.0);
        let mut sender = Driver::new("htcp", "linux", &[], 10, Some(2));
        sender.pass(Span::from_secs_f64(seconds));
        (0..11).for_each(|_| sender.ack(1, Some(100.0)));
        assert_eq!(sender.cwnd(), 11.0);
        assert_eq!(sender.internal("alpha"), libm::floor(alpha));
    }
}

/// beta = 0.8: alpha(3 s) = 0.4 x 22 = 8.8.
#[test]
fn a_gentle_cut_goes_with_a_gentle_increase() {
    let Ok(config) = crate::cc::config::CcConfig::by_name("htcp", Some("paper"), &[]) else {
        panic!("there is such a profile")
    };
    let now = Time::ZERO;
    let mss = Bytes(1000);
    let (initial_window, initial_ssthresh) = (mss * 1000, mss * 2);
    let setup = Setup { now, initial_ssthresh, ..Setup::plain(mss, initial_window) };
    let mut real = Real::new(&config.values, &setup);
    real.beta = 0.8;
    assert!(near(real.alpha(now + Span::from_millis(3000)), 8.8));
}

/// RTTs of 100 and 160 ms at a steady throughput: beta 100/160 = 0.625, W = 100 becomes 62. `linux` takes half at the
/// first loss, which has no throughput to compare with, and at the second, which arms the switch.
#[test]
fn a_loss_leaves_the_ratio_of_the_rtts() {
    for (profile, losses) in [("paper", 2), ("linux", 3)] {
        // A window that cannot grow keeps the throughput steady; the maximum RTT rises in steps the kernel accepts.
        let mut sender = Driver::new("htcp", profile, &[], 1600, Some(2));
        let mut kept = Vec::new();
        for _ in 0..losses {
            let w = sender.cwnd();
            for rtt in (0..10).flat_map(|_| [100.0, 120.0, 140.0, 160.0, 160.0, 160.0]) {
                let growth = sender.view.may_grow;
                sender.view.may_grow = false;
                sender.pass(Span::from_secs_f64(rtt / 1e3));
                // the same amount per unit of time, and more than a window for the kernel's stretches
                sender.ack(20 * rtt as u32, Some(rtt));
                sender.view.may_grow = growth;
            }
            sender.congestion(Cause::Sack);
            kept.push(sender.cwnd() / w);
            sender.recovered();
        }
        assert_eq!(kept[0], 0.5, "{profile}: {kept:?}");
        let last = kept[kept.len() - 1];
        if profile == "paper" {
            assert!((last - 0.625).abs() < 1e-3, "{kept:?}");
        } else {
            // The kernel's maximum RTT has faded to 157 ms and risen to 160 again: 80/128; whole segments.
            assert!((last - 80.0 / 128.0).abs() < 1.0 / 400.0, "{kept:?}");
        }
    }
}

/// ns-3 adds alpha bytes per ACK beside Reno's MSS^2 / cwnd; with beta = 0 before the first loss alpha is 2 x 22.
#[test]
fn ns3_adds_bytes() {
    let mut sender = Driver::new("htcp", "ns3", &[], 10, Some(2));
    sender.pass(Span::from_millis(3000));
    sender.ack(1, Some(100.0));
    assert_eq!(sender.cwnd(), 10.0 + 0.1 + 0.044);
}

/// Reno until a second has passed, then faster.
#[test]
fn the_window_grows_by_alpha_per_round() {
    let mut sender = Driver::new("htcp", "linux", &[], 100, Some(2));
    let mut rounds = Vec::new();
    for _ in 0..30 {
        let before = sender.cwnd();
        sender.pass(Span::from_millis(100));
        (0..before as u32).for_each(|_| sender.ack(1, Some(100.0)));
        rounds.push(sender.cwnd() - before);
    }
    // The counter starts again from nothing after each segment: two rounds of 100 ACKs give one at most, 1 s long.
    assert!(rounds[..9].iter().all(|growth| *growth <= 1.0), "{rounds:?}");
    // 2.9 s: 1 + 10 x 1.9 + 0.95^2 = 20.9; floor 20, less what counting from nothing loses: W / 20 = 6 ACKs and one
    // more per segment, so 100 / 7 = 17 of 120.
    assert!((15.0..=21.0).contains(&rounds[29]), "{rounds:?}");
}
