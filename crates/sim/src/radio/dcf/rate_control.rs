//! Rate control: the data rate by neighbour.

use crate::ids::StationId;

/// Rate control algorithm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RateControl {
    /// A constant rate.
    Fixed,
    /// Automatic rate fallback (Kamerman, Monteban 1997).
    Arf,
    /// Adaptive ARF (Lacage, Manshaei, Turletti 2004): a failed rise doubles the thresholds of the next one.
    Aarf,
}

/// Consecutive successes that raise the rate.
const MIN_SUCCESSES: u32 = 10;
/// Frames after which one success raises it.
const MAX_FRAMES: u32 = 15;
/// Consecutive failures that lower it; one is enough right after a rise.
const MAX_FAILURES: u32 = 2;
/// The most successes that AARF asks for.
const AARF_MAX_SUCCESSES: u32 = 60;

/// State of ARF or AARF towards one neighbour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
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
    /// Successes, and frames, that raise the rate; ARF never changes them.
    success_threshold: u32,
    frame_threshold: u32,
}

impl Default for NeighbourRate {
    fn default() -> NeighbourRate {
        NeighbourRate {
            rate_index: 0,
            successes: 0,
            failures: 0,
            frames: 0,
            probing: false,
            success_threshold: MIN_SUCCESSES,
            frame_threshold: MAX_FRAMES,
        }
    }
}

impl NeighbourRate {
    fn on_success(&mut self, top: usize) {
        self.frames += 1;
        self.successes += 1;
        self.failures = 0;
        self.probing = false;
        let due = self.successes >= self.success_threshold || self.frames >= self.frame_threshold;
        if due && self.rate_index < top {
            *self = NeighbourRate { rate_index: self.rate_index + 1, successes: 0, frames: 0, probing: true, ..*self };
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

    /// A failed rise is remembered: the next one takes twice the successes. Until a success follows the rise, further
    /// failures change nothing more; else every second failure in a row lowers the rate and forgets the doubling.
    fn on_failure_aarf(&mut self) {
        self.successes = 0;
        self.failures += 1;
        if self.probing {
            if self.failures == 1 {
                self.success_threshold = (2 * self.success_threshold).min(AARF_MAX_SUCCESSES);
                self.frame_threshold = (2 * self.frame_threshold).max(MIN_SUCCESSES);
                self.rate_index = self.rate_index.saturating_sub(1);
            }
            self.frames = 0;
            return;
        }
        self.frames = if self.failures >= MAX_FAILURES { 0 } else { self.frames + 1 };
        if self.failures.is_multiple_of(MAX_FAILURES) {
            (self.success_threshold, self.frame_threshold) = (MIN_SUCCESSES, MAX_FRAMES);
            self.rate_index = self.rate_index.saturating_sub(1);
        }
    }
}

/// State of automatic rate fallback, by neighbour; each starts at the lowest rate.
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
    pub(super) fn on_failure(&mut self, to: StationId, rate_control: RateControl) {
        match rate_control {
            RateControl::Aarf => self.neighbour(to).on_failure_aarf(),
            RateControl::Arf | RateControl::Fixed => self.neighbour(to).on_failure(),
        }
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
        arf.on_failure(to, RateControl::Arf);
        assert_eq!(arf.rate_index(to), 0, "on trial one failure is enough");
        (0..10).for_each(|_| arf.on_success(to, 3));
        arf.on_success(to, 3);
        arf.on_failure(to, RateControl::Arf);
        assert_eq!(arf.rate_index(to), 1, "after a success one failure is not enough");
        arf.on_failure(to, RateControl::Arf);
        assert_eq!(arf.rate_index(to), 0);
        assert_eq!(arf.rate_index(StationId(4)), 0, "each neighbour has its own");
    }

    /// Fifteen frames, not two in a row of them lost, do as well as ten successes in a row.
    #[test]
    fn up_after_fifteen_frames() {
        let (mut arf, to) = (ArfState::default(), StationId(0));
        for frame in 0..14 {
            if frame % 3 == 0 { arf.on_failure(to, RateControl::Arf) } else { arf.on_success(to, 1) }
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

    /// 331 results over 8 rates: the state after each, as ns-3's AARF has it.
    #[test]
    fn aarf_follows_the_vector() {
        let mut neighbour = NeighbourRate::default();
        let rows = include_str!("../../../tests/vectors/aarf.csv").lines().skip(1);
        for (index, row) in rows.clone().enumerate() {
            let words: Vec<&str> = row.split(',').collect();
            match words[1] {
                "success" => neighbour.on_success(7),
                _ => neighbour.on_failure_aarf(),
            }
            let NeighbourRate { rate_index, success_threshold, frame_threshold, frames, probing, .. } = neighbour;
            let state = format!("{rate_index},{success_threshold},{frame_threshold},{frames},{}", u8::from(probing));
            assert_eq!(format!("{},{},{state}", index + 1, words[1]), row);
        }
        assert_eq!(rows.count(), 331);
    }
}
