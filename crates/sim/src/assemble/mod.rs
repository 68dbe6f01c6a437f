//! From a scenario to the [`World`] of a run. Every error names the path of its key; a world that was built cannot fail.

mod applications;
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
use std::sync::Arc;

use tcp::rng::Rng;
use tcp::units::{Span, Time};

use crate::connectivity::Reachability;
use crate::engine::context::Context;
use crate::engine::event::Event;
use crate::engine::trace::Sink;
use crate::expand::{self, MAX_FLOWS};
use crate::host::Hosts;
use crate::host::app::plans;
use crate::host::flow::Flow;
use crate::host::session::Session;
use crate::ids::{FlowId, LinkId, NodeId};
use crate::link::effects::Effects;
use crate::link::loss::Loss;
use crate::link::marking::Marking;
use crate::link::service::Service;
use crate::link::{Delay, Link, LinkChange, LinkParts};
use crate::metrics::OrderMetrics;
use crate::network::Network;
use crate::qdisc::Qdisc;
use crate::scenario::{
    ClockDef, GilbertElliottLoss, LinkOptions, LossModel, MarkModel, Network as NetworkDef, NthLoss, Scenario,
    ScenarioError, ServiceDef,
};
use crate::series::Series;
use crate::world::{Change, ListedFlow, World};
use flows::{FlowParts, build_flow, check_path, ends_of, member_of};
use names::{find_node, node_names};

/// Builds the world of `scenario` with `seed`; `sink` receives the trace.
pub(crate) fn assemble(scenario: &Scenario, seed: u64, sink: Option<Box<dyn Sink>>) -> Result<World, ScenarioError> {
    let expand::Expanded { mut graph, placement_draws } = expand::expand_world(scenario, seed)?;
    let resolved = expand::resolve(scenario)?;
    let mut names = node_names(&graph)?;
    let (mut network, mut dynamics) = match &graph.network {
        NetworkDef::Constellation(def) => {
            names.retain(|_, node| node.index() < def.terminals.len());
            let (network, dynamics) = constellation::build(&graph, def, seed)?;
            (network, Some(Box::new(dynamics)))
        }
        _ => {
            let channels = wireless::build(&graph, &names, seed)?;
            (Network::new(graph.node.len(), build_links(&graph, &names, seed)?, channels), None)
        }
    };
    let moves = paths::build(&graph, &names, seed, &mut network)?;
    // Errors of generated flows name the path of their template.
    let listed = scenario.flow.len();
    let path_of = |i: usize| if i < listed { format!("flow[{i}]") } else { format!("network.flows[{}]", i - listed) };
    let mut ctx = Context::new(graph.flow.len(), sink);
    if graph.clock == ClockDef::Double {
        ctx.keep_doubles();
    }
    network.channels.iter_mut().for_each(|channel| channel.start(&mut ctx));
    if let Some(dynamics) = &mut dynamics {
        // The links of time 0 are open before anything is sent.
        let next = dynamics.step(&mut ctx, &mut network);
        ctx.schedule(next, Event::Constellation);
    }
    let (mut flows, mut drawn) = (Vec::with_capacity(graph.flow.len()), Vec::new());
    let mut further = Vec::new();
    let mut sessions = Vec::new();
    let common = Arc::new(graph.tcp.resolve("tcp")?);
    for (index, def) in graph.flow.iter().enumerate() {
        let stream = |what| flow_stream(index, listed, seed, what);
        let id = FlowId(index as u32);
        let path = path_of(index);
        let sources = applications::sources(&graph, &names, def, &path)?;
        let app = match plans::conversation_of(&def.app, sources.len(), stream("app")) {
            None => applications::app_of(&def.app, stream("app")),
            Some(conversation) => {
                sessions.push(Session::new(conversation, vec![id]));
                further.extend((1..sources.len()).map(|number| (sessions.len() - 1, index, number, sources[number])));
                member_of(&def.app, sessions.len() - 1, 0)
            }
        };
        let parts = FlowParts { id, source: sources[0], app, rng: stream("app") };
        let flow = build_flow(&graph, def, parts, &common, &path, &names)?;
        // A constellation may connect two terminals later.
        if dynamics.is_none() {
            check_path(&network, &flow, id, def, &path)?;
        }
        ctx.ends.push(ends_of(def, &flow, id));
        let start = starts::draw(&graph, def, &network, (id, &flow), || stream("start"));
        drawn.push(start);
        for at in [Some(Time::ZERO + start), flow.stop].into_iter().flatten() {
            ctx.schedule(at, Event::App { flow: id });
        }
        flows.push(flow);
    }
    if flows.len() + further.len() > MAX_FLOWS as usize {
        let message = format!("{} connections of all applications; at most {MAX_FLOWS}", flows.len() + further.len());
        return Err(ScenarioError::new("flow", message));
    }
    for (session, index, number, source) in further {
        let (def, path, id) = (&graph.flow[index], path_of(index), FlowId(flows.len() as u32));
        let rng = flow_stream(index, listed, seed, &format!("app/{number}"));
        let app = member_of(&def.app, session, number);
        let flow = build_flow(&graph, def, FlowParts { id, source, app, rng }, &common, &path, &names)?;
        if dynamics.is_none() {
            check_path(&network, &flow, id, def, &path)?;
        }
        ctx.ends.push(ends_of(def, &flow, id));
        sessions[session].flows.push(id);
        flows.push(Flow { owner: sessions[session].flows[0], ..flow });
    }
    let mut workloads = workloads::build(&graph, flows.len(), &names, &network, seed)?;
    workloads.start(&mut ctx);
    sink_agents::join(&graph.flow, &mut flows)?;
    ctx.flows.resize_with(flows.len(), Default::default);
    let reorders = |link: &Link| link.effects.as_ref().is_some_and(|effects| effects.reorders());
    ctx.order = network.links.iter().any(reorders).then(|| Box::new(OrderMetrics::new(flows.len())));
    starts::set(&mut graph, drawn);
    let listed_flows = graph.flow.iter().map(ListedFlow::of).collect();
    let changes: Vec<(Time, Change)> = build_changes(&graph).into_iter().chain(moves).collect();
    for (index, (at, _)) in changes.iter().enumerate() {
        ctx.schedule(*at, Event::Change { index: index as u32 });
    }
    if scenario.warmup > Span::ZERO {
        ctx.schedule(Time::ZERO + scenario.warmup, Event::WarmupEnds);
    }
    ctx.schedule(Time::ZERO + scenario.duration, Event::Stop);
    let series = Series::new(&scenario.record, flows.len(), &network);
    if let Some(first) = series.next_sample() {
        ctx.schedule(first, Event::Sample);
    }
    let changes = changes.into_iter().map(|(_, change)| change).collect();
    let reachability = Reachability::new(&network, placement_draws);
    let (hosts, constellation) = (Hosts::new(flows, sessions), dynamics);
    Ok(World {
        ctx,
        network,
        hosts,
        workloads,
        changes,
        series,
        reachability,
        constellation,
        graph,
        listed: listed_flows,
        resolved,
        seed,
    })
}

