//! Scenario to graph: every shorthand becomes explicit nodes, links and flows with nothing left to a default.
//!
//! Random topologies and start times are drawn here, each from a stream of its own, so the graph holds no chance but
//! the medium's.

mod check;
mod check_queue;
mod constellation;
mod ground;
mod infrastructure;
mod lrwpan;
mod mobility;
mod placement;
mod shapes;
mod wired_cum_wireless;
mod wireless;

use tcp::TcpConfig;
use tcp::rng::Rng;
use tcp::units::Span;

use crate::scenario::{
    AppDef, ChannelDef, FlowDef, Graph, LinkDef, Network, NodeDef, Scenario, ScenarioError, TcpOptions, TransportDef,
    join,
};

pub(crate) use check::{check_app, interval_nanos, transport_of};

/// The most nodes of a scenario, and the most flows: with either, a world is built in a few seconds and takes less than two
/// gigabytes.
const MOST: u64 = 100_000;
const MOST_FLOWS: u64 = 100_000;

/// What a shorthand stands for.
#[derive(Debug)]
struct Shape {
    /// A constellation stays what it is; anything else becomes a graph.
    network: Network,
    nodes: Vec<NodeDef>,
    links: Vec<LinkDef>,
    channels: Vec<ChannelDef>,
    /// Ends of the flows that `network.flows` asks for.
    pairs: Vec<(String, String)>,
    /// Placements drawn until one was connected, if it had to be.
    placement_draws: Option<u32>,
}

/// A world as an explicit graph.
#[derive(Debug)]
pub(crate) struct Expanded {
    pub(crate) graph: Scenario,
    /// Placements drawn until one was connected, if it had to be.
    pub(crate) placement_draws: Option<u32>,
}

impl Default for Shape {
    fn default() -> Shape {
        Shape {
            network: Network::Graph(Graph::default()),
            nodes: Vec::new(),
            links: Vec::new(),
            channels: Vec::new(),
            pairs: Vec::new(),
            placement_draws: None,
        }
    }
}

/// The same world as an explicit graph, random parts drawn with `seed`.
pub fn expand(scenario: &Scenario, seed: u64) -> Result<Scenario, ScenarioError> {
    Ok(draw(scenario, seed)?.graph)
}

/// The same, and how it was drawn.
pub(crate) fn draw(scenario: &Scenario, seed: u64) -> Result<Expanded, ScenarioError> {
    check_times(scenario)?;
    let mut scenario = scenario.clone();
    lrwpan::set_segment_size(&mut scenario);
    let scenario = &scenario;
    let shape = shapes::shape_of(scenario, seed)?;
    let common = scenario.tcp.resolve("tcp")?;
    check_app(&scenario.traffic.app, "traffic.app")?;
    let mut flows = Vec::with_capacity(scenario.flow.len() + shape.pairs.len());
    for (index, flow) in scenario.flow.iter().enumerate() {
        flows.push(explicit_flow(scenario, flow, &common, &format!("flow[{index}]"))?);
    }
    for (index, pair) in shape.pairs.iter().enumerate() {
        let flow = generated_flow(scenario, pair, index, seed);
        flows.push(explicit_flow(scenario, &flow, &common, "traffic")?);
    }
    if flows.is_empty() {
        let hint = "add [[flow]] with from and to, or network.flows";
        return Err(ScenarioError::new("flow", "the scenario has no flows").with_hint(hint));
    }
    let graph = Scenario {
        network: shape.network,
        node: shape.nodes,
        link: shape.links,
        channel: shape.channels,
        flow: flows,
        tcp: spelled_out(&scenario.tcp, &common),
        traffic: Default::default(),
        ..scenario.clone()
    };
    Ok(Expanded { graph, placement_draws: shape.placement_draws })
}

/// The scenario with every default of its own shape filled in.
pub fn resolve(scenario: &Scenario) -> Result<Scenario, ScenarioError> {
    let mut resolved = scenario.clone();
    lrwpan::set_segment_size(&mut resolved);
    let config = resolved.tcp.resolve("tcp")?;
    resolved.tcp = spelled_out(&scenario.tcp, &config);
    shapes::fill(&mut resolved)?;
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
    if scenario.record.bin == Span::ZERO {
        return Err(ScenarioError::new("record.bin", "a bin must be longer than 0s"));
    }
    Ok(())
}

/// What `options` stand for, with nothing left to their profile.
fn spelled_out(options: &TcpOptions, config: &TcpConfig) -> TcpOptions {
    TcpOptions::of(options.profile.unwrap_or_default(), config)
}

/// A flow with its settings spelled out, if it has any of its own: else they are the `common` ones, which the graph holds once.
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
    Ok(FlowDef { cc: None, tcp: spelled_out(&options, &config), ..flow.clone() })
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

fn message_size(app: &AppDef) -> Option<tcp::units::Bytes> {
    match app {
        AppDef::Bulk(_) => None,
        AppDef::Cbr(cbr) => Some(cbr.size),
        AppDef::OnOff(on_off) => Some(on_off.size),
    }
}

/// A flow of `network.flows`: the template, a start of its own.
fn generated_flow(scenario: &Scenario, pair: &(String, String), index: usize, seed: u64) -> FlowDef {
    let traffic = &scenario.traffic;
    let jitter = Rng::stream(seed, &format!("traffic/{index}/start")).uniform() * traffic.start_jitter.as_secs_f64();
    let start = traffic.start + Span::from_secs_f64(jitter);
    FlowDef {
        from: pair.0.clone(),
        to: pair.1.clone(),
        cc: None,
        app: traffic.app.clone(),
        start: start.min(scenario.duration),
        stop: traffic.stop,
        tcp: TcpOptions::default(),
    }
}

#[cfg(test)]
mod tests;
