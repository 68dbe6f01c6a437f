//! Access points: association, beacons, and reassociation of stations that move (IEEE 802.11-2016 §11.3).
//!
//! A station receives a beacon if it could receive a data frame of its access point at that instant. Scanning takes no
//! time.

use tcp::units::{Span, Time};

use crate::ids::StationId;

/// Beacon interval: 100 time units of 1024 us (IEEE 802.11 §9.4.1.3).
const BEACON_INTERVAL: Span = Span::from_micros(102_400);
/// A station loses its access point after this many intervals without a beacon.
const MAX_MISSED_BEACONS: u64 = 10;

/// State of the association of a station.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Association {
    /// Associated, with the time of the last beacon received.
    Associated { last_beacon: Time },
    /// Not associated, and no access point in range.
    Unassociated,
    /// Associating with an access point since then.
    Associating { access_point: StationId, since: Time },
}

/// The access points of a channel and the stations associated with each.
#[derive(Clone, Debug)]
pub(crate) struct AccessPoints {
    pub(super) stations: Vec<StationId>,
    /// By station, its present or last access point; that of an access point is itself.
    pub(super) of: Vec<StationId>,
    pub(super) associations: Vec<Association>,
    pub(super) sends_beacons: bool,
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
        sends_beacons: bool,
        roaming: bool,
    ) -> AccessPoints {
        let associations = vec![Association::Associated { last_beacon: Time::ZERO }; of.len()];
        AccessPoints { stations, of, associations, sends_beacons, roaming, next_beacon: 0, reassociations: 0 }
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

    /// The access point that a station is associated with.
    pub(super) fn associated(&self, station: StationId) -> Option<StationId> {
        let associated = matches!(self.associations[station.index()], Association::Associated { .. });
        associated.then(|| self.of(station))
    }

    /// Handles the beacon of an access point, which `listeners` receive; returns its stations that scan for another
    /// one.
    pub(super) fn on_beacon(&mut self, now: Time, access_point: StationId, listeners: &[StationId]) -> Vec<StationId> {
        let mut scanning = Vec::new();
        for station in (0..self.of.len() as u32).map(StationId) {
            if self.of(station) != access_point || station == access_point {
                continue;
            }
            let association = &mut self.associations[station.index()];
            match association {
                Association::Associated { last_beacon } if listeners.contains(&station) => *last_beacon = now,
                Association::Associated { last_beacon }
                    if now.since(*last_beacon) < BEACON_INTERVAL * MAX_MISSED_BEACONS => {}
                // A failed exchange is repeated.
                Association::Associating { since, .. } if now.since(*since) < BEACON_INTERVAL => {}
                Association::Associated { .. } | Association::Associating { .. } | Association::Unassociated => {
                    *association = Association::Unassociated;
                    scanning.push(station);
                }
            }
        }
        scanning
    }
}
