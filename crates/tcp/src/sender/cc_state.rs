//! The algorithm of a sender and its last decision. It is asked once after each call that may change the decision, not at
//! each of the many places that need it.

use super::observer::Observer;
use super::validation::Validation;
use crate::cc::{
    Ack, Congestion, CongestionControl, Decision, Lost, Resumption, Saved, Sent, Setup, StartConfig, View, Window,
};
use crate::compat::AgentSignals;
use crate::config::TcpConfig;
use crate::units::{Bytes, Rate, Span, Time};

/// An algorithm and its last decision.
#[derive(Debug)]
pub(crate) struct CcState {
    decision: Decision,
    algorithm: Box<dyn CongestionControl>,
    /// What stands around the algorithm, if anything does.
    around: Option<Box<Around>>,
}

/// What stands around an algorithm.
#[derive(Debug)]
struct Around {
    start: Start,
    /// The start sets the window in the episode under way.
    owns_window: bool,
    /// Another rule than Linux's for a window that is not used.
    validation: Option<Validation>,
    /// What has become of a window that was saved, once the start is over.
    resumption: Option<Resumption>,
    /// What it sees of its path, for the next connection.
    observer: Option<Observer>,
    clamp: Option<Clamp>,
}

/// What cwnd may be at most (Linux: snd_cwnd_clamp).
#[derive(Clone, Copy, Debug)]
struct Clamp {
    most: Bytes,
    /// The algorithm keeps cwnd as such and goes on from where it is cut; that of one that computes it anew is cut each time.
    is_told: bool,
}

impl Clamp {
    /// Of a connection whose segments hold `mss`: at least one of them.
    fn of(config: &TcpConfig, mss: Bytes) -> Option<Clamp> {
        let most = Some(config.cwnd_clamp).filter(|clamp| *clamp < Bytes::MAX)?;
        let is_told = !config.cc.algorithm.requirements.owns_window;
        Some(Clamp { most: config.in_segments_of(mss, most).max(mss), is_told })
    }

    fn cut(self, algorithm: &mut dyn CongestionControl, decision: &mut Decision) {
        if decision.window.cwnd <= self.most {
            return;
        }
        decision.window.cwnd = self.most;
        if self.is_told {
            algorithm.begin(decision.window);
        }
    }
}

/// A start of the connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Start {
    None,
    Lasts,
    Over,
}

impl CcState {
    /// The algorithm of a connection, with its start around it if it has one.
    pub(crate) fn new(config: &TcpConfig, setup: &Setup) -> CcState {
        let inside = config.cc.build(setup);
        let (mut algorithm, start) = match &config.start {
            Some(start) => (start.around(inside, &config.cc, setup), Start::Lasts),
            None => (inside, Start::None),
        };
        let validation = Validation::of(config.cwnd_validation, setup.initial_window);
        let resumes = config.start.as_ref().is_some_and(StartConfig::resumes);
        let observer = resumes.then(Observer::default);
        let clamp = Clamp::of(config, setup.mss);
        let needed = start != Start::None || validation.is_some() || clamp.is_some();
        let around = Around { start, owns_window: false, validation, resumption: None, observer, clamp };
        let around = needed.then(|| Box::new(around));
        let mut state = CcState { decision: algorithm.decision(), algorithm, around };
        state.clamp();
        state
    }

    /// The algorithm may have decided otherwise.
    #[inline]
    fn settle(&mut self) {
        self.decision = self.algorithm.decision();
        if !self.is_alone() {
            self.end_start();
            self.clamp();
        }
    }

    /// The window stops at its clamp, if it has one.
    fn clamp(&mut self) {
        if let Some(clamp) = self.around.as_deref().and_then(|around| around.clamp) {
            clamp.cut(&mut *self.algorithm, &mut self.decision);
        }
    }

    /// Nothing has a say beside the algorithm: nothing ever stood around it, or it was a start that is over.
    #[inline]
    fn is_alone(&self) -> bool {
        self.around
            .as_deref()
            .is_none_or(|around| around.start == Start::Over && around.validation.is_none() && around.clamp.is_none())
    }

    /// The decision after an ACK is made.
    #[inline]
    fn observe_path(&mut self, view: &View) {
        if let Some(observer) = self.around.as_deref_mut().and_then(|around| around.observer.as_mut()) {
            observer.on_ack(view, self.decision.window);
        }
    }

    /// A start may own the window for an episode; once it is over nothing is left of it but the algorithm inside.
    #[cold]
    #[inline(never)]
    fn end_start(&mut self) {
        let Some(around) = self.around.as_deref_mut().filter(|around| around.start == Start::Lasts) else { return };
        around.owns_window = self.algorithm.owns_window();
        let resumption = self.algorithm.resumption();
        if let Some(inside) = self.algorithm.hand_over() {
            (self.algorithm, around.start, around.resumption) = (inside, Start::Over, resumption);
            self.decision = self.algorithm.decision();
        }
    }

