//! Destination-sequenced distance vector routing (DSDV; Perkins and Bhagwat 1994). Link feedback from the MAC, the sizes of headers,
//! and whether updates fit the MTU are parameters; `compat/dsdv_ns3.rs` is another implementation.

mod pages;
#[path = "../../compat/dsdv_ns3.rs"]
pub(crate) mod prompt;
pub(super) mod table;
#[cfg(test)]
mod tests;

use tcp::rng::Rng;
use tcp::units::{Bytes, Span, Time};

use super::answer::{NextHop, Outbox, Outgoing, jitter};
use crate::ids::StationId;
use crate::packet::message::{Message, RouteAdvertisement};
use table::{ENTRY_SIZE, Entry, INFINITE, Route, Table};

/// Maximum delay of the first update.
const START_JITTER: Span = Span::from_millis(2000);
const BROADCAST_JITTER: Span = Span::from_millis(10);
/// Minimum time from an update to a triggered one.
const MIN_UPDATE_INTERVAL: Span = Span::from_millis(1000);
/// Update intervals without an update after which a neighbour is lost.
const NEIGHBOUR_HOLD_INTERVALS: u64 = 3;
/// Weight of the old settling time in its moving average, in eighths (alpha = 0.875).
const SETTLING_MEMORY: u64 = 7;

/// Why an update is sent: a periodic one has all routes.
#[derive(Clone, Copy, PartialEq)]
enum Update {
    Periodic,
    Triggered,
}

/// Parameters that differ between profiles.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct DsdvRules {
    pub(crate) interval: Span,
    /// Initial settling time; advertisements are delayed by twice the settling time.
    pub(crate) settling: Span,
    /// Size of the headers of a message.
    pub(crate) header: Bytes,
    /// Longer updates are split.
    pub(crate) mtu: Option<Bytes>,
    /// A link counts as broken when the MAC gives up a frame.
    pub(crate) link_feedback: bool,
}

/// The DSDV agent of a station.
#[derive(Clone, Debug)]
pub(crate) struct Dsdv {
    me: StationId,
    rules: DsdvRules,
    table: Table,
    sequence: u32,
    periodic_at: Time,
    last_update: Option<Time>,
    rng: Rng,
    pub(super) outbox: Outbox,
}

impl Dsdv {
    pub(crate) fn new(me: StationId, rules: DsdvRules, mut rng: Rng) -> Dsdv {
        let own = Entry {
            advertise_from: Time::ZERO,
            advert_sequence: true,
            advert_metric: true,
            ..Entry::new(Time::ZERO, Span::ZERO)
        };
        let periodic_at = Time::ZERO + jitter(&mut rng, START_JITTER);
        let mut table = Table::new();
        table.insert(me, Route { next: me, metric: 0, sequence: 0 }, own);
        Dsdv { me, rules, table, sequence: 0, periodic_at, last_update: None, rng, outbox: Outbox::default() }
    }

    pub(super) fn next_hop(&self, destination: StationId) -> NextHop {
        match self.table.route(destination).filter(|route| route.metric < INFINITE) {
            Some(route) => NextHop::Via(route.next),
            None => NextHop::Wait,
        }
    }

    /// Adds an entry for an unknown destination that a packet waits for; its first route is advertised without
    /// settling.
    pub(super) fn discover(&mut self, now: Time, destination: StationId) {
        if self.table.route(destination).is_none() {
            let route = Route { next: destination, metric: INFINITE, sequence: 0 };
            self.table.insert(destination, route, Entry::new(now, self.rules.settling));
        }
    }

    pub(super) fn next_timer(&mut self) -> Option<Time> {
        let Table { triggers, neighbour_timeouts, .. } = &mut self.table;
        let deadlines = [triggers.first(), neighbour_timeouts.first(), self.outbox.next_due()];
        deadlines.into_iter().flatten().chain([self.periodic_at]).min()
    }

    pub(super) fn on_timer(&mut self, now: Time) {
        if self.table.neighbour_timeouts.first().is_some_and(|first| first <= now) {
            for station in self.table.stations() {
                if self.table.neighbour_timeouts.is_due(station, now) {
                    self.on_neighbour_lost(now, station);
                }
            }
        }
        if self.table.triggers.first().is_some_and(|first| first <= now) {
            for station in self.table.stations() {
                if self.table.triggers.is_due(station, now) {
                    self.on_trigger(now, station);
                }
            }
        }
        if self.periodic_at <= now {
            self.advertise(now, Update::Periodic);
        }
    }

    /// Handles the triggered update for a change at `station`.
    fn on_trigger(&mut self, now: Time, station: StationId) {
        let earliest = self.last_update.map_or(now, |last| last + MIN_UPDATE_INTERVAL);
        if earliest <= now {
            self.table.triggers.set(station, None);
            return self.advertise(now, Update::Triggered);
        }
        self.table.triggers.set(station, Some(earliest));
        // It covers those due earlier.
        self.table.triggers.clear_before(earliest);
    }

