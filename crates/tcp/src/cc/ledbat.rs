//! LEDBAT: keeps a queue of a fixed delay of its own and yields to whoever makes it longer (RFC 6817).
//!
//! Queueing delay is the one-way delay now, the least of some samples, above the least of the last minutes. The window
//! moves in proportion to the distance from the target, at most as fast as Reno's, and halves on loss. One-way delays
//! come from timestamps of 1 ms: either minimum is off by less than a tick, so queueing delay is off by less than 1 ms,
//! a hundredth of the target of 100 ms. Not modelled: slow start, which the RFC does not have, and its own time-out CTO,
//! for which TCP's stands. `ledbat/plus_plus.rs` has its successor.

mod plus_plus;

use std::collections::VecDeque;

pub(crate) use self::plus_plus::Control as LedbatPlusPlus;
use self::plus_plus::PlusPlus;
use super::algorithm::{Algorithm, Internal, Requirements, Setup};
use super::controller::CongestionControl;
use super::parameters::{Param, ParamValues, Profile, Value};
use super::signals::{Ack, Cause, Congestion, View};
use super::window::Window;
use crate::units::{Bytes, Span, Time};

/// A queue of its own, of a fixed delay.
pub(super) const LEDBAT: Algorithm = Algorithm {
    name: "ledbat",
    title: "LEDBAT: low extra delay background transport",
    reference: "RFC 6817",
    requirements: Requirements { timestamps: true, ..Requirements::NONE },
    starts: None,
    params: PARAMS,
    profiles: &[
        Profile { name: "rfc", set: &[], recovery: None },
        Profile { name: "ledbat25", set: &[("target", Value::Number(25.0))], recovery: None },
        Profile {
            name: "ledbat++",
            set: &[("plus_plus", Value::Flag(true)), ("target", Value::Number(plus_plus::TARGET_MS))],
            recovery: None,
        },
    ],
    internals: INTERNALS,
    states: &[],
    build: &|values, setup| {
        if values.flag("plus_plus") {
            Box::new(PlusPlus::new(values, setup))
        } else {
            Box::new(Ledbat::new(values, setup))
        }
    },
};

/// What it shows of itself.
const INTERNALS: &[Internal] =
    &[Internal::of("queueing_s", "queueing delay"), Internal::of("base_s", "base delay, up to a constant")];

const PARAMS: &[Param] = &[
    Param::flag("plus_plus", false)
        .doc(
            "LEDBAT++: round-trip times, slow start, a multiplicative decrease, and slowdowns to two segments; of the other \
             parameters target, base_history, current_filter and init_window are its too; slowdowns go on in pauses of the \
             application, so that an answer behind one may meet one",
        )
        .source("draft-irtf-iccrg-ledbat-plus-plus-01, with a target of 60 ms"),
    Param::number("target", 1.0..=1e4, 100.0)
        .unit("ms")
        .doc("queueing delay to hold (TARGET)")
        .source("RFC 6817 section 2.5: at most 100 ms; 25 ms in its first drafts"),
    Param::number("gain", 0.01..=1.0, 1.0)
        .doc("share of Reno's growth at an empty queue (GAIN)")
        .source("RFC 6817 section 2.5: at most 1"),
    Param::number("base_history", 1.0..=100.0, 10.0)
        .unit("min")
        .doc("history of the minimum delay (BASE_HISTORY)")
        .source("RFC 6817 section 2.5"),
    Param::number("current_filter", 1.0..=100.0, 4.0)
        .unit("samples")
        .doc("the current delay is the minimum of this many samples (CURRENT_FILTER)")
        .source("RFC 6817 section 2.5 asks for at most an RTT of them"),
    Param::number("allowed_increase", 1.0..=100.0, 1.0)
        .unit("segments")
        .doc("maximum by which cwnd exceeds the flight of a sender that does not use it (ALLOWED_INCREASE)")
        .source("RFC 6817 section 2.5"),
    Param::number("init_window", 1.0..=100.0, 2.0)
        .unit("segments")
        .doc("cwnd to start from, if the connection's is not smaller (INIT_CWND)")
        .source("RFC 6817 section 2.5"),
    Param::number("min_window", 1.0..=100.0, 2.0)
        .unit("segments")
        .doc("delay does not take cwnd below this (MIN_CWND)")
        .source("RFC 6817 section 2.5"),
];

const MINUTE: u64 = 60_000_000_000;

#[derive(Debug)]
struct Ledbat {
    window: Window,
    /// Growth not yet in cwnd, below one byte.
    fraction: f64,
    /// TARGET in seconds.
    target: f64,
    gain: f64,
    allowed_increase: Bytes,
    init_window: Bytes,
    min_window: Bytes,
    delays: DelayHistory,
}

