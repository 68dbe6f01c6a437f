//! Shortest paths by hops, computed from the links that are up (`global`).
//!
//! A node with a single neighbour never forwards and needs no table: it sends everything to that neighbour, and others
//! reach it by way of that neighbour. So the tables grow with routers squared, not with nodes squared, and are found in as much time.

use std::collections::BTreeMap;

use super::Order;
use super::search::{AT_ONCE, Destinations, Search};
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
    /// Of one that forwards.
    Table(Ports),
    /// By destination, as given.
    Given(Vec<Option<LinkId>>),
}

/// The links of a node that forwards: two bytes for each destination, since a network of switches has a billion pairs of them.
#[derive(Clone, Debug)]
struct Ports {
    /// By the row of a destination: the index of a link, or `NO_PORT`.
    table: Vec<u16>,
    links: Vec<LinkId>,
}

/// Stands in a table for a destination without a path. No index reaches it: see `MAX_FORWARDING` of `expand/limits.rs`.
pub(super) const NO_PORT: u16 = u16::MAX;

impl Ports {
    fn set(&mut self, destinations: Destinations, link: LinkId) {
        let index = self.links.iter().position(|known| *known == link).unwrap_or_else(|| {
            self.links.push(link);
            self.links.len() - 1
        });
        destinations.rows().for_each(|row| self.table[row] = index as u16);
    }
}

/// By way of which node that forwards a destination is reached.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// That node: the destination itself, or the neighbour of a leaf.
    pub(super) at: NodeId,
    /// Its number among those that forward.
    pub(super) row: u32,
    /// The link from it to the leaf.
    last: Option<LinkId>,
}

/// The place of a leaf whose own link is down or leads to no node that forwards.
const NOWHERE: Place = Place { at: NodeId(u32::MAX), row: u32::MAX, last: None };

/// The route tables of all nodes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Routes {
    nodes: Vec<NodeRoutes>,
    /// By destination.
    places: Vec<Place>,
    /// Links to destinations without a place, which only their neighbours reach.
    strays: BTreeMap<(NodeId, NodeId), LinkId>,
}

impl Routes {
    /// The link on which `node` sends towards `destination`.
    #[inline]
    pub(crate) fn next(&self, node: NodeId, destination: NodeId) -> Option<LinkId> {
        let ports = match &self.nodes[node.index()] {
            NodeRoutes::Leaf(link) => return *link,
            NodeRoutes::Table(ports) => ports,
            NodeRoutes::Given(table) => return table.get(destination.index()).copied().flatten(),
        };
        let place = &self.places[destination.index()];
        if place.at == node {
            return place.last;
        }
        match ports.table.get(place.row as usize) {
            Some(port) => ports.links.get(usize::from(*port)).copied(),
            None => self.strays.get(&(node, destination)).copied(),
        }
    }

    /// Tables by node, each by destination.
    pub(crate) fn of(tables: Vec<Vec<Option<LinkId>>>) -> Routes {
        let nodes = tables.into_iter().map(NodeRoutes::Given).collect();
        Routes { nodes, places: Vec::new(), strays: BTreeMap::new() }
    }

    /// All-pairs shortest paths by hops; ties go to the first neighbour in this order, then to the first of parallel links.
    pub(crate) fn shortest(order: &Order, edges: &[Edge]) -> Routes {
        let net = Adjacency::new(order, edges);
        let none = Ports { table: vec![NO_PORT; net.routers.len()], links: Vec::new() };
        let mut tables = vec![none; net.routers.len()];
        net.for_each_way(|from, to, ways| tables[from].set(to, ways[0]));
        let mut of_routers = tables.into_iter();
        let routes = net.rows.iter().zip(&net.only).map(|(row, only)| match row {
            None => NodeRoutes::Leaf(*only),
            Some(_) => NodeRoutes::Table(of_routers.next().expect("a table for each node that forwards")),
        });
        Routes { nodes: routes.collect(), places: net.places, strays: net.strays }
    }

    /// The links from `from` to `to`, or `None` if a packet would not get there.
    #[cfg(test)]
    pub(crate) fn path(&self, edges: &[Edge], from: NodeId, to: NodeId) -> Option<Vec<LinkId>> {
        let (mut here, mut path) = (from, Vec::new());
        while here != to {
            let link = self.next(here, to)?;
            let edge = edges.iter().find(|e| e.link == link)?;
            if !edge.up || path.len() > self.nodes.len() {
                return None;
            }
            path.push(link);
            here = edge.to;
        }
        Some(path)
    }
}

