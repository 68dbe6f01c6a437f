//! From a scenario to the [`World`] of a run. Every error names the path of its key; a world that was built cannot fail.

mod applications;
mod constellation;
mod sink_agents;
mod starts;
mod wireless;

use std::collections::BTreeMap;

use tcp::rng::Rng;
use tcp::settings::Headers;
use tcp::units::{Bytes, Span, Time};
use tcp::{Connection, Ecn, TcpConfig};

use crate::connectivity::Reachability;
use crate::engine::context::{Context, FlowEnds};
use crate::engine::event::Event;
use crate::engine::trace::Sink;
use crate::expand::{self, transport_of};
use crate::host::Hosts;
use crate::host::app::App;
use crate::host::app::conversation::End;
use crate::host::conversation::{Member, Session};
use crate::host::flow::{Flow, Side, Transport};
use crate::ids::{FlowId, LinkId, NodeId};
use crate::link::effects::Effects;
use crate::link::entrance::Entrance;
use crate::link::loss::Loss;
use crate::link::service::Service;
use crate::link::{Delay, Link, LinkChange, LinkParts};
use crate::metrics::OrderMetrics;
use crate::network::Network;
use crate::qdisc::Qdisc;
use crate::scenario::{
    AppDef, DatagramEcn, FlowDef, GilbertElliottLoss, LinkDef, LinkOptions, LossModel, MarkModel,
    Network as NetworkDef, NthLoss, PriorityDef, Scenario, ScenarioError, ServiceDef, TransportDef, join,
};
use crate::series::Series;
use crate::world::{Change, World};

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
    // Errors of generated flows name the path of their template.
    let listed = scenario.flow.len();
    let path_of = |i: usize| if i < listed { format!("flow[{i}]") } else { format!("network.flows[{}]", i - listed) };
    let mut ctx = Context::new(graph.flow.len(), sink);
    network.channels.iter_mut().for_each(|channel| channel.start(&mut ctx));
    if let Some(dynamics) = &mut dynamics {
        // The links of time 0 are open before anything is sent.
        let next = dynamics.step(&mut ctx, &mut network);
        ctx.schedule(next, Event::Constellation);
    }
    let (mut flows, mut drawn) = (Vec::with_capacity(graph.flow.len()), Vec::new());
    let mut further = Vec::new();
    let mut sessions = Vec::new();
    let common = graph.tcp.resolve("tcp")?;
    for (index, def) in graph.flow.iter().enumerate() {
        let stream = |what| flow_stream(index, listed, seed, what);
        let id = FlowId(index as u32);
        let path = path_of(index);
        let sources = applications::sources(&graph, &names, def, &path)?;
        let app = match applications::conversation_of(&def.app, sources.len(), stream("app")) {
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
            check_path(&network, &flow, def, &path)?;
        }
        ctx.ends.push(ends_of(def, &flow));
        let start = starts::draw(&graph, def, &network, &flow, || stream("start"));
        drawn.push(start);
        for at in [Some(Time::ZERO + start), flow.stop].into_iter().flatten() {
            ctx.schedule(at, Event::App { flow: id });
        }
        flows.push(flow);
    }
    for (session, index, number, source) in further {
        let (def, path, id) = (&graph.flow[index], path_of(index), FlowId(flows.len() as u32));
        let rng = flow_stream(index, listed, seed, &format!("app/{number}"));
        let app = member_of(&def.app, session, number);
        let flow = build_flow(&graph, def, FlowParts { id, source, app, rng }, &common, &path, &names)?;
        if dynamics.is_none() {
            check_path(&network, &flow, def, &path)?;
        }
        ctx.ends.push(ends_of(def, &flow));
        sessions[session].flows.push(id);
        flows.push(Flow { owner: sessions[session].flows[0], ..flow });
    }
    sink_agents::join(&graph.flow, &mut flows)?;
    ctx.flows.resize_with(flows.len(), Default::default);
    let reorders = |link: &Link| link.effects.as_ref().is_some_and(|effects| effects.reorders());
    ctx.order = network.links.iter().any(reorders).then(|| Box::new(OrderMetrics::new(flows.len())));
    starts::set(&mut graph, drawn);
    let changes = build_changes(&graph);
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
    Ok(World { ctx, network, hosts, changes, series, reachability, constellation, graph, resolved, seed })
}

/// A random stream of a flow.
fn flow_stream(index: usize, listed: usize, seed: u64, what: &str) -> Rng {
    let (kind, number) = if index < listed { ("flow", index) } else { ("traffic", index - listed) };
    Rng::stream(seed, &format!("{kind}/{number}/{what}"))
}

fn node_names(graph: &Scenario) -> Result<BTreeMap<&str, NodeId>, ScenarioError> {
    let mut names = BTreeMap::new();
    for (index, node) in graph.node.iter().enumerate() {
        if names.insert(node.name.as_str(), NodeId(index as u32)).is_some() {
            return Err(ScenarioError::new(
                format!("node[{index}].name"),
                format!("{:?} is the name of two nodes", node.name),
            ));
        }
    }
    Ok(names)
}

