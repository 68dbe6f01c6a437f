//! The network between the two ends: one path each way that loses, delays, reorders, duplicates and marks until it
//! becomes clean. It has no queue; what a queue does is the simulator's affair.

use tcp::rng::Rng;
use tcp::units::{Span, Time};
use tcp::{Ecn, Segment};

/// One direction.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    /// From these times on, the path takes this long; the first begins at zero.
    pub(crate) delays: Vec<(Time, Span)>,
    /// Nothing passes from one time to the other.
    pub(crate) blackouts: Vec<(Time, Time)>,
    /// Chance that a segment is lost.
    pub(crate) loss: f64,
    /// Chance that a segment without payload is lost.
    pub(crate) ack_loss: f64,
    /// Chance that a segment arrives twice.
    pub(crate) duplicate: f64,
    /// Chance that a segment is held up.
    pub(crate) hold_up: f64,
    /// By at most so much.
    pub(crate) held_up_by: Span,
    /// Chance that a segment that may be marked is marked.
    pub(crate) mark: f64,
    /// When everything but the delay ends.
    pub(crate) clean_at: Time,
}

impl Path {
    /// The longest that a segment can take once the path is clean.
    pub(crate) fn longest_delay(&self) -> Span {
        self.delays.iter().map(|(_, delay)| *delay).max().unwrap_or(Span::ZERO)
    }

    fn delay(&self, now: Time) -> Span {
        self.delays.iter().rev().find(|(from, _)| *from <= now).map_or(Span::ZERO, |(_, delay)| *delay)
    }

    fn loses(&self, now: Time, segment: &Segment, rng: &mut Rng) -> bool {
        let dark = self.blackouts.iter().any(|(from, to)| *from <= now && now < *to);
        dark || rng.chance(self.loss) || (segment.len == 0 && rng.chance(self.ack_loss))
    }

    /// When and as what a segment sent now arrives: not at all, once or twice.
    pub(crate) fn carry(&self, now: Time, segment: Segment, rng: &mut Rng) -> Vec<(Time, Segment)> {
        let delay = self.delay(now);
        if now >= self.clean_at {
            return vec![(now + delay, segment)];
        }
        if self.loses(now, &segment, rng) {
            return Vec::new();
        }
        let mut carried = segment;
        if segment.ecn != Ecn::NotEct && rng.chance(self.mark) {
            carried.ecn = Ecn::Ce;
        }
        let copies = 1 + usize::from(rng.chance(self.duplicate));
        let mut arrival = || {
            let held_up = rng.chance(self.hold_up);
            let extra = if held_up { rng.below(self.held_up_by.as_nanos() + 1) } else { 0 };
            (now + delay + Span::from_nanos(extra), carried)
        };
        (0..copies).map(|_| arrival()).collect()
    }
}
