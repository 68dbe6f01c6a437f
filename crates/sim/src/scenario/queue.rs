//! The part of the schema that describes queues: a discipline and its parameters.

use schemars::{JsonSchema, Schema, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tcp::units::{Bytes, Span};

use super::tagged::tagged_enum;
use super::text::Amount;

tagged_enum! {
    /// A queue discipline. The packet in transmission is not in the queue.
    #[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
    #[schemars(transform = with_text_form)]
    pub enum Queue ("a queue", text: Queue::from_text) {
        /// First in, first out; what does not fit is dropped.
        "drop_tail" => DropTail(DropTailDef),
        /// Random early detection: drops or marks arrivals by the average length.
        "red" => Red(RedDef),
        /// Controlled delay: drops or marks at the head when the wait stays above a target.
        "codel" => Codel(CodelDef),
        /// A queue for each flow, served in turn, each under CoDel.
        "fq_codel" => FqCodel(FqCodelDef),
        /// Proportional integral controller: drops or marks arrivals with a probability that keeps the wait at a target.
        "pie" => Pie(PieDef),
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

    /// The same with nothing left to a profile.
    pub fn with_defaults(&self) -> Queue {
        match self {
            Queue::Red(red) => Queue::Red(red.with_defaults()),
            other => other.clone(),
        }
    }
}

/// DropTail.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DropTailDef {
    /// What may wait, in packets or bytes.
    pub limit: Amount,
    /// An ECN-capable packet that finds more than this many packets waiting is marked (the switch of DCTCP). Default: no
    /// marks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark_threshold: Option<u64>,
}

/// RED (Floyd, Jacobson 1993). What is left out takes the value of the profile.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RedDef {
    /// Whose defaults: `std` unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<RedProfile>,
    /// What may wait. `std` and `ns2`: 50 packets, `ns3`: 25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Amount>,
    /// Average length in packets from which some are dropped. `ns3`: 5; otherwise automatic, max(5, target_delay x packets
    /// per second / 2).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_threshold: Option<f64>,
    /// Average length at which `max_p` is reached. `ns3`: 15; otherwise automatic, 3 x min_threshold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_threshold: Option<f64>,
    /// Weight of the newest length in the average. `ns3`: 0.002; otherwise automatic, 1 - exp(-1 / packets in ten round
    /// trips), a round trip being max(100 ms, 3 x (delay of the link + one packet)).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// Drop probability at max_threshold. `ns3`: 0.02, otherwise 0.1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_p: Option<f64>,
    /// From max_threshold to twice that the probability rises to 1; otherwise it jumps. Default: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gentle: Option<bool>,
    /// A drop keeps the next one away for a while. Default: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait: Option<bool>,
    /// The drop probability is proportional to the size of the packet. `ns2`: true, otherwise false (RFC 7141 §2.1).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub byte_mode: Option<bool>,
    /// The length is counted in bytes / mean_packet, not in packets. `ns2`: true, otherwise false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_in_bytes: Option<bool>,
    /// Size for which rates and sizes stand. `std`: 1000 B, otherwise 500 B.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_packet: Option<Bytes>,
    /// Queueing delay that the automatic thresholds aim at. Default: 5 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_delay: Option<Span>,
    /// Marks ECN-capable packets instead of dropping them. Default: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<bool>,
    /// Above this drop probability ECN-capable packets are dropped too. Default: 0.1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark_p: Option<f64>,
    /// `max_p` follows the average (Floyd, Gummadi, Shenker 2001). Default: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adaptive: Option<bool>,
    /// How often it does. Default: 500 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Span>,
}

/// Whose defaults RED has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RedProfile {
    /// Automatic parameters, decisions by packets.
    #[default]
    Std,
    /// ns-2.35: automatic parameters, decisions by bytes of packets of 500 B.
    Ns2,
    /// ns-3: fixed parameters for slow links.
    Ns3,
}

