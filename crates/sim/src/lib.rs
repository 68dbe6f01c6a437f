//! A packet-level network simulator: one world, one seed, the same bits every time.
//!
//! Data flows one way: [`Scenario`] → [`Simulation`] → records → [`Summary`]. No clock, no threads, no files.

#![forbid(unsafe_code)]

mod algorithms;
mod app;
mod assemble;
mod channel;
mod connectivity;
mod core;
mod event;
mod expand;
mod flow;
mod host;
mod link;
mod loss;
mod metrics;
mod mobility;
mod network;
mod packet;
mod qdisc;
mod radio;
mod reach;
mod record;
mod routing;
pub mod scenario;
pub mod schedule;
mod series;
mod simulation;
mod space;
mod summary;
mod transmissions;

pub use algorithms::algorithms;
pub use event::{EndpointId, FlowId, LinkId, NodeId};
pub use expand::{expand, resolve};
pub use metrics::report_defs::{NetSim, StudentNs2, StudentNs3};
pub use packet::{DropReason, Packet, Payload};
pub use reach::Reach;
pub use record::{AirFrame, FrameKind, HashLog, Record, Sink, TextLog};
pub use scenario::{Scenario, ScenarioError};
pub use schedule::{Place, Schedule};
pub use series::Column;
pub use simulation::{Outcome, Simulation, Travel};
pub use space::{CurrentPath, GroundTrack, PathSeries, Survey, SurveyTerminal, survey};
pub use summary::{
    ChannelSummary, ConnectivitySummary, Conservation, Drops, FlowSummary, LinkSummary, Measures, NetworkEnergy,
    NetworkRadio, NetworkSummary, NodeSummary, SpaceSummary, Summary, TerminalSummary,
};
pub use transmissions::Transmissions;

/// Version of the engine; results of different versions are not mixed.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
