//! The links of a constellation: between satellites, and between a terminal and every satellite that will ever serve it.

use std::collections::BTreeMap;

use tcp::rng::Rng;
use tcp::units::Time;

use super::parts;
use crate::constellation::{ConstellationDynamics, ConstellationLinks, Shell, Terminal};
use crate::ids::{LinkId, NodeId};
use crate::link::{Delay, Link, LinkParts};
use crate::network::Network;
use crate::orbit::path::PropagationPath;
use crate::orbit::shared_downlink::SharedDownlink;
use crate::routing::Routes;
use crate::scenario::{Constellation, LinkOptions, Scenario, ScenarioError};

/// Links as they are made.
struct Maker<'a> {
    graph: &'a Scenario,
    seed: u64,
    links: Vec<Link>,
    /// By satellite, the downlink that its terminals share, if they do.
    downlinks: BTreeMap<usize, (LinkId, SharedDownlink)>,
}

/// The network of a constellation with nothing left to a default, and what moves it. All links are closed until its first
/// step.
pub(super) fn build(
    graph: &Scenario,
    def: &Constellation,
    seed: u64,
) -> Result<(Network, ConstellationDynamics), ScenarioError> {
    let shell = Shell::of(def);
    let terminals = Terminal::all(def, &shell, Time::ZERO + graph.duration, seed);
    let mut maker = Maker { graph, seed, links: Vec::new(), downlinks: BTreeMap::new() };
    let mut links =
        ConstellationLinks { shared_downlink: def.shared_downlink.expect("filled"), ..ConstellationLinks::default() };
    for (index, terminal) in terminals.iter().enumerate() {
        let mut own = BTreeMap::new();
        for satellite in terminal.handovers.iter().filter_map(|handover| handover.satellite) {
            let ends = [NodeId(index as u32), NodeId((terminals.len() + satellite) as u32)];
            let path = PropagationPath::new(terminal.body, shell.bodies[satellite], &shell.earth);
            own.entry(satellite).or_insert_with(|| {
                if links.shared_downlink {
                    [maker.one(ends[0], ends[1], &def.uplink, path), maker.shared(satellite, ends, &def.downlink, path)]
                } else {
                    maker.both(ends[0], ends[1], [&def.uplink, &def.downlink], path)
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
        links.between.push(maker.both(node(pair.a), node(pair.b), [&def.isl, &def.isl], path));
    }
    maker.finish_downlinks();
    let ends = |name: &String| terminals.iter().position(|terminal| terminal.name == *name);
    let mut destinations: Vec<usize> =
        graph.flow.iter().flat_map(|flow| [&flow.from, &flow.to]).filter_map(ends).collect();
    destinations.sort_unstable();
    destinations.dedup();
    let nodes = graph.node.len();
    let network = Network::routed(nodes, maker.links, Routes::of(vec![vec![None; terminals.len()]; nodes]));
    Ok((network, ConstellationDynamics::new(def, shell, terminals, links, destinations)))
}

impl Maker<'_> {
    fn both(&mut self, a: NodeId, b: NodeId, options: [&LinkOptions; 2], path: PropagationPath) -> [LinkId; 2] {
        [self.one(a, b, options[0], path), self.one(b, a, options[1], path)]
    }

    fn one(&mut self, from: NodeId, to: NodeId, options: &LinkOptions, path: PropagationPath) -> LinkId {
        let name = &self.graph.node[to.index()].name;
        self.make(from, to, name, options, path)
    }

    /// The downlink of a satellite, made for its first terminal; `ends` are a terminal and the satellite.
    fn shared(&mut self, satellite: usize, ends: [NodeId; 2], options: &LinkOptions, path: PropagationPath) -> LinkId {
        let [terminal, node] = ends;
        let id = self.downlinks.get(&satellite).map(|(id, _)| *id);
        let id = id.unwrap_or_else(|| self.make(node, terminal, "terminals", options, path));
        self.downlinks.entry(satellite).or_insert_with(|| (id, SharedDownlink::default())).1.add(terminal, path);
        id
    }

    /// Every terminal of a shared downlink is known.
    fn finish_downlinks(&mut self) {
        for (_, (id, downlink)) in std::mem::take(&mut self.downlinks) {
            self.links[id.index()].share(downlink);
        }
    }

    fn make(&mut self, from: NodeId, to: NodeId, far: &str, options: &LinkOptions, path: PropagationPath) -> LinkId {
        let near = &self.graph.node[from.index()].name;
        let draws = |what| Rng::stream(self.seed, &format!("link/{near}/{far}/0/{what}"));
        // A discipline that wants the delay is told that of the beginning.
        let options = LinkOptions { delay: Some(path.delay(Time::ZERO)), ..options.clone() };
        let fixed = parts(from, to, &options, draws("queue"), draws("loss"));
        let id = LinkId(self.links.len() as u32);
        let mut link = Link::new(id, LinkParts { delay: Delay::Path(Box::new(path)), ..fixed });
        link.close();
        self.links.push(link);
        id
    }
}
