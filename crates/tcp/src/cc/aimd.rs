//! What the loss-based high-speed algorithms share: slow start, the cut at a loss, silence, undo (RFC 5681).
//!
//! They differ in how fast the window grows above ssthresh and in what a loss leaves of it; everything around that is
//! here. Two forms of a window exist: whole segments of cwnd, as Linux counts, and real numbers measured against the
//! flight, as RFC 5681 has it. Growth below one byte is kept, so that real increments add up exactly.

use super::algorithm::Setup;
use super::parameters::{Param, ParamValues};
use super::reno_window::RenoWindow;
use super::signals::{Ack, Congestion, View};
use super::window::IdleRule;
use crate::units::{Bytes, Span};

/// What a loss is measured against.
pub(super) const OF_CWND: Param = Param::flag("of_cwnd", false)
    .doc("ssthresh from cwnd, in whole segments, instead of from the flight; idle windows halve per time-out")
    .source("Linux and ns-2 take cwnd, RFC 5681 eq. 4 the flight");

/// A window with the moves that are the same everywhere.
#[derive(Debug)]
pub(super) struct Aimd {
    pub(super) reno: RenoWindow,
    /// Growth not yet in cwnd, below one byte.
    fraction: f64,
    of_cwnd: bool,
}

impl Aimd {
    pub(super) fn new(values: &ParamValues, setup: &Setup) -> Aimd {
        let of_cwnd = values.flag(OF_CWND.name);
        Aimd { reno: RenoWindow::new(values, setup, IdleRule::of(of_cwnd)), fraction: 0.0, of_cwnd }
    }

    /// Slow start. Returns the acknowledged bytes that are left for congestion avoidance.
    pub(super) fn slow_start(&mut self, ack: &Ack, view: &View) -> Bytes {
        self.reno.slow_start(ack, view)
    }

    /// cwnd in whole segments.
    pub(super) fn segments(&self, mss: Bytes) -> u64 {
        self.reno.window.cwnd.segments(mss).max(1)
    }

    /// cwnd in segments, with the growth below one byte.
    pub(super) fn exact(&self, mss: Bytes) -> f64 {
        (self.reno.window.cwnd.as_f64() + self.fraction) / mss.as_f64()
    }

    /// One segment for each `price` segments that are acknowledged.
    pub(super) fn grow_per(&mut self, price: u64, acked: Bytes, mss: Bytes) {
        self.reno.counter.grow(&mut self.reno.window, acked, mss * price, mss);
    }

    /// So many segments more.
    pub(super) fn grow_by(&mut self, segments: f64, mss: Bytes) {
        let bytes = self.fraction + segments * mss.as_f64();
        self.fraction = bytes - libm::floor(bytes);
        self.reno.window.cwnd += Bytes(bytes as u64);
    }

    /// The window that a loss is measured against, in segments.
    pub(super) fn at_loss(&self, event: &Congestion, mss: Bytes) -> f64 {
        if self.of_cwnd { self.segments(mss) as f64 } else { event.flight.as_f64() / mss.as_f64() }
    }

    /// Leaves `kept` segments, two at least (RFC 5681 eq. 4), or starts again from the loss window after a time-out.
    pub(super) fn reduce(&mut self, kept: f64, event: &Congestion, mss: Bytes) {
        let ssthresh = if self.of_cwnd { mss * kept as u64 } else { Bytes((kept * mss.as_f64()) as u64) };
        let ssthresh = ssthresh.max(mss * 2);
        self.fraction = 0.0;
        self.reno.reduce(ssthresh, event);
    }

    /// After silence.
    pub(super) fn on_idle(&mut self, idle: Span, view: &View) {
        self.reno.on_idle(idle, view);
    }
}
