//! The part of the schema that describes workloads: flows that come and go.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcp::units::{Bytes, Span};

use super::arrivals::ArrivalsDef;
use super::cc_choice::CcChoice;
use super::conversations::{DirectionDef, NoKeysDef, PageDef, RequestResponseDef, TransferDef};
use super::dscp::Dscp;
use super::sizes::SizeDef;
use super::tagged::tagged_enum;
use super::tcp_options::TcpOptions;
use super::traffic::AppDef;
use super::transport::NativeTransport;

/// Flows that come and go: each has a random size and ends when it is delivered.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkloadDef {
    /// Its name, of letters, digits, `_` and `-`: that of its random streams and metrics.
    pub name: String,
    /// Nodes at which flows begin: names, in which `*` stands for any letters and `?` for one.
    pub from: Vec<String>,
    /// Nodes at which they end.
    pub to: Vec<String>,
    /// Which of these nodes are the ends of a flow.
    #[serde(default)]
    pub ends: EndsDef,
    /// When flows arrive.
    pub arrivals: ArrivalsDef,
    /// Bytes that a flow transfers. May be left out if the rows of `arrivals` have them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<SizeDef>,
    /// What a flow does.
    #[serde(default)]
    pub app: WorkloadApp,
    /// Congestion control. Default: `tcp.cc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cc: Option<CcChoice>,
    /// Band of its flows in queues of kind `priority`, as of a listed flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// Differentiated services code point of their packets, in both directions. Default: `DF`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dscp: Option<Dscp>,
    /// Arrivals begin: the first is one interval later.
    #[serde(default)]
    pub start: Span,
    /// Arrivals end; flows go on. Default: at the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Span>,
    /// Arrivals end after so many. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Upper edges of the size classes, increasing: a flow of exactly this size is in the class. Larger ones are in the class
    /// `larger`.
    #[serde(default = "default_classes")]
    pub classes: Vec<Bytes>,
    /// Settings that differ from those of `tcp`. `time_wait` is 0 s unless it is given here or in `tcp`.
    #[serde(default, skip_serializing_if = "TcpOptions::is_empty")]
    pub tcp: TcpOptions,
    /// A whole transport in a shared library, which carries its flows instead of our TCP (docs/transport.md). Default: that of
    /// `traffic`, unless there is a `cc` or a `tcp`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<Box<NativeTransport>>,
}

fn default_classes() -> Vec<Bytes> {
    [10_000, 100_000, 1_000_000, 10_000_000].map(Bytes).to_vec()
}

impl WorkloadDef {
    /// Name of the class of flows above every edge.
    pub const LARGER: &'static str = "larger";

    /// Index of the class of a flow of this size.
    pub fn class_of(&self, size: Bytes) -> usize {
        self.classes.partition_point(|edge| *edge < size)
    }

    /// Names of the classes: the upper edges.
    pub fn class_names(&self) -> Vec<String> {
        self.classes.iter().map(Bytes::to_string).chain([WorkloadDef::LARGER.to_owned()]).collect()
    }
}

/// Which nodes are the ends of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndsDef {
    /// Both drawn for each flow, never the same.
    #[default]
    Random,
    /// The n-th node of `from` with the n-th of `to`, again from the first if `to` has fewer; n is drawn for each flow.
    Pairs,
    /// As `pairs`, after one random order of `to` in which no node sends to itself.
    Permutation,
    /// All ordered pairs of two nodes in turn.
    AllToAll,
    /// From a node drawn for each flow to one node of `to`, drawn once.
    OneSink,
}

tagged_enum! {
    /// What a flow of a workload does with the size that is drawn.
    #[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
    pub enum WorkloadApp ("an application of a workload") {
        /// Transfers it over a connection of its own, and closes it.
        "transfer" => Transfer(TransferApp),
        /// Asks for answers of that size, one after the other on one connection.
        "request_response" => RequestResponse(RequestResponseDef),
        /// Fetches a page of that size by HTTP/2.
        "page" => Page(PageDef),
    }
}

impl Default for WorkloadApp {
    fn default() -> WorkloadApp {
        WorkloadApp::Transfer(TransferApp::default())
    }
}

impl WorkloadApp {
    /// As written in a scenario.
    pub fn name(&self) -> &'static str {
        match self {
            WorkloadApp::Transfer(_) => "transfer",
            WorkloadApp::RequestResponse(_) => "request_response",
            WorkloadApp::Page(_) => "page",
        }
    }

    /// The application of a flow of this size.
    pub fn of_size(&self, size: Bytes) -> AppDef {
        match self {
            WorkloadApp::Transfer(TransferApp { direction, request }) => {
                let direction = match direction {
                    OneWay::Up => DirectionDef::Up(NoKeysDef {}),
                    OneWay::Down => DirectionDef::Down(NoKeysDef {}),
                };
                AppDef::Transfer(TransferDef { size: Some(size), direction, request: *request })
            }
            WorkloadApp::RequestResponse(def) => {
                AppDef::RequestResponse(RequestResponseDef { response: size, ..def.clone() })
            }
            WorkloadApp::Page(def) => AppDef::Page(PageDef { size: Some(size), ..def.clone() }),
        }
    }

    /// True if a flow sends its size from `from` to `to` and nothing else, as `bulk` does.
    pub fn is_plain(&self) -> bool {
        matches!(self, WorkloadApp::Transfer(TransferApp { direction: OneWay::Up, .. }))
    }

    /// Bytes that a flow transfers from `from` to `to` for each byte of its size.
    pub fn times_size(&self) -> f64 {
        match self {
            WorkloadApp::RequestResponse(def) => f64::from(def.requests),
            WorkloadApp::Transfer(_) | WorkloadApp::Page(_) => 1.0,
        }
    }
}

/// A transfer of the size that is drawn.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TransferApp {
    /// Who connects.
    pub direction: OneWay,
    /// The request that `direction = "down"` begins with.
    pub request: Bytes,
}

impl Default for TransferApp {
    fn default() -> TransferApp {
        TransferApp { direction: OneWay::Up, request: Bytes(400) }
    }
}

/// Who connects; `from` sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OneWay {
    /// `from`.
    #[default]
    Up,
    /// `to`, and sends a request.
    Down,
}
