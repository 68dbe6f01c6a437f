//! Nodes, links and routes: carries a packet from its source to its destination.

use tcp::units::{Span, Time};

use crate::core::Core;
use crate::event::{LinkId, NodeId};
use crate::link::{Link, LinkChange};
use crate::metrics::NodeMetrics;
use crate::packet::{DropReason, Packet, PacketId};
use crate::routing::{Edge, Routes};

/// The network layer.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) links: Vec<Link>,
    pub(crate) nodes: Vec<NodeMetrics>,
    routes: Routes,
}

impl Network {
    pub(crate) fn new(nodes: usize, links: Vec<Link>) -> Network {
        let mut network = Network { links, nodes: vec![NodeMetrics::default(); nodes], routes: Routes::default() };
        network.find_routes();
        network
    }

    /// A network that is told its routes.
    pub(crate) fn routed(nodes: usize, links: Vec<Link>, routes: Routes) -> Network {
        Network { links, nodes: vec![NodeMetrics::default(); nodes], routes }
    }

    /// Packets take other ways from now on.
    pub(crate) fn reroute(&mut self, routes: Routes) {
        self.routes = routes;
    }

    /// Propagation delay of the way a packet would take now.
    pub(crate) fn path_delay(&self, now: Time, from: NodeId, to: NodeId) -> Option<Span> {
        let (mut here, mut delay, mut links) = (from, Span::ZERO, 0);
        while here != to {
            let link = &self.links[self.routes.next(here, to)?.index()];
            links += 1;
            if !link.up || links > self.nodes.len() {
                return None;
            }
            delay += link.delay(now);
            here = link.to;
        }
        Some(delay)
    }

    fn edges(&self) -> Vec<Edge> {
        let edge = |(i, l): (usize, &Link)| Edge { link: LinkId(i as u32), from: l.from, to: l.to, up: l.up };
        self.links.iter().enumerate().map(edge).collect()
    }

    fn find_routes(&mut self) {
        self.routes = Routes::shortest(self.nodes.len(), &self.edges());
    }

    /// The links a packet would take now, or `None`.
    pub(crate) fn path(&self, from: NodeId, to: NodeId) -> Option<Vec<LinkId>> {
        self.routes.path(&self.edges(), from, to)
    }

    /// A packet leaves a transport at `node`.
    pub(crate) fn originate(&mut self, core: &mut Core, node: NodeId, packet: Packet) {
        self.nodes[node.index()].sent += 1;
        let id = core.admit(packet);
        self.send(core, node, id);
    }

    /// Sends a packet on from `node`.
    pub(crate) fn send(&mut self, core: &mut Core, node: NodeId, id: PacketId) {
        match self.routes.next(node, core.packets.get(id).destination) {
            Some(link) => self.links[link.index()].send(core, id),
            None => {
                self.nodes[node.index()].no_route += 1;
                core.drop(id, DropReason::NoRoute, None);
            }
        }
    }

    /// A packet reaches the far end of a link; gives it if it is home.
    pub(crate) fn on_arrive(&mut self, core: &mut Core, link: LinkId, id: PacketId) -> Option<Packet> {
        let link = &mut self.links[link.index()];
        if !link.on_arrive(core, id) {
            return None;
        }
        let node = link.to;
        if core.packets.get(id).destination == node {
            self.nodes[node.index()].received += 1;
            return Some(core.deliver(id));
        }
        self.nodes[node.index()].forwarded += 1;
        self.send(core, node, id);
        None
    }

    /// Carries out a foreseen change of a link; routes follow at once.
    pub(crate) fn on_change(&mut self, core: &mut Core, link: LinkId, change: LinkChange) {
        self.links[link.index()].on_change(core, change);
        if matches!(change, LinkChange::Up | LinkChange::Down) {
            self.find_routes();
        }
    }
}
