//! What every topology is built with: nodes, links with their defaults, and checks of numbers.

use std::collections::BTreeMap;

use tcp::units::{Bytes, Rate, Span};

use super::check::check_link;
use super::presets::with_preset;
use crate::mobility::Point;
use crate::scenario::{
    Amount, ChannelDef, Graph, LinkDef, LinkOptions, LossModel, Network, NodeDef, Queue, Role, ScenarioError,
    ServiceDef,
};

/// What a shorthand stands for.
#[derive(Debug)]
pub(super) struct Topology {
    /// A constellation stays what it is; anything else becomes a graph.
    pub(super) network: Network,
    pub(super) nodes: Vec<NodeDef>,
    pub(super) links: Vec<LinkDef>,
    pub(super) channels: Vec<ChannelDef>,
    /// Ends of the flows that `network.flows` asks for.
    pub(super) flow_ends: Vec<FlowEnds>,
    /// Placements drawn until one was connected, if it had to be.
    pub(super) placement_draws: Option<u32>,
}

impl Default for Topology {
    fn default() -> Topology {
        Topology {
            network: Network::Graph(Graph::default()),
            nodes: Vec::new(),
            links: Vec::new(),
            channels: Vec::new(),
            flow_ends: Vec::new(),
            placement_draws: None,
        }
    }
}

/// What a pattern of wires consists of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wires {
    pub(super) nodes: u64,
    pub(super) links: u64,
    /// Nodes with two links or more.
    pub(super) inner_nodes: u64,
}

/// A kind of network that stands for nodes, links and channels.
pub(super) trait Shorthand {
    /// Writes its defaults into it. What is complete already stays as it is.
    ///
    /// # Errors
    ///
    /// A value out of its range; the path names the field as the user wrote it.
    fn complete(&mut self) -> Result<(), ScenarioError>;

    /// How many flows a complete network generates.
    fn flows(&self) -> u64;

    /// What the wires of a complete network consist of, if its pattern tells without being drawn.
    ///
    /// # Errors
    ///
    /// A count out of its range.
    fn wires(&self) -> Result<Option<Wires>, ScenarioError> {
        Ok(None)
    }

    /// Nodes, links and ends of flows of a complete network; what is random is drawn from `seed`.
    ///
    /// # Errors
    ///
    /// A count out of its range, or a placement that cannot be found.
    fn topology(&self, seed: u64) -> Result<Topology, ScenarioError>;
}

/// Source and sink of a flow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct FlowEnds {
    pub(super) from: String,
    pub(super) to: String,
}

impl FlowEnds {
    pub(super) fn new(from: impl Into<String>, to: impl Into<String>) -> FlowEnds {
        FlowEnds { from: from.into(), to: to.into() }
    }
}

/// Properties of a link that a scenario leaves out.
pub(super) struct LinkDefaults {
    pub(super) mbps: u64,
    pub(super) delay_us: u64,
    pub(super) queue_packets: u64,
}

/// The properties of a link with nothing left to a default.
pub(super) fn link_with_defaults(
    options: &LinkOptions,
    path: &str,
    defaults: &LinkDefaults,
) -> Result<LinkOptions, ScenarioError> {
    link_of_ports(options, path, defaults, [false, false])
}

/// The same of a link whose near end, and whose far end, is a port that shares memory: it has no limit of its own then.
pub(super) fn link_of_ports(
    options: &LinkOptions,
    path: &str,
    defaults: &LinkDefaults,
    shared: [bool; 2],
) -> Result<LinkOptions, ScenarioError> {
    let mut options = with_preset(options, path)?;
    check_link(&options, path)?;
    fill_service(&mut options, defaults);
    options.rate = options.rate.or(Rate::from_bps(defaults.mbps * 1_000_000));
    options.delay.get_or_insert(Span::from_micros(defaults.delay_us));
    let limit = |shared| if shared { Amount::Unlimited } else { Amount::Packets(defaults.queue_packets) };
    let [near, far] = shared.map(|shared| Queue::drop_tail(limit(shared)));
    if options.queue.is_none() && near != far {
        options.reverse.get_or_insert_default().queue.get_or_insert(far);
    }
    let queue = options.queue.unwrap_or(near);
    options.queue = Some(queue.with_defaults());
    if let Some(reverse) = &mut options.reverse {
        reverse.queue = reverse.queue.as_ref().map(Queue::with_defaults);
    }
    options.loss.get_or_insert(LossModel::None(Default::default()));
    if options.framing.is_none() {
        options.overhead.get_or_insert(Bytes::ZERO);
    }
    Ok(options)
}

