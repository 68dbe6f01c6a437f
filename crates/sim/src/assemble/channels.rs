//! Channels of radio: stations, their rules, and how packets find their way.

use std::collections::BTreeMap;

use tcp::rng::Rng;
use tcp::units::{Bytes, Time};

use super::find;
use crate::channel::{Channel, ChannelId, Routing, neighbours, shortest};
use crate::event::NodeId;
use crate::mobility::{Point, Track};
use crate::radio::air::{Air, Draws};
use crate::radio::build;
use crate::radio::frame::StationId;
use crate::radio::hearing::Hearing;
use crate::scenario::{ChannelDef, NodeDef, RoutingDef, Scenario, ScenarioError};

/// The channels of an expanded scenario.
pub(super) fn build(
    graph: &Scenario,
    names: &BTreeMap<&str, NodeId>,
    seed: u64,
) -> Result<Vec<Channel>, ScenarioError> {
    let mut used: BTreeMap<NodeId, usize> = BTreeMap::new();
    let mut channels = Vec::with_capacity(graph.channel.len());
    for (index, def) in graph.channel.iter().enumerate() {
        let path = format!("channel[{index}]");
        let mut nodes = Vec::with_capacity(def.stations.len());
        for (i, name) in def.stations.iter().enumerate() {
            let path = format!("{path}.stations[{i}]");
            let node = find(names, name, &path)?;
            if used.insert(node, index).is_some() {
                return Err(ScenarioError::new(path, format!("{name:?} has a radio already")));
            }
            nodes.push(node);
        }
        channels.push(channel(graph, def, &path, ChannelId(index as u16), nodes, seed)?);
    }
    Ok(channels)
}

fn channel(
    graph: &Scenario,
    def: &ChannelDef,
    path: &str,
    id: ChannelId,
    nodes: Vec<NodeId>,
    seed: u64,
) -> Result<Channel, ScenarioError> {
    let station = |name: &str, path: String| {
        let index = def.stations.iter().position(|station| station == name);
        let index =
            index.ok_or_else(|| ScenarioError::new(path, format!("{name:?} is not one of the channel's stations")))?;
        Ok(StationId(index as u32))
    };
    let radio = build::build(&def.radio, Bytes::ZERO);
    let tracks = nodes.iter().map(|node| track(&graph.node[node.index()])).collect();
    let hearing = Hearing::new(&radio, tracks);
    let draws = |i: usize, what: Draws| Rng::stream(seed, &format!("station/{}/{}", def.stations[i], what.name()));
    let mut air = Air::new(id, radio.rules, hearing, draws);
    let routing = match &def.routing {
        RoutingDef::Shortest(_) => Routing::Shortest(shortest(&neighbours(&mut air, Time::ZERO))),
        RoutingDef::AccessPoints(points) => {
            let path = format!("{path}.routing.stations");
            let points: Vec<StationId> = (points.stations.iter().enumerate())
                .map(|(i, name)| station(name, format!("{path}[{i}]")))
                .collect::<Result<_, _>>()?;
            if points.is_empty() {
                return Err(ScenarioError::new(path, "at least one station must be an access point"));
            }
            Routing::AccessPoints(air.belongings(&points))
        }
        RoutingDef::Dsdv(_) | RoutingDef::Aodv(_) => {
            return Err(ScenarioError::new(format!("{path}.routing.kind"), "is not there yet; known: `shortest`"));
        }
    };
    let gateway = def.gateway.as_ref().map(|name| station(name, format!("{path}.gateway"))).transpose()?;
    Ok(Channel::new(air, nodes, gateway, routing))
}

fn track(node: &NodeDef) -> Track {
    let Some((x, y)) = node.x.zip(node.y) else { return Track::Fixed(Point::default()) };
    Track::Fixed(Point { x, y, z: node.z.unwrap_or(0.0) })
}
