//! Answers to marks (flag `ecn`), as in Google's kernel v3 on routes that mark early: the share of what is marked, smoothed, in
//! 256ths as there. Its early probe after the marks have ceased is not modelled.

use super::Bbr3;
use crate::cc::signals::{Ack, View};
use crate::units::{Bytes, Span};

/// One.
const UNIT: u64 = 256;
/// Gain of a round's share in the smoothed one.
const GAIN: u64 = UNIT / 16;
/// Of the smoothed share, by which what is in flight is cut.
const FACTOR: u64 = UNIT / 3;
/// A round of which more is marked had too much in flight.
const THRESHOLD: u64 = UNIT / 2;
/// So many of them end the start.
const STARTUP_ROUNDS: u32 = 2;
/// Marks count on paths no longer than this.
const LONGEST: Span = Span::from_millis(5);

/// What marks say.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marks {
    /// The path was short enough once.
    eligible: bool,
    alpha: u64,
    delivered: Bytes,
    marked: Bytes,
    /// Rounds of the start in a row with too many.
    rounds: u32,
    pub(super) in_round: bool,
    too_many: bool,
}

impl Marks {
    pub(super) fn new() -> Marks {
        Marks {
            eligible: false,
            alpha: UNIT,
            delivered: Bytes::ZERO,
            marked: Bytes::ZERO,
            rounds: 0,
            in_round: false,
            too_many: false,
        }
    }

    /// A round is over: the share of it that was marked.
    fn end_round(&mut self, view: &View) {
        let delivered = view.delivered.saturating_sub(self.delivered);
        if delivered == Bytes::ZERO {
            return;
        }
        let share = view.delivered_ce.saturating_sub(self.marked).0 * UNIT / delivered.0;
        self.alpha = ((UNIT - GAIN) * self.alpha / UNIT + GAIN * share / UNIT).min(UNIT);
        (self.delivered, self.marked) = (view.delivered, view.delivered_ce);
        self.too_many = share > THRESHOLD;
        self.rounds = if share >= THRESHOLD { self.rounds + 1 } else { 0 };
    }

    /// What remains of what is in flight after a round with marks.
    fn kept(&self) -> f64 {
        (UNIT - self.alpha * FACTOR / UNIT) as f64 / UNIT as f64
    }
}

impl Bbr3 {
    pub(super) fn update_marks(&mut self, ack: &Ack, view: &View) {
        let Some(marks) = &mut self.marks else { return };
        if self.round.start {
            marks.eligible |= self.rtt.least.is_some_and(|least| least <= LONGEST);
            if marks.eligible {
                marks.end_round(view);
            }
        }
        marks.in_round |= marks.eligible && ack.ce > Bytes::ZERO;
        if marks.rounds >= STARTUP_ROUNDS && !self.full.reached {
            self.end_startup(self.inflight(self.max_bw(), 1.0));
        }
    }

    /// The last round had too much in flight, by its marks.
    pub(super) fn too_many_marks(&self) -> bool {
        self.marks.is_some_and(|marks| marks.too_many)
    }

    /// After a round with marks, when not probing: what may be in flight then.
    pub(super) fn cut_by_marks(&self) -> f64 {
        let from = if self.bounds.inflight_short.is_finite() { self.bounds.inflight_short } else { self.cwnd };
        self.marks.filter(|marks| marks.in_round).map_or(f64::INFINITY, |marks| self.settings.down(from * marks.kept()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Constants of the kernel: alpha from 1, a gain of 1/16, a cut by a third of it.
    #[test]
    fn the_share_of_marks_is_smoothed_from_one() {
        let mut marks = Marks::new();
        assert_eq!(marks.kept(), (256.0 - 85.0) / 256.0);
        let mut view = View { delivered: Bytes(1000), ..View::default() };
        marks.end_round(&view);
        assert_eq!((marks.alpha, marks.too_many), (240, false));
        (view.delivered, view.delivered_ce) = (Bytes(2000), Bytes(501));
        marks.end_round(&view);
        // 240 x 240 / 256 = 225, and 16 x 128 / 256 = 8; 501 of 1000 are 128 of 256: no more than half
        assert_eq!((marks.alpha, marks.too_many, marks.rounds), (233, false, 1));
        (view.delivered, view.delivered_ce) = (Bytes(3000), Bytes(1101));
        marks.end_round(&view);
        assert_eq!((marks.too_many, marks.rounds), (true, 2));
    }
}
