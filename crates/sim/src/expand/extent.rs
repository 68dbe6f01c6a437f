//! How large a world is, before anything is built for each of its flows.

use super::dispatch;
use crate::scenario::{ChannelDef, LinkDef, Scenario, ScenarioError};

/// Numbers of what a world consists of.
#[derive(Debug)]
pub(crate) struct Extent {
    pub(crate) nodes: u64,
    pub(crate) flows: u64,
    /// Names of the two ends of each link.
    pub(crate) link_ends: Vec<[String; 2]>,
    /// Stations of each channel.
    pub(crate) stations: Vec<u64>,
}

impl Extent {
    /// The extent of the world that `scenario` will be.
    pub(crate) fn planned(scenario: &Scenario, seed: u64) -> Result<Extent, ScenarioError> {
        let topology = dispatch::topology(scenario, seed)?;
        let flows = scenario.flow.len() + topology.flow_ends.len();
        Ok(Extent::new(topology.nodes.len(), flows, &topology.links, &topology.channels))
    }

    /// The extent of an expanded world.
    pub(crate) fn of(graph: &Scenario) -> Extent {
        Extent::new(graph.node.len(), graph.flow.len(), &graph.link, &graph.channel)
    }

    fn new(nodes: usize, flows: usize, links: &[LinkDef], channels: &[ChannelDef]) -> Extent {
        Extent {
            nodes: nodes as u64,
            flows: flows as u64,
            link_ends: links.iter().map(|link| [link.from.clone(), link.to.clone()]).collect(),
            stations: channels.iter().map(|channel| channel.stations.len() as u64).collect(),
        }
    }
}
