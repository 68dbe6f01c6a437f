//! Networks of wires alone whose topology is a page: dumbbell, star, LAN, parking lot, a random network of routers, and a graph
//! whose nodes and links are listed.

use std::collections::BTreeSet;

use tcp::rng::Rng;

use super::extent::Extent;
use super::graph::{
    FlowEnds, LinkDefaults, Shorthand, Topology, Wires, count, inner_nodes, link, link_of_ports, link_with_defaults,
    node,
};
use super::limits::{MAX_FORWARDING, MAX_NODES, MAX_RANDOM_LINKS, MAX_ROUTERS, MAX_WIRED_NODES};
use super::{mobility, stations};
use crate::scenario::{
    Dumbbell, Lan, LinkDef, LinkOptions, NodeDef, ParkingLot, RandomWired, Role, Scenario, ScenarioError, ServiceDef,
    Star,
};

/// Writes these defaults into a link of the network; `name` is its key.
fn fill(options: &mut LinkOptions, name: &str, defaults: LinkDefaults) -> Result<(), ScenarioError> {
    *options = link_with_defaults(options, &format!("network.{name}"), &defaults)?;
    Ok(())
}

impl Shorthand for Dumbbell {
    fn flows(&self) -> u64 {
        self.flows
    }

    fn complete(&mut self) -> Result<(), ScenarioError> {
        let shared = [self.shared_buffer.is_some(); 2];
        let defaults = LinkDefaults { mbps: 1000, delay_us: 1000, queue_packets: 1000 };
        self.access = link_of_ports(&self.access, "network.access", &defaults, shared)?;
        let defaults = LinkDefaults { mbps: 10, delay_us: 10_000, queue_packets: 100 };
        self.bottleneck = link_of_ports(&self.bottleneck, "network.bottleneck", &defaults, shared)?;
        Ok(())
    }

    /// The shared link comes first, so that a further pair shifts no index.
    fn topology(&self, _seed: u64) -> Result<Topology, ScenarioError> {
        let pairs = count("network.pairs", self.pairs, 1, MAX_NODES / 2)?;
        let mut topology = Topology::default();
        let middle = (pairs - 1) as f64 / 2.0;
        topology.nodes =
            vec![node("r0".into(), Role::Router, 1.0, middle), node("r1".into(), Role::Router, 2.0, middle)];
        topology.links = vec![link("r0", "r1", &self.bottleneck)];
        for i in 0..pairs {
            let (left, right) = (format!("left{i}"), format!("right{i}"));
            topology.links.push(link(&left, "r0", &self.access));
            topology.links.push(link("r1", &right, &self.access));
            topology.nodes.push(node(left, Role::Host, 0.0, i as f64));
            topology.nodes.push(node(right, Role::Host, 3.0, i as f64));
        }
        topology.flow_ends = (0..self.flows())
            .map(|i| FlowEnds::new(format!("left{}", i % pairs), format!("right{}", i % pairs)))
            .collect();
        Ok(topology)
    }
}

impl Shorthand for Star {
    fn flows(&self) -> u64 {
        self.flows
    }

    fn complete(&mut self) -> Result<(), ScenarioError> {
        let shared = self.shared_buffer.is_some();
        let defaults = LinkDefaults { mbps: 2, delay_us: 10, queue_packets: 100 };
        self.source = link_of_ports(&self.source, "network.source", &defaults, [false, shared])?;
        let defaults = LinkDefaults { mbps: 10, delay_us: 45_000, queue_packets: 100 };
        self.sink = link_of_ports(&self.sink, "network.sink", &defaults, [shared, false])?;
        Ok(())
    }

    /// Sources, gateway, sinks.
    fn topology(&self, _seed: u64) -> Result<Topology, ScenarioError> {
        let nodes = count("network.nodes", self.nodes, 2, MAX_NODES)?;
        let sources = nodes / 2;
        let sinks = nodes - sources;
        let mut topology = Topology::default();
        topology.nodes.push(node("gateway".into(), Role::Gateway, 1.0, (sinks - 1) as f64 / 2.0));
        for i in 0..sources {
            let name = format!("src{i}");
            topology.links.push(link(&name, "gateway", &self.source));
            topology.nodes.push(node(name, Role::Host, 0.0, i as f64));
        }
        for i in 0..sinks {
            let name = format!("sink{i}");
            topology.links.push(link("gateway", &name, &self.sink));
            topology.nodes.push(node(name, Role::Host, 2.0, i as f64));
        }
        topology.flow_ends = (0..self.flows())
            .map(|i| FlowEnds::new(format!("src{}", i % sources), format!("sink{}", i % sinks)))
            .collect();
        Ok(topology)
    }
}

impl Shorthand for Lan {
    fn flows(&self) -> u64 {
        self.flows
    }

    fn complete(&mut self) -> Result<(), ScenarioError> {
        fill(&mut self.access, "access", LinkDefaults { mbps: 30, delay_us: 5, queue_packets: 100 })?;
        fill(&mut self.core, "core", LinkDefaults { mbps: 100, delay_us: 5, queue_packets: 100 })
    }

