//! Routing protocols: runs the agents of stations, sends their messages, and buffers packets that wait for a route.

use tcp::units::Time;

use super::{Routing, WirelessSubnet, drop_content};
use crate::engine::context::Context;
use crate::engine::event::{Event, RadioEvent};
use crate::ids::{NodeId, PacketId, StationId};
use crate::packet::DropReason;
use crate::packet::message::Message;
use crate::radio::frame::Content;
use crate::radio::service::{MacRequest, TrafficClass};
use crate::routing::NextHop;
use crate::routing::build::Protocol;

impl WirelessSubnet {
    pub(super) fn protocol(&mut self) -> Option<&mut Protocol> {
        match &mut self.routing {
            Routing::Protocol(protocol) => Some(protocol),
            Routing::Shortest(_) | Routing::AccessPoints(_) => None,
        }
    }

    /// Sends a packet from `at` towards `to` by the station's routing protocol.
    pub(super) fn route(
        &mut self,
        ctx: &mut Context,
        at: StationId,
        to: StationId,
        id: PacketId,
        previous: Option<StationId>,
    ) -> Result<(), PacketId> {
        if self.has_source_routes() {
            return self.route_by_source(ctx, at, to, id, previous);
        }
        let now = ctx.now;
        let leaves = ctx.packets.forwarding_header(id).destination != self.nodes[to.index()];
        let Some(protocol) = self.protocol() else { return Err(id) };
        if let Some(ttl) = protocol.ttl {
            ctx.packets.limit_ttl(id, ttl);
        }
        let buffers_inside_only = protocol.buffers_inside_only;
        let agent = &mut protocol.agents[at.index()];
        let mut hop = agent.next_hop(now, to);
        if buffers_inside_only && hop == NextHop::Wait && leaves {
            return Err(id);
        }
        if hop == NextHop::Wait || (hop == NextHop::None && previous.is_none()) {
            agent.discover(now, to);
            hop = agent.next_hop(now, to);
        }
        match hop {
            NextHop::Via(next) => {
                agent.on_used(now, to, previous);
                self.forward(ctx, at, next, id);
                return Ok(());
            }
            NextHop::Wait => {
                if let Some(dropped) = protocol.buffers[at.index()].push(now, to, id) {
                    ctx.drop(dropped, DropReason::RouteWait, None);
                }
            }
            NextHop::None => agent.on_no_route(now, to),
        }
        self.run_agent(ctx, at);
        if hop == NextHop::None { Err(id) } else { Ok(()) }
    }

    pub(super) fn on_routing_message(&mut self, ctx: &mut Context, at: StationId, from: StationId, message: &Message) {
        let inside = self.gateways.of(at) == self.gateways.of(from);
        let Some(protocol) = self.protocol().filter(|protocol| inside || !protocol.domain_filter) else { return };
        protocol.agents[at.index()].on_message(ctx.now, from, message);
        self.run_agent(ctx, at);
    }

    /// Handles the routing timer of a station.
    pub(super) fn on_route_timer(&mut self, ctx: &mut Context, at: StationId) {
        if !self.timers[at.index()].expire(ctx.now) {
            return;
        }
        if let Routing::AccessPoints(_) = self.routing {
            return self.join(ctx, at);
        }
        let Some(protocol) = self.protocol() else { return };
        protocol.agents[at.index()].on_timer(ctx.now);
        self.run_agent(ctx, at);
    }

    /// Handles a link failure: the MAC or the address resolution has given a request up, which is `lost` for this reason unless the
    /// receiver has it.
    pub(super) fn on_link_failure(
        &mut self,
        ctx: &mut Context,
        at: StationId,
        request: &MacRequest,
        lost: Option<DropReason>,
    ) {
        let feedback = self.protocol().is_some_and(|protocol| protocol.link_feedback);
        let Some(neighbour) = request.to.filter(|_| feedback) else {
            if let Some(reason) = lost {
                drop_content(ctx, request.content, reason);
            }
            return;
        };
        let mut failed: Vec<Content> = lost.map(|_| request.content).into_iter().collect();
        // Requests for the same neighbour would fail one by one.
        while let Some(request) = self.mac.withdraw(at, neighbour) {
            failed.push(request.content);
        }
        let Some(protocol) = self.protocol() else { return };
        protocol.agents[at.index()].on_link_failure(ctx.now, neighbour);
        let reroutes = protocol.reroutes_failed;
        if self.has_source_routes() {
            self.on_path_broken(ctx, at, &failed);
            return self.run_agent(ctx, at);
        }
        for content in failed {
            match content {
                Content::Packet(id) if reroutes => self.reroute(ctx, at, id),
                content => drop_content(ctx, content, lost.unwrap_or(DropReason::Retry)),
            }
        }
        self.run_agent(ctx, at);
    }

    /// Routes a packet again after a link failure.
    fn reroute(&mut self, ctx: &mut Context, at: StationId, id: PacketId) {
        let destination = ctx.packets.forwarding_header(id).destination;
        let routed = self.exit_station(at, destination).is_some_and(|to| self.route(ctx, at, to, id, None).is_ok());
        if !routed {
            ctx.drop(id, DropReason::NoRoute, None);
        }
    }

    /// The station at which a packet for `destination` leaves the subnet.
    fn exit_station(&self, at: StationId, destination: NodeId) -> Option<StationId> {
        let home = self.nodes.iter().position(|node| *node == destination).map(|index| StationId(index as u32));
        home.filter(|home| self.connects(at, *home)).or_else(|| self.gateway_of(at))
    }

    /// Runs the agent of a station: sends its messages, forwards or drops buffered packets, and schedules its timer.
    pub(super) fn run_agent(&mut self, ctx: &mut Context, at: StationId) {
        let now = ctx.now;
        while let Some(outgoing) = self.protocol().and_then(|p| p.agents[at.index()].poll_message(now)) {
            self.send_message(ctx, at, outgoing, TrafficClass::Routing);
        }
        let by_source = self.has_source_routes();
        let mut ready: Vec<(StationId, StationId, PacketId)> = Vec::new();
        let Some(protocol) = self.protocol() else { return };
        let (agent, buffers) = (&mut protocol.agents[at.index()], &mut protocol.buffers[at.index()]);
        while let Some(id) = buffers.pop_expired(now) {
            ctx.drop(id, DropReason::RouteWait, None);
        }
        for waiter in buffers.take() {
            match agent.next_hop(now, waiter.to) {
                NextHop::Via(next) => {
                    agent.on_used(now, waiter.to, None);
                    ready.push((next, waiter.to, waiter.packet));
                }
                NextHop::Wait => buffers.put_back(waiter),
                NextHop::None => ctx.drop(waiter.packet, DropReason::NoRoute, None),
            }
        }
        for (next, to, id) in ready {
            if !by_source {
                self.forward(ctx, at, next, id);
            } else if self.route_by_source(ctx, at, to, id, None).is_err() {
                ctx.drop(id, DropReason::NoRoute, None);
            }
        }
        self.plan_timer(ctx, at);
    }

    /// Schedules the routing timer of a station.
    pub(super) fn plan_timer(&mut self, ctx: &mut Context, at: StationId) {
        let next: Option<Time> = self.protocol().and_then(|protocol| protocol.agents[at.index()].next_timer());
        let Some(next) = next.map(|next| next.max(ctx.now)) else { return };
        if self.timers[at.index()].advance(next) {
            ctx.schedule(next, Event::Radio { channel: self.id, event: RadioEvent::RoutingTimer { station: at } });
        }
    }
}
