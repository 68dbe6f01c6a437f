//! The topology of a LAN: routers in a row, switches on each router, PCs on each switch.

use super::graph::{FlowEnds, LinkDefaults, Topology, count, link, link_with_defaults, node};
use super::limits::{MAX_FLOWS, MAX_NODES, MAX_ROUTERS};
use crate::scenario::{Lan, Role, ScenarioError};

const ACCESS: LinkDefaults = LinkDefaults { mbps: 30, delay_us: 5, queue_packets: 100 };
const CORE: LinkDefaults = LinkDefaults { mbps: 100, delay_us: 5, queue_packets: 100 };

/// The network with nothing left to a default.
pub(super) fn with_defaults(l: &Lan) -> Result<Lan, ScenarioError> {
    Ok(Lan {
        access: link_with_defaults(&l.access, "network.access", &ACCESS)?,
        core: link_with_defaults(&l.core, "network.core", &CORE)?,
        ..l.clone()
    })
}

/// Routers, then switches, then PCs.
pub(super) fn topology(l: &Lan) -> Result<Topology, ScenarioError> {
    let routers = count("network.routers", l.routers, 1, MAX_ROUTERS)?;
    let per_router = count("network.switches_per_router", l.switches_per_router, 1, MAX_ROUTERS)?;
    let per_switch = count("network.pcs_per_switch", l.pcs_per_switch, 1, MAX_NODES)?;
    let flows = count("network.flows", l.flows, 0, MAX_FLOWS)?;
    let switches = count("network.switches_per_router", routers * per_router, 1, MAX_ROUTERS)?;
    let pcs = count("network.pcs_per_switch", switches.saturating_mul(per_switch), 2, MAX_NODES)?;
    let full = with_defaults(l)?;
    let mut topology = Topology::default();
    let width = (per_router * per_switch) as f64;
    for r in 0..routers {
        topology.nodes.push(node(format!("r{r}"), Role::Router, (r as f64 + 0.5) * width, 2.0));
        if r > 0 {
            topology.links.push(link(&format!("r{}", r - 1), &format!("r{r}"), &full.core));
        }
    }
    for s in 0..switches {
        let name = format!("sw{s}");
        topology.links.push(link(&name, &format!("r{}", s / per_router), &full.access));
        topology.nodes.push(node(name, Role::Switch, (s as f64 + 0.5) * per_switch as f64, 1.0));
    }
    for p in 0..pcs {
        let name = format!("pc{p}");
        topology.links.push(link(&name, &format!("sw{}", p / per_switch), &full.access));
        topology.nodes.push(node(name, Role::Host, p as f64 + 0.5, 0.0));
    }
    let half = pcs / 2;
    topology.flow_ends =
        (0..flows).map(|i| FlowEnds::new(format!("pc{}", i % half), format!("pc{}", half + i % half))).collect();
    Ok(topology)
}
