//! The network of a constellation: links between satellites, and between a terminal and every satellite that ever serves it.

use std::collections::BTreeMap;

use tcp::rng::Rng;
use tcp::units::Time;

use super::link_parts;
use crate::constellation::{ConstellationDynamics, ConstellationLinks, Shell, Terminal};
use crate::ids::{LinkId, NodeId};
use crate::link::{Delay, Link, LinkParts};
use crate::network::Network;
use crate::orbit::path::PropagationPath;
use crate::orbit::shared_downlink::SharedDownlink;
use crate::routing::Routes;
use crate::scenario::{Constellation, LinkOptions, Scenario, ScenarioError};

/// Builds the links.
struct LinkBuilder<'a> {
    graph: &'a Scenario,
    seed: u64,
    links: Vec<Link>,
    /// By satellite: the downlink that its terminals share, if they do.
    downlinks: BTreeMap<usize, (LinkId, SharedDownlink)>,
}

/// Builds the network of a constellation whose defaults are filled in, and its dynamics. All links are closed until the
/// first step.
pub(super) fn build(
    graph: &Scenario,
    def: &Constellation,
    seed: u64,
) -> Result<(Network, ConstellationDynamics), ScenarioError> {
    let shell = Shell::of(def);
    let terminals = Terminal::all(def, &shell, (Time::ZERO + graph.duration, seed), &graph.flow);
    let mut builder = LinkBuilder { graph, seed, links: Vec::new(), downlinks: BTreeMap::new() };
    let mut links =
        ConstellationLinks { shared_downlink: def.shared_downlink.expect("filled"), ..ConstellationLinks::default() };
    for (index, terminal) in terminals.iter().enumerate() {
        let mut own = BTreeMap::new();
        for satellite in terminal.handovers.iter().flat_map(|handover| handover.satellites.iter().copied()) {
            let ends = [NodeId(index as u32), NodeId((terminals.len() + satellite) as u32)];
            let path = PropagationPath::new(terminal.body, shell.bodies[satellite], &shell.earth);
            own.entry(satellite).or_insert_with(|| {
                if links.shared_downlink {
                    [
                        builder.one(ends[0], ends[1], &def.uplink, path),
                        builder.shared(satellite, ends, &def.downlink, path),
                    ]
                } else {
                    builder.both(ends[0], ends[1], [&def.uplink, &def.downlink], path)
                }
            });
        }
        if own.is_empty() {
            let above = def.elevation_deg.expect("filled");
            let message = format!("no satellite is ever {above} degrees above {}", terminal.name);
            return Err(ScenarioError::new(format!("network.terminals[{index}]"), message)
                .with_hint("lower elevation_deg, or choose another place, altitude or inclination"));
        }
        links.ground.push(own);
    }
    for pair in &shell.pairs {
        let node = |satellite: usize| NodeId((terminals.len() + satellite) as u32);
        let path = PropagationPath::new(shell.bodies[pair.a], shell.bodies[pair.b], &shell.earth);
        links.between.push(builder.both(node(pair.a), node(pair.b), [&def.isl, &def.isl], path));
    }
    builder.finish_downlinks();
    let ends = |name: &String| terminals.iter().position(|terminal| terminal.name == *name);
    let mut destinations: Vec<usize> =
        graph.flow.iter().flat_map(|flow| [&flow.from, &flow.to]).filter_map(ends).collect();
    destinations.sort_unstable();
    destinations.dedup();
    let nodes = graph.node.len();
    let network = Network::with_routes(nodes, builder.links, Routes::of(vec![vec![None; terminals.len()]; nodes]));
    Ok((network, ConstellationDynamics::new(def, shell, terminals, links, destinations)))
}

impl LinkBuilder<'_> {
    fn both(&mut self, a: NodeId, b: NodeId, options: [&LinkOptions; 2], path: PropagationPath) -> [LinkId; 2] {
        [self.one(a, b, options[0], path), self.one(b, a, options[1], path)]
    }

    fn one(&mut self, from: NodeId, to: NodeId, options: &LinkOptions, path: PropagationPath) -> LinkId {
        let name = &self.graph.node[to.index()].name;
        self.make(from, to, name, options, path)
    }

    /// The shared downlink of a satellite, built for its first terminal; `ends` are a terminal and the satellite.
    fn shared(&mut self, satellite: usize, ends: [NodeId; 2], options: &LinkOptions, path: PropagationPath) -> LinkId {
        let [terminal, node] = ends;
        let id = self.downlinks.get(&satellite).map(|(id, _)| *id);
        let id = id.unwrap_or_else(|| self.make(node, terminal, "terminals", options, path));
        self.downlinks.entry(satellite).or_insert_with(|| (id, SharedDownlink::default())).1.add(terminal, path);
        id
    }

    /// Completes the shared downlinks, all terminals of which are known now.
    fn finish_downlinks(&mut self) {
        for (_, (id, downlink)) in std::mem::take(&mut self.downlinks) {
            self.links[id.index()].share(downlink);
        }
    }

    fn make(&mut self, from: NodeId, to: NodeId, far: &str, options: &LinkOptions, path: PropagationPath) -> LinkId {
        let near = &self.graph.node[from.index()].name;
        let rng = |what| Rng::stream(self.seed, &format!("link/{near}/{far}/0/{what}"));
        // A discipline that depends on the delay gets that at the start.
        let options = LinkOptions { delay: Some(path.delay(Time::ZERO)), ..options.clone() };
        let fixed = link_parts(from, to, &options, rng);
        let id = LinkId(self.links.len() as u32);
        let mut link = Link::new(id, LinkParts { delay: Delay::Path(Box::new(path)), ..fixed });
        link.close();
        self.links.push(link);
        id
    }
}
