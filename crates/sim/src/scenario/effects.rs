//! The part of the schema that describes what a link does to packets beside serving them: delays that vary, order, copies, damage.

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use tcp::units::Span;

use super::loss::is_zero;
use super::parse::carried;
use super::period::{ConstantDef, ExponentialDef, ParetoDef};
use super::tagged::tagged_enum;

tagged_enum! {
    /// Distribution of a delay.
    #[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
    pub enum DelayDef ("a distribution of delays") {
        /// Constant.
        "constant" => Constant(ConstantDef),
        /// Uniform from 0.
        "uniform" => Uniform(UniformDelay),
        /// Normal, cut at 0 and at four standard deviations above the mean.
        "normal" => Normal(NormalDelay),
        /// Exponential.
        "exponential" => Exponential(ExponentialDef),
        /// Pareto.
        "pareto" => Pareto(ParetoDef),
        /// By an inverse distribution function.
        "file" => File(FileDelay),
    }
}

/// Uniform from 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UniformDelay {
    /// Largest value.
    pub max: Span,
}

/// Normal, cut at 0 and at four standard deviations above the mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NormalDelay {
    /// Mean before the cuts.
    pub mean: Span,
    /// Standard deviation before the cuts.
    pub sd: Span,
}

/// An inverse distribution function, linear between its points.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileDelay {
    /// CSV file with the columns `q` and `delay_s`, relative to the scenario. It stands for `points`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// SHA-256 of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Shares of draws, increasing from 0 to 1, and the delay that such a share does not exceed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points: Option<Vec<(f64, Span)>>,
}

/// A delay that is drawn for each packet, beside the propagation delay.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct JitterDef {
    /// Its distribution.
    #[serde(flatten)]
    pub delay: DelayDef,
    /// `"packet"`; the time for which one draw holds; or `"batch"`: while a packet waits, those behind it join it.
    #[serde(default)]
    pub per: PerDraw,
    /// Packets may overtake each other; otherwise none arrives before one that left before it.
    #[serde(default)]
    pub reorder: bool,
    /// Correlation of a draw with the one before, 0 to 1, as netem has it (`delay 100ms 20ms 25%`). Default: 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub correlation: f64,
}

impl<'de> Deserialize<'de> for JitterDef {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<JitterDef, D::Error> {
        /// The keys beside the distribution.
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Beside {
            per: PerDraw,
            reorder: bool,
            correlation: f64,
        }
        let mut value = Value::deserialize(d)?;
        let mut beside = serde_json::Map::new();
        if let Value::Object(table) = &mut value {
            beside = ["per", "reorder", "correlation"].into_iter().filter_map(|key| table.remove_entry(key)).collect();
        }
        let carry = |error| D::Error::custom(carried(&error));
        let Beside { per, reorder, correlation } = super::parse::read(Value::Object(beside)).map_err(carry)?;
        Ok(JitterDef { delay: super::parse::read(value).map_err(carry)?, per, reorder, correlation })
    }
}

/// How long a draw holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PerDraw {
    /// For one packet.
    #[default]
    Packet,
    /// For a time.
    Time(Span),
    /// For all that arrive before the first of them goes on: what a network card hands over with one interrupt.
    Batch,
}

impl Serialize for PerDraw {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            PerDraw::Packet => s.serialize_str("packet"),
            PerDraw::Batch => s.serialize_str("batch"),
            PerDraw::Time(span) => span.serialize(s),
        }
    }
}

impl<'de> Deserialize<'de> for PerDraw {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<PerDraw, D::Error> {
        let value = Value::deserialize(d)?;
        if value == "packet" {
            return Ok(PerDraw::Packet);
        }
        if value == "batch" {
            return Ok(PerDraw::Batch);
        }
        let time =
            Span::deserialize(value).map_err(|error| D::Error::custom(format!("{error}, \"packet\" or \"batch\"")))?;
        Ok(PerDraw::Time(time))
    }
}

impl JsonSchema for PerDraw {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "PerDraw".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string", "description": "A time such as \"100ms\", \"packet\" or \"batch\"."})
    }
}

