//! From a scenario to the [`World`] of a run. Every error names the path of its key; a world that was built cannot fail.

mod applications;
mod background;
mod classes;
mod connections;
mod constellation;
mod flows;
mod names;
mod paths;
#[path = "../compat/sink_agents.rs"]
mod sink_agents;
mod starts;
mod wireless;
mod workloads;

use std::collections::BTreeMap;

use tcp::rng::Rng;
use tcp::units::{Span, Time};

use crate::connectivity::Reachability;
use crate::constellation::ConstellationDynamics;
use crate::engine::context::Context;
use crate::engine::event::Event;
use crate::engine::trace::Sink;
use crate::expand;
use crate::host::Hosts;
use crate::ids::{LinkId, NodeId};
use crate::link::draw::Correlated;
use crate::link::effects::{Effects, Stretches};
use crate::link::loss::Loss;
use crate::link::marking::Marking;
use crate::link::service::Service;
use crate::link::{Delay, Link, LinkChange, LinkParts};
use crate::metrics::{OrderMetrics, Waits};
use crate::network::{Network, SharedBuffers};
use crate::qdisc::Qdisc;
use crate::routing::Order;
use crate::scenario::{
    ClockDef, GilbertElliottLoss, LinkOptions, LossModel, MarkModel, Network as NetworkDef, NthLoss, Scenario,
    ScenarioError, ServiceDef,
};
use crate::series::Series;
use crate::world::{Change, ListedFlow, Outside, World};
use connections::{Connections, Surroundings};
use names::{find_node, node_names};

/// Builds the world of `scenario` with `seed`; `sink` receives the trace, and `outside` says what packets come from elsewhere.
pub(crate) fn assemble(
    scenario: &Scenario,
    seed: u64,
    sink: Option<Box<dyn Sink>>,
    outside: Outside,
) -> Result<World, ScenarioError> {
    let resolved = expand::resolve(scenario)?;
    let (given, seed) = (seed, resolved.vary.seed(seed));
    let expand::Expanded { mut graph, placement_draws } = expand::graph_of(&resolved, seed)?;
    let groups = classes::bind(&resolved, &mut graph)?;
    let mut names = node_names(&graph)?;
    let (mut network, mut dynamics) = network_of(&graph, &mut names, seed)?;
    let moves = paths::build(&graph, &names, seed, &mut network)?;
    let mut ctx = Context::new(graph.flow.len(), sink);
    begin(&graph, &mut ctx, &mut network, dynamics.as_deref_mut());
    let surroundings = Surroundings {
        graph: &graph,
        names: &names,
        network: &network,
        groups: &groups,
        seed,
        listed: scenario.flow.len(),
        paths_change: dynamics.is_some(),
        outside,
    };
    let Connections { mut flows, sessions, starts, slots, background } = surroundings.connect(&mut ctx)?;
    let mut workloads = workloads::build(&graph, flows.len(), &names, &network, &groups, seed)?;
    workloads.start(&mut ctx);
    sink_agents::join(&graph.flow, &mut flows)?;
    count(&mut ctx, &resolved, &network, flows.len());
    starts::set(&mut graph, starts);
    let changes: Vec<(Time, Change)> = build_changes(&graph).into_iter().chain(moves).collect();
    schedule(&mut ctx, scenario, &changes);
    let series = Series::new(&scenario.record, &flows[..flows.len() - background - outside.slots], &network)?;
    if let Some(first) = series.next_sample() {
        ctx.schedule(first, Event::Sample);
    }
    let changes = changes.into_iter().map(|(_, change)| change).collect();
    let reachability = Reachability::new(&network, placement_draws);
    Ok(World {
        ctx,
        network,
        hosts: Hosts::new(flows, sessions),
        workloads,
        background,
        changes,
        probes: groups.probes,
        series,
        reachability,
        constellation: dynamics,
        listed: listed_of(&graph, slots, outside),
        warnings: expand::warnings(scenario, &resolved, &graph),
        graph,
        resolved,
        slots: (slots, outside.slots),
        seed: given,
    })
}

