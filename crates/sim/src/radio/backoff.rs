//! The backoff counter as a function of time: nothing random happens while slots are counted down, so only the instant
//! at which the counter reaches zero needs an event.

use tcp::rng::Rng;
use tcp::units::{Span, Time};

/// The backoff of a station.
#[derive(Clone, Debug)]
pub(super) struct Backoff {
    /// The contention window: backoffs are drawn from 0 to it.
    pub(super) cw: u32,
    /// Slots left, during a backoff.
    pub(super) slots: Option<u32>,
    /// No slot is counted before this time.
    since: Time,
    rng: Rng,
}

impl Backoff {
    pub(super) fn new(cw: u32, rng: Rng) -> Backoff {
        Backoff { cw, slots: None, since: Time::ZERO, rng }
    }

    /// Draws a backoff that starts at `since`, from 0 to the contention window, or to one less.
    pub(super) fn draw(&mut self, since: Time, below_window: bool) {
        let max = if below_window { self.cw.saturating_sub(1) } else { self.cw };
        self.slots = Some(self.rng.below(u64::from(max) + 1) as u32);
        self.since = since;
    }

    /// Doubles the contention window after a failure.
    pub(super) fn widen_cw(&mut self, max: u32) {
        self.cw = (2 * self.cw + 1).min(max);
    }

    /// Start of the countdown, given the end of the interframe space.
    fn base(&self, ifs_end: Time) -> Time {
        self.since.max(ifs_end)
    }

    /// Time at which the backoff ends if the medium stays idle.
    pub(super) fn access(&self, ifs_end: Time, slot: Span) -> Option<Time> {
        self.slots.map(|slots| self.base(ifs_end) + slot * u64::from(slots))
    }

    /// Slots left if the medium becomes busy at `at`; an incomplete slot does not count.
    pub(super) fn left(&self, at: Time, ifs_end: Time, slot: Span) -> u32 {
        let base = self.base(ifs_end);
        let slots = self.slots.unwrap_or(0);
        if at <= base {
            return slots;
        }
        let counted = at.since(base).as_nanos() / slot.as_nanos();
        slots - u32::try_from(counted).unwrap_or(u32::MAX).min(slots)
    }

    /// Suspends the countdown, the medium being busy from `at` on. A backoff that ended before with nothing to send is
    /// over.
    pub(super) fn freeze(&mut self, at: Time, ifs_end: Time, slot: Span) {
        let Some(access) = self.access(ifs_end, slot) else { return };
        self.slots = if access <= at { None } else { Some(self.left(at, ifs_end, slot)) };
    }
}
