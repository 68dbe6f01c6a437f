//! Backoff as a function of time: nothing random happens while slots are counted, so the one instant
//! that matters is when they run out.

use tcp::rng::Rng;
use tcp::units::{Span, Time};

/// A station's wait for the medium.
#[derive(Clone, Debug)]
pub(super) struct Contention {
    /// The contention window: draws are from 0 to it.
    pub(super) window: u32,
    /// Slots left, if a backoff is under way.
    pub(super) slots: Option<u32>,
    /// Slots are counted from here at the earliest.
    since: Time,
    draws: Rng,
}

impl Contention {
    pub(super) fn new(window: u32, draws: Rng) -> Contention {
        Contention { window, slots: None, since: Time::ZERO, draws }
    }

    /// Draws a backoff that counts from `since`: 0 to the window, or in ns-2 to one less.
    pub(super) fn draw(&mut self, since: Time, below_window: bool) {
        let most = if below_window { self.window.saturating_sub(1) } else { self.window };
        self.slots = Some(self.draws.below(u64::from(most) + 1) as u32);
        self.since = since;
    }

    /// The window after a failure.
    pub(super) fn widen(&mut self, most: u32) {
        self.window = (2 * self.window + 1).min(most);
    }

    /// When counting starts or started, the medium being free for access from `free_at` on.
    fn base(&self, free_at: Time) -> Time {
        self.since.max(free_at)
    }

    /// When the slots run out, if the medium stays idle.
    pub(super) fn access(&self, free_at: Time, slot: Span) -> Option<Time> {
        self.slots.map(|slots| self.base(free_at) + slot * u64::from(slots))
    }

    /// Slots left at `at` if the medium turns busy then; a slot cut short does not count.
    pub(super) fn left(&self, at: Time, free_at: Time, slot: Span) -> u32 {
        let base = self.base(free_at);
        let slots = self.slots.unwrap_or(0);
        if at <= base {
            return slots;
        }
        let counted = at.since(base).as_nanos() / slot.as_nanos();
        slots - u32::try_from(counted).unwrap_or(u32::MAX).min(slots)
    }

    /// The medium turns busy at `at`. What ran out unused, with nothing to send, is over.
    pub(super) fn freeze(&mut self, at: Time, free_at: Time, slot: Span) {
        let Some(access) = self.access(free_at, slot) else { return };
        self.slots = if access <= at { None } else { Some(self.left(at, free_at, slot)) };
    }
}
