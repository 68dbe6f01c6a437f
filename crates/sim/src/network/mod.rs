//! Nodes, links and routes: forwards a packet from its source to its destination.
//!
//! - here: hop by hop
//! - `fast_path.rs`: over links with lookahead
//! - `ideal.rs`: how long a packet or a transfer would take alone
//! - `parts.rs`: the network of one part of a run
//! - `shared_buffer.rs`: memory that the ports of a switch share

mod fast_path;
mod flow_routes;
mod ideal;
mod parts;
mod shared_buffer;

use std::collections::VecDeque;

use tcp::units::{Span, Time};

use crate::engine::context::Context;
use crate::engine::crossing::EventPlace;
use crate::engine::event::RadioEvent;
use crate::ids::{ChannelId, EndpointId, FlowId, LinkId, NodeId, PacketId, StationId};
use crate::link::{Link, LinkChange};
use crate::metrics::NodeMetrics;
use crate::mobility::Point;
use crate::packet::{DropReason, Packet};
use crate::radio::energy::EnergyMeter;
use crate::radio::service::MacCounters;
use crate::routing::{Edge, Order, Routes};
use crate::wireless::{ReceivedPacket, WirelessSubnet};
pub(crate) use flow_routes::FlowRoutes;
pub(crate) use ideal::IdealTransfer;
pub(crate) use shared_buffer::SharedBuffers;

/// The network layer.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) links: Vec<Link>,
    pub(crate) nodes: Vec<NodeMetrics>,
    /// The place of each node in the order by which ties among paths are broken; empty where routes are given.
    order: Order,
    pub(crate) channels: Vec<WirelessSubnet>,
    /// By node: the channel and the station of its radio, if it has one; empty without channels.
    radios: Vec<Option<(ChannelId, StationId)>>,
    /// By node: true if it has a link.
    wired: Vec<bool>,
    routes: Routes,
    /// Where the next hop depends on the flow too.
    flow_routes: Option<Box<FlowRoutes>>,
    /// Where ports share memory.
    pub(crate) shared_buffers: Option<Box<SharedBuffers>>,
    /// Packets that the present event of a channel has brought to nodes.
    received: VecDeque<ReceivedPacket>,
    /// By link, in a part of a world: the arrival of the last packet that could not enter the link before its time.
    last_held_up: Vec<EventPlace>,
}

/// The next hop of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Hop {
    Link(LinkId),
    /// Over the node's own channel: from this station to that one, the last on the channel.
    Radio(ChannelId, StationId, StationId),
}

impl Network {
    /// A network of nodes with this order.
    pub(crate) fn new(order: Order, links: Vec<Link>, channels: Vec<WirelessSubnet>) -> Network {
        let nodes = order.nodes.len();
        let mut radios = vec![None; if channels.is_empty() { 0 } else { nodes }];
        for (index, channel) in channels.iter().enumerate() {
            for (station, node) in channel.nodes.iter().enumerate() {
                radios[node.index()] = Some((ChannelId(index as u16), StationId(station as u32)));
            }
        }
        let mut wired = vec![false; nodes];
        links.iter().for_each(|link| wired[link.from.index()] = true);
        let mut network =
            Network { order, channels, radios, wired, ..Network::with_routes(nodes, links, Routes::default()) };
        network.find_routes();
        network
    }

    /// A wired network with given routes.
    pub(crate) fn with_routes(nodes: usize, links: Vec<Link>, routes: Routes) -> Network {
        let (channels, radios, wired) = (Vec::new(), Vec::new(), vec![true; nodes]);
        let nodes = vec![NodeMetrics::default(); nodes];
        Network {
            links,
            nodes,
            order: Order::default(),
            channels,
            radios,
            wired,
            routes,
            flow_routes: None,
            shared_buffers: None,
            received: VecDeque::new(),
            last_held_up: Vec::new(),
        }
    }

    /// Replaces the routes.
    pub(crate) fn set_routes(&mut self, routes: Routes) {
        self.routes = routes;
    }

