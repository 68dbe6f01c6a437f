//! The part of the schema that describes links: their properties, their loss models, and how they change.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcp::units::{Bytes, Rate, Span};

use super::ecn::{EcnRewrite, MarkModel};
use super::effects::{AcksDef, CorruptDef, DuplicateDef, HarqDef, JitterDef, ReorderDef};
use super::loss::LossModel;
use super::queue::Queue;
use super::service::ServiceDef;

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
        let LinkOptions {
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
        } = options;
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
        let LinkDef {
            from: _,
            to: _,
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
        } = self.clone();
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
