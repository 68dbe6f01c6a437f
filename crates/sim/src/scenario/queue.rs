//! The part of the schema that describes queues: a discipline and its parameters. Here are the choice among all, and those that hold
//! other queues: shapers, policers and priorities.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tcp::units::{Bytes, Rate, Span};

use super::aqm::{ChokeDef, CobaltDef, CodelDef, FqCodelDef, RedDef};
use super::cake::{CakeDef, Overhead};
use super::dscp::Dscp;
use super::dualpi2::DualPi2Def;
use super::fair_queue::{DrrDef, FqDef, SfqDef};
use super::pie::{FqPieDef, PieDef};
use super::shaper::{AutorateDef, HtbDef, RateChangeAt, is_raw, raw};
use super::tagged::tagged_enum;
use super::text::Amount;

tagged_enum! {
    /// A queue discipline. The packet in transmission is not in the queue.
    #[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
    #[schemars(transform = with_text_form)]
    pub enum Queue ("a queue", text: Queue::from_text, such as "20p") {
        /// First in, first out; a packet that does not fit is dropped.
        "drop_tail" => DropTail(DropTailDef),
        /// Random early detection: drops or marks arrivals by the average queue length.
        "red" => Red(RedDef),
        /// CHOKe: RED that also drops an arrival and a packet drawn from the queue if both are of one flow, so that flows that do not
        /// answer pay most, such as `{ kind = "choke", limit = "300p" }`.
        "choke" => Choke(ChokeDef),
        /// Controlled delay: drops or marks at the head when the sojourn time stays above a target.
        "codel" => Codel(CodelDef),
        /// CAKE's control of a queue without CAKE: CoDel that goes back step by step, and BLUE at overflows, such as
        /// `{ kind = "cobalt", limit = "1000p" }`.
        "cobalt" => Cobalt(CobaltDef),
        /// A queue for each flow, served by deficit round robin, each with CoDel.
        "fq_codel" => FqCodel(FqCodelDef),
        /// Proportional integral controller: drops or marks arrivals with a probability that keeps the queueing delay at a target.
        "pie" => Pie(PieDef),
        /// A queue for each flow, served by deficit round robin, each with PIE, such as `{ kind = "fq_pie", profile = "linux" }`.
        "fq_pie" => FqPie(FqPieDef),
        /// Deficit round robin: a queue for each flow or node, served in turn by bytes, such as
        /// `{ kind = "drr", by = "source", limit = "1000p" }`.
        "drr" => Drr(DrrDef),
        /// Stochastic fairness queueing: deficit round robin over hashed queues, such as `{ kind = "sfq", perturb = "10s" }`.
        "sfq" => Sfq(SfqDef),
        /// Fair queueing with pacing: a queue for each flow, served in turn, none faster than a rate, such as
        /// `{ kind = "fq", flow_rate = "12Mbps" }`.
        "fq" => Fq(FqDef),
        /// Token bucket filter: a shaper, which holds the packets of another queue until they conform to a rate, such as
        /// `{ kind = "tbf", rate = "20Mbps", burst = "32kB", queue = { kind = "codel" } }`.
        "tbf" => Tbf(TbfDef),
        /// Hierarchical token buckets: a shaper with classes that lend to one another, each with a queue, such as
        /// `{ kind = "htb", classes = [{ name = "all", rate = "20Mbps" }, { name = "voice", parent = "all", rate = "2Mbps",
        /// ceiling = "20Mbps", dscp = ["EF"] }, { name = "rest", parent = "all", rate = "18Mbps", ceiling = "20Mbps" }] }`.
        "htb" => Htb(HtbDef),
        /// Policer: drops, marks or demotes arrivals that do not conform to a rate, such as
        /// `{ kind = "policer", rate = "20Mbps", burst = "64kB", action = "mark", queue = "100p" }`.
        "policer" => Policer(PolicerDef),
        /// Strict priority: bands with a queue each; a packet waits for all bands before its own, such as
        /// `{ kind = "priority", by = "flow", bands = ["100p", { kind = "fq_codel" }] }` beside `priority = 0` of a flow.
        "priority" => Priority(PriorityDef),
        /// CAKE: a shaper with tins, a queue for each flow, fairness among hosts and COBALT, such as
        /// `{ kind = "cake", rate = "18Mbps", overhead = "docsis", ack_filter = "on" }`.
        "cake" => Cake(CakeDef),
        /// Coupled dual queue (RFC 9332): low delay for scalable flows (ECT(1)), a classic queue for the rest, and about the same
        /// rate for both, such as `{ kind = "dualpi2", profile = "rfc" }`.
        "dualpi2" => DualPi2(DualPi2Def),
    }
}