    /// Routes packets by their flows too.
    pub(crate) fn route_by_flow(&mut self, flow_routes: FlowRoutes) {
        self.flow_routes = Some(Box::new(flow_routes));
        self.find_routes();
    }

    /// From now on the packets of a flow pass these nodes: its source, others in order, its sink.
    pub(crate) fn pin(&mut self, flow: FlowId, stops: Vec<NodeId>) {
        let pins = self.flow_routes.as_mut().expect("a network with pins routes by flow");
        pins.pin(flow, stops, &self.routes, &self.links);
    }

    /// The link that a packet for the endpoint `receiver`, which is at the node `to`, would take now.
    pub(crate) fn next_link(&self, from: NodeId, to: NodeId, receiver: EndpointId) -> Option<LinkId> {
        match &self.flow_routes {
            None => self.routes.next(from, to),
            Some(by_flow) => by_flow.expected(&self.routes, [from, to], receiver),
        }
    }

    /// Propagation delay of the path over links that a packet would take now.
    pub(crate) fn path_delay(&self, now: Time, from: NodeId, to: NodeId, receiver: EndpointId) -> Option<Span> {
        self.sum_over_path(from, to, receiver, |link| link.delay(now, to))
    }

    /// A sum over the links that a packet would pass now; nothing if they do not lead to its destination.
    fn sum_over_path(
        &self,
        from: NodeId,
        to: NodeId,
        receiver: EndpointId,
        of: impl Fn(&Link) -> Span,
    ) -> Option<Span> {
        let (mut here, mut sum, mut links) = (from, Span::ZERO, 0);
        while here != to {
            let link = &self.links[self.next_link(here, to, receiver)?.index()];
            links += 1;
            if !link.up || links > self.nodes.len() {
                return None;
            }
            sum += of(link);
            here = link.to.unwrap_or(to);
        }
        Some(sum)
    }

    fn edges(&self) -> Vec<Edge> {
        let edge = |(i, l): (usize, &Link)| l.to.map(|to| Edge { link: LinkId(i as u32), from: l.from, to, up: l.up });
        self.links.iter().enumerate().filter_map(edge).collect()
    }

    fn find_routes(&mut self) {
        let edges = self.edges();
        // The old table makes room for the new one: together they would be the largest part of a network of switches.
        self.routes = Routes::default();
        self.routes = Routes::shortest(&self.order, &edges);
        if let Some(by_flow) = &mut self.flow_routes {
            by_flow.find(&self.order, &edges, &self.routes, &self.links);
        }
    }

    /// True if a node has a radio.
    pub(crate) fn has_radio(&self, node: NodeId) -> bool {
        self.radios.get(node.index()).is_some_and(Option::is_some)
    }

    /// The next hop from `node` to `destination`: over a common channel, else over links towards the destination or the
    /// gateway of its channel, else towards the gateway of the own channel.
    #[inline]
    fn hop(&self, node: NodeId, destination: NodeId) -> Option<Hop> {
        match self.radios.get(destination.index()) {
            None => self.routes.next(node, destination).map(Hop::Link),
            Some(home) => self.hop_with_radios(node, destination, *home),
        }
    }

    #[inline(never)]
    fn hop_with_radios(&self, node: NodeId, destination: NodeId, home: Option<(ChannelId, StationId)>) -> Option<Hop> {
        let here = self.radios[node.index()];
        if let (Some((channel, station)), Some((there, to))) = (here, home)
            && channel == there
            && self.channels[channel.index()].connects(station, to)
        {
            return Some(Hop::Radio(channel, station, to));
        }
        let gateway = |(channel, station): (ChannelId, StationId)| {
            let channel = &self.channels[channel.index()];
            channel.gateway_of(station).map(|gateway| channel.nodes[gateway.index()])
        };
        let exit = if self.wired[destination.index()] { Some(destination) } else { home.and_then(gateway) };
        if self.wired[node.index()] {
            return self.routes.next(node, exit?).map(Hop::Link);
        }
        let (channel, station) = here?;
        let gateway = self.channels[channel.index()].gateway_of(station)?;
        Some(Hop::Radio(channel, station, gateway))
    }

