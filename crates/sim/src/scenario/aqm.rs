//! The part of the schema that describes active queue management by length or delay: RED, CHOKe, CoDel, COBALT and FQ-CoDel.

use std::ops::Index;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcp::units::{Bytes, Rate, Span};

use super::dscp::CeSelector;
use super::profiles::Row;
use super::text::Amount;

/// RED (Floyd, Jacobson 1993). A key left out takes the value of the profile.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RedDef {
    /// Profile of the defaults. Default: `std`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<RedProfile>,
    /// Limit of the queue. `std` and `ns2`: 50 packets, `ns3`: 25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Amount>,
    /// Average length in packets above which packets are dropped with a probability. `ns3`: 5; otherwise automatic,
    /// max(5, target_delay x packets per second / 2).
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
    /// Spread drops evenly: none for a number of packets after a drop. Default: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait: Option<bool>,
    /// The drop probability is proportional to the size of the packet. `ns2`: true, otherwise false (RFC 7141 §2.1).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub byte_mode: Option<bool>,
    /// The length is counted in bytes / mean_packet, not in packets. `ns2`: true, otherwise false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_in_bytes: Option<bool>,
    /// Mean packet size, for rates and lengths in packets. `std`: 1000 B, otherwise 500 B.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_packet: Option<Bytes>,
    /// Target queueing delay of the automatic thresholds. Default: 5 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_delay: Option<Span>,
    /// Marks ECN-capable packets instead of dropping them. Default: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<bool>,
    /// Above this drop probability ECN-capable packets are dropped too. Default: 0.1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark_p: Option<f64>,
    /// Above the last threshold ECN-capable packets are dropped too; Linux marks them. Default: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hard_drop: Option<bool>,
    /// `max_p` follows the average (Floyd, Gummadi, Shenker 2001). Default: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adaptive: Option<bool>,
    /// Interval of these adaptations. Default: 500 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Span>,
}

/// Profile of RED's defaults.
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

impl<T> Index<RedProfile> for Row<T> {
    type Output = T;

    fn index(&self, profile: RedProfile) -> &T {
        match profile {
            RedProfile::Std => &self.0[0],
            RedProfile::Ns2 => &self.0[1],
            RedProfile::Ns3 => &self.0[2],
        }
    }
}

/// RED where its definition does not say; thresholds and weight are automatic where there are none.
struct RedTable {
    limit: Row<u64>,
    min_threshold: Row<Option<f64>>,
    max_threshold: Row<Option<f64>>,
    weight: Row<Option<f64>>,
    max_p: Row<f64>,
    byte_mode: Row<bool>,
    queue_in_bytes: Row<bool>,
    mean_packet: Row<Bytes>,
}

const RED: RedTable = RedTable {
    limit: Row([50, 50, 25]),
    min_threshold: Row([None, None, Some(5.0)]),
    max_threshold: Row([None, None, Some(15.0)]),
    weight: Row([None, None, Some(0.002)]),
    max_p: Row([0.1, 0.1, 1.0 / 50.0]),
    byte_mode: Row([false, true, false]),
    queue_in_bytes: Row([false, true, false]),
    mean_packet: Row([Bytes(1000), Bytes(500), Bytes(500)]),
};

impl RedDef {
    /// With the values of the profile, but for what is automatic.
    pub fn with_defaults(&self) -> RedDef {
        let profile = self.profile.unwrap_or_default();
        // A threshold without the other would be mixed with one of the profile.
        let own = self.min_threshold.is_some();
        RedDef {
            profile: Some(profile),
            limit: self.limit.or(Some(Amount::Packets(RED.limit[profile]))),
            min_threshold: self.min_threshold.or(RED.min_threshold[profile]),
            max_threshold: self.max_threshold.or(RED.max_threshold[profile].filter(|_| !own)),
            weight: self.weight.or(RED.weight[profile]),
            max_p: self.max_p.or(Some(RED.max_p[profile])),
            gentle: self.gentle.or(Some(true)),
            wait: self.wait.or(Some(true)),
            byte_mode: self.byte_mode.or(Some(RED.byte_mode[profile])),
            queue_in_bytes: self.queue_in_bytes.or(Some(RED.queue_in_bytes[profile])),
            mean_packet: self.mean_packet.or(Some(RED.mean_packet[profile])),
            target_delay: self.target_delay.or(Some(Span::from_millis(5))),
            ecn: self.ecn.or(Some(false)),
            mark_p: self.mark_p.or(Some(0.1)),
            hard_drop: self.hard_drop.or(Some(true)),
            adaptive: self.adaptive.or(Some(false)),
            interval: self.interval.or(Some(Span::from_millis(500))),
        }
    }
}

