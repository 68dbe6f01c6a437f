//! The memory that a run takes: of its world before that is built, and of what grows in it. For limits, so approximately.

use tcp::Snapshot;

use crate::expand::{Extent, FLOW_BYTES, planned};
use crate::host::flow::Flow;
use crate::scenario::{FlowDef, Scenario, ScenarioError};
use crate::simulation::Simulation;
use crate::world::World;

/// The sender of an endpoint, which it has from the handshake on.
const SENDER_BYTES: u64 = 1_600;
/// The summary of a flow of a workload that is over.
const SUMMARY_BYTES: u64 = 1_500;
/// Memory that a sender takes for a segment in flight.
const SEGMENT_STATE_BYTES: u64 = 128;

/// Memory that the world of `scenario` takes before anything moves in it, with what its summary will take.
///
/// It draws the topology of most kinds of network, so it costs something: who allows more than any world may take need not ask.
///
/// # Errors
///
/// As [`Simulation::new`], as far as the topology shows it.
pub fn world_bytes(scenario: &Scenario, seed: u64) -> Result<u64, ScenarioError> {
    let listed = scenario.flow.iter().map(FlowDef::copies).fold(0, u64::saturating_add);
    Ok(planned(scenario, seed)?.bytes(listed))
}

impl Simulation {
    /// What [`world_bytes`] tells in advance, of a world that is built.
    pub fn world_bytes(&self) -> u64 {
        let World { graph, resolved, .. } = &self.world;
        Extent::of(graph).bytes(resolved.flow.len() as u64)
    }

    /// Memory that grows during a run: packets, future events, series, lists of listeners, routes, and senders with their scoreboards.
    pub fn held_bytes(&self) -> u64 {
        let World { ctx, network, hosts, series, workloads, .. } = &self.world;
        let sender = |s: Snapshot| SENDER_BYTES + s.flight.0.div_ceil(s.mss.0.max(1)) * SEGMENT_STATE_BYTES;
        let senders: u64 = hosts.flows.iter().flat_map(Flow::snapshots).map(sender).sum();
        let channels: u64 = network.channels.iter().map(|channel| channel.held_bytes()).sum();
        let records: u64 = hosts.sessions.iter().map(|session| session.held_bytes()).sum();
        let transfers = workloads.slots.len() as u64 * FLOW_BYTES + self.recorded.len() as u64 * SUMMARY_BYTES;
        transfers + ctx.held_bytes() + series.held_bytes() + channels + records + senders
    }
}
