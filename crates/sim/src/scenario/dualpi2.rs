//! The part of the schema that describes the coupled dual queue of L4S.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcp::units::{Bytes, Span};

use super::tagged::tagged_enum;
use super::text::Amount;

/// The longest round trip that the gains of profile `rfc` are made for (RFC 9332, Appendix A.1).
const RTT_MAX: Span = Span::from_millis(100);

/// Linux spares what leaves fewer than two packets of the MTU behind. It counts 14 B of Ethernet with each, on both sides.
const BACKLOG_OF_LINUX: Bytes = Bytes(2 * 1500);

/// DualPI2 (RFC 9332). A key left out takes the value of the profile.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DualPi2Def {
    /// Profile of the defaults. Default: `linux`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<DualPi2Profile>,
    /// Limit of both queues together. `linux`: 10,000 packets; `rfc`: what the rate of the link carries in 250 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Amount>,
    /// Queueing delay that the controller keeps in the classic queue. Default: 15 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Span>,
    /// Interval of the controller. `linux`: 16 ms; `rfc`: the smaller of `target` and 33.3 ms, a third of the longest round
    /// trip.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update: Option<Span>,
    /// Gain of the deviation from the target, Hz, added once per update. `linux`: 41/256; `rfc`: 0.1 update / (100 ms)².
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// Gain of the trend, Hz, added once per update. `linux`: 819/256; `rfc`: 3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beta: Option<f64>,
    /// Coupling factor k: with the probability p' of the controller, L is marked with k p' and C with p'². Default: 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coupling: Option<f64>,
    /// The AQM of the low-latency queue itself. `linux`: a step at 1 ms; `rfc`: a ramp from 800 µs to 1200 µs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l_aqm: Option<LowAqm>,
    /// What goes to the low-latency queue. Default: `l4s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classify: Option<DualPi2Classify>,
    /// Which queue is served. Default: `wrr`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<DualPi2Scheduler>,
    /// The controller and a ramp neither mark nor drop a packet behind which fewer bytes wait. `linux`: 3000 B, two packets;
    /// `rfc`: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_backlog: Option<Bytes>,
    /// What happens when k p' exceeds 1. Default: `drop`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overload: Option<Overload>,
    /// When the coupled probability decides. Default: `dequeue`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drop_at: Option<DropAt>,
    /// How decisions are drawn. `linux`: `random`; `rfc`: `recur`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draws: Option<Draws>,
    /// The delay that the controller sees. `linux`: `max`; `rfc`: `classic`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<ControlledDelay>,
}

/// Profile of DualPI2's defaults.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DualPi2Profile {
    /// Linux 6.17 and later.
    #[default]
    Linux,
    /// RFC 9332, Appendix A.
    Rfc,
}

tagged_enum! {
    /// The AQM of the low-latency queue itself; beside it the queue is marked as the coupling says.
    #[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
    pub enum LowAqm ("an AQM of the low-latency queue") {
        /// Every packet is marked that waited longer than a threshold.
        "step" => Step(StepDef),
        /// The probability of a mark rises with how long the packet waited; the larger of this and of the coupled one counts.
        "ramp" => Ramp(RampDef),
    }
}

/// A step.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StepDef {
    /// Longest wait without a mark.
    pub threshold: Span,
    /// A packet that found fewer packets than this in the low-latency queue passes. `linux`: 0, `rfc`: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_packets: Option<u64>,
}

impl Default for StepDef {
    fn default() -> StepDef {
        StepDef { threshold: Span::from_millis(1), min_packets: None }
    }
}

/// A ramp.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RampDef {
    /// Longest wait at which nothing is marked.
    pub min: Span,
    /// From `min` to `min` + `range` the probability rises to 1.
    pub range: Span,
    /// A packet that found fewer packets than this in the low-latency queue passes. `linux`: 0, `rfc`: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_packets: Option<u64>,
}

impl Default for RampDef {
    fn default() -> RampDef {
        RampDef { min: Span::from_micros(800), range: Span::from_micros(400), min_packets: None }
    }
}

/// What goes to the low-latency queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DualPi2Classify {
    /// ECT(1) and CE (RFC 9331 §5.1).
    #[default]
    L4s,
    /// ECT(0) too.
    AnyEct,
}

tagged_enum! {
    /// Which queue is served.
    #[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
    pub enum DualPi2Scheduler ("a scheduler") {
        /// Weighted round robin by bytes.
        "wrr" => Wrr(WrrDef),
        /// First in, first out, with packets of the low-latency queue as if they had come earlier.
        "time_shifted" => TimeShifted(TimeShiftedDef),
    }
}

