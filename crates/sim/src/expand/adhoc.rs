//! The topology of an ad hoc network: one channel, stations placed at random or by a rule.

use tcp::rng::Rng;
use tcp::units::Time;

use super::graph::{FlowEnds, Shorthand, Topology, count, station};
use super::limits::MAX_STATIONS;
use super::placement::{Placed, check_area, place};
use super::stations::{check_density, fill_mobility, set_moving};
use crate::connectivity::{Components, in_range_graph};
use crate::mobility::{Point, Track};
use crate::radio::build;
use crate::radio::propagation::RadioRange;
use crate::routing;
use crate::scenario::{Adhoc, ChannelDef, FlowPattern, Graph, Network, NodeDef, Role, ScenarioError};

impl Shorthand for Adhoc {
    fn flows(&self) -> u64 {
        self.flows
    }

    fn complete(&mut self) -> Result<(), ScenarioError> {
        check_area(&self.area, "network.area")?;
        self.radio = build::with_defaults(&self.radio, "network.radio")?;
        self.routing = routing::build::with_defaults(&self.routing, self.radio.profile, "network.routing")?;
        fill_mobility(self)
    }

    fn topology(&self, seed: u64) -> Result<Topology, ScenarioError> {
        let nodes = count("network.nodes", self.nodes, 2, MAX_STATIONS)?;
        let reach = build::range(&self.radio);
        let Placed { places, draws } = place(self, nodes, &reach, seed)?;
        check_density(&places, reach.limit(), "network.nodes")?;
        let name = |i: u64| format!("n{i}");
        let stations: Vec<String> = (0..nodes).map(name).collect();
        let network = Network::Graph(Graph { area: Some(self.area), routing: None });
        let mut topology = Topology { network, placement_draws: draws, ..Topology::default() };
        topology.nodes =
            places.iter().zip(&stations).map(|(at, name)| station(name.clone(), Role::Station, *at)).collect();
        set_moving(self, &mut topology.nodes)?;
        let ends =
            if self.connected_pairs { largest_component(&topology.nodes, &reach, seed)? } else { (0..nodes).collect() };
        let pairs = ends_of_flows(self.pattern, self.flows, ends.len() as u64, seed);
        topology.flow_ends =
            pairs.map(|[from, to]| FlowEnds::new(name(ends[from as usize]), name(ends[to as usize]))).collect();
        let (radio, routing) = (self.radio.clone(), self.routing.clone());
        topology.channels = vec![ChannelDef { stations, radio, routing, gateway: Vec::new() }];
        Ok(topology)
    }
}

/// Sources and sinks of flows among a number of stations; one more flow changes no other's.
fn ends_of_flows(pattern: FlowPattern, flows: u64, among: u64, seed: u64) -> impl Iterator<Item = [u64; 2]> {
    let mut order: Vec<u64> = (0..among).collect();
    if pattern != FlowPattern::Pairs {
        Rng::stream(seed, "traffic/ends").shuffle(&mut order);
    }
    (0..flows).map(move |i| {
        let other = order[1 + (i % (among - 1)) as usize];
        let mut rng = Rng::stream(seed, &format!("traffic/{i}/ends"));
        match pattern {
            FlowPattern::Pairs => {
                let from = rng.below(among);
                [from, (from + 1 + rng.below(among - 1)) % among]
            }
            FlowPattern::OneSource => [order[0], other],
            FlowPattern::OneSourceRandom => [order[0], order[1 + rng.below(among - 1) as usize]],
            FlowPattern::OneSink => [other, order[0]],
        }
    })
}

/// The stations of the largest set that reach one another at the start; of the sink's, if there is one.
fn largest_component(nodes: &[NodeDef], reach: &RadioRange, seed: u64) -> Result<Vec<u64>, ScenarioError> {
    let places: Vec<Point> = nodes.iter().map(|node| Track::of(node, seed).at(Time::ZERO)).collect();
    let largest = Components::new(&in_range_graph(&places, reach)).largest();
    if largest.len() < 2 {
        let error = ScenarioError::new("network.connected_pairs", "no station reaches another");
        return Err(error.with_hint("more stations, a smaller area or a longer range"));
    }
    Ok(largest.into_iter().map(|station| station as u64).collect())
}
