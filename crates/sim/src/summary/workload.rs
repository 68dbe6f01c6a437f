//! The summary of a workload, and of its flows one by one.

use serde::Serialize;
use tcp::units::{Bytes, Span, Time};

use super::flow::{FlowFacts, FlowSummary, NativeSummary, WorkloadFlowSummary, flow_summary, order_summary};
use super::measures::Drops;
use super::times::{LEAST_FOR_P99, Times, Unfinished};
use crate::ids::FlowId;
use crate::metrics::{Distribution, IntervalMetrics};
use crate::scenario::{WorkloadApp, WorkloadDef};
use crate::workload::counts::{ClassCounts, SLOWDOWN_UNIT, slowdown};
use crate::workload::{Phase, Workload, finished};
use crate::world::World;

/// A workload. Flows that arrive before the warm-up ends or after the cool-down begins do not count, but in `arrived`.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct WorkloadSummary {
    /// Its name.
    pub name: String,
    /// What a flow does.
    pub app: &'static str,
    /// Flows that have arrived over the whole run.
    pub arrived: u64,
    /// Flows per second that the arrivals ask for; absent where they are listed or closed.
    pub arrival_rate_per_s: Option<f64>,
    /// Mean size that the distribution has; absent without one.
    pub size_mean_bytes: Option<f64>,
    /// Bytes of the flows that arrived in the measurement interval, less its cool-down, per second.
    pub offered_bps: f64,
    /// Bytes read in order in the measurement interval, per second.
    pub carried_bps: f64,
    /// Offered rate divided by the rate of the link whose share the load is; absent without one.
    pub load_offered: Option<f64>,
    /// Carried rate divided by the rate of that link.
    pub load_carried: Option<f64>,
    /// Flows that have arrived and whose data is not yet delivered. Maximum in the measurement interval.
    pub alive_max: u64,
    /// Their mean over time.
    pub alive_mean: Option<f64>,
    /// All flows that count.
    #[serde(flatten)]
    pub all: ClassSummary,
    /// Data packets retransmitted; absent where a whole transport does not tell.
    pub retransmitted_packets: Option<u64>,
    /// Retransmission time-outs, over the whole run; absent for a whole transport.
    pub rto_count: Option<u64>,
    /// Data packets dropped, by reason.
    pub drops: Drops,
    /// Data packets that a queue marked CE.
    pub marked_packets: u64,
    /// What its application measured; absent for `transfer`.
    #[serde(flatten)]
    pub users: Option<UsersSummary>,
    /// By size.
    pub classes: Vec<ClassSummary>,
}

/// What applications measured, over the flows that count and have finished.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum UsersSummary {
    /// Of `request_response`: the mean request time of each flow.
    Requests {
        /// Mean.
        request_s: Option<f64>,
        /// Median.
        request_p50_s: Option<f64>,
        /// 95th percentile.
        request_p95_s: Option<f64>,
        /// 99th percentile; absent below 100 flows.
        request_p99_s: Option<f64>,
    },
    /// Of `page`: the page load time of each flow.
    Pages {
        /// Mean.
        page_load_s: Option<f64>,
        /// Median.
        page_load_p50_s: Option<f64>,
        /// 95th percentile.
        page_load_p95_s: Option<f64>,
        /// 99th percentile; absent below 100 flows.
        page_load_p99_s: Option<f64>,
    },
}

impl UsersSummary {
    fn of(app: &WorkloadApp, users: &Distribution) -> Option<UsersSummary> {
        let seconds = |nanos: Option<f64>| nanos.map(|nanos| nanos / 1e9);
        let quantile = |q, least| seconds(users.quantile(q, least));
        let (mean, p50, p95, p99) =
            (seconds(users.mean()), quantile(0.5, 1), quantile(0.95, 1), quantile(0.99, LEAST_FOR_P99));
        match app {
            WorkloadApp::Transfer(_) => None,
            WorkloadApp::RequestResponse(_) => Some(UsersSummary::Requests {
                request_s: mean,
                request_p50_s: p50,
                request_p95_s: p95,
                request_p99_s: p99,
            }),
            WorkloadApp::Page(_) => Some(UsersSummary::Pages {
                page_load_s: mean,
                page_load_p50_s: p50,
                page_load_p95_s: p95,
                page_load_p99_s: p99,
            }),
        }
    }
}