/// The links between nodes as the search sees them. A row is the number of a node among those that forward.
pub(super) struct Adjacency {
    /// The nodes that forward.
    routers: Vec<NodeId>,
    /// By node: its row, if it forwards.
    rows: Vec<Option<u32>>,
    /// By node: its first link.
    only: Vec<Option<LinkId>>,
    /// By row: the links that are up to other rows, in the order of neighbours, then by number.
    out: Vec<Vec<(u32, LinkId)>>,
    /// By row: the rows with a link to it that is up.
    into: Vec<Vec<u32>>,
    /// By destination.
    pub(super) places: Vec<Place>,
    strays: BTreeMap<(NodeId, NodeId), LinkId>,
}

impl Adjacency {
    pub(super) fn new(order: &Order, edges: &[Edge]) -> Adjacency {
        let nodes = order.nodes.len();
        let mut sorted: Vec<&Edge> = edges.iter().collect();
        sorted.sort_by_key(|e| (order.nodes[e.to.index()], order.number(e.link), e.link));
        let (mut degrees, mut only) = (vec![0; nodes], vec![None; nodes]);
        for edge in &sorted {
            degrees[edge.from.index()] += 1;
            only[edge.from.index()].get_or_insert(edge.link);
        }
        let routers: Vec<NodeId> = (0..nodes).filter(|n| degrees[*n] > 1).map(|n| NodeId(n as u32)).collect();
        let mut rows = vec![None; nodes];
        routers.iter().zip(0..).for_each(|(router, row)| rows[router.index()] = Some(row));
        let (mut out, mut into) = (vec![Vec::new(); routers.len()], vec![Vec::new(); routers.len()]);
        let mut places = vec![NOWHERE; nodes];
        routers.iter().zip(0..).for_each(|(at, row)| places[at.index()] = Place { at: *at, row, last: None });
        for edge in sorted.iter().filter(|e| e.up) {
            match (rows[edge.from.index()], rows[edge.to.index()]) {
                (Some(from), Some(to)) => {
                    out[from as usize].push((to, edge.link));
                    into[to as usize].push(from);
                }
                (None, Some(row)) => places[edge.from.index()] = Place { at: edge.to, row, last: None },
                (_, None) => {}
            }
        }
        // The first link to each leaf, from the node by way of which it is reached or from a neighbour.
        let mut strays = BTreeMap::new();
        for edge in sorted.iter().filter(|e| e.up && rows[e.from.index()].is_some() && rows[e.to.index()].is_none()) {
            let place = &mut places[edge.to.index()];
            if place.at == edge.from {
                place.last.get_or_insert(edge.link);
            } else if place.row == NOWHERE.row {
                strays.entry((edge.from, edge.to)).or_insert(edge.link);
            }
        }
        Adjacency { routers, rows, only, out, into, places, strays }
    }

    /// The number of nodes that forward.
    pub(super) fn routers(&self) -> usize {
        self.routers.len()
    }

    /// The node of a row.
    pub(super) fn router(&self, row: usize) -> NodeId {
        self.routers[row]
    }

    /// Calls `found` for each node that forwards, by its row, with destinations to which its shortest paths begin with the same
    /// links, and those links in the order of neighbours and links.
    pub(super) fn for_each_way(&self, mut found: impl FnMut(usize, Destinations, &[LinkId])) {
        let rows = self.routers.len();
        let mut search = Search::new(rows);
        for first in (0..rows).step_by(AT_ONCE) {
            search.find(first..rows.min(first + AT_ONCE), &self.into);
            for row in 0..rows {
                for (bits, links) in self.ways(&search, row) {
                    found(row, Destinations { first, bits }, &links);
                }
            }
        }
    }

