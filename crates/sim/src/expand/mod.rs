//! Scenario to graph: every shorthand becomes explicit nodes, links and flows with nothing left to a default.
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
mod check_workload;
mod constellation;
mod datacenter;
mod dispatch;
mod dumbbell;
mod extent;
mod graph;
mod ground;
mod infrastructure;
mod lan;
mod limits;
mod listed;
mod lrwpan;
mod mobility;
mod parking_lot;
mod placement;
mod presets;
mod random_wired;
mod star;
mod stations;
mod warnings;
mod wired_cum_wireless;

use tcp::TcpConfig;
use tcp::units::Span;

use crate::scenario::{AppDef, FlowDef, Scenario, ScenarioError, StartJitter, TcpOptions, Traffic, TransportDef, join};

use check::message_size;
use graph::FlowEnds;

pub(crate) use check::{check_app, interval_nanos, transport_of};
pub(crate) use check_app::connections_of;
pub(crate) use extent::Extent;
pub(crate) use graph::{forward_options, reverse_options};
pub(crate) use limits::MAX_FLOWS;
pub use warnings::warnings;

/// A world as an explicit graph.
#[derive(Debug)]
pub(crate) struct Expanded {
    pub(crate) graph: Scenario,
    /// Placements drawn until one was connected, if it had to be.
    pub(crate) placement_draws: Option<u32>,
}

/// The world of a scenario as an explicit graph; its random parts but the starts of flows are drawn from `seed`.
///
/// # Errors
///
/// A value out of its range, or values that do not go together; the path names the field as the user wrote it.
pub(crate) fn expand(scenario: &Scenario, seed: u64) -> Result<Scenario, ScenarioError> {
    Ok(expand_world(scenario, seed)?.graph)
}

/// The explicit graph of a scenario, with what is to be known of its random parts.
pub(crate) fn expand_world(scenario: &Scenario, seed: u64) -> Result<Expanded, ScenarioError> {
    check_times(scenario)?;
    let mut scenario = scenario.clone();
    lrwpan::set_segment_size(&mut scenario);
    let scenario = &scenario;
    let topology = dispatch::topology(scenario, seed)?;
    let common = scenario.tcp.resolve("tcp")?;
    check_app(&scenario.traffic.app, "traffic.app")?;
    let mut flows = Vec::with_capacity(scenario.flow.len() + topology.flow_ends.len());
    for (index, flow) in scenario.flow.iter().enumerate() {
        let jitter = flow.start_jitter.or(scenario.traffic.start_jitter);
        let flow = FlowDef { start_jitter: jitter, ..flow.clone() };
        flows.push(explicit_flow(scenario, &flow, &common, &format!("flow[{index}]"))?);
    }
    for ends in &topology.flow_ends {
        flows.push(explicit_flow(scenario, &generated_flow(scenario, ends), &common, "traffic")?);
    }
    let workload = check_workload::explicit(scenario, &common)?;
    if flows.is_empty() && workload.is_empty() {
        let hint = "add [[flow]] with from and to, [[workload]], or network.flows";
        return Err(ScenarioError::new("flow", "the scenario has no flows").with_hint(hint));
    }
    let mut graph = Scenario {
        network: topology.network,
        node: topology.nodes,
        link: topology.links,
        channel: topology.channels,
        flow: flows,
        workload,
        tcp: resolved_options(&scenario.tcp, &common),
        traffic: Default::default(),
        ..scenario.clone()
    };
    check_paths::check_paths(&graph)?;
    bdp::fill(&mut graph)?;
    Ok(Expanded { graph, placement_draws: topology.placement_draws })
}

