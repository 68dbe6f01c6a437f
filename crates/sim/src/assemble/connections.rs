//! The connections of listed and generated flows: the first of each flow, then those that applications open beside it.

use std::collections::BTreeMap;
use std::sync::Arc;

use tcp::TcpConfig;
use tcp::rng::Rng;
use tcp::units::{Span, Time};

use super::classes::Groups;
use super::flows::{FlowParts, build_flow, check_path, ends_of, member_of};
use super::{applications, background, starts};
use crate::engine::context::Context;
use crate::engine::event::Event;
use crate::engine::flow_ends::FlowEnds;
use crate::expand::MAX_FLOWS;
use crate::host::app::plans;
use crate::host::flow::{Flow, SinkAgent};
use crate::host::session::Session;
use crate::ids::{FlowId, NodeId};
use crate::network::Network;
use crate::scenario::{FlowDef, Scenario, ScenarioError};
use crate::world::Outside;

/// What connections are built in.
pub(super) struct Surroundings<'a> {
    pub(super) graph: &'a Scenario,
    pub(super) names: &'a BTreeMap<&'a str, NodeId>,
    pub(super) network: &'a Network,
    pub(super) groups: &'a Groups,
    pub(super) seed: u64,
    /// Flows that the scenario lists; the others are generated.
    pub(super) listed: usize,
    /// Nodes without a path now may have one later.
    pub(super) paths_change: bool,
    pub(super) outside: Outside,
}

/// The connections, and what belongs to them.
#[derive(Default)]
pub(super) struct Connections {
    pub(super) flows: Vec<Flow>,
    pub(super) sessions: Vec<Session>,
    /// The starts of the flows of the graph.
    pub(super) starts: Vec<Span>,
    /// The first of the flows that packets from outside may open.
    pub(super) slots: usize,
    /// How many of the flows, the last ones, are of the background.
    pub(super) background: usize,
}

/// A connection that an application opens beside the first of its flow.
struct Further {
    session: usize,
    /// Index of the flow in the graph.
    index: usize,
    number: usize,
    source: NodeId,
}

