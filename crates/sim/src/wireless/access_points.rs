//! Access points: association, beacons, and reassociation of stations that move (IEEE 802.11-2016 §11.3).
//!
//! A station receives a beacon if it could receive a data frame of its access point at that instant. A scan takes the time that it is
//! said to take, and finds the access point of the strongest signal at its end.

use tcp::units::{Span, Time};

use crate::ids::StationId;
use crate::scenario::HandoffDef;

/// Beacon interval: 100 time units of 1024 us (IEEE 802.11 §9.4.1.3).
const BEACON_INTERVAL: Span = Span::from_micros(102_400);

/// State of the association of a station.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Association {
    /// Associated, with the time of the last beacon received.
    Associated { last_beacon: Time },
    /// Not associated, and no access point in range, or scanning until then.
    Unassociated { until: Time },
    /// Associating with an access point since then.
    Associating { access_point: StationId, since: Time },
}

/// The access points of a channel and the stations associated with each.
/// A station as its access point's beacon finds it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Found {
    /// It scans for another one.
    Scans(StationId),
    /// It hears this one, and may look for a stronger one.
    Hears(StationId),
}

#[derive(Clone, Debug)]
pub(crate) struct AccessPoints {
    pub(super) stations: Vec<StationId>,
    /// By station, its present or last access point; that of an access point is itself.
    pub(super) of: Vec<StationId>,
    pub(super) associations: Vec<Association>,
    pub(super) sends_beacons: bool,
    pub(super) handoff: HandoffDef,
    /// Some station moves.
    pub(crate) roaming: bool,
    /// Index of the access point with the next beacon.
    pub(super) next_beacon: usize,
    /// Associations of stations that had lost their access point.
    pub(crate) reassociations: u64,
}

impl AccessPoints {
    pub(crate) fn new(
        stations: Vec<StationId>,
        of: Vec<StationId>,
        (sends_beacons, roaming): (bool, bool),
        handoff: HandoffDef,
    ) -> AccessPoints {
        let associations = vec![Association::Associated { last_beacon: Time::ZERO }; of.len()];
        AccessPoints { stations, of, associations, sends_beacons, handoff, roaming, next_beacon: 0, reassociations: 0 }
    }

    /// Interval between beacons of any access point; `None` if beacons have no effect.
    pub(crate) fn refresh(&self) -> Option<Span> {
        (self.sends_beacons || self.roaming).then(|| BEACON_INTERVAL / self.stations.len() as u64)
    }

    /// The present or last access point of a station.
    pub(crate) fn of(&self, station: StationId) -> StationId {
        self.of[station.index()]
    }

    /// The access points that a station may associate with in the course of a run; none for an access point.
    pub(crate) fn candidates(&self, station: StationId) -> Vec<StationId> {
        match (self.is_access_point(station), self.roaming) {
            (true, _) => Vec::new(),
            (false, true) => self.stations.clone(),
            (false, false) => vec![self.of(station)],
        }
    }

    pub(crate) fn is_access_point(&self, station: StationId) -> bool {
        self.of(station) == station
    }

    /// True if a station scans, and so hears nobody.
    pub(super) fn scans(&self, station: StationId, now: Time) -> bool {
        matches!(self.associations[station.index()], Association::Unassociated { until } if until > now)
    }

    /// The access point that a station is associated with.
    pub(super) fn associated(&self, station: StationId) -> Option<StationId> {
        let associated = matches!(self.associations[station.index()], Association::Associated { .. });
        associated.then(|| self.of(station))
    }

    /// Handles the beacon of an access point, which `listeners` receive; returns its stations that scan for another
    /// one, and those that hear it.
    pub(super) fn on_beacon(&mut self, now: Time, access_point: StationId, listeners: &[StationId]) -> Vec<Found> {
        let lost_after = BEACON_INTERVAL * u64::from(self.handoff.missed);
        let mut found = Vec::new();
        for station in (0..self.of.len() as u32).map(StationId) {
            if self.of(station) != access_point || station == access_point {
                continue;
            }
            let association = &mut self.associations[station.index()];
            match association {
                Association::Associated { last_beacon } if listeners.contains(&station) => {
                    *last_beacon = now;
                    found.push(Found::Hears(station));
                }
                Association::Associated { last_beacon } if now.since(*last_beacon) < lost_after => {}
                Association::Unassociated { until } if *until > now => {}
                // A failed exchange is repeated.
                Association::Associating { since, .. } if now.since(*since) < BEACON_INTERVAL => {}
                Association::Associated { .. } | Association::Associating { .. } | Association::Unassociated { .. } => {
                    *association = Association::Unassociated { until: now };
                    found.push(Found::Scans(station));
                }
            }
        }
        found
    }
}
