//! A wireless subnet: nodes whose stations share a radio channel, and how packets find the next one.
//!
//! - here: a packet goes to the next station; events of the channel
//! - `shortest.rs`: next hops of shortest paths
//! - `resolution.rs`: the link-layer address of the next station
//! - `protocol.rs`: agents of routing protocols and their buffers
//! - `source_routing.rs`: packets that carry their path
//! - `association.rs`: beacons of access points, and stations that change theirs

mod access_points;
pub(crate) mod arp;
#[path = "../compat/arp_ns3.rs"]
pub(crate) mod arp_cache;
mod association;
mod gateways;
pub(crate) mod ndp;
mod protocol;
mod resolution;
mod shortest;
mod source_routing;
#[cfg(test)]
mod tests;
mod timer;

use tcp::units::{Bytes, Span, Time};

use crate::engine::context::Context;
use crate::engine::event::{Event, RadioEvent};
use crate::ids::{ChannelId, NodeId, PacketId, StationId};
use crate::packet::message::Message;
use crate::packet::{DropReason, Payload};
use crate::radio::frame::Content;
use crate::radio::mac::Mac;
use crate::radio::service::{MacIndication, MacRequest, TrafficClass};
use crate::routing::build::Protocol;
use crate::routing::{NextHop, Outgoing};
pub(crate) use access_points::AccessPoints;
pub(crate) use gateways::Gateways;
pub(crate) use resolution::AddressResolution;
pub(crate) use shortest::ShortestPaths;
use timer::PendingTimer;

/// How stations find the next hop.
#[derive(Clone, Debug)]
pub(crate) enum Routing {
    /// Shortest paths.
    Shortest(ShortestPaths),
    /// All packets go through access points.
    AccessPoints(Box<AccessPoints>),
    /// A routing protocol.
    Protocol(Box<Protocol>),
}

/// A packet that a node has received by radio.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ReceivedPacket {
    pub(crate) node: NodeId,
    pub(crate) previous: StationId,
    pub(crate) packet: PacketId,
}

/// The stations of a channel, with their MAC, routing and address resolution.
#[derive(Debug)]
pub(crate) struct WirelessSubnet {
    id: ChannelId,
    pub(crate) mac: Mac,
    /// The node of each station.
    pub(crate) nodes: Vec<NodeId>,
    gateways: Gateways,
    pub(crate) routing: Routing,
    /// Interval between updates of the shortest paths, or between beacons; `None` if they have no effect.
    pub(crate) refresh: Option<Span>,
    resolution: AddressResolution,
    /// By station, its routing timer.
    timers: Vec<PendingTimer>,
}

impl WirelessSubnet {
    pub(crate) fn new(
        id: ChannelId,
        mac: Mac,
        nodes: Vec<NodeId>,
        gateways: Gateways,
        routing: Routing,
        resolution: AddressResolution,
    ) -> WirelessSubnet {
        let timers = vec![PendingTimer::default(); nodes.len()];
        WirelessSubnet { id, mac, nodes, gateways, routing, refresh: None, resolution, timers }
    }

    /// Schedules the first timers.
    pub(crate) fn start(&mut self, ctx: &mut Context) {
        self.plan_refresh(ctx);
        for station in self.stations() {
            self.plan_timer(ctx, station);
            self.plan_neighbor_timer(ctx, station);
        }
    }

    /// Updates the shortest paths or transmits the next beacon, and schedules the
    /// next update.
    pub(crate) fn refresh(&mut self, ctx: &mut Context) {
        if let Routing::AccessPoints(_) = self.routing {
            self.on_beacon(ctx);
        } else {
            let neighbours = neighbours(&mut self.mac, ctx.now);
            self.gateways.find_nearest(&neighbours);
            self.routing = Routing::Shortest(ShortestPaths::new(neighbours));
        }
        self.plan_refresh(ctx);
    }

    /// Schedules the next update of paths or the next beacon.
    fn plan_refresh(&self, ctx: &mut Context) {
        if let Some(refresh) = self.refresh {
            ctx.schedule(ctx.now + refresh, Event::WirelessRefresh { channel: self.id });
        }
    }

