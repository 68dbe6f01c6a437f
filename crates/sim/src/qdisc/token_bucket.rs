//! A token bucket (RFC 3290, appendix A): bytes that may pass at once, refilled at a rate.

use tcp::units::{Bytes, Rate, Span, Time};

const NANOS_PER_SECOND: i128 = 1_000_000_000;

/// A bucket, full at the start. Tokens are counted in billionths of a bit: what a rate in bits per second adds in whole
/// nanoseconds is then a whole number, and nothing is ever rounded away.
#[derive(Clone, Copy, Debug)]
pub(super) struct TokenBucket {
    rate: Rate,
    burst: i128,
    /// Below zero if the bucket was overdrawn.
    tokens: i128,
    updated: Time,
}

fn tokens_of(size: Bytes) -> i128 {
    i128::from(size.0) * 8 * NANOS_PER_SECOND
}

impl TokenBucket {
    pub(super) fn new(rate: Rate, burst: Bytes) -> TokenBucket {
        TokenBucket { rate, burst: tokens_of(burst), tokens: tokens_of(burst), updated: Time::ZERO }
    }

    /// It has another rate from this time on.
    pub(super) fn set_rate(&mut self, at: Time, rate: Rate) {
        self.refill(at);
        self.rate = rate;
    }

    fn refill(&mut self, now: Time) {
        let earned = u128::from(self.rate.as_bps()) * u128::from(now.since(self.updated).as_nanos());
        self.tokens = self.tokens.saturating_add(i128::try_from(earned).unwrap_or(i128::MAX)).min(self.burst);
        self.updated = now;
    }

    /// When the bucket holds enough for a packet of at most a burst: now, or later.
    pub(super) fn ready_at(&mut self, now: Time, size: Bytes) -> Time {
        self.refill(now);
        let missing = u128::try_from(tokens_of(size) - self.tokens).unwrap_or(0);
        let wait = missing.div_ceil(u128::from(self.rate.as_bps()));
        now + Span::from_nanos(u64::try_from(wait).unwrap_or(u64::MAX))
    }

    /// Takes the tokens of a packet; false, and nothing taken, if there are too few.
    pub(super) fn take(&mut self, now: Time, size: Bytes) -> bool {
        self.refill(now);
        let needed = tokens_of(size);
        let enough = needed <= self.tokens;
        if enough {
            self.tokens -= needed;
        }
        enough
    }

    /// Takes the tokens of a packet even if there are too few: the next ones pay for it.
    pub(super) fn overdraw(&mut self, now: Time, size: Bytes) {
        self.refill(now);
        self.tokens -= tokens_of(size);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tcp::rng::Rng;

    #[test]
    fn what_passes_in_any_interval_is_at_most_a_burst_and_the_rate() {
        let mut rng = Rng::stream(7, "token bucket");
        for _ in 0..50 {
            let (bps, burst) = (1_000 + rng.below(1_000_000_000), 1500 + rng.below(100_000));
            let mut bucket = TokenBucket::new(Rate::from_bps(bps).unwrap(), Bytes(burst));
            let (mut now, mut passed) = (Time::ZERO, Vec::new());
            let gap = 1 + 2 * 8_000_000_000 * 750 / bps;
            for _ in 0..200 {
                now = now + Span::from_nanos(rng.below(gap));
                let size = 40 + rng.below(1461);
                if bucket.take(now, Bytes(size)) {
                    passed.push((now, size));
                }
            }
            for first in 0..passed.len() {
                let mut sum = 0;
                for &(at, size) in &passed[first..] {
                    sum += size;
                    let earned = u128::from(bps) * u128::from(at.since(passed[first].0).as_nanos());
                    assert!(tokens_of(Bytes(sum)) <= tokens_of(Bytes(burst)) + earned as i128, "{bps} b/s, {burst} B");
                }
            }
            assert!(passed.len() > 20, "{}", passed.len());
        }
    }

    #[test]
    fn the_time_that_it_names_is_the_first_at_which_it_holds_enough() {
        for bps in [1, 7, 999_999_937, 100_000_000_000] {
            let mut bucket = TokenBucket::new(Rate::from_bps(bps).unwrap(), Bytes(1500));
            assert!(bucket.take(Time::ZERO, Bytes(1500)));
            let at = bucket.ready_at(Time::ZERO, Bytes(1000));
            let before = Time::from_nanos(at.as_nanos() - 1);
            assert!(!bucket.take(before, Bytes(1000)) && bucket.take(at, Bytes(1000)), "{bps}");
        }
    }

    #[test]
    fn nothing_overflows_where_rates_and_times_are_large() {
        let mut bucket = TokenBucket::new(Rate::from_bps(u64::MAX).unwrap(), Bytes(1_000_000_000_000));
        assert!(bucket.take(Time::from_nanos(u64::MAX / 2), Bytes(1_000_000_000_000)));
        assert!(bucket.take(Time::from_nanos(u64::MAX), Bytes(1_000_000_000_000)));
    }
}