/// Flows of one size class, or all of a workload.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ClassSummary {
    /// Name of the class: its upper edge, or `larger`; of all flows, `all`.
    pub class: String,
    /// Sizes above this, which is the upper edge of the class before.
    pub above_bytes: u64,
    /// Sizes up to this; absent for the last class.
    pub upto_bytes: Option<u64>,
    /// Flows that arrived.
    pub started: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Those of them that were delivered before the run ended.
    pub finished: u64,
    /// Those that TCP gave up.
    pub aborted: u64,
    /// Those whose data was not yet delivered when the run ended. They and those that TCP gave up lasted at least as long as they
    /// did, which the times below take into account (product-limit estimate).
    pub unfinished: u64,
    /// Age of the oldest of these.
    pub unfinished_age_max_s: Option<f64>,
    /// Share of the flows whose time is known: quantiles above it are lower bounds.
    pub fct_known_share: Option<f64>,
    /// Flow completion time: arrival to the last byte read in order. Mean, restricted to the longest time where some are longer.
    pub fct_s: Option<f64>,
    /// Median, exact to 1/128 as the quantiles below.
    pub fct_p50_s: Option<f64>,
    /// 95th percentile.
    pub fct_p95_s: Option<f64>,
    /// 99th percentile; absent below 100 flows.
    pub fct_p99_s: Option<f64>,
    /// 99.9th percentile; absent below 1000 flows.
    pub fct_p999_s: Option<f64>,
    /// Maximum.
    pub fct_max_s: Option<f64>,
    /// Completion time divided by the ideal one: alone, without slow start, on the path at its start. Mean.
    pub slowdown: Option<f64>,
    /// Median.
    pub slowdown_p50: Option<f64>,
    /// 95th percentile.
    pub slowdown_p95: Option<f64>,
    /// 99th percentile; absent below 100 flows.
    pub slowdown_p99: Option<f64>,
    /// 99.9th percentile; absent below 1000 flows.
    pub slowdown_p999: Option<f64>,
    /// Maximum.
    pub slowdown_max: Option<f64>,
    /// Size divided by completion time. Mean over flows.
    pub goodput_mean_bps: Option<f64>,
    /// Arrival to the end of the handshake at the sender. Mean.
    pub handshake_s: Option<f64>,
    /// Arrival to the first byte read. Mean.
    pub first_byte_s: Option<f64>,
}

impl ClassSummary {
    fn of(class: String, edges: [Option<Bytes>; 2], counts: &ClassCounts, unfinished: &Unfinished) -> ClassSummary {
        let fct = Times::of(&counts.fct, &unfinished.ages, counts.aborted, 1e9);
        let slowdown = Times::of(&counts.slowdown, &unfinished.slowdowns, counts.aborted, SLOWDOWN_UNIT);
        ClassSummary {
            class,
            above_bytes: edges[0].unwrap_or_default().0,
            upto_bytes: edges[1].map(|edge| edge.0),
            started: counts.started,
            bytes: counts.bytes,
            finished: counts.finished(),
            aborted: counts.aborted,
            unfinished: unfinished.ages.len() as u64,
            unfinished_age_max_s: unfinished.ages.iter().copied().reduce(f64::max).map(|nanos| nanos / 1e9),
            fct_known_share: fct.known,
            fct_s: fct.mean,
            fct_p50_s: fct.quantiles[0],
            fct_p95_s: fct.quantiles[1],
            fct_p99_s: fct.quantiles[2],
            fct_p999_s: fct.quantiles[3],
            fct_max_s: fct.max,
            slowdown: slowdown.mean,
            slowdown_p50: slowdown.quantiles[0],
            slowdown_p95: slowdown.quantiles[1],
            slowdown_p99: slowdown.quantiles[2],
            slowdown_p999: slowdown.quantiles[3],
            slowdown_max: slowdown.max,
            goodput_mean_bps: counts.goodput_mean_bps(),
            handshake_s: counts.handshake_mean_s(),
            first_byte_s: counts.first_byte_mean_s(),
        }
    }
}

