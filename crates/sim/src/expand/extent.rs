//! How large a world is, before anything is built for each of its flows, and the memory that it takes.
//!
//! The constants were measured as growth of the resident set on worlds of 100,000 flows, nodes or links, from the reading of the
//! scenario to the text of the summary (`tests/memory.rs` measures again).

use super::check_app::connections_of;
use super::graph::{Wires, inner_nodes};
use super::limits::{largest_world, size};
use crate::scenario::{ChannelDef, LinkDef, PathRouting, RoutingDef, Scenario, ScenarioError, SpreadBy};

/// A flow with both its endpoints before they have a sender, and its part of the summary.
pub(crate) const FLOW_BYTES: u64 = 4_300;
/// What a flow takes besides if the scenario lists it.
const LISTED_FLOW_BYTES: u64 = 2_200;
/// A node with its place in the summary.
const NODE_BYTES: u64 = 800;
/// Both directions of a link, with their place in the summary.
const LINK_BYTES: u64 = 2_700;
/// A station: its MAC and queue.
const STATION_BYTES: u64 = 1_100;
/// An entry of a routing table of a station for each other.
const ROUTE_BYTES: u64 = 8;
/// An entry of that of a router for each other.
const PORT_BYTES: u64 = 2;
/// What equal paths add to such an entry, and the flowlets that a router remembers.
const EQUAL_PATHS_BYTES: u64 = 2;
const FLOWLETS_BYTES: u64 = 100_000;

/// Numbers of what a world consists of.
#[derive(Debug, Default)]
pub(crate) struct Extent {
    nodes: u64,
    flows: u64,
    links: u64,
    /// Nodes with two links or more. A leaf knows its only link; each of these has a table of all of them.
    inner_nodes: u64,
    /// Stations of all channels.
    stations: u64,
    /// Entries of their routing tables: of each station for each other, where a protocol keeps them.
    station_routes: u64,
    /// Inner nodes have a table of equal paths besides.
    equal_paths: bool,
    /// They remember flowlets.
    flowlets: bool,
}

impl Extent {
    /// The extent of an expanded world.
    pub(crate) fn of(graph: &Scenario) -> Extent {
        let (nodes, routing) = (graph.node.len(), graph.network.routing());
        Extent::new(nodes, connections(graph, nodes), &graph.link, &graph.channel, routing)
    }

    pub(super) fn new(
        nodes: usize,
        flows: u64,
        links: &[LinkDef],
        channels: &[ChannelDef],
        routing: Option<&PathRouting>,
    ) -> Extent {
        let wires = Wires { nodes: nodes as u64, links: links.len() as u64, inner_nodes: inner_nodes(links) };
        Extent {
            stations: channels.iter().map(|channel| channel.stations.len() as u64).sum(),
            station_routes: channels.iter().map(station_routes).sum(),
            ..Extent::wired(wires, flows, routing)
        }
    }

    /// The extent of a world of wires alone.
    pub(super) fn wired(wires: Wires, flows: u64, routing: Option<&PathRouting>) -> Extent {
        let Wires { nodes, links, inner_nodes } = wires;
        let ecmp = match routing {
            Some(PathRouting::Ecmp(ecmp)) => Some(ecmp),
            _ => None,
        };
        let flowlets = ecmp.is_some_and(|ecmp| matches!(ecmp.by, SpreadBy::Flowlet(_)));
        Extent { nodes, flows, links, inner_nodes, equal_paths: ecmp.is_some(), flowlets, ..Extent::default() }
    }

    /// Memory that the world takes before anything moves in it, with what its summary will take; so many flows are listed.
    pub(crate) fn bytes(&self, listed: u64) -> u64 {
        let radios = self.stations * STATION_BYTES + self.station_routes * ROUTE_BYTES;
        let route = PORT_BYTES + u64::from(self.equal_paths) * EQUAL_PATHS_BYTES;
        radios
            + u64::from(self.flowlets) * self.inner_nodes * FLOWLETS_BYTES
            + self.flows.saturating_mul(FLOW_BYTES)
            + listed.saturating_mul(LISTED_FLOW_BYTES)
            + self.nodes * NODE_BYTES
            + self.inner_nodes * self.inner_nodes * route
            + self.links * LINK_BYTES
    }

    /// Refuses a world that takes more than is allowed here, before it is built.
    pub(super) fn check(&self, path: &str) -> Result<(), ScenarioError> {
        let (needed, most) = (self.bytes(0), largest_world());
        if needed <= most {
            return Ok(());
        }
        let Extent { nodes, links, .. } = self;
        let message = format!("{nodes} nodes with {links} links need {}, more than {}", size(needed), size(most));
        Err(ScenarioError::new(path, message)
            .with_hint("worlds up to 4 GB, and up to the memory of this machine, are built"))
    }
}

/// Entries of the routing tables of a channel's stations.
fn station_routes(channel: &ChannelDef) -> u64 {
    match channel.routing {
        RoutingDef::Dsdv(_) | RoutingDef::Aodv(_) | RoutingDef::Dsr(_) => (channel.stations.len() as u64).pow(2),
        RoutingDef::Shortest(_) | RoutingDef::AccessPoints(_) => 0,
    }
}

/// Connections of the listed flows.
pub(super) fn connections(scenario: &Scenario, nodes: usize) -> u64 {
    scenario
        .flow
        .iter()
        .map(|flow| flow.copies().saturating_mul(connections_of(&flow.app, nodes, scenario.duration)))
        .fold(0, u64::saturating_add)
}