    /// Access points, if there are any.
    pub(crate) fn access_points(&self) -> Option<&AccessPoints> {
        match &self.routing {
            Routing::AccessPoints(access_points) => Some(access_points),
            Routing::Shortest(_) | Routing::Protocol(_) => None,
        }
    }

    /// Number of reassociations, if there are access points.
    pub(crate) fn reassociations(&self) -> Option<u64> {
        self.access_points().map(|access_points| access_points.reassociations)
    }

    /// The stations.
    pub(crate) fn stations(&self) -> impl Iterator<Item = StationId> + use<> {
        (0..self.nodes.len() as u32).map(StationId)
    }

    /// The station through which `station` reaches the wired network, and is reached.
    pub(crate) fn gateway_of(&self, station: StationId) -> Option<StationId> {
        match &self.routing {
            Routing::AccessPoints(access_points) => Some(access_points.of(station)),
            Routing::Shortest(_) | Routing::Protocol(_) => self.gateways.of(station),
        }
    }

    /// True if packets at `from` can reach `to` within the subnet: not from one access point to stations of another,
    /// and not from one gateway's domain to another's, unless a routing protocol without a filter of domains has a route.
    pub(crate) fn connects(&self, from: StationId, to: StationId) -> bool {
        let inside = self.gateways.of(from) == self.gateways.of(to);
        match &self.routing {
            Routing::AccessPoints(access_points) => {
                !access_points.is_access_point(from) || access_points.of(to) == from
            }
            Routing::Shortest(_) => inside,
            Routing::Protocol(protocol) => {
                let may_stray = !protocol.domain_filter && self.gateways.of(from) != Some(from);
                inside || (may_stray && protocol.agents[from.index()].has_route(to))
            }
        }
    }

    /// Packets in the subnet: buffered, queued, or on the air.
    pub(crate) fn holds(&self) -> u64 {
        let buffered: usize = match &self.routing {
            Routing::Protocol(protocol) => protocol.buffers.iter().map(|buffer| buffer.len()).sum(),
            Routing::Shortest(_) | Routing::AccessPoints(_) => 0,
        };
        self.stations().map(|station| self.mac.holds(station)).sum::<u64>()
            + (buffered + self.resolution.packets()) as u64
    }

    /// Memory that grows: of the medium, and of shortest paths.
    pub(crate) fn held_bytes(&self) -> u64 {
        let routes = match &self.routing {
            Routing::Shortest(paths) => paths.held_bytes(),
            Routing::AccessPoints(_) | Routing::Protocol(_) => 0,
        };
        self.mac.held_bytes() + routes
    }

    /// The next hop of a packet at `at` for `to`.
    pub(crate) fn next(&self, now: Time, at: StationId, to: StationId) -> Option<StationId> {
        match &self.routing {
            Routing::Shortest(paths) => paths.next(at, to),
            Routing::AccessPoints(access_points) if access_points.is_access_point(at) => {
                Some(to).filter(|to| !access_points.scans(*to, now))
            }
            Routing::AccessPoints(access_points) => access_points.associated(at),
            Routing::Protocol(protocol) => match protocol.agents[at.index()].next_hop(now, to) {
                NextHop::Via(next) => Some(next),
                NextHop::Wait | NextHop::None => None,
            },
        }
    }

    /// Sends a packet from `at` towards `to`; `previous` is the last hop, if on this subnet.
    pub(crate) fn send(
        &mut self,
        ctx: &mut Context,
        at: StationId,
        to: StationId,
        id: PacketId,
        previous: Option<StationId>,
    ) -> Result<(), PacketId> {
        if let Routing::Protocol(_) = self.routing {
            return self.route(ctx, at, to, id, previous);
        }
        let Some(next) = self.next(ctx.now, at, to) else { return Err(id) };
        self.forward(ctx, at, next, id);
        Ok(())
    }

