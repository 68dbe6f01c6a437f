//! Between which nodes the flows of a workload are.

use std::collections::BTreeMap;

use tcp::rng::Rng;

use crate::ids::NodeId;
use crate::scenario::EndsDef;

/// Orders of the nodes that a permutation tries before it gives up.
const TRIES: usize = 1000;

/// The ends of flows, by flow.
#[derive(Debug)]
pub(crate) enum Ends {
    /// Both drawn: by index in `from`, the index in `to` of the same node.
    Random { from: Vec<NodeId>, to: Vec<NodeId>, same: Vec<Option<usize>> },
    /// A pair drawn.
    Pairs(Vec<[NodeId; 2]>),
    /// All ordered pairs in turn; `next` counts them, those of a node with itself too.
    AllToAll { from: Vec<NodeId>, to: Vec<NodeId>, next: usize },
}

impl Ends {
    /// What `def` makes of the nodes; nothing if it leaves no pair of two different nodes to some node.
    pub(crate) fn new(def: EndsDef, from: Vec<NodeId>, mut to: Vec<NodeId>, rng: &mut Rng) -> Option<Ends> {
        let paired = |from: &[NodeId], to: &[NodeId]| -> Vec<[NodeId; 2]> {
            from.iter().enumerate().map(|(index, from)| [*from, to[index % to.len()]]).collect()
        };
        let are_two = |[from, to]: &[NodeId; 2]| from != to;
        match def {
            EndsDef::Random => {
                let places: BTreeMap<NodeId, usize> = to.iter().copied().zip(0..).collect();
                let same: Vec<Option<usize>> = from.iter().map(|node| places.get(node).copied()).collect();
                (to.len() > 1 || same.iter().all(Option::is_none)).then_some(Ends::Random { from, to, same })
            }
            EndsDef::Pairs => Some(paired(&from, &to)).filter(|pairs| pairs.iter().all(are_two)).map(Ends::Pairs),
            EndsDef::Permutation => (0..TRIES).find_map(|_| {
                rng.shuffle(&mut to);
                Some(paired(&from, &to)).filter(|pairs| pairs.iter().all(are_two)).map(Ends::Pairs)
            }),
            EndsDef::AllToAll => {
                let any = from.iter().any(|from| to.iter().any(|to| to != from));
                any.then_some(Ends::AllToAll { from, to, next: 0 })
            }
            EndsDef::OneSink => {
                let sink = to[rng.below(to.len() as u64) as usize];
                let pairs: Vec<[NodeId; 2]> = from.iter().map(|from| [*from, sink]).filter(are_two).collect();
                (!pairs.is_empty()).then_some(Ends::Pairs(pairs))
            }
        }
    }

    /// The ends of the next flow.
    pub(super) fn draw(&mut self, rng: &mut Rng) -> [NodeId; 2] {
        match self {
            Ends::Random { from, to, same } => {
                let first = rng.below(from.len() as u64) as usize;
                let Some(own) = same[first] else { return [from[first], to[rng.below(to.len() as u64) as usize]] };
                let other = rng.below(to.len() as u64 - 1) as usize;
                [from[first], to[other + usize::from(other >= own)]]
            }
            Ends::Pairs(pairs) => pairs[rng.below(pairs.len() as u64) as usize],
            Ends::AllToAll { from, to, next } => loop {
                let pair = [from[*next / to.len() % from.len()], to[*next % to.len()]];
                *next += 1;
                if pair[0] != pair[1] {
                    return pair;
                }
            },
        }
    }

    /// All pairs that may be drawn, at most `most`; nothing if there are more.
    pub(crate) fn pairs(&self, most: usize) -> Option<Vec<(NodeId, NodeId)>> {
        let (from, to) = match self {
            Ends::Pairs(pairs) => return Some(pairs.iter().map(|[from, to]| (*from, *to)).collect()),
            Ends::Random { from, to, .. } | Ends::AllToAll { from, to, .. } => (from, to),
        };
        let all = from.iter().flat_map(|from| to.iter().map(|to| (*from, *to))).filter(|(from, to)| from != to);
        (from.len() * to.len() <= most).then(|| all.collect())
    }

    /// Pairs by which every node is connected with every other that it may have a flow with, by way of the first ones.
    pub(crate) fn spanning(&self) -> Vec<[NodeId; 2]> {
        let (from, to) = match self {
            Ends::Pairs(pairs) => return pairs.clone(),
            Ends::Random { from, to, .. } | Ends::AllToAll { from, to, .. } => (from, to),
        };
        let (first, last) = (from.iter().map(|node| [*node, to[0]]), to.iter().map(|node| [from[0], *node]));
        first.chain(last).filter(|[from, to]| from != to).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(range: std::ops::Range<u32>) -> Vec<NodeId> {
        range.map(NodeId).collect()
    }

    fn drawn(def: EndsDef, from: Vec<NodeId>, to: Vec<NodeId>, count: usize) -> Vec<[u32; 2]> {
        let mut rng = Rng::stream(1, "workload/test/ends");
        let mut ends = Ends::new(def, from, to, &mut rng).unwrap();
        (0..count).map(|_| ends.draw(&mut rng).map(|node| node.0)).collect()
    }

    #[test]
    fn no_flow_ends_where_it_begins_and_every_pair_is_as_likely() {
        let mut counts = std::collections::BTreeMap::new();
        for pair in drawn(EndsDef::Random, nodes(0..4), nodes(2..6), 28_000) {
            *counts.entry(pair).or_insert(0) += 1;
        }
        // Nodes 0 and 1 have four choices, 2 and 3 have three; five standard errors.
        assert_eq!(counts.len(), 14);
        for ([from, to], count) in counts {
            let expected = 7_000.0 / if from < 2 { 4.0 } else { 3.0 };
            assert!(
                from != to && (f64::from(count) - expected).abs() < 5.0 * f64::sqrt(expected),
                "{from} {to} {count}"
            );
        }
    }

    #[test]
    fn pairs_permutations_and_all_to_all() {
        assert!(drawn(EndsDef::Pairs, nodes(0..3), nodes(3..6), 99).iter().all(|[from, to]| to - from == 3));
        let mut matched = drawn(EndsDef::Permutation, nodes(0..8), nodes(0..8), 500);
        matched.sort_unstable();
        matched.dedup();
        let sinks: std::collections::BTreeSet<u32> = matched.iter().map(|pair| pair[1]).collect();
        assert_eq!((matched.len(), sinks.len()), (8, 8), "each node sends to one other, and each receives from one");
        assert!(matched.iter().all(|[from, to]| from != to));
        let turns = drawn(EndsDef::AllToAll, nodes(0..3), nodes(0..3), 7);
        assert_eq!(turns, [[0, 1], [0, 2], [1, 0], [1, 2], [2, 0], [2, 1], [0, 1]]);
        let sinks: std::collections::BTreeSet<u32> =
            drawn(EndsDef::OneSink, nodes(0..5), nodes(0..5), 99).iter().map(|pair| pair[1]).collect();
        assert_eq!(sinks.len(), 1);
    }

    #[test]
    fn a_node_alone_has_no_pair() {
        let mut rng = Rng::stream(1, "test");
        for def in [EndsDef::Random, EndsDef::Pairs, EndsDef::Permutation, EndsDef::AllToAll, EndsDef::OneSink] {
            assert!(Ends::new(def, nodes(0..1), nodes(0..1), &mut rng).is_none(), "{def:?}");
        }
    }
}
