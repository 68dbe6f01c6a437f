//! The schema of a scenario file: one world. `expand` and `assemble` read every field, and its doc comment is its manual
//! (`docs/generated/scenario.md` is generated from here).

mod access;
mod agent;
mod aqm;
mod area;
mod arrivals;
mod buffers;
mod cake;
mod cc_choice;
mod constellation;
mod conversations;
mod datagrams;
mod dscp;
mod dualpi2;
mod ecn;
mod effects;
mod emulate;
mod energy;
mod error;
mod fair_queue;
mod link;
mod loss;
mod lrwpan;
mod media;
mod medium;
mod mobility;
mod near;
mod network;
mod page_preset;
mod parse;
mod paths;
mod period;
mod pie;
mod points;
mod profiles;
mod quantity;
mod queue;
mod radio;
mod receiver;
mod record;
mod renamed;
mod responsiveness;
mod routing;
mod script;
mod service;
mod setting;
mod shaper;
mod shapes;
mod shared_buffer;
mod sizes;
mod start;
mod start_check;
mod tagged;
mod tcp_options;
mod text;
mod times;
mod traffic;
mod transport;
mod vary;
mod warning;
mod wired_cum_wireless;
mod wireless;
mod workload;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tcp::units::Span;

pub use access::{Access, AccessLine, Home, Multihomed, Shaper};
pub use agent::AgentDef;
pub use aqm::{Backlog, ChokeDef, CobaltDef, CodelDef, FlowHash, FqCodelDef, InverseSqrt, RedDef, RedProfile};
pub use area::Area;
pub use arrivals::{ArrivalRow, ArrivalsDef, ClosedArrivals, ListedArrivals, LoadOf, OpenArrivals};
pub use buffers::Buffers;
pub use cake::{AckFilterMode, CakeDef, Cells, FramingDef, Isolate, Overhead, Tins};
pub use cc_choice::{CcChoice, Further};
pub use constellation::{
    Constellation, ConstellationPreset, ConstellationProfile, GroundDef, GslPolicy, LatitudeDef, Pattern, PlaceDef,
    TerminalDef,
};
pub use conversations::{
    BothDef, DirectionDef, IncastDef, NoKeysDef, PageDef, PageProtocol, PerConnection, RequestResponseDef, TransferDef,
};
pub use datagrams::{DatagramEcn, DatagramKeys};
pub use dscp::{CeSelector, Dscp};
pub use dualpi2::{
    ControlledDelay, Draws, DropAt, DualPi2Classify, DualPi2Def, DualPi2Profile, DualPi2Scheduler, LowAqm, Overload,
    RampDef, StepDef, TimeShiftedDef, WrrDef,
};
pub use ecn::{EcnRewrite, MarkModel, Rewrite, RewriteOn, Strip};
pub use effects::{
    AcksDef, CopyAt, CorruptDef, DecimateDef, DelayDef, DuplicateDef, FailureDef, FileDelay, HarqDef, JitterDef,
    PerDraw, ReorderDef, UniformDelay,
};
pub use emulate::{EmulateDef, ServerDef};
pub use energy::{EnergyDef, EnergyProfile};
pub use error::{ScenarioError, join};
pub use fair_queue::{DrrBy, DrrDef, DrrDrop, FqDef, SfqDef};
pub use link::{LinkChangeAt, LinkDef, LinkOptions};
pub use loss::{GilbertElliottLoss, LossModel, NthLoss, PacketLoss};
pub use lrwpan::{AccessFailureDef, AddressLength, EncapDef, LrwpanDef, LrwpanMacDef, NeighborDiscoveryDef};
pub use media::{
    AutoPlayout, BufferRule, Codec, FixedPlayout, FixedRule, Playout, RtcControl, RtcDef, ThroughputRule, VideoDef,
    VideoRule, VoiceDef,
};
pub use mobility::{
    FixedDef, GaussMarkovDef, MobilityDef, RandomWaypointDef, SetdestDef, SetdestOrder, Waypoint, WaypointsDef,
};
pub(crate) use near::edits;
pub use near::{did_you_mean, nearest};
pub use network::{Dumbbell, Graph, Lan, Network, NodeDef, RandomWired, Role, Star};
pub use page_preset::PagePreset;
pub use paths::{EcmpDef, FlowletDef, MoveDef, PathRouting, PinDef, Salt, SinglePath, SpreadBy, Via};
pub use period::{ExponentialDef, PeriodDef};
pub use pie::{DelayEstimator, FqPieDef, PieDef, PieProfile, PieRules};
pub use points::RateOrZero;
pub(crate) use profiles::Row;
pub use quantity::{
    Consumption, Energy, EventRate, Frequency, KINDS, Metres, Power, Speed, Written, parse_quantity, split_quantity,
};
pub use queue::{DropTailDef, PolicerAction, PolicerDef, PriorityBy, PriorityDef, Queue, TbfDef};
pub use radio::{
    ChannelDef, FriisDef, LogDistanceDef, Preamble, PropagationDef, RadioDef, RadioProfile, RangeDef, RateControlDef,
    SchedulerDef, SensitivityDef, Standard, TwoRayDef,
};
pub use receiver::{AckDivisionDef, DupAckSpoofingDef, ReceiverDef};
pub use record::{DistributionName, RecordDef, RecordedFlows, RecordedInternals, SampleDef, SeriesName, Variable};
pub use responsiveness::{LoadDirection, ProbeRate, ResponsivenessDef};
pub use routing::{
    AccessPointsDef, AodvDef, AodvProfile, ArpDef, BeaconsDef, DsdvDef, DsdvProfile, DsrDef, DsrProfile, HandoffDef,
    RoutingDef, ShortestDef,
};
pub use script::{ScriptDef, ScriptRepeat, ScriptWrite};
pub use service::{
    AggregateService, BoostService, EdgeDef, OnOffService, Phase, PoissonService, RateTraceService,
    RequestGrantService, ServiceDef, SlotsService, TraceProfile, TraceService, WhileOff,
};
pub(crate) use shaper::BoundClass;
pub use shaper::{AutorateDef, ClassChangeAt, HtbClassDef, HtbDef, RateChangeAt};
pub use shapes::{FabricEnds, FatTree, LeafSpine, ParkingLot};
pub use shared_buffer::SharedBufferDef;
pub use sizes::{
    CdfSize, ConstantSize, DataMiningSize, ExponentialSize, ListedSizes, LognormalSize, ParetoSize, SizeDef,
    UniformSize, WebSearchSize,
};
pub use start::{ExitName, GrowthName, JumpTo, ResumeKeys, SavedKeys, StartDef, StartKeys, StartName};
pub use tcp_options::TcpOptions;
pub use text::{Amount, Every, PacketRate, StartJitter};
pub use times::Times;
pub use traffic::{AppDef, CbrDef, CbrPhase, FlowDef, Full, OnOffDef, Traffic, TransportDef};
pub use transport::{NativeEnd, NativeTransport, OptionValue, TransportOptions};
pub use vary::VaryDef;
pub use warning::ScenarioWarning;
pub use wired_cum_wireless::{Direction, WiredCumWireless};
pub use wireless::{
    Adhoc, DiscDef, FlowPattern, GridDef, GrowDef, Infrastructure, LineDef, ListedDef, PlacementDef, PoissonDiskDef,
    UniformDef,
};
pub use workload::{EndsDef, OneWay, TransferApp, WorkloadApp, WorkloadDef};

