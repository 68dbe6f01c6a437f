//! Equal-cost multipath (RFC 2991, RFC 2992): where several links lead to a destination over the fewest hops, a router spreads its
//! packets over them, by flow, by packet or by flowlet.

use std::collections::BTreeMap;

use tcp::rng::Rng;
use tcp::units::{Span, Time};

use super::shortest::{Adjacency, Place};
use super::{Edge, Order};
use crate::hash::spread;
use crate::ids::{LinkId, NodeId};

/// Flowlets that a router remembers.
const FLOWLETS: u64 = 4096;

/// Stands in a table for a destination with one path at most: [`super::Routes`] know it.
const NO_CHOICE: u32 = u32::MAX;

/// What stays on one path.
#[derive(Debug)]
pub(crate) enum Spread {
    /// A flow.
    Flow,
    /// Nothing. By router and destination: the number of packets so far.
    Packet(BTreeMap<(NodeId, NodeId), u64>),
    /// Packets with no longer pause than the gap between them. By router.
    Flowlet(Span, Vec<Flowlets>),
}

/// The flowlets of a router.
#[derive(Debug)]
pub(crate) struct Flowlets {
    rng: Rng,
    /// By hash: when the last packet came, and what was drawn for the flowlet. Empty until the first comes.
    table: Vec<Option<(Time, u64)>>,
}

impl Flowlets {
    pub(crate) fn new(rng: Rng) -> Flowlets {
        Flowlets { rng, table: Vec::new() }
    }

    /// The number drawn for the flowlet that a packet belongs to; a new one after a gap.
    fn draw(&mut self, now: Time, gap: Span, hash: u64) -> u64 {
        if self.table.is_empty() {
            self.table.resize(FLOWLETS as usize, None);
        }
        let entry = &mut self.table[(hash % FLOWLETS) as usize];
        let drawn = match *entry {
            Some((last, drawn)) if now.since(last) <= gap => drawn,
            _ => self.rng.next_u64(),
        };
        *entry = Some((now, drawn));
        drawn
    }
}

/// Which of several equal paths a packet takes.
#[derive(Debug)]
pub(crate) struct EqualPaths {
    spread_by: Spread,
    /// By node.
    salts: Vec<u64>,
    /// The sets of links of which one is to be chosen, each in the order of their far ends, then of links.
    sets: Vec<Vec<LinkId>>,
    /// By node and row of a destination: the index of a set. Empty for a node without any.
    tables: Vec<Vec<u32>>,
    /// By destination.
    places: Vec<Place>,
}

/// The next hop of a flow among `count` of them.
fn choice(key: u64, salt: u64, count: u64) -> u64 {
    spread(key ^ salt) % count
}

impl EqualPaths {
    /// Without paths as yet.
    pub(crate) fn new(spread_by: Spread, salts: Vec<u64>) -> EqualPaths {
        EqualPaths { spread_by, salts, sets: Vec::new(), tables: Vec::new(), places: Vec::new() }
    }

    /// Finds all shortest paths over the links that are up.
    pub(crate) fn find(&mut self, order: &Order, edges: &[Edge]) {
        let mut known: BTreeMap<Vec<LinkId>, u32> = BTreeMap::new();
        self.tables = vec![Vec::new(); order.nodes.len()];
        let net = Adjacency::new(order, edges);
        net.for_each_way(|row, destination, ways| {
            let links: Vec<LinkId> = ways.collect();
            if links.len() < 2 {
                return;
            }
            let number = known.len() as u32;
            let set = *known.entry(links).or_insert(number);
            let table = &mut self.tables[net.router(row).index()];
            table.resize(net.routers(), NO_CHOICE);
            table[destination] = set;
        });
        self.places = net.places;
        self.sets = vec![Vec::new(); known.len()];
        known.into_iter().for_each(|(links, set)| self.sets[set as usize] = links);
    }

    fn set(&self, node: NodeId, destination: NodeId) -> Option<&[LinkId]> {
        let row = self.places.get(destination.index())?.row;
        let set = *self.tables[node.index()].get(row as usize)?;
        (set != NO_CHOICE).then(|| &*self.sets[set as usize])
    }

    /// The link that a packet of the flow with this key takes from `node`; none where there is no choice.
    pub(crate) fn choose(&mut self, now: Time, node: NodeId, destination: NodeId, key: u64) -> Option<LinkId> {
        let count = self.set(node, destination)?.len() as u64;
        let salt = self.salts[node.index()];
        let index = match &mut self.spread_by {
            Spread::Flow => choice(key, salt, count),
            Spread::Packet(turns) => {
                let turn = turns.entry((node, destination)).or_default();
                *turn += 1;
                (*turn - 1) % count
            }
            Spread::Flowlet(gap, routers) => routers[node.index()].draw(now, *gap, spread(key ^ salt)) % count,
        };
        self.set(node, destination).map(|links| links[index as usize])
    }

    /// The link that packets of the flow take; the first one, if they do not stay on one.
    pub(crate) fn expected(&self, node: NodeId, destination: NodeId, key: u64) -> Option<LinkId> {
        let set = self.set(node, destination)?;
        let index = match self.spread_by {
            Spread::Flow => choice(key, self.salts[node.index()], set.len() as u64),
            Spread::Packet(_) | Spread::Flowlet(..) => 0,
        };
        Some(set[index as usize])
    }
}

#[cfg(test)]
mod tests;
