//! Which kinds of network stand for nodes and links.

use super::extent::Extent;
use super::graph::{Shorthand, Topology, Wires, count};
use super::limits::MAX_FLOWS;
use super::{shared_buffer, simple};
use crate::scenario::{Network, Scenario, ScenarioError};

/// The shorthand that a network is; a graph is none.
fn shorthand(network: &mut Network) -> Option<&mut dyn Shorthand> {
    Some(match network {
        Network::Dumbbell(network) => network,
        Network::Star(network) => network,
        Network::Lan(network) => network,
        Network::ParkingLot(network) => &mut **network,
        Network::LeafSpine(network) => &mut **network,
        Network::FatTree(network) => &mut **network,
        Network::Access(network) => &mut **network,
        Network::Home(network) => &mut **network,
        Network::Multihomed(network) => &mut **network,
        Network::RandomWired(network) => network,
        Network::Adhoc(network) => network,
        Network::Infrastructure(network) => network,
        Network::WiredCumWireless(network) => &mut **network,
        Network::Constellation(network) => &mut **network,
        Network::Graph(_) => return None,
    })
}

/// Writes the defaults of its kind of network into a scenario, and returns how many flows it generates.
pub(super) fn complete(scenario: &mut Scenario) -> Result<u64, ScenarioError> {
    count("flow", scenario.flow.len() as u64, 0, MAX_FLOWS)?;
    refuse_lists(scenario)?;
    let Some(network) = shorthand(&mut scenario.network) else {
        simple::complete_graph(scenario)?;
        return Ok(0);
    };
    network.complete()?;
    count("network.flows", network.flows(), 0, MAX_FLOWS)
}

/// Only a graph lists its nodes, links and channels; an expanded constellation stays one and has its nodes beside it.
fn refuse_lists(scenario: &Scenario) -> Result<(), ScenarioError> {
    let wired = !scenario.link.is_empty() || !scenario.channel.is_empty();
    let may_list = match &scenario.network {
        Network::Graph(_) => true,
        Network::Constellation(_) => !wired,
        _ => false,
    };
    let lists = [
        ("node", !scenario.node.is_empty()),
        ("link", !scenario.link.is_empty()),
        ("channel", !scenario.channel.is_empty()),
    ];
    match lists.into_iter().find(|(_, used)| *used && !may_list) {
        Some((path, _)) => {
            Err(ScenarioError::new(path, "only network.kind = \"graph\" lists its nodes, links and channels"))
        }
        None => Ok(()),
    }
}

/// What the wires of a complete scenario's network consist of, if its pattern tells without being drawn.
pub(super) fn wires(scenario: &Scenario) -> Result<Option<Wires>, ScenarioError> {
    shorthand(&mut scenario.network.clone()).map_or(Ok(None), |network| network.wires())
}

/// Nodes, links and flow ends of a complete scenario's network.
pub(super) fn topology(scenario: &Scenario, seed: u64) -> Result<Topology, ScenarioError> {
    let mut network = scenario.network.clone();
    let Some(network) = shorthand(&mut network) else { return Ok(simple::listed_topology(scenario)) };
    if let Some(wires) = network.wires()? {
        Extent::wired(wires, network.flows(), scenario.network.routing()).check("network")?;
    }
    let mut topology = network.topology(seed)?;
    shared_buffer::give(&scenario.network, &mut topology.nodes);
    if let Network::Graph(graph) = &mut topology.network {
        graph.routing = graph.routing.take().or_else(|| scenario.network.routing().cloned());
    }
    if !scenario.node.is_empty() && topology.nodes != scenario.node {
        return Err(ScenarioError::new("node", "is not what this constellation has; leave it out"));
    }
    Ok(topology)
}
