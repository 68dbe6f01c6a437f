//! What an algorithm of the user answers, in Python or compiled: which numbers the engine accepts.

use tcp::cc::Window;
use tcp::units::{Bytes, Rate, Span, Time};

/// Upper bound of timers and time-outs: about 31 years.
const MAX_SECONDS: f64 = 1e9;

/// The stored answers of an algorithm: reading the window costs nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answers {
    pub(crate) window: Window,
    pub(crate) next_timer: Option<Time>,
    pub(crate) pacing_rate: Option<Rate>,
}

/// Bytes, rounded down; nothing less than a segment.
fn bytes(number: f64, mss: Bytes) -> Option<Bytes> {
    (number >= mss.as_f64()).then(|| if number >= Bytes::MAX.as_f64() { Bytes::MAX } else { Bytes(number as u64) })
}

/// cwnd and ssthresh; an ssthresh that is absent or infinite is not set.
pub(crate) fn window(cwnd: f64, ssthresh: Option<f64>, mss: Bytes) -> Option<Window> {
    let cwnd = bytes(cwnd, mss).filter(|cwnd| *cwnd != Bytes::MAX)?;
    let ssthresh = ssthresh.map_or(Some(Bytes::MAX), |ssthresh| bytes(ssthresh, mss))?;
    Some(Window { cwnd, ssthresh })
}

pub(crate) fn allowed_window(mss: Bytes) -> String {
    format!(
        "a pair (cwnd_bytes, ssthresh_bytes) of numbers of at least one segment ({mss}); no ssthresh is None or infinity"
    )
}

/// A time or an age from `least` on.
pub(crate) fn seconds(number: f64, least: f64) -> Option<Span> {
    (least..=MAX_SECONDS).contains(&number).then(|| Span::from_secs_f64(number))
}

pub(crate) fn allowed_seconds(least: f64) -> String {
    format!("None or seconds from {least} to {MAX_SECONDS:e}")
}

pub(crate) fn rate(bits: f64) -> Option<Rate> {
    (bits.is_finite() && bits >= 1.0).then(|| Rate::from_bps(bits as u64)).flatten()
}

pub(crate) const ALLOWED_RATE: &str = "None or a finite rate of at least 1 bit/s";