impl RedDef {
    /// Bytes that wait at which profile `ns2` refuses arrivals: with `queue_in_bytes_`, which is its default, `limit_` stands for
    /// as many packets of `mean_pktsize_` (ns-2.35, red.cc, `enque`).
    pub fn full_at(&self) -> Option<f64> {
        let Some(Amount::Packets(packets)) = self.limit else { return None };
        let mean =
            self.mean_packet.filter(|_| self.profile == Some(RedProfile::Ns2) && self.queue_in_bytes == Some(true))?;
        Some(mean.as_f64() * packets as f64)
    }

    /// Both thresholds before a transmitter of this rate, in packets: what is left out is automatic.
    pub fn thresholds(&self, rate: Rate) -> [f64; 2] {
        let def = self.with_defaults();
        let [mean_packet, target] = def.automatic();
        let packets_per_second = rate.as_bps() as f64 / (8.0 * mean_packet);
        let min = def.min_threshold.unwrap_or_else(|| f64::max(5.0, target * packets_per_second / 2.0));
        [min, def.max_threshold.unwrap_or(3.0 * min)]
    }

    /// What automatic values are made from: the mean packet in bytes, the target delay in seconds.
    pub fn automatic(&self) -> [f64; 2] {
        let (def, given) = (self.with_defaults(), "filled in from the profile");
        [def.mean_packet.expect(given).as_f64(), def.target_delay.expect(given).as_secs_f64()]
    }
}

/// CoDel (RFC 8289).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CodelDef {
    /// Limit of the queue.
    pub limit: Amount,
    /// Acceptable standing queueing delay (TARGET).
    pub target: Span,
    /// Time that the delay may stay above it (INTERVAL); about the longest RTT.
    pub interval: Span,
    /// A queue of at most this size is never dropped from.
    pub mtu: Bytes,
    /// Marks ECN-capable packets instead of dropping them.
    pub ecn: bool,
    /// An ECN-capable packet that waited longer than this is marked, whatever the control law says. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ce_threshold: Option<Span>,
    /// Of these only packets with ECT(1), `"ect1"`, or with a DSCP, such as `"EF"`. Default: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ce_threshold_selector: Option<CeSelector>,
    /// How 1 / sqrt(count) of the control law is computed.
    pub inverse_sqrt: InverseSqrt,
}

impl Default for CodelDef {
    fn default() -> CodelDef {
        CodelDef {
            limit: Amount::Packets(1000),
            target: Span::from_millis(5),
            interval: Span::from_millis(100),
            mtu: Bytes(1500),
            ecn: false,
            ce_threshold: None,
            ce_threshold_selector: None,
            inverse_sqrt: InverseSqrt::Exact,
        }
    }
}

/// CHOKe (Pan, Prabhakar, Psounis 2000): RED that also compares each arrival with a packet drawn from the queue, and drops both if
/// they are of one flow.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ChokeDef {
    /// Limit of the queue.
    pub limit: Amount,
    /// Average length in packets above which arrivals are compared, and dropped or marked with a probability.
    pub min_threshold: f64,
    /// Average length at which `max_p` is reached; above it every arrival is dropped or marked.
    pub max_threshold: f64,
    /// Drop probability at max_threshold.
    pub max_p: f64,
    /// Weight of the newest length in the average. Default: automatic, as RED's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// Mean packet size, by which the average fades while the link is idle.
    pub mean_packet: Bytes,
    /// Marks ECN-capable packets instead of dropping them, unless they are of the flow of the packet drawn.
    pub ecn: bool,
    /// Above max_threshold ECN-capable packets are dropped too.
    pub hard_drop: bool,
}

impl Default for ChokeDef {
    fn default() -> ChokeDef {
        ChokeDef {
            limit: Amount::Packets(300),
            min_threshold: 20.0,
            max_threshold: 60.0,
            max_p: 0.1,
            weight: None,
            mean_packet: Bytes(1000),
            ecn: false,
            hard_drop: false,
        }
    }
}

