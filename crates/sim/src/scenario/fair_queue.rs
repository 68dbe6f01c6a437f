//! The part of the schema that describes queues which share a link among flows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcp::units::{Bytes, Rate, Span};

use super::text::Amount;

/// Deficit round robin (Shreedhar, Varghese 1995), without a hash: nothing shares a queue by chance.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DrrDef {
    /// Limit of all queues together.
    pub limit: Amount,
    /// Quantum of a queue in a round.
    pub quantum: Bytes,
    /// What shares a queue.
    pub by: DrrBy,
    /// What is dropped beyond the limit.
    pub drop: DrrDrop,
}

/// What shares a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DrrBy {
    /// The packets of one direction of one flow.
    #[default]
    Flow,
    /// The packets of one sending node.
    Source,
    /// The packets for one node.
    Destination,
}

/// What is dropped beyond the limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DrrDrop {
    /// The packet of the queue of most bytes that came last.
    #[default]
    LongestTail,
    /// The packet of the queue of most bytes that came first.
    LongestHead,
}

impl Default for DrrDef {
    fn default() -> DrrDef {
        DrrDef { limit: Amount::Unlimited, quantum: Bytes(1514), by: DrrBy::default(), drop: DrrDrop::default() }
    }
}

/// Stochastic fairness queueing (McKenney 1990), as in Linux: at most 128 queues hold packets at once.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SfqDef {
    /// Limit of all queues together. Beyond it the longest queue, in packets, loses its last packet.
    pub limit: Amount,
    /// Number of queues that flows are hashed into.
    pub queues: u64,
    /// Limit of one queue, packets.
    pub depth: u64,
    /// Quantum of a queue in a round.
    pub quantum: Bytes,
    /// Distance of new salts of the hash; what waits stays where it is. Default: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub perturb: Option<Span>,
}

impl Default for SfqDef {
    fn default() -> SfqDef {
        SfqDef { limit: Amount::Packets(127), queues: 1024, depth: 127, quantum: Bytes(1514), perturb: None }
    }
}

/// Fair queueing with pacing (Linux, sch_fq).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FqDef {
    /// Limit of all queues together.
    pub limit: Amount,
    /// Limit of one flow, packets.
    pub flow_limit: u64,
    /// Quantum of a flow in a round.
    pub quantum: Bytes,
    /// Credit of a flow at its first packet.
    pub initial_quantum: Bytes,
    /// A flow that was idle for longer has at least a quantum again.
    pub refill: Span,
    /// No flow is faster than this. Default: no ceiling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow_rate: Option<Rate>,
    /// Up to this `flow_rate` packets are paced one by one, above it by quanta.
    pub low_rate: Rate,
    /// ECN-capable packets that wait longer than this, beyond what pacing asks for, are marked. Default: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ce_threshold: Option<Span>,
}

impl Default for FqDef {
    fn default() -> FqDef {
        FqDef {
            limit: Amount::Packets(10_000),
            flow_limit: 100,
            quantum: Bytes(3028),
            initial_quantum: Bytes(15_140),
            refill: Span::from_millis(40),
            flow_rate: None,
            low_rate: Rate::from_bps(550_000).expect("above zero"),
            ce_threshold: None,
        }
    }
}
