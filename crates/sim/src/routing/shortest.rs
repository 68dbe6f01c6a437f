//! Shortest paths by hops, computed from the links that are up (`global`).
//!
//! A node with a single neighbour never forwards and needs no table: it sends everything to that neighbour, and others
//! reach it by way of that neighbour. So the tables grow with routers times nodes, not with nodes squared.

use std::collections::VecDeque;

use crate::ids::{LinkId, NodeId};

/// An edge as routing sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) link: LinkId,
    pub(crate) from: NodeId,
    pub(crate) to: NodeId,
    pub(crate) up: bool,
}

/// How a node finds the next link.
#[derive(Clone, Debug)]
enum NodeRoutes {
    /// The only link there is, if any.
    Leaf(Option<LinkId>),
    /// By destination.
    Table(Vec<Option<LinkId>>),
}

/// The route tables of all nodes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Routes(Vec<NodeRoutes>);

impl Routes {
    /// The link on which `node` sends towards `destination`.
    #[inline]
    pub(crate) fn next(&self, node: NodeId, destination: NodeId) -> Option<LinkId> {
        match &self.0[node.index()] {
            NodeRoutes::Leaf(link) => *link,
            NodeRoutes::Table(table) => table[destination.index()],
        }
    }

    /// Tables by node, each by destination.
    pub(crate) fn of(tables: Vec<Vec<Option<LinkId>>>) -> Routes {
        Routes(tables.into_iter().map(NodeRoutes::Table).collect())
    }

    /// All-pairs shortest paths by hops; ties go to the lowest neighbour, then to the lowest link.
    pub(crate) fn shortest(nodes: usize, edges: &[Edge]) -> Routes {
        let net = Adjacency::new(nodes, edges);
        let mut routes: Vec<NodeRoutes> = (0..nodes)
            .map(|node| {
                if net.is_leaf(node) {
                    NodeRoutes::Leaf(net.out[node].first().map(|e| e.link))
                } else {
                    NodeRoutes::Table(vec![None; nodes])
                }
            })
            .collect();
        for node in (0..nodes).filter(|n| !net.is_leaf(*n)) {
            let NodeRoutes::Table(table) = &mut routes[node] else { continue };
            for edge in net.out[node].iter().filter(|e| e.up && net.is_leaf(e.to.index())) {
                table[edge.to.index()].get_or_insert(edge.link);
            }
        }
        net.for_each_way(|node, destinations, ways| {
            let NodeRoutes::Table(table) = &mut routes[node] else { return };
            let next = ways.next();
            for destination in destinations {
                table[*destination] = next;
            }
        });
        Routes(routes)
    }

    /// The links from `from` to `to`, or `None` if a packet would not get there.
    #[cfg(test)]
    pub(crate) fn path(&self, edges: &[Edge], from: NodeId, to: NodeId) -> Option<Vec<LinkId>> {
        let (mut here, mut path) = (from, Vec::new());
        while here != to {
            let link = self.next(here, to)?;
            let edge = edges.iter().find(|e| e.link == link)?;
            if !edge.up || path.len() > self.0.len() {
                return None;
            }
            path.push(link);
            here = edge.to;
        }
        Some(path)
    }
}

/// The links between nodes as the search sees them.
pub(super) struct Adjacency {
    /// By node: the links from it, by neighbour and number.
    out: Vec<Vec<Edge>>,
    /// By node: the neighbours with a link to it that is up.
    into: Vec<Vec<NodeId>>,
}

impl Adjacency {
    pub(super) fn new(nodes: usize, edges: &[Edge]) -> Adjacency {
        let mut out: Vec<Vec<Edge>> = vec![Vec::new(); nodes];
        let mut into: Vec<Vec<NodeId>> = vec![Vec::new(); nodes];
        let mut sorted: Vec<&Edge> = edges.iter().collect();
        sorted.sort_by_key(|e| (e.to, e.link));
        for edge in sorted {
            out[edge.from.index()].push(*edge);
            if edge.up {
                into[edge.to.index()].push(edge.from);
            }
        }
        Adjacency { out, into }
    }