/// Summarizes every workload.
pub(super) fn workloads(world: &World, measured: Span) -> Vec<WorkloadSummary> {
    (0..world.workloads.all.len()).map(|index| workload_summary(world, index, measured)).collect()
}

fn workload_summary(world: &World, index: usize, measured: Span) -> WorkloadSummary {
    let workload = &world.workloads.all[index];
    let Workload { def, state, .. } = workload;
    let is_tcp = !workload.is_native();
    let unfinished = unfinished(world, index);
    let uppers = || def.classes.iter().copied().map(Some).chain([None]);
    let edges = [None].into_iter().chain(uppers()).zip(uppers());
    let (mut all, mut all_unfinished) = (ClassCounts::default(), Unfinished::default());
    let mut classes = Vec::with_capacity(state.classes.len());
    for (((name, [above, upto]), counts), alive) in
        def.class_names().into_iter().zip(edges.map(|(above, upto)| [above, upto])).zip(&state.classes).zip(unfinished)
    {
        all.merge(counts);
        all_unfinished.add(&alive);
        classes.push(ClassSummary::of(name, [above, upto], counts, &alive));
    }
    let interval = interval(world, index);
    let counted = measured.saturating_sub(world.resolved.cooldown).as_secs_f64();
    let offered_bps = 8.0 * all.bytes as f64 / counted;
    let carried_bps = 8.0 * interval.delivered_bytes.as_f64() / measured.as_secs_f64();
    WorkloadSummary {
        name: def.name.clone(),
        app: def.app.name(),
        arrived: state.arrived,
        arrival_rate_per_s: workload.rate,
        size_mean_bytes: workload.sizes.as_ref().map(|sizes| sizes.mean()),
        offered_bps,
        carried_bps,
        load_offered: workload.link_bps.map(|rate| offered_bps / rate),
        load_carried: workload.link_bps.map(|rate| carried_bps / rate),
        alive_max: state.alive.max(),
        alive_mean: state.alive.mean(world.ctx.now, measured),
        all: ClassSummary::of("all".to_owned(), [None, None], &all, &all_unfinished),
        retransmitted_packets: (is_tcp || interval.retransmitted > 0).then_some(interval.retransmitted),
        rto_count: is_tcp.then(|| totals(world, index)[0]),
        drops: Drops::of(interval.drops()),
        marked_packets: interval.marked,
        users: UsersSummary::of(&def.app, &state.users),
        classes,
    }
}

/// The slots of a workload that are in use.
fn slots(world: &World, index: usize) -> impl Iterator<Item = FlowId> {
    world.workloads.in_use().filter(move |(_, slot)| slot.workload as usize == index).map(|(id, _)| id)
}

/// What was measured of all flows of a workload, those that are over and those that are alive.
fn interval(world: &World, index: usize) -> IntervalMetrics {
    let mut sum = world.workloads.all[index].state.interval.clone();
    slots(world, index).for_each(|id| sum.merge(&world.ctx.flows[id.index()].interval));
    sum
}

/// Time-outs and recoveries of all flows of a workload.
fn totals(world: &World, index: usize) -> [u64; 2] {
    let state = &world.workloads.all[index].state;
    let mut sum = [state.timeouts, state.recoveries];
    for id in slots(world, index) {
        let totals = world.hosts.flows[id.index()].totals();
        sum[0] += u64::from(totals.timeouts);
        sum[1] += u64::from(totals.recoveries);
    }
    sum
}

/// The flows of a workload that are alive, by class.
fn unfinished(world: &World, index: usize) -> Vec<Unfinished> {
    let def = &world.workloads.all[index].def;
    let mut by_class = vec![Unfinished::default(); def.classes.len() + 1];
    for id in slots(world, index) {
        let slot = world.workloads.slot(id);
        if slot.phase == Phase::Alive && slot.counts {
            let (age, of_class) = (world.ctx.now.since(slot.start), &mut by_class[def.class_of(slot.size)]);
            of_class.ages.push(age.as_nanos() as f64);
            of_class
                .slowdowns
                .extend(slot.ideal.and_then(|ideal| slowdown(age, ideal)).map(|found| found * SLOWDOWN_UNIT));
        }
    }
    by_class
}

