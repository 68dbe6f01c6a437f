//! The part of the schema that says how long a period lasts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcp::units::{ParseQuantityError, Span};

use super::tagged::tagged_enum;

tagged_enum! {
    /// Distribution of the length of a period.
    #[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
    pub enum PeriodDef ("a period", text: period_of, such as "1s") {
        /// Constant.
        "constant" => Constant(ConstantDef),
        /// Exponential.
        "exponential" => Exponential(ExponentialDef),
        /// Pareto.
        "pareto" => Pareto(ParetoDef),
    }
}

fn period_of(text: &str) -> Result<PeriodDef, ParseQuantityError> {
    text.parse().map(|length| PeriodDef::Constant(ConstantDef { length }))
}

impl Default for PeriodDef {
    fn default() -> PeriodDef {
        PeriodDef::Exponential(ExponentialDef { mean: Span::from_millis(500) })
    }
}

/// Constant.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConstantDef {
    /// Length.
    pub length: Span,
}

/// Exponentially distributed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExponentialDef {
    /// Mean.
    pub mean: Span,
}

/// Pareto distributed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParetoDef {
    /// Mean.
    pub mean: Span,
    /// Shape, above 1 (ns-2: 1.5).
    pub shape: f64,
}
