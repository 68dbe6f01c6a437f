//! DSDV as in ns-3: a change is advertised within a millisecond, or after the settling time if the hop count changed;
//! periodic updates of all stations fall into the same milliseconds.

use std::collections::BTreeMap;

use tcp::rng::Rng;
use tcp::units::{Bytes, Span, Time};

use super::table::ENTRY_SIZE;
use crate::ids::StationId;
use crate::packet::header::{IP_HEADER, UDP_HEADER};
use crate::packet::message::{Message, RouteAdvertisement};
use crate::routing::answer::{NextHop, Outbox, Outgoing, jitter};

/// Size of the headers of a message.
const HEADER: Bytes = Bytes(IP_HEADER.0 + UDP_HEADER.0);
/// Maximum delay of the first update and of triggered ones.
const JITTER: Span = Span::from_millis(1);
/// Maximum excess of the periodic interval, in steps of 25 us.
const PERIODIC_JITTER: Span = Span::from_micros(25_000);
/// Update intervals after which routes that were not refreshed are deleted by a periodic update.
const HOLD_INTERVALS: u64 = 3;
const SETTLING_MEMORY: u64 = 7;

#[derive(Clone, Copy, PartialEq, Debug)]
struct Route {
    next: StationId,
    hops: u32,
    sequence: u32,
    settling: Span,
    renewed_at: Time,
}

/// A change to be advertised.
#[derive(Clone, Copy, PartialEq, Debug)]
struct PendingUpdate {
    hops: u32,
    sequence: u32,
    /// Time at which it may be advertised: after a jitter, or after the settling time.
    ready_at: Time,
}

/// The DSDV agent of a station.
#[derive(Clone, Debug)]
pub(crate) struct PromptDsdv {
    me: StationId,
    interval: Span,
    settling: Span,
    sequence: u32,
    routes: BTreeMap<StationId, Route>,
    pending: BTreeMap<StationId, PendingUpdate>,
    periodic_at: Time,
    rng: Rng,
    pub(in crate::routing) outbox: Outbox,
}

fn is_broken(sequence: u32) -> bool {
    !sequence.is_multiple_of(2)
}

impl PromptDsdv {
    pub(crate) fn new(me: StationId, interval: Span, settling: Span, mut rng: Rng) -> PromptDsdv {
        PromptDsdv {
            me,
            interval,
            settling,
            sequence: 0,
            routes: BTreeMap::new(),
            pending: BTreeMap::new(),
            periodic_at: Time::ZERO + jitter(&mut rng, JITTER),
            rng,
            outbox: Outbox::default(),
        }
    }

    pub(in crate::routing) fn next_hop(&self, destination: StationId) -> NextHop {
        self.routes.get(&destination).map_or(NextHop::Wait, |route| NextHop::Via(route.next))
    }

    pub(in crate::routing) fn next_timer(&self) -> Option<Time> {
        let triggered = self.pending.values().map(|pending| pending.ready_at);
        triggered.chain([self.periodic_at]).chain(self.outbox.next_due()).min()
    }

    pub(in crate::routing) fn on_timer(&mut self, now: Time) {
        if self.periodic_at <= now {
            self.periodic(now);
        }
        if self.pending.values().any(|pending| pending.ready_at <= now) {
            self.triggered(now);
        }
    }

    fn send(&mut self, now: Time, adverts: Vec<RouteAdvertisement>) {
        let size = HEADER + ENTRY_SIZE * adverts.len() as u64;
        self.outbox.push(now, Outgoing { message: Message::Dsdv(adverts), size, to: None });
    }

    fn own_advert(&self) -> RouteAdvertisement {
        RouteAdvertisement { destination: self.me, metric: 0, sequence: self.sequence }
    }

