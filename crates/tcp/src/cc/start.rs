//! How a connection starts (`tcp.start`): a congestion control around another, which owns the window until slow start is over.
//!
//! While the start lasts the algorithm inside gets every call with `may_grow` false, so that it learns RTTs, and is told the
//! window. The start is over at its first exit, at congestion, when cwnd reaches ssthresh, and when an idle period or the
//! algorithm itself has taken the window down; from then on the algorithm is alone, but with HyStart, which serves every slow
//! start as in Linux (`served.rs`). `search.rs` has SEARCH, `rapid.rs` rapid start, `resume.rs` Careful Resume, `by_rate.rs` the
//! same around BBR, `config.rs` the choices.

mod by_rate;
mod config;
mod passed_on;
mod rapid;
mod resume;
mod search;
mod served;

use super::controller::CongestionControl;
use super::hystart::{HyStart, PlusPlus};
use super::signals::{Ack, Cause, Congestion, Resumption, Sent, State, View};
use super::window::Window;
use crate::units::{Bytes, Rate, Span};

pub use config::{Begin, Exit, Growth, ResumeConfig, StartConfig};
use passed_on::passed_on;
use rapid::{Fall, Rapid};
use resume::{Phase, Resume, Says};
pub use search::SearchConfig;
use search::{Drain, Search};
use served::Served;

/// What watches for the end of slow start.
#[derive(Debug)]
enum Watch {
    Nothing,
    HyStart(HyStart),
    PlusPlus(PlusPlus),
    Search(Box<Search>),
}

/// A start around an algorithm.
#[derive(Debug)]
struct Start {
    inside: Box<dyn CongestionControl>,
    /// While it lasts.
    window: Window,
    /// What an ACK may add.
    limit: Bytes,
    exit: Watch,
    rapid: Option<Rapid>,
    resume: Option<Resume>,
    /// After the first loss or mark of rapid start.
    fall: Option<Fall>,
    /// After SEARCH has found the end.
    drain: Option<Drain>,
    initial_window: Bytes,
    lasts: bool,
}

impl Start {
    /// The algorithm inside goes on from this window.
    fn finish(&mut self, window: Window) {
        self.inside.begin(window);
        self.lasts = false;
    }

    /// The algorithm inside is told of the window before a call in which it may change it itself.
    fn tell(&mut self) {
        if self.lasts {
            self.inside.begin(self.window);
        }
    }

    /// The window has been changed by the algorithm itself: that ends the start.
    fn follow(&mut self) {
        let window = self.inside.window();
        self.lasts &= window == self.window;
    }

    /// The window at which slow start is to end, if this ACK shows that; SEARCH may begin to drain instead.
    fn find_end(&mut self, ack: &Ack, view: &View) -> Option<Bytes> {
        let (cwnd, slow_start) = (self.window.cwnd, self.window.in_slow_start());
        match &mut self.exit {
            Watch::Nothing => None,
            Watch::HyStart(hystart) => hystart.on_ack(ack, view, cwnd, slow_start).then_some(cwnd),
            Watch::PlusPlus(plus_plus) => plus_plus.on_ack(ack, view).then_some(cwnd),
            Watch::Search(search) => {
                let target = search.on_ack(ack, view)?;
                if !search.drains() {
                    return Some(cwnd);
                }
                self.window.cwnd = view.pipe.max(target).min(cwnd);
                self.drain = Some(Drain::to(target));
                None
            }
        }
    }

    /// Slow start. Returns the acknowledged bytes that are left for congestion avoidance, if ssthresh is reached.
    fn grow(&mut self, ack: &Ack, view: &View) -> Option<Bytes> {
        if !view.may_grow {
            return None;
        }
        let mut acked = ack.acked.min(self.limit);
        if let Watch::PlusPlus(plus_plus) = &mut self.exit {
            acked = plus_plus.growth(acked);
        }
        if let Some(rapid) = &mut self.rapid {
            let conservative = matches!(&self.exit, Watch::PlusPlus(plus_plus) if plus_plus.is_conservative());
            acked = Bytes(acked.0.saturating_mul(if conservative { 1 } else { rapid.factor(view) }));
            rapid.on_growth(self.window.cwnd + acked, view.min_rtt);
        }
        let left = self.window.slow_start(acked, self.limit);
        (!self.window.in_slow_start()).then_some(left)
    }

    /// Slow start while the start lasts.
    fn start_on_ack(&mut self, ack: &Ack, view: &View) {
        if self.fall.is_some() && view.state <= State::Disorder {
            // The losses were none, but there is no window to return to: the episode has ended without a word.
            self.finish(Window { ssthresh: self.window.cwnd, ..self.window });
            return self.inside.on_ack(ack, view);
        }
        if let Some(rapid) = &mut self.rapid {
            rapid.on_ack(ack, view, self.window.cwnd);
        }
        let says = self.resume.as_mut().map_or(Says::Nothing, |resume| resume.on_ack(&mut self.window.cwnd, view));
        if let Says::Ends { ssthresh } = says {
            return self.finish(Window { ssthresh, ..self.window });
        }
        if let Some(fall) = &mut self.fall {
            fall.on_ack(view);
            self.window.cwnd = fall.cwnd();
        } else if says != Says::Nothing {
            if says == Says::Grows {
                self.grow(ack, view);
            }
        } else if let Some(drain) = &mut self.drain {
            self.window.cwnd = drain.on_ack(ack, view);
            if drain.is_over(self.window.cwnd) {
                return self.finish(Window { cwnd: self.window.cwnd, ssthresh: self.window.cwnd });
            }
        } else if let Some(end) = self.find_end(ack, view) {
            // What this ACK acknowledges counts for congestion avoidance, as where an algorithm has its own exit.
            self.finish(Window { cwnd: end, ssthresh: end });
            return self.inside.on_ack(ack, view);
        } else if self.drain.is_none()
            && let Some(left) = self.grow(ack, view)
        {
            self.finish(self.window);
            return self.inside.on_ack(&Ack { acked: left, ..*ack }, view);
        }
        self.inside.begin(self.window);
        self.inside.on_ack(ack, &View { may_grow: false, ..*view });
        self.follow();
    }

