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

/// A controller that sets the rate of a shaper by delay and load, as cake-autorate 3; the names of its keys are in parentheses. `rate` of
/// the shaper is where it begins and what it returns to without load (base_shaper_rate).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AutorateDef {
    /// Name of the flow whose one-way delays it measures: datagrams at a constant rate through the shaper, 20 a second there. It knows a
    /// delay when the datagram arrives.
    pub probe: String,
    /// The lowest rate (min_shaper_rate).
    pub min_rate: Rate,
    /// The highest (max_shaper_rate).
    pub max_rate: Rate,
    /// A probe that takes so much longer than the baseline is late (owd_delta_delay_thr).
    #[serde(default = "millis::<30>")]
    pub delay_threshold: Span,
    /// Up to this mean of the window the rate rises fastest (avg_owd_delta_max_adjust_up_thr).
    #[serde(default = "millis::<10>")]
    pub up_threshold: Span,
    /// From this mean on it falls fastest (avg_owd_delta_max_adjust_down_thr).
    #[serde(default = "millis::<60>")]
    pub down_threshold: Span,
    /// Probes looked at (bufferbloat_detection_window).
    #[serde(default = "six")]
    pub window: u32,
    /// So many of them have to be late (bufferbloat_detection_thr).
    #[serde(default = "three")]
    pub delayed: u32,
    /// Weight of a longer delay in the baseline (alpha_baseline_increase).
    #[serde(default = "slowly")]
    pub baseline_increase: f64,
    /// Weight of a shorter one (alpha_baseline_decrease).
    #[serde(default = "quickly")]
    pub baseline_decrease: f64,
    /// Factors of the rate when probes are late, the mildest and the strongest (shaper_rate_min_adjust_down_bufferbloat, …_max_…).
    #[serde(default = "down")]
    pub down: [f64; 2],
    /// Factors under load, the least and the greatest (shaper_rate_min_adjust_up_load_high, …_max_…).
    #[serde(default = "up")]
    pub up: [f64; 2],
    /// Factors without load, from above and from below (shaper_rate_adjust_down_load_low, …_up_…).
    #[serde(default = "decay")]
    pub decay: [f64; 2],
    /// Load is high above this part of the rate (high_load_thr).
    #[serde(default = "three_quarters")]
    pub high_load: f64,
    /// Rest after a reduction (bufferbloat_refractory_period).
    #[serde(default = "millis::<300>")]
    pub refractory: Span,
    /// Time between two steps without load (decay_refractory_period).
    #[serde(default = "millis::<1000>")]
    pub decay_refractory: Span,
    /// Interval in which load is measured (monitor_achieved_rates_interval).
    #[serde(default = "millis::<200>")]
    pub monitor: Span,
    /// The flow of `probe`; the assembly finds it.
    #[serde(skip)]
    pub(crate) bound: Option<u32>,
}

fn millis<const MS: u64>() -> Span {
    Span::from_millis(MS)
}

fn six() -> u32 {
    6
}

fn three() -> u32 {
    3
}

fn slowly() -> f64 {
    0.001
}

fn quickly() -> f64 {
    0.9
}

fn down() -> [f64; 2] {
    [0.99, 0.75]
}

fn up() -> [f64; 2] {
    [1.0, 1.04]
}

fn decay() -> [f64; 2] {
    [0.99, 1.01]
}

fn three_quarters() -> f64 {
    0.75
}
