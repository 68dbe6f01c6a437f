//! Datagrams in the background (`vary.background`): where flows share their slowest link, two flows that send at random, one each
//! way. They stand behind all other flows and are in no metric of flows.

use std::collections::{BTreeMap, BTreeSet};

use tcp::units::{Bytes, Rate, Span};

use super::names::matches;
use crate::expand;
use crate::ids::{FlowId, NodeId};
use crate::network::Network;
use crate::scenario::{
    AppDef, ExponentialDef, FlowDef, Full, OnOffDef, PacketRate, PeriodDef, Queue, Scenario, TransportDef,
};

/// A tenth of the time at ten times the mean rate, in datagrams of 500 bytes.
const ON_MS: u64 = 20;
const OFF_MS: u64 = 180;
const PAYLOAD: Bytes = Bytes(472);

/// The flows of the background: none over the air and over satellites, where no path is known beforehand.
pub(super) fn flows(graph: &Scenario, names: &BTreeMap<&str, NodeId>, network: &Network) -> Vec<FlowDef> {
    let share = graph.vary.background;
    if share == 0.0 || !graph.channel.is_empty() || graph.link.is_empty() {
        return Vec::new();
    }
    let paths: Vec<Path> = ends_of(graph, names).into_iter().filter_map(|ends| path_of(network, ends)).collect();
    let mut crowd: BTreeMap<usize, f64> = BTreeMap::new();
    for link in paths.iter().flat_map(|path| &path.links) {
        *crowd.entry(*link).or_default() += 1.0;
    }
    let mut cables = BTreeSet::new();
    let mut made = Vec::new();
    for path in &paths {
        // What a flow would have of a link if all that pass it had the same.
        let part = |link: &usize| rate_of(graph, *link) / crowd[link];
        let Some(slowest) = path.links.iter().copied().min_by(|a, b| part(a).total_cmp(&part(b))) else { continue };
        if cables.insert(slowest / 2) {
            let forth = rate_of(graph, slowest);
            // The way back may be given a rate without bounds, since it carries ACKs alone.
            let back = forth.min(rate_of(graph, slowest ^ 1));
            let [from, to] = path.ends.map(|node| graph.node[node.index()].name.as_str());
            made.push(datagrams(from, to, share * forth));
            made.push(datagrams(to, from, share * back));
        }
    }
    made
}

/// Links from one end to the other; two a cable, forward and back.
struct Path {
    ends: [NodeId; 2],
    links: Vec<usize>,
}

/// The ends of all flows, and one pair of each workload.
fn ends_of(graph: &Scenario, names: &BTreeMap<&str, NodeId>) -> Vec<[NodeId; 2]> {
    let of_flows = graph.flow.iter().map(|flow| (&flow.from, &flow.to));
    let of_workloads = graph.workload.iter().filter_map(|load| load.from.first().zip(load.to.last()));
    let first = |pattern: &str, not: Option<NodeId>| {
        let named = names.get(pattern).copied().into_iter();
        let alike = names.iter().filter(|(name, _)| matches(pattern, name)).map(|(_, node)| *node);
        named.chain(alike).find(|node| Some(*node) != not)
    };
    let pairs = of_flows.chain(of_workloads);
    pairs.filter_map(|(from, to)| first(from, None).and_then(|from| Some([from, first(to, Some(from))?]))).collect()
}

/// The links that a packet takes at the start, if there is a way there and back.
fn path_of(network: &Network, ends: [NodeId; 2]) -> Option<Path> {
    let walk = |from: NodeId, to: NodeId| {
        let (mut here, mut links) = (from, Vec::new());
        while here != to && links.len() <= network.nodes.len() {
            let link = network.next_link(here, to, FlowId(0).sink())?;
            links.push(link.index());
            here = network.links[link.index()].to?;
        }
        (here == to).then_some(links)
    };
    walk(ends[1], ends[0])?;
    Some(Path { ends, links: walk(ends[0], ends[1])? })
}

/// The rate of a direction of a link, or of the shaper in its queue, in bit/s.
fn rate_of(graph: &Scenario, link: usize) -> f64 {
    let options = expand::direction_options(&graph.link, link);
    let shaped = options.queue.as_ref().and_then(shaper);
    let rates = options.rate.into_iter().chain(shaped);
    rates.map(|rate| rate.as_bps() as f64).fold(f64::INFINITY, f64::min)
}

fn shaper(queue: &Queue) -> Option<Rate> {
    match queue {
        Queue::Cake(def) => def.rate,
        Queue::Tbf(def) => Some(def.rate),
        Queue::Policer(def) => Some(def.rate),
        _ => None,
    }
}

fn datagrams(from: &str, to: &str, mean_bps: f64) -> FlowDef {
    let burst = mean_bps * (ON_MS + OFF_MS) as f64 / ON_MS as f64;
    let period = |ms| PeriodDef::Exponential(ExponentialDef { mean: Span::from_millis(ms) });
    let app = AppDef::OnOff(OnOffDef {
        rate: PacketRate::Bits(Rate::from_bps(burst.max(1.0) as u64).expect("at least 1 bit/s")),
        size: PAYLOAD,
        transport: TransportDef::Udp,
        on_full: Full::Block,
        ecn: None,
        dscp: None,
        on: period(ON_MS),
        off: period(OFF_MS),
    });
    FlowDef { app, ..FlowDef::between(from, to) }
}
