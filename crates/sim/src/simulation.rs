//! The loop: takes the next event and calls the component that handles it.

use std::collections::BTreeMap;

use tcp::units::Time;

use crate::assemble::assemble;
use crate::engine::event::Event;
use crate::engine::trace::Sink;
use crate::ids::{FlowId, LinkId, NodeId};
use crate::invariants;
use crate::scenario::{Scenario, ScenarioError, SeriesName};
use crate::series::Column;
use crate::summary::{self, FlowSummary, Summary};
use crate::world::{Change, World};

/// How the hops of a packet over links become events. Results are the same but for the count of events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EventMode {
    /// An event for each hop: a sink receives its records in order.
    PerHop,
    /// One event for all hops that are certain beforehand: a sink receives records of transmissions and drops early.
    Coalesced,
}

/// A run of a scenario with a seed.
///
/// Equal scenarios and seeds give equal outcomes, bit for bit.
///
/// ```
/// use sim::{Scenario, Simulation};
///
/// let scenario = Scenario::from_json(
///     r#"{"duration": "2s", "network": {"kind": "dumbbell", "pairs": 1, "flows": 1,
///         "bottleneck": {"rate": "2Mbps", "delay": "10ms", "queue": "20p"}}}"#,
/// )?;
/// let summary = Simulation::new(&scenario, 1)?.run().summary;
/// assert!(summary.network.measures.goodput_bps > 1e6);
/// assert_eq!(summary, Simulation::new(&scenario, 1)?.run().summary);
/// # Ok::<(), sim::ScenarioError>(())
/// ```
#[derive(Debug)]
pub struct Simulation {
    pub(crate) world: World,
    /// Number of events at which the invariants are checked next.
    pub(crate) next_check: u64,
    /// Flows are looked at after each input: for a series, or because they come and go.
    watches_flows: bool,
    /// Flows of workloads that are over and will be listed, by serial number. Boxed, since nodes of the map are half empty.
    pub(crate) recorded: BTreeMap<FlowId, Box<FlowSummary>>,
}

/// The results of a run.
#[derive(Debug)]
pub struct Outcome {
    /// Metrics.
    pub summary: Summary,
    /// The series that the scenario asks for.
    pub series: Vec<(SeriesName, Column)>,
    /// What the sink gathered, if there was one.
    pub trace: Option<String>,
}

/// The world of a scenario as an explicit graph; what is drawn before it runs, starts of flows included, depends on `seed`.
///
/// # Errors
///
/// As [`Simulation::new`].
pub fn expand(scenario: &Scenario, seed: u64) -> Result<Scenario, ScenarioError> {
    Ok(Simulation::new(scenario, seed)?.world.graph)
}

impl Simulation {
    /// Builds the simulation of `scenario` with `seed`.
    ///
    /// # Errors
    ///
    /// If the scenario describes no network that can be simulated; the error has the path of the key.
    pub fn new(scenario: &Scenario, seed: u64) -> Result<Simulation, ScenarioError> {
        Simulation::with_event_mode(scenario, seed, None, EventMode::Coalesced)
    }

    /// Builds the simulation of `scenario` with `seed`; `sink` receives the record of every event of a packet.
    ///
    /// # Errors
    ///
    /// As [`Simulation::new`].
    pub fn with_sink(scenario: &Scenario, seed: u64, sink: Box<dyn Sink>) -> Result<Simulation, ScenarioError> {
        Simulation::with_event_mode(scenario, seed, Some(sink), EventMode::PerHop)
    }

    /// Builds the simulation with a choice of event mode: for proofs that it makes no difference.
    ///
    /// # Errors
    ///
    /// As [`Simulation::new`].
    pub fn with_event_mode(
        scenario: &Scenario,
        seed: u64,
        sink: Option<Box<dyn Sink>>,
        mode: EventMode,
    ) -> Result<Simulation, ScenarioError> {
        let world = assemble(scenario, seed, sink)?;
        let watches_flows = world.series.samples_flow_changes() || !world.workloads.all.is_empty();
        let next_check = invariants::interval(&world);
        let mut simulation = Simulation { world, next_check, watches_flows, recorded: BTreeMap::new() };
        let World { ctx, network, hosts, workloads, changes, constellation, .. } = &mut simulation.world;
        if mode == EventMode::Coalesced && constellation.is_none() && !ctx.keeps_doubles() && ctx.waits.is_none() {
            let link_of = |change: &Change| match change {
                Change::Link { link, .. } => Some(*link),
                Change::Path { .. } => None,
            };
            let mut changing: Vec<LinkId> = changes.iter().filter_map(link_of).collect();
            changing.sort_unstable();
            changing.dedup();
            let ends = workloads.all_ends(hosts.ends());
            network.enable_fast_path(&changing, ends.as_deref());
            simulation.plan_observation();
        }
        Ok(simulation)
    }