    #[inline]
    fn start(&self) -> Start {
        self.around.as_deref().map_or(Start::None, |around| around.start)
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

    /// What has become of a window that was saved, if one was.
    pub(crate) fn resumption(&self) -> Option<Resumption> {
        self.algorithm.resumption().or_else(|| self.around.as_deref()?.resumption)
    }

    /// What it leaves to the next connection of its pair of nodes, if its start is one that resumes.
    pub(crate) fn saved(&self, view: &View) -> Option<Saved> {
        self.around.as_deref().and_then(|around| around.observer.as_ref()).and_then(|observer| observer.saved(view))
    }

    /// In the episode under way the window is that of the start.
    #[inline]
    pub(crate) fn start_owns_window(&self) -> bool {
        self.around.as_deref().is_some_and(|around| around.owns_window)
    }

    /// A start paces that spreads its first window: the initial window has been sent.
    #[inline]
    pub(crate) fn start_paces(&self) -> bool {
        self.start() == Start::Lasts && self.decision.pacing_rate.is_some()
    }

    #[inline]
    pub(crate) fn wants_reduction(&self) -> bool {
        self.decision.wants_reduction
    }

    pub(crate) fn is_strict(&self) -> bool {
        self.algorithm.is_strict()
    }

    pub(crate) fn spares_marks(&self) -> bool {
        self.algorithm.spares_marks()
    }

    pub(crate) fn observe(&self, put: &mut dyn FnMut(&'static str, f64)) {
        self.algorithm.observe(put);
        if self.start() == Start::Over {
            put(StartConfig::SHOWN[0].name, 0.0);
        }
    }

    pub(crate) fn agent(&mut self) -> Option<&mut dyn AgentSignals> {
        self.algorithm.agent()
    }

    pub(crate) fn send_quantum(&self) -> Option<Bytes> {
        self.algorithm.send_quantum()
    }

    #[inline]
    pub(crate) fn on_ack(&mut self, ack: &Ack, view: &View) {
        if !self.is_alone() {
            return self.on_ack_around(ack, view);
        }
        self.algorithm.on_ack(ack, view);
        self.decision = self.algorithm.decision();
        self.observe_path(view);
    }

    #[cold]
    #[inline(never)]
    fn on_ack_around(&mut self, ack: &Ack, view: &View) {
        match validation(&mut self.around) {
            None => self.algorithm.on_ack(ack, view),
            Some(rule) => rule.on_ack(&mut *self.algorithm, ack, view, self.decision.window),
        }
        self.settle();
        self.observe_path(view);
    }

    pub(crate) fn on_congestion(&mut self, event: &Congestion, view: &View) {
        self.algorithm.on_congestion(event, view);
        if let Some(rule) = validation(&mut self.around) {
            rule.on_congestion(&mut *self.algorithm, event, view);
        }
        self.settle();
    }

    pub(crate) fn on_recovery_end(&mut self, view: &View) {
        self.algorithm.on_recovery_end(view);
        if let Some(rule) = validation(&mut self.around) {
            rule.on_recovery_end(&mut *self.algorithm, view);
        }
        self.settle();
    }

    pub(crate) fn on_undo(&mut self, before: Window, view: &View) {
        self.algorithm.on_undo(before, view);
        if let Some(rule) = validation(&mut self.around) {
            rule.on_undo();
        }
        self.settle();
    }

    #[inline]
    pub(crate) fn on_sent(&mut self, sent: &Sent, flight: Bytes) {
        self.algorithm.on_sent(sent);
        if !self.is_alone() {
            return self.on_sent_around(sent, flight);
        }
        self.decision = self.algorithm.decision();
    }

    #[cold]
    #[inline(never)]
    fn on_sent_around(&mut self, sent: &Sent, flight: Bytes) {
        if let Some(rule) = validation(&mut self.around) {
            rule.on_sent(sent, flight);
        }
        self.settle();
    }

    pub(crate) fn on_lost(&mut self, lost: &Lost, view: &View) {
        self.algorithm.on_lost(lost, view);
        self.settle();
    }

    pub(crate) fn on_idle(&mut self, idle: Span, view: &View) {
        let before = self.decision.window;
        self.algorithm.on_idle(idle, view);
        self.settle();
        let reduced = self.decision.window.cwnd < before.cwnd;
        if let Some(rule) = validation(&mut self.around).filter(|_| reduced) {
            rule.on_reduction();
        }
    }

    pub(crate) fn on_timer(&mut self, view: &View) {
        self.algorithm.on_timer(view);
        self.settle();
    }
}

/// The rule for a window that is not used, if it is another than Linux's.
fn validation(around: &mut Option<Box<Around>>) -> Option<&mut Validation> {
    around.as_deref_mut()?.validation.as_mut()
}
