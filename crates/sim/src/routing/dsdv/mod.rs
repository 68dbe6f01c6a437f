//! Destination-sequenced distance vector (Perkins and Bhagwat 1994) as ns-2.35 does it, and `std`: the
//! same with word from the MAC, honest headers, and updates that fit the link.

pub(crate) mod ns3;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use tcp::rng::Rng;
use tcp::units::{Bytes, Span, Time};

use super::outbox::{Outbox, jitter};
use super::{NextHop, Outgoing};
use crate::radio::frame::StationId;
use crate::radio::message::{Advert, Message};

/// A line of an update.
const LINE: Bytes = Bytes(12);
/// The metric of what cannot be reached.
const INFINITE: u32 = 250;
/// Start of the first update.
const START_JITTER: Span = Span::from_millis(2000);
const BROADCAST_JITTER: Span = Span::from_millis(10);
/// Between two updates of which the second is triggered.
const LEAST_BETWEEN: Span = Span::from_millis(1000);
/// A neighbour is gone after so many intervals of silence.
const SILENT_INTERVALS: u64 = 3;
/// The settling time keeps seven eighths of itself at each new sequence number (alpha = 0.875).
const SETTLING_MEMORY: u64 = 7;
/// The advert of a route of which nothing is known.
const NEVER: Span = Span::from_millis(604_800_000);

/// What differs between `ns2` and `std`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct DsdvRules {
    pub(crate) interval: Span,
    /// The settling time of a new destination; adverts wait for twice as long.
    pub(crate) settling: Span,
    /// Of each message.
    pub(crate) header: Bytes,
    /// Longer updates go in parts.
    pub(crate) mtu: Option<Bytes>,
    /// A frame that the MAC gives up breaks the link.
    pub(crate) link_feedback: bool,
}

/// What a station knows of a destination.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Entry {
    next: StationId,
    metric: u32,
    sequence: u32,
    settling: Span,
    changed_at: Time,
    /// When the sequence number came.
    sequence_at: Time,
    advertise_from: Time,
    advert_sequence: bool,
    advert_metric: bool,
    last_advertised: Option<u32>,
    /// A triggered update is due.
    trigger_at: Option<Time>,
    /// The destination is a neighbour and will have been silent for too long.
    silent_at: Option<Time>,
}

/// The agent of one station.
#[derive(Clone, Debug)]
pub(crate) struct Dsdv {
    me: StationId,
    rules: DsdvRules,
    entries: BTreeMap<StationId, Entry>,
    sequence: u32,
    periodic_at: Time,
    last_update: Option<Time>,
    draws: Rng,
    pub(super) outbox: Outbox,
}

impl Entry {
    fn new(now: Time, next: StationId, settling: Span) -> Entry {
        Entry {
            next,
            metric: INFINITE,
            sequence: 0,
            settling,
            changed_at: now,
            sequence_at: now,
            advertise_from: now + NEVER,
            advert_sequence: false,
            advert_metric: false,
            last_advertised: None,
            trigger_at: None,
            silent_at: None,
        }
    }

    fn has_news(&self, now: Time) -> bool {
        (self.advert_sequence || self.advert_metric) && self.advertise_from <= now
    }
}

impl Dsdv {
    pub(crate) fn new(me: StationId, rules: DsdvRules, mut draws: Rng) -> Dsdv {
        let own = Entry {
            metric: 0,
            advertise_from: Time::ZERO,
            advert_sequence: true,
            advert_metric: true,
            ..Entry::new(Time::ZERO, me, Span::ZERO)
        };
        let periodic_at = Time::ZERO + jitter(&mut draws, START_JITTER);
        let entries = BTreeMap::from([(me, own)]);
        Dsdv { me, rules, entries, sequence: 0, periodic_at, last_update: None, draws, outbox: Outbox::default() }
    }

    pub(super) fn next_hop(&self, destination: StationId) -> NextHop {
        match self.entries.get(&destination).filter(|entry| entry.metric < INFINITE) {
            Some(entry) => NextHop::Via(entry.next),
            None => NextHop::Wait,
        }
    }

    /// A packet waits for an unknown destination: it gets an entry, whose first news is advertised without settling.
    pub(super) fn seek(&mut self, now: Time, destination: StationId) {
        let settling = self.rules.settling;
        self.entries.entry(destination).or_insert_with(|| Entry::new(now, destination, settling));
    }

    pub(super) fn next_timer(&self) -> Option<Time> {
        let entries = self.entries.values().flat_map(|entry| [entry.trigger_at, entry.silent_at]).flatten();
        entries.chain([self.periodic_at]).chain(self.outbox.next_due()).min()
    }

    pub(super) fn on_timer(&mut self, now: Time) {
        let stations: Vec<StationId> = self.entries.keys().copied().collect();
        for station in &stations {
            if self.entries[station].silent_at.is_some_and(|at| at <= now) {
                self.lose(now, *station);
            }
        }
        for station in &stations {
            if self.entries[station].trigger_at.is_some_and(|at| at <= now) {
                self.on_trigger(now, *station);
            }
        }
        if self.periodic_at <= now {
            self.advertise(now, true);
        }
    }

    /// An update is due for the news of `station`.
    fn on_trigger(&mut self, now: Time, station: StationId) {
        let possible = self.last_update.map_or(now, |last| last + LEAST_BETWEEN);
        let entry = self.entries.get_mut(&station).expect("a trigger belongs to an entry");
        if possible <= now {
            entry.trigger_at = None;
            return self.advertise(now, false);
        }
        entry.trigger_at = Some(possible);
        // Those before it are covered by it.
        for entry in self.entries.values_mut() {
            entry.trigger_at = entry.trigger_at.filter(|at| *at >= possible);
        }
    }

