//! The part of the schema that says when the flows of a workload arrive.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcp::units::{Bytes, Span};

use super::period::PeriodDef;
use super::quantity::EventRate;
use super::tagged::tagged_enum;

tagged_enum! {
    /// When the flows of a workload arrive.
    #[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
    pub enum ArrivalsDef ("arrivals") {
        /// A Poisson process: exponential intervals.
        "poisson" => Poisson(OpenArrivals),
        /// Weibull intervals: with a `shape` below 1 in bursts.
        "weibull" => Weibull(OpenArrivals),
        /// Pareto intervals.
        "pareto" => Pareto(OpenArrivals),
        /// Equal intervals.
        "constant" => Constant(OpenArrivals),
        /// At given times, inline or of a file.
        "list" => List(ListedArrivals),
        /// A number of users, each of whom waits, transfers and waits again.
        "closed" => Closed(ClosedArrivals),
    }
}

/// Arrivals that do not depend on the network. Exactly one of `rate`, `load` and `interval` says how many there are.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OpenArrivals {
    /// Flows per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<EventRate>,
    /// Mean interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Span>,
    /// Share of the rate of `link` that the flows ask for: their rate is `load` times that of the link, divided by their mean size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<f64>,
    /// The link that `load` is a share of: the nodes from and to which it leads. Of a trace, its mean capacity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<[String; 2]>,
    /// What of a flow `load` counts. Default: `payload`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_of: Option<LoadOf>,
    /// Allows a `load` from 1 to 2, with which the number of flows grows without bound.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub overload: bool,
    /// Shape of the distribution of `weibull` (above 0) and `pareto` (above 1).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<f64>,
}

/// What of a flow a load counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LoadOf {
    /// Its size, as papers do.
    #[default]
    Payload,
    /// Whole segments, each with 40 bytes of headers.
    Packets,
}

/// Arrivals at given times.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ListedArrivals {
    /// Times, not decreasing, from `start` of the workload on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Vec<Span>>,
    /// CSV file with the columns `t_s`, and of `from`, `to` and `bytes` those that it gives, relative to the scenario; also
    /// compressed (`.gz`). It stands for `rows`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// SHA-256 of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Times, and ends and sizes where they are given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<Vec<ArrivalRow>>,
}

/// An arrival: its time, from, to, and size.
pub type ArrivalRow = (Span, Option<String>, Option<String>, Option<Bytes>);

/// Users of whom each waits, transfers, and waits again.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClosedArrivals {
    /// Number of users.
    pub users: u64,
    /// How long a user waits before each transfer. Default: exponential with mean 0.5 s.
    #[serde(default)]
    pub think: PeriodDef,
}
