//! Filters that both generations of BBR need: a windowed maximum, and which samples a dip of the window spoils.

use super::signals::RateSample;
use crate::units::{Bytes, Time};

/// The largest of recent values, after Kathleen Nichols: the best, the best after it and the best after that, so that
/// a new best is at hand when the old one leaves the window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct WindowedMax {
    /// Value and time, largest value and oldest time first.
    best: [(f64, u64); 3],
}

impl WindowedMax {
    pub(super) fn new() -> WindowedMax {
        WindowedMax { best: [(0.0, 0); 3] }
    }

    /// The largest value.
    pub(super) fn get(&self) -> f64 {
        self.best[0].0
    }

    /// A value at a time (rounds, cycles) that never goes back. Those more than `window` old are forgotten.
    pub(super) fn update(&mut self, value: f64, now: u64, window: u64) {
        let fresh = (value, now);
        if value >= self.best[0].0 || now - self.best[2].1 > window {
            self.best = [fresh; 3];
            return;
        }
        if value >= self.best[1].0 {
            (self.best[1], self.best[2]) = (fresh, fresh);
        } else if value >= self.best[2].0 {
            self.best[2] = fresh;
        }
        let age = now - self.best[0].1;
        if age > window {
            self.promote(fresh);
            if now - self.best[0].1 > window {
                self.promote(fresh);
            }
        } else if self.best[1].1 == self.best[0].1 && age > window / 4 {
            // A quarter of the window has passed without a second best: take what there is.
            (self.best[1], self.best[2]) = (fresh, fresh);
        } else if self.best[2].1 == self.best[1].1 && age > window / 2 {
            self.best[2] = fresh;
        }
    }

    fn promote(&mut self, fresh: (f64, u64)) {
        self.best = [self.best[1], self.best[2], fresh];
    }
}

/// While the window is cut on purpose the rate says nothing of the path: what is sent meanwhile counts as limited by
/// the application.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Dip {
    since: Time,
    /// Delivered in all when the last of it has arrived.
    until: Bytes,
}

impl Dip {
    /// The window is cut now, with `delivered` arrived and `pipe` on its way.
    pub(super) fn hold(&mut self, now: Time, delivered: Bytes, pipe: Bytes) {
        if !self.lasts(delivered) {
            self.since = now;
        }
        self.until = (delivered + pipe).max(Bytes(1));
    }

    /// Something of it is still on its way.
    pub(super) fn lasts(&self, delivered: Bytes) -> bool {
        self.until > Bytes::ZERO && delivered <= self.until
    }

    /// The sample was limited by the application, or by a dip.
    pub(super) fn spoils(&self, sample: &RateSample) -> bool {
        let in_dip = sample.sent_at >= self.since && self.lasts(sample.prior_delivered);
        sample.app_limited || in_dip
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_maximum_of_a_window_is_kept_and_forgotten() {
        let mut filter = WindowedMax::new();
        let mut seen = Vec::new();
        for (now, value) in [5.0, 9.0, 7.0, 6.0, 5.0, 4.0, 3.0, 3.0, 3.0, 3.0].into_iter().enumerate() {
            filter.update(value, now as u64, 4);
            seen.push(filter.get());
        }
        // 9 of time 1 goes after time 5; then 6 of time 3, the best that was kept, and so on.
        assert_eq!(seen[..6], [5.0, 9.0, 9.0, 9.0, 9.0, 9.0]);
        assert!(seen[6] < 9.0 && seen[6] >= 4.0, "{seen:?}");
        assert_eq!(seen[9], 3.0);
    }
}
