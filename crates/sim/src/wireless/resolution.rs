//! Address resolution of the next hop: ARP, Neighbor Discovery, or none.

use super::arp::{ArpTable, Resolution};
use super::ndp::{Action, Lookup, NeighborDiscovery};
use super::timer::PendingTimer;
use super::{WirelessSubnet, drop_content};
use crate::engine::context::Context;
use crate::engine::event::{Event, RadioEvent};
use crate::ids::StationId;
use crate::packet::DropReason;
use crate::packet::message::{ArpMessage, NdpMessage};
use crate::radio::frame::Content;
use crate::radio::service::{MacRequest, TrafficClass};

/// How stations find the link-layer address of a neighbour.
#[derive(Debug)]
pub(crate) enum AddressResolution {
    /// All addresses are known.
    Known,
    /// By station, its ARP table.
    Arp(Vec<ArpTable>),
    /// By station, its neighbor cache and the timer of that.
    Ndp(Vec<(NeighborDiscovery, PendingTimer)>),
}

impl AddressResolution {
    /// Neighbor Discovery in every station.
    pub(crate) fn ndp(hosts: impl Iterator<Item = NeighborDiscovery>) -> AddressResolution {
        AddressResolution::Ndp(hosts.map(|host| (host, PendingTimer::default())).collect())
    }

    /// Packets that wait for an address.
    pub(super) fn packets(&self) -> usize {
        let is_packet = |request: &&MacRequest| matches!(request.content, Content::Packet(_));
        match self {
            AddressResolution::Known => 0,
            AddressResolution::Arp(tables) => tables.iter().map(|arp| arp.held().filter(is_packet).count()).sum(),
            AddressResolution::Ndp(hosts) => hosts.iter().map(|(host, _)| host.held().filter(is_packet).count()).sum(),
        }
    }
}

impl WirelessSubnet {
    /// Resolves the address of the next hop and queues the request.
    pub(super) fn resolve(&mut self, ctx: &mut Context, at: StationId, next: StationId, request: MacRequest) {
        match &mut self.resolution {
            AddressResolution::Known => self.mac.enqueue(ctx, at, request),
            AddressResolution::Arp(tables) => {
                let resolution = tables[at.index()].resolve(next, request);
                self.on_arp_resolution(ctx, at, request, resolution);
            }
            AddressResolution::Ndp(hosts) => {
                match hosts[at.index()].0.resolve(ctx.now, next, request) {
                    Lookup::Known => self.mac.enqueue(ctx, at, request),
                    Lookup::Held { dropped } => {
                        dropped.into_iter().for_each(|request| self.drop_unresolved(ctx, request));
                    }
                }
                self.plan_neighbor_timer(ctx, at);
            }
        }
    }

    fn on_arp_resolution(&mut self, ctx: &mut Context, at: StationId, request: MacRequest, resolution: Resolution) {
        match resolution {
            Resolution::Known => self.mac.enqueue(ctx, at, request),
            Resolution::Requested { message, dropped } => {
                dropped.into_iter().for_each(|request| self.drop_unresolved(ctx, request));
                self.send_message(ctx, at, message, TrafficClass::Other);
            }
            Resolution::GivenUp { dropped } => {
                dropped.into_iter().chain([request]).for_each(|request| self.give_up(ctx, at, request));
            }
        }
    }

    /// Drops a request whose neighbour does not answer. As with a frame that the MAC gives up, the routing protocol is told, if it
    /// wants to know.
    fn give_up(&mut self, ctx: &mut Context, at: StationId, request: MacRequest) {
        self.mac.messages().release(request.content);
        self.on_link_failure(ctx, at, &request, Some(DropReason::Arp));
    }

    fn drop_unresolved(&mut self, ctx: &mut Context, request: MacRequest) {
        self.mac.messages().release(request.content);
        drop_content(ctx, request.content, DropReason::Arp);
    }

    pub(super) fn on_arp_message(&mut self, ctx: &mut Context, at: StationId, from: StationId, message: ArpMessage) {
        let AddressResolution::Arp(tables) = &mut self.resolution else { return };
        let (held, answer) = tables[at.index()].on_message(at, from, message);
        if let Some(answer) = answer {
            self.send_message(ctx, at, answer, TrafficClass::Other);
        }
        if let Some(request) = held {
            self.mac.enqueue(ctx, at, request);
        }
    }

    pub(super) fn on_ndp_message(&mut self, ctx: &mut Context, at: StationId, from: StationId, message: NdpMessage) {
        let AddressResolution::Ndp(hosts) = &mut self.resolution else { return };
        let actions = hosts[at.index()].0.on_message(ctx.now, from, message);
        self.run_actions(ctx, at, actions);
    }

    /// Handles the timer of a station's neighbor cache.
    pub(super) fn on_neighbor_timer(&mut self, ctx: &mut Context, at: StationId) {
        let AddressResolution::Ndp(hosts) = &mut self.resolution else { return };
        let (host, timer) = &mut hosts[at.index()];
        if !timer.expire(ctx.now) {
            return;
        }
        let actions = host.on_timer(ctx.now);
        self.run_actions(ctx, at, actions);
    }

    fn run_actions(&mut self, ctx: &mut Context, at: StationId, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::Send(message) => self.send_message(ctx, at, message, TrafficClass::Other),
                Action::Release(request) => self.mac.enqueue(ctx, at, request),
                Action::GiveUp(request) => self.give_up(ctx, at, request),
            }
        }
        self.plan_neighbor_timer(ctx, at);
    }

    /// Schedules the timer of a station's neighbor cache, if it has one.
    pub(super) fn plan_neighbor_timer(&mut self, ctx: &mut Context, at: StationId) {
        let AddressResolution::Ndp(hosts) = &mut self.resolution else { return };
        let (host, timer) = &mut hosts[at.index()];
        let next = host.next_timer();
        if timer.advance(next) {
            ctx.schedule(next, Event::Radio { channel: self.id, event: RadioEvent::NeighborTimer { station: at } });
        }
    }
}
