//! The summary of a run: numbers per flow, link, node and network, each with its unit in its name. What was not measured
//! is absent, never 0.

mod constellation;
mod distributions;
mod fabric;
mod flow;
mod link;
mod measures;
mod network;
mod node;
mod times;
mod workload;

use std::collections::BTreeMap;

use serde::Serialize;
use tcp::units::Time;

use crate::ids::FlowId;
use crate::link::Link;
use crate::scenario::{Scenario, ScenarioWarning};
use crate::wireless::WirelessSubnet;
use crate::workload::Slot;
use crate::world::{ListedFlow, World};
use constellation::space_summary;
pub use constellation::{SpaceSummary, TerminalSummary};
pub use fabric::FabricSummary;
use flow::{FlowFacts, flow_summary, order_summary};
pub use flow::{FlowSummary, NativeSummary, ReverseSummary, WorkloadFlowSummary};
pub use link::{ChannelSummary, LinkSummary};
use link::{channel_summary, link_summary};
pub use measures::{Drops, Forward, Measures};
pub use network::{CompletionSummary, ConnectivitySummary, NetworkSummary};
use network::{connect, network_summary};
pub use node::{NetworkEnergy, NetworkRadio, NodeSummary};
pub(crate) use workload::of_transfer;
pub use workload::{ClassSummary, UsersSummary, WorkloadSummary, WorkloadsTogether};

/// All numbers of a run.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Summary {
    /// Version of the engine.
    pub engine: &'static str,
    /// Seed of the run.
    pub seed: u64,
    /// Simulated duration.
    pub duration_s: f64,
    /// The measurement interval: begin and end.
    pub window_s: [f64; 2],
    /// Events handled.
    pub events: u64,
    /// Per flow, in the order of the scenario; then those flows of workloads that `record.flows` chooses.
    pub flows: Vec<FlowSummary>,
    /// Per workload.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub workloads: Vec<WorkloadSummary>,
    /// Per simplex link.
    pub links: Vec<LinkSummary>,
    /// Per wireless channel.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub channels: Vec<ChannelSummary>,
    /// Per node.
    pub nodes: Vec<NodeSummary>,
    /// Handovers; only of a constellation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub space: Option<SpaceSummary>,
    /// Over all flows.
    pub network: NetworkSummary,
    /// Packet conservation.
    pub conservation: Conservation,
    /// What the scenario says and seldom means; absent without any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<ScenarioWarning>,
    /// The scenario with every default filled in.
    pub resolved: Scenario,
}

/// Packets of the whole run: sent + duplicated = delivered + dropped + in flight, checked per flow and per link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Conservation {
    /// Sent by transports.
    pub sent: u64,
    /// Copies that links made.
    #[serde(skip_serializing_if = "is_zero")]
    pub duplicated: u64,
    /// Received by their destination.
    pub delivered: u64,
    /// Dropped.
    pub dropped: u64,
    /// Queued or in flight at the end.
    pub in_flight: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Summarizes a run whose invariants have been checked; `recorded` are the flows of workloads that are over.
