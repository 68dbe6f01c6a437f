//! Histograms with buckets of equal relative width: mergeable, the same in any order.

/// Sub-buckets per octave: a quantile is within 1/128 of the true value.
const SUB: u32 = 64;
const SUB_BITS: u32 = 6;

/// A histogram with buckets of equal relative width, which grows with its range.
#[derive(Clone, Debug, Default)]
pub(super) struct Histogram {
    /// Number of the first bucket kept.
    first: usize,
    counts: Vec<u32>,
}

/// Number of the bucket of a value: linear below 2 SUB, then SUB per octave.
fn bucket_of(value: u64) -> usize {
    if value < u64::from(2 * SUB) {
        return value as usize;
    }
    let shift = 63 - value.leading_zeros() - SUB_BITS;
    (shift * SUB) as usize + (value >> shift) as usize
}

/// The middle of a bucket.
fn middle_of(bucket: usize) -> f64 {
    if bucket < 2 * SUB as usize {
        return bucket as f64;
    }
    let shift = bucket as u32 / SUB - 1;
    let mantissa = u64::from(bucket as u32 % SUB + SUB);
    ((mantissa << shift) as f64) + ((1_u64 << shift) as f64) / 2.0
}

impl Histogram {
    #[inline]
    pub(super) fn add(&mut self, value: u64, count: u32) {
        let bucket = bucket_of(value);
        match self.counts.get_mut(bucket.wrapping_sub(self.first)) {
            Some(counted) => *counted += count,
            None => self.widen(bucket, count),
        }
    }

    /// Adds to a bucket outside the range.
    #[cold]
    #[inline(never)]
    fn widen(&mut self, bucket: usize, count: u32) {
        if self.counts.is_empty() {
            self.first = bucket;
        }
        if bucket < self.first {
            let missing = self.first - bucket;
            self.counts.splice(0..0, std::iter::repeat_n(0, missing));
            self.first = bucket;
        }
        let index = bucket - self.first;
        if index >= self.counts.len() {
            self.counts.resize(index + 1, 0);
        }
        self.counts[index] += count;
    }

    /// Takes back a value that was added.
    pub(super) fn remove(&mut self, value: u64) {
        self.counts[bucket_of(value) - self.first] -= 1;
    }

    /// Number of values.
    pub(super) fn total(&self) -> u64 {
        self.counts.iter().map(|c| u64::from(*c)).sum()
    }

    /// The value below which the share `q` lies.
    pub(super) fn quantile(&self, q: f64) -> Option<f64> {
        self.ranked(libm::ceil(q * self.total() as f64) as u64)
    }

    /// The value of this rank, the least being 1.
    pub(super) fn ranked(&self, rank: u64) -> Option<f64> {
        let mut seen = 0;
        for (index, count) in self.counts.iter().enumerate() {
            seen += u64::from(*count);
            if seen >= rank && seen > 0 {
                return Some(middle_of(self.first + index));
            }
        }
        None
    }

    pub(super) fn merge(&mut self, other: &Histogram) {
        for (index, count) in other.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            self.add(middle_of(other.first + index) as u64, *count);
        }
    }
}

/// Values of many flows: their number, mean, maximum and quantiles, whatever the order in which they come.
#[derive(Clone, Debug, Default)]
pub(crate) struct Distribution {
    sum: u128,
    max: u64,
    histogram: Histogram,
}

impl Distribution {
    pub(crate) fn add(&mut self, value: u64) {
        self.sum += u128::from(value);
        self.max = self.max.max(value);
        self.histogram.add(value, 1);
    }

    /// Adds the values of another.
    pub(crate) fn merge(&mut self, other: &Distribution) {
        self.sum += other.sum;
        self.max = self.max.max(other.max);
        self.histogram.merge(&other.histogram);
    }

    pub(crate) fn count(&self) -> u64 {
        self.histogram.total()
    }

    pub(crate) fn mean(&self) -> Option<f64> {
        let count = self.count();
        (count > 0).then(|| self.sum as f64 / count as f64)
    }

    pub(crate) fn max(&self) -> Option<u64> {
        (self.count() > 0).then_some(self.max)
    }

    /// The value that the share `q` does not exceed, exact to 1/128; absent below `least` values.
    pub(crate) fn quantile(&self, q: f64, least: u64) -> Option<f64> {
        let value = self.histogram.quantile(q).filter(|_| self.count() >= least)?;
        Some(value.min(self.max as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tcp::rng::Rng;

    /// Row W4 of the acceptance table: against a full sort.
    #[test]
    fn quantiles_are_those_of_a_full_sort_in_any_order_and_after_merging() {
        let mut rng = Rng::stream(1, "test");
        let mut values: Vec<u64> = (0..20_000).map(|_| (rng.pareto(1.3, 1e7) + 1000.0) as u64).collect();
        let (mut parts, mut whole) = ([Distribution::default(), Distribution::default()], Distribution::default());
        for (index, value) in values.iter().enumerate() {
            parts[index % 2].add(*value);
        }
        values.iter().rev().for_each(|value| whole.add(*value));
        let [mut merged, other] = parts;
        merged.merge(&other);
        values.sort_unstable();
        for q in [0.01, 0.5, 0.9, 0.99, 0.999, 1.0] {
            let exact = values[(libm::ceil(q * values.len() as f64) as usize).max(1) - 1] as f64;
            let found = whole.quantile(q, 1).unwrap();
            assert!((found / exact - 1.0).abs() <= 1.0 / 128.0, "{q}: {found} {exact}");
            assert_eq!(merged.quantile(q, 1), Some(found));
        }
        assert_eq!((merged.mean(), merged.max()), (whole.mean(), whole.max()));
    }

    #[test]
    fn too_few_values_have_no_high_quantile() {
        let mut few = Distribution::default();
        (0..99).for_each(|value| few.add(value));
        assert_eq!((few.quantile(0.99, 100), few.quantile(0.5, 1).is_some()), (None, true));
        few.add(99);
        assert!(few.quantile(0.99, 100).is_some());
        assert_eq!(Distribution::default().mean(), None);
    }
}