/// One world: a network, the flows over it, and what to record.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Simulated time.
    pub duration: Span,
    /// Time at the start that measurements exclude.
    #[serde(default)]
    pub warmup: Span,
    /// Time at the end: flows of a workload that arrive in it do not count, since the longest of them could not end.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cooldown: Span,
    /// What decides between events of one nanosecond.
    #[serde(default, skip_serializing_if = "is_exact")]
    pub clock: ClockDef,
    /// Nodes and links.
    pub network: Network,
    /// Noise of hosts: packets reach a host by wire in batches, the first of which waits for a uniform random time up to this, as
    /// for the interrupt of a network card. Default: 50 us where several long flows of DCTCP with `tso_defer`, as profile `linux` has
    /// it, pass queues that mark from a threshold on, and no link has jitter; otherwise none (docs/models.md).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_noise: Option<Span>,
    /// Settings of every TCP flow that has none of its own.
    #[serde(default)]
    pub tcp: TcpOptions,
    /// Traffic of the flows that `network.flows` generates.
    #[serde(default)]
    pub traffic: Traffic,
    /// Flows one by one; they come before those of `network.flows`, whose default is 0 if there are any here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flow: Vec<FlowDef>,
    /// Flows that come and go; with any of them the default of `network.flows` is 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workload: Vec<WorkloadDef>,
    /// Flows that take another path from some time on.
    #[serde(default, rename = "move", skip_serializing_if = "Vec::is_empty")]
    pub moves: Vec<MoveDef>,
    /// Nodes, for `network.kind = "graph"`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub node: Vec<NodeDef>,
    /// Links, for `network.kind = "graph"`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub link: Vec<LinkDef>,
    /// Radio channels, for `network.kind = "graph"`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub channel: Vec<ChannelDef>,
    /// What differs between seeds although the scenario gives one value. Default: nothing; studies vary a little.
    #[serde(default, skip_serializing_if = "VaryDef::is_none")]
    pub vary: VaryDef,
    /// Series to record. Default: none.
    #[serde(default)]
    pub record: RecordDef,
    /// Hosts of real programs (`tonopah emulate`); with it the default of `network.flows` is 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emulate: Option<EmulateDef>,
}

