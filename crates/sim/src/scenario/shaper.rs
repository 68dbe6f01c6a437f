//! The part of the schema that describes queues around other queues: shapers, policers and priorities.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcp::units::{Bytes, Rate};

use super::dscp::Dscp;
use super::queue::Queue;
use super::text::Amount;

/// The queue inside, unless the scenario says another.
fn inner() -> Box<Queue> {
    Box::new(Queue::drop_tail(Amount::Packets(1000)))
}

/// Ten packets, or what the rate carries in 10 ms if that is more.
fn default_burst(rate: Rate) -> Bytes {
    Bytes(u64::max(15_140, rate.as_bps() / 800))
}

/// A token bucket filter: a shaper.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TbfDef {
    /// Rate of the tokens.
    pub rate: Rate,
    /// Bytes that may pass at once; a larger packet is dropped. Default: the larger of 15 140 B and what the rate carries in
    /// 10 ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<Bytes>,
    /// Rate of a second bucket, above `rate`, which spreads bursts. Default: bursts leave at the rate of the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak: Option<Rate>,
    /// Bytes that may pass at once with `peak`. Default: 1514 B.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_burst: Option<Bytes>,
    /// The queue whose packets it holds.
    #[serde(default = "inner")]
    pub queue: Box<Queue>,
}

impl TbfDef {
    /// With the values that the scenario leaves out.
    pub fn with_defaults(&self) -> TbfDef {
        TbfDef {
            burst: self.burst.or(Some(default_burst(self.rate))),
            peak_burst: self.peak_burst.or(self.peak.map(|_| Bytes(1514))),
            queue: Box::new(self.queue.with_defaults()),
            ..self.clone()
        }
    }
}

/// A policer.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicerDef {
    /// Rate of the tokens.
    pub rate: Rate,
    /// Bytes that may pass at once. Default: the larger of 15 140 B and what the rate carries in 10 ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<Bytes>,
    /// What becomes of a packet for which there are no tokens.
    #[serde(default)]
    pub action: PolicerAction,
    /// The queue behind it.
    #[serde(default = "inner")]
    pub queue: Box<Queue>,
}

/// What becomes of a packet that does not conform.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PolicerAction {
    /// It is dropped.
    #[default]
    Drop,
    /// It is marked, or dropped if it is not ECN-capable.
    Mark,
    /// It passes, with its DSCP set to lower effort (RFC 8622), which a queue of kind `priority` or `cake` on its way may heed.
    Demote,
}

impl PolicerDef {
    /// With the values that the scenario leaves out.
    pub fn with_defaults(&self) -> PolicerDef {
        PolicerDef {
            burst: self.burst.or(Some(default_burst(self.rate))),
            queue: Box::new(self.queue.with_defaults()),
            ..self.clone()
        }
    }
}

/// Strict priority.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PriorityDef {
    /// The bands, 2 to 8 queues; the first goes first.
    pub bands: Vec<Queue>,
    /// What decides about the band of a packet.
    pub by: PriorityBy,
    /// With `by = "dscp"`: the bands of code points, such as `{ EF = 0, CS6 = 0, LE = 2 }`. All others have band 1.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub map: BTreeMap<Dscp, u8>,
}

impl PriorityDef {
    /// The band of code points that `map` leaves out, and of flows that have no `priority`.
    pub const DEFAULT_BAND: u8 = 1;
}

/// What decides about the band of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PriorityBy {
    /// ECT(1) and CE go to band 0, all else to band 1 (RFC 9331 §5.1).
    Ecn,
    /// The key `priority` of its flow.
    Flow,
    /// Its differentiated services code point, by `map`.
    Dscp,
}

impl PriorityDef {
    /// With the values that the scenario leaves out.
    pub fn with_defaults(&self) -> PriorityDef {
        PriorityDef { bands: self.bands.iter().map(Queue::with_defaults).collect(), ..self.clone() }
    }
}
