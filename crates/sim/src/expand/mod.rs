//! Scenario to graph, in two steps: [`resolve`] completes what the user wrote, [`graph_of`] makes nodes, links and flows of that.
//!
//! Random topologies are drawn here, each from a stream of its own; start times when the network is there (`assemble`), since
//! their jitter may be a base RTT.

mod access;
mod adhoc;
mod bdp;
mod bounds;
mod check;
mod check_app;
mod check_effects;
mod check_paths;
mod check_queue;
mod check_service;
mod check_shaper;
mod check_transport;
mod check_workload;
mod constellation;
mod constellation_profiles;
mod datacenter;
mod dispatch;
mod emulate;
mod extent;
mod flow;
mod gains;
mod graph;
mod ground;
mod infrastructure;
mod limits;
mod mobility;
mod noise;
mod paths;
mod phase;
mod place;
mod placement;
mod presets;
mod reach;
mod shared_buffer;
mod simple;
mod stations;
mod tcp_warnings;
mod vary;
mod warnings;
mod wired_cum_wireless;

use tcp::units::Span;

use crate::scenario::{Scenario, ScenarioError, Traffic};

pub(crate) use check::{check_app, interval_nanos, transport_of};
pub(crate) use check_app::connections_of;
pub(crate) use extent::{Extent, FLOW_BYTES};
pub(crate) use graph::{direction_options, forward_options, reverse_options};
pub use limits::allow_worlds;
pub use limits::size;
pub(crate) use limits::{MAX_FLOWS, largest_world};
pub(crate) use vary::has_limit;
pub use warnings::warnings;

/// A world as an explicit graph.
#[derive(Debug)]
pub(crate) struct Expanded {
    pub(crate) graph: Scenario,
    /// Placements drawn until one was connected, if it had to be.
    pub(crate) placement_draws: Option<u32>,
}

/// The scenario with nothing left to a default; its kind of network stays. It is this that runs, and that identifies a run:
/// nothing is filled in afterwards.
///
/// # Errors
///
/// A value out of its range, or values that do not go together; the path names the field as the user wrote it.
pub fn resolve(scenario: &Scenario) -> Result<Scenario, ScenarioError> {
    check_times(scenario)?;
    vary::check(&scenario.vary)?;
    let mut resolved = scenario.clone();
    let generated = dispatch::complete(&mut resolved)?;
    shared_buffer::check(&resolved)?;
    check_workload::check_all(&resolved)?;
    flow::complete(&mut resolved, generated)?;
    noise::complete(&mut resolved, generated)?;
    Ok(resolved)
}

/// A resolved scenario as an explicit graph; its random parts but the starts of flows are drawn from `seed`.
///
/// # Errors
///
/// What only the nodes and links show: a count out of its range, a path that does not exist, no flows.
pub(crate) fn graph_of(resolved: &Scenario, seed: u64) -> Result<Expanded, ScenarioError> {
    let topology = dispatch::topology(resolved, seed)?;
    let mut flow = Vec::with_capacity(resolved.flow.len() + topology.flow_ends.len());
    flow.extend_from_slice(&resolved.flow);
    flow::add_generated(&mut flow, resolved, &topology.flow_ends)?;
    check_transport::check_number(&flow)?;
    // With programs there are flows enough.
    if flow.is_empty() && resolved.workload.is_empty() && resolved.emulate.is_none() {
        let hint = "add [[flow]] with from and to, [[workload]], or network.flows";
        return Err(ScenarioError::new("flow", "the scenario has no flows").with_hint(hint));
    }
    let mut graph = Scenario {
        network: topology.network,
        node: topology.nodes,
        link: topology.links,
        channel: topology.channels,
        flow,
        traffic: Traffic::default(),
        ..resolved.without_flows()
    };
    emulate::complete(&mut graph)?;
    check_paths::check_paths(&graph)?;
    bdp::fill(&mut graph)?;
    noise::fill(&mut graph)?;
    vary::apply(&mut graph, seed);
    Ok(Expanded { graph, placement_draws: topology.placement_draws })
}

/// The extent of the world that `scenario` will be; a pattern of wires is not drawn for it.
///
/// # Errors
///
/// As [`graph_of`], as far as the topology shows it.
pub(crate) fn planned(scenario: &Scenario, seed: u64) -> Result<Extent, ScenarioError> {
    let mut network = scenario.without_flows();
    let generated = dispatch::complete(&mut network)?;
    let of = |ends: u64, nodes: u64| {
        let of_each = connections_of(&scenario.traffic.app, nodes as usize, scenario.duration);
        ends * of_each + extent::connections(scenario, nodes as usize)
    };
    if let Some(wires) = dispatch::wires(&network)? {
        return Ok(Extent::wired(wires, of(generated, wires.nodes), network.network.routing()));
    }
    let topology = dispatch::topology(&network, seed)?;
    let flows = of(topology.flow_ends.len() as u64, topology.nodes.len() as u64);
    Ok(Extent::new(topology.nodes.len(), flows, &topology.links, &topology.channels, topology.network.routing()))
}

fn check_times(scenario: &Scenario) -> Result<(), ScenarioError> {
    let longest = Span::from_millis(10_000_000_000);
    if scenario.duration == Span::ZERO || scenario.duration > longest {
        return Err(ScenarioError::new(
            "duration",
            format!("{} is not above 0s and up to {longest}", scenario.duration),
        ));
    }
    if scenario.warmup >= scenario.duration {
        let message = format!("{} leaves nothing of a duration of {}", scenario.warmup, scenario.duration);
        return Err(ScenarioError::new("warmup", message));
    }
    if scenario.cooldown >= scenario.duration.saturating_sub(scenario.warmup) {
        let message = format!("{} leaves nothing of a duration of {}", scenario.cooldown, scenario.duration);
        return Err(ScenarioError::new("cooldown", message));
    }
    if scenario.record.bin == Span::ZERO {
        return Err(ScenarioError::new("record.bin", "a bin must be longer than 0s"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