impl Scenario {
    /// A copy without the listed flows, which are most of a large scenario.
    pub(crate) fn without_flows(&self) -> Scenario {
        Scenario {
            duration: self.duration,
            warmup: self.warmup,
            cooldown: self.cooldown,
            clock: self.clock,
            host_noise: self.host_noise,
            network: self.network.clone(),
            tcp: self.tcp.clone(),
            traffic: self.traffic.clone(),
            flow: Vec::new(),
            workload: self.workload.clone(),
            moves: self.moves.clone(),
            node: self.node.clone(),
            link: self.link.clone(),
            channel: self.channel.clone(),
            vary: self.vary.clone(),
            record: self.record.clone(),
            emulate: self.emulate.clone(),
        }
    }

    /// Reads a scenario from JSON text.
    ///
    /// # Errors
    ///
    /// Text that is not JSON, an unknown key, or a value of the wrong kind; the error has the path of the key.
    pub fn from_json(text: &str) -> Result<Scenario, ScenarioError> {
        parse::from_json(text, "", "the scenario is ", prepare)
    }

    /// This scenario, where a choice of congestion control that names one of `further` means that one.
    pub fn with(mut self, further: &Further) -> Scenario {
        self.tcp = self.tcp.with(further);
        self.traffic.transport.iter_mut().for_each(|transport| transport.give(further));
        for flow in &mut self.flow {
            flow.transport.iter_mut().for_each(|transport| transport.give(further));
            flow.cc.iter_mut().for_each(|cc| cc.give(further));
            flow.tcp = std::mem::take(&mut flow.tcp).with(further);
        }
        for workload in &mut self.workload {
            workload.transport.iter_mut().for_each(|transport| transport.give(further));
            workload.cc.iter_mut().for_each(|cc| cc.give(further));
            workload.tcp = std::mem::take(&mut workload.tcp).with(further);
        }
        self
    }

    /// The JSON schema of a scenario.
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(Scenario).to_value()
    }
}

/// The order of events that fall on one nanosecond.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClockDef {
    /// Ends of transmissions and receptions come first, then decisions to transmit, then timers and applications.
    #[default]
    Exact,
    /// As in ns-2, whose clock is a double: each event has the sum of all the delays that led to it, each sum rounded to 53 bits;
    /// the smaller sum comes first, and of equal ones what was scheduled first. Slower.
    Double,
}

fn is_exact(clock: &ClockDef) -> bool {
    *clock == ClockDef::Exact
}

fn is_zero(span: &Span) -> bool {
    *span == Span::ZERO
}

/// Writes what depends on several keys into a scenario as it was written.
fn prepare(scenario: &mut Value) {
    only_listed_flows(scenario);
    page_preset::fill(scenario);
}

/// Who lists flows or workloads, or runs programs, wants no others unless `network.flows` asks for them: its default is for scenarios
/// without a list.
fn only_listed_flows(scenario: &mut Value) {
    let has_any = |key| scenario.get(key).and_then(Value::as_array).is_some_and(|entries| !entries.is_empty());
    let listed = has_any("flow") || has_any("workload") || scenario.get("emulate").is_some();
    if let Some(Value::Object(network)) = scenario.get_mut("network")
        && listed
        && network.get("kind").is_some_and(|kind| kind != "graph")
    {
        network.entry("flows").or_insert(0.into());
    }
}
