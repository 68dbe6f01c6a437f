//! A number that changes by steps: its maximum and its mean over time.

use tcp::units::{Span, Time};

/// A number that changes by steps.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gauge {
    value: u64,
    max: u64,
    since: Time,
    /// Integral over time, in nanoseconds.
    area: u128,
}

impl Gauge {
    pub(crate) fn set(&mut self, now: Time, value: u64) {
        self.area += u128::from(self.value) * u128::from(now.since(self.since).as_nanos());
        (self.value, self.since, self.max) = (value, now, self.max.max(value));
    }

    pub(crate) fn value(&self) -> u64 {
        self.value
    }

    pub(crate) fn max(&self) -> u64 {
        self.max
    }

    /// The measurement interval begins.
    pub(crate) fn restart(&mut self, now: Time) {
        *self = Gauge { value: self.value, max: self.value, since: now, area: 0 };
    }

    /// Mean over the `measured` time, which ends now.
    pub(crate) fn mean(mut self, now: Time, measured: Span) -> Option<f64> {
        self.set(now, self.value);
        (measured > Span::ZERO).then(|| self.area as f64 / measured.as_nanos() as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_weighted_by_time() {
        let at = |ms: u64| Time::ZERO + Span::from_millis(ms);
        let mut gauge = Gauge::default();
        for (ms, value) in [(10, 4), (20, 2), (40, 1)] {
            gauge.set(at(ms), value);
        }
        assert_eq!((gauge.mean(at(50), Span::from_millis(50)), gauge.max()), (Some(1.8), 4));
        gauge.restart(at(50));
        assert_eq!((gauge.mean(at(60), Span::from_millis(10)), gauge.max()), (Some(1.0), 1));
    }
}
