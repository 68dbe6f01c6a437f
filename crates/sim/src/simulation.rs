//! The loop: pop an event, match it, call its component.

use tcp::units::{Span, Time};

use crate::assemble::assemble;
use crate::connectivity::Reachability;
use crate::constellation::ConstellationDynamics;
use crate::engine::context::Context;
use crate::engine::event::Event;
use crate::engine::trace::Sink;
use crate::host::Hosts;
use crate::host::flow::Flow;
use crate::ids::{FlowId, LinkId, NodeId};
use crate::invariants;
use crate::link::LinkChange;
use crate::network::Network;
use crate::scenario::{Scenario, ScenarioError, SeriesName};
use crate::series::{Column, Series};
use crate::summary::{self, Summary};

/// Bytes that a sender keeps of a segment in flight, and how small one is taken to be; for [`Simulation::held_bytes`].
const REMEMBERED: u64 = 128;
const SMALL_SEGMENT: u64 = 500;

/// A foreseen change of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    pub(crate) link: LinkId,
    pub(crate) change: LinkChange,
}

/// How packets travel over wires.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Travel {
    /// An event for each step: what a sink hears is in order.
    Plain,
    /// What is certain beforehand is told at once. All results are the same but the count of events; what a sink hears of
    /// transmissions and drops comes early.
    Short,
}

/// A run that is ready to go.
#[derive(Debug)]
pub struct Simulation {
    pub(crate) ctx: Context,
    pub(crate) network: Network,
    pub(crate) hosts: Hosts,
    pub(crate) changes: Vec<Change>,
    pub(crate) series: Series,
    /// Who could reach whom; of networks with radio.
    pub(crate) reachability: Option<Reachability>,
    /// The moving part of a constellation.
    pub(crate) sky: Option<Box<ConstellationDynamics>>,
    /// The world with nothing left to a default.
    pub(crate) graph: Scenario,
    /// The scenario as the user wrote it, with its defaults.
    pub(crate) resolved: Scenario,
    pub(crate) seed: u64,
}

/// What a run gives.
#[derive(Debug)]
pub struct Outcome {
    /// Metrics.
    pub summary: Summary,
    /// The series asked for.
    pub series: Vec<(SeriesName, Column)>,
    /// What the sink gathered, if there was one.
    pub trace: Option<String>,
}

impl Simulation {
    /// The simulation of `scenario` with `seed`.
    pub fn new(scenario: &Scenario, seed: u64) -> Result<Simulation, ScenarioError> {
        Simulation::travelling(scenario, seed, None, Travel::Short)
    }

    /// The same; `sink` hears every packet event.
    pub fn with_sink(scenario: &Scenario, seed: u64, sink: Box<dyn Sink>) -> Result<Simulation, ScenarioError> {
        Simulation::travelling(scenario, seed, Some(sink), Travel::Plain)
    }

    /// The same with a choice of how packets travel: for proofs that it makes no difference.
    pub fn travelling(
        scenario: &Scenario,
        seed: u64,
        sink: Option<Box<dyn Sink>>,
        travel: Travel,
    ) -> Result<Simulation, ScenarioError> {
        let mut simulation = assemble(scenario, seed, sink)?;
        if travel == Travel::Short && simulation.sky.is_none() {
            let mut changing: Vec<LinkId> = simulation.changes.iter().map(|change| change.link).collect();
            changing.sort_unstable();
            changing.dedup();
            let ends: Vec<(NodeId, NodeId)> =
                simulation.hosts.flows.iter().map(|flow| (flow.source, flow.sink)).collect();
            simulation.network.take_shortcuts(&changing, &ends);
            simulation.look_next();
        }
        Ok(simulation)
    }

    /// Runs to the end. Panics if an invariant is broken: that is a bug, never the user's fault.
    pub fn run(mut self) -> Outcome {
        while !self.advance(u64::MAX) {}
        self.finish()
    }

    /// Handles up to `most` events; true when the run is over. Between two calls the caller may look, or give up.
    pub fn advance(&mut self, most: u64) -> bool {
        let mut left = most;
        while left > 0 {
            let part = left.min(invariants::distance());
            for _ in 0..part {
                match self.ctx.next() {
                    Some(Event::Stop) | None => return true,
                    Some(event) => self.handle(event),
                }
            }
            invariants::check(self);
            left -= part;
        }
        false
    }

    /// What the run gave. Panics if the books do not balance.
    pub fn finish(mut self) -> Outcome {
        self.network.settle(self.ctx.moment());
        self.network.links.iter_mut().for_each(|link| link.close_books(self.ctx.now));
        invariants::check(&self);
        let summary = summary::of(&mut self);
        let trace = self.ctx.sink.take().map(Sink::finish);
        Outcome { summary, series: self.series.finish(), trace }
    }