/// A random stream of a flow.
fn flow_stream(index: usize, listed: usize, seed: u64, what: &str) -> Rng {
    let (kind, number) = if index < listed { ("flow", index) } else { ("traffic", index - listed) };
    Rng::stream(seed, &format!("{kind}/{number}/{what}"))
}

fn build_links(graph: &Scenario, names: &BTreeMap<&str, NodeId>, seed: u64) -> Result<Vec<Link>, ScenarioError> {
    let mut links = Vec::with_capacity(graph.link.len() * 2);
    // A random stream is named by the ends of its link, so that another link elsewhere changes nothing; parallel links have
    // numbers.
    let mut parallel: BTreeMap<(NodeId, NodeId), u32> = BTreeMap::new();
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
            let number = parallel.entry((from, to)).or_default();
            let rng = |what| Rng::stream(seed, &format!("link/{}/{}/{number}/{what}", ends[0], ends[1]));
            let parts = link_parts(from, to, &options, rng);
            *number += 1;
            links.push(Link::new(LinkId(links.len() as u32), parts));
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
        loss: options.loss.as_ref().map_or(Loss::None, loss_of),
        loss_rng: rng("loss"),
        service: service.map(|service| Service::new(service, rate, rng("service"))),
        effects,
        marking: Marking::new(options.marks.as_deref().map(marks_of), options.ecn.as_ref(), rng),
    }
}

fn loss_of(model: &LossModel) -> Loss {
    match model {
        LossModel::None(_) => Loss::None,
        LossModel::Packet(packet) => Loss::Packet(packet.p),
        LossModel::Bit(bit) => Loss::Bit(bit.ber),
        LossModel::Byte(byte) => Loss::Byte(byte.rate),
        LossModel::GilbertElliott(model) => gilbert_elliott_of(*model),
        LossModel::Nth(nth) => nth_of(nth),
    }
}

fn marks_of(model: &MarkModel) -> Loss {
    match model {
        MarkModel::Packet(packet) => Loss::Packet(packet.p),
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
