//! Checks of names of flows, of routing over links, and of flows that are pinned or move.

use std::collections::{BTreeMap, BTreeSet};

use tcp::units::Span;

use super::bounds::{LONGEST, span_within};
use crate::scenario::{FlowDef, PathRouting, Scenario, ScenarioError, SpreadBy, Via, did_you_mean, join};

/// Checks an expanded scenario.
pub(super) fn check_paths(graph: &Scenario) -> Result<(), ScenarioError> {
    let names = flow_names(&graph.flow)?;
    let routing = graph.network.routing();
    let first = match (routing, graph.moves.first()) {
        (Some(_), _) => Some("network.routing"),
        (None, Some(_)) => Some("move"),
        (None, None) => None,
    };
    let by_links = matches!(graph.network, crate::scenario::Network::Graph(_)) && graph.channel.is_empty();
    if let (Some(path), false) = (first, by_links) {
        return Err(ScenarioError::new(path, "is for networks of links alone; this one has a radio or satellites"));
    }
    if let Some(PathRouting::Ecmp(ecmp)) = routing
        && let SpreadBy::Flowlet(flowlet) = ecmp.by
    {
        span_within("network.routing.by", "gap", flowlet.gap, Span::from_nanos(1), LONGEST)?;
    }
    let mut pinned = BTreeSet::new();
    for (i, pin) in routing.map_or(&[][..], PathRouting::pins).iter().enumerate() {
        let path = format!("network.routing.pins[{i}]");
        check_one(&names, &pin.flow, &pin.via, &path)?;
        if !pinned.insert(&pin.flow) {
            let message = format!("{:?} is pinned twice", pin.flow);
            return Err(ScenarioError::new(join(&path, "flow"), message));
        }
    }
    for (i, step) in graph.moves.iter().enumerate() {
        let path = format!("move[{i}]");
        check_one(&names, &step.flow, &step.via, &path)?;
        span_within(&path, "at", step.at, Span::ZERO, graph.duration)?;
    }
    Ok(())
}

fn flow_names(flows: &[FlowDef]) -> Result<BTreeSet<&str>, ScenarioError> {
    let mut names = BTreeMap::new();
    for (i, name) in flows.iter().enumerate().filter_map(|(i, flow)| Some((i, flow.name.as_deref()?))) {
        let wrong = match names.insert(name, i) {
            _ if name.is_empty() => "is empty".to_owned(),
            Some(other) => format!("{name:?} is the name of flow[{other}] too"),
            None => continue,
        };
        return Err(ScenarioError::new(format!("flow[{i}].name"), wrong));
    }
    Ok(names.into_keys().collect())
}

fn check_one(names: &BTreeSet<&str>, flow: &str, via: &Via, path: &str) -> Result<(), ScenarioError> {
    if !names.contains(flow) {
        let known: Vec<&str> = names.iter().copied().take(8).collect();
        let hint = if known.is_empty() {
            "give the flow a name: [[flow]] name = …".to_owned()
        } else {
            did_you_mean(flow, names.iter().copied()).unwrap_or_else(|| format!("names: {}", known.join(", ")))
        };
        return Err(ScenarioError::new(join(path, "flow"), format!("unknown flow {flow:?}")).with_hint(hint));
    }
    if via.0.is_empty() {
        return Err(ScenarioError::new(join(path, "via"), "names no node; at least one"));
    }
    Ok(())
}
