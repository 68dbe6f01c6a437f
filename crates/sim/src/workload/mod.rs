//! Workloads: flows that arrive, take a slot among the flows of `Hosts`, and leave it when they are over.
//!
//! A slot is free again when both ends are closed and none of the flow's packets exists: then nothing can come for it any more.
//! Memory grows with the flows alive, not with those that ever were; outside a flow is known by its serial number.

pub(crate) mod arrivals;
pub(crate) mod counts;
pub(crate) mod ends;
mod opening;
mod over;
pub(crate) mod recorder;
pub(crate) mod sizes;

use std::sync::Arc;

use tcp::TcpConfig;
use tcp::rng::Rng;
use tcp::units::{Bytes, Span, Time};

use crate::engine::context::Context;
use crate::engine::event::Event;
use crate::host::Hosts;
use crate::host::flow::Flow;
use crate::ids::{FlowId, NodeId};
use crate::metrics::{Distribution, Gauge, IntervalMetrics, Tally};
use crate::network::IdealTransfer;
use crate::scenario::{Dscp, WorkloadDef};
use arrivals::Arrivals;
pub(crate) use counts::finished;
use counts::{ClassCounts, Finished};
use ends::Ends;
use recorder::Recorder;
use sizes::Sizes;

/// Flows of workloads that may arrive in all.
pub(crate) const MOST_FLOWS: u32 = 1_000_000_000;

/// Pairs of ends that are looked at one by one.
const MOST_PAIRS: usize = 1_000_000;

/// A workload.
#[derive(Debug)]
pub(crate) struct Workload {
    pub(crate) def: WorkloadDef,
    pub(crate) arrivals: Arrivals,
    pub(crate) ends: Ends,
    pub(crate) sizes: Option<Sizes>,
    pub(crate) config: Arc<TcpConfig>,
    /// The names of all nodes, if a whole transport carries its flows.
    pub(crate) places: Vec<String>,
    pub(crate) transfer: IdealTransfer,
    pub(crate) priority: u8,
    pub(crate) dscp: Dscp,
    pub(crate) group: u16,
    pub(crate) streams: Streams,
    /// Flows per second that the open arrivals ask for.
    pub(crate) rate: Option<f64>,
    /// Rate of the link that the load is a share of, in bit/s.
    pub(crate) link_bps: Option<f64>,
    pub(crate) state: State,
}

/// The random streams of a workload: what one draws does not shift what another does.
#[derive(Debug)]
pub(crate) struct Streams {
    pub(crate) arrivals: Rng,
    pub(crate) sizes: Rng,
    pub(crate) ends: Rng,
    pub(crate) app: Rng,
    pub(crate) transport: Rng,
}

impl Streams {
    pub(crate) fn new(seed: u64, name: &str) -> Streams {
        let stream = |what| Rng::stream(seed, &format!("workload/{name}/{what}"));
        Streams {
            arrivals: stream("arrivals"),
            sizes: stream("sizes"),
            ends: stream("ends"),
            app: stream("app"),
            transport: stream("transport"),
        }
    }
}

/// What a workload has done so far.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// Flows that have arrived, and their bytes, over the whole run.
    pub(crate) arrived: u64,
    pub(crate) arrived_bytes: Bytes,
    /// Bytes that flows whose slots are free again have read.
    pub(crate) read: u64,
    /// Flows that have arrived and are neither finished nor given up.
    pub(crate) alive: Gauge,
    pub(crate) classes: Vec<ClassCounts>,
    /// What the application measured of each flow that has finished, in nanoseconds.
    pub(crate) users: Distribution,
    /// Of flows whose slots are free again: packets of the whole run, metrics of the measurement interval, time-outs and
    /// recoveries of the whole run.
    pub(crate) tally: Tally,
    pub(crate) interval: IntervalMetrics,
    pub(crate) timeouts: u64,
    pub(crate) recoveries: u64,
}

/// The place of a flow in `Hosts`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) phase: Phase,
    pub(crate) workload: u32,
    pub(crate) serial: FlowId,
    pub(crate) start: Time,
    pub(crate) size: Bytes,
    pub(crate) ideal: Option<Span>,
    /// It has arrived in the measurement interval.
    pub(crate) counts: bool,
}

/// How far a flow is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// There is none.
    Free,
    /// Its data is not yet delivered.
    Alive,
    /// Its data is delivered, or TCP has given up; the connection may still close.
    Over,
    /// Both ends are closed, and packets of it still exist.
    Lingering,
}

/// All workloads.
#[derive(Debug)]
pub(crate) struct Workloads {
    pub(crate) all: Vec<Workload>,
    /// Flows that the scenario lists or generates; their slots come first.
    listed: usize,
    pub(crate) slots: Vec<Slot>,
    free: Vec<FlowId>,
    lingering: Vec<FlowId>,
    next_serial: u32,
    /// Slots in use of flows that whole transports carry.
    native: u32,
    pub(crate) recorder: Recorder,
    /// Flows that arrive from the first of these times to the other count.
    counted: [Time; 2],
    pub(crate) alive: Gauge,
    /// Why the run cannot go on.
    pub(crate) exceeded: Option<String>,
}