    /// True for a node that never forwards.
    fn is_leaf(&self, node: usize) -> bool {
        self.out[node].len() <= 1
    }

    /// Calls `found` for each node that forwards and each other such node: with it and the leaves around it as destinations,
    /// and all links by which a shortest path leads there, in the order of neighbours and links.
    pub(super) fn for_each_way(&self, mut found: impl FnMut(usize, &[usize], &mut dyn Iterator<Item = LinkId>)) {
        for destination in (0..self.out.len()).filter(|n| !self.is_leaf(*n)) {
            let hops = self.hops_to(destination);
            let leaves = self.into[destination].iter().map(|n| n.index()).filter(|n| self.is_leaf(*n));
            let destinations: Vec<usize> = std::iter::once(destination).chain(leaves).collect();
            for node in (0..self.out.len()).filter(|n| *n != destination && !self.is_leaf(*n)) {
                let is_closer = |e: &Edge| e.up && hops[e.to.index()] < hops[node] && hops[e.to.index()].is_some();
                let mut ways = self.out[node].iter().filter(|e| is_closer(e)).map(|e| e.link);
                found(node, &destinations, &mut ways);
            }
        }
    }

    /// Hops from every node to `destination` over nodes that forward.
    fn hops_to(&self, destination: usize) -> Vec<Option<u32>> {
        let mut hops = vec![None; self.into.len()];
        hops[destination] = Some(0);
        let mut frontier = VecDeque::from([(destination, 0)]);
        while let Some((node, distance)) = frontier.pop_front() {
            for neighbour in self.into[node].iter().map(|n| n.index()) {
                if hops[neighbour].is_none() && !self.is_leaf(neighbour) {
                    hops[neighbour] = Some(distance + 1);
                    frontier.push_back((neighbour, distance + 1));
                }
            }
        }
        hops
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Duplex links in order; edge 2k goes forth, 2k + 1 back.
    fn edges(pairs: &[(u32, u32)]) -> Vec<Edge> {
        let both = pairs.iter().flat_map(|(a, b)| [(*a, *b), (*b, *a)]);
        both.enumerate()
            .map(|(i, (a, b))| Edge { link: LinkId(i as u32), from: NodeId(a), to: NodeId(b), up: true })
            .collect()
    }

    fn path(edges: &[Edge], nodes: usize, from: u32, to: u32) -> Option<Vec<u32>> {
        let links = Routes::shortest(nodes, edges).path(edges, NodeId(from), NodeId(to))?;
        Some(links.iter().map(|l| l.0).collect())
    }

    #[test]
    fn leaves_are_reached_by_way_of_their_neighbour() {
        // 0 - 2 - 3 - 1, and 4 on 3
        let net = edges(&[(0, 2), (2, 3), (3, 1), (3, 4)]);
        assert_eq!(path(&net, 5, 0, 1), Some(vec![0, 2, 4]));
        assert_eq!(path(&net, 5, 4, 0), Some(vec![7, 3, 1]));
        assert_eq!(path(&net, 5, 2, 4), Some(vec![2, 6]));
        assert_eq!(path(&net, 5, 2, 3), Some(vec![2]));
    }

    #[test]
    fn the_shortest_path_wins_and_ties_go_to_the_lowest_neighbour() {
        // a square 0-1-3-2-0 with a chord to 4
        let net = edges(&[(0, 2), (0, 1), (1, 3), (2, 3), (3, 4), (4, 0)]);
        assert_eq!(path(&net, 5, 0, 3), Some(vec![2, 4]));
        let mut broken = net.clone();
        broken[2].up = false;
        assert_eq!(path(&broken, 5, 0, 3), Some(vec![0, 6]));
    }

    #[test]
    fn no_path_is_none() {
        let net = edges(&[(0, 1), (2, 3)]);
        assert_eq!(path(&net, 4, 0, 2), None);
        let mut cut = edges(&[(0, 1), (1, 2)]);
        cut[2].up = false;
        assert_eq!(path(&cut, 3, 0, 2), None);
        assert_eq!(path(&edges(&[(0, 1)]), 2, 0, 1), Some(vec![0]));
    }
}
