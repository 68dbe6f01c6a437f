//! Backoff as a function of time: nothing random happens while slots are counted, so the one instant
//! that matters is when they run out.

use tcp::rng::Rng;
use tcp::units::{Span, Time};

/// A station's wait for the medium.
#[derive(Clone, Debug)]
pub(super) struct Backoff {
    /// The contention window: draws are from 0 to it.
    pub(super) cw: u32,
    /// Slots left, if a backoff is under way.
    pub(super) slots: Option<u32>,
    /// Slots are counted from here at the earliest.
    since: Time,
    rng: Rng,
}

impl Backoff {
    pub(super) fn new(cw: u32, rng: Rng) -> Backoff {
        Backoff { cw, slots: None, since: Time::ZERO, rng }
    }

    /// Draws a backoff that counts from `since`: 0 to the window, or in ns-2 to one less.
    pub(super) fn draw(&mut self, since: Time, below_window: bool) {
        let max = if below_window { self.cw.saturating_sub(1) } else { self.cw };
        self.slots = Some(self.rng.below(u64::from(max) + 1) as u32);
        self.since = since;
    }

    /// The window after a failure.
    pub(super) fn widen_cw(&mut self, max: u32) {
        self.cw = (2 * self.cw + 1).min(max);
    }

    /// When counting starts or started, the medium being free for access from `ifs_end` on.
    fn base(&self, ifs_end: Time) -> Time {
        self.since.max(ifs_end)
    }

    /// When the slots run out, if the medium stays idle.
    pub(super) fn access(&self, ifs_end: Time, slot: Span) -> Option<Time> {
        self.slots.map(|slots| self.base(ifs_end) + slot * u64::from(slots))
    }

    /// Slots left at `at` if the medium turns busy then; a slot cut short does not count.
    pub(super) fn left(&self, at: Time, ifs_end: Time, slot: Span) -> u32 {
        let base = self.base(ifs_end);
        let slots = self.slots.unwrap_or(0);
        if at <= base {
            return slots;
        }
        let counted = at.since(base).as_nanos() / slot.as_nanos();
        slots - u32::try_from(counted).unwrap_or(u32::MAX).min(slots)
    }

    /// The medium turns busy at `at`. What ran out unused, with nothing to send, is over.
    pub(super) fn freeze(&mut self, at: Time, ifs_end: Time, slot: Span) {
        let Some(access) = self.access(ifs_end, slot) else { return };
        self.slots = if access <= at { None } else { Some(self.left(at, ifs_end, slot)) };
    }
}
