//! What disciplines report of the queues inside them, beside what every link reports.

use std::collections::BTreeMap;

use serde::Serialize;
use tcp::units::{Bytes, Span};

use super::{Qdisc, QueueContext};
use crate::ids::NodeId;
use crate::metrics::Delays;

/// The report of a discipline with several queues. Marks and drops cover the whole run, as those of links; everything else the
/// measurement interval.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum QueueReport {
    /// Of DualPI2.
    DualPi2(Box<DualPi2Report>),
    /// Of CAKE.
    Cake {
        /// Its tins.
        tins: Vec<TinReport>,
        /// Most memory in use, packets with their buffers.
        memory_max_bytes: u64,
    },
    /// Of FQ-CoDel and FQ-PIE.
    FqCodel(FqCodelReport),
    /// Of CHOKe.
    Choke {
        /// Arrivals that were dropped with a packet of their flow.
        matched: u64,
    },
    /// Of hierarchical token buckets.
    Htb {
        /// Their classes.
        classes: Vec<HtbClassReport>,
    },
    /// Of strict priority.
    Priority {
        /// Its bands.
        bands: Vec<BandReport>,
    },
}

/// DualPI2: the low-latency queue L, the classic queue C, and the controller.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct DualPi2Report {
    /// Packets that left L for the transmitter.
    pub l_packets: u64,
    /// Their bytes.
    pub l_bytes: u64,
    /// Mean queueing delay in L.
    pub l_delay_mean_s: Option<f64>,
    /// Its median.
    pub l_delay_p50_s: Option<f64>,
    /// Its 99th percentile.
    pub l_delay_p99_s: Option<f64>,
    /// The greatest.
    pub l_delay_max_s: Option<f64>,
    /// Packets dropped from L or before it.
    pub l_drops: u64,
    /// Packets that left C for the transmitter.
    pub c_packets: u64,
    /// Their bytes.
    pub c_bytes: u64,
    /// Mean queueing delay in C.
    pub c_delay_mean_s: Option<f64>,
    /// Its median.
    pub c_delay_p50_s: Option<f64>,
    /// Its 99th percentile.
    pub c_delay_p99_s: Option<f64>,
    /// The greatest.
    pub c_delay_max_s: Option<f64>,
    /// Packets dropped from C or before it.
    pub c_drops: u64,
    /// Marks by the AQM of L itself, a step or a ramp.
    pub marks_step: u64,
    /// Marks in L by the coupling.
    pub marks_coupled: u64,
    /// Marks in C.
    pub marks_classic: u64,
    /// Packets dropped by the controller, of both queues.
    pub drops_aqm: u64,
    /// Packets dropped at the limit, of both queues.
    pub drops_queue: u64,
    /// Mean of p' over time.
    pub p_mean: Option<f64>,
    /// Its greatest value.
    pub p_max: f64,
    /// Time in which k p' exceeded 1.
    pub overload_s: f64,
}

/// FQ-CoDel and FQ-PIE, as `tc -s` has them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct FqCodelReport {
    /// How often a queue became active and joined the new ones.
    pub new_flow_count: u64,
    /// Most queues on the list of the new ones at once.
    pub new_flows_max: u64,
    /// Most queues on the list of the old ones at once.
    pub old_flows_max: u64,
    /// Packets that found a packet of another flow in their queue.
    pub collided_packets: u64,
    /// Most memory in use, packets with their buffers.
    pub memory_max_bytes: u64,
    /// Largest backlog.
    pub backlog_max_bytes: u64,
}

/// A tin of CAKE.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TinReport {
    /// Its name.
    pub tin: &'static str,
    /// Packets that left it for the transmitter.
    pub sent: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Mean queueing delay.
    pub delay_mean_s: Option<f64>,
    /// Its median.
    pub delay_p50_s: Option<f64>,
    /// Its 99th percentile.
    pub delay_p99_s: Option<f64>,
    /// The greatest.
    pub delay_max_s: Option<f64>,
    /// Packets dropped by COBALT or at the limit of memory.
    pub drops: u64,
    /// Packets marked.
    pub marks: u64,
    /// ACKs that the filter dropped.
    pub ack_drops: u64,
    /// Packets whose queue was found beside the place of their hash.
    pub way_hits: u64,
    /// Packets that took a queue that nobody used.
    pub way_misses: u64,
    /// Packets that share a queue of others: their set was full.
    pub way_collisions: u64,
    /// Most flows that were sparse at once.
    pub sparse_max: u64,
    /// Most flows that were not.
    pub bulk_max: u64,
    /// COBALT's target.
    pub target_s: f64,
    /// COBALT's interval.
    pub interval_s: f64,
}

