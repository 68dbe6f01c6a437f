//! The shapes of networks: nodes, links and the ends of flows for each `network.kind`.

use std::collections::BTreeSet;

use tcp::rng::Rng;
use tcp::units::{Bytes, Rate, Span};

use super::check::check_link;
use super::{MOST, MOST_FLOWS, Shape, infrastructure, mobility, wired_cum_wireless, wireless};
use crate::expand::constellation;
use crate::radio::build;
use crate::routing;
use crate::scenario::{
    Amount, Dumbbell, Lan, LinkDef, LinkOptions, LossModel, Network, NodeDef, Queue, RandomWired, Role, Scenario,
    ScenarioError, Star,
};

/// Defaults of a link: rate in Mbps, delay in microseconds, queue in packets.
pub(super) struct Defaults(pub(super) u64, pub(super) u64, pub(super) u64);

const DUMBBELL_ACCESS: Defaults = Defaults(1000, 1000, 1000);
const DUMBBELL_BOTTLENECK: Defaults = Defaults(10, 10_000, 100);
const STAR_SOURCE: Defaults = Defaults(2, 10, 100);
const STAR_SINK: Defaults = Defaults(10, 45_000, 100);
const LAN_ACCESS: Defaults = Defaults(30, 5, 100);
const LAN_CORE: Defaults = Defaults(100, 5, 100);
const RANDOM_WIRED: Defaults = Defaults(2, 10_000, 50);
/// ns-3's tutorial, which the reports started from.
pub(super) const BACKBONE: Defaults = Defaults(5, 2_000, 100);

/// Routing tables hold routers times nodes entries; more than this would not fit into memory.
pub(super) const MOST_ROUTED: u64 = 2_000;
/// Paths are searched from every router over every link, and drawn links must be rare among all pairs to be found.
const MOST_DRAWN: f64 = 20_000.0;

/// Fills what the options leave out.
pub(super) fn filled(options: &LinkOptions, path: &str, defaults: &Defaults) -> Result<LinkOptions, ScenarioError> {
    check_link(options, path)?;
    let mut options = options.clone();
    options.rate = options.rate.or(Rate::from_bps(defaults.0 * 1_000_000));
    options.delay.get_or_insert(Span::from_micros(defaults.1));
    let queue = options.queue.unwrap_or_else(|| Queue::drop_tail(Amount::Packets(defaults.2)));
    options.queue = Some(queue.filled());
    if let Some(reverse) = &mut options.reverse {
        reverse.queue = reverse.queue.as_ref().map(Queue::filled);
    }
    options.loss.get_or_insert(LossModel::None(Default::default()));
    options.overhead.get_or_insert(Bytes::ZERO);
    Ok(options)
}

pub(super) fn link(from: &str, to: &str, options: &LinkOptions) -> LinkDef {
    let LinkOptions { rate, delay, queue, loss, overhead, reverse, changes } = options.clone();
    LinkDef { from: from.into(), to: to.into(), rate, delay, queue, loss, overhead, reverse, changes }
}

pub(super) fn node(name: String, role: Role, x: f64, y: f64) -> NodeDef {
    NodeDef { name, role, x: Some(x), y: Some(y), z: None, mobility: None }
}

/// Refuses a count that is not from `least` to `most`.
pub(super) fn count(path: &str, value: u64, least: u64, most: u64) -> Result<u64, ScenarioError> {
    let message = format!("{value} is not a count from {least} to {most}");
    if (least..=most).contains(&value) { Ok(value) } else { Err(ScenarioError::new(path, message)) }
}

/// Nodes, links and flow ends of a scenario's network.
pub(super) fn shape_of(scenario: &Scenario, seed: u64) -> Result<Shape, ScenarioError> {
    let lists_nodes = !scenario.node.is_empty();
    let lists_others = !scenario.link.is_empty() || !scenario.channel.is_empty();
    let may_list = |shape: Option<&Shape>| match &scenario.network {
        Network::Graph(_) => true,
        // An expanded constellation stays one and has its nodes beside it.
        Network::Constellation(_) => !lists_others && shape.is_none_or(|shape| shape.nodes == scenario.node),
        _ => false,
    };
    let lists = [("node", lists_nodes), ("link", !scenario.link.is_empty()), ("channel", !scenario.channel.is_empty())];
    for (path, used) in lists {
        if used && !may_list(None) {
            return Err(ScenarioError::new(path, "only network.kind = \"graph\" lists its nodes, links and channels"));
        }
    }
    count("flow", scenario.flow.len() as u64, 0, MOST_FLOWS)?;
    let shape = match &scenario.network {
        Network::Dumbbell(dumbbell) => dumbbell_shape(dumbbell),
        Network::Star(star) => star_shape(star),
        Network::Lan(lan) => lan_shape(lan),
        Network::RandomWired(random) => random_shape(random, seed),
        Network::Adhoc(adhoc) => wireless::adhoc(adhoc, seed),
        Network::Infrastructure(cells) => infrastructure::shape(cells, seed),
        Network::WiredCumWireless(network) => wired_cum_wireless::shape(network, seed),
        Network::Constellation(constellation) => constellation::shape(constellation, seed),
        Network::Graph(_) => graph_shape(scenario),
    }?;
    if lists_nodes && !may_list(Some(&shape)) {
        return Err(ScenarioError::new("node", "is not what this constellation has; leave it out"));
    }
    Ok(shape)
}

