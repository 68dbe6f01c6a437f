//! Memory that the ports of switches share: whose it is, its checks, and limits that contradict it.

use std::collections::BTreeMap;

use tcp::units::Bytes;

use super::bounds::refuse;
use super::graph::{forward_options, reverse_options};
use crate::scenario::{
    Amount, DropTailDef, Network, NodeDef, Queue, Role, Scenario, ScenarioError, ScenarioWarning, SharedBufferDef,
};

/// A datagram of full size.
const FULL: Bytes = Bytes(1500);
const LARGEST: Bytes = Bytes(1_000_000_000_000);
const MOST_ALPHA: f64 = 1024.0;

/// The key of a kind of network.
const OF_NETWORK: &str = "network.shared_buffer";

fn of_node(index: usize) -> String {
    format!("node[{index}].shared_buffer")
}

/// Checks the memories of a complete scenario.
pub(super) fn check(scenario: &Scenario) -> Result<(), ScenarioError> {
    scenario.network.shared_buffer().map_or(Ok(()), |def| check_one(def, OF_NETWORK))?;
    for (index, node) in scenario.node.iter().enumerate() {
        let Some(def) = &node.shared_buffer else { continue };
        check_one(def, &of_node(index))?;
        let has_port = |end: &String| *end == node.name;
        if !scenario.link.iter().any(|link| has_port(&link.from) || has_port(&link.to)) {
            return Err(ScenarioError::new(of_node(index), format!("no link leads to {:?}", node.name)));
        }
    }
    Ok(())
}

fn check_one(def: &SharedBufferDef, path: &str) -> Result<(), ScenarioError> {
    if !(FULL..=LARGEST).contains(&def.size) {
        return Err(refuse(path, "size", def.size, &format!("a size from {FULL}, a full packet, to {LARGEST}")));
    }
    if !(def.alpha > 0.0 && def.alpha <= MOST_ALPHA) {
        return Err(refuse(path, "alpha", def.alpha, &format!("a number above 0 and up to {MOST_ALPHA}")));
    }
    Ok(())
}

/// Gives the nodes of a shorthand that forward the memory of its network.
pub(super) fn give(network: &Network, nodes: &mut [NodeDef]) {
    let Some(def) = network.shared_buffer() else { return };
    let forwards = |node: &&mut NodeDef| matches!(node.role, Role::Router | Role::Gateway | Role::Switch);
    nodes.iter_mut().filter(forwards).for_each(|node| node.shared_buffer = Some(*def));
}

/// Warns of queues whose own limit binds before the memory does, and of thresholds above what a port can hold; once for each key.
pub(super) fn warnings(resolved: &Scenario, graph: &Scenario) -> Vec<ScenarioWarning> {
    let own = resolved.network.shared_buffer().is_some();
    let path = |index| if own { OF_NETWORK.to_owned() } else { of_node(index) };
    let shared = graph
        .node
        .iter()
        .enumerate()
        .filter_map(|(index, node)| node.shared_buffer.map(|def| (node.name.as_str(), (path(index), def))));
    let shared: BTreeMap<&str, (String, SharedBufferDef)> = shared.collect();
    let mut found: Vec<ScenarioWarning> = Vec::new();
    for link in &graph.link {
        for (from, to, options) in
            [(&link.from, &link.to, forward_options(link)), (&link.to, &link.from, reverse_options(link))]
        {
            let Some((path, def)) = shared.get(from.as_str()) else { continue };
            let fault = options.queue.and_then(|queue| fault(&queue, def.of_one_port()));
            if let Some(fault) = fault.filter(|_| !found.iter().any(|known| known.path == *path)) {
                found.push(ScenarioWarning::new(path.clone(), format!("the queue from {from} to {to} {fault}")));
            }
        }
    }
    found
}

/// What of a queue contradicts a memory of which a port alone may hold so much.
fn fault(queue: &Queue, alone: Bytes) -> Option<String> {
    let Queue::DropTail(DropTailDef { limit, mark_threshold }) = queue else { return None };
    let binds = match limit {
        Amount::Packets(packets) => FULL.0.saturating_mul(*packets) < alone.0,
        Amount::Bytes(bytes) => *bytes < alone,
        Amount::Unlimited | Amount::Bdp { .. } => false,
    };
    if binds {
        let message = format!("has a limit of {limit}, which binds before the memory: a port alone may hold {alone}");
        return Some(format!("{message}; limit = \"unlimited\" leaves it to the memory"));
    }
    let threshold = mark_threshold.filter(|threshold| FULL.0.saturating_mul(*threshold) >= alone.0)?;
    Some(format!("marks above {threshold} packets, and a port holds {alone} at most: nothing is marked"))
}

#[cfg(test)]
mod tests {
    use crate::expand::warnings::said;

    fn of(network: &str) -> Vec<String> {
        said(&format!(r#"{{"duration": "1s", "network": {network}}}"#))
    }

    #[test]
    fn limits_of_ports_that_contradict_the_memory_are_named() {
        let star =
            |more: &str| of(&format!(r#"{{"kind": "star", "nodes": 4, "shared_buffer": {{"size": "1MB"}}{more}}}"#));
        assert!(star("").is_empty(), "{:?}", star(""));
        let sink = |queue: &str| star(&format!(r#", "sink": {{"queue": {queue}}}"#));
        assert_eq!(
            sink(r#""100p""#),
            [
                "network.shared_buffer: the queue from gateway to sink0 has a limit of 100p, which binds before the memory: a port alone \
              may hold 500kB; limit = \"unlimited\" leaves it to the memory"
            ]
        );
        assert!(sink(r#""600kB""#).is_empty() && sink(r#""334p""#).is_empty());
        let marks = |k: u64| sink(&format!(r#"{{"kind": "drop_tail", "limit": "unlimited", "mark_threshold": {k}}}"#));
        assert!(marks(333).is_empty() && marks(334)[0].contains("nothing is marked"), "{:?}", marks(334));
    }
}
