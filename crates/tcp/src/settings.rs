//! Enumerated settings (recovery, ECN, window reduction, RTT estimator, profile) and groups of them. Algorithms refer to
//! them, so they lie below `cc`; the settings of an endpoint are in [`crate::config`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{Bytes, Span};

/// Loss detection and recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RecoveryKind {
    /// Third duplicate ACK: go-back-N from `snd_una`, in slow start from one segment.
    Tahoe,
    /// Fast retransmit and fast recovery (RFC 5681 §3.2), which the first ACK of new data ends.
    Reno,
    /// Fast recovery that continues on partial ACKs (RFC 6582).
    NewReno,
    /// By the age of the oldest segment: a duplicate ACK retransmits it once it is older than the algorithm's own time-out, and
    /// the third does in any case; the next two ACKs check the oldest again. cwnd itself is the window (ns-2.35's Vegas).
    Vegas,
    /// SACK-based loss recovery (RFC 6675). Needs SACK; NewReno without.
    Sack,
    /// Time-based: a segment sent sufficiently before a delivered one is lost (RFC 8985). Without SACK as in Linux.
    Rack,
}

impl RecoveryKind {
    /// True if it uses SACK.
    pub fn uses_sack(self) -> bool {
        matches!(self, RecoveryKind::Sack | RecoveryKind::Rack)
    }
}

/// How cwnd comes down to ssthresh in recovery with SACK or RACK, and after an ECN echo.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CwndReductionKind {
    /// Immediately: nothing is sent until the pipe has drained to ssthresh (RFC 6675).
    Immediate,
    /// Proportional rate reduction, from the bytes in flight (RFC 9937).
    Prr,
    /// Proportional rate reduction from cwnd, as in Linux.
    LinuxPrr,
    /// Rate halving: one segment for every two delivered (Linux before 3.2, ns-2's TCP-Linux).
    RateHalving,
}

/// Whether the window of a sender grows that does not fill it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = with_truth_values)]
pub enum CwndValidation {
    /// It does not: it has to be full or, in slow start, more than half full (Linux's tcp_is_cwnd_limited).
    Linux,
    /// It does.
    None,
    /// It does, but not beyond what the largest FlightSize since the last reduction, acknowledged once, makes of itself
    /// (draft-ietf-ccwg-ratelimited-increase).
    RateLimited,
    /// It does while half of it is in use, and a loss reduces it to half of what is (RFC 7661).
    Rfc7661,
}

/// The other form, which serde's attributes cannot describe.
fn with_truth_values(schema: &mut schemars::Schema) {
    let flag = schemars::json_schema!({"type": "boolean", "description": "True means `linux`, false `none`."});
    if let Some(forms) = schema.get_mut("oneOf").and_then(|forms| forms.as_array_mut()) {
        forms.push(flag.to_value());
    }
}

/// Accepts the truth values of before there were other rules than Linux's.
impl<'de> Deserialize<'de> for CwndValidation {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<CwndValidation, D::Error> {
        struct Name;
        impl serde::de::Visitor<'_> for Name {
            type Value = CwndValidation;
            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.write_str("a text (linux, none, ratelimited, rfc7661), true or false")
            }
            fn visit_bool<E: serde::de::Error>(self, on: bool) -> Result<CwndValidation, E> {
                Ok(if on { CwndValidation::Linux } else { CwndValidation::None })
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<CwndValidation, E> {
                Ok(match text {
                    "linux" => CwndValidation::Linux,
                    "none" => CwndValidation::None,
                    "ratelimited" => CwndValidation::RateLimited,
                    "rfc7661" => CwndValidation::Rfc7661,
                    _ => return Err(E::unknown_variant(text, &["linux", "none", "ratelimited", "rfc7661"])),
                })
            }
        }
        d.deserialize_any(Name)
    }
}

