//! A channel of radio as the network sees it: its stations are nodes, packets go from station to station.

use std::collections::VecDeque;

use tcp::units::{Span, Time};

use crate::core::Core;
use crate::event::{Event, NodeId, RadioEvent};
use crate::packet::{DropReason, PacketId};
use crate::radio::air::{Air, Upcall};
use crate::radio::frame::{Content, StationId};
use crate::radio::queue::Request;

/// Index of a channel.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct ChannelId(pub(crate) u16);

impl ChannelId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// How stations find the next one.
#[derive(Clone, Debug)]
pub(crate) enum Routing {
    /// Shortest paths, by station and destination.
    Shortest(Vec<Vec<Option<StationId>>>),
    /// By station: the access point it belongs to; an access point belongs to itself.
    AccessPoints(Vec<StationId>),
}

/// A channel and how packets find their way on it.
#[derive(Debug)]
pub(crate) struct Channel {
    pub(crate) air: Air,
    /// The node of each station.
    pub(crate) nodes: Vec<NodeId>,
    gateway: Option<StationId>,
    pub(crate) routing: Routing,
    /// How often shortest paths are found anew; never if nothing moves.
    pub(crate) refresh: Option<Span>,
}

impl Channel {
    pub(crate) fn new(air: Air, nodes: Vec<NodeId>, gateway: Option<StationId>, routing: Routing) -> Channel {
        Channel { air, nodes, gateway, routing, refresh: None }
    }

    /// Finds shortest paths anew and has it done again (networks.md §9.4, `oracle_wireless`).
    pub(crate) fn reroute(&mut self, core: &mut Core, id: ChannelId) {
        self.routing = Routing::Shortest(shortest(&neighbours(&mut self.air, core.now)));
        self.plan_reroute(core, id);
    }

    /// Sees that shortest paths follow the stations.
    pub(crate) fn plan_reroute(&self, core: &mut Core, id: ChannelId) {
        if let Some(refresh) = self.refresh {
            core.schedule(core.now + refresh, Event::Reroute { channel: id });
        }
    }

    /// By station, the access point it belongs to, if there are access points.
    pub(crate) fn access_points(&self) -> Option<&[StationId]> {
        match &self.routing {
            Routing::AccessPoints(points) => Some(points),
            Routing::Shortest(_) => None,
        }
    }

    /// The station through which `station` reaches the rest of the network, and is reached.
    pub(crate) fn gateway_of(&self, station: StationId) -> Option<StationId> {
        match &self.routing {
            Routing::AccessPoints(points) => Some(points[station.index()]),
            Routing::Shortest(_) => self.gateway,
        }
    }

    /// True if what is at `from` gets to `to` on this channel: not from one access point to another's stations.
    pub(crate) fn joins(&self, from: StationId, to: StationId) -> bool {
        match &self.routing {
            Routing::AccessPoints(points) => points[from.index()] != from || points[to.index()] == from,
            Routing::Shortest(_) => true,
        }
    }

    /// Packets on the channel: waiting, in a station's hands, or on the air.
    pub(crate) fn holds(&self) -> u64 {
        (0..self.nodes.len() as u32).map(|station| self.air.holds(StationId(station))).sum()
    }

    /// Takes a packet at `at` that is for `to`.
    pub(crate) fn send(&mut self, core: &mut Core, at: StationId, to: StationId, id: PacketId) -> Result<(), PacketId> {
        let next = match &self.routing {
            Routing::Shortest(tables) => tables[at.index()][to.index()],
            Routing::AccessPoints(points) if points[at.index()] == at => Some(to),
            Routing::AccessPoints(points) => Some(points[at.index()]),
        };
        let Some(next) = next else { return Err(id) };
        let size = core.packets.get(id).size;
        let request = Request { content: Content::Packet(id), to: Some(next), size, since: core.now };
        self.air.enqueue(core, at, request);
        Ok(())
    }

    /// Something has happened on the air; packets that have arrived are handed up.
    pub(crate) fn on_event(&mut self, core: &mut Core, event: RadioEvent) {
        match event {
            RadioEvent::FrameEnd { station, frame } => self.air.on_frame_end(core, station, frame),
            RadioEvent::Access { station } => self.air.on_access(core, station),
            RadioEvent::Respond { station } => self.air.on_respond(core, station),
            RadioEvent::ExchangeOver { station } => self.air.on_exchange_over(core, station),
        }
    }

    /// The next packet that has arrived somewhere; what was lost on the way is booked.
    pub(crate) fn poll(&mut self, core: &mut Core) -> Option<(NodeId, PacketId)> {
        while let Some(upcall) = self.air.upcalls.pop_front() {
            match upcall {
                Upcall::Packet { at, packet, .. } => return Some((self.nodes[at.index()], packet)),
                Upcall::GivenUp { request, lost, .. } if lost => drop_content(core, request.content, DropReason::Retry),
                Upcall::QueueFull { request } => drop_content(core, request.content, DropReason::Queue),
                Upcall::Expired { request } => drop_content(core, request.content, DropReason::Expired),
                Upcall::GivenUp { .. } | Upcall::Message { .. } => {}
            }
        }
        None
    }
}

fn drop_content(core: &mut Core, content: Content, reason: DropReason) {
    if let Content::Packet(id) = content {
        core.drop(id, reason, None);
    }
}

/// Shortest paths over stations that hear each other, ties to the lowest neighbour (networks.md §9.4).
pub(crate) fn shortest(neighbours: &[Vec<StationId>]) -> Vec<Vec<Option<StationId>>> {
    let stations = neighbours.len();
    let mut tables = vec![vec![None; stations]; stations];
    for destination in 0..stations {
        let mut hops: Vec<Option<u32>> = vec![None; stations];
        hops[destination] = Some(0);
        let mut frontier = VecDeque::from([destination]);
        while let Some(here) = frontier.pop_front() {
            for neighbour in &neighbours[here] {
                if hops[neighbour.index()].is_none() {
                    hops[neighbour.index()] = hops[here].map(|hops| hops + 1);
                    frontier.push_back(neighbour.index());
                }
            }
        }
        for station in (0..stations).filter(|station| *station != destination) {
            let Some(far) = hops[station] else { continue };
            let closer = |next: &&StationId| hops[next.index()].is_some_and(|near| near < far);
            tables[station][destination] = neighbours[station].iter().find(closer).copied();
        }
    }
    tables
}

/// Who reaches whom, at `now`.
pub(crate) fn neighbours(air: &mut Air, now: Time) -> Vec<Vec<StationId>> {
    (0..air.stations() as u32).map(|station| air.neighbours(StationId(station), now)).collect()
}
