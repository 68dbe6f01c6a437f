//! Routes by flow: equal paths with their salts, pinned flows, and flows that move.

use std::collections::BTreeMap;

use tcp::rng::Rng;
use tcp::units::Time;

use super::find_node;
use crate::ids::{FlowId, NodeId};
use crate::network::{FlowRoutes, Network};
use crate::routing::{EqualPaths, Flowlets, Spread};
use crate::scenario::{EcmpDef, PathRouting, Salt, Scenario, ScenarioError, SpreadBy, Via, join};
use crate::world::Change;

/// Gives the network its routes by flow; returns the moves, each with its time.
pub(super) fn build(
    graph: &Scenario,
    names: &BTreeMap<&str, NodeId>,
    seed: u64,
    network: &mut Network,
) -> Result<Vec<(Time, Change)>, ScenarioError> {
    let routing = graph.network.routing();
    let ecmp = match routing {
        Some(PathRouting::Ecmp(ecmp)) => Some(ecmp),
        _ => None,
    };
    let pins = routing.map_or(&[][..], PathRouting::pins);
    if ecmp.is_none() && pins.is_empty() && graph.moves.is_empty() {
        return Ok(Vec::new());
    }
    network.route_by_flow(FlowRoutes::new(ecmp.map(|ecmp| equal_paths(graph, ecmp, seed))));
    for (i, pin) in pins.iter().enumerate() {
        let path = format!("network.routing.pins[{i}].via");
        let (flow, stops) = stops(graph, names, &pin.flow, &pin.via, &path)?;
        let (from, to) = (stops[0], stops[stops.len() - 1]);
        network.pin(flow, stops);
        if !network.has_path(from, to, flow.sink()) {
            let message = format!("no path by way of {} that passes each node once", pin.via.0.join(", "));
            return Err(ScenarioError::new(path, message).with_hint("tonopah check --expand shows nodes and links"));
        }
    }
    let mut moves = Vec::with_capacity(graph.moves.len());
    for (i, step) in graph.moves.iter().enumerate() {
        let (flow, stops) = stops(graph, names, &step.flow, &step.via, &format!("move[{i}].via"))?;
        moves.push((Time::ZERO + step.at, Change::Path { flow, stops }));
    }
    Ok(moves)
}

fn equal_paths(graph: &Scenario, ecmp: &EcmpDef, seed: u64) -> EqualPaths {
    let mut rng = Rng::stream(seed, "topology/ecmp");
    let salts = match ecmp.salt {
        Salt::Router => graph.node.iter().map(|_| rng.next_u64()).collect(),
        Salt::Common => vec![rng.next_u64(); graph.node.len()],
    };
    let flowlets = |name: &str| Flowlets::new(Rng::stream(seed, &format!("node/{name}/flowlets")));
    let spread_by = match ecmp.by {
        SpreadBy::Flow(_) => Spread::Flow,
        SpreadBy::Packet(_) => Spread::Packet(BTreeMap::new()),
        SpreadBy::Flowlet(def) => Spread::Flowlet(def.gap, graph.node.iter().map(|n| flowlets(&n.name)).collect()),
    };
    EqualPaths::new(spread_by, salts)
}

/// The flow of this name, and its source, the nodes of `via` and its sink.
fn stops(
    graph: &Scenario,
    names: &BTreeMap<&str, NodeId>,
    flow: &str,
    via: &Via,
    path: &str,
) -> Result<(FlowId, Vec<NodeId>), ScenarioError> {
    let index = graph.flow.iter().position(|def| def.name.as_deref() == Some(flow)).expect("names were checked");
    let mut stops = vec![find_node(names, &graph.flow[index].from, &join(&format!("flow[{index}]"), "from"))?];
    for (i, name) in via.0.iter().enumerate() {
        stops.push(find_node(names, name, &format!("{path}[{i}]"))?);
    }
    stops.push(find_node(names, &graph.flow[index].to, &join(&format!("flow[{index}]"), "to"))?);
    Ok((FlowId(index as u32), stops))
}
