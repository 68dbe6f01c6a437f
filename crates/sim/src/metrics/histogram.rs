//! Counts of times in buckets of equal relative width.

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
fn bucket_of(nanos: u64) -> usize {
    if nanos < u64::from(2 * SUB) {
        return nanos as usize;
    }
    let shift = 63 - nanos.leading_zeros() - SUB_BITS;
    (shift * SUB) as usize + (nanos >> shift) as usize
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
    pub(super) fn add(&mut self, nanos: u64, count: u32) {
        let bucket = bucket_of(nanos);
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
    pub(super) fn remove(&mut self, nanos: u64) {
        self.counts[bucket_of(nanos) - self.first] -= 1;
    }

    /// Number of values.
    pub(super) fn total(&self) -> u64 {
        self.counts.iter().map(|c| u64::from(*c)).sum()
    }

    /// The value below which the share `q` lies, in nanoseconds.
    pub(super) fn quantile(&self, q: f64) -> Option<f64> {
        self.ranked(libm::ceil(q * self.total() as f64) as u64)
    }

    /// The value of this rank, the least being 1, in nanoseconds.
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
