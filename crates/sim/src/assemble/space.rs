//! The links of a constellation: between satellites, and between a terminal and every satellite that will ever serve it.

use std::collections::BTreeMap;

use tcp::rng::Rng;
use tcp::units::Time;

use super::parts;
use crate::event::{LinkId, NodeId};
use crate::link::{Delay, Link, LinkParts};
use crate::network::Network;
use crate::routing::Routes;
use crate::scenario::{Constellation, LinkOptions, Scenario, ScenarioError};
use crate::space::{Flight, Shell, Sky, SkyLinks, Terminal};

/// Links as they are made.
struct Maker<'a> {
    graph: &'a Scenario,
    seed: u64,
    links: Vec<Link>,
}

/// The network of a constellation with nothing left to a default, and what moves it. All links are closed until its first
/// step.
pub(super) fn build(graph: &Scenario, def: &Constellation, seed: u64) -> Result<(Network, Sky), ScenarioError> {
    let shell = Shell::of(def);
    let terminals = Terminal::all(def, &shell, Time::ZERO + graph.duration, seed);
    let mut maker = Maker { graph, seed, links: Vec::new() };
    let mut links = SkyLinks::default();
    for (index, terminal) in terminals.iter().enumerate() {
        let mut own = BTreeMap::new();
        for satellite in terminal.handovers.iter().filter_map(|handover| handover.satellite) {
            let node = NodeId((terminals.len() + satellite) as u32);
            let flight = Flight::new(terminal.body, shell.bodies[satellite], &shell.earth);
            own.entry(satellite)
                .or_insert_with(|| maker.both(NodeId(index as u32), node, [&def.uplink, &def.downlink], flight));
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
        let flight = Flight::new(shell.bodies[pair.a], shell.bodies[pair.b], &shell.earth);
        links.between.push(maker.both(node(pair.a), node(pair.b), [&def.isl, &def.isl], flight));
    }
    let ends = |name: &String| terminals.iter().position(|terminal| terminal.name == *name);
    let mut destinations: Vec<usize> =
        graph.flow.iter().flat_map(|flow| [&flow.from, &flow.to]).filter_map(ends).collect();
    destinations.sort_unstable();
    destinations.dedup();
    let nodes = graph.node.len();
    let network = Network::routed(nodes, maker.links, Routes::of(vec![vec![None; terminals.len()]; nodes]));
    Ok((network, Sky::new(def, shell, terminals, links, destinations)))
}

impl Maker<'_> {
    fn both(&mut self, a: NodeId, b: NodeId, options: [&LinkOptions; 2], flight: Flight) -> [LinkId; 2] {
        [self.one(a, b, options[0], flight), self.one(b, a, options[1], flight)]
    }

    fn one(&mut self, from: NodeId, to: NodeId, options: &LinkOptions, flight: Flight) -> LinkId {
        let name = |node: NodeId| &self.graph.node[node.index()].name;
        let draws = |what| Rng::stream(self.seed, &format!("link/{}/{}/0/{what}", name(from), name(to)));
        // A discipline that wants the delay is told that of the beginning.
        let options = LinkOptions { delay: Some(flight.delay(Time::ZERO)), ..options.clone() };
        let fixed = parts(from, to, &options, draws("queue"), draws("loss"));
        let id = LinkId(self.links.len() as u32);
        let mut link = Link::new(id, LinkParts { delay: Delay::Between(Box::new(flight)), ..fixed });
        link.close();
        self.links.push(link);
        id
    }
}