    /// Sends all routes that may be advertised, or those with news if they are few.
    fn advertise(&mut self, now: Time, periodic: bool) {
        let news = self.entries.values().filter(|entry| entry.has_news(now)).count();
        let full = periodic || (news > 3 && news * 3 > self.entries.len());
        if full {
            self.sequence += 2;
            let own = self.entries.get_mut(&self.me).expect("a station knows itself");
            own.sequence = self.sequence;
            own.advert_sequence = true;
            self.periodic_at = now + self.rules.interval * 3 / 4 + jitter(&mut self.draws, self.rules.interval / 4);
        }
        let mut lines = Vec::new();
        for (destination, entry) in &mut self.entries {
            if entry.has_news(now) || (full && entry.advertise_from <= now) {
                lines.push(Advert { destination: *destination, metric: entry.metric, sequence: entry.sequence });
                entry.last_advertised = Some(entry.metric);
                entry.advert_sequence = false;
                // A changed metric goes into every triggered update until a full one has told it.
                entry.advert_metric &= !full;
            }
        }
        if lines.is_empty() {
            return;
        }
        self.last_update = Some(now);
        for part in self.parts(lines) {
            let size = self.rules.header + LINE * part.len() as u64;
            let due = now + jitter(&mut self.draws, BROADCAST_JITTER);
            self.outbox.push(due, Outgoing { message: Message::Dsdv(part), size, to: None });
        }
    }

    /// An update in parts that fit the link, each with the sender's own line first.
    fn parts(&self, lines: Vec<Advert>) -> Vec<Vec<Advert>> {
        let room = self.rules.mtu.map_or(usize::MAX, |mtu| (mtu.saturating_sub(self.rules.header).0 / LINE.0) as usize);
        if lines.len() <= room {
            return vec![lines];
        }
        let own = self.entries[&self.me];
        let own = Advert { destination: self.me, metric: own.metric, sequence: own.sequence };
        let others: Vec<Advert> = lines.into_iter().filter(|line| line.destination != self.me).collect();
        let with_own = |part: &[Advert]| std::iter::once(own).chain(part.iter().copied()).collect();
        others.chunks(room.saturating_sub(1).max(1)).map(with_own).collect()
    }

    /// A neighbour is gone, and every route by way of it.
    fn lose(&mut self, now: Time, neighbour: StationId) {
        if let Some(entry) = self.entries.get_mut(&neighbour) {
            entry.silent_at = None;
        }
        for entry in self.entries.values_mut().filter(|entry| entry.next == neighbour && entry.metric < INFINITE) {
            entry.metric = INFINITE;
            entry.advertise_from = now;
            entry.advert_metric = true;
            entry.advert_sequence = true;
            entry.sequence += 1;
            entry.trigger_at = Some(now);
        }
    }

    pub(super) fn on_link_failure(&mut self, now: Time, neighbour: StationId) {
        if self.rules.link_feedback {
            self.lose(now, neighbour);
        }
    }

    pub(super) fn on_update(&mut self, now: Time, from: StationId, update: &[Advert]) {
        for line in update {
            if line.destination != self.me {
                self.consider(now, from, line);
            } else if line.metric >= INFINITE {
                // Others say that this station is gone: it has the last word on that.
                self.periodic_at = now;
            }
        }
        // A neighbour that has not named itself gets an entry for its silence to be noted in.
        let settling = self.rules.settling;
        let harmless = || Entry { metric: 1, ..Entry::new(now, from, settling) };
        let neighbour = self.entries.entry(from).or_insert_with(harmless);
        neighbour.silent_at = Some(now + self.rules.interval * SILENT_INTERVALS);
    }

    /// A neighbour's way to a destination.
    fn consider(&mut self, now: Time, from: StationId, line: &Advert) {
        let metric = if line.metric < INFINITE { line.metric + 1 } else { INFINITE };
        let Some(old) = self.entries.get(&line.destination).copied() else {
            let known = metric < INFINITE;
            let advertise_from = if known { now + self.rules.settling * 2 } else { now };
            let entry = Entry {
                metric,
                sequence: line.sequence,
                advertise_from,
                advert_metric: known,
                trigger_at: known.then_some(advertise_from),
                ..Entry::new(now, from, self.rules.settling)
            };
            self.entries.insert(line.destination, entry);
            return;
        };
        if line.sequence < old.sequence {
            let entry = self.entries.get_mut(&line.destination).expect("it was there a moment ago");
            if metric == INFINITE && old.metric < INFINITE {
                entry.advertise_from = now;
                entry.advert_metric = true;
                entry.trigger_at = Some(now);
            }
            return;
        }
        let newer = line.sequence > old.sequence;
        if !newer && metric >= old.metric {
            return;
        }
        let mut entry = Entry { next: from, metric, sequence: line.sequence, changed_at: now, ..old };
        if newer {
            // How long the best metric took to come after its sequence number.
            let took = old.changed_at.since(old.sequence_at);
            entry.settling = (old.settling * SETTLING_MEMORY + took) / (SETTLING_MEMORY + 1);
            entry.sequence_at = now;
            entry.advert_sequence = true;
        }
        let settles = metric < INFINITE && old.metric < INFINITE;
        entry.advertise_from = if settles { now + entry.settling * 2 } else { now };
        entry.advert_metric = Some(metric) != old.last_advertised;
        if !newer && entry.advert_metric {
            entry.trigger_at = Some(entry.advertise_from);
        }
        self.entries.insert(line.destination, entry);
    }
}
