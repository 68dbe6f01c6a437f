//! Division of a graph into parts of about the same weight with little between them. Which division is taken costs or saves time and
//! changes no result.
//!
//! Multilevel partitioning in its simplest form (Hendrickson and Leland 1995; Karypis and Kumar 1998): neighbours with much between
//! them become one until few are left, these are divided by growing one part after the other, and borders are moved.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Groups per part at which growing begins.
const GROUPS_PER_PART: usize = 16;
/// Nodes that growing may look at, over all places at which it begins: all of them are tried while there are some hundred.
const LOOKS: usize = 1 << 17;
/// Joining goes on while it leaves at most this share of the groups: else there would be as many turns as groups.
const SHRUNK: f64 = 0.9;
/// Turns in which borders are moved.
const TURNS: usize = 8;

/// A graph whose nodes and edges have weights.
#[derive(Clone, Debug)]
pub(super) struct Groups {
    pub(super) weights: Vec<u64>,
    /// By node: its neighbours, and the weight of what is between.
    near: Vec<BTreeMap<usize, u64>>,
}

impl Groups {
    pub(super) fn new(weights: Vec<u64>, edges: impl Iterator<Item = ([usize; 2], u64)>) -> Groups {
        let mut near = vec![BTreeMap::new(); weights.len()];
        for ([one, other], weight) in edges.filter(|([one, other], _)| one != other) {
            *near[one].entry(other).or_default() += weight;
            *near[other].entry(one).or_default() += weight;
        }
        Groups { weights, near }
    }

    fn total(&self) -> u64 {
        self.weights.iter().sum()
    }

    /// The graph of the groups that `of` names.
    fn joined(&self, of: &[usize]) -> Groups {
        let weights = summed(&self.weights, of);
        let edges =
            self.near.iter().enumerate().flat_map(|(node, near)| near.iter().map(move |(to, w)| (node, *to, *w)));
        let once = edges.filter(|(from, to, _)| from < to);
        Groups::new(weights, once.map(|(from, to, weight)| ([of[from], of[to]], weight)))
    }

    /// The part of each node: `parts` of them, of which some may be empty.
    pub(super) fn split(&self, parts: usize) -> Vec<usize> {
        let heaviest = self.total() / (4 * parts as u64) + 1;
        let mut part_of = match self.coarser(heaviest).filter(|_| self.weights.len() > GROUPS_PER_PART * parts) {
            Some(of) => {
                let coarse = self.joined(&of).split(parts);
                of.into_iter().map(|group| coarse[group]).collect()
            }
            None => self.grown(parts),
        };
        self.move_borders(&mut part_of, parts);
        part_of
    }

    /// Pairs each node with the neighbour with which it has most, up to a weight; nothing if no two fit.
    fn coarser(&self, heaviest: u64) -> Option<Vec<usize>> {
        const ALONE: usize = usize::MAX;
        let mut of = vec![ALONE; self.weights.len()];
        let mut weights: Vec<u64> = Vec::new();
        let mut order: Vec<usize> = (0..self.weights.len()).collect();
        order.sort_by_key(|node| self.weights[*node]);
        for node in order {
            if of[node] != ALONE {
                continue;
            }
            let mine = self.weights[node];
            let joint = |other: usize| mine + if of[other] == ALONE { self.weights[other] } else { weights[of[other]] };
            let fits = self.near[node].iter().filter(|(other, _)| joint(**other) <= heaviest);
            let best = fits.max_by_key(|(other, between)| (**between, Reverse(**other))).map(|(other, _)| *other);
            let group = match best {
                Some(other) if of[other] != ALONE => of[other],
                found => {
                    weights.push(0);
                    if let Some(other) = found {
                        of[other] = weights.len() - 1;
                        weights[of[other]] += self.weights[other];
                    }
                    weights.len() - 1
                }
            };
            of[node] = group;
            weights[group] += mine;
        }
        (weights.len() as f64 <= SHRUNK * self.weights.len() as f64).then_some(of)
    }

    /// Parts that grow one after the other, from whichever node gives the best ones.
    fn grown(&self, parts: usize) -> Vec<usize> {
        let nodes = self.weights.len();
        let starts = (LOOKS / nodes.max(1)).clamp(1, nodes.max(1));
        let best = (0..nodes)
            .step_by(nodes.div_ceil(starts).max(1))
            .map(|start| self.grown_from(start, parts))
            .min_by_key(|of| self.cost(of, parts));
        best.unwrap_or_default()
    }