/// Writes the defaults of its shape into a scenario.
pub(super) fn fill(scenario: &mut Scenario) -> Result<(), ScenarioError> {
    let put = |options: &mut LinkOptions, path: &str, defaults: &Defaults| {
        *options = filled(options, path, defaults)?;
        Ok(())
    };
    match &mut scenario.network {
        Network::Dumbbell(d) => {
            put(&mut d.access, "network.access", &DUMBBELL_ACCESS)?;
            put(&mut d.bottleneck, "network.bottleneck", &DUMBBELL_BOTTLENECK)
        }
        Network::Star(s) => {
            put(&mut s.source, "network.source", &STAR_SOURCE)?;
            put(&mut s.sink, "network.sink", &STAR_SINK)
        }
        Network::Lan(l) => {
            put(&mut l.access, "network.access", &LAN_ACCESS)?;
            put(&mut l.core, "network.core", &LAN_CORE)
        }
        Network::RandomWired(r) => put(&mut r.links, "network.links", &RANDOM_WIRED),
        Network::Adhoc(a) => {
            a.radio = build::filled(&a.radio, "network.radio")?;
            a.routing = routing::build::filled(&a.routing, a.radio.profile, "network.routing")?;
            wireless::fill_mobility(a)
        }
        Network::Infrastructure(i) => {
            *i = infrastructure::fill(i)?;
            Ok(())
        }
        Network::WiredCumWireless(c) => {
            **c = wired_cum_wireless::fill(c)?;
            Ok(())
        }
        Network::Constellation(c) => {
            **c = constellation::fill(c)?;
            Ok(())
        }
        Network::Graph(_) => {
            scenario.node = mobility::nodes(scenario)?;
            scenario.link = graph_links(scenario)?;
            scenario.channel = wireless::channels(scenario)?;
            Ok(())
        }
    }
}

/// The shared link comes first, so that a further pair shifts no index.
fn dumbbell_shape(d: &Dumbbell) -> Result<Shape, ScenarioError> {
    let pairs = count("network.pairs", d.pairs, 1, MOST / 2)?;
    let flows = count("network.flows", d.flows, 0, MOST_FLOWS)?;
    let access = filled(&d.access, "network.access", &DUMBBELL_ACCESS)?;
    let bottleneck = filled(&d.bottleneck, "network.bottleneck", &DUMBBELL_BOTTLENECK)?;
    let mut shape = Shape::default();
    let middle = (pairs - 1) as f64 / 2.0;
    shape.nodes = vec![node("r0".into(), Role::Router, 1.0, middle), node("r1".into(), Role::Router, 2.0, middle)];
    shape.links = vec![link("r0", "r1", &bottleneck)];
    for i in 0..pairs {
        let (left, right) = (format!("left{i}"), format!("right{i}"));
        shape.links.push(link(&left, "r0", &access));
        shape.links.push(link("r1", &right, &access));
        shape.nodes.push(node(left, Role::Host, 0.0, i as f64));
        shape.nodes.push(node(right, Role::Host, 3.0, i as f64));
    }
    shape.pairs = (0..flows).map(|i| (format!("left{}", i % pairs), format!("right{}", i % pairs))).collect();
    Ok(shape)
}

fn star_shape(s: &Star) -> Result<Shape, ScenarioError> {
    let nodes = count("network.nodes", s.nodes, 2, MOST)?;
    let flows = count("network.flows", s.flows, 0, MOST_FLOWS)?;
    let source = filled(&s.source, "network.source", &STAR_SOURCE)?;
    let sink = filled(&s.sink, "network.sink", &STAR_SINK)?;
    let sources = nodes / 2;
    let sinks = nodes - sources;
    let mut shape = Shape::default();
    shape.nodes.push(node("gateway".into(), Role::Gateway, 1.0, (sinks - 1) as f64 / 2.0));
    for i in 0..sources {
        let name = format!("src{i}");
        shape.links.push(link(&name, "gateway", &source));
        shape.nodes.push(node(name, Role::Host, 0.0, i as f64));
    }
    for i in 0..sinks {
        let name = format!("sink{i}");
        shape.links.push(link("gateway", &name, &sink));
        shape.nodes.push(node(name, Role::Host, 2.0, i as f64));
    }
    shape.pairs = (0..flows).map(|i| (format!("src{}", i % sources), format!("sink{}", i % sinks))).collect();
    Ok(shape)
}