pub(super) fn find_node(names: &BTreeMap<&str, NodeId>, name: &str, path: &str) -> Result<NodeId, ScenarioError> {
    names.get(name).copied().ok_or_else(|| {
        let some: Vec<&str> = names.keys().copied().take(8).collect();
        let more = if names.len() > some.len() { format!(", … ({} in all)", names.len()) } else { String::new() };
        ScenarioError::new(path, format!("unknown node {name:?}"))
            .with_hint(format!("nodes: {}{more}", some.join(", ")))
    })
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
            (from, to, forward_options(def), [&def.from, &def.to]),
            (to, from, reverse_options(def), [&def.to, &def.from]),
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

/// The direction of the data.
fn forward_options(def: &LinkDef) -> LinkOptions {
    LinkOptions { reverse: None, ..def.options() }
}

/// The reverse direction: the same but for the loss and the overrides of `reverse`.
fn reverse_options(def: &LinkDef) -> LinkOptions {
    let own = def.reverse.as_deref().cloned().unwrap_or_default();
    LinkOptions {
        rate: own.rate.or(def.rate),
        delay: own.delay.or(def.delay),
        queue: own.queue.or(def.queue.clone()),
        overhead: own.overhead.or(def.overhead),
        service: def.options().reverse_service(),
        changes: def.changes.clone(),
        ..own
    }
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
        entrance: Entrance::new(options.marks.as_deref().map(marks_of), options.ecn.as_ref(), rng),
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

/// What queues may ask about a flow.
fn ends_of(def: &FlowDef, flow: &Flow) -> FlowEnds {
    let priority = def.priority.unwrap_or(PriorityDef::DEFAULT_BAND);
    FlowEnds { source: flow.source, sink: flow.sink, priority, dscp: def.code_point() }
}

/// The part that a connection has in the conversation of an application.
fn member_of(def: &AppDef, session: usize, connection: usize) -> App {
    let (client, has_end) = (applications::client_of(def), applications::has_end(def));
    App::Conversation(Box::new(Member::new(session, connection, client, has_end)))
}

/// What distinguishes the connections of an application.
struct FlowParts {
    id: FlowId,
    source: NodeId,
    app: App,
    rng: Rng,
}

fn build_flow(
    graph: &Scenario,
    def: &FlowDef,
    parts: FlowParts,
    common: &TcpConfig,
    path: &str,
    names: &BTreeMap<&str, NodeId>,
) -> Result<Flow, ScenarioError> {
    let FlowParts { id, source, app, mut rng } = parts;
    let sink = find_node(names, &def.to, &join(path, "to"))?;
    if source == sink {
        return Err(ScenarioError::new(join(path, "to"), format!("{:?} would send to itself", def.to)));
    }
    let (mut headers, mut fill) = (Headers::Options, Bytes(1));
    let transport = match transport_of(&def.app) {
        TransportDef::Udp => Transport::Udp,
        TransportDef::Tcp => {
            let own = !def.tcp.is_empty();
            let mut config = if own { def.tcp.resolve(&join(path, "tcp"))? } else { common.clone() };
            config.seed = rng.next_u64();
            headers = config.headers;
            fill = if config.whole_segments { config.mss } else { fill };
            let side = |connection| Side { connection, wake_at: None };
            Transport::Tcp(Box::new(match applications::client_of(&def.app) {
                End::Source => [side(Connection::connect(config.clone())), side(Connection::listen(config))],
                End::Sink => [side(Connection::listen(config.clone())), side(Connection::connect(config))],
            }))
        }
    };
    Ok(Flow {
        source,
        sink,
        app: app.with_writes_of(fill),
        headers,
        receiver: (!def.silent).then_some(id),
        datagram_ecn: match def.app.datagrams().ecn.unwrap_or_default() {
            DatagramEcn::Off => Ecn::NotEct,
            DatagramEcn::Ect0 => Ecn::Ect0,
            DatagramEcn::L4s => Ecn::Ect1,
        },
        transport,
        on_full: applications::on_full_of(&def.app),
        stop: def.stop.filter(|stop| *stop < graph.duration).map(|stop| Time::ZERO + stop),
        started: false,
        finished: false,
        blocked: Bytes::ZERO,
        messages: Default::default(),
        written: 0,
        read: 0,
        highest_sent: 0,
        highest_answered: 0,
        owner: id,
        opened_at: None,
        connected_at: None,
        ended_at: None,
        cwnd_integral: Default::default(),
    })
}

fn check_path(network: &Network, flow: &Flow, def: &FlowDef, path: &str) -> Result<(), ScenarioError> {
    let (source, sink) = (flow.source, flow.sink);
    // With radio a flow without a path is a result, not an error.
    if network.has_radio(source) || network.has_radio(sink) {
        return Ok(());
    }
    if !network.has_path(source, sink) || !network.has_path(sink, source) {
        let message = format!("no path from {:?} to {:?} and back", def.from, def.to);
        return Err(
            ScenarioError::new(join(path, "to"), message).with_hint("add a link, or check link.from and link.to")
        );
    }
    Ok(())
}

/// The scheduled changes of all links, in the order of the scenario.
fn build_changes(graph: &Scenario) -> Vec<(Time, Change)> {
    let mut changes = Vec::new();
    for (index, def) in graph.link.iter().enumerate() {
        for change in &def.changes {
            let at = Time::ZERO + change.at;
            let up = change.up.map(|up| if up { LinkChange::Up } else { LinkChange::Down });
            let delay = change.delay.map(if change.overtake { LinkChange::Path } else { LinkChange::Delay });
            let parts = [up, change.rate.map(LinkChange::Rate), delay];
            for change in parts.into_iter().flatten() {
                for link in [LinkId(2 * index as u32), LinkId(2 * index as u32 + 1)] {
                    changes.push((at, Change { link, change, repeat: def.repeat }));
                }
            }
        }
    }
    changes
}
