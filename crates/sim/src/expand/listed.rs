//! The topology of a graph: nodes, links and channels one by one.

use super::graph::{LinkDefaults, Topology, count, link_with_defaults};
use super::limits::MAX_NODES;
use super::{mobility, stations};
use crate::scenario::{LinkDef, Scenario, ScenarioError, ServiceDef};

/// A link without delay, unless given; a rate must be.
const LINK: LinkDefaults = LinkDefaults { mbps: 1, delay_us: 0, queue_packets: 100 };

/// Writes what is left to a default into a graph.
pub(super) fn fill(scenario: &mut Scenario) -> Result<(), ScenarioError> {
    scenario.node = mobility::nodes(scenario)?;
    scenario.link = links(scenario)?;
    scenario.channel = stations::channels(scenario)?;
    Ok(())
}

pub(super) fn topology(scenario: &Scenario) -> Result<Topology, ScenarioError> {
    count("node", scenario.node.len() as u64, 2, 3 * MAX_NODES)?;
    let (links, channels) = (links(scenario)?, stations::channels(scenario)?);
    let network = scenario.network.clone();
    Ok(Topology { network, nodes: mobility::nodes(scenario)?, links, channels, ..Topology::default() })
}

fn links(scenario: &Scenario) -> Result<Vec<LinkDef>, ScenarioError> {
    let with_defaults = |(index, def): (usize, &LinkDef)| {
        let path = format!("link[{index}]");
        let full = link_with_defaults(&def.options, &path, &LINK)?;
        let served = def.options.service.as_deref().and_then(ServiceDef::own_rate);
        if def.options.rate.or(served).is_none() {
            return Err(ScenarioError::new(format!("{path}.rate"), "missing key `rate`, such as \"10Mbps\""));
        }
        Ok(LinkDef::new(&def.from, &def.to, full))
    };
    scenario.link.iter().enumerate().map(with_defaults).collect()
}
