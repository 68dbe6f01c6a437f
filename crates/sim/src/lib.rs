//! A packet-level network simulator: one scenario, one seed, the same bits every time.
//!
//! Data flows one way: [`Scenario`] → [`Simulation`] → records → [`Summary`]. No clock, no threads, no files.

#![forbid(unsafe_code)]

mod algorithms;
mod analysis;
mod assemble;
mod connectivity;
mod constellation;
mod earth;
mod engine;
mod expand;
pub mod foreign;
mod hash;
mod host;
mod ids;
mod invariants;
mod limits;
mod link;
mod memory;
mod metrics;
mod mobility;
mod network;
mod orbit;
mod outside;
mod packet;
pub mod parallel;
mod qdisc;
mod radio;
mod routing;
pub mod scenario;
mod series;
mod simulation;
mod summary;
mod wireless;
mod workload;
mod world;

pub use algorithms::algorithms;
pub use analysis::capture::{Capture, CapturePoint};
pub use analysis::ground_track::{CurrentPath, GroundTrack, GroundTracks, PathSeries, TrackedTerminal, ground_tracks};
pub use analysis::reach::{ChannelRanges, FlowHops, RadioReach, Reach};
pub use analysis::transmissions::Transmissions;
pub use engine::event_list::{EventList, TieBreak};
pub use engine::excerpt::Excerpt;
pub use engine::json_log::JsonLog;
pub use engine::trace::{AirFrame, FrameKind, HashLog, Record, Sink, TextLog};
pub use expand::{allow_worlds, resolve, size, warnings};
pub use host::app::conversation::AppSummary;
pub use host::app::incast::IncastSummary;
pub use host::app::page::PageSummary;
pub use host::app::request_response::RequestSummary;
pub use host::app::responsiveness::ResponsivenessSummary;
pub use host::app::rtc::{BreakerRule, RtcSummary};
pub use host::app::transfer::TransferSummary;
pub use host::app::video::VideoSummary;
pub use host::app::voice::VoiceSummary;
pub use ids::{EndpointId, FlowId, LinkId, NodeId};
pub use limits::Limits;
pub use memory::world_bytes;
pub use outside::Incoming;
pub use packet::{Datagram, DropReason, Packet, Payload};
pub use qdisc::{BandReport, DualPi2Report, FqCodelReport, HtbClassReport, QueueReport, TinReport};
pub use scenario::{Scenario, ScenarioError, ScenarioWarning};
pub use series::Column;
pub use simulation::{EventMode, Outcome, Simulation, expand};
pub use summary::{
    ChannelSummary, ClassSummary, CompletionSummary, ConnectivitySummary, Conservation, Drops, FabricSummary,
    FlowSummary, Forward, LinkSummary, Measures, NativeSummary, NetworkEnergy, NetworkRadio, NetworkSummary,
    NodeSummary, ReverseSummary, SpaceSummary, Summary, TerminalSummary, UsersSummary, WorkloadFlowSummary,
    WorkloadSummary, WorkloadsTogether,
};
pub use world::Outside;

/// Version of the engine; results of different versions are not mixed.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