impl Surroundings<'_> {
    /// Builds all connections, and schedules the starts and stops of their flows.
    pub(super) fn connect(&self, ctx: &mut Context) -> Result<Connections, ScenarioError> {
        let common = Arc::new(self.graph.tcp.resolve("tcp")?);
        let mut all = Connections::default();
        let mut further = Vec::new();
        for (index, def) in self.graph.flow.iter().enumerate() {
            further.append(&mut self.first(ctx, &common, &mut all, (index, def))?);
        }
        let connections = all.flows.len() + further.len();
        if connections > MAX_FLOWS as usize {
            let message = format!("{connections} connections of all applications; at most {MAX_FLOWS}");
            return Err(ScenarioError::new("flow", message));
        }
        for connection in further {
            self.further(ctx, &common, &mut all, &connection)?;
        }
        all.slots = all.flows.len();
        for slot in (all.slots..).take(self.outside.slots) {
            let id = FlowId(slot as u32);
            let flow = Flow::from_outside(id);
            ctx.ends.push(FlowEnds::unopened([flow.source, flow.sink], id));
            all.flows.push(flow);
        }
        for (number, def) in background::flows(self.graph, self.names, self.network).iter().enumerate() {
            let id = FlowId(all.flows.len() as u32);
            let rng = || Rng::stream(self.seed, &format!("vary/background/{number}"));
            let parts = FlowParts {
                id,
                source: self.names[def.from.as_str()],
                app: applications::app_of(&def.app, rng()),
                rng: rng(),
                seeds: None,
            };
            all.flows.push(self.build(ctx, &common, def, parts, "vary.background")?);
            ctx.schedule(Time::ZERO, Event::App { flow: id });
            all.background += 1;
        }
        Ok(all)
    }

    /// Builds the first connection of a flow; returns those that are to follow.
    fn first(
        &self,
        ctx: &mut Context,
        common: &Arc<TcpConfig>,
        all: &mut Connections,
        (index, def): (usize, &FlowDef),
    ) -> Result<Vec<Further>, ScenarioError> {
        let (id, path) = (FlowId(index as u32), self.path_of(index));
        let sources = applications::sources(self.graph, self.names, def, &path)?;
        let mut further = Vec::new();
        let planned = applications::planned(def);
        let app = match plans::conversation_of(&planned, sources.len(), self.stream(index, "app")) {
            None => applications::app_of(&def.app, self.stream(index, "app")),
            Some(conversation) => {
                let session = all.sessions.len();
                all.sessions.push(Session::new(conversation, vec![id]));
                let others = sources.iter().enumerate().skip(1);
                further.extend(others.map(|(number, source)| Further { session, index, number, source: *source }));
                member_of(&def.app, session, 0)
            }
        };
        let seeds = self.seeds(def, index, "");
        let parts = FlowParts { id, source: sources[0], app, rng: self.stream(index, "app"), seeds };
        let flow = self.build(ctx, common, def, parts, &path)?;
        let start = starts::draw(self.graph, def, self.network, (id, &flow), || self.stream(index, "start"));
        all.starts.push(start);
        if self.outside.carries_listed {
            all.flows.push(Flow { sink_agent: SinkAgent::Outside, ..flow });
            return Ok(further);
        }
        for at in [Some(Time::ZERO + start), flow.stop].into_iter().flatten() {
            ctx.schedule(at, Event::App { flow: id });
        }
        all.flows.push(flow);
        Ok(further)
    }

    fn further(
        &self,
        ctx: &mut Context,
        common: &Arc<TcpConfig>,
        all: &mut Connections,
        &Further { session, index, number, source }: &Further,
    ) -> Result<(), ScenarioError> {
        let (def, path, id) = (&self.graph.flow[index], self.path_of(index), FlowId(all.flows.len() as u32));
        let rng = self.stream(index, &format!("app/{number}"));
        let app = member_of(&def.app, session, number);
        let seeds = self.seeds(def, index, &format!("/{number}"));
        let flow = self.build(ctx, common, def, FlowParts { id, source, app, rng, seeds }, &path)?;
        all.sessions[session].flows.push(id);
        all.flows.push(Flow { owner: all.sessions[session].flows[0], ..flow });
        Ok(())
    }

    fn build(
        &self,
        ctx: &mut Context,
        common: &Arc<TcpConfig>,
        def: &FlowDef,
        parts: FlowParts,
        path: &str,
    ) -> Result<Flow, ScenarioError> {
        let id = parts.id;
        let flow = build_flow(self.graph, def, parts, common, path, self.names)?;
        if !self.paths_change {
            check_path(self.network, &flow, id, def, path)?;
        }
        ctx.ends.push(ends_of(def, &flow, self.groups.of_flow(def), id));
        Ok(flow)
    }

    /// Where an error of a flow lies: of generated flows the path of their template.
    fn path_of(&self, index: usize) -> String {
        match index.checked_sub(self.listed) {
            None => format!("flow[{index}]"),
            Some(generated) => format!("network.flows[{generated}]"),
        }
    }

    /// What the ends of a whole transport draw from.
    fn seeds(&self, def: &FlowDef, index: usize, connection: &str) -> Option<[u64; 2]> {
        let seed = |end: &str| self.stream(index, &format!("transport/{end}{connection}")).next_u64();
        def.transport.is_some().then(|| ["source", "sink"].map(seed))
    }

    /// A random stream of a flow.
    fn stream(&self, index: usize, what: &str) -> Rng {
        let (kind, number) = match index.checked_sub(self.listed) {
            None => ("flow", index),
            Some(generated) => ("traffic", generated),
        };
        Rng::stream(self.seed, &format!("{kind}/{number}/{what}"))
    }
}
