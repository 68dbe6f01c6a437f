//! The network between the two endpoints: one path in each direction, which loses, delays, reorders, duplicates and
//! marks segments until it becomes clean. It has no queue; the simulator tests queues.

use tcp::rng::Rng;
use tcp::units::{Span, Time};
use tcp::{Ecn, Segment};

/// One direction.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    /// Delays, each from its time on; the first begins at zero.
    pub(crate) delays: Vec<(Time, Span)>,
    /// Intervals in which every segment is lost.
    pub(crate) blackouts: Vec<(Time, Time)>,
    /// Chance that a segment is lost.
    pub(crate) loss: f64,
    /// Chance that a segment without payload is lost.
    pub(crate) ack_loss: f64,
    /// Chance that a segment arrives twice.
    pub(crate) duplicate: f64,
    /// Chance that a segment has an extra delay.
    pub(crate) hold_up: f64,
    /// Maximum extra delay.
    pub(crate) held_up_by: Span,
    /// Chance that an ECN-capable segment is marked.
    pub(crate) mark: f64,
    /// End of all impairments but the delay.
    pub(crate) clean_at: Time,
}

impl Path {
    /// Maximum delay of a segment once the path is clean.
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

    /// Arrivals of a segment sent now, with their times: none, one or two.
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