    /// Number of flows, free slots of workloads included.
    pub fn flows(&self) -> usize {
        self.world.hosts.flows.len()
    }

    /// Source and sink of each flow.
    pub fn ends(&self) -> Vec<(NodeId, NodeId)> {
        self.world.hosts.ends()
    }

    /// Runs to the end.
    ///
    /// # Panics
    ///
    /// If an invariant is violated: that is a bug of the engine, never the user's fault.
    pub fn run(mut self) -> Outcome {
        while !self.advance(u64::MAX) {}
        self.finish()
    }

    /// Handles at most `max_events` events; true when the run is over. Between two calls the caller may read the state, or
    /// give the run up.
    ///
    /// # Panics
    ///
    /// As [`Simulation::run`].
    pub fn advance(&mut self, max_events: u64) -> bool {
        self.world.forget_description();
        let mut left = max_events;
        while left > 0 {
            let part = left.min(self.next_check - self.world.ctx.events);
            for _ in 0..part {
                match self.world.ctx.next() {
                    Some(Event::Stop) | None => return true,
                    Some(event) => self.handle(event),
                }
            }
            self.check_if_due();
            left -= part;
        }
        false
    }

    /// Checks the invariants at intervals, however short the steps are in which a caller advances.
    fn check_if_due(&mut self) {
        if self.world.ctx.events >= self.next_check {
            invariants::check(&self.world);
            self.next_check = self.world.ctx.events + invariants::interval(&self.world);
        }
    }

    /// Handles events until the clock has reached `until`, at most `max_events`; true when the run is over.
    ///
    /// # Panics
    ///
    /// As [`Simulation::run`].
    pub fn advance_until(&mut self, until: Time, max_events: u64) -> bool {
        self.world.forget_description();
        for _ in 0..max_events {
            match self.world.ctx.next() {
                Some(Event::Stop) | None => return true,
                Some(event) => self.handle(event),
            }
            if self.world.ctx.now >= until {
                break;
            }
        }
        self.check_if_due();
        false
    }

    /// The samples of series since the last call; the outcome has those that were not taken.
    pub fn take_series(&mut self) -> Vec<(SeriesName, Column)> {
        self.world.series.take()
    }

    /// Ends the run and returns its results.
    ///
    /// # Panics
    ///
    /// As [`Simulation::run`].
    pub fn finish(mut self) -> Outcome {
        self.settle();
        self.summarize()
    }

    /// The run is over: what was counted in advance and did not happen is uncounted.
    pub(crate) fn settle(&mut self) {
        let World { ctx, network, .. } = &mut self.world;
        network.advance_to(ctx.key());
        network.links.iter_mut().for_each(|link| link.finalize(ctx.now));
    }

    /// The results of a run that is over.
    pub(crate) fn summarize(self) -> Outcome {
        let mut world = self.world;
        invariants::check(&world);
        let summary = summary::of(&mut world, self.recorded);
        let trace = world.ctx.sink.take().map(Sink::finish);
        Outcome { summary, series: world.series.finish(), trace }
    }

    /// Sets the time of the next observation of metrics: a sample, the end of the warm-up or of the run.
    fn plan_observation(&mut self) {
        let World { ctx, series, resolved, .. } = &mut self.world;
        let ends = [Time::ZERO + resolved.warmup, Time::ZERO + resolved.duration];
        let observations = ends.into_iter().chain(series.next_sample());
        ctx.next_observation = observations.filter(|at| *at > ctx.now).min().unwrap_or(ctx.now);
    }

    pub(crate) fn handle(&mut self, event: Event) {
        let World { ctx, network, hosts, .. } = &mut self.world;
        match event {
            Event::Arrive { link, packet } => {
                if network.on_arrive(ctx, link, packet) {
                    let packet = ctx.deliver(packet);
                    hosts.on_packet(ctx, network, &packet);
                    self.world.report_delay(&packet);
                    self.on_flow_change(packet.to.flow());
                }
            }
            Event::LinkReady { link } => network.links[link.index()].on_ready(ctx),
            Event::Wake { endpoint } => {
                hosts.on_wake(ctx, network, endpoint);
                self.on_flow_change(endpoint.flow());
            }
            Event::App { flow } => {
                hosts.on_app(ctx, network, flow);
                self.on_flow_change(flow);
            }
            other => self.handle_other(other),
        }
    }