    /// Finds when somebody looks at what is measured: the next sample, the end of the warm-up or of the run.
    fn look_next(&mut self) {
        let (start, now) = (Time::ZERO, self.ctx.now);
        let ends = [start + self.resolved.warmup, start + self.resolved.duration];
        let looks = ends.into_iter().chain(self.series.next_sample());
        self.ctx.looked_at = looks.filter(|at| *at > now).min().unwrap_or(now);
    }

    pub(crate) fn handle(&mut self, event: Event) {
        let (ctx, network, hosts) = (&mut self.ctx, &mut self.network, &mut self.hosts);
        match event {
            Event::Arrive { link, packet } => {
                if network.on_arrive(ctx, link, packet) {
                    let packet = ctx.deliver(packet);
                    hosts.on_packet(ctx, network, &packet);
                    self.watch(packet.to.flow());
                }
            }
            Event::LinkReady { link } => network.links[link.index()].on_ready(ctx),
            Event::Wake { endpoint } => {
                hosts.on_wake(ctx, network, endpoint);
                self.watch(endpoint.flow());
            }
            Event::App { flow } => {
                hosts.on_app(ctx, network, flow);
                self.watch(flow);
            }
            seldom => self.handle_seldom(seldom),
        }
    }

    /// Everything but packets on wires and their ends: out of the way of those.
    #[inline(never)]
    fn handle_seldom(&mut self, event: Event) {
        let (ctx, network, hosts) = (&mut self.ctx, &mut self.network, &mut self.hosts);
        match event {
            Event::Change { index } => {
                let Change { link, change } = self.changes[index as usize];
                network.on_change(ctx, link, change);
            }
            Event::Constellation => {
                let sky = self.sky.as_mut().expect("only a constellation schedules its moves");
                let next = sky.step(ctx, network);
                ctx.schedule(next, Event::Constellation);
            }
            Event::Sample => {
                network.settle(ctx.moment());
                let next = self.series.sample(ctx, network, &hosts.flows);
                ctx.schedule(next, Event::Sample);
                self.look_next();
            }
            Event::WarmupEnds => self.on_warmup_end(),
            Event::Radio { channel, event } => {
                if let Some(packet) = network.on_radio(ctx, channel, event) {
                    hosts.on_packet(ctx, network, &packet);
                    self.watch(packet.to.flow());
                }
            }
            Event::WirelessRefresh { channel } => network.refresh(ctx, channel),
            Event::Arrive { .. } | Event::LinkReady { .. } | Event::Wake { .. } | Event::App { .. } | Event::Stop => {
                unreachable!("the loop ends at Stop, and the others are handled")
            }
        }
    }

    /// The world with nothing left to a default: nodes, links, flows.
    pub fn graph(&self) -> &Scenario {
        &self.graph
    }

    /// The scenario as the user wrote it, with its defaults.
    pub fn resolved(&self) -> &Scenario {
        &self.resolved
    }

    /// Simulated time up to now.
    pub fn now(&self) -> Time {
        self.ctx.now
    }

    /// Events handled up to now.
    pub fn events(&self) -> u64 {
        self.ctx.events
    }

    /// About how much memory that which grows takes: packets, future events, series, and what senders remember.
    pub fn held_bytes(&self) -> u64 {
        let remembered = |flow: &Flow| flow.snapshot().map_or(0, |s| s.flight.0 / SMALL_SEGMENT * REMEMBERED);
        self.ctx.held_bytes() + self.series.held_bytes() + self.hosts.flows.iter().map(remembered).sum::<u64>()
    }

    #[inline]
    fn watch(&mut self, id: FlowId) {
        if self.series.watches_changes() {
            self.record_change(id);
        }
    }

    #[inline(never)]
    fn record_change(&mut self, id: FlowId) {
        self.series.on_change(self.ctx.now, id, &self.hosts.flows[id.index()]);
    }

    #[cold]
    #[inline(never)]
    fn on_warmup_end(&mut self) {
        let now = self.ctx.now;
        self.network.settle(self.ctx.moment());
        self.ctx.flows.iter_mut().for_each(|flow| flow.on_warmup_end());
        self.network.links.iter_mut().for_each(|link| link.on_warmup_end(now));
        self.network.channels.iter_mut().for_each(|channel| channel.mac.on_warmup_end(now));
        self.hosts.flows.iter_mut().for_each(|flow| flow.window_area.restart(now));
        self.look_next();
    }

    /// The part of the run that is measured.
    pub(crate) fn measured(&self) -> Span {
        self.ctx.now.since(Time::ZERO + self.resolved.warmup)
    }
}
