//! The routing table of an AODV agent.

use std::collections::BTreeMap;

use tcp::units::{Span, Time};

use crate::ids::StationId;

/// DELETE_PERIOD: time until an invalid route is deleted (RFC 3561 §10).
const DELETE_PERIOD: Span = Span::from_millis(15_000);

#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Route {
    pub(super) next: StationId,
    pub(super) hops: u32,
    /// Destination sequence number, if known.
    pub(super) sequence: Option<u32>,
    valid: bool,
    /// Lifetime of a valid route, or time of deletion of an invalid one.
    pub(super) expires: Time,
}

/// Routes by destination, and the precursors of each.
#[derive(Clone, Debug, Default)]
pub(super) struct Routes {
    routes: BTreeMap<StationId, Route>,
    precursors: BTreeMap<StationId, Vec<StationId>>,
}

impl Routes {
    /// The valid route to `destination`.
    pub(super) fn valid(&self, now: Time, destination: StationId) -> Option<&Route> {
        self.routes.get(&destination).filter(|route| route.valid && route.expires > now)
    }

    /// The latest known sequence number of `destination`.
    pub(super) fn sequence(&self, destination: StationId) -> Option<u32> {
        self.routes.get(&destination).and_then(|route| route.sequence)
    }

    /// Hop count of the last route, valid or not.
    pub(super) fn known_hops(&self, destination: StationId) -> Option<u32> {
        self.routes.get(&destination).map(|route| route.hops)
    }

    /// Updates a route if the new one has a later sequence number or fewer hops, or the old one is invalid (RFC 3561
    /// §6.2).
    pub(super) fn learn(
        &mut self,
        now: Time,
        destination: StationId,
        sequence: Option<u32>,
        next: StationId,
        hops: u32,
        expires: Time,
    ) {
        let fresh = Route { next, hops, sequence, valid: true, expires };
        let route = match self.routes.get(&destination).copied() {
            None => fresh,
            Some(old) => {
                let good = old.valid && old.expires > now;
                let newer = sequence.is_some_and(|new| old.sequence.is_none_or(|known| new > known));
                let older = sequence.zip(old.sequence).is_some_and(|(new, known)| new < known);
                let sequence = sequence.max(old.sequence);
                if newer || (!older && (!good || hops < old.hops)) {
                    Route { sequence, ..fresh }
                } else if next == old.next && hops == old.hops && good {
                    Route { expires: expires.max(old.expires), ..old }
                } else {
                    return;
                }
            }
        };
        self.routes.insert(destination, route);
    }

    /// Extends the lifetime of a valid route to at least `until`.
    pub(super) fn extend(&mut self, now: Time, destination: StationId, until: Time) {
        if let Some(route) = self.routes.get_mut(&destination).filter(|route| route.valid && route.expires > now) {
            route.expires = route.expires.max(until);
        }
    }

    pub(super) fn add_precursor(&mut self, destination: StationId, neighbour: StationId) {
        let list = self.precursors.entry(destination).or_default();
        if !list.contains(&neighbour) {
            list.push(neighbour);
        }
    }

    /// The destinations of valid routes with this next hop.
    pub(super) fn destinations_via(&self, now: Time, neighbour: StationId) -> Vec<StationId> {
        let by_it = |route: &Route| route.valid && route.expires > now && route.next == neighbour;
        self.routes.iter().filter(|(_, route)| by_it(route)).map(|(station, _)| *station).collect()
    }

    /// Invalidates a route; true if it had precursors. Its sequence number becomes that announced, or one more.
    pub(super) fn invalidate(&mut self, now: Time, destination: StationId, announced: Option<u32>) -> bool {
        if let Some(route) = self.routes.get_mut(&destination) {
            route.valid = false;
            route.sequence = announced.or(route.sequence.map(|known| known + 1));
            route.expires = now + DELETE_PERIOD;
        }
        self.precursors.remove(&destination).is_some_and(|list| !list.is_empty())
    }
}
