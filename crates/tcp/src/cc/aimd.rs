//! The common part of the loss-based high-speed algorithms: Reno's window with another increase and decrease.
//!
//! They differ in how fast cwnd grows above ssthresh and in the decrease factor. Two forms of arithmetic exist: whole
//! segments of cwnd, as in Linux, and real numbers relative to FlightSize, as in RFC 5681. Growth below one byte is kept, so
//! that real increments add up exactly.

use super::algorithm::Setup;
use super::parameters::{Param, ParamValues};
use super::reno_window::RenoWindow;
use super::signals::{Ack, Congestion, View};
use super::window::IdleRule;
use crate::units::{Bytes, Span};

/// Whether a decrease starts from cwnd or FlightSize.
pub(super) const OF_CWND: Param = Param::flag("of_cwnd", false)
    .doc("ssthresh from cwnd, in whole segments, instead of from the flight; idle windows halve per time-out")
    .source("Linux and ns-2 take cwnd, RFC 5681 eq. 4 the flight");

/// Reno's window with real-valued growth and decrease.
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

    /// Grows by one segment for every `price` segments acknowledged.
    pub(super) fn grow_per(&mut self, price: u64, acked: Bytes, mss: Bytes) {
        self.reno.counter.grow(&mut self.reno.window, acked, mss * price, mss);
    }

    /// Grows by `segments`.
    pub(super) fn grow_by(&mut self, segments: f64, mss: Bytes) {
        let bytes = self.fraction + segments * mss.as_f64();
        self.fraction = bytes - libm::floor(bytes);
        self.reno.window.cwnd += Bytes(bytes as u64);
    }

    /// The window that a decrease starts from, in segments.
    pub(super) fn at_loss(&self, event: &Congestion, mss: Bytes) -> f64 {
        if self.of_cwnd { self.segments(mss) as f64 } else { event.flight.as_f64() / mss.as_f64() }
    }

    /// Sets ssthresh to `kept` segments, two at least (RFC 5681 eq. 4), and cwnd to it or, after a time-out, to the loss
    /// window.
    pub(super) fn reduce(&mut self, kept: f64, event: &Congestion, mss: Bytes) {
        let ssthresh = if self.of_cwnd { mss * kept as u64 } else { Bytes((kept * mss.as_f64()) as u64) };
        let ssthresh = ssthresh.max(mss * 2);
        self.fraction = 0.0;
        self.reno.reduce(ssthresh, event);
    }

    /// After an idle period.
    pub(super) fn on_idle(&mut self, idle: Span, view: &View) {
        self.reno.on_idle(idle, view);
    }
}
