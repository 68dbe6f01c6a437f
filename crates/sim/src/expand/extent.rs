//! How large a world is, before anything is built for each of its flows.

use super::check_app::connections_of;
use super::dispatch;
use super::graph::inner_nodes;
use crate::scenario::{ChannelDef, LinkDef, PathRouting, RoutingDef, Scenario, ScenarioError, SpreadBy};

/// Numbers of what a world consists of.
#[derive(Debug)]
pub(crate) struct Extent {
    pub(crate) nodes: u64,
    pub(crate) flows: u64,
    pub(crate) links: u64,
    /// Nodes with two links or more. A leaf knows its only link; each of these has a table of all of them.
    pub(crate) inner_nodes: u64,
    /// Stations of all channels.
    pub(crate) stations: u64,
    /// Entries of their routing tables: of each station for each other, where a protocol keeps them.
    pub(crate) station_routes: u64,
    /// Inner nodes have a table of equal paths besides.
    pub(crate) equal_paths: bool,
    /// They remember flowlets.
    pub(crate) flowlets: bool,
}

impl Extent {
    /// The extent of the world that `scenario` will be.
    pub(crate) fn planned(scenario: &Scenario, seed: u64) -> Result<Extent, ScenarioError> {
        let mut network = scenario.without_flows();
        dispatch::complete(&mut network)?;
        let topology = dispatch::topology(&network, seed)?;
        let nodes = topology.nodes.len();
        let generated =
            topology.flow_ends.len() as u64 * connections_of(&scenario.traffic.app, nodes, scenario.duration);
        let flows = connections(scenario, nodes) + generated;
        let routing = topology.network.routing();
        Ok(Extent::new(nodes, flows, &topology.links, &topology.channels, routing))
    }

    /// The extent of an expanded world.
    pub(crate) fn of(graph: &Scenario) -> Extent {
        let (nodes, routing) = (graph.node.len(), graph.network.routing());
        Extent::new(nodes, connections(graph, nodes), &graph.link, &graph.channel, routing)
    }

    fn new(
        nodes: usize,
        flows: u64,
        links: &[LinkDef],
        channels: &[ChannelDef],
        routing: Option<&PathRouting>,
    ) -> Extent {
        let ecmp = match routing {
            Some(PathRouting::Ecmp(ecmp)) => Some(ecmp),
            _ => None,
        };
        Extent {
            equal_paths: ecmp.is_some(),
            flowlets: ecmp.is_some_and(|ecmp| matches!(ecmp.by, SpreadBy::Flowlet(_))),
            nodes: nodes as u64,
            flows,
            links: links.len() as u64,
            inner_nodes: inner_nodes(links),
            stations: channels.iter().map(|channel| channel.stations.len() as u64).sum(),
            station_routes: channels.iter().map(station_routes).sum(),
        }
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
fn connections(scenario: &Scenario, nodes: usize) -> u64 {
    scenario
        .flow
        .iter()
        .map(|flow| flow.copies().saturating_mul(connections_of(&flow.app, nodes, scenario.duration)))
        .fold(0, u64::saturating_add)
}
