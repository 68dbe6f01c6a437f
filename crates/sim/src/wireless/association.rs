//! Beacons, scanning and the exchange of authentication and association (IEEE 802.11 §11.3).

use tcp::units::{Bytes, Time};

use super::access_points::{AccessPoints, Association, Found};
use super::{Routing, WirelessSubnet, drop_content};
use crate::engine::context::Context;
use crate::engine::event::{Event, RadioEvent};
use crate::ids::StationId;
use crate::packet::DropReason;
use crate::packet::message::{AssociationMessage, Message};
use crate::radio::frame::Content;
use crate::radio::service::{MacRequest, TrafficClass};

/// Sizes of management frames, MAC headers included.
const BEACON_SIZE: Bytes = Bytes(100);
const ASSOCIATION_SIZE: Bytes = Bytes(80);
/// By how much another access point must be stronger (assumed).
const ROAM_MARGIN_DB: f64 = 5.0;

/// Decibels as a ratio.
fn linear(db: f64) -> f64 {
    libm::pow(10.0, db / 10.0)
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
        let found = self
            .access_points_mut()
            .map_or_else(Vec::new, |access_points| access_points.on_beacon(ctx.now, access_point, &listeners));
        for station in found {
            match station {
                Found::Scans(station) => self.scan(ctx, station),
                Found::Hears(station) if self.hears_a_better_one(station, access_point, ctx.now) => {
                    self.scan(ctx, station)
                }
                Found::Hears(_) => {}
            }
        }
    }

    /// True if a station that hears its access point with little power would change to a stronger one.
    fn hears_a_better_one(&mut self, station: StationId, access_point: StationId, now: Time) -> bool {
        let Routing::AccessPoints(access_points) = &self.routing else { return false };
        let Some(below) = access_points.handoff.roam_below else { return false };
        let margin = linear(access_points.handoff.roam_margin_db.unwrap_or(ROAM_MARGIN_DB));
        let mac = self.mac.dcf();
        let power = mac.signal(access_point, station, now);
        let best = mac.strongest_access_point(&access_points.stations, station, now);
        power < below.0 && best.is_some_and(|best| mac.signal(best, station, now) >= power * margin)
    }

    /// A station begins to scan for access points; nothing passes until it has one.
    fn scan(&mut self, ctx: &mut Context, station: StationId) {
        let Routing::AccessPoints(access_points) = &mut self.routing else { return };
        let until = ctx.now + access_points.handoff.scan;
        if until == ctx.now {
            return self.join(ctx, station);
        }
        access_points.associations[station.index()] = Association::Unassociated { until };
        let of = access_points.of(station);
        while let Some(request) = self.mac.withdraw(of, station) {
            drop_content(ctx, request.content, DropReason::Reassociation);
        }
        if self.timers[station.index()].advance(until) {
            ctx.schedule(until, Event::Radio { channel: self.id, event: RadioEvent::RoutingTimer { station } });
        }
    }

    /// A station has scanned, and joins the access point of the strongest signal.
    pub(super) fn join(&mut self, ctx: &mut Context, station: StationId) {
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
        let request = MacRequest { content, to, size, since: ctx.now, class: TrafficClass::Routing };
        self.mac.dcf().enqueue_first(ctx, at, request);
    }
}