/// Weighted round robin.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WrrDef {
    /// Share of the bytes that the classic queue gets while both queues hold packets; with 0 it starves as long as the
    /// other holds any. `linux`: 0.1, `rfc`: 0.0625.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classic_share: Option<f64>,
}

/// Time-shifted first in, first out.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TimeShiftedDef {
    /// How much earlier.
    pub shift: Span,
}

impl Default for TimeShiftedDef {
    fn default() -> TimeShiftedDef {
        TimeShiftedDef { shift: Span::from_millis(50) }
    }
}

/// What happens when the probability of marks in the low-latency queue would exceed 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Overload {
    /// Both queues drop with the probability of the classic one, ECN-capable packets too.
    #[default]
    Drop,
    /// ECN-capable packets are never dropped: p' stays at 1/k at most, and the limit does the rest.
    Mark,
}

/// When the coupled probability decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DropAt {
    /// As a packet leaves the queue.
    #[default]
    Dequeue,
    /// As it comes; a ramp then goes by how long the head of the queue has waited.
    Enqueue,
}

/// How decisions are drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Draws {
    /// Independently.
    #[default]
    Random,
    /// At even distances: probabilities are added up, and each time the sum exceeds 1 a packet is chosen and 1 subtracted (RFC
    /// 9332, Appendix A.1).
    Recur,
}

/// The delay that the controller sees.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ControlledDelay {
    /// How long the head of either queue has waited, whichever is longer.
    #[default]
    Max,
    /// How long the head of the classic queue has waited.
    Classic,
}

impl DualPi2Def {
    /// With the values of the profile, but for a limit that depends on the rate of the link.
    pub fn with_defaults(&self) -> DualPi2Def {
        let profile = self.profile.unwrap_or_default();
        let rfc = profile == DualPi2Profile::Rfc;
        let target = self.target.unwrap_or(Span::from_millis(15));
        let own_update = if rfc { target.min(RTT_MAX / 3) } else { Span::from_millis(16) };
        let update = self.update.unwrap_or(own_update);
        // RFC 9332, Appendix A.1.
        let (alpha, beta) = if rfc {
            let rtt_max = RTT_MAX.as_secs_f64();
            (0.1 * update.as_secs_f64() / (rtt_max * rtt_max), 0.3 / rtt_max)
        } else {
            (41.0 / 256.0, 819.0 / 256.0)
        };
        DualPi2Def {
            profile: Some(profile),
            limit: self.limit.or((!rfc).then_some(Amount::Packets(10_000))),
            target: Some(target),
            update: Some(update),
            alpha: self.alpha.or(Some(alpha)),
            beta: self.beta.or(Some(beta)),
            coupling: self.coupling.or(Some(2.0)),
            l_aqm: Some(self.low_aqm(rfc)),
            classify: Some(self.classify.unwrap_or_default()),
            scheduler: Some(self.scheduler(rfc)),
            min_backlog: self.min_backlog.or(Some(if rfc { Bytes::ZERO } else { BACKLOG_OF_LINUX })),
            overload: Some(self.overload.unwrap_or_default()),
            drop_at: Some(self.drop_at.unwrap_or_default()),
            draws: self.draws.or(Some(if rfc { Draws::Recur } else { Draws::Random })),
            delay: self.delay.or(Some(if rfc { ControlledDelay::Classic } else { ControlledDelay::Max })),
        }
    }

    fn low_aqm(&self, rfc: bool) -> LowAqm {
        let default = || {
            if rfc { LowAqm::Ramp(RampDef::default()) } else { LowAqm::Step(StepDef::default()) }
        };
        let mut aqm = self.l_aqm.clone().unwrap_or_else(default);
        let (LowAqm::Step(StepDef { min_packets, .. }) | LowAqm::Ramp(RampDef { min_packets, .. })) = &mut aqm;
        *min_packets = min_packets.or(Some(u64::from(rfc)));
        aqm
    }

    fn scheduler(&self, rfc: bool) -> DualPi2Scheduler {
        match self.scheduler.clone().unwrap_or(DualPi2Scheduler::Wrr(WrrDef::default())) {
            DualPi2Scheduler::Wrr(WrrDef { classic_share }) => {
                DualPi2Scheduler::Wrr(WrrDef { classic_share: classic_share.or(Some(if rfc { 0.0625 } else { 0.1 })) })
            }
            shifted => shifted,
        }
    }
}
