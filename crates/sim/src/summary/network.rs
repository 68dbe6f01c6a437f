//! The summary of all flows together, and of connectivity.

use serde::Serialize;
use tcp::units::Span;

use super::fabric::FabricSummary;
use super::flow::FlowSummary;
use super::link::LinkSummary;
use super::measures::Measures;
use super::node::{NetworkEnergy, NetworkRadio, NodeSummary};
use super::workload::{WorkloadsTogether, together};
use crate::ids::NodeId;
use crate::metrics::ratio;
use crate::metrics::{IntervalMetrics, ProductLimit, jain, nearest_rank};
use crate::world::World;

/// All flows together.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct NetworkSummary {
    /// Number of flows.
    pub flows: u64,
    /// Flows of which nothing was delivered.
    pub flows_without_delivery: u64,
    /// Sums, and means weighted by packets.
    #[serde(flatten)]
    pub measures: Measures,
    /// Jain's fairness index of the goodputs of the flows that lived in the measurement interval.
    pub jain: Option<f64>,
    /// Completion times; absent if no flow has an end.
    #[serde(flatten)]
    pub completion: Option<CompletionSummary>,
    /// Minimum goodput of a flow that lived in the measurement interval, as the next one of those that the scenario lists or
    /// generates; absent without any.
    pub goodput_min_bps: Option<f64>,
    /// Maximum goodput of a flow.
    pub goodput_max_bps: Option<f64>,
    /// Mean of the flows' smoothed RTT at the end.
    pub srtt_s: Option<f64>,
    /// Retransmission timeouts of all flows.
    pub rto_count: u64,
    /// Fast recovery episodes of all flows.
    pub recovery_count: u64,
    /// What workloads add; absent without any.
    #[serde(flatten)]
    pub workloads: Option<WorkloadsTogether>,
    /// Utilisation of the busiest link.
    pub utilisation_max: f64,
    /// Use of a fabric; absent without one.
    #[serde(flatten)]
    pub fabric: Option<FabricSummary>,
    /// Connectivity; absent without radio.
    #[serde(flatten)]
    pub connectivity: Option<ConnectivitySummary>,
    /// Frames and messages of all radios.
    #[serde(flatten)]
    pub radio: NetworkRadio,
    /// Energy of all radios.
    #[serde(flatten)]
    pub energy: NetworkEnergy,
}

/// Completion times of the flows that have an end. Those that did not reach it lasted at least until the run ended, which the
/// product-limit estimate takes into account.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CompletionSummary {
    /// Mean: restricted to the longest time where not all flows are completed.
    pub completion_s: Option<f64>,
    /// Median: the nearest rank, as the next two; the longest time, a lower bound, where the known share does not reach it.
    pub completion_p50_s: Option<f64>,
    /// 95th percentile.
    pub completion_p95_s: Option<f64>,
    /// 99th percentile.
    pub completion_p99_s: Option<f64>,
    /// Maximum: of flows that are not completed, what they had lasted.
    pub completion_max_s: Option<f64>,
    /// Flows with an end that had not reached it when the run ended.
    pub flows_unfinished: u64,
    /// Share of the flows whose time is known: percentiles above it are lower bounds.
    pub completion_known_share: f64,
}

impl CompletionSummary {
    fn of(world: &World, flows: &[FlowSummary]) -> Option<CompletionSummary> {
        let finite = world.hosts.flows.iter().take(world.counted()).filter(|flow| flow.app.is_finite()).count();
        let mut times: Vec<f64> = flows.iter().filter_map(|flow| flow.completion_s).collect();
        times.sort_unstable_by(f64::total_cmp);
        let longer: Vec<f64> = flows.iter().filter_map(|flow| flow.unfinished_s).collect();
        let flows_unfinished = (finite - times.len()) as u64;
        let ended: Vec<(f64, u64)> = times.iter().map(|time| (*time, 1)).collect();
        let longest = times.iter().chain(&longer).copied().reduce(f64::max);
        let limit = (!longer.is_empty()).then(|| ProductLimit::of(&ended, longer));
        let quantile = |q| limit.as_ref().map_or_else(|| nearest_rank(&times, q), |limit| Some(limit.quantile(q)));
        (finite > 0).then(|| CompletionSummary {
            completion_s: limit
                .as_ref()
                .map_or_else(|| ratio(times.iter().sum(), times.len() as f64), |limit| Some(limit.mean())),
            completion_p50_s: quantile(0.50),
            completion_p95_s: quantile(0.95),
            completion_p99_s: quantile(0.99),
            completion_max_s: longest,
            flows_unfinished,
            completion_known_share: limit.as_ref().map_or(1.0, ProductLimit::known),
        })
    }
}

