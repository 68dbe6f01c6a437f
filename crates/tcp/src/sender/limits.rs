//! What keeps a sender from sending more, and for how long: as Linux's `tcp_info` has its busy, rwnd- and sndbuf-limited times.

use crate::cc::State;
use crate::units::{Span, Time};

/// What keeps a sender from sending more, from one end of its send loop to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// There is nothing more to send, or less than a segment that waits for more; also while the send buffer is full.
    Application,
    /// The congestion window has no room for a segment.
    Cwnd,
    /// The receiver's window has none.
    Rwnd,
    /// The next segment waits for its time.
    Pacing,
    /// Losses are being repaired: the states Recovery and Loss, whatever else limits then.
    Recovery,
}

impl Limit {
    /// How many there are.
    pub const COUNT: usize = 5;
}

/// The limit in force, and how long each has been since the handshake or a restart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Absent once the FIN has been acknowledged.
    limit: Option<Limit>,
    since: Time,
    held: [Span; Limit::COUNT],
}

impl Limits {
    pub(crate) fn new(now: Time) -> Limits {
        Limits { limit: Some(Limit::Application), since: now, held: [Span::ZERO; Limit::COUNT] }
    }

    /// The send loop has run dry for this reason.
    #[inline]
    pub(crate) fn set(&mut self, now: Time, limit: Option<Limit>) {
        if limit != self.limit {
            self.held = self.held_until(now);
            (self.limit, self.since) = (limit, now);
        }
    }

    /// The limit in force.
    pub(crate) fn limit(&self) -> Option<Limit> {
        self.limit
    }

    /// How long each limit has been in force.
    pub(crate) fn held_until(&self, now: Time) -> [Span; Limit::COUNT] {
        let mut held = self.held;
        if let Some(limit) = self.limit {
            held[limit as usize] += now.since(self.since);
        }
        held
    }

    /// The measurement begins anew.
    pub(crate) fn restart(&mut self, now: Time) {
        *self = Limits { limit: self.limit, ..Limits::new(now) };
    }
}

/// What a sender in recovery, or one that has `other` reasons, is limited by.
#[inline]
pub(crate) fn in_state(state: State, other: Limit) -> Limit {
    if matches!(state, State::Recovery | State::Loss) { Limit::Recovery } else { other }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_add_up_to_the_time_until_the_end() {
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let mut limits = Limits::new(at(0));
        limits.set(at(10), Some(Limit::Cwnd));
        limits.set(at(20), Some(Limit::Cwnd));
        limits.set(at(25), Some(Limit::Rwnd));
        let held = |limits: &Limits, ms| limits.held_until(at(ms)).map(|span| span.as_nanos() / 1_000_000);
        assert_eq!(held(&limits, 30), [10, 15, 5, 0, 0]);
        limits.restart(at(30));
        limits.set(at(40), None);
        assert_eq!(held(&limits, 90), [0, 0, 10, 0, 0]);
    }
}
