//! When a terminal changes its satellites.

use tcp::units::{Span, Time};

/// From `at` on a terminal is served by these satellites: one, or several where it is a gateway, or none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Handover {
    pub(crate) at: Time,
    pub(crate) satellites: Vec<usize>,
    /// The outage of a handover: what is given up is gone, and what follows not yet there.
    pub(crate) is_outage: bool,
}

impl Handover {
    /// Adds the handover to `satellites` at `now`, unless they are those of the last one.
    pub(super) fn append(handovers: &mut Vec<Handover>, now: Time, satellites: Vec<usize>, outage: Span) {
        let before = handovers.last().map(|last| &last.satellites);
        if before == Some(&satellites) {
            return;
        }
        let kept = before.map(|before| satellites.iter().copied().filter(|kept| before.contains(kept)).collect());
        let mut at = now;
        if let Some(satellites) = kept.filter(|_| outage > Span::ZERO) {
            handovers.push(Handover { at, satellites, is_outage: true });
            at = at + outage;
        }
        handovers.push(Handover { at, satellites, is_outage: false });
    }
}
