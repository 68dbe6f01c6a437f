//! The schema of a scenario file: one world. Every field has a reader in `assemble.rs` or `expand.rs`, and its doc
//! comment is its manual (`docs/scenario.md` is generated from here).

mod cc_choice;
mod constellation;
mod energy;
mod lrwpan;
mod mobility;
mod network;
mod parse;
mod quantity;
mod queue;
mod radio;
mod tcp_options;
mod text;
mod traffic;
mod wired_cum_wireless;
mod wireless;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcp::units::Span;

pub use cc_choice::{CcChoice, Further};
pub use constellation::{
    Constellation, GroundDef, GslPolicy, LatitudeDef, Pattern, PlaceDef, SpacePreset, SpaceProfile, TerminalDef,
};
pub use energy::{EnergyDef, EnergyProfile};
pub use lrwpan::{AddressLength, EncapDef, LrwpanDef};
pub use mobility::{
    FixedDef, GaussMarkovDef, MobilityDef, RandomWaypointDef, SetdestDef, SetdestOrder, Waypoint, WaypointsDef,
};
pub use network::{
    Dumbbell, Graph, Lan, LinkChangeAt, LinkDef, LinkOptions, LossModel, Network, NodeDef, RandomWired, Role, Star,
};
pub use parse::{ScenarioError, join};
pub use quantity::{
    Consumption, Energy, Frequency, KINDS, Metres, Power, Speed, Written, parse_quantity, split_quantity,
};
pub use queue::{CodelDef, DelayEstimator, DropTailDef, FqCodelDef, PieDef, Queue, RedDef, RedProfile};
pub use radio::{
    AccessPointsDef, AodvDef, AodvProfile, ArpDef, BeaconsDef, ChannelDef, DsdvDef, DsdvProfile, FriisDef,
    LogDistanceDef, Preamble, PropagationDef, RadioDef, RadioProfile, RangeDef, RateControlDef, RoutingDef,
    ShortestDef, Standard, TwoRayDef,
};
pub use tcp_options::TcpOptions;
pub use text::{Amount, Every, PacketRate};
pub use traffic::{AppDef, FlowDef, Full, PeriodDef, Traffic, TransportDef};
pub use wired_cum_wireless::{Direction, WiredCumWireless};
pub use wireless::{
    Adhoc, Area, DiscDef, FlowPattern, GridDef, GrowDef, Infrastructure, ListedDef, PlacementDef, PoissonDiskDef,
    UniformDef,
};

/// One world: a network, the flows over it, and what to record.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// How long the world is simulated.
    pub duration: Span,
    /// Measurements leave out this much at the start.
    #[serde(default)]
    pub warmup: Span,
    /// Nodes and links.
    pub network: Network,
    /// Settings of every TCP flow, unless the flow says otherwise.
    #[serde(default)]
    pub tcp: TcpOptions,
    /// What the flows that `network.flows` asks for carry.
    #[serde(default)]
    pub traffic: Traffic,
    /// Flows one by one. With them, `network.flows` is 0 unless given; these come first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flow: Vec<FlowDef>,
    /// Nodes, for `network.kind = "graph"`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub node: Vec<NodeDef>,
    /// Links, for `network.kind = "graph"`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub link: Vec<LinkDef>,
    /// Channels of radio, for `network.kind = "graph"`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub channel: Vec<ChannelDef>,
    /// Series to record; none unless asked for.
    #[serde(default)]
    pub record: RecordDef,
}

/// What to record over time.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RecordDef {
    /// Which series.
    pub series: Vec<SeriesName>,
    /// How often, or `"change"` for windows and RTT at each change.
    pub every: Every,
    /// Width of the bins of `throughput`, and the distance of `queue` samples, when `every = "change"`.
    pub bin: Span,
}

impl Default for RecordDef {
    fn default() -> RecordDef {
        RecordDef { series: Vec::new(), every: Every::Span(Span::from_millis(10)), bin: Span::from_millis(100) }
    }
}

/// A series.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SeriesName {
    /// Congestion window of the algorithm, bytes, per flow.
    Cwnd,
    /// Slow-start threshold, bytes, per flow; not a number while it is not set.
    Ssthresh,
    /// The window in force: cwnd, or recovery's window during an episode, bytes, per flow.
    SendWindow,
    /// Smoothed round-trip time, seconds, per flow.
    Srtt,
    /// Bytes waiting in the queue, per link, for links where something has waited.
    Queue,
    /// Payload received per bin, bits per second, per flow.
    Throughput,
    /// State of loss recovery, per flow: 0 open, 1 disorder, 2 window reduced, 3 recovery, 4 loss (as Linux counts).
    State,
    /// Segments sent again so far, per flow.
    Retransmits,
    /// Bytes estimated to be in the network (RFC 6675), per flow.
    Pipe,
    /// Retransmission time-out in force, seconds, per flow.
    Rto,
    /// Payload acknowledged so far, bytes, per flow.
    Acked,
    /// Energy consumed since the run began, joules, per node with a radio whose energy is modelled.
    Energy,
    /// Position along x, metres, per node with a radio; while a station stays, once.
    PositionX,
    /// The same along y.
    PositionY,
    /// The same along z.
    PositionZ,
    /// Steps of the way that a packet from source to sink would take now, by radio and over links, per flow; not a number while
    /// there is none.
    RouteHops,
    /// Propagation delay of the route over links from source to sink, seconds, per flow; not a number while there is none.
    PathDelay,
}

impl SeriesName {
    /// All of them.
    pub const ALL: [SeriesName; 17] = [
        SeriesName::Cwnd,
        SeriesName::Ssthresh,
        SeriesName::SendWindow,
        SeriesName::Srtt,
        SeriesName::Queue,
        SeriesName::Throughput,
        SeriesName::State,
        SeriesName::Retransmits,
        SeriesName::Pipe,
        SeriesName::Rto,
        SeriesName::Acked,
        SeriesName::Energy,
        SeriesName::PositionX,
        SeriesName::PositionY,
        SeriesName::PositionZ,
        SeriesName::RouteHops,
        SeriesName::PathDelay,
    ];

    /// As written in a scenario.
    pub fn name(self) -> &'static str {
        match self {
            SeriesName::Cwnd => "cwnd",
            SeriesName::Ssthresh => "ssthresh",
            SeriesName::SendWindow => "send_window",
            SeriesName::Srtt => "srtt",
            SeriesName::Queue => "queue",
            SeriesName::Throughput => "throughput",
            SeriesName::State => "state",
            SeriesName::Retransmits => "retransmits",
            SeriesName::Pipe => "pipe",
            SeriesName::Rto => "rto",
            SeriesName::Acked => "acked",
            SeriesName::Energy => "energy",
            SeriesName::PositionX => "position_x",
            SeriesName::PositionY => "position_y",
            SeriesName::PositionZ => "position_z",
            SeriesName::RouteHops => "route_hops",
            SeriesName::PathDelay => "path_delay",
        }
    }
}

impl Scenario {
    /// Reads a scenario from JSON text.
    pub fn from_json(text: &str) -> Result<Scenario, ScenarioError> {
        parse::scenario(text)
    }

    /// The JSON schema of a scenario.
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(Scenario).to_value()
    }
}
