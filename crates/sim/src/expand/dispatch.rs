//! Which file expands which kind of network.

use super::graph::{Topology, count};
use super::limits::MAX_FLOWS;
use super::{
    access, adhoc, constellation, datacenter, dumbbell, infrastructure, lan, listed, parking_lot, random_wired, star,
    wired_cum_wireless,
};
use crate::scenario::{Network, Scenario, ScenarioError};

/// Nodes, links and flow ends of a scenario's network.
pub(super) fn topology(scenario: &Scenario, seed: u64) -> Result<Topology, ScenarioError> {
    let lists_nodes = !scenario.node.is_empty();
    let lists_others = !scenario.link.is_empty() || !scenario.channel.is_empty();
    let may_list = |topology: Option<&Topology>| match &scenario.network {
        Network::Graph(_) => true,
        // An expanded constellation stays one and has its nodes beside it.
        Network::Constellation(_) => !lists_others && topology.is_none_or(|topology| topology.nodes == scenario.node),
        _ => false,
    };
    let lists = [("node", lists_nodes), ("link", !scenario.link.is_empty()), ("channel", !scenario.channel.is_empty())];
    for (path, used) in lists {
        if used && !may_list(None) {
            return Err(ScenarioError::new(path, "only network.kind = \"graph\" lists its nodes, links and channels"));
        }
    }
    count("flow", scenario.flow.len() as u64, 0, MAX_FLOWS)?;
    let mut topology = match &scenario.network {
        Network::Dumbbell(network) => dumbbell::topology(network),
        Network::Star(network) => star::topology(network),
        Network::Lan(network) => lan::topology(network),
        Network::ParkingLot(network) => parking_lot::topology(network),
        Network::LeafSpine(network) => datacenter::leaf_spine(network),
        Network::FatTree(network) => datacenter::fat_tree(network),
        Network::Access(network) => access::topology(network),
        Network::Home(network) => access::home(network),
        Network::Multihomed(network) => access::multihomed(network),
        Network::RandomWired(network) => random_wired::topology(network, seed),
        Network::Adhoc(network) => adhoc::topology(network, seed),
        Network::Infrastructure(network) => infrastructure::topology(network, seed),
        Network::WiredCumWireless(network) => wired_cum_wireless::topology(network, seed),
        Network::Constellation(network) => constellation::topology(network, seed),
        Network::Graph(_) => listed::topology(scenario),
    }?;
    if let Network::Graph(graph) = &mut topology.network {
        graph.routing = graph.routing.take().or_else(|| scenario.network.routing().cloned());
    }
    if lists_nodes && !may_list(Some(&topology)) {
        return Err(ScenarioError::new("node", "is not what this constellation has; leave it out"));
    }
    Ok(topology)
}

/// Writes the defaults of its kind of network into a scenario.
pub(super) fn fill(scenario: &mut Scenario) -> Result<(), ScenarioError> {
    match &mut scenario.network {
        Network::Dumbbell(network) => *network = dumbbell::with_defaults(network)?,
        Network::Star(network) => *network = star::with_defaults(network)?,
        Network::Lan(network) => *network = lan::with_defaults(network)?,
        Network::ParkingLot(network) => **network = parking_lot::with_defaults(network)?,
        Network::LeafSpine(network) => **network = datacenter::leaf_spine_with_defaults(network)?,
        Network::FatTree(network) => **network = datacenter::fat_tree_with_defaults(network)?,
        Network::Access(network) => **network = access::with_defaults(network)?,
        Network::Home(network) => **network = access::home_with_defaults(network)?,
        Network::Multihomed(network) => **network = access::multihomed_with_defaults(network)?,
        Network::RandomWired(network) => *network = random_wired::with_defaults(network)?,
        Network::Adhoc(network) => *network = adhoc::with_defaults(network)?,
        Network::Infrastructure(network) => *network = infrastructure::with_defaults(network)?,
        Network::WiredCumWireless(network) => **network = wired_cum_wireless::with_defaults(network)?,
        Network::Constellation(network) => **network = constellation::with_defaults(network)?,
        Network::Graph(_) => listed::fill(scenario)?,
    }
    Ok(())
}
