//! The state of a run: `assemble` builds it, the loop of `Simulation` drives it, `invariants` check it and `summary` reads it.

use tcp::units::{Span, Time};

use crate::connectivity::Reachability;
use crate::constellation::ConstellationDynamics;
use crate::engine::context::Context;
use crate::host::Hosts;
use crate::ids::{FlowId, LinkId, NodeId};
use crate::link::LinkChange;
use crate::network::Network;
use crate::scenario::Scenario;
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

/// The state of a run.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) ctx: Context,
    pub(crate) network: Network,
    pub(crate) hosts: Hosts,
    pub(crate) workloads: Workloads,
    /// By the index in `Event::Change`.
    pub(crate) changes: Vec<Change>,
    pub(crate) series: Series,
    /// Which pairs of nodes had a path; of networks with radio.
    pub(crate) reachability: Option<Reachability>,
    /// What changes in a constellation.
    pub(crate) constellation: Option<Box<ConstellationDynamics>>,
    /// The expanded scenario: nodes, links and flows with every default filled in.
    pub(crate) graph: Scenario,
    /// The scenario as the user wrote it, with every default filled in.
    pub(crate) resolved: Scenario,
    pub(crate) seed: u64,
}

impl World {
    /// The part of the measurement interval that is over.
    pub(crate) fn measured(&self) -> Span {
        self.ctx.now.since(Time::ZERO + self.resolved.warmup)
    }
}
