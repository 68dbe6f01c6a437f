//! Source routing (DSR): every packet carries its path, which its stations follow, overhear, and replace if it breaks.

use std::collections::BTreeMap;

use super::{WirelessSubnet, drop_content};
use crate::engine::context::Context;
use crate::ids::{PacketId, StationId};
use crate::packet::DropReason;
use crate::packet::message::Message;
use crate::radio::frame::Content;
use crate::routing::{Agent, Dsr, SourceRoute};

impl WirelessSubnet {
    /// The DSR agent of a station, and the source routes of packets.
    fn dsr(&mut self, at: StationId) -> Option<(&mut Dsr, &mut BTreeMap<u32, SourceRoute>)> {
        let protocol = self.protocol()?;
        match &mut protocol.agents[at.index()] {
            Agent::Dsr(dsr) => Some((dsr, &mut protocol.source_routes)),
            Agent::Dsdv(_) | Agent::PromptDsdv(_) | Agent::Aodv(_) => None,
        }
    }

    /// True if packets carry their paths.
    pub(super) fn has_source_routes(&mut self) -> bool {
        self.dsr(StationId(0)).is_some()
    }

    /// Sends a packet along its path; one that begins here gets a path, or waits for one.
    pub(super) fn route_by_source(
        &mut self,
        ctx: &mut Context,
        at: StationId,
        to: StationId,
        id: PacketId,
        previous: Option<StationId>,
    ) -> Result<(), PacketId> {
        let Some((dsr, routes)) = self.dsr(at) else { return Err(id) };
        if previous.is_some() {
            let Some(route) = routes.get(&id.0) else { return Err(id) };
            if route.is_listed {
                dsr.on_forwarded(&route.path);
            }
            return self.follow(ctx, at, id);
        }
        if let Some(route) = dsr.find_route(ctx.now, to) {
            routes.insert(id.0, route);
            return self.follow(ctx, at, id);
        }
        dsr.discover(ctx.now, to);
        let now = ctx.now;
        if let Some(dropped) = self.protocol().and_then(|protocol| protocol.buffers[at.index()].push(now, to, id)) {
            ctx.drop(dropped, DropReason::RouteWait, None);
        }
        self.run_agent(ctx, at);
        Ok(())
    }

    /// Sends a packet to the next station of its path.
    fn follow(&mut self, ctx: &mut Context, at: StationId, id: PacketId) -> Result<(), PacketId> {
        let next = self.dsr(at).and_then(|(_, routes)| routes.get(&id.0)?.next(at)).ok_or(id)?;
        self.forward(ctx, at, next, id);
        Ok(())
    }

    /// Handles packets that the MAC has given up, those queued for the same station included. The source of the first
    /// is told; then each has another path, waits for one at its source, or is lost.
    pub(super) fn on_path_broken(&mut self, ctx: &mut Context, at: StationId, failed: &[Content]) {
        let now = ctx.now;
        let packets = failed.iter().filter_map(|content| match content {
            Content::Packet(id) => Some(id),
            Content::Message(_) => None,
        });
        for (index, id) in packets.enumerate() {
            let Some((dsr, routes)) = self.dsr(at) else { return };
            let Some(route) = routes.get(&id.0).cloned() else {
                drop_content(ctx, Content::Packet(*id), DropReason::NoRoute);
                continue;
            };
            if index == 0 {
                dsr.send_error(now, &route);
            }
            let to = *route.path.last().expect("a path has ends");
            if route.path[0] == at {
                let sent = self.route_by_source(ctx, at, to, *id, None);
                debug_assert!(sent.is_ok(), "the source of a packet sends it or lets it wait");
                continue;
            }
            let Some(salvaged) = dsr.salvage(&route, to) else {
                drop_content(ctx, Content::Packet(*id), DropReason::NoRoute);
                continue;
            };
            routes.insert(id.0, salvaged);
            let sent = self.follow(ctx, at, *id);
            debug_assert!(sent.is_ok(), "a path from the cache begins here");
        }
    }

    /// Handles a frame for another station.
    pub(super) fn on_overheard(&mut self, ctx: &mut Context, at: StationId, from: StationId, content: Content) {
        match content {
            Content::Packet(id) => {
                let now = ctx.now;
                if let Some((dsr, routes)) = self.dsr(at)
                    && let Some(route) = routes.get(&id.0).filter(|route| route.is_listed)
                {
                    dsr.on_overheard_packet(now, from, &route.path);
                }
            }
            Content::Message(id) => {
                let message = self.mac.messages().lend(id);
                if let (Message::Dsr(message), Some((dsr, _))) = (&message, self.dsr(at)) {
                    dsr.on_overheard_message(from, message);
                }
                self.mac.messages().give_back(id, message);
            }
        }
        self.run_agent(ctx, at);
    }
}
