//! Workloads: nodes of their flows, rates of their arrivals, distributions of their sizes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tcp::TcpConfig;
use tcp::rng::Rng;
use tcp::units::{Span, Time};

use super::applications::over_streams;
use super::classes::Groups;
use super::names::{find_node, matching};
use crate::host::app::plans::period_of;
use crate::host::header_of;
use crate::ids::{FlowId, NodeId};
use crate::link::Link;
use crate::network::{IdealTransfer, Network};
use crate::scenario::{
    ArrivalsDef, ListedArrivals, LoadOf, OpenArrivals, PriorityDef, Scenario, ScenarioError, WorkloadApp, WorkloadDef,
    join,
};
use crate::workload::arrivals::{Arrivals, Gap, ListedArrival};
use crate::workload::counts::ClassCounts;
use crate::workload::ends::Ends;
use crate::workload::recorder::Recorder;
use crate::workload::sizes::Sizes;
use crate::workload::{MOST_FLOWS, State, Streams, Workload, Workloads};

/// Headers that a load by packets counts for each segment.
const HEADERS: f64 = 40.0;

/// The workloads of an expanded scenario, whose slots follow `listed` flows.
pub(super) fn build(
    graph: &Scenario,
    listed: usize,
    names: &BTreeMap<&str, NodeId>,
    network: &Network,
    groups: &Groups,
    seed: u64,
) -> Result<Workloads, ScenarioError> {
    let mut all = Vec::with_capacity(graph.workload.len());
    for (index, def) in graph.workload.iter().enumerate() {
        let built = workload(graph, def, &format!("workload[{index}]"), names, network, seed)?;
        all.push(Workload { group: groups.of_workload(def), ..built });
    }
    let recorder = Recorder::new(graph.record.flows, Rng::stream(seed, "record/flows"));
    let end = Time::ZERO + graph.duration.saturating_sub(graph.cooldown);
    Ok(Workloads::new(all, listed, recorder, [Time::ZERO + graph.warmup, end]))
}

fn workload(
    graph: &Scenario,
    def: &WorkloadDef,
    path: &str,
    names: &BTreeMap<&str, NodeId>,
    network: &Network,
    seed: u64,
) -> Result<Workload, ScenarioError> {
    let mut streams = Streams::new(seed, &def.name);
    let from = matching(graph, names, &def.from, &join(path, "from"))?;
    let to = matching(graph, names, &def.to, &join(path, "to"))?;
    let nodes = [from.clone(), to.clone()];
    let Some(ends) = Ends::new(def.ends, from, to, &mut streams.ends) else {
        let message = "leaves a node of `from` no other node to send to";
        return Err(ScenarioError::new(join(path, "to"), message)
            .with_hint("a flow has two different ends; give `from` and `to` nodes that differ"));
    };
    check_paths(graph, network, &ends.spanning(), &join(path, "to"))?;
    let config = def.tcp.resolve(&join(path, "tcp"))?;
    let sizes = def.size.as_ref().map(Sizes::of);
    let place = join(path, "arrivals");
    let (mut rate, mut link_bps) = (None, None);
    let arrivals = match &def.arrivals {
        ArrivalsDef::Closed(closed) => Arrivals::Closed { users: closed.users, think: period_of(&closed.think) },
        ArrivalsDef::List(list) => {
            let rows = rows(list, names, &nodes, &place)?;
            let given: BTreeSet<[NodeId; 2]> = rows.iter().filter_map(|row| Some([row.from?, row.to?])).collect();
            check_paths(graph, network, &given.into_iter().collect::<Vec<_>>(), &join(&place, "rows"))?;
            Arrivals::Listed { rows, next: 0 }
        }
        ArrivalsDef::Poisson(open)
        | ArrivalsDef::Weibull(open)
        | ArrivalsDef::Pareto(open)
        | ArrivalsDef::Constant(open) => {
            let asked = (sizes.as_ref(), def.app.times_size());
            let mean_s = interval_s(open, names, network, asked, &config, &mut link_bps, &place)?;
            check_number(graph, def, mean_s, &place)?;
            rate = Some(1.0 / mean_s);
            Arrivals::Open { gap: gap(&def.arrivals, open, mean_s), elapsed_s: 0.0 }
        }
    };
    Ok(Workload {
        arrivals,
        ends,
        sizes,
        transfer: IdealTransfer { mss: config.mss, header: header_of(&config), handshake: config.handshake },
        priority: def.priority.unwrap_or(PriorityDef::DEFAULT_BAND),
        dscp: def.dscp.unwrap_or_default(),
        group: 0,
        config: Arc::new(config),
        places: places(graph, def),
        streams,
        rate,
        link_bps,
        state: State { classes: vec![ClassCounts::default(); def.classes.len() + 1], ..State::default() },
        def: WorkloadDef { app: played(def), ..def.clone() },
    })
}

/// The names of all nodes, if a whole transport carries the flows.
fn places(graph: &Scenario, def: &WorkloadDef) -> Vec<String> {
    match def.transport {
        Some(_) => graph.node.iter().map(|node| node.name.clone()).collect(),
        None => Vec::new(),
    }
}

/// The application as the ends of a flow play it.
fn played(def: &WorkloadDef) -> WorkloadApp {
    match &def.app {
        WorkloadApp::Page(page) if def.transport.is_some() => WorkloadApp::Page(over_streams(page)),
        app => app.clone(),
    }
}

