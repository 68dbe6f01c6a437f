//! Delays of many packets, and many RTTs: count, mean, extremes, quantiles, jitter.

use tcp::units::Span;

use super::histogram::Histogram;

/// RTT samples of a sender; memory grows with their range, not with their number. An acknowledgment costs a bucket and a sum:
/// the least RTT is known to the sender, and how many there are to the histogram.
#[derive(Clone, Debug, Default)]
pub(crate) struct RttSamples {
    histogram: Histogram,
    sum_nanos: u64,
}

impl RttSamples {
    #[inline]
    pub(crate) fn add(&mut self, rtt: Span) {
        self.sum_nanos += rtt.as_nanos();
        self.histogram.add(rtt.as_nanos(), 1);
    }

    /// Adds the samples of another sender.
    pub(crate) fn merge(&mut self, other: &RttSamples) {
        self.sum_nanos += other.sum_nanos;
        self.histogram.merge(&other.histogram);
    }

    /// Forgets all samples; few buckets keep their memory.
    pub(crate) fn clear(&mut self) {
        self.histogram.clear();
        self.sum_nanos = 0;
    }

    pub(crate) fn mean_s(&self) -> Option<f64> {
        let count = self.histogram.total();
        (count > 0).then(|| self.sum_nanos as f64 / count as f64 / 1e9)
    }

    /// The quantile, exact to 1 %.
    pub(crate) fn quantile_s(&self, q: f64) -> Option<f64> {
        self.histogram.quantile(q).map(|nanos| nanos / 1e9)
    }

    /// Values, exact to 1 %, and how many there were of each.
    pub(crate) fn counted_s(&self) -> impl Iterator<Item = (f64, u32)> {
        self.histogram.counted().map(|(nanos, count)| (nanos / 1e9, count))
    }
}

/// Delays of packets in the order of their reception.
#[derive(Clone, Debug, Default)]
pub(crate) struct Delays {
    count: u64,
    sum: u128,
    min: Span,
    max: Span,
    histogram: Histogram,
    last: Option<Span>,
    /// Sum of |D| over consecutive packets.
    variation_sum: u128,
    variations: u64,
    /// J of RFC 3550 §6.4.1, in nanoseconds.
    rfc3550: f64,
}

impl Delays {
    pub(crate) fn add(&mut self, delay: Span) {
        self.min = if self.count == 0 { delay } else { self.min.min(delay) };
        self.max = self.max.max(delay);
        self.count += 1;
        self.sum += u128::from(delay.as_nanos());
        self.histogram.add(delay.as_nanos(), 1);
        if let Some(last) = self.last.replace(delay) {
            let variation = delay.abs_diff(last).as_nanos();
            self.variation_sum += u128::from(variation);
            self.variations += 1;
            // RFC 3550 §6.4.1: J += (|D| - J) / 16
            self.rfc3550 += (variation as f64 - self.rfc3550) / 16.0;
        }
    }

    /// Adds another flow's delays; the jitter of each keeps its weight.
    pub(crate) fn merge(&mut self, other: &Delays) {
        if other.count == 0 {
            return;
        }
        self.min = if self.count == 0 { other.min } else { self.min.min(other.min) };
        self.max = self.max.max(other.max);
        let (mine, theirs) = (self.variations as f64, other.variations as f64);
        if mine + theirs > 0.0 {
            self.rfc3550 = (self.rfc3550 * mine + other.rfc3550 * theirs) / (mine + theirs);
        }
        self.count += other.count;
        self.sum += other.sum;
        self.variation_sum += other.variation_sum;
        self.variations += other.variations;
        self.histogram.merge(&other.histogram);
    }

    /// Forgets all delays; few buckets keep their memory.
    pub(crate) fn clear(&mut self) {
        let mut histogram = std::mem::take(&mut self.histogram);
        histogram.clear();
        *self = Delays { histogram, ..Delays::default() };
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    pub(crate) fn mean_s(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64 / 1e9)
    }

    pub(crate) fn min_s(&self) -> Option<f64> {
        (self.count > 0).then(|| self.min.as_secs_f64())
    }

    pub(crate) fn max_s(&self) -> Option<f64> {
        (self.count > 0).then(|| self.max.as_secs_f64())
    }

    /// The quantile, exact to 1 %, within the extremes.
    pub(crate) fn quantile_s(&self, q: f64) -> Option<f64> {
        let nanos = self.histogram.quantile(q)?;
        Some((nanos / 1e9).clamp(self.min.as_secs_f64(), self.max.as_secs_f64()))
    }

    /// Values, exact to 1 % and within the extremes, and how many there were of each.
    pub(crate) fn counted_s(&self) -> impl Iterator<Item = (f64, u32)> {
        let [least, most] = [self.min, self.max].map(Span::as_secs_f64);
        self.histogram.counted().map(move |(nanos, count)| ((nanos / 1e9).clamp(least, most), count))
    }

    /// Mean absolute difference of consecutive delays.
    pub(crate) fn jitter_s(&self) -> Option<f64> {
        (self.variations > 0).then(|| self.variation_sum as f64 / self.variations as f64 / 1e9)
    }

    /// Interarrival jitter (RFC 3550 §6.4.1) at the end.
    pub(crate) fn jitter_rfc3550_s(&self) -> Option<f64> {
        (self.variations > 0).then(|| self.rfc3550 / 1e9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitter_is_that_of_rfc_3550_6_4_1() {
        let mut delays = Delays::default();
        let mut rfc = Vec::new();
        for ms in [10, 12, 11, 15] {
            delays.add(Span::from_millis(ms));
            rfc.push(delays.rfc3550 / 1e6);
        }
        assert!((delays.jitter_s().unwrap() - 7.0 / 3.0 * 1e-3).abs() < 1e-12);
        for (measured, expected) in rfc[1..].iter().zip([0.125, 0.1797, 0.4185]) {
            assert!((measured - expected).abs() < 5e-5, "{measured} {expected}");
        }
        assert_eq!(delays.mean_s(), Some(0.012));
    }

    #[test]
    fn quantiles_are_within_one_percent_over_nine_decades() {
        let mut delays = Delays::default();
        let values: Vec<u64> = (0..90).map(|i| libm::pow(10.0, f64::from(i) / 10.0) as u64).collect();
        values.iter().for_each(|v| delays.add(Span::from_nanos(*v)));
        for (rank, value) in values.iter().enumerate() {
            let q = (rank as f64 + 1.0) / values.len() as f64;
            let measured = delays.quantile_s(q - 1e-9).unwrap() * 1e9;
            assert!((measured - *value as f64).abs() <= *value as f64 * 0.01, "{measured} {value}");
        }
        let mut merged = Delays::default();
        merged.merge(&delays);
        assert_eq!(merged.quantile_s(0.5), delays.quantile_s(0.5));
        assert_eq!(Delays::default().quantile_s(0.5), None);
    }
}