    /// Forwards a packet to a neighbour.
    fn forward(&mut self, ctx: &mut Context, at: StationId, next: StationId, id: PacketId) {
        let header = match &self.routing {
            Routing::Protocol(protocol) => protocol.header(at, id),
            Routing::Shortest(_) | Routing::AccessPoints(_) => Bytes::ZERO,
        };
        let size = ctx.packets.forwarding_header(id).size + header;
        let content = Content::Packet(id);
        let request = MacRequest { content, to: Some(next), size, since: ctx.now, class: class(ctx, id) };
        self.resolve(ctx, at, next, request);
    }

    /// Queues a message of routing or address resolution.
    fn send_message(&mut self, ctx: &mut Context, at: StationId, outgoing: Outgoing, class: TrafficClass) {
        let Outgoing { message, size, to } = outgoing;
        let content = Content::Message(self.mac.messages().insert(message));
        let request = MacRequest { content, to, size, since: ctx.now, class };
        match to.filter(|_| class == TrafficClass::Routing) {
            Some(next) => self.resolve(ctx, at, next, request),
            None => self.mac.enqueue(ctx, at, request),
        }
    }

    fn on_message(&mut self, ctx: &mut Context, at: StationId, from: StationId, message: &Message) {
        match message {
            Message::Arp(message) => self.on_arp_message(ctx, at, from, *message),
            Message::Ndp(message) => self.on_ndp_message(ctx, at, from, *message),
            Message::Beacon => {}
            Message::Association(step) => self.on_association_message(ctx, at, from, *step),
            Message::Dsdv(_) | Message::Aodv(_) | Message::Dsr(_) => self.on_routing_message(ctx, at, from, message),
        }
    }

    /// Handles an event of the channel.
    pub(crate) fn on_event(&mut self, ctx: &mut Context, event: RadioEvent) {
        match event {
            RadioEvent::RoutingTimer { station } => self.on_route_timer(ctx, station),
            RadioEvent::NeighborTimer { station } => self.on_neighbor_timer(ctx, station),
            event => self.mac.on_event(ctx, event),
        }
    }

    /// The next packet that a node has received; lost packets are accounted for.
    pub(crate) fn poll(&mut self, ctx: &mut Context) -> Option<ReceivedPacket> {
        while let Some(indication) = self.mac.pop_indication() {
            match indication {
                MacIndication::Packet { at, from, packet } => {
                    return Some(ReceivedPacket { node: self.nodes[at.index()], previous: from, packet });
                }
                MacIndication::Message { at, from, message: id } => {
                    let message = self.mac.messages().lend(id);
                    self.on_message(ctx, at, from, &message);
                    self.mac.messages().give_back(id, message);
                }
                MacIndication::Overheard { at, from, content } => self.on_overheard(ctx, at, from, content),
                MacIndication::GivenUp { at, request, lost } => {
                    self.on_link_failure(ctx, at, &request, lost.then_some(DropReason::Retry));
                }
                MacIndication::QueueFull { request } => drop_content(ctx, request.content, DropReason::Queue),
                MacIndication::Expired { request } => drop_content(ctx, request.content, DropReason::Expired),
                MacIndication::Dropped { content, reason } => drop_content(ctx, content, reason),
            }
        }
        None
    }
}

/// The class of a packet: a receiver of TCP acknowledges without data.
fn class(ctx: &Context, id: PacketId) -> TrafficClass {
    if !ctx.packets.receiver(id).is_source() {
        return TrafficClass::Other;
    }
    match ctx.packets.get(id).payload {
        Payload::Tcp(segment) if segment.len == 0 => TrafficClass::Ack,
        _ => TrafficClass::Other,
    }
}

fn drop_content(ctx: &mut Context, content: Content, reason: DropReason) {
    if let Content::Packet(id) = content {
        ctx.drop(id, reason, None);
    }
}

/// Neighbours of each station at `now`.
pub(crate) fn neighbours(mac: &mut Mac, now: Time) -> Vec<Vec<StationId>> {
    (0..mac.stations() as u32).map(|station| mac.neighbours(StationId(station), now)).collect()
}