    /// Routers in a row, then the switches of each, then the PCs of each switch.
    fn topology(&self, _seed: u64) -> Result<Topology, ScenarioError> {
        let routers = count("network.routers", self.routers, 1, MAX_ROUTERS)?;
        let per_router = count("network.switches_per_router", self.switches_per_router, 1, MAX_ROUTERS)?;
        let per_switch = count("network.pcs_per_switch", self.pcs_per_switch, 1, MAX_NODES)?;
        let switches = count("network.switches_per_router", routers * per_router, 1, MAX_ROUTERS)?;
        let pcs = count("network.pcs_per_switch", switches.saturating_mul(per_switch), 2, MAX_NODES)?;
        let mut topology = Topology::default();
        let width = (per_router * per_switch) as f64;
        for r in 0..routers {
            topology.nodes.push(node(format!("r{r}"), Role::Router, (r as f64 + 0.5) * width, 2.0));
            if r > 0 {
                topology.links.push(link(&format!("r{}", r - 1), &format!("r{r}"), &self.core));
            }
        }
        for s in 0..switches {
            let name = format!("sw{s}");
            topology.links.push(link(&name, &format!("r{}", s / per_router), &self.access));
            topology.nodes.push(node(name, Role::Switch, (s as f64 + 0.5) * per_switch as f64, 1.0));
        }
        for p in 0..pcs {
            let name = format!("pc{p}");
            topology.links.push(link(&name, &format!("sw{}", p / per_switch), &self.access));
            topology.nodes.push(node(name, Role::Host, p as f64 + 0.5, 0.0));
        }
        let half = pcs / 2;
        topology.flow_ends = (0..self.flows())
            .map(|i| FlowEnds::new(format!("pc{}", i % half), format!("pc{}", half + i % half)))
            .collect();
        Ok(topology)
    }
}

impl Shorthand for ParkingLot {
    fn flows(&self) -> u64 {
        self.flows.unwrap_or_default()
    }

    fn complete(&mut self) -> Result<(), ScenarioError> {
        self.flows.get_or_insert(self.long.saturating_add(self.hops.saturating_mul(self.cross)));
        fill(&mut self.access, "access", LinkDefaults { mbps: 1000, delay_us: 1000, queue_packets: 1000 })?;
        fill(&mut self.link, "link", LinkDefaults { mbps: 10, delay_us: 10_000, queue_packets: 100 })
    }

    /// Routers and the links between them, then the long pairs, then the cross pairs hop by hop.
    fn topology(&self, _seed: u64) -> Result<Topology, ScenarioError> {
        let hops = count("network.hops", self.hops, 1, MAX_ROUTERS - 1)?;
        let long = count("network.long", self.long, 0, MAX_NODES / 2)?;
        let cross = count("network.cross", self.cross, 0, MAX_NODES / 2)?;
        let pairs = count("network.cross", long + hops * cross, 1, (MAX_NODES - MAX_ROUTERS) / 2)?;
        let mut topology = Topology::default();
        for r in 0..=hops {
            topology.nodes.push(node(format!("r{r}"), Role::Router, 1.0 + 2.0 * r as f64, 0.0));
            if r > 0 {
                topology.links.push(link(&format!("r{}", r - 1), &format!("r{r}"), &self.link));
            }
        }
        let mut ends = Vec::new();
        for i in 0..long {
            let row = (long - 1 - i) as f64 - (long - 1) as f64 / 2.0;
            let [from, to] = [format!("long_src{i}"), format!("long_dst{i}")];
            topology.links.push(link(&from, "r0", &self.access));
            topology.links.push(link(&format!("r{hops}"), &to, &self.access));
            topology.nodes.push(node(from.clone(), Role::Host, 0.0, row));
            topology.nodes.push(node(to.clone(), Role::Host, 2.0 + 2.0 * hops as f64, row));
            ends.push(FlowEnds::new(from, to));
        }
        for (hop, i) in (0..hops).flat_map(|hop| (0..cross).map(move |i| (hop, i))) {
            let [from, to] = [format!("cross{hop}_src{i}"), format!("cross{hop}_dst{i}")];
            topology.links.push(link(&from, &format!("r{hop}"), &self.access));
            topology.links.push(link(&format!("r{}", hop + 1), &to, &self.access));
            // Sources above their router, destinations below theirs: at a router between two links they do not cover each other.
            let (x, y) = (1.0 + 2.0 * hop as f64, 1.0 + i as f64);
            topology.nodes.push(node(from.clone(), Role::Host, x, y));
            topology.nodes.push(node(to.clone(), Role::Host, x + 2.0, -y));
            ends.push(FlowEnds::new(from, to));
        }
        topology.flow_ends = (0..self.flows()).map(|i| ends[(i % pairs) as usize].clone()).collect();
        Ok(topology)
    }
}

