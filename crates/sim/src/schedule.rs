//! The future event list: a radix heap (Ahuja, Mehlhorn, Orlin, Tarjan 1990) to the base 2^[`BITS`].
//!
//! A monotone priority queue: no key may be smaller than the last popped one, for time a law of nature. Entries wait in
//! the bucket of the highest digit in which their key differs from the last popped key, and of that digit's value; a
//! bucket that is reached is dealt out to lower ones in order. Hence entries of equal key leave in the order they came,
//! without a sequence number, and an entry is moved at most once per digit.

/// Bits of a digit. Fewer make more moves, more make more buckets; 4 to 6 measure alike, 1 is a third slower.
const BITS: u32 = 5;
const DIGITS: usize = 1 << BITS;
const LEVELS: usize = 64_usize.div_ceil(BITS as usize);

/// Future entries by key, first in first out among equal keys.
#[derive(Debug)]
pub struct Schedule<T> {
    /// Entries whose key equals `last`.
    ready: Vec<(u64, T)>,
    /// Next entry of `ready`.
    head: usize,
    /// By level, that is the place of the highest differing digit, and by that digit.
    buckets: Vec<Vec<(u64, T)>>,
    last: u64,
    /// Bit d of a level: bucket d of the level holds something.
    occupied: [u32; LEVELS],
    /// Bit l: some bucket of level l holds something.
    levels: u32,
    len: usize,
}

impl<T: Copy> Default for Schedule<T> {
    fn default() -> Self {
        let buckets = (0..LEVELS * DIGITS).map(|_| Vec::new()).collect();
        Schedule { ready: Vec::new(), head: 0, buckets, last: 0, occupied: [0; LEVELS], levels: 0, len: 0 }
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
        let difference = key ^ self.last;
        if difference == 0 {
            self.ready.push((key, item));
            return;
        }
        let level = difference.ilog2() / BITS;
        let digit = (key >> (level * BITS)) as usize % DIGITS;
        self.buckets[level as usize * DIGITS + digit].push((key, item));
        self.occupied[level as usize] |= 1 << digit;
        self.levels |= 1 << level;
    }

    /// Takes the entry with the smallest key; of equal keys the one that came first.
    pub fn pop(&mut self) -> Option<(u64, T)> {
        if self.head == self.ready.len() {
            self.refill()?;
        }
        let entry = self.ready[self.head];
        self.head += 1;
        self.len -= 1;
        Some(entry)
    }

    /// Makes the entries of the smallest key ready.
    fn refill(&mut self) -> Option<()> {
        self.ready.clear();
        self.head = 0;
        if self.levels == 0 {
            return None;
        }
        let level = self.levels.trailing_zeros() as usize;
        let digit = self.occupied[level].trailing_zeros() as usize;
        self.occupied[level] &= self.occupied[level] - 1;
        if self.occupied[level] == 0 {
            self.levels &= self.levels - 1;
        }
        let index = level * DIGITS + digit;
        if let [only] = self.buckets[index][..] {
            self.last = only.0;
            self.ready.push(only);
            self.buckets[index].clear();
            return Some(());
        }
        let mut entries = std::mem::take(&mut self.buckets[index]);
        self.last = entries.iter().map(|(key, _)| *key).min()?;
        for (key, item) in entries.drain(..) {
            self.place(key, item);
        }
        // The emptied vector goes back, so that its memory is used again.
        self.buckets[index] = entries;
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
