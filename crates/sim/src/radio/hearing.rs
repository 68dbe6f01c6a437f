//! Who hears a station, how strongly and how late (networks.md §15.4).

use tcp::units::{Span, Time};

use super::frame::StationId;

/// A station that hears a frame.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Hearer {
    pub(crate) station: StationId,
    /// Received power in watts.
    pub(crate) power: f64,
    /// Propagation.
    pub(crate) delay: Span,
}

/// Who hears whom.
#[derive(Clone, Debug)]
pub(crate) enum Hearing {
    /// Nothing moves: computed once.
    Fixed(Vec<Vec<Hearer>>),
}

impl Hearing {
    pub(crate) fn stations(&self) -> usize {
        match self {
            Hearing::Fixed(lists) => lists.len(),
        }
    }

    /// Those that hear a frame which `from` begins to send at `now`.
    pub(crate) fn of(&self, from: StationId, _now: Time, hearers: &mut Vec<Hearer>) {
        hearers.clear();
        match self {
            Hearing::Fixed(lists) => hearers.extend_from_slice(&lists[from.index()]),
        }
    }
}
