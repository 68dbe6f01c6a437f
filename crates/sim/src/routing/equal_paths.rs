//! Equal-cost multipath (RFC 2991, RFC 2992): where several links lead to a destination over the fewest hops, a router spreads its
//! packets over them, by flow, by packet or by flowlet.

use std::collections::BTreeMap;

use tcp::rng::Rng;
use tcp::units::{Span, Time};

use super::shortest::{Adjacency, NO_PORT, Place};
use super::{Edge, Order};
use crate::hash::spread;
use crate::ids::{LinkId, NodeId};

/// Flowlets that a router remembers.
const FLOWLETS: u64 = 4096;

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
    /// By node.
    choices: Vec<Choices>,
    /// By destination.
    places: Vec<Place>,
}

/// What a router chooses from.
#[derive(Clone, Debug, Default)]
struct Choices {
    /// The sets of links of which one is to be chosen, each in the order of their far ends, then of links.
    sets: Vec<Vec<LinkId>>,
    /// By the row of a destination: the index of a set, or `NO_PORT` with one path at most, which [`super::Routes`] know. Empty for a
    /// node without any set.
    table: Vec<u16>,
}

/// The next hop of a flow among `count` of them.
fn choice(key: u64, salt: u64, count: u64) -> u64 {
    spread(key ^ salt) % count
}

impl EqualPaths {
    /// Without paths as yet.
    pub(crate) fn new(spread_by: Spread, salts: Vec<u64>) -> EqualPaths {
        EqualPaths { spread_by, salts, choices: Vec::new(), places: Vec::new() }
    }

    /// Finds all shortest paths over the links that are up.
    pub(crate) fn find(&mut self, order: &Order, edges: &[Edge]) {
        let net = Adjacency::new(order, edges);
        let mut known: Vec<BTreeMap<Vec<LinkId>, u16>> = vec![BTreeMap::new(); net.routers()];
        self.choices = vec![Choices::default(); order.nodes.len()];
        net.for_each_way(|row, destinations, links| {
            if links.len() < 2 {
                return;
            }
            let Choices { sets, table } = &mut self.choices[net.router(row).index()];
            let set = *known[row].entry(links.to_vec()).or_insert_with(|| {
                sets.push(links.to_vec());
                sets.len() as u16 - 1
            });
            table.resize(net.routers(), NO_PORT);
            destinations.rows().for_each(|destination| table[destination] = set);
        });
        self.places = net.places;
    }

    fn set(&self, node: NodeId, destination: NodeId) -> Option<&[LinkId]> {
        let row = self.places.get(destination.index())?.row;
        let Choices { sets, table } = &self.choices[node.index()];
        sets.get(usize::from(*table.get(row as usize)?)).map(Vec::as_slice)
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
