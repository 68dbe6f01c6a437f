//! The part of the schema that says what seeds vary beside what a scenario draws anyway.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcp::rng::Rng;

/// What differs between seeds although the scenario gives one value. A queue that drops from its tail repeats an order of arrivals
/// for ever (Floyd and Jacobson 1992, "On Traffic Phase Effects"), so that a run with one packet or 0.1 ms more is another
/// world: seeds then say nothing of how sure a result is. Nothing by default; studies vary all three a little.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct VaryDef {
    /// The delay of each link at an end of flows is multiplied by a uniform number that differs from 1 by at most this, up to
    /// 0.5.
    pub delays: f64,
    /// The limit of each queue of kind `drop_tail` is moved by a uniform whole number of packets, at most this up or down.
    pub buffers: u64,
    /// Datagrams in both directions of the slowest link of each flow's path, on and off at random, with this share of its rate, up
    /// to 0.1. They are in no metric of flows and of the network, and in no series of flows.
    pub background: f64,
    /// A name for other draws under the same seed: of everything that is random, here and elsewhere in the scenario. Studies give
    /// each point of a sweep its own, so that a connection that is unlucky at one is not so at all.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub draws: String,
}

impl VaryDef {
    /// True if nothing varies.
    pub fn is_none(&self) -> bool {
        *self == VaryDef::default()
    }

    /// What the streams of a run with this seed start from.
    pub fn seed(&self, seed: u64) -> u64 {
        if self.draws.is_empty() { seed } else { Rng::stream(seed, &format!("vary/draws/{}", self.draws)).next_u64() }
    }
}
