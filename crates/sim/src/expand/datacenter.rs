//! The topologies of data centres: leaves and spines, and fat trees. Their switches spread flows over equal paths.

use super::graph::{
    FlowEnds, LinkDefaults, Shorthand, Topology, Wires, count, link, link_of_ports, link_with_defaults, node,
};
use super::limits::MAX_WIRED_NODES;
use crate::scenario::{EcmpDef, FabricEnds, FatTree, LeafSpine, LinkDef, PathRouting, Role, ScenarioError};
use tcp::rng::Rng;

const HOST: LinkDefaults = LinkDefaults { mbps: 10_000, delay_us: 1, queue_packets: 100 };
const FABRIC: LinkDefaults = LinkDefaults { mbps: 40_000, delay_us: 1, queue_packets: 100 };
/// Most ports of a switch.
const MAX_PORTS: u64 = 160;
/// Most leaves, and most spines.
const MAX_TIERS: [u64; 2] = [200, 100];

impl Shorthand for LeafSpine {
    fn flows(&self) -> u64 {
        self.flows
    }

    fn complete(&mut self) -> Result<(), ScenarioError> {
        let shared = self.shared_buffer.is_some();
        self.host_link = link_of_ports(&self.host_link, "network.host_link", &HOST, [false, shared])?;
        self.fabric = link_of_ports(&self.fabric, "network.fabric", &FABRIC, [shared; 2])?;
        self.routing.get_or_insert(PathRouting::Ecmp(EcmpDef::default()));
        Ok(())
    }

    fn wires(&self) -> Result<Option<Wires>, ScenarioError> {
        let leaves = count("network.leaves", self.leaves, 1, MAX_TIERS[0])?;
        let spines = count("network.spines", self.spines, 1, MAX_TIERS[1])?;
        let hosts = count("network.hosts", self.hosts, 1, MAX_WIRED_NODES)?;
        let all = count("network.hosts", leaves * hosts, 2, MAX_WIRED_NODES)?;
        let switches = leaves + spines;
        Ok(Some(Wires { nodes: all + switches, links: all + leaves * spines, inner_nodes: switches }))
    }

    /// Leaves with their hosts, then spines.
    fn topology(&self, seed: u64) -> Result<Topology, ScenarioError> {
        let LeafSpine { leaves, spines, hosts, .. } = *self;
        let all = leaves * hosts;
        let mut topology = Topology::default();
        for leaf in 0..leaves {
            let name = format!("leaf{leaf}");
            for host in leaf * hosts..(leaf + 1) * hosts {
                topology.links.push(link(&format!("h{host}"), &name, &self.host_link));
                topology.nodes.push(node(format!("h{host}"), Role::Host, host as f64 + 0.5, 0.0));
            }
            topology.links.extend((0..spines).map(|spine| link(&name, &format!("spine{spine}"), &self.fabric)));
            topology.nodes.push(node(name, Role::Switch, (leaf as f64 + 0.5) * hosts as f64, tier(all, 1)));
        }
        let apart = all as f64 / spines as f64;
        for spine in 0..spines {
            topology.nodes.push(node(
                format!("spine{spine}"),
                Role::Switch,
                (spine as f64 + 0.5) * apart,
                tier(all, 2),
            ));
        }
        differ(&mut topology.links, &self.links)?;
        topology.flow_ends = ends(all, self.flows, self.ends, seed);
        Ok(topology)
    }
}

impl Shorthand for FatTree {
    fn flows(&self) -> u64 {
        self.flows
    }

    fn complete(&mut self) -> Result<(), ScenarioError> {
        let shared = self.shared_buffer.is_some();
        self.link = link_of_ports(&self.link, "network.link", &HOST, [shared; 2])?;
        self.routing.get_or_insert(PathRouting::Ecmp(EcmpDef::default()));
        Ok(())
    }

