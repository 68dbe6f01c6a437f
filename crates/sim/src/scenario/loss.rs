//! The part of the schema that says which packets a medium loses; marks at random are chosen in the same ways.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::tagged::tagged_enum;

tagged_enum! {
    /// Loss by the medium.
    #[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
    pub enum LossModel ("a loss model") {
        /// Nothing is lost.
        "none" => None(NoLoss),
        /// Each packet is lost with probability p, at the receiving end.
        "packet" => Packet(PacketLoss),
        /// Each bit is in error with probability ber; one error loses the packet.
        "bit" => Bit(BitLoss),
        /// Each byte is in error with this probability; one error loses the packet.
        "byte" => Byte(ByteLoss),
        /// Two states with a loss probability each, stepped per packet.
        "gilbert_elliott" => GilbertElliott(GilbertElliottLoss),
        /// The listed data-bearing packets, counted as they enter the link, including retransmissions.
        "nth" => Nth(NthLoss),
    }
}

/// Nothing is lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoLoss {}

/// Independent loss, or marks, of packets.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PacketLoss {
    /// Probability that a packet is lost, or marked, 0 to 1.
    pub p: f64,
    /// Correlation with the draw before, 0 to 1, as netem has it (`loss 10% 25%`): a draw is this share of the one before and the rest
    /// of a new one, so that a small p is met more rarely than it says, and in bursts. Default: 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub correlation: f64,
}

/// Independent errors of bits.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BitLoss {
    /// Bit error rate, 0 to 1; a packet of L bytes is lost with probability 1 - (1 - ber)^(8 L).
    pub ber: f64,
}

/// Independent errors of bytes (ns-3's RateErrorModel with its default unit).
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ByteLoss {
    /// Probability that a byte is in error, 0 to 1; a packet of L bytes, framing included, is lost with probability
    /// 1 - (1 - rate)^L.
    pub rate: f64,
}

/// Bursty loss, or marks (Gilbert 1960, Elliott 1963).
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GilbertElliottLoss {
    /// Probability per packet of leaving the good state.
    pub good_to_bad: f64,
    /// Probability per packet of leaving the bad state.
    pub bad_to_good: f64,
    /// Probability of a loss, or mark, in the good state.
    #[serde(default)]
    pub loss_good: f64,
    /// Probability of a loss, or mark, in the bad state.
    #[serde(default = "certain")]
    pub loss_bad: f64,
}

fn certain() -> f64 {
    1.0
}

/// Scripted loss, or marks.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NthLoss {
    /// 0-based numbers of data-bearing packets.
    pub data_packets: Vec<u64>,
}

/// True for a correlation that is left out.
pub(super) fn is_zero(correlation: &f64) -> bool {
    *correlation == 0.0
}
