//! The part of the schema that describes PIE, alone and for each flow.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcp::units::{Bytes, Span};

use super::aqm::FlowHash;
use super::text::Amount;

/// PIE (RFC 8033).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PieDef {
    /// Profile of the defaults. Default: `rfc`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<PieProfile>,
    /// Limit of the queue.
    pub limit: Amount,
    /// Target queueing delay.
    pub target: Span,
    /// Update interval of the drop probability.
    pub update: Span,
    /// Gain of the deviation from the target, per second: what Linux's `tc` calls `alpha`, divided by 16.
    pub alpha: f64,
    /// Gain of the trend, per second: what Linux's `tc` calls `beta`, divided by 16.
    pub beta: f64,
    /// Burst allowance.
    pub max_burst: Span,
    /// A queue below two packets of this size is never dropped from. `rfc`: 1000 B, `linux`: 1514 B.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_packet: Option<Bytes>,
    /// Marks ECN-capable packets instead of dropping them.
    pub ecn: bool,
    /// Above this drop probability ECN-capable packets are dropped too.
    pub mark_p: f64,
    /// De-randomisation: keeps drops apart and bounds the gaps between them. `rfc`: false, `linux`: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub derandomise: Option<bool>,
    /// At a delay above this the probability grows by 0.02 more at each update. `rfc`: never, `linux`: 250 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_above: Option<Span>,
    /// Whose rules beyond the constants. Default: those of the profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<PieRules>,
    /// Estimator of the queueing delay.
    pub estimator: DelayEstimator,
    /// Bytes over which the departure rate is measured, with that estimator.
    pub departure_threshold: Bytes,
}

impl Default for PieDef {
    fn default() -> PieDef {
        PieDef {
            profile: None,
            limit: Amount::Packets(1000),
            target: Span::from_millis(15),
            update: Span::from_millis(15),
            alpha: 0.125,
            beta: 1.25,
            max_burst: Span::from_millis(150),
            mean_packet: None,
            ecn: false,
            mark_p: 0.1,
            derandomise: None,
            step_above: None,
            rules: None,
            estimator: DelayEstimator::Timestamps,
            departure_threshold: Bytes(16_384),
        }
    }
}

impl PieDef {
    /// With the values of the profile.
    pub fn with_defaults(&self) -> PieDef {
        let linux = self.profile == Some(PieProfile::Linux);
        PieDef {
            mean_packet: self.mean_packet.or(Some(Bytes(if linux { 1514 } else { 1000 }))),
            derandomise: self.derandomise.or(Some(linux)),
            step_above: self.step_above.or(linux.then(|| Span::from_millis(250))),
            rules: if linux {
                self.rules.or(Some(PieRules::Linux))
            } else {
                self.rules.filter(|r| *r != PieRules::Rfc8033)
            },
            ..self.clone()
        }
    }

    /// The size of two of which a queue keeps whatever the controller says, once the profile is filled in.
    pub fn mean_packet(&self) -> Bytes {
        self.mean_packet.expect("filled in from the profile")
    }
}

/// Profile of PIE's defaults.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PieProfile {
    /// RFC 8033.
    Rfc,
    /// Linux's `pie` and `fq_pie`.
    Linux,
}

/// Rules of PIE.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PieRules {
    /// Those of RFC 8033.
    Rfc8033,
    /// Those of cable modems (RFC 8034): probabilities in proportion to the size of the packet, `mean_packet` being the one of
    /// proportion 1; no decision until the queue has reached a third of its limit; a burst allowance after the first drop, not before.
    Docsis,
    /// Those of Linux (`pie_drop_early`, `pie_calculate_probability`): a queue of exactly two packets is dropped from; after two
    /// updates without delay the probability falls by 1/64, not by 2 %, and not while packets wait.
    Linux,
}

/// Estimator of PIE's queueing delay.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DelayEstimator {
    /// Sojourn time of the packet that left last.
    #[default]
    Timestamps,
    /// Queue length / measured departure rate.
    DepartureRate,
}

/// FQ-PIE (Linux 5.6 and later): a queue for each hashed flow, served as those of FQ-CoDel, each with PIE of RFC 8033.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FqPieDef {
    /// Profile of the defaults. Default: `rfc`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<PieProfile>,
    /// Limit of all queues together; an arrival beyond it is dropped.
    pub limit: Amount,
    /// Number of queues that flows are hashed into.
    pub flows: u64,
    /// Quantum of a queue in a round.
    pub quantum: Bytes,
    /// Target queueing delay of each queue.
    pub target: Span,
    /// Update interval of the drop probabilities.
    pub update: Span,
    /// Gain of the deviation from the target, per second: what Linux's `tc` calls `alpha`, divided by 16.
    pub alpha: f64,
    /// Gain of the trend, per second: what Linux's `tc` calls `beta`, divided by 16.
    pub beta: f64,
    /// Burst allowance of each queue.
    pub max_burst: Span,
    /// A flow's queue below two packets of this size is never dropped from. `rfc`: 1000 B, `linux`: 1514 B.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_packet: Option<Bytes>,
    /// Marks ECN-capable packets instead of dropping them.
    pub ecn: bool,
    /// Above this drop probability ECN-capable packets are dropped too (tc's `ecn_prob`, in percent).
    pub mark_p: f64,
    /// De-randomisation: keeps drops apart and bounds the gaps between them. `rfc`: false, `linux`: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub derandomise: Option<bool>,
    /// At a delay above this the probability grows by 0.02 more at each update. `rfc`: never, `linux`: 250 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_above: Option<Span>,
    /// Estimator of the queueing delay.
    pub estimator: DelayEstimator,
    /// Bytes over which the departure rate of a queue is measured, with that estimator.
    pub departure_threshold: Bytes,
    /// What flows are told apart by.
    pub hash: FlowHash,
}

impl Default for FqPieDef {
    fn default() -> FqPieDef {
        let PieDef { target, update, alpha, beta, max_burst, ecn, mark_p, estimator, departure_threshold, .. } =
            PieDef::default();
        FqPieDef {
            profile: None,
            limit: Amount::Packets(10_240),
            flows: 1024,
            quantum: Bytes(1514),
            target,
            update,
            alpha,
            beta,
            max_burst,
            mean_packet: None,
            ecn,
            mark_p,
            derandomise: None,
            step_above: None,
            estimator,
            departure_threshold,
            hash: FlowHash::Header,
        }
    }
}

impl FqPieDef {
    /// PIE as each queue has it.
    pub fn pie(&self) -> PieDef {
        PieDef {
            profile: self.profile,
            limit: self.limit,
            target: self.target,
            update: self.update,
            alpha: self.alpha,
            beta: self.beta,
            max_burst: self.max_burst,
            mean_packet: self.mean_packet,
            ecn: self.ecn,
            mark_p: self.mark_p,
            derandomise: self.derandomise,
            step_above: self.step_above,
            rules: None,
            estimator: self.estimator,
            departure_threshold: self.departure_threshold,
        }
    }

    /// With the values of the profile.
    pub fn with_defaults(&self) -> FqPieDef {
        let PieDef { mean_packet, derandomise, step_above, .. } = self.pie().with_defaults();
        FqPieDef { mean_packet, derandomise, step_above, ..self.clone() }
    }
}
