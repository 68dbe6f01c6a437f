//! Which rate a station sends to a neighbour at.

use crate::ids::StationId;

/// How the rate of data is found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RateControl {
    /// Always the same.
    Fixed,
    /// Automatic rate fallback (Kamerman, Monteban 1997).
    Arf,
}

/// Successes in a row that lift the rate.
const SUCCESSES: u32 = 10;
/// Frames after which one success is enough.
const FRAMES: u32 = 15;
/// Failures in a row that lower it; one is enough right after a rise.
const FAILURES: u32 = 2;

/// Where a station stands with one neighbour.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Rung {
    /// Index of the rate, from the lowest.
    step: usize,
    /// Since the last failure.
    successes: u32,
    /// Since the last success.
    failures: u32,
    /// Since the last change or double failure.
    frames: u32,
    /// The rate has just risen and nothing has come through at it.
    on_trial: bool,
}

impl Rung {
    fn succeed(&mut self, top: usize) {
        self.frames += 1;
        self.successes += 1;
        self.failures = 0;
        self.on_trial = false;
        if (self.successes >= SUCCESSES || self.frames >= FRAMES) && self.step < top {
            *self = Rung { step: self.step + 1, on_trial: true, ..Rung::default() };
        }
    }

    fn fail(&mut self) {
        self.frames += 1;
        self.successes = 0;
        self.failures += 1;
        if self.on_trial || self.failures >= FAILURES {
            *self = Rung { step: self.step.saturating_sub(1), ..Rung::default() };
        }
    }
}

/// A station's rates by neighbour; each begins at the lowest.
#[derive(Clone, Debug, Default)]
pub(super) struct Ladder {
    rungs: Vec<(StationId, Rung)>,
}

impl Ladder {
    /// Index of the rate to send to a neighbour at.
    pub(super) fn step(&self, to: StationId) -> usize {
        self.rungs.iter().find(|(station, _)| *station == to).map_or(0, |(_, rung)| rung.step)
    }

    fn rung(&mut self, to: StationId) -> &mut Rung {
        let known = self.rungs.iter().position(|(station, _)| *station == to);
        let index = known.unwrap_or_else(|| {
            self.rungs.push((to, Rung::default()));
            self.rungs.len() - 1
        });
        &mut self.rungs[index].1
    }

    /// A data frame was acknowledged; `top` is the highest rate.
    pub(super) fn succeed(&mut self, to: StationId, top: usize) {
        self.rung(to).succeed(top);
    }

    /// A data frame was not.
    pub(super) fn fail(&mut self, to: StationId) {
        self.rung(to).fail();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Up after ten successes, down at once if the first frame fails there, else after two failures.
    #[test]
    fn up_after_ten_and_down_after_one_or_two() {
        let (mut ladder, to) = (Ladder::default(), StationId(3));
        (0..9).for_each(|_| ladder.succeed(to, 3));
        assert_eq!(ladder.step(to), 0);
        ladder.succeed(to, 3);
        assert_eq!(ladder.step(to), 1);
        ladder.fail(to);
        assert_eq!(ladder.step(to), 0, "on trial one failure is enough");
        (0..10).for_each(|_| ladder.succeed(to, 3));
        ladder.succeed(to, 3);
        ladder.fail(to);
        assert_eq!(ladder.step(to), 1, "after a success one failure is not enough");
        ladder.fail(to);
        assert_eq!(ladder.step(to), 0);
        assert_eq!(ladder.step(StationId(4)), 0, "each neighbour has its own");
    }

    /// Fifteen frames, not two in a row of them lost, do as well as ten successes in a row.
    #[test]
    fn up_after_fifteen_frames() {
        let (mut ladder, to) = (Ladder::default(), StationId(0));
        for frame in 0..14 {
            if frame % 3 == 0 { ladder.fail(to) } else { ladder.succeed(to, 1) }
        }
        assert_eq!(ladder.step(to), 0);
        ladder.succeed(to, 1);
        assert_eq!(ladder.step(to), 1);
    }

    #[test]
    fn not_above_the_top() {
        let (mut ladder, to) = (Ladder::default(), StationId(0));
        (0..100).for_each(|_| ladder.succeed(to, 2));
        assert_eq!(ladder.step(to), 2);
    }
}
