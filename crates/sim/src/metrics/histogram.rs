//! Histograms with buckets of equal relative width: mergeable, the same in any order.

use super::ProductLimit;

/// Sub-buckets per octave: a quantile is within 1/128 of the true value.
const SUB: u32 = 64;
const SUB_BITS: u32 = 6;

/// So many different buckets are kept one by one: of a hundred thousand links and flows most see few different values, and the
/// buckets between these would take a kilobyte.
const FEW: usize = 16;

/// A histogram with buckets of equal relative width, which grows with its range.
#[derive(Clone, Debug)]
pub(super) enum Histogram {
    /// The buckets that hold something, in order, each with its count: at most [`FEW`].
    Few(Vec<(u16, u32)>),
    /// All buckets from the number of the first on.
    Range { first: usize, counts: Vec<u32> },
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram::Few(Vec::new())
    }
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
        self.add_to(bucket_of(value), count);
    }

    #[inline]
    fn add_to(&mut self, bucket: usize, count: u32) {
        match self {
            Histogram::Range { first, counts } => match counts.get_mut(bucket.wrapping_sub(*first)) {
                Some(counted) => *counted += count,
                None => self.widen(bucket, count),
            },
            Histogram::Few(few) => match few.iter_mut().find(|(other, _)| usize::from(*other) == bucket) {
                Some((_, counted)) => *counted += count,
                None => self.add_to_few(bucket, count),
            },
        }
    }

    /// Adds to a bucket that held nothing while there were few.
    #[cold]
    #[inline(never)]
    fn add_to_few(&mut self, bucket: usize, count: u32) {
        let Histogram::Few(few) = self else { return };
        if few.len() < FEW {
            let index = few.partition_point(|(other, _)| usize::from(*other) < bucket);
            // A number of a bucket is at most 64 * 59 + 63.
            return few.insert(index, (bucket as u16, count));
        }
        let few = std::mem::take(few);
        *self = Histogram::Range { first: few[0].0.into(), counts: Vec::new() };
        few.into_iter().for_each(|(bucket, count)| self.widen(bucket.into(), count));
        self.widen(bucket, count);
    }

    /// Adds to a bucket, which may be outside the range.
    #[cold]
    #[inline(never)]
    fn widen(&mut self, bucket: usize, count: u32) {
        let Histogram::Range { first, counts } = self else { return };
        if bucket < *first {
            counts.splice(0..0, std::iter::repeat_n(0, *first - bucket));
            *first = bucket;
        }
        let index = bucket - *first;
        if index >= counts.len() {
            counts.resize(index + 1, 0);
        }
        counts[index] += count;
    }

    /// Takes back a value that was added.
    pub(super) fn remove(&mut self, value: u64) {
        let bucket = bucket_of(value);
        match self {
            Histogram::Range { first, counts } => counts[bucket - *first] -= 1,
            Histogram::Few(few) => {
                let added = few.iter_mut().find(|(other, _)| usize::from(*other) == bucket);
                added.expect("what is taken back was added").1 -= 1;
            }
        }
    }

    /// The buckets from the least on, each with its count.
    fn buckets(&self) -> impl Iterator<Item = (usize, u32)> {
        let (few, first, counts) = match self {
            Histogram::Few(few) => (few.as_slice(), 0, [].as_slice()),
            Histogram::Range { first, counts } => ([].as_slice(), *first, counts.as_slice()),
        };
        let range = counts.iter().enumerate().map(move |(index, count)| (first + index, *count));
        few.iter().map(|(bucket, count)| (usize::from(*bucket), *count)).chain(range)
    }

    /// The middles of the buckets that hold something, from the least on, and how much each holds.
    pub(super) fn counted(&self) -> impl Iterator<Item = (f64, u32)> {
        self.buckets().filter(|(_, count)| *count > 0).map(|(bucket, count)| (middle_of(bucket), count))
    }

    /// Number of values.
    pub(super) fn total(&self) -> u64 {
        self.buckets().map(|(_, count)| u64::from(count)).sum()
    }

    /// The value below which the share `q` lies.
    pub(super) fn quantile(&self, q: f64) -> Option<f64> {
        self.ranked(libm::ceil(q * self.total() as f64) as u64)
    }

    /// The value of this rank, the least being 1.
    pub(super) fn ranked(&self, rank: u64) -> Option<f64> {
        let mut seen = 0;
        self.buckets().find_map(|(bucket, count)| {
            seen += u64::from(count);
            (seen >= rank && seen > 0).then(|| middle_of(bucket))
        })
    }

    pub(super) fn merge(&mut self, other: &Histogram) {
        let counted = other.buckets().filter(|(_, count)| *count > 0);
        counted.for_each(|(bucket, count)| self.add_to(bucket, count));
    }

    /// Forgets all values; few buckets keep their memory.
    pub(super) fn clear(&mut self) {
        match self {
            Histogram::Few(few) => few.clear(),
            Histogram::Range { .. } => *self = Histogram::default(),
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

    /// The same with values that are only known to be larger; None without any.
    pub(crate) fn with_longer(&self, longer: &[f64]) -> Option<ProductLimit> {
        let of = |(bucket, count)| (middle_of(bucket).min(self.max as f64), u64::from(count));
        let counted: Vec<(f64, u64)> = self.histogram.buckets().filter(|(_, count)| *count > 0).map(of).collect();
        (!longer.is_empty()).then(|| ProductLimit::of(&counted, longer.to_vec()))
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

    /// Few buckets and all of a range say the same, before, while and after the few become a range.
    #[test]
    fn few_buckets_say_what_a_range_of_them_does() {
        let mut rng = Rng::stream(2, "test");
        for number in [1, 2, FEW, FEW + 1, 5 * FEW] {
            let mut plain = Histogram::Range { first: bucket_of(1_000), counts: Vec::new() };
            let mut small = Histogram::default();
            for index in 0..number {
                let value = 500 + 37 * index as u64 + rng.below(1_000_000) * (index as u64 % 3);
                plain.widen(bucket_of(value), 2);
                small.add(value, 2);
                small.remove(value);
                small.add(value, 1);
            }
            let sums =
                |histogram: &Histogram| -> Vec<_> { histogram.buckets().filter(|(_, count)| *count > 0).collect() };
            assert_eq!(sums(&small), sums(&plain));
            assert_eq!(small.total(), 2 * number as u64);
            for rank in 0..=2 * number as u64 + 1 {
                assert_eq!(small.ranked(rank), plain.ranked(rank), "{rank} of {number}");
            }
            let (mut merged, mut both) = (Histogram::default(), plain.clone());
            merged.merge(&small);
            merged.merge(&plain);
            both.merge(&small);
            assert_eq!(sums(&merged), sums(&both));
        }
        assert!(bucket_of(u64::MAX) <= usize::from(u16::MAX));
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