    fn grown_from(&self, start: usize, parts: usize) -> Vec<usize> {
        const FREE: usize = usize::MAX;
        let (mut of, mut taken) = (vec![FREE; self.weights.len()], 0);
        let total = self.total().max(1);
        // What each free node has with the part that grows, and the free nodes by it; what is no longer so is passed over.
        let mut ties = vec![0; self.weights.len()];
        let mut free: BinaryHeap<_> = (0..self.weights.len()).map(|node| (0, Reverse(node))).collect();
        free.push((u64::MAX, Reverse(start)));
        while let Some((tie, Reverse(node))) = free.pop() {
            if of[node] != FREE || (tie != ties[node] && tie != u64::MAX) {
                continue;
            }
            let weight = self.weights[node];
            let part = ((taken + weight / 2) * parts as u64 / total).min(parts as u64 - 1) as usize;
            of[node] = part;
            taken += weight;
            for (other, between) in &self.near[node] {
                ties[*other] += between;
                if of[*other] == FREE {
                    free.push((ties[*other], Reverse(*other)));
                }
            }
        }
        of
    }

    /// The weight of the heaviest part, with what it exchanges.
    pub(super) fn cost(&self, part_of: &[usize], parts: usize) -> u64 {
        let mut weights = vec![0; parts];
        for (node, part) in part_of.iter().enumerate() {
            let away = self.near[node].iter().filter(|(other, _)| part_of[**other] != *part);
            weights[*part] += self.weights[node] + away.map(|(_, between)| between).sum::<u64>();
        }
        weights.into_iter().max().unwrap_or_default()
    }

    /// Moves nodes to the part with which they have more, and from parts that are too heavy.
    fn move_borders(&self, part_of: &mut [usize], parts: usize) {
        let mut weights = vec![0; parts];
        part_of.iter().enumerate().for_each(|(node, part)| weights[*part] += self.weights[node]);
        let fair = self.total() / parts as u64;
        let most = fair + fair / 32;
        for _ in 0..TURNS {
            let mut moved = false;
            for node in 0..part_of.len() {
                let (from, weight) = (part_of[node], self.weights[node]);
                let mut ties = vec![0_i64; parts];
                self.near[node].iter().for_each(|(other, between)| ties[part_of[*other]] += *between as i64);
                let fits = |to: &usize| {
                    *to != from && (weights[*to] + weight <= most || weights[*to] + weight < weights[from])
                };
                let Some(to) = (0..parts).filter(fits).max_by_key(|to| (ties[*to], Reverse(weights[*to]))) else {
                    continue;
                };
                let relieves = weights[from] > most && ties[to] > 0;
                if ties[to] > ties[from] && weights[from] > weight || relieves {
                    part_of[node] = to;
                    weights[from] -= weight;
                    weights[to] += weight;
                    moved = true;
                }
            }
            if !moved {
                return;
            }
        }
    }
}

/// The weights of the groups that `of` names.
pub(super) fn summed(weights: &[u64], of: &[usize]) -> Vec<u64> {
    let mut sums = vec![0; of.iter().max().map_or(0, |last| last + 1)];
    weights.iter().zip(of).for_each(|(weight, group)| sums[*group] += weight);
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(nodes: usize) -> Groups {
        Groups::new(vec![10; nodes], (1..nodes).map(|node| ([node - 1, node], 3)))
    }

    #[test]
    fn a_chain_falls_into_consecutive_pieces() {
        for (nodes, parts) in [(8, 2), (100, 2), (100, 3), (1000, 4)] {
            let of = chain(nodes).split(parts);
            let borders = of.windows(2).filter(|pair| pair[0] != pair[1]).count();
            assert!(borders < 2 * parts, "{nodes} {parts}: {of:?}");
            let heaviest = (0..parts).map(|part| of.iter().filter(|one| **one == part).count()).max().unwrap();
            assert!(heaviest * parts <= nodes * 5 / 4, "{nodes} {parts}: {of:?}");
        }
    }

    #[test]
    fn clusters_stay_whole() {
        // Eight clusters of six nodes, with much inside and little between.
        let inside = (0..48)
            .flat_map(|node| (node + 1..48).filter(move |other| other / 6 == node / 6).map(move |o| ([node, o], 20)));
        let between = (0..8).map(|cluster| ([cluster * 6, (cluster + 1) % 8 * 6], 1));
        let of = Groups::new(vec![1; 48], inside.chain(between)).split(2);
        assert!((0..48).all(|node| of[node] == of[node / 6 * 6]), "{of:?}");
        assert_eq!(of.iter().sum::<usize>(), 24);
    }

    #[test]
    fn stars_of_any_size_are_divided_evenly() {
        // No two leaves are neighbours, so that none can be joined once the group of the hub is full.
        for leaves in [300, 3_000, 100_000] {
            let star = Groups::new(vec![10; leaves + 1], (1..=leaves).map(|leaf| ([0, leaf], 3)));
            let of = star.split(2);
            let heaviest = 2 * of.iter().sum::<usize>().max(leaves + 1 - of.iter().sum::<usize>());
            assert!(heaviest <= leaves * 11 / 10, "{leaves}: {heaviest}");
        }
    }

    #[test]
    fn nothing_and_one_are_divided_too() {
        assert_eq!(Groups::new(vec![], std::iter::empty()).split(2), Vec::<usize>::new());
        assert_eq!(chain(1).split(3).len(), 1);
    }
}
