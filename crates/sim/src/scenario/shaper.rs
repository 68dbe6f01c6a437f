//! The part of the schema that describes shapers with classes, and rates of shapers that change.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcp::units::{Bytes, Rate, Span};

use super::cake::Overhead;
use super::dscp::Dscp;
use super::queue::Queue;
use super::text::Amount;

/// A rate of a shaper from a time on.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateChangeAt {
    /// Time of the change.
    pub at: Span,
    /// New rate.
    pub rate: Rate,
}

/// Hierarchical token buckets: a shaper with classes that lend to one another (Linux, sch_htb).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HtbDef {
    /// The classes, 1 to 256, each behind its parent. A packet goes to the first of those without children whose conditions
    /// (`hosts`, `dscp`, `flows`, `workloads`) all hold, else to the last.
    pub classes: Vec<HtbClassDef>,
    /// What a packet takes on the line that the rates are those of, as CAKE's `overhead`.
    #[serde(default = "raw", skip_serializing_if = "is_raw")]
    pub overhead: Overhead,
    /// Time between its wake-ups (a timer, a softirq), while it holds packets back: they leave at its multiples. Default: exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wake: Option<Span>,
}

pub(super) fn raw() -> Overhead {
    Overhead::Raw
}

pub(super) fn is_raw(overhead: &Overhead) -> bool {
    *overhead == Overhead::Raw
}

/// A class of `htb`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HtbClassDef {
    /// Its name, unique in the queue.
    pub name: String,
    /// The class that lends to it. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Rate that it has in any case.
    pub rate: Rate,
    /// Rate that it has at most, with what its parent lends. Default: `rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<Rate>,
    /// Bytes that may pass at once above `rate`. Default: 1600 B.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<Bytes>,
    /// Bytes that may pass at once above `ceiling`. Default: 1600 B.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceiling_burst: Option<Bytes>,
    /// Of classes that may send or borrow on one level, those of the lowest number go first, 0 to 7. Default: 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// Bytes that it sends in its turn among equals. Default: what `rate` carries in 0.1 s, from 1000 B to 200 kB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantum: Option<Bytes>,
    /// Packets from or to these nodes: names, in which `*` stands for any letters and `?` for one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// Packets with these code points.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dscp: Vec<Dscp>,
    /// Packets of these flows, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<String>,
    /// Packets of the flows of these workloads, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workloads: Vec<String>,
    /// Its queue; any discipline. Default: `"1000p"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<Box<Queue>>,
    /// Rates from given times on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ClassChangeAt>,
    /// The nodes of `hosts`, and the groups of `flows` and `workloads`; the assembly finds them.
    #[serde(skip)]
    pub(crate) bound: BoundClass,
}

/// What the names of a class stand for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct BoundClass {
    /// Nodes, by index.
    pub(crate) nodes: Vec<u32>,
    /// Groups of flows.
    pub(crate) groups: Vec<u16>,
}

/// Rates of a class from a time on.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassChangeAt {
    /// Time of the change.
    pub at: Span,
    /// New rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// New ceiling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<Rate>,
}

impl HtbDef {
    /// With the values that the scenario leaves out: those of `tc`, whose bursts are its `mtu` where timers are exact, and whose
    /// `r2q` is 10.
    pub fn with_defaults(&self) -> HtbDef {
        let class = |class: &HtbClassDef| {
            let is_leaf = self.is_leaf(class);
            let quantum = Bytes((class.rate.as_bps() / 80).clamp(1000, 200_000));
            let queue = || Box::new(Queue::drop_tail(Amount::Packets(1000)));
            HtbClassDef {
                ceiling: class.ceiling.or(Some(class.rate)),
                burst: class.burst.or(Some(Bytes(1600))),
                ceiling_burst: class.ceiling_burst.or(Some(Bytes(1600))),
                priority: class.priority.or(is_leaf.then_some(0)),
                quantum: class.quantum.or(is_leaf.then_some(quantum)),
                queue: class.queue.clone().or(is_leaf.then(queue)).map(|queue| Box::new(queue.with_defaults())),
                ..class.clone()
            }
        };
        HtbDef { classes: self.classes.iter().map(class).collect(), ..self.clone() }
    }

    /// True for a class without children.
    pub fn is_leaf(&self, class: &HtbClassDef) -> bool {
        !self.classes.iter().any(|other| other.parent.as_ref() == Some(&class.name))
    }

    /// The place of a class's parent in the list.
    pub fn parent_of(&self, class: &HtbClassDef) -> Option<usize> {
        let parent = class.parent.as_ref()?;
        self.classes.iter().position(|other| other.name == *parent)
    }
}

impl HtbClassDef {
    /// True if it takes some packets only.
    pub fn has_conditions(&self) -> bool {
        !(self.hosts.is_empty() && self.dscp.is_empty() && self.flows.is_empty() && self.workloads.is_empty())
    }
}
