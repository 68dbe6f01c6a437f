//! Settings of one endpoint, and the profiles: named sets of settings in their historical form.
//!
//! Every field has one reader. A run records all of them, resolved.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cc::Choice;
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
pub enum Descent {
    /// The reduced window holds at once: silence until the pipe has drained to it (RFC 6675).
    AtOnce,
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
pub enum RttEstimator {
    /// RFC 6298: four deviations; the minimum holds for the whole time-out.
    Rfc,
    /// Linux: the greatest deviation of a round, falling slowly; the minimum holds for that term alone.
    Linux,
}

/// Which settings a flow starts from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
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

impl Profile {
    /// As written in a scenario.
    pub fn name(self) -> &'static str {
        match self {
            Profile::Rfc => "rfc",
            Profile::Linux => "linux",
            Profile::Ns2 => "ns2",
            Profile::Ns3 => "ns3",
            Profile::Netsim12 => "netsim12",
        }
    }

    /// The profile of an algorithm that belongs to it, where there is one.
    pub fn of_algorithms(self) -> &'static str {
        match self {
            // The algorithms are known of one version alone.
            Profile::Netsim12 => "netsim",
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

/// Settings of one endpoint. Every size is in bytes of payload.
#[derive(Clone, PartialEq, Debug)]
pub struct TcpConfig {
    /// Largest payload of a segment. With timestamps 12 bytes more are advertised in the SYN.
    pub mss: Bytes,
    /// cwnd after the handshake (RFC 6928).
    pub initial_window: Bytes,
    /// ssthresh after the handshake; [`Bytes::MAX`] means "not set".
    pub initial_ssthresh: Bytes,
    /// Receive buffer: the most the advertised window can be.
    pub recv_buffer: Bytes,
    /// The window at first; each segment opens it by two, as far as the buffer or `recv_autotune` goes (Linux).
    /// [`Bytes::MAX`] opens it at once.
    pub initial_recv_window: Bytes,
    /// The window starts small and keeps ahead of what the application reads in an RTT (as Linux's tcp_moderate_rcvbuf).
    pub recv_autotune: bool,
    /// The application reads what arrives at once. If not, [`crate::Connection::read`] does.
    pub auto_read: bool,
    /// Unacknowledged and unsent data the endpoint accepts from its application.
    pub send_buffer: Bytes,
    /// The receiver's ACK policy.
    pub delayed_ack: DelayedAck,
    /// Bounds of the retransmission time-out.
    pub rto: RtoBounds,
    /// The estimator behind it.
    pub rtt_estimator: RttEstimator,
    /// Offer SACK (RFC 2018) with reports of duplicates (RFC 2883).
    pub sack: bool,
    /// Offer timestamps (RFC 7323).
    pub timestamps: bool,
    /// Offer window scaling (RFC 7323); without it no window exceeds 65535 B.
    pub window_scale: bool,
    /// Congestion marks.
    pub ecn: EcnMode,
    /// Duplicate ACKs, or segments reported beyond a gap, that mean loss (RFC 5681: 3).
    pub dup_thresh: u32,
    /// One new segment on each of the first two duplicate ACKs (RFC 3042).
    pub limited_transmit: bool,
    /// Of several partial ACKs only the first restarts the retransmission timer (RFC 6582 §3.2 step 3, "Impatient").
    pub impatient: bool,
    /// Probe for a lost tail before the time-out (RFC 8985 §7). Needs RACK and SACK.
    pub tlp: bool,
    /// Tell spurious time-outs by what is acknowledged after them (RFC 5682). Needs RACK.
    pub frto: bool,
    /// Take back a reduction that timestamps (RFC 3522) or duplicate reports (RFC 3708) show to be spurious. Needs RACK.
    pub undo: bool,
    /// A small segment waits while data is outstanding (RFC 1122 §4.2.3.4, with Minshall's refinement).
    pub nagle: bool,
    /// Spread transmissions over the RTT at twice, later 1.2 times, cwnd/srtt (Linux with internal pacing).
    pub pacing: bool,
    /// The window grows only while the sender uses it (RFC 7661's aim, by Linux's rule).
    pub cwnd_validation: bool,
    /// Segments that leave at one instant are packets for the network card, whose last segment has PSH (Linux); not with
    /// recovery by duplicate ACKs.
    pub bundles: bool,
    /// The window shrinks after silence (RFC 5681 §4.1).
    pub idle_restart: bool,
    /// SYN or SYN-ACK retransmissions before giving up.
    pub syn_retries: u32,
    /// How long the side that closed first remembers the connection (RFC 9293: 2 MSL).
    pub time_wait: Span,
    /// Loss detection and repair.
    pub recovery: RecoveryKind,
    /// The way down to the reduced window.
    pub descent: Descent,
    /// The congestion control and its parameters.
    pub cc: Choice,
    /// Where the random numbers of an algorithm that draws come from.
    pub seed: u64,
}

impl TcpConfig {
    /// The settings of a profile, with the congestion control in its form for that profile.
    pub fn of_profile(profile: Profile, cc: Choice) -> TcpConfig {
        match profile {
            Profile::Rfc => TcpConfig::rfc(cc),
            Profile::Linux => TcpConfig::linux(cc),
            Profile::Ns2 => TcpConfig::ns2(cc),
            Profile::Ns3 => TcpConfig::ns3(cc),
            Profile::Netsim12 => TcpConfig::netsim12(cc),
        }
    }

    fn rfc(cc: Choice) -> TcpConfig {
        let mss = Bytes(1460);
        let recovery = cc.recovery().unwrap_or(RecoveryKind::Rack);
        let ms = Span::from_millis;
        TcpConfig {
            mss,
            initial_window: initial_window(Profile::Rfc, mss),
            initial_ssthresh: Bytes::MAX,
            recv_buffer: Bytes(1 << 30),
            initial_recv_window: Bytes::MAX,
            recv_autotune: false,
            auto_read: true,
            send_buffer: Bytes::MAX,
            delayed_ack: DelayedAck { segments: 2, timeout: ms(200), quick: 0, compression: Span::ZERO, push: false },
            rto: RtoBounds { initial: ms(1000), min: ms(1000), max: ms(60_000), granularity: ms(1) },
            rtt_estimator: RttEstimator::Rfc,
            sack: recovery.uses_sack(),
            timestamps: false,
            window_scale: true,
            ecn: EcnMode::Off,
            dup_thresh: 3,
            limited_transmit: true,
            impatient: true,
            tlp: true,
            frto: true,
            undo: true,
            nagle: false,
            pacing: false,
            cwnd_validation: true,
            bundles: false,
            idle_restart: true,
            syn_retries: 6,
            time_wait: ms(60_000),
            recovery,
            descent: Descent::Prr,
            cc,
            seed: 0,
        }
    }

    fn linux(cc: Choice) -> TcpConfig {
        // An Ethernet frame less the headers and the 12 bytes of the timestamps option.
        let mss = Bytes(1448);
        let ms = Span::from_millis;
        let rfc = TcpConfig::rfc(cc);
        TcpConfig {
            mss,
            initial_window: initial_window(Profile::Linux, mss),
            // As the recorded receiver of 6.18: it never limits (3.3 MB were outstanding after 259 segments in order), and
            // while it opens, over 2,898 segments, each has an ACK of its own (docs/validation.md).
            recv_buffer: Bytes(1 << 24),
            initial_recv_window: Bytes((1 << 24) - 2_898 * 2 * mss.0),
            delayed_ack: DelayedAck { segments: 2, timeout: ms(40), quick: 16, compression: ms(1), push: true },
            rto: RtoBounds { min: ms(200), max: ms(120_000), ..rfc.rto },
            rtt_estimator: RttEstimator::Linux,
            timestamps: true,
            nagle: true,
            impatient: false,
            descent: Descent::LinuxPrr,
            bundles: true,
            ..rfc
        }
    }

    /// What the simulators share: no helpers of RACK, and a window that grows unused and outlasts silence.
    fn plain(cc: Choice, recovery: RecoveryKind) -> TcpConfig {
        let recovery = cc.recovery().unwrap_or(recovery);
        TcpConfig {
            sack: recovery.uses_sack(),
            tlp: false,
            frto: false,
            undo: false,
            cwnd_validation: false,
            idle_restart: false,
            recovery,
            ..TcpConfig::rfc(cc)
        }
    }

    fn ns2(cc: Choice) -> TcpConfig {
        let mss = Bytes(1000);
        let ms = Span::from_millis;
        let plain = TcpConfig::plain(cc, RecoveryKind::NewReno);
        TcpConfig {
            mss,
            initial_window: initial_window(Profile::Ns2, mss),
            // window_ 20: the sender never has more outstanding.
            initial_ssthresh: mss * 20,
            recv_buffer: mss * 20,
            delayed_ack: DelayedAck { segments: 1, ..plain.delayed_ack },
            rto: RtoBounds { initial: ms(3000), min: ms(200), max: ms(60_000), granularity: ms(10) },
            descent: Descent::RateHalving,
            ..plain
        }
    }

    fn ns3(cc: Choice) -> TcpConfig {
        let mss = Bytes(536);
        let plain = TcpConfig::plain(cc, RecoveryKind::Sack);
        TcpConfig {
            mss,
            initial_window: initial_window(Profile::Ns3, mss),
            recv_buffer: Bytes(131_072),
            send_buffer: Bytes(131_072),
            timestamps: true,
            ..plain
        }
    }

    fn netsim12(cc: Choice) -> TcpConfig {
        let mss = Bytes(1460);
        let plain = TcpConfig::plain(cc, RecoveryKind::Reno);
        TcpConfig {
            mss,
            initial_window: initial_window(Profile::Netsim12, mss),
            initial_ssthresh: Bytes(65_535),
            recv_buffer: Bytes(65_535),
            delayed_ack: DelayedAck { segments: 1, ..plain.delayed_ack },
            window_scale: false,
            syn_retries: 5,
            time_wait: Span::from_millis(120_000),
            ..plain
        }
    }
}

/// cwnd after the handshake.
pub fn initial_window(profile: Profile, mss: Bytes) -> Bytes {
    match profile {
        // RFC 6928 §2: min(10 MSS, max(2 MSS, 14600 B))
        Profile::Rfc => (mss * 10).min((mss * 2).max(Bytes(14_600))),
        Profile::Linux | Profile::Ns3 => mss * 10,
        Profile::Ns2 => mss * 2,
        Profile::Netsim12 => mss,
    }
}
