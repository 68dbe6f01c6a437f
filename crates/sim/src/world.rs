//! The state of a run: `assemble` builds it, the loop of `Simulation` drives it, `invariants` check it and `summary` reads it.

use tcp::units::{Span, Time};

use crate::connectivity::Reachability;
use crate::constellation::ConstellationDynamics;
use crate::engine::context::Context;
use crate::host::Hosts;
use crate::ids::{FlowId, LinkId, NodeId};
use crate::link::LinkChange;
use crate::network::Network;
use crate::packet::Packet;
use crate::scenario::{AppDef, CcChoice, FlowDef, Scenario, ScenarioWarning, TransportDef};
use crate::series::Series;
use crate::workload::Workloads;

/// A scheduled change of the network.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    /// Of a link; it happens again after the time `repeat`.
    Link { link: LinkId, change: LinkChange, repeat: Option<Span> },
    /// Of the path of a flow: its source, the nodes that it passes from now on, its sink.
    Path { flow: FlowId, stops: Vec<NodeId> },
}

/// Flows whose packets come from outside.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outside {
    /// How many flows packets from outside may open, beside those of the scenario.
    pub slots: usize,
    /// The flows of the scenario are carried from outside as well: their applications do nothing here.
    pub carries_listed: bool,
}

/// What the summary says of a flow as the expanded scenario defines it.
#[derive(Debug)]
pub(crate) struct ListedFlow {
    /// Its own congestion control; otherwise it has that of all.
    pub(crate) cc: Option<Box<CcChoice>>,
    pub(crate) app: &'static str,
    pub(crate) transport: &'static str,
    pub(crate) start: Time,
    /// What the summary calls a whole transport.
    pub(crate) native: Option<String>,
}

impl ListedFlow {
    pub(crate) fn of(def: &FlowDef) -> ListedFlow {
        let (app, transport) = app_names(&def.app);
        let native = def.transport.as_ref().map(|native| native.label());
        let transport = if native.is_some() { "native" } else { transport };
        let cc = def.tcp.cc.clone().map(Box::new);
        ListedFlow { cc, app, transport, start: Time::ZERO + def.start, native }
    }

    /// The application of a flow from outside.
    pub(crate) const PROGRAM: &str = "program";

    /// Of a program, which has sent nothing yet.
    pub(crate) fn outside() -> ListedFlow {
        ListedFlow { cc: None, app: ListedFlow::PROGRAM, transport: "other", start: Time::ZERO, native: None }
    }
}

fn app_names(app: &AppDef) -> (&'static str, &'static str) {
    let name = |transport| if transport == TransportDef::Udp { "udp" } else { "tcp" };
    match app {
        AppDef::Bulk(_) => ("bulk", "tcp"),
        AppDef::Cbr(cbr) => ("cbr", name(cbr.transport)),
        AppDef::OnOff(on_off) => ("on_off", name(on_off.transport)),
        AppDef::Transfer(_) => ("transfer", "tcp"),
        AppDef::RequestResponse(_) => ("request_response", "tcp"),
        AppDef::Incast(_) => ("incast", "tcp"),
        AppDef::Page(_) => ("page", "tcp"),
        AppDef::Video(_) => ("video", "tcp"),
        AppDef::Responsiveness(_) => ("responsiveness", "tcp"),
        AppDef::Rtc(_) => ("rtc", "udp"),
        AppDef::Voice(_) => ("voice", "udp"),
        AppDef::Script(_) => ("script", "tcp"),
    }
}

/// The state of a run.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) ctx: Context,
    pub(crate) network: Network,
    pub(crate) hosts: Hosts,
    pub(crate) workloads: Workloads,
    /// Flows of the background, the last of those that are no workload's.
    pub(crate) background: usize,
    /// By the index in `Event::Change`.
    pub(crate) changes: Vec<Change>,
    /// Flows whose delays controllers of shapers measure, each with the link of the shaper.
    pub(crate) probes: Vec<(FlowId, LinkId)>,
    pub(crate) series: Series,
    /// Which pairs of nodes had a path; of networks with radio.
    pub(crate) reachability: Option<Reachability>,
    /// What changes in a constellation.
    pub(crate) constellation: Option<Box<ConstellationDynamics>>,
    /// The expanded scenario: nodes, links and flows with every default filled in. A run that has begun needs no more of its links and
    /// flows than is elsewhere, and gives their memory back.
    pub(crate) graph: Scenario,
    /// What the summary says of its flows.
    pub(crate) listed: Vec<ListedFlow>,
    /// The scenario as the user wrote it, with every default filled in.
    pub(crate) resolved: Scenario,
    /// What is to be known of it as it was written.
    pub(crate) warnings: Vec<ScenarioWarning>,
    /// Flows that packets from outside may open: the first, and how many; they stand before those of the background.
    pub(crate) slots: (usize, usize),
    pub(crate) seed: u64,
}

impl World {
    /// Gives back the memory of what only the description of the world needs.
    pub(crate) fn forget_description(&mut self) {
        (self.graph.link, self.graph.flow) = (Vec::new(), Vec::new());
    }

    /// Tells controllers of shapers what a packet of a probing flow took that has reached its end.
    #[inline]
    pub(crate) fn report_delay(&mut self, packet: &Packet) {
        let World { ctx, network, probes, .. } = self;
        let flow = packet.to.flow();
        for (_, link) in probes.iter().filter(|(probe, _)| *probe == flow) {
            network.links[link.index()].on_delay(ctx.now, flow, ctx.now.since(packet.sent_at));
        }
    }

    /// The part of the measurement interval that is over.
    pub(crate) fn measured(&self) -> Span {
        self.ctx.now.since(Time::ZERO + self.resolved.warmup)
    }
}

impl World {
    /// How many flows, before those of workloads, metrics know: the others are the background.
    pub(crate) fn counted(&self) -> usize {
        self.workloads.listed() - self.background
    }
}
