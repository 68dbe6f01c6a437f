//! How long what an application repeats took each time, and what is shown of many values.

use tcp::units::Time;

use crate::metrics::nearest_rank;

/// Things that take time: when each began, and how long it took.
#[derive(Clone, Debug, Default)]
pub(crate) struct Durations(Vec<(Time, f64)>);

impl Durations {
    pub(super) fn add(&mut self, began: Time, now: Time) {
        self.0.push((began, now.since(began).as_secs_f64()));
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// In ascending order, those that began at `warmup` or later.
    pub(super) fn sorted_since(&self, warmup: Time) -> Vec<f64> {
        let mut seconds: Vec<f64> = self.0.iter().filter(|(began, _)| *began >= warmup).map(|(_, s)| *s).collect();
        seconds.sort_unstable_by(f64::total_cmp);
        seconds
    }

    /// Memory that they take.
    pub(super) fn held_bytes(&self) -> u64 {
        (self.0.capacity() * size_of::<(Time, f64)>()) as u64
    }
}

/// A quantile that needs at least `least` values to be worth showing.
pub(super) fn quantile(sorted: &[f64], q: f64, least: usize) -> Option<f64> {
    if sorted.len() >= least { nearest_rank(sorted, q) } else { None }
}

/// The mean of sorted values.
pub(super) fn mean(sorted: &[f64]) -> Option<f64> {
    (!sorted.is_empty()).then(|| sorted.iter().sum::<f64>() / sorted.len() as f64)
}