/// One-way delays, up to a constant.
#[derive(Clone, Debug)]
pub(crate) struct DelayHistory {
    /// The least of each of the last minutes, the oldest first.
    minutes: VecDeque<Span>,
    minute: u64,
    /// The last samples, the oldest first.
    current: VecDeque<Span>,
    base_history: usize,
    current_filter: usize,
}

impl DelayHistory {
    fn new(values: &ParamValues) -> DelayHistory {
        let [base_history, current_filter] =
            ["base_history", "current_filter"].map(|name| values.number(name) as usize);
        DelayHistory { minutes: VecDeque::new(), minute: 0, current: VecDeque::new(), base_history, current_filter }
    }

    /// The base delay; absent before the first sample.
    fn base(&self) -> Option<Span> {
        self.minutes.iter().min().copied()
    }

    fn observe(&self, put: &mut dyn FnMut(&'static str, f64)) {
        if let Some(queueing) = self.queueing() {
            put("queueing_s", queueing);
        }
        if let Some(base) = self.base() {
            put("base_s", base.as_secs_f64());
        }
    }

    /// RFC 6817 §2.4.2, update_base_delay and update_current_delay.
    fn note(&mut self, delay: Span, now: Time) {
        let minute = now.as_nanos() / MINUTE;
        match self.minutes.back_mut() {
            Some(least) if minute == self.minute => *least = delay.min(*least),
            _ => {
                self.minute = minute;
                push(&mut self.minutes, delay, self.base_history);
            }
        }
        push(&mut self.current, delay, self.current_filter);
    }

    /// What queues take, in seconds; absent before the first sample.
    fn queueing(&self) -> Option<f64> {
        let (current, base) = (self.current.iter().min()?, self.minutes.iter().min()?);
        Some(current.saturating_sub(*base).as_secs_f64())
    }
}

/// Keeps the last `most`.
fn push(samples: &mut VecDeque<Span>, sample: Span, most: usize) {
    if samples.len() == most {
        samples.pop_front();
    }
    samples.push_back(sample);
}

impl Ledbat {
    fn new(values: &ParamValues, setup: &Setup) -> Ledbat {
        let segments = |name| setup.mss * values.number(name) as u64;
        let cwnd = setup.initial_window.min(segments("init_window"));
        Ledbat {
            window: Window { cwnd, ssthresh: cwnd },
            fraction: 0.0,
            target: values.number("target") / 1e3,
            gain: values.number("gain"),
            allowed_increase: segments("allowed_increase"),
            init_window: cwnd,
            min_window: segments("min_window"),
            delays: DelayHistory::new(values),
        }
    }

    fn set(&mut self, cwnd: Bytes) {
        self.fraction = 0.0;
        self.window.cut(cwnd);
    }
}

impl CongestionControl for Ledbat {
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        // A duplicate, also one that reports more by SACK, echoes the timestamp of the last segment in order: an old one.
        if let Some(delay) = ack.one_way.filter(|_| ack.cumulative_segments > 0) {
            self.delays.note(delay, view.now);
        }
        let Some(queueing) = self.delays.queueing() else { return };
        if view.state.in_cwnd_reduction() || ack.acked == Bytes::ZERO {
            return;
        }
        let cwnd = self.window.cwnd.as_f64() + self.fraction;
        // RFC 6817 §2.4.2: cwnd += GAIN off_target bytes_newly_acked MSS / cwnd,
        // off_target = (TARGET - queueing) / TARGET.
        // Departs where an ACK covers more than a window or the queue is endless: one ACK takes no more than cwnd.
        let off_target = ((self.target - queueing) / self.target).max(-cwnd / view.mss.as_f64());
        let wanted = cwnd + self.gain * off_target * ack.acked.as_f64().min(cwnd) * view.mss.as_f64() / cwnd;
        // RFC 6817 §2.4.2: at most the flight before the ACK and ALLOWED_INCREASE.
        // Departs where the sender uses its window and yet has less in flight, as one that waits to send larger bursts:
        // the cap is against windows that nothing has tested.
        let tested = if view.cwnd_limited { ack.prior_flight.max(self.window.cwnd) } else { ack.prior_flight };
        let most = (tested + self.allowed_increase).as_f64();
        let next = wanted.min(most).max(self.min_window.as_f64());
        self.window.cwnd = Bytes(next as u64);
        self.fraction = next - libm::floor(next);
        // No slow start: the threshold stays below the window.
        self.window.ssthresh = self.window.ssthresh.min(self.window.cwnd);
    }