/// The short form, which serde's attributes cannot describe.
fn with_text_form(schema: &mut Schema) {
    let text = json_schema!({"type": "string", "description": "A text such as \"100p\": drop_tail with this limit."});
    if let Some(Value::Array(forms)) = schema.get_mut("oneOf") {
        forms.push(text.to_value());
    }
}

impl Queue {
    fn from_text(text: &str) -> Result<Queue, String> {
        text.parse().map(Queue::drop_tail)
    }

    /// DropTail with this limit.
    pub fn drop_tail(limit: Amount) -> Queue {
        Queue::DropTail(DropTailDef { limit, mark_threshold: None })
    }

    /// The queues inside this one, each with its place in it.
    pub fn inner(&self) -> Vec<(String, &Queue)> {
        match self {
            Queue::Tbf(TbfDef { queue, .. }) | Queue::Policer(PolicerDef { queue, .. }) => {
                vec![("queue".into(), queue)]
            }
            Queue::Priority(def) => {
                def.bands.iter().enumerate().map(|(i, band)| (format!("bands[{i}]"), band)).collect()
            }
            Queue::Htb(def) => {
                let queues = def.classes.iter().map(|class| class.queue.as_deref()).enumerate();
                queues.filter_map(|(i, queue)| Some((format!("classes[{i}].queue"), queue?))).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Its controller, if it is a shaper with one.
    pub fn autorate(&self) -> Option<&AutorateDef> {
        match self {
            Queue::Tbf(def) => def.autorate.as_deref(),
            Queue::Cake(def) => def.autorate.as_deref(),
            _ => None,
        }
    }

    /// As `inner`, to be changed.
    pub(crate) fn inner_mut(&mut self) -> Vec<&mut Queue> {
        match self {
            Queue::Tbf(TbfDef { queue, .. }) | Queue::Policer(PolicerDef { queue, .. }) => vec![queue],
            Queue::Priority(def) => def.bands.iter_mut().collect(),
            Queue::Htb(def) => def.classes.iter_mut().filter_map(|class| class.queue.as_deref_mut()).collect(),
            _ => Vec::new(),
        }
    }

    /// The queue with nothing left to a profile.
    pub fn with_defaults(&self) -> Queue {
        match self {
            Queue::Red(red) => Queue::Red(red.with_defaults()),
            Queue::Pie(pie) => Queue::Pie(pie.with_defaults()),
            Queue::FqPie(fq_pie) => Queue::FqPie(fq_pie.with_defaults()),
            Queue::Tbf(tbf) => Queue::Tbf(tbf.with_defaults()),
            Queue::Htb(htb) => Queue::Htb(htb.with_defaults()),
            Queue::Policer(policer) => Queue::Policer(policer.with_defaults()),
            Queue::Priority(priority) => Queue::Priority(priority.with_defaults()),
            Queue::Cake(cake) => Queue::Cake(cake.with_defaults()),
            Queue::DualPi2(dualpi2) => Queue::DualPi2(dualpi2.with_defaults()),
            other => other.clone(),
        }
    }
}

/// DropTail.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DropTailDef {
    /// Limit of the queue, in packets or bytes.
    pub limit: Amount,
    /// An ECN-capable packet that arrives at a queue of more than this many packets is marked (the switch of DCTCP). Default: no
    /// marks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark_threshold: Option<u64>,
}

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
    /// A packet starts as soon as the bucket is not overdrawn, and overdraws it: the queue inside chooses it only then, as in Linux's
    /// `htb` with one class. Otherwise the packet at the head is chosen first and waits for all of its tokens, and one larger than
    /// `burst` is dropped, as in Linux's `tbf`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub debt: bool,
    /// What a packet takes on the line that the rate is that of, as CAKE's `overhead`.
    #[serde(default = "raw", skip_serializing_if = "is_raw")]
    pub overhead: Overhead,
    /// Time between its wake-ups (a timer, a softirq), while it holds packets back: they leave at its multiples. Default: exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wake: Option<Span>,
    /// Rates from given times on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<RateChangeAt>,
    /// A controller that sets the rate by delay and load, as cake-autorate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub autorate: Option<Box<AutorateDef>>,
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
    /// What a packet takes on the line that the rate is that of, as CAKE's `overhead`.
    #[serde(default = "raw", skip_serializing_if = "is_raw")]
    pub overhead: Overhead,
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
