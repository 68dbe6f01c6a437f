//! The topology of a dumbbell: pairs of hosts that share one link.

use super::graph::{FlowEnds, LinkDefaults, Topology, count, link, link_with_defaults, node};
use super::limits::{MAX_FLOWS, MAX_NODES};
use crate::scenario::{Dumbbell, Role, ScenarioError};

const ACCESS: LinkDefaults = LinkDefaults { mbps: 1000, delay_us: 1000, queue_packets: 1000 };
const BOTTLENECK: LinkDefaults = LinkDefaults { mbps: 10, delay_us: 10_000, queue_packets: 100 };

/// The network with nothing left to a default.
pub(super) fn with_defaults(d: &Dumbbell) -> Result<Dumbbell, ScenarioError> {
    Ok(Dumbbell {
        access: link_with_defaults(&d.access, "network.access", &ACCESS)?,
        bottleneck: link_with_defaults(&d.bottleneck, "network.bottleneck", &BOTTLENECK)?,
        ..d.clone()
    })
}

/// The shared link comes first, so that a further pair shifts no index.
pub(super) fn topology(d: &Dumbbell) -> Result<Topology, ScenarioError> {
    let pairs = count("network.pairs", d.pairs, 1, MAX_NODES / 2)?;
    let flows = count("network.flows", d.flows, 0, MAX_FLOWS)?;
    let full = with_defaults(d)?;
    let mut topology = Topology::default();
    let middle = (pairs - 1) as f64 / 2.0;
    topology.nodes = vec![node("r0".into(), Role::Router, 1.0, middle), node("r1".into(), Role::Router, 2.0, middle)];
    topology.links = vec![link("r0", "r1", &full.bottleneck)];
    for i in 0..pairs {
        let (left, right) = (format!("left{i}"), format!("right{i}"));
        topology.links.push(link(&left, "r0", &full.access));
        topology.links.push(link("r1", &right, &full.access));
        topology.nodes.push(node(left, Role::Host, 0.0, i as f64));
        topology.nodes.push(node(right, Role::Host, 3.0, i as f64));
    }
    topology.flow_ends =
        (0..flows).map(|i| FlowEnds::new(format!("left{}", i % pairs), format!("right{}", i % pairs))).collect();
    Ok(topology)
}