impl RedDef {
    /// With the values of the profile, but for what is automatic.
    pub fn with_defaults(&self) -> RedDef {
        let profile = self.profile.unwrap_or_default();
        let (ns2, ns3) = (profile == RedProfile::Ns2, profile == RedProfile::Ns3);
        let only_ns3 = |value: f64| ns3.then_some(value);
        // A threshold without the other would be mixed with one of the profile.
        let own = self.min_threshold.is_some();
        RedDef {
            profile: Some(profile),
            limit: self.limit.or(Some(Amount::Packets(if ns3 { 25 } else { 50 }))),
            min_threshold: self.min_threshold.or(only_ns3(5.0)),
            max_threshold: self.max_threshold.or(only_ns3(15.0).filter(|_| !own)),
            weight: self.weight.or(only_ns3(0.002)),
            max_p: self.max_p.or(Some(if ns3 { 1.0 / 50.0 } else { 0.1 })),
            gentle: self.gentle.or(Some(true)),
            wait: self.wait.or(Some(true)),
            byte_mode: self.byte_mode.or(Some(ns2)),
            queue_in_bytes: self.queue_in_bytes.or(Some(ns2)),
            mean_packet: self.mean_packet.or(Some(Bytes(if profile == RedProfile::Std { 1000 } else { 500 }))),
            target_delay: self.target_delay.or(Some(Span::from_millis(5))),
            ecn: self.ecn.or(Some(false)),
            mark_p: self.mark_p.or(Some(0.1)),
            adaptive: self.adaptive.or(Some(false)),
            interval: self.interval.or(Some(Span::from_millis(500))),
        }
    }
}

/// CoDel (RFC 8289).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CodelDef {
    /// What may wait.
    pub limit: Amount,
    /// Wait that is acceptable as a standing one.
    pub target: Span,
    /// How long the wait may stay above it; about the longest round trip.
    pub interval: Span,
    /// A queue that holds no more than this is never too long.
    pub mtu: Bytes,
    /// Marks ECN-capable packets instead of dropping them.
    pub ecn: bool,
}

impl Default for CodelDef {
    fn default() -> CodelDef {
        CodelDef {
            limit: Amount::Packets(1000),
            target: Span::from_millis(5),
            interval: Span::from_millis(100),
            mtu: Bytes(1500),
            ecn: false,
        }
    }
}

/// FQ-CoDel (RFC 8290).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FqCodelDef {
    /// What may wait in all queues together.
    pub limit: Amount,
    /// Queues that flows are hashed into.
    pub queues: u64,
    /// What a queue may send in a round.
    pub quantum: Bytes,
    /// Wait that is acceptable as a standing one.
    pub target: Span,
    /// How long the wait may stay above it; about the longest round trip.
    pub interval: Span,
    /// A queue that holds no more than this is never too long.
    pub mtu: Bytes,
    /// Marks ECN-capable packets instead of dropping them.
    pub ecn: bool,
}

impl Default for FqCodelDef {
    fn default() -> FqCodelDef {
        let CodelDef { target, interval, mtu, .. } = CodelDef::default();
        let limit = Amount::Packets(10_240);
        FqCodelDef { limit, queues: 1024, quantum: Bytes(1514), target, interval, mtu, ecn: true }
    }
}

/// PIE (RFC 8033).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PieDef {
    /// What may wait.
    pub limit: Amount,
    /// Queueing delay to keep.
    pub target: Span,
    /// Distance of the updates of the drop probability.
    pub update: Span,
    /// Gain of the deviation from the target, per second.
    pub alpha: f64,
    /// Gain of the trend, per second.
    pub beta: f64,
    /// How long a burst after a quiet time passes untouched.
    pub max_burst: Span,
    /// Two packets of this size may always wait.
    pub mean_packet: Bytes,
    /// Marks ECN-capable packets instead of dropping them.
    pub ecn: bool,
    /// Above this drop probability ECN-capable packets are dropped too.
    pub mark_p: f64,
    /// Keeps drops apart from each other and bounds the gaps.
    pub derandomise: bool,
    /// Where the queueing delay comes from.
    pub estimator: DelayEstimator,
    /// Bytes over which the departure rate is measured, if the delay comes from there.
    pub departure_threshold: Bytes,
}

impl Default for PieDef {
    fn default() -> PieDef {
        PieDef {
            limit: Amount::Packets(1000),
            target: Span::from_millis(15),
            update: Span::from_millis(15),
            alpha: 0.125,
            beta: 1.25,
            max_burst: Span::from_millis(150),
            mean_packet: Bytes(1000),
            ecn: false,
            mark_p: 0.1,
            derandomise: false,
            estimator: DelayEstimator::Timestamps,
            departure_threshold: Bytes(16_384),
        }
    }
}

/// Where PIE's queueing delay comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DelayEstimator {
    /// The wait of the packet that left last.
    #[default]
    Timestamps,
    /// Bytes waiting / measured departure rate.
    DepartureRate,
}
