//! `script`: writes at given times, over one connection that stays open.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tcp::units::{Bytes, Span, Time};

/// What is written, and when.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    entries: Vec<Entry>,
    /// The next write of each entry, after the start: its time, and the number of the entry.
    coming: BinaryHeap<Reverse<(Span, usize)>>,
    start: Time,
    /// The write that is due.
    pub(super) now: Bytes,
}

/// A write, and how often.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Entry {
    pub(crate) at: Span,
    pub(crate) bytes: Bytes,
    /// Each so much later once more, not after this time.
    pub(crate) repeat: Option<(Span, Span)>,
}

impl Script {
    pub(crate) fn new(entries: Vec<Entry>) -> Script {
        let coming = entries.iter().enumerate().map(|(number, entry)| Reverse((entry.at, number))).collect();
        Script { entries, coming, start: Time::ZERO, now: Bytes::ZERO }
    }

    /// Every write is filled up to a multiple of `unit`.
    pub(super) fn fill(&mut self, unit: Bytes) {
        self.entries.iter_mut().for_each(|entry| entry.bytes = Bytes(entry.bytes.0.next_multiple_of(unit.0)));
    }

    /// The flow starts now: what is to be written at once is due.
    pub(super) fn start(&mut self, now: Time) {
        self.start = now;
        if self.coming.peek().is_some_and(|Reverse((at, _))| *at == Span::ZERO) {
            self.next(now);
        }
    }

    /// Makes the next write the one that is due; its time, which is now if the one before had to wait for room.
    pub(super) fn next(&mut self, now: Time) -> Option<Time> {
        let Reverse((at, number)) = self.coming.pop()?;
        let Entry { bytes, repeat, .. } = self.entries[number];
        self.now = bytes;
        if let Some((every, until)) = repeat
            && at + every <= until
        {
            self.coming.push(Reverse((at + every, number)));
        }
        Some((self.start + at).max(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is written from a start at 5 s: milliseconds after it, and bytes.
    fn written(mut script: Script) -> Vec<(u64, u64)> {
        let start = Time::from_nanos(5_000_000_000);
        script.start(start);
        let (mut now, mut found) = (start, vec![(0, script.now.0)]);
        while let Some(next) = script.next(now) {
            now = next;
            found.push((now.since(start).as_nanos() / 1_000_000, script.now.0));
        }
        found
    }

    fn entry(at: u64, bytes: u64, repeat: Option<(u64, u64)>) -> Entry {
        let repeat = repeat.map(|(every, until)| (Span::from_millis(every), Span::from_millis(until)));
        Entry { at: Span::from_millis(at), bytes: Bytes(bytes), repeat }
    }

    #[test]
    fn entries_are_written_at_their_times_and_repeated_ones_among_others() {
        let script = Script::new(vec![entry(0, 7, None), entry(10, 1, Some((5, 25))), entry(12, 2, None)]);
        assert_eq!(written(script), [(0, 7), (10, 1), (12, 2), (15, 1), (20, 1), (25, 1)]);
        let mut later = Script::new(vec![entry(3, 100, None)]);
        later.fill(Bytes(1000));
        assert_eq!(written(later), [(0, 0), (3, 1000)]);
    }

    /// One that had to wait is written as soon as it can be, and none is left out.
    #[test]
    fn late_writes_are_not_skipped() {
        let mut script = Script::new(vec![entry(0, 1, Some((1, 3)))]);
        script.start(Time::ZERO);
        let late = Time::from_nanos(10_000_000);
        assert_eq!([script.next(late), script.next(late), script.next(late)], [Some(late); 3]);
        assert_eq!(script.next(late), None);
    }
}