    /// Sends an update: all routes that are due, or the changed ones if they are few.
    fn advertise(&mut self, now: Time, update: Update) {
        let changed = self.table.rows().filter(|(_, _, entry)| entry.is_changed(now)).count();
        let full = update == Update::Periodic || (changed > 3 && changed * 3 > self.table.len());
        if full {
            self.sequence += 2;
            self.table.route_mut(self.me).sequence = self.sequence;
            self.table.entry_mut(self.me).advert_sequence = true;
            self.periodic_at = now + self.rules.interval * 3 / 4 + jitter(&mut self.rng, self.rules.interval / 4);
        }
        let advertised =
            |(_, _, entry): &(_, _, &Entry)| entry.is_changed(now) || (full && entry.advertise_from <= now);
        let advert = |(destination, route, _): (StationId, Route, &Entry)| {
            let Route { metric, sequence, .. } = route;
            RouteAdvertisement { destination, metric, sequence }
        };
        let adverts: Vec<RouteAdvertisement> = self.table.rows().filter(advertised).map(advert).collect();
        for advert in &adverts {
            let entry = self.table.entry_mut(advert.destination);
            entry.last_advertised = Some(advert.metric);
            entry.advert_sequence = false;
            // A changed metric is part of every triggered update until the next full one.
            entry.advert_metric &= !full;
        }
        if adverts.is_empty() {
            return;
        }
        self.last_update = Some(now);
        for part in self.parts(adverts) {
            let size = self.rules.header + ENTRY_SIZE * part.len() as u64;
            let due = now + jitter(&mut self.rng, BROADCAST_JITTER);
            self.outbox.push(due, Outgoing { message: Message::Dsdv(part), size, to: None });
        }
    }

    /// An update split into parts that fit the MTU, each with the sender's own route first.
    fn parts(&self, adverts: Vec<RouteAdvertisement>) -> Vec<Vec<RouteAdvertisement>> {
        let room =
            self.rules.mtu.map_or(usize::MAX, |mtu| (mtu.saturating_sub(self.rules.header).0 / ENTRY_SIZE.0) as usize);
        if adverts.len() <= room {
            return vec![adverts];
        }
        let own = RouteAdvertisement { destination: self.me, metric: 0, sequence: self.sequence };
        let others: Vec<RouteAdvertisement> =
            adverts.into_iter().filter(|advert| advert.destination != self.me).collect();
        let with_own = |part: &[RouteAdvertisement]| std::iter::once(own).chain(part.iter().copied()).collect();
        others.chunks(room.saturating_sub(1).max(1)).map(with_own).collect()
    }

    /// Handles the loss of a neighbour, and of every route through it.
    fn on_neighbour_lost(&mut self, now: Time, neighbour: StationId) {
        if self.table.route(neighbour).is_some() {
            self.table.neighbour_timeouts.set(neighbour, None);
        }
        for station in self.table.stations() {
            let by_it = |route: &Route| route.next == neighbour && route.metric < INFINITE;
            let Some(route) = self.table.route(station).filter(by_it) else { continue };
            *self.table.route_mut(station) = Route { metric: INFINITE, sequence: route.sequence + 1, ..route };
            let entry = self.table.entry_mut(station);
            entry.advertise_from = now;
            entry.advert_metric = true;
            entry.advert_sequence = true;
            self.table.triggers.set(station, Some(now));
        }
    }

    pub(super) fn on_link_failure(&mut self, now: Time, neighbour: StationId) {
        if self.rules.link_feedback {
            self.on_neighbour_lost(now, neighbour);
        }
    }

    pub(super) fn on_update(&mut self, now: Time, from: StationId, update: &[RouteAdvertisement]) {
        for advert in update {
            if advert.destination != self.me {
                self.consider(now, from, advert);
            } else if advert.metric >= INFINITE {
                // Another station advertises this one as unreachable: answer with a new sequence number.
                self.periodic_at = now;
            }
        }
        // A neighbour without a route gets an entry, so that its timeout has a place.
        if self.table.route(from).is_none() {
            let route = Route { next: from, metric: 1, sequence: 0 };
            self.table.insert(from, route, Entry::new(now, self.rules.settling));
        }
        self.table.neighbour_timeouts.set(from, Some(now + self.rules.interval * NEIGHBOUR_HOLD_INTERVALS));
    }

    /// Handles the route of a neighbour to a destination.
    fn consider(&mut self, now: Time, from: StationId, advert: &RouteAdvertisement) {
        let RouteAdvertisement { destination, sequence, .. } = *advert;
        let metric = if advert.metric < INFINITE { advert.metric + 1 } else { INFINITE };
        let route = Route { next: from, metric, sequence };
        let Some(old) = self.table.route(destination) else { return self.learn(now, destination, route) };
        if sequence < old.sequence {
            if metric == INFINITE && old.metric < INFINITE {
                let entry = self.table.entry_mut(destination);
                entry.advertise_from = now;
                entry.advert_metric = true;
                self.table.triggers.set(destination, Some(now));
            }
            return;
        }
        let newer = sequence > old.sequence;
        if !newer && metric >= old.metric {
            return;
        }
        *self.table.route_mut(destination) = route;
        let entry = self.table.entry_mut(destination);
        if newer {
            // Settling time: from the first route with a sequence number to the best one.
            let took = entry.changed_at.since(entry.sequence_at);
            entry.settling = (entry.settling * SETTLING_MEMORY + took) / (SETTLING_MEMORY + 1);
            entry.sequence_at = now;
            entry.advert_sequence = true;
        }
        entry.changed_at = now;
        let settles = metric < INFINITE && old.metric < INFINITE;
        entry.advertise_from = if settles { now + entry.settling * 2 } else { now };
        entry.advert_metric = Some(metric) != entry.last_advertised;
        let (is_due, at) = (!newer && entry.advert_metric, entry.advertise_from);
        if is_due {
            self.table.triggers.set(destination, Some(at));
        }
    }

    /// Adds the first route to a destination.
    fn learn(&mut self, now: Time, destination: StationId, route: Route) {
        let known = route.metric < INFINITE;
        let advertise_from = if known { now + self.rules.settling * 2 } else { now };
        let entry = Entry { advertise_from, advert_metric: known, ..Entry::new(now, self.rules.settling) };
        self.table.insert(destination, route, entry);
        if known {
            self.table.triggers.set(destination, Some(advertise_from));
        }
    }
}
