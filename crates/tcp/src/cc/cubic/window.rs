//! What all forms of CUBIC share: the window, slow start and its end.

use crate::cc::algorithm::Setup;
use crate::cc::hystart::{HyStart, PlusPlus};
use crate::cc::parameters::ParamValues;
use crate::cc::signals::{Ack, Cause, Congestion, View};
use crate::cc::window::Window;
use crate::units::{Bytes, Span};

/// RTT samples are not taken for this long after an epoch began (Linux tcp_cubic).
pub(crate) const SETTLING: Span = Span::from_millis(1000);

/// Of one connection.
#[derive(Debug)]
pub(crate) struct CubicWindow {
    pub(crate) window: Window,
    pub(crate) hystart: HyStart,
    /// Until the first loss, if wanted.
    plus_plus: Option<PlusPlus>,
    pub(crate) initial_window: Bytes,
    slow_start_limit: Bytes,
    at_threshold: bool,
    pub(crate) fast_convergence: bool,
    pub(crate) reno_friendly: bool,
}

impl CubicWindow {
    pub(crate) fn new(values: &ParamValues, setup: &Setup) -> CubicWindow {
        let plus_plus = values.flag("hystart_plus_plus").then(|| PlusPlus::new(values));
        // RFC 9406 §4.3: L is infinite when paced.
        let unlimited = plus_plus.is_some() && setup.paced;
        let limit = setup.mss * values.number("slow_start_limit") as u64;
        CubicWindow {
            window: Window { cwnd: setup.initial_window, ssthresh: setup.initial_ssthresh },
            hystart: HyStart::new(values, setup),
            plus_plus,
            initial_window: setup.initial_window,
            slow_start_limit: if unlimited { Bytes::MAX } else { limit },
            at_threshold: values.flag("slow_start_at_threshold"),
            fast_convergence: values.flag("fast_convergence"),
            reno_friendly: values.flag("reno_friendly"),
        }
    }

    pub(crate) fn in_slow_start(&self) -> bool {
        self.window.in_slow_start() || (self.at_threshold && self.window.cwnd == self.window.ssthresh)
    }

    /// Takes the RTT sample and does slow start. Returns the acknowledged bytes that are left for congestion avoidance.
    pub(crate) fn slow_start(&mut self, ack: &Ack, view: &View, epoch_age: Option<Span>) -> Bytes {
        if epoch_age.is_none_or(|age| age >= SETTLING) {
            let slow_start = self.in_slow_start();
            if self.hystart.on_ack(ack, view, self.window.cwnd, slow_start) {
                self.window.ssthresh = self.window.cwnd;
            }
        }
        let mut acked = ack.acked.min(self.slow_start_limit);
        if self.window.in_slow_start()
            && let Some(plus_plus) = &mut self.plus_plus
        {
            if plus_plus.on_ack(ack, view) {
                self.window.ssthresh = self.window.cwnd;
            } else if view.may_grow {
                acked = plus_plus.growth(acked);
            }
        }
        if !view.may_grow {
            Bytes::ZERO
        } else if self.window.in_slow_start() {
            self.window.slow_start(acked, self.slow_start_limit)
        } else if self.in_slow_start() {
            self.window.cwnd += acked;
            Bytes::ZERO
        } else {
            ack.acked
        }
    }

    /// The reduced window, or slow start from one segment after a time-out.
    pub(crate) fn reduce(&mut self, event: &Congestion, ssthresh: Bytes, view: &View) {
        // RFC 9406 §4.3: it serves the first slow start alone.
        self.plus_plus = None;
        if event.cause == Cause::Timeout {
            self.window.collapse(ssthresh, event);
            self.hystart.reset(view);
        } else {
            self.window.cut(ssthresh);
        }
    }

    pub(crate) fn observe(&self, put: &mut dyn FnMut(&'static str, f64)) {
        if let Some(plus_plus) = &self.plus_plus {
            put("css", f64::from(u8::from(plus_plus.is_conservative())));
        }
    }
}