/// What channels and satellites do before anything is sent.
fn begin(graph: &Scenario, ctx: &mut Context, network: &mut Network, dynamics: Option<&mut ConstellationDynamics>) {
    if graph.clock == ClockDef::Double {
        ctx.keep_doubles();
    }
    network.channels.iter_mut().for_each(|channel| channel.start(ctx));
    if let Some(dynamics) = dynamics {
        // The links of time 0 are open before anything is sent.
        let next = dynamics.step(ctx, network);
        ctx.schedule(next, Event::Constellation);
    }
}

/// What the summary says of the flows of a graph, and of those that packets from outside may open.
fn listed_of(graph: &Scenario, first: usize, outside: Outside) -> Vec<ListedFlow> {
    let mut listed: Vec<ListedFlow> = graph.flow.iter().map(ListedFlow::of).collect();
    if outside.slots > 0 {
        listed.resize_with(first + outside.slots, ListedFlow::outside);
    }
    listed
}

/// Makes room for what is counted of flows.
fn count(ctx: &mut Context, resolved: &Scenario, network: &Network, flows: usize) {
    ctx.waits = resolved.record.waits.then(|| Box::new(Waits::new(flows)));
    ctx.flows.resize_with(flows, Default::default);
    let reorders = |link: &Link| link.effects.as_ref().is_some_and(|effects| effects.reorders());
    ctx.order = network.links.iter().any(reorders).then(|| Box::new(OrderMetrics::new(flows)));
}

/// The nodes and links of a graph; of a constellation also what moves. Satellites have no names.
fn network_of(
    graph: &Scenario,
    names: &mut BTreeMap<&str, NodeId>,
    seed: u64,
) -> Result<(Network, Option<Box<ConstellationDynamics>>), ScenarioError> {
    if let NetworkDef::Constellation(def) = &graph.network {
        names.retain(|_, node| node.index() < def.terminals.len());
        let (network, dynamics) = constellation::build(graph, def, seed)?;
        return Ok((network, Some(Box::new(dynamics))));
    }
    let channels = wireless::build(graph, names, seed)?;
    let order = Order::of(graph);
    let links = build_links(graph, names, &order, seed)?;
    let mut network = Network::new(order, links, channels);
    network.shared_buffers = SharedBuffers::new(graph.node.iter().map(|node| node.shared_buffer), &network.links);
    Ok((network, None))
}

/// Schedules the changes of links, the end of the warm-up and that of the run.
fn schedule(ctx: &mut Context, scenario: &Scenario, changes: &[(Time, Change)]) {
    for (index, (at, _)) in changes.iter().enumerate() {
        ctx.schedule(*at, Event::Change { index: index as u32 });
    }
    if scenario.warmup > Span::ZERO {
        ctx.schedule(Time::ZERO + scenario.warmup, Event::WarmupEnds);
    }
    ctx.schedule(Time::ZERO + scenario.duration, Event::Stop);
}

fn build_links(
    graph: &Scenario,
    names: &BTreeMap<&str, NodeId>,
    order: &Order,
    seed: u64,
) -> Result<Vec<Link>, ScenarioError> {
    let mut links = Vec::with_capacity(graph.link.len() * 2);
    // A random stream is named by the ends of its link, so that another link elsewhere changes nothing; parallel links have
    // numbers by what they are.
    for (index, def) in graph.link.iter().enumerate() {
        let from = find_node(names, &def.from, &format!("link[{index}].from"))?;
        let to = find_node(names, &def.to, &format!("link[{index}].to"))?;
        if from == to {
            return Err(ScenarioError::new(format!("link[{index}].to"), "a link joins two different nodes"));
        }
        for (from, to, options, ends) in [
            (from, to, expand::forward_options(def), [&def.from, &def.to]),
            (to, from, expand::reverse_options(def), [&def.to, &def.from]),
        ] {
            let id = LinkId(links.len() as u32);
            let number = order.number(id);
            let rng = |what| Rng::stream(seed, &format!("link/{}/{}/{number}/{what}", ends[0], ends[1]));
            let parts = link_parts(from, to, &options, rng);
            links.push(Link::new(id, parts));
        }
    }
    Ok(links)
}

