//! Access points: association, beacons, and reassociation of stations that move (networks.md §6.7).
//!
//! A station receives a beacon if it could receive a data frame of its access point at that instant. Scanning takes no
//! time.

use tcp::units::{Bytes, Span, Time};

use super::{Routing, WirelessSubnet, drop_content};
use crate::engine::context::Context;
use crate::ids::StationId;
use crate::packet::DropReason;
use crate::packet::message::{AssociationMessage, Message};
use crate::radio::frame::Content;
use crate::radio::service::MacRequest;

/// Beacon interval: 100 time units of 1024 us (IEEE 802.11 §9.4.1.3).
const BEACON_INTERVAL: Span = Span::from_micros(102_400);
/// A station loses its access point after this many intervals without a beacon.
const MAX_MISSED_BEACONS: u64 = 10;
/// Sizes of management frames, MAC headers included.
const BEACON_SIZE: Bytes = Bytes(100);
const ASSOCIATION_SIZE: Bytes = Bytes(80);

/// State of the association of a station.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Association {
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
    stations: Vec<StationId>,
    /// By station, its present or last access point; that of an access point is itself.
    of: Vec<StationId>,
    associations: Vec<Association>,
    sends_beacons: bool,
    /// Some station moves.
    pub(crate) roaming: bool,
    /// Index of the access point with the next beacon.
    next_beacon: usize,
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
    fn on_beacon(&mut self, now: Time, access_point: StationId, listeners: &[StationId]) -> Vec<StationId> {
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

impl WirelessSubnet {
    fn access_points_mut(&mut self) -> Option<&mut AccessPoints> {
        match &mut self.routing {
            Routing::AccessPoints(access_points) => Some(access_points),
            Routing::Shortest(_) | Routing::Protocol(_) => None,
        }
    }

    /// Handles the next beacon: its access point's stations receive it or miss it.
    pub(super) fn on_beacon(&mut self, ctx: &mut Context) {
        let Some(access_points) = self.access_points_mut() else { return };
        let access_point = access_points.stations[access_points.next_beacon];
        access_points.next_beacon = (access_points.next_beacon + 1) % access_points.stations.len();
        let (sends, roaming) = (access_points.sends_beacons, access_points.roaming);
        if sends {
            self.send_management(ctx, access_point, None, Message::Beacon, BEACON_SIZE);
        }
        if !roaming {
            return;
        }
        let listeners = self.mac.neighbours(access_point, ctx.now);
        let scanning = self
            .access_points_mut()
            .map_or_else(Vec::new, |access_points| access_points.on_beacon(ctx.now, access_point, &listeners));
        scanning.into_iter().for_each(|station| self.scan(ctx, station));
    }

    /// A station scans for access points.
    fn scan(&mut self, ctx: &mut Context, station: StationId) {
        let Routing::AccessPoints(access_points) = &mut self.routing else { return };
        let Some(access_point) = self.mac.dcf().strongest_access_point(&access_points.stations, station, ctx.now)
        else {
            return;
        };
        if !access_points.sends_beacons {
            return self.associate(ctx, station, access_point);
        }
        access_points.associations[station.index()] = Association::Associating { access_point, since: ctx.now };
        self.send_management(
            ctx,
            station,
            Some(access_point),
            Message::Association(AssociationMessage::AuthenticationRequest),
            ASSOCIATION_SIZE,
        );
    }

    /// Handles a step of authentication and association (IEEE 802.11 §11.3).
    pub(super) fn on_association_message(
        &mut self,
        ctx: &mut Context,
        at: StationId,
        from: StationId,
        step: AssociationMessage,
    ) {
        let Some(access_points) = self.access_points() else { return };
        let expects_response = matches!(access_points.associations[at.index()], Association::Associating { access_point, .. } if access_point == from);
        let next = match step {
            AssociationMessage::AuthenticationRequest if access_points.is_access_point(at) => {
                AssociationMessage::AuthenticationResponse
            }
            AssociationMessage::AuthenticationResponse if expects_response => AssociationMessage::AssociationRequest,
            AssociationMessage::AssociationRequest if access_points.is_access_point(at) => {
                AssociationMessage::AssociationResponse
            }
            AssociationMessage::AssociationResponse if expects_response => return self.associate(ctx, at, from),
            _ => return,
        };
        self.send_management(ctx, at, Some(from), Message::Association(next), ASSOCIATION_SIZE);
    }

    /// Associates a station. Frames for it at the old access point are dropped; its own queued frames go to the new
    /// one.
    fn associate(&mut self, ctx: &mut Context, station: StationId, access_point: StationId) {
        let Some(access_points) = self.access_points_mut() else { return };
        let before = std::mem::replace(&mut access_points.of[station.index()], access_point);
        access_points.associations[station.index()] = Association::Associated { last_beacon: ctx.now };
        access_points.reassociations += 1;
        if before == access_point {
            return;
        }
        while let Some(request) = self.mac.withdraw(before, station) {
            drop_content(ctx, request.content, DropReason::Reassociation);
        }
        self.mac.dcf().readdress(station, before, access_point);
    }

    /// Queues a management frame before all others; `size` includes its MAC header.
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
