//! Address resolution of the next hop: ARP, Neighbor Discovery, or none.

use tcp::units::Time;

use super::arp::{ArpTable, Resolution};
use super::arp_cache::{self, ArpCache};
use super::ndp::{Action, Lookup, NeighborDiscovery};
use super::timer::PendingTimer;
use super::{Routing, WirelessSubnet, drop_content};
use crate::engine::context::Context;
use crate::engine::event::{Event, RadioEvent};
use crate::ids::StationId;
use crate::packet::DropReason;
use crate::packet::message::{ArpMessage, NdpMessage};
use crate::radio::frame::Content;
use crate::radio::service::{MacRequest, TrafficClass};
use crate::routing::Outgoing;

/// How stations find the link-layer address of a neighbour.
#[derive(Debug)]
pub(crate) enum AddressResolution {
    /// All addresses are known.
    Known,
    /// By station, its ARP table.
    Arp(Vec<ArpTable>),
    /// By station, its ARP cache and the timer of that.
    ArpCache(Vec<(ArpCache, PendingTimer)>),
    /// By station, its neighbor cache and the timer of that.
    Ndp(Vec<(NeighborDiscovery, PendingTimer)>),
}

impl AddressResolution {
    /// Neighbor Discovery in every station.
    pub(crate) fn ndp(hosts: impl Iterator<Item = NeighborDiscovery>) -> AddressResolution {
        AddressResolution::Ndp(hosts.map(|host| (host, PendingTimer::default())).collect())
    }

    /// An ARP cache with timers in every station.
    pub(crate) fn arp_cache(caches: impl Iterator<Item = ArpCache>) -> AddressResolution {
        AddressResolution::ArpCache(caches.map(|cache| (cache, PendingTimer::default())).collect())
    }

    /// The timer of a station's neighbor cache or ARP cache, and when it is due next.
    fn timer(&mut self, at: StationId) -> Option<(Option<Time>, &mut PendingTimer)> {
        match self {
            AddressResolution::Known | AddressResolution::Arp(_) => None,
            AddressResolution::ArpCache(caches) => {
                let (cache, timer) = &mut caches[at.index()];
                Some((cache.next_timer(), timer))
            }
            AddressResolution::Ndp(hosts) => {
                let (host, timer) = &mut hosts[at.index()];
                Some((Some(host.next_timer()), timer))
            }
        }
    }

    /// Packets that wait for an address.
    pub(super) fn packets(&self) -> usize {
        let is_packet = |request: &&MacRequest| matches!(request.content, Content::Packet(_));
        match self {
            AddressResolution::Known => 0,
            AddressResolution::Arp(tables) => tables.iter().map(|arp| arp.held().filter(is_packet).count()).sum(),
            AddressResolution::ArpCache(caches) => {
                caches.iter().map(|(cache, _)| cache.held().filter(is_packet).count()).sum()
            }
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
            AddressResolution::ArpCache(caches) => {
                let lookup = caches[at.index()].0.resolve(ctx.now, next, request);
                self.on_lookup(ctx, at, request, lookup);
            }
            AddressResolution::Ndp(hosts) => {
                let lookup = hosts[at.index()].0.resolve(ctx.now, next, request);
                self.on_lookup(ctx, at, request, lookup);
            }
        }
    }

    fn on_lookup(&mut self, ctx: &mut Context, at: StationId, request: MacRequest, lookup: Lookup) {
        match lookup {
            Lookup::Known => self.mac.enqueue(ctx, at, request),
            Lookup::Held { dropped } => dropped.into_iter().for_each(|request| self.drop_unresolved(ctx, request)),
        }
        self.plan_neighbor_timer(ctx, at);
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
        let tables = match &mut self.resolution {
            AddressResolution::Arp(tables) => tables,
            AddressResolution::ArpCache(caches) => {
                let actions = caches[at.index()].0.on_message(ctx.now, at, from, message);
                if let (Routing::AccessPoints(points), ArpMessage::Request(_)) = (&self.routing, message)
                    && points.is_access_point(at)
                    && points.of(from) == at
                {
                    self.send_message(ctx, at, arp_cache::to_all(message), TrafficClass::Other);
                }
                return self.run_actions(ctx, at, actions);
            }
            AddressResolution::Known | AddressResolution::Ndp(_) => return,
        };
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

    /// Handles the timer of a station's neighbor cache or ARP cache.
    pub(super) fn on_neighbor_timer(&mut self, ctx: &mut Context, at: StationId) {
        if !self.resolution.timer(at).is_some_and(|(_, timer)| timer.expire(ctx.now)) {
            return;
        }
        let actions = match &mut self.resolution {
            AddressResolution::ArpCache(caches) => caches[at.index()].0.on_timer(ctx.now),
            AddressResolution::Ndp(hosts) => hosts[at.index()].0.on_timer(ctx.now),
            AddressResolution::Known | AddressResolution::Arp(_) => return,
        };
        self.run_actions(ctx, at, actions);
    }

    fn run_actions(&mut self, ctx: &mut Context, at: StationId, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::Send(message) => {
                    let message = self.by_access_point(at, message);
                    self.send_message(ctx, at, message, TrafficClass::Other);
                }
                Action::Release(request) => self.mac.enqueue(ctx, at, request),
                Action::GiveUp(request) => self.give_up(ctx, at, request),
            }
        }
        self.plan_neighbor_timer(ctx, at);
    }

    /// What a station of an access point sends to all goes to the access point, which acknowledges it and sends it on
    /// (IEEE 802.11 §9.3.2.1).
    fn by_access_point(&self, at: StationId, message: Outgoing) -> Outgoing {
        match &self.routing {
            Routing::AccessPoints(points) if !points.is_access_point(at) => {
                Outgoing { to: message.to.or(Some(points.of(at))), ..message }
            }
            _ => message,
        }
    }

    /// Schedules the timer of a station's neighbor cache or ARP cache, if it has one.
    pub(super) fn plan_neighbor_timer(&mut self, ctx: &mut Context, at: StationId) {
        let Some((Some(next), timer)) = self.resolution.timer(at) else { return };
        if timer.advance(next) {
            ctx.schedule(next, Event::Radio { channel: self.id, event: RadioEvent::NeighborTimer { station: at } });
        }
    }
}
