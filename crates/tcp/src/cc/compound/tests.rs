//! Vectors computed apart from this code, and the rules around them.

use super::super::driver::{Driver, MSS, near};
use super::*;
use crate::seq::SeqNo;

/// Congestion avoidance at `cwnd`, base RTT 100 ms, at the beginning of a round.
fn compound(profile: &str, cwnd: u64) -> Driver {
    let mut compound = Driver::new("compound", profile, &[], cwnd, Some(2));
    compound.view.snd_nxt = SeqNo::FIRST_DATA + MSS * cwnd;
    round(&mut compound, 100.0, 1);
    compound
}

/// A round of `samples` ACKs of one byte, all with the same RTT, at the end of which a window more is outstanding.
fn round(compound: &mut Driver, rtt_ms: f64, samples: usize) {
    let rtt = Span::from_secs_f64(rtt_ms / 1e3);
    compound.view.srtt = Some(rtt);
    let rtt = Some(super::super::RttSample { latest: rtt, oldest: rtt });
    for sample in 1..=samples {
        if sample == samples {
            compound.view.snd_una = compound.view.snd_nxt + Bytes(1);
            compound.view.snd_nxt += compound.cc.window().cwnd;
        }
        compound.cc.on_ack(&Ack { acked: Bytes(1), rtt, ..Ack::default() }, &compound.view);
    }
}

fn dwnd(compound: &Driver) -> f64 {
    compound.internal("dwnd_bytes") / MSS.as_f64()
}

#[test]
fn vectors_of_algorithms_8_13() {
    let config = crate::cc::config::CcConfig::by_name("compound", None, &[]).unwrap();
    let setup = Setup::plain(MSS, MSS);
    let settings = Compound::new(&config.values, &setup).settings;
    // The specification prints four digits.
    for (w, gain) in [(41.0, 1.0253), (100.0, 2.9528), (1000.0, 21.2285)] {
        assert!((settings.gain(w) - gain).abs() < 5e-5, "{w}: {}", settings.gain(w));
    }
    assert!(near(settings.gain(16.0), 0.0));
}

#[test]
fn the_delay_window_grows_while_little_waits_and_from_41_segments_on() {
    // The first round, which `compound` makes, counts too.
    for (cwnd, grown) in [(100, 2.952), (41, 1.025), (40, 0.0)] {
        let mut compound = compound("paper", cwnd);
        assert_eq!((dwnd(&compound), compound.cwnd()), (grown, cwnd as f64 + grown));
    }
}

#[test]
fn what_waits_is_taken_from_the_delay_window() {
    let mut compound = compound("paper", 1000);
    let before = dwnd(&compound);
    assert_eq!(before, 21.228);
    // diff = 1021.228 * 2 / 102 = 20.02: growth
    round(&mut compound, 102.0, 1);
    assert!(dwnd(&compound) > 42.0);
    // diff = 1042.8 * 4 / 104 = 40.1 >= 30
    let (w, before) = (compound.cwnd(), dwnd(&compound));
    round(&mut compound, 104.0, 1);
    assert!(((before - dwnd(&compound)) - (w - w * 100.001 / 104.001)).abs() < 2e-3);
    // More than it has: it vanishes, Reno's window remains.
    round(&mut compound, 110.0, 1);
    assert_eq!((dwnd(&compound), compound.cwnd()), (0.0, 1000.0));
}

#[test]
fn a_loss_halves_the_sum_and_a_time_out_ends_the_delay_window() {
    let mut compound = compound("paper", 1000);
    compound.congestion(Cause::Rack);
    assert_eq!((compound.cwnd(), compound.ssthresh(), dwnd(&compound)), (510.614, 510.614, 10.614));
    compound.congestion(Cause::Timeout);
    assert_eq!((compound.cwnd(), compound.ssthresh(), dwnd(&compound)), (1.0, 255.307, 0.0));
}

#[test]
fn in_linux26_a_loss_leaves_the_delay_window_and_takes_from_renos() {
    let mut compound = compound("linux26", 1000);
    round(&mut compound, 100.0, 1);
    // 1000 segments outstanding in the round: floor(floor(177.8) / 8) - 1 = 21 more
    round(&mut compound, 100.0, 3);
    assert_eq!(dwnd(&compound), 21.0);
    compound.congestion(Cause::DupAck);
    assert_eq!((compound.cwnd(), dwnd(&compound)), (510.0, 21.0));
}
