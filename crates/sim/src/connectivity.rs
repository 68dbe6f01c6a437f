//! Connectivity of the network, independent of routing: nodes are connected by links, and by stations within range of
//! each other's data frames. A function of time, without events.

use std::collections::VecDeque;

use tcp::units::{Span, Time};

use crate::ids::{NodeId, StationId};
use crate::mobility::{Point, Track};
use crate::network::Network;
use crate::radio::propagation::RadioRange;

#[cfg(test)]
mod tests;

/// Sampling interval, with moving stations.
const INTERVAL: Span = Span::from_millis(1000);

/// Adjacency lists, by node.
pub(crate) type Graph = Vec<Vec<u32>>;

/// Connected components.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Components {
    /// By node, the number of its component, in the order of their first nodes.
    pub(crate) of: Vec<u32>,
    pub(crate) sizes: Vec<u32>,
}

impl Components {
    pub(crate) fn new(graph: &Graph) -> Components {
        const UNSEEN: u32 = u32::MAX;
        let mut components = Components { of: vec![UNSEEN; graph.len()], sizes: Vec::new() };
        let mut frontier = Vec::new();
        for first in 0..graph.len() {
            if components.of[first] != UNSEEN {
                continue;
            }
            let number = components.sizes.len() as u32;
            let mut size = 0;
            components.of[first] = number;
            frontier.push(first);
            while let Some(here) = frontier.pop() {
                size += 1;
                for next in &graph[here] {
                    let of = &mut components.of[*next as usize];
                    if *of == UNSEEN {
                        *of = number;
                        frontier.push(*next as usize);
                    }
                }
            }
            components.sizes.push(size);
        }
        components
    }

    /// Nodes of the largest component, the first of several.
    pub(crate) fn largest(&self) -> Vec<usize> {
        let max = self.sizes.iter().max();
        let largest = self.sizes.iter().position(|size| Some(size) == max).map(|index| index as u32);
        (0..self.of.len()).filter(|node| Some(self.of[*node]) == largest).collect()
    }
}

/// Minimum number of hops between two nodes.
pub(crate) fn hops(graph: &Graph, from: NodeId, to: NodeId) -> Option<u32> {
    let mut hops = vec![None; graph.len()];
    hops[from.index()] = Some(0);
    let mut frontier = VecDeque::from([from.index()]);
    while let Some(here) = frontier.pop_front() {
        if here == to.index() {
            break;
        }
        for next in &graph[here] {
            if hops[*next as usize].is_none() {
                hops[*next as usize] = hops[here].map(|hops: u32| hops + 1);
                frontier.push_back(*next as usize);
            }
        }
    }
    hops[to.index()]
}

/// Graph of stations within range of each other. Stations are sorted by x, and each is compared only with those not too
/// far to its right, so that in a wide area most pairs are never examined.
pub(crate) fn in_range_graph(positions: &[Point], reach: &RadioRange) -> Graph {
    let mut graph: Graph = vec![Vec::new(); positions.len()];
    let mut by_x: Vec<usize> = (0..positions.len()).collect();
    by_x.sort_by(|a, b| positions[*a].x.total_cmp(&positions[*b].x));
    for (rank, i) in by_x.iter().enumerate() {
        let near = |j: &&usize| positions[**j].x - positions[*i].x <= reach.limit();
        for j in by_x[rank + 1..].iter().take_while(near) {
            if reach.in_range(positions[*i], positions[*j]) {
                graph[*i].push(*j as u32);
                graph[*j].push(*i as u32);
            }
        }
    }
    graph.iter_mut().for_each(|list| list.sort_unstable());
    graph
}

/// The stations of a subnet.
#[derive(Debug)]
struct StationGroup {
    nodes: Vec<NodeId>,
    tracks: Vec<Track>,
    reach: RadioRange,
    /// By station, the access points it may associate with, if there are access points.
    access_points: Option<Vec<Vec<StationId>>>,
}

/// What connectivity over a run is computed from.
#[derive(Debug)]
pub(crate) struct Reachability {
    nodes: usize,
    wires: Vec<(NodeId, NodeId)>,
    groups: Vec<StationGroup>,
    placement_draws: Option<u32>,
}