impl Workloads {
    pub(crate) fn new(all: Vec<Workload>, listed: usize, recorder: Recorder, counted: [Time; 2]) -> Workloads {
        Workloads {
            all,
            listed,
            slots: Vec::new(),
            free: Vec::new(),
            lingering: Vec::new(),
            next_serial: listed as u32,
            native: 0,
            recorder,
            counted,
            alive: Gauge::default(),
            exceeded: None,
        }
    }

    /// Number of flows that the scenario lists or generates, with the further connections of their applications.
    pub(crate) fn listed(&self) -> usize {
        self.listed
    }

    /// True if a flow is one that the scenario lists or generates.
    #[inline]
    pub(crate) fn is_listed(&self, id: FlowId) -> bool {
        id.index() < self.listed
    }

    /// The slot of a flow of a workload.
    #[inline]
    pub(crate) fn slot(&self, id: FlowId) -> &Slot {
        &self.slots[id.index() - self.listed]
    }

    /// The slots that are in use.
    pub(crate) fn in_use(&self) -> impl Iterator<Item = (FlowId, &Slot)> {
        let ids = (self.listed as u32..).map(FlowId);
        ids.zip(&self.slots).filter(|(_, slot)| slot.phase != Phase::Free)
    }

    /// `listed` and the ends of all flows that may arrive; nothing if they are too many to be listed.
    pub(crate) fn all_ends(&self, mut listed: Vec<(NodeId, NodeId)>) -> Option<Vec<(NodeId, NodeId)>> {
        for workload in &self.all {
            listed.extend(workload.ends.pairs(MOST_PAIRS)?);
            if let Arrivals::Listed { rows, .. } = &workload.arrivals
                && rows.iter().any(|row| row.from.is_some() || row.to.is_some())
            {
                return None;
            }
        }
        Some(listed)
    }

    /// Schedules the first arrivals.
    pub(crate) fn start(&mut self, ctx: &mut Context) {
        for index in 0..self.all.len() {
            let users = match self.all[index].arrivals {
                Arrivals::Closed { users, .. } => users,
                Arrivals::Open { .. } | Arrivals::Listed { .. } => 1,
            };
            let begin = Time::ZERO + self.all[index].def.start;
            (0..users).for_each(|_| self.schedule(ctx, index, begin));
        }
    }

    /// Schedules the next arrival; that of a user who thinks from `now` on.
    fn schedule(&mut self, ctx: &mut Context, index: usize, now: Time) {
        let Workload { def, arrivals, streams, .. } = &mut self.all[index];
        let at = match arrivals {
            Arrivals::Closed { think, .. } => Some(now + think.sample(&mut streams.arrivals)),
            open => open.next(Time::ZERO + def.start, &mut streams.arrivals),
        };
        if let Some(at) = at.filter(|at| def.stop.is_none_or(|stop| *at < Time::ZERO + stop)) {
            ctx.schedule(at, Event::Arrival { workload: index as u32 });
        }
    }

    /// A flow of workload `index` has arrived.
    pub(crate) fn count_alive(&mut self, now: Time, index: usize) {
        for gauge in [&mut self.alive, &mut self.all[index].state.alive] {
            gauge.set(now, gauge.value() + 1);
        }
    }

    /// True if the data of a flow is on its way, as it is after most inputs: there is nothing to follow.
    #[inline]
    pub(crate) fn is_under_way(&self, hosts: &Hosts, id: FlowId) -> bool {
        let flow = &hosts.flows[id.index()];
        flow.ended_at.is_none() && !flow.has_closed_end() && self.slot(id).phase == Phase::Alive
    }

    /// Bytes that the flows of each workload have read.
    pub(crate) fn read(&self, flows: &[Flow]) -> Vec<u64> {
        let mut read: Vec<u64> = self.all.iter().map(|workload| workload.state.read).collect();
        for (id, slot) in self.in_use() {
            read[slot.workload as usize] += flows[id.index()].read;
        }
        read
    }

    /// The measurement interval begins.
    pub(crate) fn on_warmup_end(&mut self, now: Time) {
        self.alive.restart(now);
        for workload in &mut self.all {
            workload.state.alive.restart(now);
            workload.state.interval = IntervalMetrics::default();
        }
    }

    /// Packets of flows whose slots are free again.
    pub(crate) fn tallies(&self) -> impl Iterator<Item = &Tally> {
        self.all.iter().map(|workload| &workload.state.tally)
    }
}

impl Workload {
    /// True if a whole transport carries its flows.
    pub(crate) fn is_native(&self) -> bool {
        self.def.transport.is_some()
    }

    /// A flow is finished, or given up.
    fn on_end(&mut self, now: Time, slot: &Slot, finished: Option<Finished>, own_s: Option<f64>) {
        let State { alive, classes, users, .. } = &mut self.state;
        alive.set(now, alive.value() - 1);
        if slot.counts {
            if let Some(seconds) = own_s {
                users.add(libm::round(1e9 * seconds) as u64);
            }
            let class = &mut classes[self.def.class_of(slot.size)];
            match finished {
                Some(finished) => class.on_finish(&finished),
                None => class.aborted += 1,
            }
        }
    }
}

#[cfg(test)]
mod tests;