impl ChokeDef {
    /// The RED inside it, which neither is gentle nor waits after a drop and marks whatever the probability, as in Linux.
    pub fn red(&self) -> RedDef {
        RedDef {
            limit: Some(self.limit),
            min_threshold: Some(self.min_threshold),
            max_threshold: Some(self.max_threshold),
            max_p: Some(self.max_p),
            weight: self.weight,
            mean_packet: Some(self.mean_packet),
            gentle: Some(false),
            wait: Some(false),
            ecn: Some(self.ecn),
            mark_p: Some(1.0),
            hard_drop: Some(self.hard_drop),
            ..RedDef::default()
        }
    }
}

/// COBALT, CAKE's control of a queue, alone: CoDel that goes back step by step, and BLUE for flows that do not answer.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CobaltDef {
    /// Limit of the queue; an arrival beyond it is dropped, and BLUE's probability rises.
    pub limit: Amount,
    /// Acceptable standing queueing delay.
    pub target: Span,
    /// Time that the delay may stay above it; about the longest RTT.
    pub interval: Span,
    /// Marks ECN-capable packets instead of dropping them. BLUE drops them all the same.
    pub ecn: bool,
}

impl Default for CobaltDef {
    fn default() -> CobaltDef {
        let CodelDef { limit, target, interval, .. } = CodelDef::default();
        CobaltDef { limit, target, interval, ecn: true }
    }
}

/// How CoDel computes 1 / sqrt(count).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InverseSqrt {
    /// Exactly (RFC 8289).
    #[default]
    Exact,
    /// One step of Newton's method for each drop, as in Linux: the second drop follows after interval / 2, not interval / sqrt(2).
    Newton,
}

/// The queues that a guard counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Backlog {
    /// That of the packet.
    Own,
    /// All.
    All,
}

/// What the hash of a flow is computed from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FlowHash {
    /// Addresses and ports: a flow keeps its queue.
    #[default]
    Header,
    /// A number that the sender's stack draws for each connection, and anew at each retransmission time-out, as Linux does: what
    /// a queue sees on the sender itself, or behind virtual links.
    Sender,
}

/// FQ-CoDel (RFC 8290).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FqCodelDef {
    /// Limit of all queues together.
    pub limit: Amount,
    /// Memory of what waits in all queues, counted as Linux does: a packet with its buffer, 2304 B for one of 1500 B.
    pub memory_limit: Bytes,
    /// Number of queues that flows are hashed into.
    pub queues: u64,
    /// Quantum of a queue in a round.
    pub quantum: Bytes,
    /// Acceptable standing queueing delay (TARGET).
    pub target: Span,
    /// Time that the delay may stay above it (INTERVAL); about the longest RTT.
    pub interval: Span,
    /// A queue of at most this size is never dropped from.
    pub mtu: Bytes,
    /// Marks ECN-capable packets instead of dropping them.
    pub ecn: bool,
    /// Queue of the device below, first in, first out: packets leave the discipline for it while it has room, as in Linux and
    /// ns-3 (there 100 packets). Default: none, the discipline serves the transmitter itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<Amount>,
    /// An ECN-capable packet that waited longer than this is marked, whatever the control law says. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ce_threshold: Option<Span>,
    /// Of these only packets with ECT(1), `"ect1"`, or with a DSCP, such as `"EF"`. Default: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ce_threshold_selector: Option<CeSelector>,
    /// How 1 / sqrt(count) of the control law is computed.
    pub inverse_sqrt: InverseSqrt,
    /// What must exceed `mtu` for a drop: what waits in all queues, as Linux counts it, or in the packet's own (RFC 8289 §5.4).
    pub guarded: Backlog,
    /// What flows are told apart by.
    pub hash: FlowHash,
}

impl Default for FqCodelDef {
    fn default() -> FqCodelDef {
        let CodelDef { target, interval, mtu, ce_threshold, inverse_sqrt, .. } = CodelDef::default();
        FqCodelDef {
            limit: Amount::Packets(10_240),
            memory_limit: Bytes(32 << 20),
            queues: 1024,
            quantum: Bytes(1514),
            target,
            interval,
            mtu,
            ecn: true,
            ce_threshold,
            ce_threshold_selector: None,
            inverse_sqrt,
            guarded: Backlog::All,
            hash: FlowHash::Header,
            device: None,
        }
    }
}
