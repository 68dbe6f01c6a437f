//! The part of the schema that says what an application writes, and when.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcp::units::{Bytes, Span};

/// Writes at given times, over one connection that stays open.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScriptDef {
    /// In the order of time, each `["4s", "8MB"]`: so long after the start of the flow, so many bytes; or
    /// `["4s", "1448B", { every = "3ms", until = "10s" }]`. What does not fit into the send buffer waits, and later writes behind it.
    pub writes: Vec<ScriptWrite>,
}

/// A write: when, after the start of the flow; how much; and how it is repeated, if it is.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ScriptWrite(
    pub Span,
    pub Bytes,
    #[serde(default, skip_serializing_if = "Option::is_none")] pub Option<ScriptRepeat>,
);

/// How a write is repeated.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScriptRepeat {
    /// Time from one to the next.
    pub every: Span,
    /// Time after the start of the flow after which there is none.
    pub until: Span,
}
