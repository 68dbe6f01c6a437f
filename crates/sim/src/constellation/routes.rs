//! Least total propagation delay to one terminal.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::shell::Shell;
use crate::orbit::{Point, distance};

/// A link between satellites, seen from one of them.
#[derive(Clone, Copy, Debug)]
struct Way {
    to: usize,
    /// Index of the pair.
    pair: usize,
    length: u64,
}

/// The links that are up, with their lengths of one instant.
#[derive(Debug)]
pub(crate) struct Mesh {
    ways: Vec<Vec<Way>>,
}

/// How far a satellite is from a terminal, and over which pair the way begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Step {
    /// Micrometres: whole numbers, so that a tie is a tie on every machine.
    pub(crate) length: u64,
    /// The pair to take, and the satellite it leads to; `None` at the terminal's own satellite.
    pub(crate) over: Option<(usize, usize)>,
}

/// A distance in micrometres.
pub(crate) fn length(a: &Point, b: &Point) -> u64 {
    libm::round(distance(a, b) * 1e9) as u64
}

impl Mesh {
    /// The mesh of the pairs that are `up`.
    pub(crate) fn new(shell: &Shell, up: &[bool], places: &[Point]) -> Mesh {
        let mut ways = vec![Vec::with_capacity(4); places.len()];
        for (index, pair) in shell.pairs.iter().enumerate().filter(|(index, _)| up[*index]) {
            let length = length(&places[pair.a], &places[pair.b]);
            ways[pair.a].push(Way { to: pair.b, pair: index, length });
            ways[pair.b].push(Way { to: pair.a, pair: index, length });
        }
        Mesh { ways }
    }

    /// The way from every satellite to the terminal that `last` serves, `tail` away from it (Dijkstra 1959). Ties go to the
    /// satellite with the lower number.
    pub(crate) fn towards(&self, last: usize, tail: u64) -> Vec<Option<Step>> {
        let mut steps: Vec<Option<Step>> = vec![None; self.ways.len()];
        steps[last] = Some(Step { length: tail, over: None });
        let mut frontier = BinaryHeap::from([Reverse((tail, last))]);
        while let Some(Reverse((far, here))) = frontier.pop() {
            if steps[here].is_some_and(|step| step.length < far) {
                continue;
            }
            for way in &self.ways[here] {
                let length = far + way.length;
                if steps[way.to].is_none_or(|step| length < step.length) {
                    steps[way.to] = Some(Step { length, over: Some((way.pair, here)) });
                    frontier.push(Reverse((length, way.to)));
                }
            }
        }
        steps
    }
}