    /// Handles every event but those of packets on links and at their ends, which stay short without it.
    #[inline(never)]
    fn handle_other(&mut self, event: Event) {
        let World { ctx, network, hosts, changes, series, constellation, workloads, .. } = &mut self.world;
        match event {
            Event::Arrival { workload } => self.on_arrival(workload as usize),
            Event::Change { index } => match &changes[index as usize] {
                Change::Path { flow, stops } => network.pin(*flow, stops.clone()),
                Change::Link { link, change, repeat } => {
                    network.on_change(ctx, *link, *change);
                    if let Some(period) = repeat {
                        ctx.schedule(ctx.now + *period, event);
                    }
                }
            },
            Event::Constellation => {
                let dynamics = constellation.as_mut().expect("only a constellation schedules its changes");
                let next = dynamics.step(ctx, network);
                ctx.schedule(next, Event::Constellation);
            }
            Event::Sample => {
                network.advance_to(ctx.key());
                let next = series.sample(ctx, network, hosts, workloads);
                ctx.schedule(next, Event::Sample);
                self.plan_observation();
            }
            Event::WarmupEnds => self.on_warmup_end(),
            Event::Radio { channel, event } => {
                let mut delivered = network.on_radio(ctx, channel, event);
                while let Some(packet) = delivered {
                    let World { ctx, network, hosts, .. } = &mut self.world;
                    hosts.on_packet(ctx, network, &packet);
                    self.world.report_delay(&packet);
                    self.on_flow_change(packet.to.flow());
                    let World { ctx, network, .. } = &mut self.world;
                    delivered = network.next_delivery(ctx);
                }
            }
            Event::WirelessRefresh { channel } => network.refresh(ctx, channel),
            Event::Arrive { .. } | Event::LinkReady { .. } | Event::Wake { .. } | Event::App { .. } | Event::Stop => {
                unreachable!("the loop ends at Stop, and the others are handled")
            }
        }
    }

    /// The expanded scenario: nodes, links and flows with every default filled in; without links and flows once the run has begun.
    pub fn graph(&self) -> &Scenario {
        &self.world.graph
    }

    /// The scenario as the user wrote it, with every default filled in.
    pub fn resolved(&self) -> &Scenario {
        &self.world.resolved
    }

    /// The simulated time.
    pub fn now(&self) -> Time {
        self.world.ctx.now
    }

    /// Number of events handled.
    pub fn events(&self) -> u64 {
        self.world.ctx.events
    }

    /// Samples a flow after an input, if the scenario asks for it.
    #[inline]
    fn on_flow_change(&mut self, id: FlowId) {
        if self.watches_flows {
            self.after_change(id);
        }
    }

    #[inline(never)]
    fn after_change(&mut self, id: FlowId) {
        let World { ctx, hosts, series, workloads, .. } = &mut self.world;
        if let Some(outbox) = &mut ctx.outbox {
            // What has become of a flow with its ends in two parts is found out when the run is over.
            outbox.inputs.push(id);
        } else if workloads.is_listed(id) {
            if series.samples_flow_changes() {
                series.on_change(ctx.now, id, &hosts.flows[id.index()], &ctx.flows[id.index()]);
            }
        } else if !workloads.is_under_way(hosts, id) {
            self.follow(id);
        }
    }

    /// Follows a flow of a workload that has come to an end of its data, or to its own.
    #[inline(never)]
    fn follow(&mut self, id: FlowId) {
        let World { ctx, hosts, workloads, .. } = &mut self.world;
        if workloads.follow(ctx, hosts, id) {
            self.release(id);
        }
    }

    /// A flow of a workload arrives.
    #[inline(never)]
    fn on_arrival(&mut self, index: usize) {
        while let Some(id) = self.world.workloads.next_vanished(&self.world.ctx) {
            self.release(id);
        }
        let World { ctx, network, hosts, workloads, .. } = &mut self.world;
        if workloads.on_arrival(ctx, network, hosts, index) {
            self.recorded.retain(|serial, _| workloads.recorder.has(*serial));
        }
    }

    /// Nothing of a flow of a workload exists any more.
    fn release(&mut self, id: FlowId) {
        let serial = self.world.workloads.slot(id).serial;
        if self.world.workloads.recorder.has(serial) {
            self.recorded.insert(serial, Box::new(summary::of_transfer(&mut self.world, id, 0)));
        }
        let World { ctx, hosts, workloads, .. } = &mut self.world;
        workloads.release(ctx, hosts, id);
    }

    /// Why the run has ended before its time, if it has: more flows exist than may.
    pub fn exceeded(&self) -> Option<&str> {
        self.world.workloads.exceeded.as_deref()
    }

    #[cold]
    #[inline(never)]
    fn on_warmup_end(&mut self) {
        let World { ctx, network, hosts, series, workloads, .. } = &mut self.world;
        let now = ctx.now;
        workloads.on_warmup_end(now);
        network.advance_to(ctx.key());
        ctx.flows.iter_mut().for_each(|flow| flow.on_warmup_end());
        if let Some(order) = &mut ctx.order {
            order.on_warmup_end();
        }
        ctx.waits.iter_mut().for_each(|waits| waits.on_warmup_end());
        network.links.iter_mut().for_each(|link| link.on_warmup_end(now));
        network.channels.iter_mut().for_each(|channel| channel.mac.on_warmup_end(now));
        hosts.flows.iter_mut().for_each(|flow| flow.on_warmup_end(now));
        series.on_warmup_end();
        self.plan_observation();
    }
}