    /// The links with which shortest paths begin at a row, with the destinations that share them.
    fn ways(&self, search: &Search, row: usize) -> Vec<(u64, Vec<LinkId>)> {
        let mut ways = vec![(u64::MAX, Vec::new())];
        for (to, link) in &self.out[row] {
            let closer = search.closer(row, *to as usize);
            for index in 0..ways.len() {
                let (bits, links) = &mut ways[index];
                let (with, without) = (*bits & closer, *bits & !closer);
                if with == 0 {
                    continue;
                }
                let others = (without != 0).then(|| (without, links.clone()));
                links.push(*link);
                *bits = with;
                ways.extend(others);
            }
        }
        ways.retain(|(_, links)| !links.is_empty());
        ways
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

    fn path(edges: &[Edge], nodes: u32, from: u32, to: u32) -> Option<Vec<u32>> {
        let links = Routes::shortest(&Order::of_nodes(0..nodes), edges).path(edges, NodeId(from), NodeId(to))?;
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
    fn the_shortest_path_wins_and_ties_go_to_the_first_neighbour() {
        // a square 0-1-3-2-0 with a chord to 4
        let net = edges(&[(0, 2), (0, 1), (1, 3), (2, 3), (3, 4), (4, 0)]);
        assert_eq!(path(&net, 5, 0, 3), Some(vec![2, 4]));
        let mut broken = net.clone();
        broken[2].up = false;
        assert_eq!(path(&broken, 5, 0, 3), Some(vec![0, 6]));
        let other = Routes::shortest(&Order::of_nodes((0..5).rev()), &net).path(&net, NodeId(0), NodeId(3));
        assert_eq!(other, Some(vec![LinkId(11), LinkId(9)]));
    }

    #[test]
    fn a_leaf_is_reached_over_the_link_that_it_answers_on() {
        // 0 and 1 forward; 2 sends to 0 alone and hears both; 3 only hears 1.
        let simplex = [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (1, 3)];
        let edge =
            |(i, (a, b)): (u32, &(u32, u32))| Edge { link: LinkId(i), from: NodeId(*a), to: NodeId(*b), up: true };
        let mut net: Vec<Edge> = (0..).zip(&simplex).map(edge).collect();
        assert_eq!(path(&net, 4, 1, 2), Some(vec![1, 2]));
        assert_eq!((path(&net, 4, 1, 3), path(&net, 4, 0, 3)), (Some(vec![5]), None));
        // Without an answer, only neighbours reach it.
        net[3].up = false;
        assert_eq!((path(&net, 4, 1, 2), path(&net, 4, 0, 2)), (Some(vec![4]), Some(vec![2])));
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

    /// Hops from every node to one, by edges alone.
    fn hops_to(net: &[Edge], nodes: usize, to: usize) -> Vec<u32> {
        let mut hops = vec![u32::MAX; nodes];
        hops[to] = 0;
        for _ in 0..nodes {
            for edge in net.iter().filter(|edge| edge.up) {
                hops[edge.from.index()] = hops[edge.from.index()].min(hops[edge.to.index()].saturating_add(1));
            }
        }
        hops
    }

    #[test]
    fn searches_of_many_destinations_at_once_find_all_shortest_paths() {
        // More nodes than one search has destinations, simplex links, some of them down, and nodes that nothing reaches.
        const NODES: usize = 150;
        let mut rng = tcp::rng::Rng::stream(1, "routes");
        let mut end = || NodeId(rng.below(NODES as u64) as u32);
        let ends: Vec<(NodeId, NodeId)> =
            (0..3 * NODES).map(|_| (end(), end())).filter(|(from, to)| from != to).collect();
        let edge = |(i, (from, to)): (u32, (NodeId, NodeId))| Edge { link: LinkId(i), from, to, up: i % 7 != 0 };
        let net: Vec<Edge> = (0..).zip(ends).map(edge).collect();
        let order = Order::of_nodes(0..NODES as u32);
        let found = Adjacency::new(&order, &net);
        let mut ways = BTreeMap::new();
        found.for_each_way(|row, destinations, links| {
            for to in destinations.rows() {
                assert!(ways.insert((found.router(row), found.router(to)), links.to_vec()).is_none());
            }
        });
        let forwards = |node: NodeId| found.routers.contains(&node);
        let within: Vec<Edge> = net.iter().filter(|edge| forwards(edge.from) && forwards(edge.to)).copied().collect();
        assert!(found.routers.len() > AT_ONCE && ways.len() > NODES * NODES / 4);
        for to in found.routers.iter().copied() {
            let hops = hops_to(&within, NODES, to.index());
            for from in found.routers.iter().copied() {
                let closer = |edge: &&Edge| edge.up && edge.from == from && hops[edge.to.index()] < hops[from.index()];
                let mut expected: Vec<&Edge> = within.iter().filter(closer).collect();
                expected.sort_by_key(|edge| (edge.to, edge.link));
                let expected: Vec<LinkId> = expected.into_iter().map(|edge| edge.link).collect();
                assert_eq!(ways.get(&(from, to)).cloned().unwrap_or_default(), expected, "{from:?} to {to:?}");
            }
        }
    }
}
