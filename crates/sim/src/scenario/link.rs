//! The part of the schema that describes links: their properties, their loss models, and how they change.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcp::units::{Bytes, Rate, Span};

use super::ecn::{EcnRewrite, MarkModel};
use super::effects::{AcksDef, CorruptDef, DuplicateDef, HarqDef, JitterDef, ReorderDef};
use super::queue::Queue;
use super::service::ServiceDef;
use super::tagged::tagged_enum;

/// A duplex link of a graph: two independent simplex links.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkDef {
    /// One end; `loss` acts on packets sent from here.
    pub from: String,
    /// The other end.
    pub to: String,
    /// Rate of each direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Propagation delay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Span>,
    /// Queue of each direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<Queue>,
    /// Loss by the medium, from `from` to `to` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossModel>,
    /// Marks at random or by script, from `from` to `to` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marks: Option<Box<MarkModel>>,
    /// What it does to the ECN field, from `from` to `to` only: `"bleach"`, or a table. Default: `"pass"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecn: Option<EcnRewrite>,
    /// Framing bytes per packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overhead: Option<Bytes>,
    /// How the transmitter serves the queue, in each direction. Default: at `rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<Box<ServiceDef>>,
    /// Delay drawn for each packet beside `delay`, in the forward direction only, as what follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Box<JitterDef>>,
    /// Packets that leave their order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reorder: Option<Box<ReorderDef>>,
    /// Copies of packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplicate: Option<DuplicateDef>,
    /// Damage to packets, which their destinations drop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrupt: Option<CorruptDef>,
    /// Hybrid ARQ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harq: Option<Box<HarqDef>>,
    /// ACKs that are held back at the entrance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acks: Option<AcksDef>,
    /// Properties that differ from `to` to `from`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverse: Option<Box<LinkOptions>>,
    /// Changes over time, of both directions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<LinkChangeAt>,
    /// The changes happen again with this period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<Span>,
}

/// Properties of a duplex link; a key left out takes the default named where the link is used.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LinkOptions {
    /// Rate of each direction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Propagation delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Span>,
    /// Queue of each direction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<Queue>,
    /// Loss by the medium, in the forward direction only: towards the second router, the sinks, the later node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossModel>,
    /// Marks at random or by script, in the forward direction only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marks: Option<Box<MarkModel>>,
    /// What it does to the ECN field, in the forward direction only: `"bleach"`, or a table. Default: `"pass"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<EcnRewrite>,
    /// Framing bytes per packet: 2 for PPP, 38 for Ethernet. Default: 0, as in ns-2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overhead: Option<Bytes>,
    /// How the transmitter serves the queue, in each direction. Default: at `rate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<Box<ServiceDef>>,
    /// Delay drawn for each packet beside `delay`, in the forward direction only, as what follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Box<JitterDef>>,
    /// Packets that leave their order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reorder: Option<Box<ReorderDef>>,
    /// Copies of packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicate: Option<DuplicateDef>,
    /// Damage to packets, which their destinations drop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrupt: Option<CorruptDef>,
    /// Hybrid ARQ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub harq: Option<Box<HarqDef>>,
    /// ACKs that are held back at the entrance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acks: Option<AcksDef>,
    /// Properties that differ in the other direction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reverse: Option<Box<LinkOptions>>,
    /// Changes over time, of both directions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<LinkChangeAt>,
    /// The changes happen again with this period.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat: Option<Span>,
}

impl LinkDef {
    /// A link between these nodes with these properties.
    pub fn new(from: &str, to: &str, options: LinkOptions) -> LinkDef {
        let LinkOptions { rate, delay, queue, loss, marks, ecn, overhead, service, jitter, reorder, .. } = options;
        let LinkOptions { duplicate, corrupt, harq, acks, reverse, changes, repeat, .. } = options;
        let (from, to) = (from.into(), to.into());
        LinkDef {
            from,
            to,
            rate,
            delay,
            queue,
            loss,
            marks,
            ecn,
            overhead,
            service,
            jitter,
            reorder,
            duplicate,
            corrupt,
            harq,
            acks,
            reverse,
            changes,
            repeat,
        }
    }

    /// Its properties.
    pub fn options(&self) -> LinkOptions {
        let LinkDef { rate, delay, queue, loss, marks, ecn, overhead, service, jitter, reorder, .. } = self.clone();
        let LinkDef { duplicate, corrupt, harq, acks, reverse, changes, repeat, .. } = self.clone();
        LinkOptions {
            rate,
            delay,
            queue,
            loss,
            marks,
            ecn,
            overhead,
            service,
            jitter,
            reorder,
            duplicate,
            corrupt,
            harq,
            acks,
            reverse,
            changes,
            repeat,
        }
    }
}

impl LinkOptions {
    /// How the transmitter of the other direction serves: as this one's, unless `reverse` says otherwise or has a rate of its own
    /// where this one's is the service's.
    pub fn reverse_service(&self) -> Option<Box<ServiceDef>> {
        let own = self.reverse.as_deref();
        let own_rate = own.is_some_and(|own| own.rate.is_some());
        let inherited = || self.service.clone().filter(|service| !own_rate || service.own_rate().is_none());
        own.and_then(|own| own.service.clone()).or_else(inherited)
    }
}

/// A change of a link at a time.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkChangeAt {
    /// Time of the change.
    pub at: Span,
    /// Up or down. Packets queued or in flight on a link that goes down are lost; routes are recomputed immediately.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub up: Option<bool>,
    /// New rate, from the next transmission on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// New propagation delay; packets stay in order, unless `overtake` says otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Span>,
    /// With `delay`: what is sent later may arrive earlier, as after a change of route.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub overtake: bool,
}

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