/// Connectivity over a run.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Connectivity {
    pub(crate) components: u64,
    pub(crate) largest: u64,
    /// Mean number of neighbours of a node.
    pub(crate) mean_degree: f64,
    /// By flow, the hop count at time zero.
    pub(crate) hops: Vec<Option<u32>>,
    /// By flow, the fraction of sampled instants with a path.
    pub(crate) path_share: Vec<f64>,
    pub(crate) placement_draws: Option<u32>,
}

impl Reachability {
    /// The network at time zero, if it has stations; `placement_draws` is the number of placements drawn.
    pub(crate) fn new(network: &Network, placement_draws: Option<u32>) -> Option<Reachability> {
        let group = |channel: &crate::wireless::WirelessSubnet| StationGroup {
            nodes: channel.nodes.clone(),
            tracks: channel.mac.tracks().to_vec(),
            reach: channel.mac.data_reach(),
            access_points: channel
                .access_points()
                .map(|access_points| channel.stations().map(|station| access_points.candidates(station)).collect()),
        };
        let groups: Vec<StationGroup> = network.channels.iter().map(group).collect();
        let wires = network.links.iter().filter_map(|link| Some((link.from, link.to?))).collect();
        let nodes = network.nodes.len();
        (!groups.is_empty()).then_some(Reachability { nodes, wires, groups, placement_draws })
    }

    fn moves(&self) -> bool {
        self.groups.iter().any(|group| group.tracks.iter().any(|track| !track.is_fixed()))
    }

    /// The graph at `now`, which must not decrease.
    fn graph(&mut self, now: Time) -> Graph {
        let mut graph: Graph = vec![Vec::new(); self.nodes];
        for (from, to) in &self.wires {
            graph[from.index()].push(to.0);
        }
        for group in &mut self.groups {
            let positions: Vec<Point> = group.tracks.iter_mut().map(|track| track.at(now)).collect();
            let Some(access_points) = &group.access_points else {
                for (station, neighbours) in in_range_graph(&positions, &group.reach).into_iter().enumerate() {
                    let nodes = neighbours.into_iter().map(|neighbour| group.nodes[neighbour as usize].0);
                    graph[group.nodes[station].index()].extend(nodes);
                }
                continue;
            };
            for (station, access_point) in
                access_points.iter().enumerate().flat_map(|(i, list)| list.iter().map(move |p| (i, p.index())))
            {
                if group.reach.in_range(positions[station], positions[access_point]) {
                    let (station, access_point) = (group.nodes[station], group.nodes[access_point]);
                    graph[station.index()].push(access_point.0);
                    graph[access_point.index()].push(station.0);
                }
            }
        }
        graph
    }

    /// Samples connectivity from time zero to `end`, for flows between these nodes.
    pub(crate) fn run(mut self, end: Time, flows: &[(NodeId, NodeId)]) -> Connectivity {
        let graph = self.graph(Time::ZERO);
        let components = Components::new(&graph);
        let connected = |components: &Components, (from, to): &(NodeId, NodeId)| {
            u64::from(components.of[from.index()] == components.of[to.index()])
        };
        let mut with_path: Vec<u64> = flows.iter().map(|flow| connected(&components, flow)).collect();
        let mut samples = 1_u64;
        let mut now = Time::ZERO + INTERVAL;
        while self.moves() && now <= end {
            let later = Components::new(&self.graph(now));
            with_path.iter_mut().zip(flows).for_each(|(count, flow)| *count += connected(&later, flow));
            samples += 1;
            now = now + INTERVAL;
        }
        let degrees: usize = graph.iter().map(Vec::len).sum();
        Connectivity {
            components: components.sizes.len() as u64,
            largest: components.largest().len() as u64,
            mean_degree: degrees as f64 / graph.len() as f64,
            hops: flows.iter().map(|(from, to)| hops(&graph, *from, *to)).collect(),
            path_share: with_path.into_iter().map(|count| count as f64 / samples as f64).collect(),
            placement_draws: self.placement_draws,
        }
    }
}