    /// The energy meter of the radio of a node, if there is one.
    pub(crate) fn meter(&mut self, node: NodeId, now: Time) -> Option<&EnergyMeter> {
        let (channel, station) = (*self.radios.get(node.index())?)?;
        self.channels[channel.index()].mac.meter(station, now).map(|meter| &*meter)
    }

    /// What the MAC of a node has counted, if it has one.
    pub(crate) fn radio_counters(&self, node: NodeId) -> Option<MacCounters> {
        let (channel, station) = (*self.radios.get(node.index())?)?;
        Some(self.channels[channel.index()].mac.counters(station))
    }

    /// Time since which the MAC of a node has waited for ever, if it has.
    pub(crate) fn stalled_at(&self, node: NodeId) -> Option<Time> {
        let (channel, station) = (*self.radios.get(node.index())?)?;
        self.channels[channel.index()].mac.stalled_at(station)
    }

    /// The position of a node with a radio; `now` never decreases from call to call.
    pub(crate) fn position(&mut self, node: NodeId, now: Time) -> Option<Point> {
        let (channel, station) = (*self.radios.get(node.index())?)?;
        Some(self.channels[channel.index()].mac.position(station, now))
    }

    /// True if a packet would reach its destination over links now.
    pub(crate) fn has_path(&self, from: NodeId, to: NodeId, receiver: EndpointId) -> bool {
        self.sum_over_path(from, to, receiver, |_| Span::ZERO).is_some()
    }

    /// Sends an admitted packet of a transport at `node`.
    pub(crate) fn originate(&mut self, ctx: &mut Context, node: NodeId, id: PacketId) {
        self.nodes[node.index()].sent += 1;
        self.send(ctx, node, id, None);
    }

    /// Sends a packet to its next hop; `previous` is the station that it came from over the same channel, if any.
    pub(crate) fn send(&mut self, ctx: &mut Context, node: NodeId, id: PacketId, previous: Option<StationId>) {
        let header = ctx.packets.forwarding_header(id);
        let hop = match &mut self.flow_routes {
            None => self.hop(node, header.destination),
            Some(by_flow) => {
                let to = ctx.by_serial(ctx.packets.receiver(id));
                by_flow.next(ctx.now, &self.routes, [node, header.destination], to).map(Hop::Link)
            }
        };
        match hop {
            Some(Hop::Link(link)) if self.links[link.index()].has_fast_path() => self.forward(ctx, link, id, header),
            Some(Hop::Link(link)) => self.enqueue(ctx, link, id, header.size),
            Some(Hop::Radio(channel, station, to)) => {
                if !self.send_by_radio(ctx, (channel, station), to, id, previous) {
                    self.no_route(ctx, node, id);
                }
                self.drain_channel(ctx, channel);
            }
            None => self.no_route(ctx, node, id),
        }
    }

    /// Sends a packet over the channel of a station; false if there is no route.
    #[inline(never)]
    fn send_by_radio(
        &mut self,
        ctx: &mut Context,
        (channel, station): (ChannelId, StationId),
        to: StationId,
        id: PacketId,
        previous: Option<StationId>,
    ) -> bool {
        self.channels[channel.index()].send(ctx, station, to, id, previous).is_ok()
    }

    #[inline(never)]
    fn no_route(&mut self, ctx: &mut Context, node: NodeId, id: PacketId) {
        self.nodes[node.index()].no_route += 1;
        ctx.drop(id, DropReason::NoRoute, None);
    }

    /// Counts the packets that a channel lost; none arrives when one is sent.
    fn drain_channel(&mut self, ctx: &mut Context, channel: ChannelId) {
        let arrived = self.channels[channel.index()].poll(ctx);
        debug_assert!(arrived.is_none(), "a packet arrives at the end of a frame only");
    }

    /// Recomputes the routes of a channel, or sends the beacon of an access point that is due.
    #[inline(never)]
    pub(crate) fn refresh(&mut self, ctx: &mut Context, channel: ChannelId) {
        self.channels[channel.index()].refresh(ctx);
        self.drain_channel(ctx, channel);
    }

