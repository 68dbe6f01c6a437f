//! Which nodes reach each other when a run begins, for figures.

use std::collections::VecDeque;

use serde::Serialize;
use tcp::units::Time;

use crate::ids::StationId;
use crate::simulation::Simulation;
use crate::wireless::{Routing, WirelessSubnet, neighbours};

/// Pairs of nodes that reach each other, and the paths of flows, by index of node.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Reach {
    /// Stations that reach each other by radio; with access points, a station and its own.
    pub links: Vec<[u32; 2]>,
    /// By flow: a path with the fewest hops, over radio and links; empty if there is none. Where a routing protocol
    /// finds other paths, this is not what packets take.
    pub paths: Vec<Vec<u32>>,
}

/// How far the radios of a channel reach, absent interference.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ChannelRanges {
    /// Rates of the standard in bit/s, and metres within which data frames at them are readable.
    pub data: Vec<(u64, f64)>,
    /// Metres within which a transmission makes the medium busy.
    pub carrier_sense_m: f64,
}

/// The hops of a flow at the start.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct FlowHops {
    /// Source.
    pub from: String,
    /// Sink.
    pub to: String,
    /// Least number of hops over radio and links; `null` if there is no path.
    pub hops: Option<usize>,
}

/// What radios make of a network.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RadioReach {
    /// By channel.
    pub channels: Vec<ChannelRanges>,
    /// By flow.
    pub flows: Vec<FlowHops>,
}

impl Simulation {
    /// Ranges of the radios, and the hops of each flow when the run begins; `None` without radios.
    pub fn radio_reach(&mut self) -> Option<RadioReach> {
        let channels = &self.world.network.channels;
        let ranges = channels.iter().map(|channel| {
            let (data, carrier_sense_m) = channel.mac.ranges();
            ChannelRanges { data, carrier_sense_m }
        });
        let channels: Vec<ChannelRanges> = ranges.collect();
        if channels.is_empty() {
            return None;
        }
        let paths = self.reach().paths;
        let flows = self.graph().flow.iter().zip(paths);
        let hops = |path: &Vec<u32>| path.len().checked_sub(1);
        let flows =
            flows.map(|(flow, path)| FlowHops { from: flow.from.clone(), to: flow.to.clone(), hops: hops(&path) });
        Some(RadioReach { channels, flows: flows.collect() })
    }

    /// Which nodes reach each other when the run begins.
    pub fn reach(&mut self) -> Reach {
        let mut links: Vec<[u32; 2]> = self.world.network.channels.iter_mut().flat_map(in_reach).collect();
        links.sort_unstable();
        links.dedup();
        let mut next: Vec<Vec<u32>> = vec![Vec::new(); self.world.network.nodes.len()];
        for [a, b] in &links {
            next[*a as usize].push(*b);
            next[*b as usize].push(*a);
        }
        for link in &self.world.network.links {
            next[link.from.index()].extend(link.to.map(|to| to.0));
        }
        next.iter_mut().for_each(|list| list.sort_unstable());
        let flows = &self.world.hosts.flows;
        let paths = flows.iter().map(|flow| path(&next, flow.source.0, flow.sink.0).unwrap_or_default()).collect();
        Reach { links, paths }
    }
}

fn in_reach(channel: &mut WirelessSubnet) -> Vec<[u32; 2]> {
    let lists = neighbours(&mut channel.mac, Time::ZERO);
    let mut pairs = Vec::new();
    for (from, list) in lists.iter().enumerate() {
        for to in list {
            let belongs = match &channel.routing {
                Routing::AccessPoints(cells) => {
                    let from = StationId(from as u32);
                    cells.of(from) == *to || cells.of(*to) == from
                }
                _ => true,
            };
            let [a, b] = [channel.nodes[from].0, channel.nodes[to.index()].0];
            if belongs {
                pairs.push([a.min(b), a.max(b)]);
            }
        }
    }
    pairs
}

/// A path with the fewest hops, ties to the lowest neighbour.
fn path(next: &[Vec<u32>], from: u32, to: u32) -> Option<Vec<u32>> {
    let mut came_from: Vec<Option<u32>> = vec![None; next.len()];
    came_from[from as usize] = Some(from);
    let mut frontier = VecDeque::from([from]);
    while let Some(here) = frontier.pop_front() {
        for neighbour in &next[here as usize] {
            if came_from[*neighbour as usize].is_none() {
                came_from[*neighbour as usize] = Some(here);
                frontier.push_back(*neighbour);
            }
        }
    }
    let mut path = vec![to];
    while *path.last()? != from {
        path.push(came_from[*path.last()? as usize]?);
    }
    path.reverse();
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_shortest() {
        let next = vec![vec![1, 2], vec![0, 3], vec![0, 3], vec![1, 2], vec![]];
        assert_eq!(path(&next, 0, 3), Some(vec![0, 1, 3]));
        assert_eq!(path(&next, 0, 4), None);
        assert_eq!(path(&next, 2, 2), Some(vec![2]));
    }
}