/// Connectivity of a network with radio.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ConnectivitySummary {
    /// Number of connected components at the start; 1 if all nodes reached one another.
    pub components: u64,
    /// Number of nodes in the largest component.
    pub largest_component: u64,
    /// Neighbours of a node at the start. Mean.
    pub mean_degree: f64,
    /// Flows that never had a path.
    pub flows_without_path: u64,
    /// Placements drawn until one was connected, if it had to be: its mean over seeds is 1 / acceptance rate.
    pub placement_draws: Option<u32>,
    /// Mean goodput of the flows that had a path at some instant.
    pub goodput_reachable_bps: Option<f64>,
    /// Their received / sent data packets.
    pub delivery_reachable_ratio: Option<f64>,
    /// Jain's fairness index of their goodputs.
    pub jain_reachable: Option<f64>,
}

pub(super) fn network_summary(
    world: &World,
    flows: &[FlowSummary],
    links: &[LinkSummary],
    nodes: &[NodeSummary],
    measured: Span,
) -> NetworkSummary {
    let mut all = IntervalMetrics::default();
    let listed = world.counted();
    world.ctx.flows.iter().take(listed).for_each(|flow| all.merge(&flow.interval));
    let workloads = together(world, &mut all);
    let of_workloads = workloads.clone().unwrap_or_default();
    let alive = flows.iter().filter(|f| f.lifetime_s > 0.0);
    let goodputs: Vec<f64> = alive.map(|f| f.measures.goodput_bps).collect();
    let offered = world.hosts.flows.iter().take(listed).all(|flow| flow.app.write().is_some());
    let srtts: Vec<f64> = flows.iter().filter_map(|f| f.srtt_s).collect();
    let measures = Measures::of(&all, measured, offered);
    NetworkSummary {
        fabric: FabricSummary::of(&world.resolved.network, links, measures.goodput_bps),
        flows: flows.len() as u64 + of_workloads.arrived,
        flows_without_delivery: flows.iter().filter(|f| f.measures.delivered_bytes == 0).count() as u64,
        measures,
        jain: jain(&goodputs),
        completion: CompletionSummary::of(world, flows),
        goodput_min_bps: goodputs.iter().copied().reduce(f64::min),
        goodput_max_bps: goodputs.iter().copied().reduce(f64::max),
        srtt_s: ratio(srtts.iter().sum(), srtts.len() as f64),
        rto_count: flows.iter().map(|f| f.rto_count.unwrap_or_default()).sum::<u64>() + of_workloads.rto_count,
        recovery_count: flows.iter().map(|f| f.recovery_count.unwrap_or_default()).sum::<u64>()
            + of_workloads.recovery_count,
        workloads,
        utilisation_max: links.iter().map(|l| l.utilisation).fold(0.0, f64::max),
        connectivity: None,
        radio: NetworkRadio::of(&world.network),
        energy: NetworkEnergy::of(nodes, &all),
    }
}

/// Summarizes connectivity, and notes for each flow whether it had a path.
pub(super) fn connect(world: &mut World, flows: &mut [FlowSummary]) -> Option<ConnectivitySummary> {
    let ends: Vec<(NodeId, NodeId)> = world.hosts.ends().into_iter().take(flows.len()).collect();
    let found = world.reachability.take()?.run(world.ctx.now, &ends);
    for (index, flow) in flows.iter_mut().enumerate() {
        (flow.hops, flow.path_share) = (found.hops[index], Some(found.path_share[index]));
    }
    let reachable = || flows.iter().filter(|flow| flow.path_share > Some(0.0)).map(|flow| &flow.measures);
    let goodputs: Vec<f64> = reachable().map(|measures| measures.goodput_bps).collect();
    let sum = |of: fn(&Measures) -> u64| reachable().map(of).sum::<u64>() as f64;
    Some(ConnectivitySummary {
        components: found.components,
        largest_component: found.largest,
        mean_degree: found.mean_degree,
        flows_without_path: (flows.len() - goodputs.len()) as u64,
        placement_draws: found.placement_draws,
        goodput_reachable_bps: ratio(goodputs.iter().sum(), goodputs.len() as f64),
        delivery_reachable_ratio: ratio(sum(|m| m.received_packets), sum(|m| m.sent_packets)),
        jain_reachable: jain(&goodputs),
    })
}
