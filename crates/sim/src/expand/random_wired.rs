//! The topology of a random connected network of routers.

use std::collections::BTreeSet;

use tcp::rng::Rng;

use super::graph::{FlowEnds, LinkDefaults, Topology, count, link, link_with_defaults, node};
use super::limits::{MAX_FLOWS, MAX_RANDOM_LINKS, MAX_ROUTERS};
use crate::scenario::{RandomWired, Role, ScenarioError};

const LINKS: LinkDefaults = LinkDefaults { mbps: 2, delay_us: 10_000, queue_packets: 50 };

/// The network with nothing left to a default.
pub(super) fn with_defaults(r: &RandomWired) -> Result<RandomWired, ScenarioError> {
    Ok(RandomWired { links: link_with_defaults(&r.links, "network.links", &LINKS)?, ..r.clone() })
}

/// A random tree, and random further links up to the mean degree.
pub(super) fn topology(r: &RandomWired, seed: u64) -> Result<Topology, ScenarioError> {
    let nodes = count("network.nodes", r.nodes, 2, MAX_ROUTERS)?;
    let flows = count("network.flows", r.flows, 0, MAX_FLOWS)?;
    let full = with_defaults(r)?;
    let (min, max) = (2.0 * (nodes - 1) as f64 / nodes as f64, (nodes - 1) as f64);
    if !(min..=max).contains(&r.degree) {
        let message = format!("{} is not a mean degree from {min:.3} (a tree) to {max} (every pair)", r.degree);
        return Err(ScenarioError::new("network.degree", message));
    }
    let wanted = r.degree * nodes as f64 / 2.0;
    if wanted > MAX_RANDOM_LINKS {
        let message = format!("{} with {nodes} nodes is {wanted:.0} links, more than {MAX_RANDOM_LINKS}", r.degree);
        return Err(ScenarioError::new("network.degree", message));
    }
    let mut rng = Rng::stream(seed, "topology");
    let mut edges: Vec<(u64, u64)> = (1..nodes).map(|i| (rng.below(i), i)).collect();
    let mut known: BTreeSet<(u64, u64)> = edges.iter().copied().collect();
    while edges.len() < wanted as usize {
        let (a, b) = (rng.below(nodes), rng.below(nodes));
        let edge = (a.min(b), a.max(b));
        if a != b && known.insert(edge) {
            edges.push(edge);
        }
    }
    let mut rng = Rng::stream(seed, "placement");
    let mut topology = Topology::default();
    for i in 0..nodes {
        topology.nodes.push(node(format!("n{i}"), Role::Router, rng.uniform(), rng.uniform()));
    }
    topology.links = edges.iter().map(|(a, b)| link(&format!("n{a}"), &format!("n{b}"), &full.links)).collect();
    for i in 0..flows {
        let mut rng = Rng::stream(seed, &format!("traffic/{i}/ends"));
        let from = rng.below(nodes);
        let to = (from + 1 + rng.below(nodes - 1)) % nodes;
        topology.flow_ends.push(FlowEnds::new(format!("n{from}"), format!("n{to}")));
    }
    Ok(topology)
}
