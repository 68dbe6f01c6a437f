//! The part of the schema that says how large the flows of a workload are.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcp::units::Bytes;

use super::tagged::tagged_enum;

tagged_enum! {
    /// Distribution of the sizes of flows, in bytes. A draw is rounded, and at least 1 byte.
    #[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
    pub enum SizeDef ("a distribution of sizes") {
        /// Always the same.
        "constant" => Constant(ConstantSize),
        /// Exponential.
        "exponential" => Exponential(ExponentialSize),
        /// Lognormal.
        "lognormal" => Lognormal(LognormalSize),
        /// Pareto, bounded if there is a `max`.
        "pareto" => Pareto(ParetoSize),
        /// Uniform.
        "uniform" => Uniform(UniformSize),
        /// By a cumulative distribution function, linear between its points.
        "cdf" => Cdf(CdfSize),
        /// Flows of a web search cluster (Alizadeh et al. 2010): mean 1 711 250 B, 54 % below 100 kB, 95 % of the bytes in flows
        /// above 1 MB.
        "web_search" => WebSearch(WebSearchSize),
        /// Flows of a data mining cluster (Greenberg et al. 2009): mean 12.7 MB, 80 % below 10 kB, 99 % of the bytes in flows above
        /// 10 MB.
        "data_mining" => DataMining(DataMiningSize),
        /// Given sizes in turn, again from the first after the last.
        "list" => List(ListedSizes),
    }
}

/// Always the same.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConstantSize {
    /// The size.
    pub bytes: Bytes,
}

/// Exponential.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExponentialSize {
    /// Mean.
    pub mean: Bytes,
}

/// Lognormal: exactly one of `mean` and `median`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LognormalSize {
    /// Mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<Bytes>,
    /// Median.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median: Option<Bytes>,
    /// Standard deviation of the natural logarithm.
    pub sigma: f64,
}

/// Pareto.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParetoSize {
    /// Shape; above 1 without `max`.
    pub shape: f64,
    /// Smallest size.
    pub min: Bytes,
    /// Largest size. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Bytes>,
}

/// Uniform.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UniformSize {
    /// Smallest size.
    pub min: Bytes,
    /// Largest size.
    pub max: Bytes,
}

/// By a cumulative distribution function.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CdfSize {
    /// File with a size and its cumulative probability (0 to 1 or 0 to 100) on each line, by spaces or commas, relative to the
    /// scenario; with three columns the last is the probability. It stands for `points`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// SHA-256 of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Sizes in bytes and their cumulative probabilities, not decreasing, the last 1. A first probability above 0 is that of the
    /// first size itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub points: Option<Vec<(f64, f64)>>,
}

/// Flows of a web search cluster.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WebSearchSize {}

/// Flows of a data mining cluster.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DataMiningSize {}

/// Given sizes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListedSizes {
    /// The sizes.
    pub bytes: Vec<Bytes>,
}
