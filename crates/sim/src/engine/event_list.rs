//! The future event list: a radix heap (Ahuja, Mehlhorn, Orlin, Tarjan 1990) to the base 2^[`BITS`] whose small buckets
//! are sorted instead of redistributed.
//!
//! A monotone priority queue: no key may be smaller than the last popped one, as no event is in the past. Entries are in
//! the bucket of the highest digit in which their key differs from the base, and of that digit's value. The bucket
//! that is reached becomes the run, in order; an entry pushed later with a key in its range is inserted into it. Equal keys
//! leave in the order of their [`TieBreak`], and equal ones of these in the order in which they were pushed: buckets keep that order, sorting is
//! stable, and an entry that joins is placed behind its equals.

use std::cmp::Ordering;

/// Bits of a digit. Fewer make more moves, more make more buckets; 4 to 6 measure alike.
const BITS: u32 = 5;
const DIGITS: usize = 1 << BITS;
const LEVELS: usize = 64_usize.div_ceil(BITS as usize);
/// A bucket of at most this size is sorted, a larger one redistributed to lower levels.
const SMALL: usize = 32;
/// Room for so many entries stays with a bucket that has been redistributed. More goes back: of very many entries each of the
/// buckets holds nearly all at one time or another, and the room of all would be many times what the entries take.
const KEPT: usize = 1024;
/// An entry that joins the run nearly always leaves after fewer of its entries than this.
const NEAR: usize = 8;

/// The order among equal keys. An entry pushed early carries the key at which it would have been pushed otherwise, and
/// leaves in the same order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct TieBreak {
    /// The key at which the entry was, or would have been, pushed.
    pub pushed: u64,
    /// Order among entries pushed at that key.
    pub tie: u32,
}

/// An entry.
#[derive(Clone, Copy, Debug)]
struct Entry<T> {
    key: u64,
    /// The fields of its [`TieBreak`], one by one so that the item fills the gap after them.
    pushed: u64,
    tie: u32,
    item: T,
}

impl<T> Entry<T> {
    #[inline]
    fn tie_break(&self) -> TieBreak {
        TieBreak { pushed: self.pushed, tie: self.tie }
    }

    /// True if it leaves before `other`, which came before it.
    #[inline]
    fn precedes(&self, other: &Entry<T>) -> bool {
        self.key < other.key || (self.key == other.key && self.tie_break() < other.tie_break())
    }
}

/// Future entries by key and [`TieBreak`], first in first out among equals.
#[derive(Debug)]
pub struct EventList<T> {
    /// Every entry with a key below `run_end`, in reverse order: the next to leave is at the end.
    run: Vec<Entry<T>>,
    run_end: u64,
    /// The others: by level, the position of the highest digit that differs from `base`, and by that digit.
    buckets: Vec<Vec<Entry<T>>>,
    base: u64,
    /// Bit d of a level: bucket d of the level holds something.
    occupied: [u32; LEVELS],
    /// Bit l: some bucket of level l holds something.
    levels: u32,
    /// The last popped key.
    last: u64,
}

impl<T: Copy> Default for EventList<T> {
    fn default() -> Self {
        EventList {
            run: Vec::new(),
            run_end: 0,
            buckets: (0..LEVELS * DIGITS).map(|_| Vec::new()).collect(),
            base: 0,
            occupied: [0; LEVELS],
            levels: 0,
            last: 0,
        }
    }
}

impl<T: Copy> EventList<T> {
    /// Number of entries.
    pub fn len(&self) -> usize {
        self.run.len() + self.buckets.iter().map(Vec::len).sum::<usize>()
    }

    /// True if there is no entry.
    pub fn is_empty(&self) -> bool {
        self.run.is_empty() && self.levels == 0
    }

    /// Adds an entry.
    ///
    /// # Panics
    ///
    /// If `key` is smaller than that of the entry popped last.
    pub fn push(&mut self, key: u64, tie_break: TieBreak, item: T) {
        assert!(key >= self.last, "an event was scheduled in the past");
        let entry = Entry { key, pushed: tie_break.pushed, tie: tie_break.tie, item };
        if key < self.run_end {
            self.join(entry);
        } else {
            self.put_into_bucket(entry);
        }
    }

    /// Inserts an entry into the run. Few leave before it: one loop finds its index and makes room.
    #[inline]
    fn join(&mut self, entry: Entry<T>) {
        let count = self.run.len();
        if count >= NEAR && !entry.precedes(&self.run[count - NEAR]) {
            let later = self.run.partition_point(|other| entry.precedes(other));
            return self.run.insert(later, entry);
        }
        self.run.push(entry);
        let run = &mut self.run[..=count];
        let mut index = count;
        for at in (0..count).rev() {
            if entry.precedes(&run[at]) {
                break;
            }
            run[at + 1] = run[at];
            index = at;
        }
        run[index] = entry;
    }

    fn put_into_bucket(&mut self, entry: Entry<T>) {
        let difference = entry.key ^ self.base;
        let level = if difference == 0 { 0 } else { difference.ilog2() / BITS };
        let digit = (entry.key >> (level * BITS)) as usize % DIGITS;
        self.buckets[level as usize * DIGITS + digit].push(entry);
        self.occupied[level as usize] |= 1 << digit;
        self.levels |= 1 << level;
    }

