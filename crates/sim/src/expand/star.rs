//! The topology of a star: sources and sinks around one gateway.

use super::graph::{FlowEnds, LinkDefaults, Topology, count, link, link_with_defaults, node};
use super::limits::{MAX_FLOWS, MAX_NODES};
use crate::scenario::{Role, ScenarioError, Star};

const SOURCE: LinkDefaults = LinkDefaults { mbps: 2, delay_us: 10, queue_packets: 100 };
const SINK: LinkDefaults = LinkDefaults { mbps: 10, delay_us: 45_000, queue_packets: 100 };

/// The network with nothing left to a default.
pub(super) fn with_defaults(s: &Star) -> Result<Star, ScenarioError> {
    Ok(Star {
        source: link_with_defaults(&s.source, "network.source", &SOURCE)?,
        sink: link_with_defaults(&s.sink, "network.sink", &SINK)?,
        ..s.clone()
    })
}

/// Sources, gateway, sinks.
pub(super) fn topology(s: &Star) -> Result<Topology, ScenarioError> {
    let nodes = count("network.nodes", s.nodes, 2, MAX_NODES)?;
    let flows = count("network.flows", s.flows, 0, MAX_FLOWS)?;
    let full = with_defaults(s)?;
    let sources = nodes / 2;
    let sinks = nodes - sources;
    let mut topology = Topology::default();
    topology.nodes.push(node("gateway".into(), Role::Gateway, 1.0, (sinks - 1) as f64 / 2.0));
    for i in 0..sources {
        let name = format!("src{i}");
        topology.links.push(link(&name, "gateway", &full.source));
        topology.nodes.push(node(name, Role::Host, 0.0, i as f64));
    }
    for i in 0..sinks {
        let name = format!("sink{i}");
        topology.links.push(link("gateway", &name, &full.sink));
        topology.nodes.push(node(name, Role::Host, 2.0, i as f64));
    }
    topology.flow_ends =
        (0..flows).map(|i| FlowEnds::new(format!("src{}", i % sources), format!("sink{}", i % sinks))).collect();
    Ok(topology)
}
