//! The topology of a parking lot: routers in a row, flows over all links of it and over one each.

use super::graph::{FlowEnds, LinkDefaults, Topology, count, link, link_with_defaults, node};
use super::limits::{MAX_FLOWS, MAX_NODES, MAX_ROUTERS};
use crate::scenario::{ParkingLot, Role, ScenarioError};

const ACCESS: LinkDefaults = LinkDefaults { mbps: 1000, delay_us: 1000, queue_packets: 1000 };
const LINK: LinkDefaults = LinkDefaults { mbps: 10, delay_us: 10_000, queue_packets: 100 };

/// The network with nothing left to a default.
pub(super) fn with_defaults(p: &ParkingLot) -> Result<ParkingLot, ScenarioError> {
    let pairs = p.long.saturating_add(p.hops.saturating_mul(p.cross));
    Ok(ParkingLot {
        flows: p.flows.or(Some(pairs)),
        access: link_with_defaults(&p.access, "network.access", &ACCESS)?,
        link: link_with_defaults(&p.link, "network.link", &LINK)?,
        ..p.clone()
    })
}

/// Routers and the links between them, then the long pairs, then the cross pairs hop by hop.
pub(super) fn topology(p: &ParkingLot) -> Result<Topology, ScenarioError> {
    let hops = count("network.hops", p.hops, 1, MAX_ROUTERS - 1)?;
    let long = count("network.long", p.long, 0, MAX_NODES / 2)?;
    let cross = count("network.cross", p.cross, 0, MAX_NODES / 2)?;
    let pairs = count("network.cross", long + hops * cross, 1, (MAX_NODES - MAX_ROUTERS) / 2)?;
    let full = with_defaults(p)?;
    let flows = count("network.flows", full.flows.unwrap_or(pairs), 0, MAX_FLOWS)?;
    let mut topology = Topology::default();
    for r in 0..=hops {
        topology.nodes.push(node(format!("r{r}"), Role::Router, 1.0 + 2.0 * r as f64, 0.0));
        if r > 0 {
            topology.links.push(link(&format!("r{}", r - 1), &format!("r{r}"), &full.link));
        }
    }
    let mut ends = Vec::new();
    for i in 0..long {
        let row = (long - 1 - i) as f64 - (long - 1) as f64 / 2.0;
        let [from, to] = [format!("long_src{i}"), format!("long_dst{i}")];
        topology.links.push(link(&from, "r0", &full.access));
        topology.links.push(link(&format!("r{hops}"), &to, &full.access));
        topology.nodes.push(node(from.clone(), Role::Host, 0.0, row));
        topology.nodes.push(node(to.clone(), Role::Host, 2.0 + 2.0 * hops as f64, row));
        ends.push(FlowEnds::new(from, to));
    }
    for (hop, i) in (0..hops).flat_map(|hop| (0..cross).map(move |i| (hop, i))) {
        let [from, to] = [format!("cross{hop}_src{i}"), format!("cross{hop}_dst{i}")];
        topology.links.push(link(&from, &format!("r{hop}"), &full.access));
        topology.links.push(link(&format!("r{}", hop + 1), &to, &full.access));
        // Sources above their router, destinations below theirs: at a router between two links they do not cover each other.
        let (x, y) = (1.0 + 2.0 * hop as f64, 1.0 + i as f64);
        topology.nodes.push(node(from.clone(), Role::Host, x, y));
        topology.nodes.push(node(to.clone(), Role::Host, x + 2.0, -y));
        ends.push(FlowEnds::new(from, to));
    }
    topology.flow_ends = (0..flows).map(|i| ends[(i % pairs) as usize].clone()).collect();
    Ok(topology)
}
