//! Rate control: the data rate by neighbour.

use crate::ids::StationId;

/// Rate control algorithm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RateControl {
    /// A constant rate.
    Fixed,
    /// Automatic rate fallback (Kamerman, Monteban 1997).
    Arf,
}

/// Consecutive successes that raise the rate.
const MIN_SUCCESSES: u32 = 10;
/// Frames after which one success raises it.
const MAX_FRAMES: u32 = 15;
/// Consecutive failures that lower it; one is enough right after a rise.
const MAX_FAILURES: u32 = 2;

/// State of ARF towards one neighbour.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct NeighbourRate {
    /// Index of the rate, from the lowest.
    rate_index: usize,
    /// Since the last failure.
    successes: u32,
    /// Since the last success.
    failures: u32,
    /// Since the last change or double failure.
    frames: u32,
    /// The rate has just risen, and no frame has been acknowledged at it.
    probing: bool,
}

impl NeighbourRate {
    fn on_success(&mut self, top: usize) {
        self.frames += 1;
        self.successes += 1;
        self.failures = 0;
        self.probing = false;
        if (self.successes >= MIN_SUCCESSES || self.frames >= MAX_FRAMES) && self.rate_index < top {
            *self = NeighbourRate { rate_index: self.rate_index + 1, probing: true, ..NeighbourRate::default() };
        }
    }

    fn on_failure(&mut self) {
        self.frames += 1;
        self.successes = 0;
        self.failures += 1;
        if self.probing || self.failures >= MAX_FAILURES {
            *self = NeighbourRate { rate_index: self.rate_index.saturating_sub(1), ..NeighbourRate::default() };
        }
    }
}

/// State of automatic rate fallback (ARF), by neighbour; each starts at the lowest rate.
#[derive(Clone, Debug, Default)]
pub(super) struct ArfState {
    neighbours: Vec<(StationId, NeighbourRate)>,
}

impl ArfState {
    /// Index of the data rate towards a neighbour.
    pub(super) fn rate_index(&self, to: StationId) -> usize {
        self.neighbours.iter().find(|(station, _)| *station == to).map_or(0, |(_, neighbour)| neighbour.rate_index)
    }

    fn neighbour(&mut self, to: StationId) -> &mut NeighbourRate {
        let known = self.neighbours.iter().position(|(station, _)| *station == to);
        let index = known.unwrap_or_else(|| {
            self.neighbours.push((to, NeighbourRate::default()));
            self.neighbours.len() - 1
        });
        &mut self.neighbours[index].1
    }

    /// A data frame was acknowledged; `top` is the highest rate.
    pub(super) fn on_success(&mut self, to: StationId, top: usize) {
        self.neighbour(to).on_success(top);
    }

    /// A data frame was not acknowledged.
    pub(super) fn on_failure(&mut self, to: StationId) {
        self.neighbour(to).on_failure();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Up after ten successes, down at once if the first frame fails there, else after two failures.
    #[test]
    fn up_after_ten_and_down_after_one_or_two() {
        let (mut arf, to) = (ArfState::default(), StationId(3));
        (0..9).for_each(|_| arf.on_success(to, 3));
        assert_eq!(arf.rate_index(to), 0);
        arf.on_success(to, 3);
        assert_eq!(arf.rate_index(to), 1);
        arf.on_failure(to);
        assert_eq!(arf.rate_index(to), 0, "on trial one failure is enough");
        (0..10).for_each(|_| arf.on_success(to, 3));
        arf.on_success(to, 3);
        arf.on_failure(to);
        assert_eq!(arf.rate_index(to), 1, "after a success one failure is not enough");
        arf.on_failure(to);
        assert_eq!(arf.rate_index(to), 0);
        assert_eq!(arf.rate_index(StationId(4)), 0, "each neighbour has its own");
    }

    /// Fifteen frames, not two in a row of them lost, do as well as ten successes in a row.
    #[test]
    fn up_after_fifteen_frames() {
        let (mut arf, to) = (ArfState::default(), StationId(0));
        for frame in 0..14 {
            if frame % 3 == 0 { arf.on_failure(to) } else { arf.on_success(to, 1) }
        }
        assert_eq!(arf.rate_index(to), 0);
        arf.on_success(to, 1);
        assert_eq!(arf.rate_index(to), 1);
    }

    #[test]
    fn the_rate_does_not_exceed_the_maximum() {
        let (mut arf, to) = (ArfState::default(), StationId(0));
        (0..100).for_each(|_| arf.on_success(to, 2));
        assert_eq!(arf.rate_index(to), 2);
    }
}
