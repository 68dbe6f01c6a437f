//! Access points, who belongs to which, and stations that move from one to another (networks.md §6.7).
//!
//! A station hears a beacon if it could read a data frame of its access point at that instant. Scanning takes no time.

use crate::radio::service::MacRequest;
use tcp::units::{Bytes, Span, Time};

use super::{Routing, WirelessSubnet, drop_content};
use crate::engine::context::Context;
use crate::ids::StationId;
use crate::packet::DropReason;
use crate::packet::message::{AssociationMessage, Message};
use crate::radio::frame::Content;

/// Between two beacons of an access point: 100 units of 1024 us (IEEE 802.11 §9.4.1.3).
const BEACON_INTERVAL: Span = Span::from_micros(102_400);
/// An access point is lost after so many intervals without a beacon.
const MAX_MISSED_BEACONS: u64 = 10;
/// Frames of management with their MAC headers.
const BEACON_SIZE: Bytes = Bytes(100);
const ASSOCIATION_SIZE: Bytes = Bytes(80);

/// How a station stands to its access point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Association {
    /// It belongs to it and heard its last beacon then.
    Associated { last_beacon: Time },
    /// It has lost it, and hears no other.
    Unassociated,
    /// It asks this one, since then.
    Associating { access_point: StationId, since: Time },
}

/// The cells of a channel.
#[derive(Clone, Debug)]
pub(crate) struct AccessPoints {
    stations: Vec<StationId>,
    /// By station: the access point it belongs to, or belonged to last; an access point belongs to itself.
    of: Vec<StationId>,
    associations: Vec<Association>,
    sends_beacons: bool,
    /// Some station moves.
    pub(crate) roaming: bool,
    /// Whose beacon is next.
    next_beacon: usize,
    /// Stations that have joined an access point after they had lost one.
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

    /// How often some access point has a beacon due, unless nothing comes of it.
    pub(crate) fn refresh(&self) -> Option<Span> {
        (self.sends_beacons || self.roaming).then(|| BEACON_INTERVAL / self.stations.len() as u64)
    }

    /// The access point a station belongs to, or belonged to last.
    pub(crate) fn of(&self, station: StationId) -> StationId {
        self.of[station.index()]
    }

    /// The access points that a station may belong to in the course of a run; an access point belongs to no other.
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

    /// The access point a station belongs to now.
    pub(super) fn joined(&self, station: StationId) -> Option<StationId> {
        let joined = matches!(self.associations[station.index()], Association::Associated { .. });
        joined.then(|| self.of(station))
    }

    /// `point` has its beacon, which `listeners` hear: gives its stations that look for another one.
    fn on_beacon(&mut self, now: Time, point: StationId, listeners: &[StationId]) -> Vec<StationId> {
        let mut scanning = Vec::new();
        for station in (0..self.of.len() as u32).map(StationId) {
            if self.of(station) != point || station == point {
                continue;
            }
            let association = &mut self.associations[station.index()];
            match association {
                Association::Associated { last_beacon } if listeners.contains(&station) => *last_beacon = now,
                Association::Associated { last_beacon }
                    if now.since(*last_beacon) < BEACON_INTERVAL * MAX_MISSED_BEACONS => {}
                // An exchange that has come to nothing is begun again.
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

impl WirelessSubnet {
    fn access_points_mut(&mut self) -> Option<&mut AccessPoints> {
        match &mut self.routing {
            Routing::AccessPoints(access_points) => Some(access_points),
            Routing::Shortest(_) | Routing::Protocol(_) => None,
        }
    }

    /// The access point whose turn it is has a beacon due; its stations hear it or miss it.
    pub(super) fn on_beacon(&mut self, ctx: &mut Context) {
        let Some(access_points) = self.access_points_mut() else { return };
        let point = access_points.stations[access_points.next_beacon];
        access_points.next_beacon = (access_points.next_beacon + 1) % access_points.stations.len();
        let (sends, roaming) = (access_points.sends_beacons, access_points.roaming);
        if sends {
            self.send_management(ctx, point, None, Message::Beacon, BEACON_SIZE);
        }
        if !roaming {
            return;
        }
        let listeners = self.mac.neighbours(point, ctx.now);
        let scanning = self
            .access_points_mut()
            .map_or_else(Vec::new, |access_points| access_points.on_beacon(ctx.now, point, &listeners));
        scanning.into_iter().for_each(|station| self.scan(ctx, station));
    }

    /// A station looks for an access point.
    fn scan(&mut self, ctx: &mut Context, station: StationId) {
        let Routing::AccessPoints(access_points) = &mut self.routing else { return };
        let Some(point) = self.mac.dcf().strongest_access_point(&access_points.stations, station, ctx.now) else {
            return;
        };
        if !access_points.sends_beacons {
            return self.associate(ctx, station, point);
        }
        access_points.associations[station.index()] = Association::Associating { access_point: point, since: ctx.now };
        self.send_management(
            ctx,
            station,
            Some(point),
            Message::Association(AssociationMessage::AuthenticationRequest),
            ASSOCIATION_SIZE,
        );
    }

    /// A step of a station's joining an access point has come to the other.
    pub(super) fn on_association_message(
        &mut self,
        ctx: &mut Context,
        at: StationId,
        from: StationId,
        step: AssociationMessage,
    ) {
        let Some(access_points) = self.access_points() else { return };
        let asks = matches!(access_points.associations[at.index()], Association::Associating { access_point, .. } if access_point == from);
        let next = match step {
            AssociationMessage::AuthenticationRequest if access_points.is_access_point(at) => {
                AssociationMessage::AuthenticationResponse
            }
            AssociationMessage::AuthenticationResponse if asks => AssociationMessage::AssociationRequest,
            AssociationMessage::AssociationRequest if access_points.is_access_point(at) => {
                AssociationMessage::AssociationResponse
            }
            AssociationMessage::AssociationResponse if asks => return self.associate(ctx, at, from),
            _ => return,
        };
        self.send_management(ctx, at, Some(from), Message::Association(next), ASSOCIATION_SIZE);
    }

    /// A station belongs to `point` from now on. What waits for it at the access point before is lost; what waits at the
    /// station goes to the new one.
    fn associate(&mut self, ctx: &mut Context, station: StationId, point: StationId) {
        let Some(access_points) = self.access_points_mut() else { return };
        let before = std::mem::replace(&mut access_points.of[station.index()], point);
        access_points.associations[station.index()] = Association::Associated { last_beacon: ctx.now };
        access_points.reassociations += 1;
        if before == point {
            return;
        }
        while let Some(request) = self.mac.withdraw(before, station) {
            drop_content(ctx, request.content, DropReason::Reassociation);
        }
        self.mac.dcf().readdress(station, before, point);
    }

    /// A frame of management goes out before all others; `size` counts its MAC header.
    fn send_management(
        &mut self,
        ctx: &mut Context,
        at: StationId,
        to: Option<StationId>,
        message: Message,
        size: Bytes,
    ) {
        let content = Content::Message(self.mac.messages().insert(message));
        let size = size.saturating_sub(self.mac.dcf().mac_overhead());
        let request = MacRequest { content, to, size, since: ctx.now, is_routing: true };
        self.mac.dcf().enqueue_first(ctx, at, request);
    }
}
