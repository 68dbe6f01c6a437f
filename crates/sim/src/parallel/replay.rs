//! The arrivals and ends of the flows of workloads once more, in the order that they have in one part, when all is known of them.

use std::collections::BTreeMap;

use super::flow_log::{FlowLog, Vanished, WorkloadLog};
use crate::engine::crossing::EventPlace;
use crate::ids::FlowId;
use crate::metrics::Gauge;
use crate::summary::{self, FlowSummary};
use crate::world::World;

/// What happens to workloads.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Action {
    Over(FlowId),
    /// Ordered by when its ends were closed.
    Release(EventPlace, FlowId),
    Arrival(FlowId),
    WarmupEnds,
}

impl Action {
    fn flow(self) -> Option<FlowId> {
        match self {
            Action::Over(id) | Action::Release(_, id) | Action::Arrival(id) => Some(id),
            Action::WarmupEnds => None,
        }
    }
}

/// The flows of workloads after they were counted.
pub(super) struct Replayed {
    /// The summaries of those that are over and listed.
    pub(super) recorded: BTreeMap<FlowId, Box<FlowSummary>>,
    /// By flow: its number from now on; nothing if it is over.
    pub(super) numbers: Vec<Option<FlowId>>,
}

/// Counts what has happened to the workloads of `world`, whose flows have been joined, as one part would have done. Nothing if two
/// events of different parts leave open which of them comes first.
pub(super) fn replay(world: &mut World, log: &WorkloadLog) -> Option<Replayed> {
    let actions = actions(world, log)?;
    let end = world.ctx.now;
    world.workloads.alive = Gauge::default();
    world.workloads.all.iter_mut().for_each(|workload| workload.state.alive = Gauge::default());
    let mut recorded = BTreeMap::new();
    // The slots that the flows would have had: some sums of fractions are in their order.
    let (mut slots, mut free, mut number) = (BTreeMap::new(), Vec::new(), 0);
    for (place, action) in actions {
        world.ctx.now = place.key.time();
        match action {
            Action::Arrival(id) => {
                let slot = free.pop().unwrap_or(number);
                number = number.max(slot + 1);
                slots.insert(id, slot);
                let workload = world.workloads.slot(id).workload as usize;
                world.workloads.count_alive(place.key.time(), workload);
            }
            Action::Over(id) => world.workloads.on_over(place.key.time(), &world.hosts, id),
            Action::Release(_, id) => {
                free.extend(slots.remove(&id));
                release(world, id, &mut recorded);
            }
            Action::WarmupEnds => world.workloads.on_warmup_end(place.key.time()),
        }
    }
    world.ctx.now = end;
    let mut in_use: Vec<(u32, FlowId)> = slots.into_iter().map(|(id, slot)| (slot, id)).collect();
    in_use.sort_unstable();
    let in_order: Vec<FlowId> = in_use.into_iter().map(|(_, id)| id).collect();
    let numbers = put_in_order(world, &in_order);
    Some(Replayed { recorded, numbers })
}

/// What happened, in order.
fn actions(world: &World, log: &WorkloadLog) -> Option<Vec<(EventPlace, Action)>> {
    let first = world.workloads.listed() as u32;
    let mut actions: Vec<(EventPlace, Action)> =
        log.warmup_ended.map(|at| (at, Action::WarmupEnds)).into_iter().collect();
    for (index, (flow, arrived)) in log.flows.iter().zip(&log.arrivals).enumerate() {
        let id = FlowId(first + index as u32);
        actions.push((*arrived, Action::Arrival(id)));
        actions.extend(flow.over().ok()?.map(|at| (at, Action::Over(id))));
        let in_flight = world.ctx.flows[id.index()].tally.in_flight();
        if let Some((at, closed)) = released(flow, in_flight, &log.arrivals)? {
            actions.push((at, Action::Release(closed, id)));
        }
    }
    actions.sort_unstable();
    let leaves_open = |pair: &[(EventPlace, Action)]| {
        let [(at, before), (next, after)] = [pair[0], pair[1]];
        // At an arrival slots become free, then it takes one.
        let at_arrival = || log.arrivals.binary_search(&at).is_ok() && !matches!(before, Action::Over(_));
        at == next && before.flow() != after.flow() && after != Action::WarmupEnds && !at_arrival()
    };
    (!actions.windows(2).any(leaves_open)).then_some(actions)
}

/// When the slot of a flow became free: nothing of it existed any more, and an input of it or an arrival showed that. With when its ends
/// were closed.
fn released(flow: &FlowLog, in_flight: u64, arrivals: &[EventPlace]) -> Option<Option<(EventPlace, EventPlace)>> {
    let Some(Vanished { closed, at, noticed }) = flow.vanished(in_flight).ok()? else { return Some(None) };
    if noticed == Some(at) {
        return Some(Some((at, closed)));
    }
    let next = arrivals.get(arrivals.partition_point(|arrival| *arrival <= at)).copied();
    Some(noticed.into_iter().chain(next).min().map(|seen| (seen, closed)))
}

fn release(world: &mut World, id: FlowId, recorded: &mut BTreeMap<FlowId, Box<FlowSummary>>) {
    let serial = world.workloads.slot(id).serial;
    if world.workloads.recorder.has(serial) {
        recorded.insert(serial, Box::new(summary::of_transfer(world, id, 0)));
    }
    let World { ctx, hosts, workloads, .. } = world;
    workloads.release(ctx, hosts, id);
}

/// Flows that are over go, the others are put in the order of their slots.
fn put_in_order(world: &mut World, in_order: &[FlowId]) -> Vec<Option<FlowId>> {
    let World { ctx, hosts, workloads, .. } = world;
    let listed = workloads.listed();
    let numbers = workloads.reorder(in_order);
    // Both are taken apart flow by flow, since flows are not copied.
    let mut flows: Vec<Option<_>> = hosts.flows.drain(listed..).map(Some).collect();
    hosts.flows.extend(in_order.iter().filter_map(|id| flows[id.index() - listed].take()));
    let mut metrics: Vec<Option<_>> = ctx.flows.drain(listed..).map(Some).collect();
    ctx.flows.extend(in_order.iter().filter_map(|id| metrics[id.index() - listed].take()));
    let ends = ctx.ends.split_off(listed);
    ctx.ends.extend(in_order.iter().map(|id| ends[id.index() - listed]));
    numbers
}
