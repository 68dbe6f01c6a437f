//! Access points, who belongs to which, and stations that move from one to another (networks.md §6.7).
//!
//! A station hears a beacon if it could read a data frame of its access point at that instant. Scanning takes no time.

use tcp::units::{Bytes, Span, Time};

use super::{Channel, Routing, drop_content};
use crate::engine::context::Context;
use crate::ids::StationId;
use crate::packet::DropReason;
use crate::packet::message::{Join, Message};
use crate::radio::frame::Content;
use crate::radio::queue::Request;

/// Between two beacons of an access point: 100 units of 1024 us (IEEE 802.11 §9.4.1.3).
const INTERVAL: Span = Span::from_micros(102_400);
/// An access point is lost after so many intervals without a beacon.
const MISSED: u64 = 10;
/// Frames of management with their MAC headers.
const BEACON: Bytes = Bytes(100);
const JOIN: Bytes = Bytes(80);

/// How a station stands to its access point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Membership {
    /// It belongs to it and heard its last beacon then.
    Joined { heard: Time },
    /// It has lost it, and hears no other.
    Lost,
    /// It asks this one, since then.
    Joining { point: StationId, since: Time },
}

/// The cells of a channel.
#[derive(Clone, Debug)]
pub(crate) struct Cells {
    points: Vec<StationId>,
    /// By station: the access point it belongs to, or belonged to last; an access point belongs to itself.
    of: Vec<StationId>,
    memberships: Vec<Membership>,
    sends_beacons: bool,
    /// Some station moves.
    pub(crate) roams: bool,
    /// Whose beacon is next.
    turn: usize,
    /// Stations that have joined an access point after they had lost one.
    pub(crate) handoffs: u64,
}

impl Cells {
    pub(crate) fn new(points: Vec<StationId>, of: Vec<StationId>, sends_beacons: bool, roams: bool) -> Cells {
        let memberships = vec![Membership::Joined { heard: Time::ZERO }; of.len()];
        Cells { points, of, memberships, sends_beacons, roams, turn: 0, handoffs: 0 }
    }

    /// How often some access point has a beacon due, unless nothing comes of it.
    pub(crate) fn refresh(&self) -> Option<Span> {
        (self.sends_beacons || self.roams).then(|| INTERVAL / self.points.len() as u64)
    }

    /// The access point a station belongs to, or belonged to last.
    pub(crate) fn of(&self, station: StationId) -> StationId {
        self.of[station.index()]
    }

    /// The access points that a station may belong to in the course of a run; an access point belongs to no other.
    pub(crate) fn choice(&self, station: StationId) -> Vec<StationId> {
        match (self.is_point(station), self.roams) {
            (true, _) => Vec::new(),
            (false, true) => self.points.clone(),
            (false, false) => vec![self.of(station)],
        }
    }

    pub(crate) fn is_point(&self, station: StationId) -> bool {
        self.of(station) == station
    }

    /// The access point a station belongs to now.
    pub(super) fn joined(&self, station: StationId) -> Option<StationId> {
        let joined = matches!(self.memberships[station.index()], Membership::Joined { .. });
        joined.then(|| self.of(station))
    }

    /// `point` has its beacon, which `hearers` hear: gives its stations that look for another one.
    fn on_beacon(&mut self, now: Time, point: StationId, hearers: &[StationId]) -> Vec<StationId> {
        let mut seeking = Vec::new();
        for station in (0..self.of.len() as u32).map(StationId) {
            if self.of(station) != point || station == point {
                continue;
            }
            let membership = &mut self.memberships[station.index()];
            match membership {
                Membership::Joined { heard } if hearers.contains(&station) => *heard = now,
                Membership::Joined { heard } if now.since(*heard) < INTERVAL * MISSED => {}
                // An exchange that has come to nothing is begun again.
                Membership::Joining { since, .. } if now.since(*since) < INTERVAL => {}
                Membership::Joined { .. } | Membership::Joining { .. } | Membership::Lost => {
                    *membership = Membership::Lost;
                    seeking.push(station);
                }
            }
        }
        seeking
    }
}

impl Channel {
    fn cells_mut(&mut self) -> Option<&mut Cells> {
        match &mut self.routing {
            Routing::AccessPoints(cells) => Some(cells),
            Routing::Shortest(_) | Routing::Protocol(_) => None,
        }
    }

    /// The access point whose turn it is has a beacon due; its stations hear it or miss it.
    pub(super) fn on_beacon(&mut self, ctx: &mut Context) {
        let Some(cells) = self.cells_mut() else { return };
        let point = cells.points[cells.turn];
        cells.turn = (cells.turn + 1) % cells.points.len();
        let (sends, roams) = (cells.sends_beacons, cells.roams);
        if sends {
            self.manage(ctx, point, None, Message::Beacon, BEACON);
        }
        if !roams {
            return;
        }
        let hearers = self.air.neighbours(point, ctx.now);
        let seeking = self.cells_mut().map_or_else(Vec::new, |cells| cells.on_beacon(ctx.now, point, &hearers));
        seeking.into_iter().for_each(|station| self.seek_point(ctx, station));
    }

    /// A station looks for an access point.
    fn seek_point(&mut self, ctx: &mut Context, station: StationId) {
        let Routing::AccessPoints(cells) = &mut self.routing else { return };
        let Some(point) = self.air.dcf().best_point(&cells.points, station, ctx.now) else { return };
        if !cells.sends_beacons {
            return self.join(ctx, station, point);
        }
        cells.memberships[station.index()] = Membership::Joining { point, since: ctx.now };
        self.manage(ctx, station, Some(point), Message::Join(Join::Authentication), JOIN);
    }

    /// A step of a station's joining an access point has come to the other.
    pub(super) fn on_join(&mut self, ctx: &mut Context, at: StationId, from: StationId, step: Join) {
        let Some(cells) = self.cells() else { return };
        let asks = matches!(cells.memberships[at.index()], Membership::Joining { point, .. } if point == from);
        let next = match step {
            Join::Authentication if cells.is_point(at) => Join::Authenticated,
            Join::Authenticated if asks => Join::Association,
            Join::Association if cells.is_point(at) => Join::Associated,
            Join::Associated if asks => return self.join(ctx, at, from),
            _ => return,
        };
        self.manage(ctx, at, Some(from), Message::Join(next), JOIN);
    }

    /// A station belongs to `point` from now on. What waits for it at the access point before is lost; what waits at the
    /// station goes to the new one.
    fn join(&mut self, ctx: &mut Context, station: StationId, point: StationId) {
        let Some(cells) = self.cells_mut() else { return };
        let before = std::mem::replace(&mut cells.of[station.index()], point);
        cells.memberships[station.index()] = Membership::Joined { heard: ctx.now };
        cells.handoffs += 1;
        if before == point {
            return;
        }
        while let Some(request) = self.air.withdraw(before, station) {
            drop_content(ctx, request.content, DropReason::Handoff);
        }
        self.air.dcf().readdress(station, before, point);
    }

    /// A frame of management goes out before all others; `size` counts its MAC header.
    fn manage(&mut self, ctx: &mut Context, at: StationId, to: Option<StationId>, message: Message, size: Bytes) {
        let content = Content::Message(self.air.messages().insert(message));
        let size = size.saturating_sub(self.air.dcf().header());
        let request = Request { content, to, size, since: ctx.now, is_routing: true };
        self.air.dcf().enqueue_first(ctx, at, request);
    }
}