/// What a service sets in place of the link's own keys, in each direction.
fn fill_service(options: &mut LinkOptions, defaults: &LinkDefaults) {
    if options.service.is_none() && options.reverse_service().is_none() {
        return;
    }
    let (back, overhead) = (options.reverse_service(), options.overhead);
    let own = |service: Option<&ServiceDef>| service.and_then(ServiceDef::own_rate);
    let framing = |service: Option<&ServiceDef>| match service {
        Some(ServiceDef::Trace(trace)) => trace.profile.overhead(),
        _ => Bytes::ZERO,
    };
    let delay_of = |service: Option<&ServiceDef>, given: Option<Span>| match service {
        Some(ServiceDef::Slots(slots)) if slots.delay.is_some() => Some(Span::ZERO),
        _ => given.or(Some(Span::from_micros(defaults.delay_us))),
    };
    let plain_rate = options.rate.or(Rate::from_bps(defaults.mbps * 1_000_000));
    if back != options.service || options.reverse.is_some() {
        let mut reverse = options.reverse.take().unwrap_or_default();
        reverse.rate = own(back.as_deref()).or(reverse.rate).or(plain_rate);
        reverse.delay = reverse.delay.or(delay_of(back.as_deref(), options.delay));
        if reverse.framing.or(options.framing).is_none() {
            reverse.overhead = reverse.overhead.or(overhead).or(Some(framing(back.as_deref())));
        }
        reverse.service = Some(back.unwrap_or_else(|| Box::new(ServiceDef::Rate(Default::default()))));
        options.reverse = Some(reverse);
    }
    options.rate = own(options.service.as_deref()).or(plain_rate);
    options.delay = delay_of(options.service.as_deref(), options.delay);
    if options.framing.is_none() {
        options.overhead = overhead.or(Some(framing(options.service.as_deref())));
    }
}

/// The properties of the direction of the data.
pub(crate) fn forward_options(def: &LinkDef) -> LinkOptions {
    LinkOptions { reverse: None, ..def.options.clone() }
}

/// Those of the reverse direction: the same but for losses, marks and effects, and what `reverse` overrides.
pub(crate) fn reverse_options(def: &LinkDef) -> LinkOptions {
    let def = &def.options;
    let own = def.reverse.as_deref().cloned().unwrap_or_default();
    LinkOptions {
        rate: own.rate.or(def.rate),
        delay: own.delay.or(def.delay),
        queue: own.queue.or(def.queue.clone()),
        overhead: own.overhead.or(def.overhead.filter(|_| own.framing.is_none())),
        framing: own.framing.or(def.framing.filter(|_| own.overhead.is_none())),
        service: def.reverse_service(),
        changes: def.changes.clone(),
        ..own
    }
}

/// Those of a direction of the network: 2 i is the forward one of link i, and 2 i + 1 the reverse one.
pub(crate) fn direction_options(links: &[LinkDef], direction: usize) -> LinkOptions {
    let def = &links[direction / 2];
    if direction.is_multiple_of(2) { forward_options(def) } else { reverse_options(def) }
}

/// A link with these properties.
pub(super) fn link(from: &str, to: &str, options: &LinkOptions) -> LinkDef {
    LinkDef::new(from, to, options.clone())
}

/// A node at a place of the picture.
pub(super) fn node(name: String, role: Role, x: f64, y: f64) -> NodeDef {
    NodeDef { name, role, x: Some(x), y: Some(y), z: None, mobility: None, shared_buffer: None }
}

/// A node with a radio.
pub(super) fn station(name: String, role: Role, at: Point) -> NodeDef {
    NodeDef { z: Some(at.z), ..node(name, role, at.x, at.y) }
}

/// Refuses a count that is not from `least` to `most`.
pub(super) fn count(path: &str, value: u64, least: u64, most: u64) -> Result<u64, ScenarioError> {
    let message = format!("{value} is not a count from {least} to {most}");
    if (least..=most).contains(&value) { Ok(value) } else { Err(ScenarioError::new(path, message)) }
}

/// Refuses a number out of its range.
pub(super) fn within(path: &str, value: f64, [least, most]: [f64; 2]) -> Result<(), ScenarioError> {
    let message = format!("{value} is not from {least} to {most}");
    if (least..=most).contains(&value) { Ok(()) } else { Err(ScenarioError::new(path, message)) }
}

/// How many nodes have two links or more.
pub(super) fn inner_nodes(links: &[LinkDef]) -> u64 {
    let mut degrees: BTreeMap<&str, u64> = BTreeMap::new();
    for name in links.iter().flat_map(|link| [&link.from, &link.to]) {
        *degrees.entry(name).or_default() += 1;
    }
    degrees.values().filter(|degree| **degree > 1).count() as u64
}
