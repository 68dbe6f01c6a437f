//! The part of the schema that describes links: their properties, their loss models, and how they change.

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use tcp::units::{Bytes, Rate, Span};

use super::cake::Overhead;
use super::ecn::{EcnRewrite, MarkModel};
use super::effects::{AcksDef, CorruptDef, DuplicateDef, HarqDef, JitterDef, ReorderDef};
use super::error::ScenarioError;
use super::loss::LossModel;
use super::parse::{carried, read, read_beside};
use super::queue::Queue;
use super::service::ServiceDef;

/// A duplex link of a graph: two independent simplex links. Forward is from `from` to `to`.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkDef {
    /// One end; `loss` acts on packets sent from here.
    pub from: String,
    /// The other end.
    pub to: String,
    /// Its properties.
    #[serde(flatten)]
    pub options: LinkOptions,
}

impl<'de> Deserialize<'de> for LinkDef {
    /// The ends are split off and the rest is read for itself: serde's own flattening loses the path to a fault.
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<LinkDef, D::Error> {
        let value = Value::deserialize(d)?;
        let link = || {
            let mut table: Map<String, Value> = read(value)?;
            let ends = ["from", "to"].map(|key| (key, table.remove(key)));
            let options = read_beside(Value::Object(table), &["from", "to"])?;
            let [from, to] = ends.map(|(key, value)| text_of(key, value));
            Ok(LinkDef { from: from?, to: to?, options })
        };
        link().map_err(|e| D::Error::custom(carried(&e)))
    }
}

/// A text that a table must have.
fn text_of(key: &str, value: Option<Value>) -> Result<String, ScenarioError> {
    let value = value.ok_or_else(|| ScenarioError::new("", format!("missing key `{key}`")))?;
    read(value).map_err(|error: ScenarioError| ScenarioError { path: key.to_owned(), ..error })
}

/// Properties of a duplex link; a key left out takes the default named where the link is used.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LinkOptions {
    /// What stands for the keys that are left out: `"cable"`, `"pantheon/nepal"` (docs/topologies.md); a line is downstream in
    /// the forward direction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
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
    /// In place of `overhead`, framing with a least size or with cells: a keyword such as `"pppoe_llcsnap"`, or
    /// `{ bytes = 40, mpu = 0, framing = "atm" }`, as CAKE has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub framing: Option<Overhead>,
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
    /// Stretches of time, each from and to, in which loss, marks, jitter, reorder, duplicate, corrupt and harq act. Default: always.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub during: Vec<[Span; 2]>,
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
        LinkDef { from: from.into(), to: to.into(), options }
    }
}

impl LinkOptions {
    /// These options, and for what they leave out those of `base`.
    pub fn over(&self, base: &LinkOptions) -> LinkOptions {
        let reverse = match (self.reverse.as_deref(), base.reverse.as_deref()) {
            (Some(own), Some(base)) => Some(Box::new(own.over(base))),
            (own, base) => own.or(base).cloned().map(Box::new),
        };
        let (own, base) = (self.clone(), base.clone());
        LinkOptions {
            preset: own.preset.or(base.preset),
            rate: own.rate.or(base.rate),
            delay: own.delay.or(base.delay),
            queue: own.queue.or(base.queue),
            loss: own.loss.or(base.loss),
            marks: own.marks.or(base.marks),
            ecn: own.ecn.or(base.ecn),
            framing: own.framing.or(base.framing.filter(|_| own.overhead.is_none())),
            overhead: own.overhead.or(base.overhead),
            service: own.service.or(base.service),
            jitter: own.jitter.or(base.jitter),
            reorder: own.reorder.or(base.reorder),
            duplicate: own.duplicate.or(base.duplicate),
            corrupt: own.corrupt.or(base.corrupt),
            harq: own.harq.or(base.harq),
            acks: own.acks.or(base.acks),
            during: if own.during.is_empty() { base.during } else { own.during },
            reverse,
            changes: if own.changes.is_empty() { base.changes } else { own.changes },
            repeat: own.repeat.or(base.repeat),
        }
    }

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