impl Shorthand for RandomWired {
    fn flows(&self) -> u64 {
        self.flows
    }

    fn complete(&mut self) -> Result<(), ScenarioError> {
        fill(&mut self.links, "links", LinkDefaults { mbps: 2, delay_us: 10_000, queue_packets: 50 })
    }

    /// A random tree, and random further links up to the mean degree.
    fn topology(&self, seed: u64) -> Result<Topology, ScenarioError> {
        let nodes = count("network.nodes", self.nodes, 2, MAX_ROUTERS)?;
        let wanted = wanted_links(self, nodes)?;
        let mut rng = Rng::stream(seed, "topology");
        let mut edges: Vec<(u64, u64)> = (1..nodes).map(|i| (rng.below(i), i)).collect();
        let mut known: BTreeSet<(u64, u64)> = edges.iter().copied().collect();
        while edges.len() < wanted {
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
        topology.links = edges.iter().map(|(a, b)| link(&format!("n{a}"), &format!("n{b}"), &self.links)).collect();
        for i in 0..self.flows {
            let mut rng = Rng::stream(seed, &format!("traffic/{i}/ends"));
            let from = rng.below(nodes);
            let to = (from + 1 + rng.below(nodes - 1)) % nodes;
            topology.flow_ends.push(FlowEnds::new(format!("n{from}"), format!("n{to}")));
        }
        Ok(topology)
    }
}

/// How many links the mean degree means, between a tree and every pair.
fn wanted_links(random: &RandomWired, nodes: u64) -> Result<usize, ScenarioError> {
    let (min, max) = (2.0 * (nodes - 1) as f64 / nodes as f64, (nodes - 1) as f64);
    if !(min..=max).contains(&random.degree) {
        let message = format!("{} is not a mean degree from {min:.3} (a tree) to {max} (every pair)", random.degree);
        return Err(ScenarioError::new("network.degree", message));
    }
    let wanted = random.degree * nodes as f64 / 2.0;
    if wanted > MAX_RANDOM_LINKS {
        let message =
            format!("{} with {nodes} nodes is {wanted:.0} links, more than {MAX_RANDOM_LINKS}", random.degree);
        return Err(ScenarioError::new("network.degree", message));
    }
    Ok(wanted as usize)
}

/// Refuses a graph that takes too much memory. Channels do so themselves.
fn check_size(graph: &Scenario) -> Result<(), ScenarioError> {
    let (nodes, links, inner_nodes) = (graph.node.len() as u64, graph.link.len() as u64, inner_nodes(&graph.link));
    if inner_nodes > MAX_FORWARDING {
        let message = format!("more than {MAX_FORWARDING} nodes have two links or more");
        return Err(ScenarioError::new("link", message).with_hint("routing tables grow with their square"));
    }
    Extent::wired(Wires { nodes, links, inner_nodes }, 0, graph.network.routing()).check("node")
}

/// Writes what is left to a default into the nodes, links and channels of a graph.
pub(super) fn complete_graph(scenario: &mut Scenario) -> Result<(), ScenarioError> {
    let nodes = count("node", scenario.node.len() as u64, 2, MAX_WIRED_NODES)?;
    if nodes > MAX_ROUTERS {
        check_size(scenario)?;
    }
    scenario.node = mobility::nodes(scenario)?;
    let shared = |node: &&NodeDef| node.shared_buffer.is_some();
    let shared: BTreeSet<&str> = scenario.node.iter().filter(shared).map(|node| node.name.as_str()).collect();
    let link = |listed| listed_link(listed, &shared);
    scenario.link = scenario.link.iter().enumerate().map(link).collect::<Result<_, _>>()?;
    scenario.channel = stations::channels(scenario)?;
    Ok(())
}

/// A link without delay, unless given; a rate must be, or a preset that has one.
fn listed_link((index, def): (usize, &LinkDef), shared: &BTreeSet<&str>) -> Result<LinkDef, ScenarioError> {
    let path = format!("link[{index}]");
    let defaults = LinkDefaults { mbps: 1, delay_us: 0, queue_packets: 100 };
    let ports = [&def.from, &def.to].map(|end| shared.contains(end.as_str()));
    let full = link_of_ports(&def.options, &path, &defaults, ports)?;
    let named = def.options.preset.is_some() || def.options.service.as_deref().and_then(ServiceDef::own_rate).is_some();
    if def.options.rate.is_none() && !named {
        return Err(ScenarioError::new(format!("{path}.rate"), "missing key `rate`, such as \"10Mbps\""));
    }
    Ok(LinkDef::new(&def.from, &def.to, full))
}

/// A complete graph as it stands.
pub(super) fn listed_topology(scenario: &Scenario) -> Topology {
    let (nodes, links, channels) = (scenario.node.clone(), scenario.link.clone(), scenario.channel.clone());
    Topology { network: scenario.network.clone(), nodes, links, channels, ..Topology::default() }
}