/// What bounds the window that a receiver announces besides its buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReceiverControl {
    /// LEDBAT++ at the receiver (RFC 9840), which keeps the sender behind others, whatever its algorithm.
    Rledbat,
}

/// How a connection opens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpeningKind {
    /// The first data carry the ACK of the SYN-ACK, and after more than one SYN time-out the initial window is one segment
    /// (RFC 6928 §2).
    Rfc,
    /// The ACK of the SYN-ACK is a segment of its own, and the initial window is what it is (ns-3).
    BareAck,
}

/// How a receiver misleads the sender about what has arrived (Savage, Cardwell, Wetherall, Anderson 1999).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Misbehaviour {
    /// Each segment is acknowledged in so many ACKs, at equal steps of its bytes.
    AckDivision {
        /// ACKs for a segment.
        parts: u32,
    },
    /// Duplicates of the last ACK, without SACK, although nothing more has arrived.
    DupAckSpoofing {
        /// Duplicates at a time.
        copies: u32,
        /// Time between.
        every: Span,
    },
    /// Data is acknowledged before it arrives; what was lost is never asked for.
    Optimistic {
        /// How far ACKs are ahead of what has arrived.
        ahead: Bytes,
    },
}

/// Explicit congestion notification: what packets ask for and how marks are fed back.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EcnMode {
    /// Not ECN-capable.
    Off,
    /// ECE until CWR (RFC 3168).
    Classic,
    /// ECE follows the marks packet by packet (RFC 8257 §3.2).
    Dctcp,
    /// AccECN: counters of marked packets and bytes (RFC 9768).
    Accecn,
    /// AccECN with ECT(1) for L4S marking (RFC 9331 §4).
    L4s,
}

impl EcnMode {
    /// As written in a scenario.
    pub fn name(self) -> &'static str {
        match self {
            EcnMode::Off => "off",
            EcnMode::Classic => "classic",
            EcnMode::Dctcp => "dctcp",
            EcnMode::Accecn => "accecn",
            EcnMode::L4s => "l4s",
        }
    }

    /// True if marks say how much congestion there is, not only that there is some (RFC 8257, RFC 9331).
    pub(crate) fn is_proportionate(self) -> bool {
        matches!(self, EcnMode::Dctcp | EcnMode::L4s)
    }

    /// True if the feedback is AccECN's counters.
    pub fn is_accurate(self) -> bool {
        matches!(self, EcnMode::Accecn | EcnMode::L4s)
    }
}

/// Which segments carry AccECN's option (RFC 9768 §3.2.3), and whether its handshake is told by the first ACK too.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EcnOption {
    /// Pure ACKs; both ends know of each other that they send and read it.
    Acks,
    /// Every segment once the peer has sent it, and the SYN-ACK before (Linux: `tcp_ecn_option` 2), with RFC 9768's handshake.
    All,
    /// None, with RFC 9768's handshake.
    Off,
}

impl EcnOption {
    /// True with the handshake of RFC 9768 §3.1.4 and §3.2.2.1.
    pub(crate) fn has_handshake(self) -> bool {
        self != EcnOption::Acks
    }
}

/// The RTT estimator behind the retransmission time-out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RttAlgorithm {
    /// RFC 6298: SRTT + 4 RTTVAR; the minimum bounds the whole time-out.
    Rfc,
    /// Linux: the maximum deviation of a round, which decays slowly; the minimum bounds that term alone.
    Linux,
    /// RFC 6298 with the ages of timestamps, in whole milliseconds. Algorithms of congestion control get SRTT as the RTT (ns-3).
    #[serde(rename = "ns3")]
    Timestamps,
}

/// What the headers of TCP and IP add to the length of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Headers {
    /// 40 bytes and the options that the segment has.
    Options,
    /// 40 bytes, whatever options there are (ns-2: also its SYN).
    Plain,
    /// 40 bytes, with data 10 more for timestamps, without data 8 more for each SACK block (ns-2's TCP-Linux and its sinks).
    #[serde(rename = "ns2")]
    Fields,
    /// 40 bytes without data, none with data (ns-2's Vegas agents, whose packets are as long as `packetSize_`).
    Acks,
}