    fn stage(&self) -> f64 {
        match self.resume.as_ref().map(Resume::phase).filter(|_| self.lasts) {
            Some(Phase::Unvalidated { .. }) => return 4.0,
            Some(Phase::Validating { .. }) => return 5.0,
            Some(Phase::Retreat { .. }) => return 6.0,
            _ => {}
        }
        match &self.exit {
            _ if !self.lasts => 0.0,
            _ if self.drain.is_some() => 3.0,
            Watch::PlusPlus(plus_plus) if plus_plus.is_conservative() => 2.0,
            _ => 1.0,
        }
    }
}

impl CongestionControl for Start {
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        if self.lasts { self.start_on_ack(ack, view) } else { self.inside.on_ack(ack, view) }
    }

    fn on_congestion(&mut self, event: &Congestion, view: &View) {
        let own = self.lasts && event.cause != Cause::Timeout;
        if own && let Some(cwnd) = self.resume.as_mut().and_then(|resume| resume.on_congestion(view)) {
            self.window = Window { cwnd, ssthresh: cwnd };
            return;
        }
        if own && self.rapid.is_some() {
            // Rapid start has a response of its own, to the first episode.
            let (cwnd, beta) = (self.window.cwnd, self.inside.beta());
            let fall = self.fall.get_or_insert_with(|| Fall::new(cwnd, beta, self.initial_window, view));
            self.window = Window { cwnd: fall.cwnd(), ssthresh: fall.cwnd() };
            return;
        }
        if self.lasts {
            self.finish(self.window);
        }
        if let Watch::HyStart(hystart) = &mut self.exit
            && event.cause == Cause::Timeout
        {
            hystart.reset(view);
        }
        self.inside.on_congestion(event, view);
    }

    fn begin(&mut self, window: Window) {
        self.window = window;
        self.inside.begin(window);
    }

    fn after_round(&self, window: Bytes, view: &View) -> Bytes {
        self.inside.after_round(window, view)
    }

    fn window(&mut self) -> Window {
        if self.lasts { self.window } else { self.inside.window() }
    }

    fn hand_over(&mut self) -> Option<Box<dyn CongestionControl>> {
        if self.lasts {
            return None;
        }
        let inside = std::mem::replace(&mut self.inside, Box::new(Gone));
        match std::mem::replace(&mut self.exit, Watch::Nothing) {
            Watch::HyStart(hystart) => Some(Box::new(Served { inside, hystart })),
            _ => Some(inside),
        }
    }

    fn owns_window(&self) -> bool {
        let retreats = self.resume.as_ref().is_some_and(|resume| matches!(resume.phase(), Phase::Retreat { .. }));
        self.lasts && (self.fall.is_some() || retreats)
    }

    fn resumption(&self) -> Option<Resumption> {
        let so_far = self.resume.as_ref()?.so_far();
        Some(Resumption { over: so_far.over || !self.lasts, ..so_far })
    }

    fn on_recovery_end(&mut self, view: &View) {
        if self.owns_window() {
            let retreat = self.resume.as_mut().filter(|_| self.fall.is_none());
            let ssthresh = retreat.map_or(self.window.cwnd, Resume::end_retreat);
            return self.finish(Window { ssthresh, ..self.window });
        }
        self.inside.on_recovery_end(view);
    }

    fn on_undo(&mut self, before: Window, view: &View) {
        if self.owns_window() {
            return self.finish(before);
        }
        self.inside.on_undo(before, view);
    }

    fn on_sent(&mut self, sent: &Sent) {
        if let Watch::Search(search) = &mut self.exit {
            search.on_sent(sent.bytes);
        }
        if let Some(rapid) = &mut self.rapid {
            rapid.on_sent(sent.bytes);
        }
        if let Some(resume) = self.resume.as_mut().filter(|_| self.lasts) {
            resume.on_sent(&mut self.window.cwnd, sent);
        }
        self.inside.on_sent(sent);
    }

    passed_on!();

    fn on_idle(&mut self, idle: Span, view: &View) {
        self.tell();
        self.inside.on_idle(idle, view);
        self.follow();
    }

    fn on_timer(&mut self, view: &View) {
        self.tell();
        self.inside.on_timer(&View { may_grow: view.may_grow && !self.lasts, ..*view });
        self.follow();
    }

    fn pacing_rate(&self) -> Option<Rate> {
        let own = self.resume.as_ref().and_then(Resume::pacing_rate);
        own.or_else(|| self.rapid.as_ref().and_then(Rapid::pacing_rate)).or_else(|| self.inside.pacing_rate())
    }

    fn observe(&self, put: &mut dyn FnMut(&'static str, f64)) {
        self.inside.observe(put);
        put(StartConfig::SHOWN[0].name, self.stage());
        if let Some(drain) = &self.drain {
            put(StartConfig::SHOWN[1].name, drain.target().as_f64());
        }
    }
}

/// What stands inside a start that has handed its algorithm over, until it is dropped.
#[derive(Debug)]
struct Gone;

impl CongestionControl for Gone {
    fn on_ack(&mut self, _ack: &Ack, _view: &View) {
        unreachable!("a start that is over is asked no more");
    }

    fn on_congestion(&mut self, _event: &Congestion, _view: &View) {
        unreachable!("a start that is over is asked no more");
    }
}

#[cfg(test)]
mod tests;