pub(crate) fn of(world: &mut World, recorded: BTreeMap<FlowId, Box<FlowSummary>>) -> Summary {
    let measured = world.measured();
    let conservation = conservation(world);
    let in_flight = data_in_flight(world);
    // What has been counted makes room for what says so: of very many flows the summary would be half of the peak.
    world.ctx.forget_future();
    let (warmup, now) = (Time::ZERO + world.resolved.warmup, world.ctx.now);
    // Of the thousands of links of a constellation only those that were used.
    let shown = |world: &World, i: usize| world.constellation.is_none() || world.network.links[i].metrics.offered > 0;
    let listed: Vec<usize> = (0..world.network.links.len()).filter(|i| shown(world, *i)).collect();
    let links: Vec<LinkSummary> = listed.into_iter().map(|i| link_summary(world, i, measured)).collect();
    world.network.links = Vec::new();
    let number = world.counted();
    let mut flows = Vec::with_capacity(number + recorded.len());
    for (index, flow) in world.hosts.flows.iter_mut().take(number).enumerate() {
        let interval = &world.ctx.flows[index].interval;
        let id = FlowId(index as u32);
        let order = world.ctx.order.as_ref().map(|order| Box::new(order_summary(order.counts(id))));
        let facts = FlowFacts::listed(&world.graph, &world.listed, flow, id, [warmup, now], in_flight[index]);
        let summary = flow_summary(facts, flow, interval);
        flows.push(FlowSummary { order, ..summary });
    }
    for session in world.hosts.sessions.iter().filter(|session| world.workloads.is_listed(session.flows[0])) {
        let application = session.summary(&world.hosts.flows, warmup, now);
        flows[session.flows[0].index()].application = Some(Box::new(application));
    }
    let connectivity = connect(world, &mut flows);
    // Of the connections that applications may open, and of the flows from outside, only those that were opened.
    let may_open = |flow: &FlowSummary| flow.connection_of.is_some() || flow.app == ListedFlow::PROGRAM;
    flows.retain(|flow| !may_open(flow) || world.hosts.flows[flow.flow as usize].opened_at.is_some());
    let nodes = node::nodes(world, now);
    let network = NetworkSummary { connectivity, ..network_summary(world, &flows, &links, &nodes, measured) };
    flows.extend(transfers(world, recorded, &in_flight));
    Summary {
        engine: env!("CARGO_PKG_VERSION"),
        seed: world.seed,
        duration_s: now.as_secs_f64(),
        window_s: [world.resolved.warmup.as_secs_f64(), now.as_secs_f64()],
        events: world.ctx.events,
        network,
        workloads: workload::workloads(world, measured),
        channels: world.network.channels.iter().enumerate().map(|(i, c)| channel_summary(i, c, measured)).collect(),
        nodes,
        flows,
        links,
        space: world.constellation.as_ref().map(|dynamics| space_summary(&dynamics.terminals, now)),
        conservation,
        warnings: world.warnings.clone(),
        resolved: world.resolved.clone(),
    }
}

/// The flows of workloads that the summary lists: those that are over and those that exist.
fn transfers(world: &mut World, mut over: BTreeMap<FlowId, Box<FlowSummary>>, in_flight: &[u64]) -> Vec<FlowSummary> {
    let chosen = |(id, slot): (FlowId, &Slot)| world.workloads.recorder.has(slot.serial).then_some((id, slot.serial));
    let alive: Vec<(FlowId, FlowId)> = world.workloads.in_use().filter_map(chosen).collect();
    for (id, serial) in alive {
        over.insert(serial, Box::new(of_transfer(world, id, in_flight[id.index()])));
    }
    over.into_values().map(|flow| *flow).collect()
}

/// Data packets of each flow that exist now.
fn data_in_flight(world: &World) -> Vec<u64> {
    let mut counts = vec![0; world.hosts.flows.len()];
    for packet in world.ctx.packets.iter().filter(|p| p.has_data() && !p.to.is_source()) {
        counts[packet.to.flow().index()] += 1;
    }
    counts
}

/// Counts the packets of the whole run. Those in flight are counted where they are, not by subtraction.
///
/// # Panics
///
/// If the packets on links and channels are not those that exist.
fn conservation(world: &World) -> Conservation {
    let mut sum = Conservation { in_flight: world.ctx.packets.iter().count() as u64, ..Conservation::default() };
    for tally in world.ctx.flows.iter().map(|flow| &flow.tally).chain(world.workloads.tallies()) {
        sum.sent += tally.sent;
        sum.duplicated += tally.duplicated;
        sum.delivered += tally.delivered;
        sum.dropped += tally.dropped;
    }
    let on_links: u64 = world.network.links.iter().map(Link::holds).sum();
    let held = on_links + world.network.channels.iter().map(WirelessSubnet::holds).sum::<u64>();
    assert!(held == sum.in_flight, "{held} packets on links, {} in flight (seed {})", sum.in_flight, world.seed);
    sum
}
