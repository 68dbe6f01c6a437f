//! The closed sets of settings: recovery, congestion marks, the way down, RTT estimator, profiles; and bounds that belong
//! together. An algorithm may ask for one, so they lie below `cc`; a whole endpoint's are in [`crate::config`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{Bytes, Span};

/// How losses are detected and repaired.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RecoveryKind {
    /// Third duplicate ACK: everything from `snd_una` is sent again, from one segment.
    Tahoe,
    /// Fast retransmit and fast recovery (RFC 5681 §3.2), left at the first ACK of new data.
    Reno,
    /// Fast recovery that survives partial ACKs (RFC 6582).
    NewReno,
    /// By the age of the oldest segment: a duplicate ACK sends it again once it is older than the algorithm's own time-out, or
    /// on the third; the next two ACKs look at the oldest again. cwnd itself is the window (ns-2.35's Vegas).
    Vegas,
    /// By what the receiver reports beyond the gap (RFC 6675). Needs SACK; NewReno without.
    Sack,
    /// By time: what was sent before something that has arrived is lost (RFC 8985). Without SACK as Linux does it.
    Rack,
}

impl RecoveryKind {
    /// True if it makes use of SACK.
    pub fn uses_sack(self) -> bool {
        matches!(self, RecoveryKind::Sack | RecoveryKind::Rack)
    }
}

/// How the sender comes down to the reduced window in recovery with SACK or RACK, and after an ECN echo.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CwndReductionKind {
    /// The reduced window holds at once: silence until the pipe has drained to it (RFC 6675).
    Immediate,
    /// In proportion to what arrives, counted from the flight (RFC 9937).
    Prr,
    /// The same counted from cwnd, as Linux does.
    LinuxPrr,
    /// One segment for two that arrive (Linux before 3.2, ns-2's TCP-Linux).
    RateHalving,
}

/// How congestion marks are asked for and echoed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EcnMode {
    /// Packets are not ECN-capable.
    Off,
    /// The echo stands until the sender says that it has reduced its window (RFC 3168).
    Classic,
    /// The echo follows the marks packet by packet (RFC 8257 §3.2).
    Dctcp,
    /// Counters of marked packets and bytes (RFC 9768).
    Accecn,
    /// The same, with packets that ask for marks of the L4S kind: ECT(1) (RFC 9331 §4).
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

    /// True if what is echoed are counters.
    pub(crate) fn is_accurate(self) -> bool {
        matches!(self, EcnMode::Accecn | EcnMode::L4s)
    }
}

/// The estimator behind the retransmission time-out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RttAlgorithm {
    /// RFC 6298: four deviations; the minimum holds for the whole time-out.
    Rfc,
    /// Linux: the greatest deviation of a round, falling slowly; the minimum holds for that term alone.
    Linux,
}

/// Which settings a flow starts from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ProfileName {
    /// What the RFCs ask for: SACK, RACK-TLP, PRR, F-RTO. `tahoe`, `reno` and `newreno` bring their own recovery.
    #[default]
    Rfc,
    /// Linux 6.x as recorded: docs/validation.md says how close.
    Linux,
    /// ns-2.35's one-way agents: fixed window, an ACK per segment, no SACK.
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

    /// The profile of an algorithm that belongs to it, where there is one.
    pub fn of_algorithms(self) -> &'static str {
        match self {
            // The algorithms are known of one version alone.
            ProfileName::Netsim12 => "netsim",
            other => other.name(),
        }
    }
}

/// When a receiver acknowledges (RFC 9293 §3.8.6.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DelayedAck {
    /// An ACK leaves at the latest with this many segments; 1 acknowledges each at once.
    pub segments: u32,
    /// An ACK leaves at the latest this long after the first unacknowledged segment.
    pub timeout: Span,
    /// Linux's quick ACKs: so many at the start, after a duplicate and after a long silence are not delayed, and no ACK
    /// of a segment with which the window grew; zero delays them all.
    pub quick: u32,
    /// While there is a gap and three duplicate ACKs have left, further ones wait for one another at most this long and
    /// at most a twentieth of the RTT (Linux's SACK compression); zero sends each at once (RFC 5681 §4.2).
    pub compression: Span,
    /// What ends a write, told by PSH or its length, is acknowledged when it is read; the FIN waits as data does (Linux).
    pub push: bool,
}

/// Bounds of the retransmission time-out (RFC 6298).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RtoBounds {
    /// Before the first RTT sample.
    pub initial: Span,
    /// Never shorter than this; with Linux's estimator the least variance term.
    pub min: Span,
    /// Back-off stops here.
    pub max: Span,
    /// Clock granularity G: the least variance term; with Linux's estimator the time-out is a multiple of it.
    pub granularity: Span,
}

/// cwnd after the handshake.
pub fn initial_window(profile: ProfileName, mss: Bytes) -> Bytes {
    match profile {
        // RFC 6928 §2: min(10 MSS, max(2 MSS, 14600 B))
        ProfileName::Rfc => (mss * 10).min((mss * 2).max(Bytes(14_600))),
        ProfileName::Linux | ProfileName::Ns3 => mss * 10,
        ProfileName::Ns2 => mss * 2,
        ProfileName::Netsim12 => mss,
    }
}