tagged_enum! {
    /// Packets that leave their order.
    #[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
    pub enum ReorderDef ("a kind of reordering") {
        /// A chosen packet takes longer, and others pass it.
        "late" => Late(LateDef),
        /// A chosen packet leaves out the propagation delay (netem's `gap`).
        "early" => Early(EarlyDef),
        /// A chosen packet changes places with the one that leaves after it.
        "swap" => Swap(SwapDef),
    }
}

/// A chosen packet takes longer, and others pass it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LateDef {
    /// Probability that a packet is chosen.
    pub p: f64,
    /// How much longer it takes.
    pub by: DelayDef,
    /// Correlation of a choice with the one before, 0 to 1, as netem has it. Default: 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub correlation: f64,
}

/// A chosen packet leaves out the propagation delay.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EarlyDef {
    /// Probability that each such packet is chosen.
    #[serde(default = "certain")]
    pub p: f64,
    /// Every how many packets one may be chosen.
    pub gap: u64,
    /// Correlation of a choice with the one before, 0 to 1, as netem has it (`reorder 25% 50%`). Default: 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub correlation: f64,
}

/// A chosen packet is held until the next one leaves, at most 100 ms, and arrives behind it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SwapDef {
    /// Probability that a packet is chosen.
    pub p: f64,
}

/// Copies of packets.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DuplicateDef {
    /// Probability that a packet is duplicated.
    pub p: f64,
    /// Where.
    #[serde(default)]
    pub at: CopyAt,
}

/// Where a packet is duplicated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CopyAt {
    /// On the way: the copy arrives right behind the packet.
    #[default]
    Exit,
    /// Before the queue: the copy waits behind the packet.
    Entrance,
}

tagged_enum! {
    /// Damage to packets, which the destination drops.
    #[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
    pub enum CorruptDef ("a kind of damage") {
        /// Each packet with probability p.
        "packet" => Packet(PacketDamage),
        /// Each bit with probability ber; one error damages the packet.
        "bit" => Bit(BitDamage),
    }
}

/// Independent damage of packets.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PacketDamage {
    /// Probability that a packet is damaged.
    pub p: f64,
}

/// Independent damage of bits.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BitDamage {
    /// Bit error rate; a packet of L bytes is damaged with probability 1 - (1 - ber)^(8 L).
    pub ber: f64,
}

/// Hybrid ARQ: a transmission that fails is repeated a round trip later.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HarqDef {
    /// Probability that an attempt fails: one number, or one for each attempt.
    pub p: FailureDef,
    /// Time that a failure adds. Default: 8 ms, as in LTE FDD.
    #[serde(default = "harq_rtt")]
    pub rtt: Span,
    /// Attempts, after which the packet is lost.
    #[serde(default = "harq_attempts")]
    pub attempts: u64,
    /// Instead of being lost it has as many attempts again after this time. Default: it is lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arq: Option<Span>,
    /// A packet is handed up after all that left before it.
    #[serde(default = "yes")]
    pub in_order: bool,
}

/// Probability that an attempt fails.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "a probability, or an array with one for each attempt")]
pub enum FailureDef {
    /// One for every attempt.
    Each(f64),
    /// By attempt.
    ByAttempt(Vec<f64>),
}

tagged_enum! {
    /// What becomes of pure ACKs that a later one makes superfluous.
    #[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
    pub enum AcksDef ("a treatment of ACKs") {
        /// One of several passes.
        "decimate" => Decimate(DecimateDef),
        /// A newer one takes the place of one that waits in the queue.
        "newest" => Newest(NewestDef),
    }
}

/// Of consecutive pure ACKs of a flow that could be merged, the link takes one of so many.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DecimateDef {
    /// Every how many ACKs one passes.
    pub every: u64,
    /// Longest time for which ACKs are held; the newest then passes.
    pub timeout: Span,
}

/// A newer pure ACK takes the place of one of its flow that waits in the queue (ACK thinning of cable modems).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewestDef {}

fn certain() -> f64 {
    1.0
}

fn yes() -> bool {
    true
}

fn harq_rtt() -> Span {
    Span::from_millis(8)
}

fn harq_attempts() -> u64 {
    4
}
