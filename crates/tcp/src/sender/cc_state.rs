//! The algorithm of a sender and its last decision. It is asked once after each call that may change the decision, not at
//! each of the many places that need it.

use crate::cc::{Ack, Congestion, CongestionControl, Decision, Lost, Sent, View, Window};
use crate::compat::AgentSignals;
use crate::units::{Bytes, Rate, Span, Time};

/// An algorithm and its last decision.
#[derive(Debug)]
pub(crate) struct CcState {
    decision: Decision,
    algorithm: Box<dyn CongestionControl>,
}

impl CcState {
    pub(crate) fn new(mut algorithm: Box<dyn CongestionControl>) -> CcState {
        CcState { decision: algorithm.decision(), algorithm }
    }

    #[inline]
    pub(crate) fn window(&self) -> Window {
        self.decision.window
    }

    #[inline]
    pub(crate) fn next_timer(&self) -> Option<Time> {
        self.decision.next_timer
    }

    #[inline]
    pub(crate) fn pacing_rate(&self) -> Option<Rate> {
        self.decision.pacing_rate
    }

    #[inline]
    pub(crate) fn wants_reduction(&self) -> bool {
        self.decision.wants_reduction
    }

    pub(crate) fn is_strict(&self) -> bool {
        self.algorithm.is_strict()
    }

    pub(crate) fn observe(&self, put: &mut dyn FnMut(&'static str, f64)) {
        self.algorithm.observe(put);
    }

    pub(crate) fn agent(&mut self) -> Option<&mut dyn AgentSignals> {
        self.algorithm.agent()
    }

    pub(crate) fn send_quantum(&self) -> Option<Bytes> {
        self.algorithm.send_quantum()
    }

    pub(crate) fn on_ack(&mut self, ack: &Ack, view: &View) {
        self.algorithm.on_ack(ack, view);
        self.decision = self.algorithm.decision();
    }

    pub(crate) fn on_congestion(&mut self, event: &Congestion, view: &View) {
        self.algorithm.on_congestion(event, view);
        self.decision = self.algorithm.decision();
    }

    pub(crate) fn on_recovery_end(&mut self, view: &View) {
        self.algorithm.on_recovery_end(view);
        self.decision = self.algorithm.decision();
    }

    pub(crate) fn on_undo(&mut self, before: Window, view: &View) {
        self.algorithm.on_undo(before, view);
        self.decision = self.algorithm.decision();
    }

    pub(crate) fn on_sent(&mut self, sent: &Sent) {
        self.algorithm.on_sent(sent);
        self.decision = self.algorithm.decision();
    }

    pub(crate) fn on_lost(&mut self, lost: &Lost, view: &View) {
        self.algorithm.on_lost(lost, view);
        self.decision = self.algorithm.decision();
    }

    pub(crate) fn on_idle(&mut self, idle: Span, view: &View) {
        self.algorithm.on_idle(idle, view);
        self.decision = self.algorithm.decision();
    }

    pub(crate) fn on_timer(&mut self, view: &View) {
        self.algorithm.on_timer(view);
        self.decision = self.algorithm.decision();
    }
}