/// A class of hierarchical token buckets. Of one with children all counts but the last two are 0.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct HtbClassReport {
    /// Its name.
    pub class: String,
    /// Packets that left it for the transmitter.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Mean queueing delay.
    pub delay_mean_s: Option<f64>,
    /// Its median.
    pub delay_p50_s: Option<f64>,
    /// Its 99th percentile.
    pub delay_p99_s: Option<f64>,
    /// The greatest.
    pub delay_max_s: Option<f64>,
    /// Packets dropped in the class, whatever the reason.
    pub drops: u64,
    /// Packets marked in the class.
    pub marks: u64,
    /// Packets that it sent, or its descendants, within its own rate.
    pub lent: u64,
    /// Packets that it sent, or its descendants, at the cost of a class above it.
    pub borrowed: u64,
    /// What its own queue reports.
    #[serde(flatten)]
    pub queue: Option<QueueReport>,
}

/// A band of strict priority.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct BandReport {
    /// Packets that left it for the transmitter.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Mean queueing delay.
    pub delay_mean_s: Option<f64>,
    /// Its median.
    pub delay_p50_s: Option<f64>,
    /// Its 99th percentile.
    pub delay_p99_s: Option<f64>,
    /// The greatest.
    pub delay_max_s: Option<f64>,
    /// Packets dropped in the band, whatever the reason.
    pub drops: u64,
    /// Packets marked in the band.
    pub marks: u64,
    /// What its own queue reports.
    #[serde(flatten)]
    pub queue: Option<QueueReport>,
}

/// Bytes that left CAKE for the transmitter in the measurement interval, by the nodes that send and receive them.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct HostBytes {
    pub(crate) by_source: BTreeMap<NodeId, Bytes>,
    pub(crate) by_destination: BTreeMap<NodeId, Bytes>,
}

impl HostBytes {
    /// A packet of `size` leaves.
    pub(super) fn on_departure(&mut self, [source, destination]: [NodeId; 2], size: Bytes) {
        *self.by_source.entry(source).or_default() += size;
        *self.by_destination.entry(destination).or_default() += size;
    }
}

/// Counts of one of the queues inside a discipline.
#[derive(Clone, Debug, Default)]
pub(super) struct ClassCounts {
    pub(super) packets: u64,
    pub(super) bytes: Bytes,
    pub(super) delays: Delays,
    /// Over the whole run.
    pub(super) drops: u64,
    /// Over the whole run.
    pub(super) marks: u64,
}

impl ClassCounts {
    /// Lets the queue of a class act, and counts what it drops and marks.
    pub(super) fn of_act<T>(
        &mut self,
        queue: &mut Qdisc,
        ctx: &mut QueueContext<'_>,
        action: impl FnOnce(&mut Qdisc, &mut QueueContext<'_>) -> T,
    ) -> T {
        let before = ctx.drops_and_marks();
        let result = action(queue, ctx);
        let after = ctx.drops_and_marks();
        self.drops += after[0] - before[0];
        self.marks += after[1] - before[1];
        result
    }

    /// A packet leaves for the transmitter.
    pub(super) fn on_departure(&mut self, size: Bytes, waited: Span) {
        self.packets += 1;
        self.bytes += size;
        self.delays.add(waited);
    }

    /// The measurement interval begins.
    pub(super) fn on_warmup_end(&mut self) {
        *self = ClassCounts { drops: self.drops, marks: self.marks, ..ClassCounts::default() };
    }

    /// Mean, median, 99th percentile and greatest queueing delay, in seconds.
    pub(super) fn delays_s(&self) -> [Option<f64>; 4] {
        let delays = &self.delays;
        [delays.mean_s(), delays.quantile_s(0.5), delays.quantile_s(0.99), delays.max_s()]
    }
}

/// What series show of a queue at an instant, as far as its discipline has it.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct QueueSample {
    /// Probability of its controller: p' of DualPI2, that of a drop of PIE.
    pub(crate) p: Option<f64>,
    /// Probability of a mark in L of DualPI2.
    pub(crate) p_low: Option<f64>,
    /// Bytes in L.
    pub(crate) low: Option<Bytes>,
    /// Bytes in C.
    pub(crate) classic: Option<Bytes>,
}
