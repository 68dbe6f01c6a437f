//! The trait of congestion control: what an algorithm is asked, and what it decides.

use std::fmt;

use super::signals::{Ack, Congestion, Lost, Sent, View};
use super::window::Window;
use crate::units::{Bytes, Rate, Span, Time};

/// A congestion-control algorithm. It never touches a segment; it answers with [`CongestionControl::window`].
pub trait CongestionControl: fmt::Debug + Send {
    /// Every ACK that carries information, in every state, duplicates included.
    /// Classic growth belongs under `view.may_grow`.
    fn on_ack(&mut self, ack: &Ack, view: &View);

    /// Once per episode of congestion; the algorithm sets its own cwnd and ssthresh.
    fn on_congestion(&mut self, event: &Congestion, view: &View);

    /// cwnd and ssthresh as they stand.
    fn window(&self) -> Window;

    /// The recovery point has been acknowledged. Used by NewReno (RFC 6582 §3.2 step 3).
    fn on_recovery_end(&mut self, _view: &View) {}

    /// The episode was spurious; `before` is what [`CongestionControl::window`] said when it began.
    fn on_undo(&mut self, before: Window, view: &View);

    /// A segment left. Used by rate-based algorithms.
    fn on_sent(&mut self, _sent: &Sent) {}

    /// A segment was newly marked lost. Comes before [`CongestionControl::on_congestion`], if that follows.
    fn on_lost(&mut self, _lost: &Lost, _view: &View) {}

    /// First transmission of new data after `idle` of silence with nothing outstanding. The window is to shrink only if
    /// `view.slow_start_after_idle` says so. Used by Reno (RFC 5681 §4.1) and CUBIC.
    fn on_idle(&mut self, _idle: Span, _view: &View) {}

    /// [`CongestionControl::next_timer`] has been reached.
    fn on_timer(&mut self, _view: &View) {}

    /// When to call [`CongestionControl::on_timer`]; asked again after every call of the others.
    fn next_timer(&self) -> Option<Time> {
        None
    }

    /// With recovery `vegas`: a duplicate ACK sends the oldest segment again once it is this old.
    fn head_timeout(&self) -> Option<Span> {
        None
    }

    /// The algorithm itself sees congestion and wants the window to come down as after an ECN echo; asked after each
    /// ACK. [`CongestionControl::on_congestion`] follows at once, unless an episode is under way. CDG.
    fn wants_reduction(&self) -> bool {
        false
    }

    /// The rate to send at; `None` leaves it to the connection, which paces only if it is set to.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    /// So much leaves at once when paced, and a bundle that leaves late shortens the pause after it, as in Linux; `None`:
    /// single segments.
    fn send_quantum(&self) -> Option<Bytes> {
        None
    }

    /// What these four say, in one call: the sender asks for it after each call that may have changed it. Not to be
    /// written anew.
    fn decision(&self) -> Decision {
        Decision {
            window: self.window(),
            pacing_rate: self.pacing_rate(),
            next_timer: self.next_timer(),
            wants_reduction: self.wants_reduction(),
        }
    }

    /// Named internals for traces, read-only.
    fn observe(&self, _put: &mut dyn FnMut(&'static str, f64)) {}
}

/// What an algorithm says when asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decision {
    /// [`super::CongestionControl::window`]
    pub window: Window,
    /// [`super::CongestionControl::pacing_rate`]
    pub pacing_rate: Option<Rate>,
    /// [`super::CongestionControl::next_timer`]
    pub next_timer: Option<Time>,
    /// [`super::CongestionControl::wants_reduction`]
    pub wants_reduction: bool,
}
