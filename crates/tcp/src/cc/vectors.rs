//! The vectors of `tests/data/drafts.json`, which small independent implementations of the drafts gave, and the tests that need
//! nothing but an algorithm and its window.

use std::sync::LazyLock;

use serde_json::Value;

use super::driver::{Driver, MSS};
use super::signals::Cause;
use crate::units::Bytes;

/// A table of the vectors.
pub(crate) fn vectors(name: &str) -> &'static Value {
    static ALL: LazyLock<Value> =
        LazyLock::new(|| serde_json::from_str(include_str!("../../tests/data/drafts.json")).expect("JSON"));
    ALL.get(name).unwrap_or_else(|| panic!("no {name}"))
}

/// Two reals agree to a billionth.
pub(crate) fn agree(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

fn window(sender: &mut Driver) -> u64 {
    sender.cc.window().cwnd.0
}

#[test]
fn marks_and_losses_have_floors_of_their_own() {
    for (name, cc, cwnd) in [
        ("cubic 0.7, marks", "cubic", 10),
        ("cubic 0.7, losses", "cubic", 10),
        ("reno 0.5, marks", "reno", 10),
        ("reno 0.5, mixed", "reno", 5),
    ] {
        let mut sender = Driver::new(cc, "rfc", &[], cwnd, None);
        for row in vectors("floors")[name].as_array().unwrap() {
            sender.congestion(if row["cause"] == "mark" { Cause::Ecn } else { Cause::Rack });
            assert_eq!(window(&mut sender), row["cwnd"], "{name}");
        }
    }
}

#[test]
fn each_lost_retransmission_reduces_again() {
    for (name, cc) in [("reno", "reno"), ("cubic", "cubic"), ("cubic, three", "cubic")] {
        let vectors = vectors("lost_retransmission");
        let mut sender = Driver::new(cc, "rfc", &[], 20, None);
        let windows = vectors[name].as_array().unwrap();
        assert_eq!(window(&mut sender), windows[0]);
        sender.congestion(Cause::Rack);
        for (index, wanted) in windows[1..].iter().enumerate() {
            if index > 0 {
                sender.lost_again();
            }
            assert_eq!(window(&mut sender), *wanted, "{name}");
        }
    }
}

/// RFC 8511: 0.8 of Reno's window and 0.85 of CUBIC's after a mark, losses as before.
#[test]
fn abe_reduces_less_after_a_mark() {
    let vectors = vectors("abe");
    for (row, mark, cc) in [
        ("reno, 20 segments", "mark, beta_ecn 0.8", "reno"),
        ("reno, 20 segments", "mark, beta_ecn 0.8", "newreno"),
        ("cubic rfc, 20 segments", "mark, beta_ecn 0.85", "cubic"),
    ] {
        for (cause, key) in [(Cause::Ecn, mark), (Cause::Rack, "loss")] {
            let mut sender = Driver::new(cc, "abe", &[], 20, None);
            sender.congestion(cause);
            assert_eq!(window(&mut sender), vectors[row][key], "{cc} {key}");
            assert_eq!(sender.cc.window().ssthresh, sender.cc.window().cwnd);
        }
        let mut plain = Driver::new(cc, "rfc", &[], 20, None);
        plain.congestion(Cause::Ecn);
        assert_eq!(window(&mut plain), vectors[row]["loss"], "{cc}: without the key a mark is a loss");
    }
}

/// A loss in the round trip of a mark counts: the window is that after a loss alone, and never above that after the mark.
#[test]
fn of_a_mark_and_a_loss_the_loss_counts() {
    for (cc, profile, beta) in [("reno", "abe", 0.5), ("newreno", "abe", 0.5), ("cubic", "abe", 0.7)] {
        let mut sender = Driver::new(cc, profile, &[], 20, None);
        sender.congestion(Cause::Ecn);
        assert!(sender.cc.spares_marks());
        sender.lost_again();
        assert_eq!(window(&mut sender), (20_000.0 * beta) as u64, "{cc}");
    }
    let kernel = [("beta_ecn", super::parameters::Value::Number(0.85))];
    let mut sender = Driver::new("cubic", "linux", &kernel, 20, None);
    sender.congestion(Cause::Ecn);
    assert_eq!(sender.cwnd(), 16.0, "870/1024 of 20 in whole segments");
    sender.lost_again();
    assert_eq!((sender.cwnd(), sender.ssthresh()), (14.0, 14.0), "717/1024 of 20");
    assert_eq!(Bytes(14_000), MSS * 14);
}
