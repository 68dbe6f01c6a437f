//! Shortest paths to a terminal by total propagation delay.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::shell::Shell;
use crate::orbit::{Point, distance};

/// A link between satellites (ISL), seen from one of them.
#[derive(Clone, Copy, Debug)]
struct IslEnd {
    to: usize,
    /// Index of the pair.
    pair: usize,
    length: u64,
}

/// The links between satellites that are up at an instant, with their lengths.
#[derive(Debug)]
pub(crate) struct IslGraph {
    neighbours: Vec<Vec<IslEnd>>,
}

/// Distance of a satellite from a terminal along the shortest path, and the first hop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Distance {
    /// Micrometres: whole numbers, so that a tie is a tie on every machine.
    pub(crate) length: u64,
    /// The first hop; `None` at the satellite that serves the terminal.
    pub(crate) next: Option<NextHop>,
}

/// The pair of satellites whose link is taken, and the satellite that it leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NextHop {
    pub(crate) pair: usize,
    pub(crate) satellite: usize,
}

/// A distance in micrometres.
pub(crate) fn length(a: &Point, b: &Point) -> u64 {
    libm::round(distance(a, b) * 1e9) as u64
}

impl IslGraph {
    /// The links of the pairs that are `up`.
    pub(crate) fn new(shell: &Shell, up: &[bool], places: &[Point]) -> IslGraph {
        let mut neighbours = vec![Vec::with_capacity(4); places.len()];
        for (index, pair) in shell.pairs.iter().enumerate().filter(|(index, _)| up[*index]) {
            let length = length(&places[pair.a], &places[pair.b]);
            neighbours[pair.a].push(IslEnd { to: pair.b, pair: index, length });
            neighbours[pair.b].push(IslEnd { to: pair.a, pair: index, length });
        }
        IslGraph { neighbours }
    }

    /// Shortest paths from every satellite to a terminal, by the satellites that serve it with their distances from it (Dijkstra
    /// 1959). Of equal paths the one over the satellite with the lower number is taken.
    pub(crate) fn shortest_paths(&self, tails: &[(usize, u64)]) -> Vec<Option<Distance>> {
        let mut paths: Vec<Option<Distance>> = vec![None; self.neighbours.len()];
        let mut frontier = BinaryHeap::new();
        for (last, tail) in tails {
            paths[*last] = Some(Distance { length: *tail, next: None });
            frontier.push(Reverse((*tail, *last)));
        }
        while let Some(Reverse((far, here))) = frontier.pop() {
            if paths[here].is_some_and(|path| path.length < far) {
                continue;
            }
            for isl in &self.neighbours[here] {
                let length = far + isl.length;
                if paths[isl.to].is_none_or(|path| length < path.length) {
                    let next = Some(NextHop { pair: isl.pair, satellite: here });
                    paths[isl.to] = Some(Distance { length, next });
                    frontier.push(Reverse((length, isl.to)));
                }
            }
        }
        paths
    }
}