/// The profile of settings that an endpoint starts from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ProfileName {
    /// The RFCs' recommendations: SACK, RACK-TLP, PRR, F-RTO. `tahoe`, `reno` and `newreno` bring their own recovery.
    #[default]
    Rfc,
    /// Linux 6.x as recorded: docs/generated/validation.md says how close.
    Linux,
    /// The numbers of ns-2.35's one-way agents: fixed window, an ACK per segment, no SACK. Not its agent, which is `tcp.agent`.
    Ns2,
    /// ns-3.35: RFC 6675 with PRR, small buffers.
    Ns3,
    /// NetSim 12's dialog: 64 KiB window, an ACK per segment, no options.
    Netsim12,
}

impl ProfileName {
    /// As written in a scenario.
    pub fn name(self) -> &'static str {
        match self {
            ProfileName::Rfc => "rfc",
            ProfileName::Linux => "linux",
            ProfileName::Ns2 => "ns2",
            ProfileName::Ns3 => "ns3",
            ProfileName::Netsim12 => "netsim12",
        }
    }

    /// The name of the corresponding profile of an algorithm.
    pub fn of_algorithms(self) -> &'static str {
        match self {
            // The algorithms have one profile for all versions.
            ProfileName::Netsim12 => "netsim",
            other => other.name(),
        }
    }
}

/// The ACK policy of a receiver (RFC 9293 §3.8.6.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DelayedAck {
    /// Segments per ACK at most; 1 acknowledges each immediately.
    pub segments: u32,
    /// Maximum delay of an ACK after the first unacknowledged segment.
    pub timeout: Span,
    /// Linux's quick ACKs: at most this many at the start, after a duplicate and after a long idle period are not delayed, nor
    /// is the ACK of a segment that opened the window further; zero delays them all.
    pub quick: u32,
    /// The first segment of data is acknowledged immediately (ns-3).
    pub first: bool,
    /// Linux's SACK compression: duplicate ACKs after the third are held back for at most this long and at most a twentieth
    /// of the RTT, or until a block comes that neither of the two latest takes in; zero sends each immediately (RFC 5681 §4.2).
    pub compression: Span,
    /// The end of a write (PSH, or a shorter segment) is acknowledged immediately; a FIN is delayed like data (Linux).
    pub push: bool,
    /// Linux's interactive mode: once data has been sent within `timeout` of what arrived, ACKs wait for more such data.
    pub interactive: bool,
}

impl DelayedAck {
    /// At least every second segment, within 0.5 s (RFC 5681 §4.2), and nothing of Linux.
    pub const RFC: DelayedAck = DelayedAck {
        segments: 2,
        timeout: Span::from_millis(200),
        quick: 0,
        first: false,
        compression: Span::ZERO,
        push: false,
        interactive: false,
    };
}

/// Bounds of the retransmission time-out (RFC 6298).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RtoBounds {
    /// RTO before the first RTT sample.
    pub initial: Span,
    /// Minimum RTO; with Linux's estimator the minimum of the variance term.
    pub min: Span,
    /// Maximum RTO.
    pub max: Span,
    /// Clock granularity G: the minimum variance term; with Linux's estimator the RTO is a multiple of it.
    pub granularity: Span,
}

/// The initial window of a profile.
pub fn initial_window(profile: ProfileName, mss: Bytes) -> Bytes {
    match profile {
        // RFC 6928 §2: min(10 MSS, max(2 MSS, 14600 B))
        ProfileName::Rfc => (mss * 10).min((mss * 2).max(Bytes(14_600))),
        ProfileName::Linux | ProfileName::Ns3 => mss * 10,
        ProfileName::Ns2 => mss * 2,
        ProfileName::Netsim12 => mss,
    }
}