    /// Sends a periodic update of all routes; expired ones are advertised as broken and deleted.
    fn periodic(&mut self, now: Time) {
        let hold = self.interval * HOLD_INTERVALS;
        let old = |route: &Route| now.since(route.renewed_at) > hold;
        let gone: Vec<StationId> =
            self.routes.iter().filter(|(_, route)| old(route)).map(|(station, _)| *station).collect();
        self.sequence += 2;
        let mut adverts = vec![self.own_advert()];
        self.routes.retain(|station, route| {
            let broken = old(route) || gone.contains(&route.next);
            let sequence = route.sequence + u32::from(broken);
            adverts.push(RouteAdvertisement { destination: *station, metric: route.hops, sequence });
            !broken
        });
        self.pending.retain(|_, pending| pending.ready_at > now);
        self.send(now, adverts);
        let step = Span::from_micros(25);
        self.periodic_at = now + self.interval + step * self.rng.below(PERIODIC_JITTER.as_micros() / 25 + 1);
    }

    /// Sends a triggered update of the changes that may be advertised.
    fn triggered(&mut self, now: Time) {
        let mut adverts = vec![self.own_advert()];
        self.pending.retain(|station, pending| {
            let ready = pending.ready_at <= now;
            if ready {
                adverts.push(RouteAdvertisement {
                    destination: *station,
                    metric: pending.hops,
                    sequence: pending.sequence,
                });
            }
            !ready
        });
        if adverts.len() > 1 {
            self.send(now, adverts);
        }
    }

    pub(in crate::routing) fn on_update(&mut self, now: Time, from: StationId, update: &[RouteAdvertisement]) {
        let soon = now + jitter(&mut self.rng, JITTER);
        let me = self.me;
        for advert in update.iter().filter(|advert| advert.destination != me) {
            let ready_at = self.consider(now, soon, from, advert);
            if let (Some(ready_at), Some(route)) = (ready_at, self.routes.get(&advert.destination)) {
                self.pending
                    .insert(advert.destination, PendingUpdate { hops: route.hops, sequence: route.sequence, ready_at });
            }
        }
    }

    /// Updates a route that is better; returns the time at which it may be advertised.
    fn consider(&mut self, now: Time, soon: Time, from: StationId, advert: &RouteAdvertisement) -> Option<Time> {
        let (hops, sequence) = (advert.metric + 1, advert.sequence);
        let Some(old) = self.routes.get(&advert.destination).copied() else {
            if is_broken(sequence) {
                return None;
            }
            let route = Route { next: from, hops, sequence, settling: self.settling, renewed_at: now };
            self.routes.insert(advert.destination, route);
            return Some(soon);
        };
        if is_broken(sequence) {
            if old.next == from {
                self.on_neighbour_lost(advert.destination, sequence, soon);
            }
            return None;
        }
        let better = sequence > old.sequence || (sequence == old.sequence && hops < old.hops);
        if !better {
            if sequence == old.sequence && old.next == from {
                self.routes.insert(advert.destination, Route { renewed_at: now, ..old });
            }
            return None;
        }
        let mut route = Route { next: from, hops, sequence, renewed_at: now, ..old };
        let same = hops == old.hops;
        if !same {
            route.settling = (old.settling * SETTLING_MEMORY + now.since(old.renewed_at)) / (SETTLING_MEMORY + 1);
        }
        self.routes.insert(advert.destination, route);
        Some(if same { soon } else { now + route.settling })
    }

    /// Handles a broken route at the next hop: it and all routes through the destination are deleted.
    fn on_neighbour_lost(&mut self, destination: StationId, sequence: u32, soon: Time) {
        let gone: Vec<StationId> = (self.routes.iter())
            .filter(|(station, route)| **station == destination || route.next == destination)
            .map(|(station, _)| *station)
            .collect();
        for station in gone {
            let Some(route) = self.routes.remove(&station) else { continue };
            let sequence = if station == destination { sequence } else { route.sequence + 1 };
            self.pending.insert(station, PendingUpdate { hops: route.hops, sequence, ready_at: soon });
        }
    }
}