    /// Number of hops on the path that a packet would take now.
    pub(crate) fn route_hops(&self, now: Time, from: NodeId, to: NodeId, receiver: EndpointId) -> Option<u32> {
        let (mut here, mut hops) = (from, 0);
        while here != to {
            let hop = match &self.flow_routes {
                None => self.hop(here, to),
                Some(by_flow) => by_flow.expected(&self.routes, [here, to], receiver).map(Hop::Link),
            };
            here = match hop? {
                Hop::Link(link) if self.links[link.index()].up => self.links[link.index()].to.unwrap_or(to),
                Hop::Link(_) => return None,
                Hop::Radio(channel, station, exit) => {
                    let channel = &self.channels[channel.index()];
                    channel.nodes[channel.next(now, station, exit)?.index()]
                }
            };
            hops += 1;
            // Routes of mobile stations may form a loop.
            if hops as usize > self.nodes.len() {
                return None;
            }
        }
        Some(hops)
    }

    /// Handles an event of a channel; returns the first packet that reached its destination by it, if any. More may
    /// follow from [`Network::next_delivery`]: an aggregate brings several.
    #[inline(never)]
    pub(crate) fn on_radio(&mut self, ctx: &mut Context, channel: ChannelId, event: RadioEvent) -> Option<Packet> {
        self.channels[channel.index()].on_event(ctx, event);
        while let Some(received) = self.channels[channel.index()].poll(ctx) {
            self.received.push_back(received);
        }
        self.next_delivery(ctx)
    }

    /// Forwards the packets that the last event of a channel brought, up to the next one that is at home.
    pub(crate) fn next_delivery(&mut self, ctx: &mut Context) -> Option<Packet> {
        while let Some(ReceivedPacket { node, previous, packet }) = self.received.pop_front() {
            if let Some(id) = self.receive(ctx, node, packet, Some(previous)) {
                return Some(ctx.deliver(id));
            }
        }
        None
    }

    /// Receives a packet at a node: returns it if this is its destination, else forwards it.
    #[inline]
    fn receive(
        &mut self,
        ctx: &mut Context,
        node: NodeId,
        id: PacketId,
        previous: Option<StationId>,
    ) -> Option<PacketId> {
        let header = ctx.packets.forwarding_header(id);
        if header.destination == node {
            if header.damaged {
                Network::drop_damaged(ctx, id);
                return None;
            }
            self.nodes[node.index()].received += 1;
            return Some(id);
        }
        self.pass_on(ctx, node, id, previous);
        None
    }

    #[cold]
    #[inline(never)]
    fn drop_damaged(ctx: &mut Context, id: PacketId) {
        ctx.drop(id, DropReason::Corrupt, None);
    }

    /// Forwards a packet from a node on its way.
    #[inline(never)]
    fn pass_on(&mut self, ctx: &mut Context, node: NodeId, id: PacketId, previous: Option<StationId>) {
        self.nodes[node.index()].forwarded += 1;
        if ctx.packets.decrement_ttl(id) {
            self.send(ctx, node, id, previous);
        } else {
            ctx.drop(id, DropReason::Ttl, None);
        }
    }

    /// Handles the arrival of a packet over a link; true if it has reached its destination.
    pub(crate) fn on_arrive(&mut self, ctx: &mut Context, link: LinkId, id: PacketId) -> bool {
        let link = &mut self.links[link.index()];
        if !link.on_arrive(ctx, id) {
            return false;
        }
        let node = link.to.unwrap_or_else(|| ctx.packets.forwarding_header(id).destination);
        self.receive(ctx, node, id, None).is_some()
    }

    /// Carries out a scheduled change of a link; routes follow at once.
    #[inline(never)]
    pub(crate) fn on_change(&mut self, ctx: &mut Context, link: LinkId, change: LinkChange) {
        self.links[link.index()].on_change(ctx, change);
        if matches!(change, LinkChange::Up | LinkChange::Down) {
            self.find_routes();
        }
    }
}
