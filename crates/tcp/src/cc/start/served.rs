//! An algorithm after its start, where HyStart watches for the end of every later slow start too, as in Linux.

use super::passed_on::passed_on;
use crate::cc::controller::{CongestionControl, Decision};
use crate::cc::hystart::HyStart;
use crate::cc::signals::{Ack, Cause, Congestion, Sent, View};
use crate::cc::window::Window;
use crate::units::{Bytes, Rate, Span};

/// An algorithm and the detector beside it, which does nothing but lower ssthresh.
#[derive(Debug)]
pub(super) struct Served {
    pub(super) inside: Box<dyn CongestionControl>,
    pub(super) hystart: HyStart,
}

impl CongestionControl for Served {
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        let window = self.inside.window();
        if self.hystart.on_ack(ack, view, window.cwnd, window.in_slow_start()) {
            self.inside.begin(Window { ssthresh: window.cwnd, ..window });
        }
        self.inside.on_ack(ack, view);
    }

    fn on_congestion(&mut self, event: &Congestion, view: &View) {
        if event.cause == Cause::Timeout {
            self.hystart.reset(view);
        }
        self.inside.on_congestion(event, view);
    }

    fn window(&mut self) -> Window {
        self.inside.window()
    }

    fn begin(&mut self, window: Window) {
        self.inside.begin(window);
    }

    fn after_round(&self, window: Bytes, view: &View) -> Bytes {
        self.inside.after_round(window, view)
    }

    fn on_recovery_end(&mut self, view: &View) {
        self.inside.on_recovery_end(view);
    }

    fn on_undo(&mut self, before: Window, view: &View) {
        self.inside.on_undo(before, view);
    }

    fn on_sent(&mut self, sent: &Sent) {
        self.inside.on_sent(sent);
    }

    passed_on!();

    fn on_idle(&mut self, idle: Span, view: &View) {
        self.inside.on_idle(idle, view);
    }

    fn on_timer(&mut self, view: &View) {
        self.inside.on_timer(view);
    }

    fn beta(&self) -> f64 {
        self.inside.beta()
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.inside.pacing_rate()
    }

    fn decision(&mut self) -> Decision {
        self.inside.decision()
    }

    fn observe(&self, put: &mut dyn FnMut(&'static str, f64)) {
        self.inside.observe(put);
    }
}
