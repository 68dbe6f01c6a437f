//! The table of a station that speaks DSDV, by number of destination. What every line of an update is compared with stands
//! apart from the rest: nearly all lines bring nothing new.

use tcp::units::{Span, Time};

use super::{INFINITE, NEVER};
use crate::ids::StationId;

/// The way to a destination.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Way {
    pub(super) next: StationId,
    pub(super) metric: u32,
    pub(super) sequence: u32,
}

/// What else a station knows of a destination.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Entry {
    pub(super) settling: Span,
    pub(super) changed_at: Time,
    /// When the sequence number came.
    pub(super) sequence_at: Time,
    pub(super) advertise_from: Time,
    pub(super) advert_sequence: bool,
    pub(super) advert_metric: bool,
    pub(super) last_advertised: Option<u32>,
}

impl Entry {
    /// Of a destination of which there is nothing to tell.
    pub(super) fn new(now: Time, settling: Span) -> Entry {
        Entry {
            settling,
            changed_at: now,
            sequence_at: now,
            advertise_from: now + NEVER,
            advert_sequence: false,
            advert_metric: false,
            last_advertised: None,
        }
    }

    pub(super) fn has_news(&self, now: Time) -> bool {
        (self.advert_sequence || self.advert_metric) && self.advertise_from <= now
    }
}

/// An instant for each destination, or none, and the first of them.
#[derive(Clone, Debug)]
pub(super) struct Alarms {
    at: Vec<Time>,
    /// Not after the first.
    first: Time,
    /// The first may have been taken away.
    stale: bool,
}

const NONE: Time = Time::from_nanos(u64::MAX);

impl Alarms {
    fn new() -> Alarms {
        Alarms { at: Vec::new(), first: NONE, stale: false }
    }

    pub(super) fn set(&mut self, station: StationId, at: Option<Time>) {
        let at = at.unwrap_or(NONE);
        let old = std::mem::replace(&mut self.at[station.index()], at);
        if at <= self.first {
            (self.first, self.stale) = (at, false);
        } else if old == self.first {
            self.stale = true;
        }
    }

    pub(super) fn is_due(&self, station: StationId, now: Time) -> bool {
        self.at[station.index()] <= now
    }

    /// Takes away all that are earlier than `limit`.
    pub(super) fn clear_before(&mut self, limit: Time) {
        self.at.iter_mut().filter(|at| **at < limit).for_each(|at| *at = NONE);
        self.stale = true;
    }

    pub(super) fn first(&mut self) -> Option<Time> {
        if self.stale {
            self.first = self.at.iter().copied().min().unwrap_or(NONE);
            self.stale = false;
        }
        Some(self.first).filter(|first| *first < NONE)
    }
}

/// The table.
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// With a metric above every other where nothing is known.
    ways: Vec<Way>,
    pub(super) entries: Vec<Entry>,
    known: usize,
    /// A triggered update is due.
    pub(super) triggers: Alarms,
    /// The destination is a neighbour and will have been silent for too long.
    pub(super) silences: Alarms,
}

const UNKNOWN: Way = Way { next: StationId(0), metric: u32::MAX, sequence: 0 };

impl Table {
    pub(super) fn new() -> Table {
        let (triggers, silences) = (Alarms::new(), Alarms::new());
        Table { ways: Vec::new(), entries: Vec::new(), known: 0, triggers, silences }
    }

    /// Destinations that something is known of.
    pub(super) fn len(&self) -> usize {
        self.known
    }

    /// The way to a destination that is known, open or broken.
    pub(super) fn way(&self, destination: StationId) -> Option<Way> {
        self.ways.get(destination.index()).copied().filter(|way| way.metric <= INFINITE)
    }

    /// The way to a known destination, to be changed.
    pub(super) fn way_mut(&mut self, destination: StationId) -> &mut Way {
        &mut self.ways[destination.index()]
    }

    pub(super) fn entry_mut(&mut self, destination: StationId) -> &mut Entry {
        &mut self.entries[destination.index()]
    }

    /// Numbers from zero; not all of them need be known.
    pub(super) fn stations(&self) -> impl Iterator<Item = StationId> + use<> {
        (0..self.ways.len() as u32).map(StationId)
    }

    /// Known destinations, in order.
    pub(super) fn rows(&self) -> impl Iterator<Item = (StationId, Way, &Entry)> {
        let rows = self.stations().zip(&self.ways).zip(&self.entries);
        rows.filter(|((_, way), _)| way.metric <= INFINITE).map(|((station, way), entry)| (station, *way, entry))
    }

    /// Takes a destination in that was unknown.
    pub(super) fn insert(&mut self, destination: StationId, way: Way, entry: Entry) {
        let size = destination.index() + 1;
        if self.ways.len() < size {
            self.ways.resize(size, UNKNOWN);
            self.entries.resize(size, Entry::new(Time::ZERO, Span::ZERO));
            self.triggers.at.resize(size, NONE);
            self.silences.at.resize(size, NONE);
        }
        self.ways[destination.index()] = way;
        self.entries[destination.index()] = entry;
        self.known += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: u64) -> Time {
        Time::ZERO + Span::from_millis(1000 * secs)
    }

    #[test]
    fn the_first_alarm_is_known_whatever_is_changed() {
        let mut alarms = Alarms::new();
        alarms.at.resize(3, NONE);
        assert_eq!(alarms.first(), None);
        alarms.set(StationId(0), Some(at(5)));
        alarms.set(StationId(1), Some(at(7)));
        assert_eq!(alarms.first(), Some(at(5)));
        alarms.set(StationId(0), Some(at(9)));
        assert_eq!(alarms.first(), Some(at(7)));
        alarms.set(StationId(1), None);
        alarms.set(StationId(2), Some(at(10)));
        assert_eq!(alarms.first(), Some(at(9)));
        alarms.clear_before(at(10));
        assert_eq!((alarms.first(), alarms.is_due(StationId(2), at(10))), (Some(at(10)), true));
        assert!(!alarms.is_due(StationId(0), at(1000)));
    }

    #[test]
    fn numbers_between_known_ones_stay_unknown() {
        let mut table = Table::new();
        let way = Way { next: StationId(3), metric: INFINITE, sequence: 4 };
        table.insert(StationId(3), way, Entry::new(at(1), Span::ZERO));
        assert_eq!(
            (table.way(StationId(3)), table.way(StationId(1)), table.way(StationId(9))),
            (Some(way), None, None)
        );
        assert_eq!((table.len(), table.rows().count()), (1, 1));
    }
}