/// What workloads add to the summary of the network.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct WorkloadsTogether {
    /// Mean slowdown of the flows of all workloads.
    pub slowdown_mean: Option<f64>,
    /// Most flows of workloads that were alive at once in the measurement interval.
    pub flows_alive_max: u64,
    #[serde(skip)]
    pub(super) arrived: u64,
    #[serde(skip)]
    pub(super) rto_count: u64,
    #[serde(skip)]
    pub(super) recovery_count: u64,
}

/// All workloads together, if there are any; what they measured is added to `all`.
pub(super) fn together(world: &World, all: &mut IntervalMetrics) -> Option<WorkloadsTogether> {
    let (mut slowdowns, mut so_far, mut given_up) = (Distribution::default(), Unfinished::default(), 0);
    let alive = world.workloads.alive.max();
    let mut sum = WorkloadsTogether { flows_alive_max: alive, ..WorkloadsTogether::default() };
    for (index, workload) in world.workloads.all.iter().enumerate() {
        all.merge(&interval(world, index));
        workload.state.classes.iter().for_each(|class| slowdowns.merge(&class.slowdown));
        given_up += workload.state.classes.iter().map(|class| class.aborted).sum::<u64>();
        unfinished(world, index).iter().for_each(|class| so_far.add(class));
        let [timeouts, recoveries] = totals(world, index);
        sum.arrived += workload.state.arrived;
        sum.rto_count += timeouts;
        sum.recovery_count += recoveries;
    }
    sum.slowdown_mean = Times::of(&slowdowns, &so_far.slowdowns, given_up, SLOWDOWN_UNIT).mean;
    (!world.workloads.all.is_empty()).then_some(sum)
}

/// The summary of a flow of a workload, of which so many data packets exist.
pub(crate) fn of_transfer(world: &mut World, id: FlowId, in_flight_packets: u64) -> FlowSummary {
    let slot = *world.workloads.slot(id);
    let (warmup, now) = (Time::ZERO + world.resolved.warmup, world.ctx.now);
    let workload = &world.workloads.all[slot.workload as usize];
    let WorkloadDef { name, tcp, transport, .. } = &workload.def;
    let flow = &mut world.hosts.flows[id.index()];
    let node = |node: crate::ids::NodeId| world.graph.node[node.index()].name.clone();
    let facts = FlowFacts {
        serial: slot.serial,
        connection_of: None,
        from: node(flow.source),
        to: node(flow.sink),
        cc: tcp.cc.as_ref(),
        native: transport.as_ref().map(|native| native.label()),
        app: workload.def.app.name(),
        transport: if transport.is_some() { "native" } else { "tcp" },
        start: slot.start,
        window: [warmup, now],
        in_flight_packets,
        distributions: &world.graph.record.distributions,
    };
    let done = finished(&slot, flow);
    let since = |at: Option<Time>| at.map(|at| at.since(slot.start).as_secs_f64());
    let transfer = WorkloadFlowSummary {
        workload: name.clone(),
        size_bytes: slot.size.0,
        class: workload.def.class_names().swap_remove(workload.def.class_of(slot.size)),
        fct_s: done.map(|done| done.fct.as_secs_f64()),
        ideal_fct_s: slot.ideal.map(Span::as_secs_f64),
        slowdown: done.and_then(|done| done.slowdown()),
        handshake_s: since(flow.connected_at),
        first_byte_s: since(flow.first_byte_at),
    };
    let order = world.ctx.order.as_ref().map(|order| Box::new(order_summary(order.counts(id))));
    let summary = flow_summary(facts, flow, &world.ctx.flows[id.index()].interval);
    // The workload has the time of the handshake.
    let native = summary.native.map(|native| Box::new(NativeSummary { handshake_s: None, ..*native }));
    FlowSummary { order, native, transfer: Some(Box::new(transfer)), ..summary }
}
