//! The least, or the maximum, of the RTTs of the last while.

use std::collections::VecDeque;

use crate::units::{Span, Time};

/// Which one is wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Extreme {
    Least,
    Greatest,
}

/// A sliding window: only those samples are kept that can still become the wanted one.
#[derive(Debug)]
pub(super) struct Windowed {
    extreme: Extreme,
    samples: VecDeque<(Time, Span)>,
}

impl Windowed {
    pub(super) fn new(extreme: Extreme) -> Windowed {
        Windowed { extreme, samples: VecDeque::new() }
    }

    /// Takes a sample and forgets those older than `window`.
    pub(super) fn take(&mut self, now: Time, sample: Span, window: Span) {
        let beaten = |old: Span| match self.extreme {
            Extreme::Least => old >= sample,
            Extreme::Greatest => old <= sample,
        };
        while self.samples.back().is_some_and(|(_, old)| beaten(*old)) {
            self.samples.pop_back();
        }
        self.samples.push_back((now, sample));
        while self.samples.front().is_some_and(|(at, _)| now.since(*at) > window) {
            self.samples.pop_front();
        }
    }

    /// The wanted sample.
    pub(super) fn value(&self) -> Option<Span> {
        self.samples.front().map(|(_, sample)| *sample)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extremes_of_the_last_three_milliseconds() {
        let ms = Span::from_millis;
        let (mut least, mut greatest) = (Windowed::new(Extreme::Least), Windowed::new(Extreme::Greatest));
        let mut seen = Vec::new();
        for (at, sample) in [5, 7, 4, 6, 9, 8, 8, 3].into_iter().enumerate() {
            let now = Time::ZERO + ms(at as u64);
            least.take(now, ms(sample), ms(2));
            greatest.take(now, ms(sample), ms(2));
            seen.push((least.value().unwrap(), greatest.value().unwrap()));
        }
        let wanted = [(5, 5), (5, 7), (4, 7), (4, 7), (4, 9), (6, 9), (8, 9), (3, 8)];
        assert_eq!(seen, wanted.map(|(low, high)| (ms(low), ms(high))));
    }
}
