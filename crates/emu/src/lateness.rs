//! How late packets leave: a histogram whose buckets grow by an eighth.

/// Buckets of a factor of two.
const IN_OCTAVE: u32 = 8;
const OCTAVE_BITS: u32 = IN_OCTAVE.ilog2();

/// A histogram of nanoseconds.
#[derive(Clone, Debug, Default)]
pub struct Lateness {
    counts: Vec<u64>,
    total: u64,
    max: u64,
}

impl Lateness {
    /// Adds a packet that was so late.
    pub fn add(&mut self, nanos: u64) {
        let bucket = bucket_of(nanos);
        if bucket >= self.counts.len() {
            self.counts.resize(bucket + 1, 0);
        }
        self.counts[bucket] += 1;
        self.total += 1;
        self.max = self.max.max(nanos);
    }

    /// Packets.
    pub fn packets(&self) -> u64 {
        self.total
    }

    /// The latest packet, in seconds.
    pub fn max_s(&self) -> f64 {
        self.max as f64 / 1e9
    }

    /// What the share `q` of packets does not exceed, in seconds: the upper edge of a bucket; none without packets.
    pub fn quantile_s(&self, q: f64) -> Option<f64> {
        let rank = ((q * self.total as f64).ceil() as u64).max(1);
        let mut sum = 0;
        self.buckets().find_map(|(edge_s, count)| {
            sum += count;
            (sum >= rank).then_some(edge_s.min(self.max_s()))
        })
    }

    /// The upper edge of each bucket that has any, in seconds, and how many packets are in it.
    pub fn buckets(&self) -> impl Iterator<Item = (f64, u64)> {
        let filled = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        filled.map(|(bucket, count)| (edge_of(bucket) as f64 / 1e9, *count))
    }
}

fn bucket_of(nanos: u64) -> usize {
    if nanos < u64::from(IN_OCTAVE) {
        return nanos as usize;
    }
    let shift = nanos.ilog2() - OCTAVE_BITS;
    (shift as usize) * IN_OCTAVE as usize + (nanos >> shift) as usize
}

/// The largest value of a bucket.
fn edge_of(bucket: usize) -> u64 {
    let (bucket, each) = (bucket as u64, u64::from(IN_OCTAVE));
    if bucket < 2 * each {
        return bucket;
    }
    let shift = bucket / each - 1;
    ((bucket % each + each + 1) << shift) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_lies_in_its_bucket_and_edges_grow_by_an_eighth() {
        for nanos in (0..2000).chain((11..60).map(|bits| (1 << bits) + 12345 % (1 << bits))) {
            let bucket = bucket_of(nanos);
            assert!(nanos <= edge_of(bucket), "{nanos}");
            assert!(bucket == 0 || nanos > edge_of(bucket - 1), "{nanos}");
            assert!(edge_of(bucket) - nanos <= nanos / 8, "{nanos}");
        }
    }

    #[test]
    fn quantiles_are_those_of_the_packets() {
        let mut lateness = Lateness::default();
        assert_eq!(lateness.quantile_s(0.99), None);
        (1..=100).for_each(|micros| lateness.add(micros * 1000));
        let (median, last) = (lateness.quantile_s(0.5).unwrap(), lateness.quantile_s(0.99).unwrap());
        assert!((50e-6..57e-6).contains(&median) && (99e-6..=100e-6).contains(&last), "{median} {last}");
        assert_eq!((lateness.max_s(), lateness.packets()), (100e-6, 100));
        assert_eq!(lateness.buckets().map(|(_, count)| count).sum::<u64>(), 100);
    }
}