    fn wires(&self) -> Result<Option<Wires>, ScenarioError> {
        if !(2..=MAX_PORTS).contains(&self.k) || !self.k.is_multiple_of(2) {
            let message = format!("{} is not an even number of ports from 2 to {MAX_PORTS}", self.k);
            return Err(ScenarioError::new("network.k", message));
        }
        let half = self.k / 2;
        let (hosts, switches) = (self.k * half * half, 5 * half * half);
        Ok(Some(Wires { nodes: hosts + switches, links: 3 * hosts, inner_nodes: switches }))
    }

    /// Pod by pod edge switches with their hosts and aggregation switches, then cores. Aggregation switch i of each pod joins the
    /// i-th group of k/2 cores.
    fn topology(&self, seed: u64) -> Result<Topology, ScenarioError> {
        let half = self.k / 2;
        let all = self.k * half * half;
        let mut topology = Topology::default();
        for (pod, i) in (0..self.k).flat_map(|pod| (0..half).map(move |i| (pod, i))) {
            let (edge, agg) = (format!("edge{pod}_{i}"), format!("agg{pod}_{i}"));
            let first = (pod * half + i) * half;
            for host in first..first + half {
                topology.links.push(link(&format!("h{host}"), &edge, &self.link));
                topology.nodes.push(node(format!("h{host}"), Role::Host, host as f64 + 0.5, 0.0));
            }
            topology.links.extend((0..half).map(|to| link(&edge, &format!("agg{pod}_{to}"), &self.link)));
            topology.links.extend((0..half).map(|core| link(&agg, &format!("core{}", i * half + core), &self.link)));
            let x = first as f64 + 0.5 * half as f64;
            topology.nodes.push(node(edge, Role::Switch, x, tier(all, 1)));
            topology.nodes.push(node(agg, Role::Switch, x, tier(all, 2)));
        }
        let cores = half * half;
        for core in 0..cores {
            let x = (core as f64 + 0.5) * all as f64 / cores as f64;
            topology.nodes.push(node(format!("core{core}"), Role::Switch, x, tier(all, 3)));
        }
        differ(&mut topology.links, &self.links)?;
        topology.flow_ends = ends(all, self.flows, self.ends, seed);
        Ok(topology)
    }
}

/// The height of a tier in a picture that is three times as wide as high.
fn tier(hosts: u64, number: u64) -> f64 {
    number as f64 * hosts as f64 / 9.0
}

/// Gives some of the links properties of their own.
fn differ(links: &mut [LinkDef], own: &[LinkDef]) -> Result<(), ScenarioError> {
    for (i, def) in own.iter().enumerate() {
        let path = format!("network.links[{i}]");
        let Some(link) = links.iter_mut().find(|link| (&link.from, &link.to) == (&def.from, &def.to)) else {
            let message = format!("there is no link from {:?} to {:?}", def.from, def.to);
            let hint = match links.iter().find(|link| (&link.to, &link.from) == (&def.from, &def.to)) {
                Some(link) => format!("its forward direction is from {:?} to {:?}", link.from, link.to),
                None => {
                    let some: Vec<_> =
                        links.iter().rev().take(2).map(|link| format!("{} to {}", link.from, link.to)).collect();
                    format!("there is {}, and others", some.join(", "))
                }
            };
            return Err(ScenarioError::new(path, message).with_hint(hint));
        };
        link.options = link_with_defaults(&def.options.over(&link.options), &path, &HOST)?;
    }
    Ok(())
}

/// Flows between hosts half of all apart, which is in different pods, or on different leaves if there are several; or by permutations
/// without a fixed point (Sattolo 1986).
fn ends(hosts: u64, flows: u64, ends: FabricEnds, seed: u64) -> Vec<FlowEnds> {
    let mut rng = Rng::stream(seed, "topology/ends");
    let mut to: Vec<u64> = (0..hosts).map(|i| (i + hosts / 2) % hosts).collect();
    let flow_of = |i: u64| {
        if ends == FabricEnds::Permutation && i.is_multiple_of(hosts) {
            to = (0..hosts).collect();
            (1..hosts as usize).rev().for_each(|last| to.swap(last, rng.below(last as u64) as usize));
        }
        FlowEnds::new(format!("h{}", i % hosts), format!("h{}", to[(i % hosts) as usize]))
    };
    (0..flows).map(flow_of).collect()
}