fn gap(def: &ArrivalsDef, open: &OpenArrivals, mean: f64) -> Gap {
    let shape = open.shape.unwrap_or(1.0);
    match def {
        ArrivalsDef::Weibull(_) => Gap::weibull(mean, shape),
        ArrivalsDef::Pareto(_) => Gap::Pareto { mean, shape },
        ArrivalsDef::Constant(_) => Gap::Constant(mean),
        ArrivalsDef::Poisson(_) | ArrivalsDef::List(_) | ArrivalsDef::Closed(_) => Gap::Exponential { mean },
    }
}

/// Mean interval of arrivals in seconds; the rate of the link whose share they are, if they are one.
fn interval_s(
    open: &OpenArrivals,
    names: &BTreeMap<&str, NodeId>,
    network: &Network,
    (sizes, times_size): (Option<&Sizes>, f64),
    config: &TcpConfig,
    link_bps: &mut Option<f64>,
    place: &str,
) -> Result<f64, ScenarioError> {
    if let Some(interval) = open.interval {
        return Ok(interval.as_secs_f64());
    }
    if let Some(rate) = open.rate {
        return Ok(1.0 / rate.0);
    }
    let (Some(load), Some(link), Some(sizes)) = (open.load, &open.link, sizes) else {
        unreachable!("an expanded workload has a rate, an interval, or a load of a link")
    };
    let path = join(place, "link");
    let from = find_node(names, &link[0], &format!("{path}[0]"))?;
    let to = find_node(names, &link[1], &format!("{path}[1]"))?;
    let joins = |link: &&Link| link.from == from && link.to == Some(to);
    let Some(link) = network.links.iter().find(joins) else {
        let message = format!("no link leads from {:?} to {:?}", link[0], link[1]);
        return Err(ScenarioError::new(path, message).with_hint("two neighbouring nodes, in the direction of the data"));
    };
    let capacity = link.rate.as_bps() as f64;
    *link_bps = Some(capacity);
    let bytes = match open.load_of.unwrap_or_default() {
        LoadOf::Payload => sizes.mean(),
        LoadOf::Packets => sizes.mean() + HEADERS * sizes.mean_segments(config.mss.as_f64()),
    };
    Ok(8.0 * times_size * bytes / (load * capacity))
}

/// Refuses more flows than a run may have.
fn check_number(graph: &Scenario, def: &WorkloadDef, mean_s: f64, place: &str) -> Result<(), ScenarioError> {
    let stop = def.stop.unwrap_or(graph.duration).min(graph.duration);
    let expected = stop.saturating_sub(def.start).as_secs_f64() / mean_s;
    let most = def.count.map_or(expected, |count| expected.min(count as f64));
    if most <= f64::from(MOST_FLOWS) {
        return Ok(());
    }
    let message = format!("about {most:.3e} flows would arrive; at most {MOST_FLOWS}");
    Err(ScenarioError::new(place, message))
}

fn rows(
    list: &ListedArrivals,
    names: &BTreeMap<&str, NodeId>,
    [sources, sinks]: &[Vec<NodeId>; 2],
    place: &str,
) -> Result<Vec<ListedArrival>, ScenarioError> {
    let bare = |at: &Span| ListedArrival { at: *at, from: None, to: None, size: None };
    let mut rows: Vec<ListedArrival> = list.at.iter().flatten().map(bare).collect();
    for (index, (at, from, to, size)) in list.rows.iter().flatten().enumerate() {
        let path = format!("{place}.rows[{index}]");
        let node = |name: &Option<String>| name.as_ref().map(|name| find_node(names, name, &path)).transpose();
        let row = ListedArrival { at: *at, from: node(from)?, to: node(to)?, size: *size };
        if row.from.is_some() && row.from == row.to {
            return Err(ScenarioError::new(path, "from and to are the same node"));
        }
        let drawn = match (row.from, row.to) {
            (Some(from), None) => sinks.contains(&from),
            (None, Some(to)) => sources.contains(&to),
            _ => false,
        };
        if drawn {
            let message = "the other end is drawn, and it might be the same node";
            return Err(ScenarioError::new(path, message).with_hint("give both ends"));
        }
        rows.push(row);
    }
    Ok(rows)
}

/// Refuses nodes between which no packet would find its way. Over the air that is a result, not an error.
fn check_paths(graph: &Scenario, network: &Network, pairs: &[[NodeId; 2]], path: &str) -> Result<(), ScenarioError> {
    let is_wired = |node: &NodeId| !network.has_radio(*node);
    // Whether there is a path is the same for all of its flows: none of them is pinned.
    let flow = FlowId(graph.flow.len() as u32);
    let has_fixed_links = !matches!(graph.network, crate::scenario::Network::Constellation(_));
    for [from, to] in pairs.iter().copied() {
        let leads = || network.has_path(from, to, flow.sink()) && network.has_path(to, from, flow.source());
        if has_fixed_links && [from, to].iter().all(is_wired) && !leads() {
            let [from, to] = [from, to].map(|node| &graph.node[node.index()].name);
            let message = format!("no path from {from:?} to {to:?} and back");
            return Err(ScenarioError::new(path, message).with_hint("add a link, or choose nodes that are connected"));
        }
    }
    Ok(())
}
