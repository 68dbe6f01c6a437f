//! The phases, on a path without a network: every segment arrives an RTT after it left.

use super::super::driver::{Driver, MSS};
use super::*;
use crate::cc::signals::{RateSample, RttSample};
use crate::seq::SeqNo;
use crate::units::Time;

/// Sends at the paced rate for `time` and acknowledges each segment; the queue of a link of `mbps` adds to 20 ms.
fn run(vivace: &mut Driver, mbps: f64, time: Span) {
    run_with(vivace, mbps, time, Limit::None);
}

/// What keeps it from its rate: nothing, the application, as every sample says, or a receiver's window of so many Mb/s.
#[derive(Clone, Copy, PartialEq)]
enum Limit {
    None,
    Application,
    Receiver(f64),
}

fn run_with(vivace: &mut Driver, mbps: f64, time: Span, limit: Limit) {
    let end = vivace.view.now + time;
    let mut next = vivace.view.now;
    let mut free_at = vivace.view.now;
    let mut out: VecDeque<(Time, Time)> = VecDeque::new();
    while vivace.view.now < end {
        let arrives = out.front().map(|(_, at)| *at);
        if arrives.is_none_or(|at| next <= at) {
            vivace.view.now = next;
            vivace.cc.on_sent(&Sent { now: next, seq: SeqNo::default(), bytes: MSS, pipe: MSS, retransmission: false });
            free_at = free_at.max(next) + Span::from_secs_f64(8.0 * MSS.as_f64() / (mbps * 1e6));
            out.push_back((next, free_at + Span::from_millis(20)));
            let paced = vivace.cc.pacing_rate().unwrap().transmission_time(MSS);
            next = next
                + match limit {
                    Limit::Receiver(most) => paced.max(Span::from_secs_f64(8.0 * MSS.as_f64() / (most * 1e6))),
                    Limit::None | Limit::Application => paced,
                };
        } else if let Some((sent_at, at)) = out.pop_front() {
            vivace.view.now = at;
            let rtt = at.since(sent_at);
            vivace.view.srtt = Some(rtt);
            let sample = RateSample {
                rate: None,
                delivered: MSS,
                prior_delivered: Bytes::ZERO,
                interval: rtt,
                sent_at,
                tx_in_flight: MSS,
                lost: Bytes::ZERO,
                app_limited: limit == Limit::Application,
            };
            vivace.ack_with(&Ack {
                acked: MSS,
                acked_segments: 1,
                rtt: Some(RttSample { latest: rtt, oldest: rtt }),
                rate: Some(sample),
                ..Ack::default()
            });
        }
    }
}

#[test]
fn the_rate_doubles_until_the_link_is_full_and_then_stays_below() {
    let mut vivace = Driver::new("vivace", "paper", &[], 10, None);
    let first = vivace.internal("base_bps");
    assert!((first - 80e3).abs() < 1e-3, "ten segments in a second: {first}");
    run(&mut vivace, 50.0, Span::from_millis(8_000));
    let mut rates = Vec::new();
    for _ in 0..200 {
        run(&mut vivace, 50.0, Span::from_millis(50));
        rates.push(vivace.internal("base_bps") / 1e6);
    }
    let mean = rates.iter().sum::<f64>() / 200.0;
    // A pair is free of queueing while 1.05 r stays below 1.01 C; from there one bounded step leads down by 5 %.
    assert!((45.0..50.5).contains(&mean), "{mean}: {rates:?}");
}

#[test]
fn a_time_out_halves_the_rate() {
    let mut vivace = Driver::new("vivace", "paper", &[], 1000, None);
    let before = vivace.internal("base_bps");
    vivace.congestion(Cause::Timeout);
    assert_eq!(vivace.internal("base_bps"), before / 2.0);
}

/// Dong and others (2018): the rate doubles after an interval whose utility was higher. One that the application limited
/// has none.
#[test]
fn nothing_doubles_while_the_application_limits() {
    let mut vivace = Driver::new("vivace", "paper", &[], 10, None);
    run(&mut vivace, 50.0, Span::from_millis(4_000));
    let known = vivace.internal("base_bps");
    run_with(&mut vivace, 50.0, Span::from_millis(5_000), Limit::Application);
    let after = vivace.internal("base_bps");
    assert!(known > 80e3 && after <= known, "{known} and then {after}");
}

/// An interval that was sent at less than half of its rate tries nothing, whatever held it back: the rate goes no further than the
/// first of them, below four times what is sent.
#[test]
fn nothing_doubles_while_a_receiver_limits() {
    let mut vivace = Driver::new("vivace", "paper", &[], 10, None);
    run_with(&mut vivace, 50.0, Span::from_millis(20_000), Limit::Receiver(1.0));
    let rate = vivace.internal("base_bps");
    assert!((0.5e6..=4e6).contains(&rate), "{rate}");
}