/// The parts of a link; `rng` makes the random stream of each.
fn link_parts(from: NodeId, to: NodeId, options: &LinkOptions, rng: impl Fn(&'static str) -> Rng) -> LinkParts {
    let rate = options.rate.expect("an expanded link has a rate");
    let delay = options.delay.unwrap_or_default();
    let queue = options.queue.as_ref().expect("an expanded link has a queue");
    let effects = Effects::of(options, &rng);
    let constant = ServiceDef::Rate(Default::default());
    let service = options.service.as_deref().filter(|service| **service != constant);
    let service = service.or(effects.is_some().then_some(&constant));
    LinkParts {
        from,
        to: Some(to),
        rate,
        delay: Delay::Fixed(delay),
        overhead: options.overhead.unwrap_or_default(),
        queue: Qdisc::new(queue, rate, delay, rng("queue")),
        loss: options.loss.as_ref().map_or(Loss::None, |loss| during(options, loss_of(loss))),
        loss_rng: rng("loss"),
        service: service.map(|service| Service::new(service, rate, rng("service"))),
        effects,
        marking: Marking::new(
            options.marks.as_deref().map(|marks| during(options, marks_of(marks))),
            options.ecn.as_ref(),
            rng,
        ),
    }
}

/// A model in the stretches of time in which it acts.
fn during(options: &LinkOptions, loss: Loss) -> Loss {
    match (loss, options.during.as_slice()) {
        (loss @ (Loss::None | Loss::Nth { .. }), _) | (loss, []) => loss,
        (loss, during) => Loss::During(Stretches::of(during), Box::new(loss)),
    }
}

fn loss_of(model: &LossModel) -> Loss {
    match model {
        LossModel::None(_) => Loss::None,
        LossModel::Packet(packet) => Loss::Packet(packet.p, Correlated::of(packet.correlation)),
        LossModel::Bit(bit) => Loss::Bit(bit.ber),
        LossModel::Byte(byte) => Loss::Byte(byte.rate),
        LossModel::GilbertElliott(model) => gilbert_elliott_of(*model),
        LossModel::Nth(nth) => nth_of(nth),
    }
}

fn marks_of(model: &MarkModel) -> Loss {
    match model {
        MarkModel::Packet(packet) => Loss::Packet(packet.p, Correlated::of(packet.correlation)),
        MarkModel::GilbertElliott(model) => gilbert_elliott_of(*model),
        MarkModel::Nth(nth) => nth_of(nth),
    }
}

fn gilbert_elliott_of(model: GilbertElliottLoss) -> Loss {
    let GilbertElliottLoss { good_to_bad, bad_to_good, loss_good, loss_bad } = model;
    Loss::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad, bad: false }
}

fn nth_of(nth: &NthLoss) -> Loss {
    let mut numbers = nth.data_packets.clone();
    numbers.sort_unstable();
    Loss::Nth { numbers, seen: 0 }
}

/// The scheduled changes of all links, in the order of the scenario.
fn build_changes(graph: &Scenario) -> Vec<(Time, Change)> {
    let mut changes = Vec::new();
    for (index, def) in graph.link.iter().enumerate() {
        for change in &def.options.changes {
            let at = Time::ZERO + change.at;
            let up = change.up.map(|up| if up { LinkChange::Up } else { LinkChange::Down });
            let delay = change.delay.map(if change.overtake { LinkChange::Path } else { LinkChange::Delay });
            let parts = [up, change.rate.map(LinkChange::Rate), delay];
            for change in parts.into_iter().flatten() {
                for link in [LinkId(2 * index as u32), LinkId(2 * index as u32 + 1)] {
                    changes.push((at, Change::Link { link, change, repeat: def.options.repeat }));
                }
            }
        }
    }
    changes
}
