//! The congestion-control trait: the signals an algorithm receives and what it decides.

use std::fmt;

use super::signals::{Ack, Congestion, Lost, Resumption, Sent, View};
use super::window::Window;
use crate::compat::AgentSignals;
use crate::units::{Bytes, Rate, Span, Time};

/// A congestion-control algorithm. It receives signals and decides a window and a rate; it never handles a segment.
pub trait CongestionControl: fmt::Debug + Send {
    /// Called for every ACK that carries information, in every state, duplicates included.
    /// Classic growth is conditional on `view.may_grow`.
    fn on_ack(&mut self, ack: &Ack, view: &View);

    /// Called once per congestion episode; the algorithm sets its own cwnd and ssthresh.
    fn on_congestion(&mut self, event: &Congestion, view: &View);

    /// cwnd and ssthresh where the algorithm keeps them as such. One that does not has `window` and `on_undo` of its own.
    fn window_mut(&mut self) -> &mut Window {
        unreachable!("{self:?} has neither a `Window` nor `window` and `on_undo` of its own")
    }

    /// Current cwnd and ssthresh.
    fn window(&mut self) -> Window {
        *self.window_mut()
    }

    /// The window that a start around it ([`super::start`]) has reached: it goes on from there. While the start lasts it is told
    /// of each change.
    fn begin(&mut self, window: Window) {
        *self.window_mut() = window;
    }

    /// The window that `window`, acknowledged once, makes of itself in congestion avoidance: what the window of a sender may be
    /// that has never had more outstanding (draft-ietf-ccwg-ratelimited-increase).
    fn after_round(&self, window: Bytes, view: &View) -> Bytes {
        window + view.mss
    }

    /// The algorithm inside, once a start around it is over; queried while there is one.
    fn hand_over(&mut self) -> Option<Box<dyn CongestionControl>> {
        None
    }

    /// Called when the recovery point is acknowledged. NewReno (RFC 6582 §3.2 step 3).
    fn on_recovery_end(&mut self, _view: &View) {}

    /// Called when the episode proves spurious; `before` is [`CongestionControl::window`] when it began.
    fn on_undo(&mut self, before: Window, _view: &View) {
        self.window_mut().restore(before);
    }

    /// Called for every segment sent. Rate-based algorithms.
    fn on_sent(&mut self, _sent: &Sent) {}

    /// Called for every segment newly marked lost, before [`CongestionControl::on_congestion`] if that follows.
    fn on_lost(&mut self, _lost: &Lost, _view: &View) {}

    /// Called at the first transmission of new data after nothing was outstanding for `idle`. cwnd may shrink only if
    /// `view.slow_start_after_idle`. Reno (RFC 5681 §4.1), CUBIC.
    fn on_idle(&mut self, _idle: Span, _view: &View) {}

    /// Called when [`CongestionControl::next_timer`] is reached.
    fn on_timer(&mut self, _view: &View) {}

    /// When to call [`CongestionControl::on_timer`]; queried after every other call.
    fn next_timer(&self) -> Option<Time> {
        None
    }

    /// What only agents of other simulators ask and tell.
    fn agent(&mut self) -> Option<&mut dyn AgentSignals> {
        None
    }

    /// True if the algorithm itself detects congestion and requests a reduction as after an ECN echo; queried after each
    /// ACK. [`CongestionControl::on_congestion`] follows immediately unless an episode is in progress. CDG.
    fn wants_reduction(&self) -> bool {
        false
    }

    /// True if the sender keeps two rules of RFCs that Linux does not: the loss of a retransmission reduces again (RFC 5681
    /// §4.3), and a mark at a window of one segment stops it until its retransmission timer expires (RFC 3168 §6.1.2).
    fn is_strict(&self) -> bool {
        false
    }

    /// What it keeps of its window after a loss, for a start that answers to the first loss in its place.
    fn beta(&self) -> f64 {
        0.5
    }

    /// Of a start around it: what has become of a window that was saved.
    fn resumption(&self) -> Option<Resumption> {
        None
    }

    /// True while a start around it sets the window in recovery too, as algorithms do that require it.
    fn owns_window(&self) -> bool {
        false
    }

    /// True if a mark reduces less than a loss does: a loss in the round trip of a mark is then a congestion of its own, with
    /// [`Congestion::again`] (RFC 8511: the loss counts).
    fn spares_marks(&self) -> bool {
        false
    }

    /// Pacing rate; `None` leaves it to the connection, which paces only if so configured.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    /// Pacing quantum: bytes released in one burst. A burst released late shortens the pause after it, as in Linux. `None`:
    /// single segments.
    fn send_quantum(&self) -> Option<Bytes> {
        None
    }

    /// The four answers in one call: the sender queries it after each call that may have changed one. Overridden
    /// only to pass the call on.
    fn decision(&mut self) -> Decision {
        Decision {
            window: self.window(),
            pacing_rate: self.pacing_rate(),
            next_timer: self.next_timer(),
            wants_reduction: self.wants_reduction(),
        }
    }

    /// Passes named internal variables to `put`, for traces.
    fn observe(&self, _put: &mut dyn FnMut(&'static str, f64)) {}
}

/// What an algorithm decides.
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
