//! The future event list: a radix heap (Ahuja, Mehlhorn, Orlin, Tarjan 1990).
//!
//! A monotone priority queue: no key may be smaller than the last popped one, for time a law of nature. Entries wait in
//! the bucket of the highest bit in which their key differs from the last popped key; a bucket that is reached is dealt
//! out to lower ones in order. Hence entries of equal key leave in the order they came, without a sequence number.

/// Future entries by key, first in first out among equal keys.
#[derive(Debug)]
pub struct Schedule<T> {
    /// Bucket 0 holds keys equal to `last`; bucket i keys whose highest differing bit is i - 1.
    buckets: [Vec<(u64, T)>; 65],
    /// Next entry of bucket 0.
    head: usize,
    last: u64,
    /// Bit i - 1 set: bucket i holds something.
    occupied: u64,
    len: usize,
}

impl<T: Copy> Default for Schedule<T> {
    fn default() -> Self {
        Schedule { buckets: std::array::from_fn(|_| Vec::new()), head: 0, last: 0, occupied: 0, len: 0 }
    }
}

impl<T: Copy> Schedule<T> {
    /// Entries waiting.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True when nothing waits.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds an entry; panics on a key smaller than the last popped one.
    pub fn push(&mut self, key: u64, item: T) {
        assert!(key >= self.last, "an event was scheduled in the past");
        self.len += 1;
        self.place(key, item);
    }

    fn place(&mut self, key: u64, item: T) {
        let bucket = 64 - (key ^ self.last).leading_zeros() as usize;
        self.buckets[bucket].push((key, item));
        if bucket > 0 {
            self.occupied |= 1 << (bucket - 1);
        }
    }

    /// Takes the entry with the smallest key; of equal keys the one that came first.
    pub fn pop(&mut self) -> Option<(u64, T)> {
        if self.head == self.buckets[0].len() {
            self.refill()?;
        }
        let entry = self.buckets[0][self.head];
        self.head += 1;
        self.len -= 1;
        Some(entry)
    }

    /// Moves the entries of the smallest key into bucket 0.
    fn refill(&mut self) -> Option<()> {
        self.buckets[0].clear();
        self.head = 0;
        if self.occupied == 0 {
            return None;
        }
        let bucket = self.occupied.trailing_zeros() as usize + 1;
        self.occupied &= self.occupied - 1;
        let mut entries = std::mem::take(&mut self.buckets[bucket]);
        self.last = entries.iter().map(|(key, _)| *key).min()?;
        for (key, item) in entries.drain(..) {
            self.place(key, item);
        }
        // The emptied vector goes back, so that its memory is used again.
        self.buckets[bucket] = entries;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;
    use tcp::rng::Rng;

    /// Runs `operations` pushes and pops against a plain heap ordered by (key, order of insertion).
    fn against_plain_heap(seed: u64, operations: u32, gap: fn(&mut Rng) -> u64) {
        let mut rng = Rng::stream(seed, "schedule");
        let mut schedule = Schedule::default();
        let mut plain = BinaryHeap::new();
        let mut now = 0;
        for number in 0..operations {
            if rng.below(5) < 3 {
                let key = now + gap(&mut rng);
                schedule.push(key, number);
                plain.push(Reverse((key, number)));
            } else {
                let expected = plain.pop().map(|Reverse(entry)| entry);
                assert_eq!(schedule.pop(), expected);
                now = expected.map_or(now, |(key, _)| key);
            }
            assert_eq!(schedule.len(), plain.len());
        }
        while let Some(Reverse(expected)) = plain.pop() {
            assert_eq!(schedule.pop(), Some(expected));
        }
        assert!(schedule.is_empty() && schedule.pop().is_none());
    }

    #[test]
    fn order_equals_a_stable_sort_by_key() {
        against_plain_heap(1, 300_000, |rng| rng.below(1_000_000));
        against_plain_heap(2, 300_000, |rng| rng.below(3));
        // Packet-like gaps: some short, some a round trip, some a time-out.
        against_plain_heap(3, 300_000, |rng| [12_000, 120_000, 20_000_000, 200_000_000][rng.below(4) as usize]);
        against_plain_heap(4, 100_000, |rng| rng.next_u64() >> (2 + rng.below(61)) >> 1);
    }

    #[test]
    #[should_panic(expected = "in the past")]
    fn the_past_is_refused() {
        let mut schedule = Schedule::default();
        schedule.push(10, ());
        schedule.pop();
        schedule.push(9, ());
    }
}