    fn on_congestion(&mut self, event: &Congestion, view: &View) {
        // RFC 6817 §2.4.2: cwnd = min(cwnd, max(cwnd / 2, MIN_CWND))
        let cwnd = self.window.cwnd;
        let half = Bytes(cwnd.0 / 2).max(self.min_window).min(cwnd).max(view.mss);
        if event.cause == Cause::Timeout {
            self.fraction = 0.0;
            self.window = Window { cwnd: event.loss_window, ssthresh: half.min(event.loss_window) };
        } else {
            self.set(half);
        }
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    fn on_undo(&mut self, before: Window, _view: &View) {
        self.set(self.window.cwnd.max(before.cwnd));
    }

    fn on_idle(&mut self, idle: Span, view: &View) {
        if view.slow_start_after_idle && idle > view.rto {
            self.set(self.window.cwnd.min(self.init_window));
        }
    }

    fn observe(&self, put: &mut dyn FnMut(&'static str, f64)) {
        self.delays.observe(put);
    }
}

#[cfg(test)]
mod tests {
    use super::super::driver::{Driver, MSS, near};
    use super::*;

    fn one_segment() -> Ack {
        Ack { acked: MSS, acked_segments: 1, cumulative_segments: 1, ..Ack::default() }
    }

    fn ack(ledbat: &mut Driver, one_way_ms: u64) {
        let one_way = Some(Span::from_millis(one_way_ms));
        ledbat.ack_with(&Ack { one_way, prior_flight: MSS * 20, ..one_segment() });
    }

    /// A window of ten segments after a base delay of 1000 ms and three samples of `now_ms`.
    fn at(profile: &str, now_ms: u64) -> Driver {
        let mut ledbat = Driver::new("ledbat", profile, &[("init_window", Value::Number(10.0))], 10, None);
        // In recovery delays are noted and the window stays.
        ledbat.view.state = super::super::State::Recovery;
        [1000, now_ms, now_ms, now_ms].into_iter().for_each(|delay| ack(&mut ledbat, delay));
        ledbat.view.state = super::super::State::Open;
        ledbat
    }

    /// RFC 6817 §2.4.2: +73, -73 and +146 bytes of 1460, so 0.05, -0.05 and 0.1 segments.
    #[test]
    fn vectors_of_algorithms_8_8() {
        for (profile, queueing_ms, change) in
            [("rfc", 50, 0.05), ("rfc", 150, -0.05), ("rfc", 0, 0.1), ("rfc", 100, 0.0), ("ledbat25", 50, -0.1)]
        {
            let mut ledbat = at(profile, 1000 + queueing_ms);
            ack(&mut ledbat, 1000 + queueing_ms);
            assert!(near(ledbat.cwnd(), 10.0 + change), "{profile}, {queueing_ms} ms: {}", ledbat.cwnd());
        }
    }

    #[test]
    fn the_window_stays_near_the_flight_and_above_its_floor() {
        let mut ledbat = at("rfc", 1000);
        let few = Ack { one_way: Some(Span::from_millis(1000)), prior_flight: MSS * 4, ..one_segment() };
        // A sender that holds back a burst of six segments grows as any other: +0.1.
        ledbat.ack_with(&few);
        assert!(near(ledbat.cwnd(), 10.1));
        ledbat.view.cwnd_limited = false;
        ledbat.ack_with(&few);
        assert_eq!(ledbat.cwnd(), 5.0);
        (0..100).for_each(|_| ack(&mut ledbat, 9000));
        assert_eq!(ledbat.cwnd(), 2.0);
        ledbat.congestion(Cause::Sack);
        assert_eq!(ledbat.cwnd(), 2.0);
    }

    #[test]
    fn losses_halve_and_time_outs_leave_one_segment() {
        let mut ledbat = at("rfc", 1000);
        ledbat.congestion(Cause::Sack);
        assert_eq!(ledbat.cwnd(), 5.0);
        ledbat.recovered();
        ledbat.congestion(Cause::Timeout);
        assert_eq!(ledbat.cwnd(), 1.0);
    }

    #[test]
    fn an_old_base_is_forgotten_after_ten_minutes() {
        let mut ledbat = at("rfc", 1050);
        ack(&mut ledbat, 1050);
        for minute in 1..=10 {
            assert!(near(ledbat.internal("queueing_s"), 0.05), "minute {minute}");
            ledbat.pass(Span::from_millis(60_000));
            ack(&mut ledbat, 1050);
        }
        assert_eq!(ledbat.internal("queueing_s"), 0.0);
    }
}
