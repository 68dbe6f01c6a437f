//! Routes that depend on the flow of a packet: paths that a scenario pins, and equal paths.

use tcp::units::Time;

use crate::ids::{EndpointId, FlowId, LinkId, NodeId};
use crate::link::Link;
use crate::routing::{Edge, EqualPaths, Order, Routes};

/// What the routes to a destination do not tell of a packet.
#[derive(Debug)]
pub(crate) struct FlowRoutes {
    equal: Option<EqualPaths>,
    /// By flow: its path in each direction, if it is pinned. Shorter than the list of flows if the last are not.
    pins: Vec<Option<[Pin; 2]>>,
}

/// The path of the packets of one direction of a flow.
#[derive(Clone, Debug)]
struct Pin {
    /// Source, the nodes to pass in order, destination.
    stops: Vec<NodeId>,
    /// The link at each node of the path; none while there is no such path, or it would pass a node twice.
    path: Option<Vec<(NodeId, LinkId)>>,
}

impl FlowRoutes {
    pub(crate) fn new(equal: Option<EqualPaths>) -> FlowRoutes {
        FlowRoutes { equal, pins: Vec::new() }
    }

    /// From now on the packets of a flow pass these nodes: its source, others in order, its sink; its ACKs in the opposite order.
    pub(crate) fn pin(&mut self, flow: FlowId, stops: Vec<NodeId>, routes: &Routes, links: &[Link]) {
        let back = stops.iter().rev().copied().collect();
        let index = flow.index();
        self.pins.resize(self.pins.len().max(index + 1), None);
        self.pins[index] = Some([Pin::new(stops, routes, links), Pin::new(back, routes, links)]);
    }

    /// Follows a change of the links.
    pub(crate) fn find(&mut self, order: &Order, edges: &[Edge], routes: &Routes, links: &[Link]) {
        if let Some(equal) = &mut self.equal {
            equal.find(order, edges);
        }
        for pin in self.pins.iter_mut().flatten().flatten() {
            *pin = Pin::new(std::mem::take(&mut pin.stops), routes, links);
        }
    }

    /// The link on which `node` sends a packet for the endpoint `to`.
    pub(super) fn next(
        &mut self,
        now: Time,
        routes: &Routes,
        [node, destination]: [NodeId; 2],
        to: EndpointId,
    ) -> Option<LinkId> {
        if let Some(pinned) = self.pinned(node, to) {
            return pinned;
        }
        let chosen = self.equal.as_mut().and_then(|equal| equal.choose(now, node, destination, key(to)));
        chosen.or_else(|| routes.next(node, destination))
    }

    /// The next link without counting a packet: where the paths of packets differ, that of the first.
    pub(super) fn expected(&self, routes: &Routes, [node, destination]: [NodeId; 2], to: EndpointId) -> Option<LinkId> {
        if let Some(pinned) = self.pinned(node, to) {
            return pinned;
        }
        let chosen = self.equal.as_ref().and_then(|equal| equal.expected(node, destination, key(to)));
        chosen.or_else(|| routes.next(node, destination))
    }

    /// What a pinned path says: no link if it is broken, nothing of a node beside it, where a packet may be after a move.
    fn pinned(&self, node: NodeId, to: EndpointId) -> Option<Option<LinkId>> {
        let pins = self.pins.get(to.flow().index())?.as_ref()?;
        let Some(path) = &pins[usize::from(to.is_source())].path else { return Some(None) };
        path.iter().find(|(at, _)| *at == node).map(|(_, link)| Some(*link))
    }
}

/// What is hashed of a packet: its flow and direction.
fn key(to: EndpointId) -> u64 {
    u64::from(to.0)
}

impl Pin {
    fn new(stops: Vec<NodeId>, routes: &Routes, links: &[Link]) -> Pin {
        let path = find_path(&stops, routes, links);
        Pin { stops, path }
    }
}

/// The shortest path from stop to stop over links that are up.
fn find_path(stops: &[NodeId], routes: &Routes, links: &[Link]) -> Option<Vec<(NodeId, LinkId)>> {
    let (mut path, end): (Vec<(NodeId, LinkId)>, _) = (Vec::new(), stops.last());
    for leg in stops.windows(2) {
        let mut here = leg[0];
        while here != leg[1] {
            let link = routes.next(here, leg[1])?;
            // At its destination a packet goes no further.
            let is_passed = Some(&here) == end || path.iter().any(|(passed, _)| *passed == here);
            if is_passed || !links[link.index()].up {
                return None;
            }
            path.push((here, link));
            here = links[link.index()].to?;
        }
    }
    Some(path)
}
