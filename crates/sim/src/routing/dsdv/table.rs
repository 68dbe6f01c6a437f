//! The routing table of a DSDV agent, by number of destination. Routes are stored apart from the rest of their entries,
//! as nearly all advertisements are compared with the route and change nothing.

use tcp::units::{Bytes, Span, Time};

use super::pages::Pages;
use crate::ids::StationId;

/// Size of a route advertisement.
pub(crate) const ENTRY_SIZE: Bytes = Bytes(12);
/// Metric of an unreachable destination.
pub(super) const INFINITE: u32 = 250;
/// Delay of an advertisement that is not due.
const NEVER: Span = Span::from_millis(604_800_000);

/// The route to a destination.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Route {
    pub(super) next: StationId,
    pub(super) metric: u32,
    pub(super) sequence: u32,
}

/// The rest of an entry: settling and advertisement.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Entry {
    pub(super) settling: Span,
    pub(super) changed_at: Time,
    /// Time at which the sequence number was first received.
    pub(super) sequence_at: Time,
    pub(super) advertise_from: Time,
    pub(super) advert_sequence: bool,
    pub(super) advert_metric: bool,
    pub(super) last_advertised: Option<u32>,
}

impl Entry {
    /// An entry with nothing to advertise.
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

    pub(super) fn is_changed(&self, now: Time) -> bool {
        (self.advert_sequence || self.advert_metric) && self.advertise_from <= now
    }
}

/// A deadline for each destination, and the first of them.
#[derive(Clone, Debug)]
pub(super) struct Deadlines {
    at: Pages<Time>,
    /// Lower bound of the first deadline.
    first: Time,
    /// The bound may be too low.
    stale: bool,
}

const NONE: Time = Time::from_nanos(u64::MAX);

impl Deadlines {
    fn new() -> Deadlines {
        Deadlines { at: Pages::new(NONE), first: NONE, stale: false }
    }

    pub(super) fn set(&mut self, station: StationId, at: Option<Time>) {
        let at = at.unwrap_or(NONE);
        let old = std::mem::replace(self.at.get_mut(station), at);
        if at <= self.first {
            (self.first, self.stale) = (at, false);
        } else if old == self.first {
            self.stale = true;
        }
    }

    pub(super) fn is_due(&self, station: StationId, now: Time) -> bool {
        *self.at.get(station) <= now
    }

    /// Clears all deadlines before `limit`.
    pub(super) fn clear_before(&mut self, limit: Time) {
        self.at.values_mut().filter(|at| **at < limit).for_each(|at| *at = NONE);
        self.stale = true;
    }

    pub(super) fn first(&mut self) -> Option<Time> {
        if self.stale {
            self.first = self.at.iter().map(|(_, at)| *at).min().unwrap_or(NONE);
            self.stale = false;
        }
        Some(self.first).filter(|first| *first < NONE)
    }
}

/// The table.
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// With a metric above all others for unknown destinations.
    routes: Pages<Route>,
    entries: Pages<Entry>,
    known: usize,
    /// Times of triggered updates.
    pub(super) triggers: Deadlines,
    /// Timeouts of neighbours.
    pub(super) neighbour_timeouts: Deadlines,
}

const UNKNOWN: Route = Route { next: StationId(0), metric: u32::MAX, sequence: 0 };

impl Table {
    pub(super) fn new() -> Table {
        let entries = Pages::new(Entry::new(Time::ZERO, Span::ZERO));
        let (triggers, neighbour_timeouts) = (Deadlines::new(), Deadlines::new());
        Table { routes: Pages::new(UNKNOWN), entries, known: 0, triggers, neighbour_timeouts }
    }

    /// Number of known destinations.
    pub(super) fn len(&self) -> usize {
        self.known
    }

    /// The route to a known destination, valid or broken.
    pub(super) fn route(&self, destination: StationId) -> Option<Route> {
        Some(*self.routes.get(destination)).filter(|route| route.metric <= INFINITE)
    }

    /// The route to a known destination, mutable.
    pub(super) fn route_mut(&mut self, destination: StationId) -> &mut Route {
        self.routes.get_mut(destination)
    }

    pub(super) fn entry_mut(&mut self, destination: StationId) -> &mut Entry {
        self.entries.get_mut(destination)
    }

    /// All known destinations and others near them, in order.
    pub(super) fn stations(&self) -> Vec<StationId> {
        self.routes.iter().map(|(station, _)| station).collect()
    }

    /// Known destinations, in order.
    pub(super) fn rows(&self) -> impl Iterator<Item = (StationId, Route, &Entry)> {
        let known = self.routes.iter().filter(|(_, route)| route.metric <= INFINITE);
        known.map(|(station, route)| (station, *route, self.entries.get(station)))
    }

    /// Adds an unknown destination.
    pub(super) fn insert(&mut self, destination: StationId, route: Route, entry: Entry) {
        *self.routes.get_mut(destination) = route;
        *self.entries.get_mut(destination) = entry;
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
        let mut deadlines = Deadlines::new();
        assert_eq!(deadlines.first(), None);
        deadlines.set(StationId(0), Some(at(5)));
        deadlines.set(StationId(1), Some(at(7)));
        assert_eq!(deadlines.first(), Some(at(5)));
        deadlines.set(StationId(0), Some(at(9)));
        assert_eq!(deadlines.first(), Some(at(7)));
        deadlines.set(StationId(1), None);
        deadlines.set(StationId(2), Some(at(10)));
        assert_eq!(deadlines.first(), Some(at(9)));
        deadlines.clear_before(at(10));
        assert_eq!((deadlines.first(), deadlines.is_due(StationId(2), at(10))), (Some(at(10)), true));
        assert!(!deadlines.is_due(StationId(0), at(1000)));
    }

    #[test]
    fn numbers_between_known_ones_stay_unknown() {
        let mut table = Table::new();
        let route = Route { next: StationId(3), metric: INFINITE, sequence: 4 };
        table.insert(StationId(3), route, Entry::new(at(1), Span::ZERO));
        assert_eq!(
            (table.route(StationId(3)), table.route(StationId(1)), table.route(StationId(9))),
            (Some(route), None, None)
        );
        assert_eq!((table.len(), table.rows().count()), (1, 1));
    }
}
