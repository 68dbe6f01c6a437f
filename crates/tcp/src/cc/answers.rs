//! What an algorithm of the user answers, in Python, compiled or in JavaScript: which numbers the engine accepts.

use super::algorithm::Setup;
use super::window::Window;
use crate::units::{Bytes, Rate, Span, Time};

/// Upper bound of timers and time-outs: about 31 years.
const MAX_SECONDS: f64 = 1e9;

/// The stored answers of an algorithm: reading the window costs nothing.
#[derive(Clone, Copy, Debug)]
pub struct Answers {
    /// cwnd and ssthresh.
    pub window: Window,
    /// When it wants to be called.
    pub next_timer: Option<Time>,
    /// The rate to send at.
    pub pacing_rate: Option<Rate>,
}

/// An answer that cannot be: which, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused {
    /// The answer by the name of its method in Python.
    pub answer: &'static str,
    /// The number, and what is allowed.
    pub text: String,
}

impl Answers {
    /// Before the first call.
    pub fn first(setup: &Setup) -> Answers {
        let window = Window { cwnd: setup.initial_window, ssthresh: setup.initial_ssthresh };
        Answers { window, next_timer: None, pacing_rate: None }
    }

    /// Reads window, threshold, timer and pacing rate as doubles; NaN is no answer.
    ///
    /// # Errors
    ///
    /// The first that is out of its range.
    pub fn of([cwnd, ssthresh, next_timer, pacing_rate]: [f64; 4], mss: Bytes) -> Result<Answers, Refused> {
        let some = |number: f64| (!number.is_nan()).then_some(number);
        let wrong =
            |answer, given: &[f64], allowed: String| Refused { answer, text: format!("{given:?} is not {allowed}") };
        let window = window(cwnd, some(ssthresh), mss);
        let timer = some(next_timer).map(|s| {
            let span = seconds(s, 0.0).ok_or_else(|| wrong("next_timer", &[s], allowed_seconds(0.0)))?;
            Ok(Time::ZERO + span)
        });
        let pacing = some(pacing_rate)
            .map(|bits| rate(bits).ok_or_else(|| wrong("pacing_rate", &[bits], ALLOWED_RATE.to_owned())));
        Ok(Answers {
            window: window.ok_or_else(|| wrong("window", &[cwnd, ssthresh], allowed_window(mss)))?,
            next_timer: timer.transpose()?,
            pacing_rate: pacing.transpose()?,
        })
    }

    /// Refuses a timer that has been.
    ///
    /// # Errors
    ///
    /// If there is one.
    pub fn check_past(&self, now: Time) -> Result<(), Refused> {
        let past = self.next_timer.filter(|at| *at < now);
        past.map_or(Ok(()), |at| Err(Refused { answer: "next_timer", text: format!("{at} is in the past") }))
    }

    /// Refuses a timer that would expire again at once.
    ///
    /// # Errors
    ///
    /// If there is one.
    pub fn check_timer(&self, now: Time) -> Result<(), Refused> {
        let Some(at) = self.next_timer.filter(|at| *at <= now) else { return Ok(()) };
        let text = format!("{at} after on_timer at that time: time would stand still");
        Err(Refused { answer: "next_timer", text })
    }
}

/// Bytes, rounded down; nothing less than a segment.
fn bytes(number: f64, mss: Bytes) -> Option<Bytes> {
    (number >= mss.as_f64()).then(|| if number >= Bytes::MAX.as_f64() { Bytes::MAX } else { Bytes(number as u64) })
}

/// cwnd and ssthresh; an ssthresh that is absent or infinite is not set.
pub fn window(cwnd: f64, ssthresh: Option<f64>, mss: Bytes) -> Option<Window> {
    let cwnd = bytes(cwnd, mss).filter(|cwnd| *cwnd != Bytes::MAX)?;
    let ssthresh = ssthresh.map_or(Some(Bytes::MAX), |ssthresh| bytes(ssthresh, mss))?;
    Some(Window { cwnd, ssthresh })
}

/// What [`window`] takes, for a message.
pub fn allowed_window(mss: Bytes) -> String {
    format!(
        "a pair (cwnd_bytes, ssthresh_bytes) of numbers of at least one segment ({mss}); no ssthresh is None or infinity"
    )
}

/// A time or an age from `least` on.
pub fn seconds(number: f64, least: f64) -> Option<Span> {
    (least..=MAX_SECONDS).contains(&number).then(|| Span::from_secs_f64(number))
}

/// What [`seconds`] takes, for a message.
pub fn allowed_seconds(least: f64) -> String {
    format!("None or seconds from {least} to {MAX_SECONDS:e}")
}

/// A rate to send at.
pub fn rate(bits: f64) -> Option<Rate> {
    (bits.is_finite() && bits >= 1.0).then(|| Rate::from_bps(bits as u64)).flatten()
}

/// What [`rate`] takes, for a message.
pub const ALLOWED_RATE: &str = "None or a finite rate of at least 1 bit/s";
