//! Reno's window: slow start, congestion avoidance, reduction, idle periods (RFC 5681). Algorithms that keep one of these
//! build on it.

use super::algorithm::Setup;
use super::parameters::{Param, ParamValues, Value};
use super::signals::{Ack, Congestion, View};
use super::window::{Counter, IdleRule, Window};
use crate::units::{Bytes, Span};

/// Segments that an ACK may add in slow start.
pub(crate) const SLOW_START_LIMIT: Param = Param::number("slow_start_limit", 1.0..=1e6, 1.0)
    .unit("segments")
    .doc("maximum increase of cwnd per ACK in slow start")
    .source("RFC 5681 eq. 2; RFC 3465 calls it L");

/// Kernels since 3.15 count every acknowledged segment in slow start.
pub(crate) const UNLIMITED: Value = Value::Number(1e6);

/// A window with Reno's moves.
#[derive(Debug)]
pub(crate) struct RenoWindow {
    pub(crate) window: Window,
    pub(crate) counter: Counter,
    initial_window: Bytes,
    slow_start_limit: Bytes,
    idle_rule: IdleRule,
}

impl RenoWindow {
    pub(crate) fn new(values: &ParamValues, setup: &Setup, idle_rule: IdleRule) -> RenoWindow {
        RenoWindow {
            window: Window { cwnd: setup.initial_window, ssthresh: setup.initial_ssthresh },
            counter: Counter::default(),
            initial_window: setup.initial_window,
            slow_start_limit: setup.mss * values.number(SLOW_START_LIMIT.name) as u64,
            idle_rule,
        }
    }

    /// Slow start. Returns the acknowledged bytes that are left for congestion avoidance.
    pub(crate) fn slow_start(&mut self, ack: &Ack, view: &View) -> Bytes {
        if !view.may_grow {
            Bytes::ZERO
        } else if self.window.in_slow_start() {
            self.window.slow_start(ack.acked, self.slow_start_limit)
        } else {
            ack.acked
        }
    }

    /// Reno's growth (RFC 5681 §3.1): slow start, then one segment per cwnd of acknowledged bytes.
    pub(crate) fn grow(&mut self, ack: &Ack, view: &View) {
        let acked = self.slow_start(ack, view);
        if acked > Bytes::ZERO && !self.window.in_slow_start() {
            let per_increment = self.window.cwnd;
            self.counter.grow(&mut self.window, acked, per_increment, view.mss);
        }
    }

    /// Down to ssthresh, or after a time-out to the loss window.
    pub(crate) fn reduce(&mut self, ssthresh: Bytes, event: &Congestion) {
        self.counter.reset();
        self.window.reduce(ssthresh, event);
    }

    /// After an idle period.
    pub(crate) fn on_idle(&mut self, idle: Span, view: &View) {
        self.window.on_idle(idle, view, self.initial_window, self.idle_rule);
    }
}