    /// Removes the entry with the smallest key; of equal keys the one with the smallest [`TieBreak`], of equal ones of these
    /// the one pushed first.
    #[inline]
    pub fn pop(&mut self) -> Option<(u64, T)> {
        self.pop_with_tie_break().map(|(key, _, item)| (key, item))
    }

    /// Removes the first item, and returns its [`TieBreak`] with it.
    #[inline]
    pub fn pop_with_tie_break(&mut self) -> Option<(u64, TieBreak, T)> {
        loop {
            if let Some(entry) = self.run.pop() {
                self.last = entry.key;
                return Some((entry.key, entry.tie_break(), entry.item));
            }
            self.refill()?;
        }
    }

    /// The smallest key, if there is an entry.
    pub fn next_key(&mut self) -> Option<u64> {
        while self.run.is_empty() {
            self.refill()?;
        }
        self.run.last().map(|entry| entry.key)
    }

    /// Puts the run, which is in the order of pushes, into the order in which it is popped, from the end.
    fn sort_run(&mut self) {
        // One by one: entries are a few words, and `reverse` calls a function for each pair.
        let (mut low, mut high) = (0, self.run.len());
        while low + 1 < high {
            high -= 1;
            self.run.swap(low, high);
            low += 1;
        }
        self.run.sort_by(|a, b| match b.key.cmp(&a.key) {
            Ordering::Equal => b.tie_break().cmp(&a.tie_break()),
            order => order,
        });
    }

    /// Makes the lowest bucket the run, or redistributes it if it is large.
    fn refill(&mut self) -> Option<()> {
        if self.levels == 0 {
            return None;
        }
        let level = self.levels.trailing_zeros();
        let occupied = &mut self.occupied[level as usize];
        let digit = occupied.trailing_zeros() as usize;
        *occupied &= *occupied - 1;
        if *occupied == 0 {
            self.levels &= self.levels - 1;
        }
        let index = level as usize * DIGITS + digit;
        let width = 1 << (level * BITS);
        self.base = self.buckets[index].first()?.key & !(width - 1);
        self.run_end = self.base;
        if self.buckets[index].len() <= SMALL || level == 0 {
            std::mem::swap(&mut self.run, &mut self.buckets[index]);
            self.sort_run();
            self.run_end = self.base.saturating_add(width);
            return Some(());
        }
        let mut entries = std::mem::take(&mut self.buckets[index]);
        entries.drain(..).for_each(|entry| self.put_into_bucket(entry));
        // The emptied vector goes back, so that its memory is used again.
        if entries.capacity() <= KEPT {
            self.buckets[index] = entries;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;
    use tcp::rng::Rng;

    /// Runs `operations` pushes and pops against a plain heap ordered by (key, tie break, order of insertion).
    fn against_plain_heap(seed: u64, operations: u32, ties: u64, gap: fn(&mut Rng) -> u64) {
        let mut rng = Rng::stream(seed, "schedule");
        let mut list = EventList::default();
        let mut plain = BinaryHeap::new();
        let mut now = 0;
        for number in 0..operations {
            if rng.below(5) < 3 {
                let key = now + gap(&mut rng);
                let tie_break = TieBreak { pushed: rng.below(ties), tie: rng.below(2) as u32 };
                list.push(key, tie_break, number);
                plain.push(Reverse((key, tie_break, number)));
            } else {
                let expected = plain.pop().map(|Reverse((key, _, number))| (key, number));
                if number % 3 == 0 {
                    assert_eq!(list.next_key(), expected.map(|(key, _)| key));
                }
                assert_eq!(list.pop(), expected);
                now = expected.map_or(now, |(key, _)| key);
            }
            assert_eq!(list.len(), plain.len());
        }
        while let Some(Reverse((key, _, number))) = plain.pop() {
            assert_eq!(list.pop(), Some((key, number)));
        }
        assert!(list.is_empty() && list.pop().is_none());
    }

    #[test]
    fn order_equals_a_stable_sort_by_key() {
        against_plain_heap(1, 300_000, 3, |rng| rng.below(1_000_000));
        against_plain_heap(2, 300_000, 3, |rng| rng.below(3));
        // Packet-like gaps: some short, some a round trip, some a time-out.
        against_plain_heap(3, 300_000, 1, |rng| [12_000, 120_000, 20_000_000, 200_000_000][rng.below(4) as usize]);
        // Bursts in the middle of what was sparse.
        against_plain_heap(5, 300_000, 2, |rng| if rng.below(9) < 8 { rng.below(900) } else { rng.below(1 << 30) });
        against_plain_heap(4, 100_000, 1 << 40, |rng| rng.next_u64() >> (2 + rng.below(61)) >> 1);
    }

    #[test]
    #[should_panic(expected = "in the past")]
    fn the_past_is_refused() {
        let mut list = EventList::default();
        list.push(10, TieBreak::default(), ());
        list.pop();
        list.push(9, TieBreak::default(), ());
    }
}
