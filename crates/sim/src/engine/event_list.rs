//! The future event list: a radix heap (Ahuja, Mehlhorn, Orlin, Tarjan 1990) to the base 2^[`BITS`] whose small buckets
//! are sorted instead of dealt out.
//!
//! A monotone priority queue: no key may be smaller than the last popped one, for time a law of nature. Entries wait in
//! the bucket of the highest digit in which their key differs from the base, and of that digit's value. The bucket
//! that is reached becomes the run, in order; what is pushed meanwhile and belongs into its range joins it. Equal keys
//! leave in the order of their [`Place`], and equal places in the order they came: buckets keep that order, sorting is
//! stable, and who joins goes behind its equals.

/// Bits of a digit. Fewer make more moves, more make more buckets; 4 to 6 measure alike.
const BITS: u32 = 5;
const DIGITS: usize = 1 << BITS;
const LEVELS: usize = 64_usize.div_ceil(BITS as usize);
/// A bucket up to this size is sorted, a larger one dealt out to lower levels.
const SMALL: usize = 16;
/// Who joins the run leaves nearly always after fewer of its entries than that.
const NEAR: usize = 8;

/// The order among equal keys. Who pushes in the order of the places need not care; who knows of an entry early says
/// where it would have been pushed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Place {
    /// The key at which the entry is, or would be, pushed.
    pub pushed: u64,
    /// Among those pushed at that key.
    pub tie: u32,
}

/// An entry.
#[derive(Clone, Copy, Debug)]
struct Entry<T> {
    key: u64,
    /// The parts of its place, one by one so that the item fills the gap after them.
    pushed: u64,
    tie: u32,
    item: T,
}

impl<T> Entry<T> {
    #[inline]
    fn place(&self) -> Place {
        Place { pushed: self.pushed, tie: self.tie }
    }

    /// True if it leaves before `other`, which came before it.
    #[inline]
    fn precedes(&self, other: &Entry<T>) -> bool {
        self.key < other.key || (self.key == other.key && self.place() < other.place())
    }
}

/// Future entries by key and place, first in first out among equals.
#[derive(Debug)]
pub struct Schedule<T> {
    /// Every entry with a key below `run_end`; the next one is the last.
    run: Vec<Entry<T>>,
    run_end: u64,
    /// The others: by level, that is the place of the highest digit that differs from `base`, and by that digit.
    buckets: Vec<Vec<Entry<T>>>,
    base: u64,
    /// Bit d of a level: bucket d of the level holds something.
    occupied: [u32; LEVELS],
    /// Bit l: some bucket of level l holds something.
    levels: u32,
    /// The last popped key.
    last: u64,
}

impl<T: Copy> Default for Schedule<T> {
    fn default() -> Self {
        Schedule {
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

impl<T: Copy> Schedule<T> {
    /// Entries waiting.
    pub fn len(&self) -> usize {
        self.run.len() + self.buckets.iter().map(Vec::len).sum::<usize>()
    }

    /// True when nothing waits.
    pub fn is_empty(&self) -> bool {
        self.run.is_empty() && self.levels == 0
    }

    /// Adds an entry; panics on a key smaller than the last popped one.
    pub fn push(&mut self, key: u64, place: Place, item: T) {
        assert!(key >= self.last, "an event was scheduled in the past");
        let entry = Entry { key, pushed: place.pushed, tie: place.tie, item };
        if key < self.run_end {
            self.join(entry);
        } else {
            self.place(entry);
        }
    }

    /// Puts an entry into the run, behind those that leave before it. They are few: one loop finds the place and makes room.
    #[inline]
    fn join(&mut self, entry: Entry<T>) {
        let count = self.run.len();
        if count >= NEAR && !entry.precedes(&self.run[count - NEAR]) {
            let later = self.run.partition_point(|other| entry.precedes(other));
            return self.run.insert(later, entry);
        }
        self.run.push(entry);
        let run = &mut self.run[..=count];
        let mut place = count;
        for at in (0..count).rev() {
            if entry.precedes(&run[at]) {
                break;
            }
            run[at + 1] = run[at];
            place = at;
        }
        run[place] = entry;
    }

    fn place(&mut self, entry: Entry<T>) {
        let difference = entry.key ^ self.base;
        let level = if difference == 0 { 0 } else { difference.ilog2() / BITS };
        let digit = (entry.key >> (level * BITS)) as usize % DIGITS;
        self.buckets[level as usize * DIGITS + digit].push(entry);
        self.occupied[level as usize] |= 1 << digit;
        self.levels |= 1 << level;
    }

    /// Takes the entry with the smallest key; of equal keys the one with the first place, of equal places the one that
    /// came first.
    pub fn pop(&mut self) -> Option<(u64, T)> {
        loop {
            if let Some(Entry { key, item, .. }) = self.run.pop() {
                self.last = key;
                return Some((key, item));
            }
            self.refill()?;
        }
    }

    /// Turns the lowest bucket into the run, or deals it out if it is large.
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
            self.run.sort_by_key(|entry| (entry.key, entry.place()));
            self.run.reverse();
            self.run_end = self.base.saturating_add(width);
            return Some(());
        }
        let mut entries = std::mem::take(&mut self.buckets[index]);
        entries.drain(..).for_each(|entry| self.place(entry));
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

    /// Runs `operations` pushes and pops against a plain heap ordered by (key, place, order of insertion).
    fn against_plain_heap(seed: u64, operations: u32, places: u64, gap: fn(&mut Rng) -> u64) {
        let mut rng = Rng::stream(seed, "schedule");
        let mut schedule = Schedule::default();
        let mut plain = BinaryHeap::new();
        let mut now = 0;
        for number in 0..operations {
            if rng.below(5) < 3 {
                let key = now + gap(&mut rng);
                let place = Place { pushed: rng.below(places), tie: rng.below(2) as u32 };
                schedule.push(key, place, number);
                plain.push(Reverse((key, place, number)));
            } else {
                let expected = plain.pop().map(|Reverse((key, _, number))| (key, number));
                assert_eq!(schedule.pop(), expected);
                now = expected.map_or(now, |(key, _)| key);
            }
            assert_eq!(schedule.len(), plain.len());
        }
        while let Some(Reverse((key, _, number))) = plain.pop() {
            assert_eq!(schedule.pop(), Some((key, number)));
        }
        assert!(schedule.is_empty() && schedule.pop().is_none());
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
        let mut schedule = Schedule::default();
        schedule.push(10, Place::default(), ());
        schedule.pop();
        schedule.push(9, Place::default(), ());
    }
}
