//! Where flows pass: the shortest paths over the links of a graph.

use std::collections::BTreeMap;

use crate::ids::{LinkId, NodeId};
use crate::routing::{Edge, Order, Routes};
use crate::scenario::Scenario;

/// Paths of a graph. Direction k of link i is `LinkId(2 i + k)`.
pub(super) struct Paths<'a> {
    nodes: BTreeMap<&'a str, NodeId>,
    routes: Routes,
    ends: BTreeMap<LinkId, NodeId>,
}

impl Paths<'_> {
    pub(super) fn of(graph: &Scenario) -> Paths<'_> {
        let nodes: BTreeMap<&str, NodeId> =
            graph.node.iter().enumerate().map(|(i, node)| (node.name.as_str(), NodeId(i as u32))).collect();
        let mut edges = Vec::new();
        for (i, link) in graph.link.iter().enumerate() {
            // Names that no node has are an error of the assembly.
            let (Some(&from), Some(&to)) = (nodes.get(link.from.as_str()), nodes.get(link.to.as_str())) else {
                continue;
            };
            for (k, (from, to)) in [(from, to), (to, from)].into_iter().enumerate() {
                edges.push(Edge { link: LinkId((2 * i + k) as u32), from, to, up: true });
            }
        }
        let ends = edges.iter().map(|edge| (edge.link, edge.to)).collect();
        Paths { nodes, routes: Routes::shortest(&Order::of(graph), &edges), ends }
    }

    /// The links from one node to another.
    pub(super) fn between(&self, from: &str, to: &str) -> Option<Vec<LinkId>> {
        let (mut here, to) = (*self.nodes.get(from)?, *self.nodes.get(to)?);
        let mut links = Vec::new();
        while here != to && links.len() <= self.nodes.len() {
            let link = self.routes.next(here, to)?;
            links.push(link);
            here = *self.ends.get(&link)?;
        }
        (here == to).then_some(links)
    }
}