/// The scenario with nothing left to a default; its kind of network stays.
///
/// # Errors
///
/// As [`expand`].
pub fn resolve(scenario: &Scenario) -> Result<Scenario, ScenarioError> {
    let mut resolved = scenario.clone();
    lrwpan::set_segment_size(&mut resolved);
    let config = resolved.tcp.resolve("tcp")?;
    resolved.tcp = resolved_options(&scenario.tcp, &config);
    let none = StartJitter::Span(Span::ZERO);
    for flow in &mut resolved.flow {
        flow.start_jitter.get_or_insert(scenario.traffic.start_jitter.unwrap_or(none));
    }
    resolved.traffic.start_jitter.get_or_insert(Traffic::JITTER_OF_GENERATED);
    dispatch::fill(&mut resolved)?;
    Ok(resolved)
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

/// What `options` stand for, with nothing left to their profile.
fn resolved_options(options: &TcpOptions, config: &TcpConfig) -> TcpOptions {
    TcpOptions::of(options.profile.unwrap_or_default(), config)
}

/// A flow with its settings resolved, if it has any of its own: otherwise they are the `common` ones, which the graph holds once.
fn explicit_flow(
    scenario: &Scenario,
    flow: &FlowDef,
    common: &TcpConfig,
    path: &str,
) -> Result<FlowDef, ScenarioError> {
    if flow.start > scenario.duration {
        let message = format!("{} is after the end of the run ({})", flow.start, scenario.duration);
        return Err(ScenarioError::new(join(path, "start"), message));
    }
    if flow.stop.is_some_and(|stop| stop <= flow.start) {
        return Err(ScenarioError::new(join(path, "stop"), format!("is not after start ({})", flow.start)));
    }
    check_app(&flow.app, &join(path, "app"))?;
    check_app::check_beside(flow, path)?;
    if let (Some(own), Some(dscp)) = (flow.app.datagrams().dscp, flow.dscp) {
        let message = format!("{own}, but the flow has dscp = \"{dscp}\"; give it once");
        return Err(ScenarioError::new(join(path, "app.dscp"), message));
    }
    // Browsers and servers of the web set TCP_NODELAY.
    let own = TcpOptions { nagle: scenario.tcp.nagle.is_none().then_some(false), ..TcpOptions::default() };
    let flow = match flow.app {
        AppDef::Page(_) => &FlowDef { tcp: flow.tcp.over(&own), ..flow.clone() },
        _ => flow,
    };
    if flow.cc.is_none() && flow.tcp.is_empty() {
        check_sizes(scenario, flow, common, path)?;
        return Ok(flow.clone());
    }
    let mut options = flow.tcp.over(&scenario.tcp);
    let mut cc_path = format!("{path}.tcp.cc");
    if let Some(cc) = &flow.cc {
        options.cc = Some(cc.clone());
        cc_path = format!("{path}.cc");
    }
    let config = options.resolve(&join(path, "tcp")).map_err(|mut error| {
        error.path = error.path.replace(&format!("{path}.tcp.cc"), &cc_path);
        error
    })?;
    check_sizes(scenario, flow, &config, path)?;
    Ok(FlowDef { cc: None, tcp: resolved_options(&options, &config), ..flow.clone() })
}

/// Refuses messages that never fit, into the send buffer or into a frame.
fn check_sizes(scenario: &Scenario, flow: &FlowDef, config: &TcpConfig, path: &str) -> Result<(), ScenarioError> {
    if let (TransportDef::Tcp, Some(size)) = (transport_of(&flow.app), message_size(&flow.app))
        && config.send_buffer < size
    {
        let message = format!("{size} never fits into send_buffer ({})", config.send_buffer);
        return Err(ScenarioError::new(join(path, "app.size"), message));
    }
    lrwpan::check_size(scenario, flow, config, path)
}

/// A flow of `network.flows`: the template between these ends.
fn generated_flow(scenario: &Scenario, ends: &FlowEnds) -> FlowDef {
    let traffic = &scenario.traffic;
    FlowDef {
        name: None,
        from: ends.from.clone(),
        to: ends.to.clone(),
        cc: None,
        app: traffic.app.clone(),
        start: traffic.start.min(scenario.duration),
        start_jitter: traffic.start_jitter.or(Some(Traffic::JITTER_OF_GENERATED)),
        stop: traffic.stop,
        priority: None,
        sink_agent: None,
        silent: false,
        dscp: None,
        tcp: TcpOptions::default(),
    }
}

#[cfg(test)]
mod tests;
