//! The algorithm of a sender, and what it last said. It is asked once after each call that may change its mind, not at
//! each of the many places that want to know.

use crate::cc::{Ack, Congestion, CongestionControl, Decision, Lost, Sent, View, Window};
use crate::units::{Bytes, Rate, Span, Time};

/// An algorithm and what it last said.
#[derive(Debug)]
pub(super) struct Control {
    standing: Decision,
    algorithm: Box<dyn CongestionControl>,
}

impl Control {
    pub(super) fn new(algorithm: Box<dyn CongestionControl>) -> Control {
        Control { standing: algorithm.decision(), algorithm }
    }

    pub(super) fn window(&self) -> Window {
        self.standing.window
    }

    pub(super) fn next_timer(&self) -> Option<Time> {
        self.standing.next_timer
    }

    pub(super) fn pacing_rate(&self) -> Option<Rate> {
        self.standing.pacing_rate
    }

    pub(super) fn wants_reduction(&self) -> bool {
        self.standing.wants_reduction
    }

    pub(super) fn head_timeout(&self) -> Option<Span> {
        self.algorithm.head_timeout()
    }

    pub(super) fn send_quantum(&self) -> Option<Bytes> {
        self.algorithm.send_quantum()
    }

    pub(super) fn on_ack(&mut self, ack: &Ack, view: &View) {
        self.algorithm.on_ack(ack, view);
        self.standing = self.algorithm.decision();
    }

    pub(super) fn on_congestion(&mut self, event: &Congestion, view: &View) {
        self.algorithm.on_congestion(event, view);
        self.standing = self.algorithm.decision();
    }

    pub(super) fn on_recovery_end(&mut self, view: &View) {
        self.algorithm.on_recovery_end(view);
        self.standing = self.algorithm.decision();
    }

    pub(super) fn on_undo(&mut self, before: Window, view: &View) {
        self.algorithm.on_undo(before, view);
        self.standing = self.algorithm.decision();
    }

    pub(super) fn on_sent(&mut self, sent: &Sent) {
        self.algorithm.on_sent(sent);
        self.standing = self.algorithm.decision();
    }

    pub(super) fn on_lost(&mut self, lost: &Lost, view: &View) {
        self.algorithm.on_lost(lost, view);
        self.standing = self.algorithm.decision();
    }

    pub(super) fn on_idle(&mut self, idle: Span, view: &View) {
        self.algorithm.on_idle(idle, view);
        self.standing = self.algorithm.decision();
    }

    pub(super) fn on_timer(&mut self, view: &View) {
        self.algorithm.on_timer(view);
        self.standing = self.algorithm.decision();
    }
}
