//! What shapers have in common: rates that change at given times, and wake-ups that are not exact.

use std::collections::VecDeque;

use tcp::units::{Rate, Span, Time};

use super::Dequeued;

/// New rates, each from its time on.
#[derive(Debug, Default)]
pub(super) struct RateChanges(VecDeque<(Time, Rate)>);

impl RateChanges {
    /// In the order of their times.
    pub(super) fn new(changes: impl Iterator<Item = (Span, Rate)>) -> RateChanges {
        RateChanges(changes.map(|(at, rate)| (Time::ZERO + at, rate)).collect())
    }

    /// The next change whose time has come.
    pub(super) fn next_due(&mut self, now: Time) -> Option<(Time, Rate)> {
        self.0.pop_front_if(|(at, _)| *at <= now)
    }

    /// When the next one comes.
    pub(super) fn next(&self) -> Option<Time> {
        self.0.front().map(|(at, _)| *at)
    }

    /// Who waits is asked again when a rate changes.
    pub(super) fn bound(&self, at: Time) -> Time {
        self.next().map_or(at, |change| at.min(change))
    }
}

/// When a shaper that holds packets back looks again: exactly when it may send, or at the next tick of a timer.
#[derive(Debug)]
pub(super) struct Wakes {
    every: Option<Span>,
    asleep_until: Time,
}

impl Wakes {
    pub(super) fn new(every: Option<Span>) -> Wakes {
        Wakes { every, asleep_until: Time::ZERO }
    }

    /// What a sleeping shaper answers, whoever asks.
    pub(super) fn asleep(&self, now: Time, packets: u64) -> Option<Dequeued> {
        let answer = if packets == 0 { Dequeued::Empty } else { Dequeued::Later(self.asleep_until) };
        (self.asleep_until > now).then_some(answer)
    }

    /// Sleeps until the first tick at which packets may leave.
    pub(super) fn sleep(&mut self, at: Time) -> Dequeued {
        let Some(every) = self.every else { return Dequeued::Later(at) };
        let ticks = at.as_nanos().div_ceil(every.as_nanos());
        self.asleep_until = Time::from_nanos(ticks.saturating_mul(every.as_nanos()));
        Dequeued::Later(self.asleep_until)
    }
}