fn lan_shape(l: &Lan) -> Result<Shape, ScenarioError> {
    let routers = count("network.routers", l.routers, 1, MOST_ROUTED)?;
    let per_router = count("network.switches_per_router", l.switches_per_router, 1, MOST_ROUTED)?;
    let per_switch = count("network.pcs_per_switch", l.pcs_per_switch, 1, MOST)?;
    let flows = count("network.flows", l.flows, 0, MOST_FLOWS)?;
    let switches = count("network.switches_per_router", routers * per_router, 1, MOST_ROUTED)?;
    let pcs = count("network.pcs_per_switch", switches.saturating_mul(per_switch), 2, 100_000)?;
    let access = filled(&l.access, "network.access", &LAN_ACCESS)?;
    let core = filled(&l.core, "network.core", &LAN_CORE)?;
    let mut shape = Shape::default();
    let width = (per_router * per_switch) as f64;
    for r in 0..routers {
        shape.nodes.push(node(format!("r{r}"), Role::Router, (r as f64 + 0.5) * width, 2.0));
        if r > 0 {
            shape.links.push(link(&format!("r{}", r - 1), &format!("r{r}"), &core));
        }
    }
    for s in 0..switches {
        let name = format!("sw{s}");
        shape.links.push(link(&name, &format!("r{}", s / per_router), &access));
        shape.nodes.push(node(name, Role::Switch, (s as f64 + 0.5) * per_switch as f64, 1.0));
    }
    for p in 0..pcs {
        let name = format!("pc{p}");
        shape.links.push(link(&name, &format!("sw{}", p / per_switch), &access));
        shape.nodes.push(node(name, Role::Host, p as f64 + 0.5, 0.0));
    }
    let half = pcs / 2;
    shape.pairs = (0..flows).map(|i| (format!("pc{}", i % half), format!("pc{}", half + i % half))).collect();
    Ok(shape)
}

fn random_shape(r: &RandomWired, seed: u64) -> Result<Shape, ScenarioError> {
    let nodes = count("network.nodes", r.nodes, 2, MOST_ROUTED)?;
    let flows = count("network.flows", r.flows, 0, MOST_FLOWS)?;
    let links = filled(&r.links, "network.links", &RANDOM_WIRED)?;
    let (least, most) = (2.0 * (nodes - 1) as f64 / nodes as f64, (nodes - 1) as f64);
    if !(least..=most).contains(&r.degree) {
        let message = format!("{} is not a mean degree from {least:.3} (a tree) to {most} (every pair)", r.degree);
        return Err(ScenarioError::new("network.degree", message));
    }
    let wanted = r.degree * nodes as f64 / 2.0;
    if wanted > MOST_DRAWN {
        let message = format!("{} with {nodes} nodes is {wanted:.0} links, more than {MOST_DRAWN}", r.degree);
        return Err(ScenarioError::new("network.degree", message));
    }
    let mut topology = Rng::stream(seed, "topology");
    let mut edges: Vec<(u64, u64)> = (1..nodes).map(|i| (topology.below(i), i)).collect();
    let mut known: BTreeSet<(u64, u64)> = edges.iter().copied().collect();
    while edges.len() < wanted as usize {
        let (a, b) = (topology.below(nodes), topology.below(nodes));
        let edge = (a.min(b), a.max(b));
        if a != b && known.insert(edge) {
            edges.push(edge);
        }
    }
    let mut placement = Rng::stream(seed, "placement");
    let mut shape = Shape::default();
    for i in 0..nodes {
        shape.nodes.push(node(format!("n{i}"), Role::Router, placement.uniform(), placement.uniform()));
    }
    shape.links = edges.iter().map(|(a, b)| link(&format!("n{a}"), &format!("n{b}"), &links)).collect();
    for i in 0..flows {
        let mut ends = Rng::stream(seed, &format!("traffic/{i}/ends"));
        let from = ends.below(nodes);
        let to = (from + 1 + ends.below(nodes - 1)) % nodes;
        shape.pairs.push((format!("n{from}"), format!("n{to}")));
    }
    Ok(shape)
}

fn graph_links(scenario: &Scenario) -> Result<Vec<LinkDef>, ScenarioError> {
    let fill_one = |(index, def): (usize, &LinkDef)| {
        let LinkDef { from, to, rate, delay, queue, loss, overhead, reverse, changes } = def.clone();
        let path = format!("link[{index}]");
        if rate.is_none() {
            return Err(ScenarioError::new(format!("{path}.rate"), "missing key `rate`, such as \"10Mbps\""));
        }
        let options = LinkOptions { rate, delay, queue, loss, overhead, reverse, changes };
        Ok(link(&from, &to, &filled(&options, &path, &Defaults(1, 0, 100))?))
    };
    scenario.link.iter().enumerate().map(fill_one).collect()
}

fn graph_shape(scenario: &Scenario) -> Result<Shape, ScenarioError> {
    count("node", scenario.node.len() as u64, 2, 3 * MOST)?;
    let (links, channels) = (graph_links(scenario)?, wireless::channels(scenario)?);
    let network = scenario.network.clone();
    Ok(Shape { network, nodes: mobility::nodes(scenario)?, links, channels, ..Shape::default() })
}
