//! The memory that a run takes: of its world before that is built, and of what grows in it. For limits, so approximately.
//!
//! The constants were measured as growth of the resident set on worlds of 100,000 flows, nodes or links, from the reading of the
//! scenario to the text of the summary (`tests/memory.rs` measures again).

use tcp::Snapshot;

use crate::expand::Extent;
use crate::host::flow::Flow;
use crate::scenario::{FlowDef, Scenario, ScenarioError};
use crate::simulation::Simulation;
use crate::world::World;

/// A flow with both its endpoints before they have a sender, and its part of the summary.
const FLOW_BYTES: u64 = 4_300;
/// The sender of an endpoint, which it has from the handshake on.
const SENDER_BYTES: u64 = 1_600;
/// The summary of a flow of a workload that is over.
const SUMMARY_BYTES: u64 = 1_500;
/// What a flow takes besides if the scenario lists it.
const LISTED_FLOW_BYTES: u64 = 2_200;
/// A node with its place in the summary.
const NODE_BYTES: u64 = 800;
/// Both directions of a link, with their place in the summary.
const LINK_BYTES: u64 = 2_700;
/// A station: its MAC and queue.
const STATION_BYTES: u64 = 1_100;
/// An entry of a routing table of a station for each other.
const ROUTE_BYTES: u64 = 8;
/// An entry of that of a router for each other.
const PORT_BYTES: u64 = 2;
/// What equal paths add to such an entry, and the flowlets that a router remembers.
const EQUAL_PATHS_BYTES: u64 = 2;
const FLOWLETS_BYTES: u64 = 100_000;
/// Memory that a sender takes for a segment in flight.
const SEGMENT_STATE_BYTES: u64 = 128;

/// No world within the limits of `expand` takes more before anything moves in it.
pub const LARGEST_WORLD_BYTES: u64 = 4_000_000_000;

/// Memory that the world of `scenario` takes before anything moves in it, with what its summary will take.
///
/// It draws the topology, so it costs something: who allows more than [`LARGEST_WORLD_BYTES`] need not ask.
///
/// # Errors
///
/// As [`Simulation::new`], as far as the topology shows it.
pub fn world_bytes(scenario: &Scenario, seed: u64) -> Result<u64, ScenarioError> {
    Ok(bytes(&Extent::planned(scenario, seed)?, scenario.flow.iter().map(FlowDef::copies).fold(0, u64::saturating_add)))
}

fn bytes(extent: &Extent, listed: u64) -> u64 {
    let radios = extent.stations * STATION_BYTES + extent.station_routes * ROUTE_BYTES;
    let route = PORT_BYTES + u64::from(extent.equal_paths) * EQUAL_PATHS_BYTES;
    radios
        + u64::from(extent.flowlets) * extent.inner_nodes * FLOWLETS_BYTES
        + extent.flows.saturating_mul(FLOW_BYTES)
        + listed.saturating_mul(LISTED_FLOW_BYTES)
        + extent.nodes * NODE_BYTES
        + extent.inner_nodes * extent.inner_nodes * route
        + extent.links * LINK_BYTES
}

impl Simulation {
    /// What [`world_bytes`] tells in advance, of a world that is built.
    pub fn world_bytes(&self) -> u64 {
        let World { graph, resolved, .. } = &self.world;
        bytes(&Extent::of(graph), resolved.flow.len() as u64)
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
