//! The part of the schema that describes memory which the ports of a switch share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcp::units::Bytes;

/// Memory that the queues of all ports of a switch share, with dynamic thresholds (Choudhury and Hahne 1998): a packet
/// enters a queue that holds less than `alpha` times what is free. A port alone then holds up to `alpha` / (1 + `alpha`) of
/// it, each of n ports `alpha` / (1 + n `alpha`); the rest stays free for others. Packets in transmission take none. `{
/// size = "4MB", alpha = 1 }`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SharedBufferDef {
    /// The memory, for packets with the framing of their links.
    pub size: Bytes,
    /// Share of the free memory; switches have 1/128 to 8.
    #[serde(default = "one")]
    pub alpha: f64,
}

fn one() -> f64 {
    1.0
}

impl SharedBufferDef {
    /// What a port alone may hold.
    pub fn of_one_port(&self) -> Bytes {
        Bytes((self.size.as_f64() * self.alpha / (1.0 + self.alpha)) as u64)
    }
}
