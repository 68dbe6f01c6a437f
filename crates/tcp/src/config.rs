//! Settings of one endpoint, and the profiles: named sets of settings in their historical form.
//!
//! Every field has one reader. A run records all of them, resolved.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cc::Choice;
use crate::units::{Bytes, Span};

/// How losses are detected and repaired (algorithms.md §7.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RecoveryKind {
    /// Third duplicate ACK: everything from `snd_una` is sent again, from one segment.
    Tahoe,
    /// Fast retransmit and fast recovery (RFC 5681 §3.2), left at the first ACK of new data.
    Reno,
    /// Fast recovery that survives partial ACKs (RFC 6582).
    NewReno,
}

/// Which settings a flow starts from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// What the RFCs ask for, without SACK and timestamps.
    #[default]
    Rfc,
    /// Linux's values for what is modelled: MSS 1448, delayed ACK 40 ms, RTO from 200 ms to 120 s, the algorithm in its
    /// `linux` form. Loss recovery is NewReno's, as with net.ipv4.tcp_sack = 0: SACK, RACK and PRR are not modelled yet.
    Linux,
}

impl Profile {
    /// As written in a scenario.
    pub fn name(self) -> &'static str {
        match self {
            Profile::Rfc => "rfc",
            Profile::Linux => "linux",
        }
    }
}

/// When a receiver acknowledges in-order data (RFC 9293 §3.8.6.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DelayedAck {
    /// An ACK leaves at the latest with this many segments; 1 acknowledges each at once.
    pub segments: u32,
    /// An ACK leaves at the latest this long after the first unacknowledged segment.
    pub timeout: Span,
}

/// Bounds of the retransmission time-out (RFC 6298).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RtoBounds {
    /// Before the first RTT sample.
    pub initial: Span,
    /// Never shorter than this.
    pub min: Span,
    /// Back-off stops here.
    pub max: Span,
    /// Clock granularity G: the least variance term.
    pub granularity: Span,
}

/// Settings of one endpoint. Every size is in bytes of payload.
#[derive(Clone, PartialEq, Debug)]
pub struct TcpConfig {
    /// Largest payload of a segment.
    pub mss: Bytes,
    /// cwnd after the handshake (RFC 6928).
    pub initial_window: Bytes,
    /// ssthresh after the handshake; [`Bytes::MAX`] means "not set".
    pub initial_ssthresh: Bytes,
    /// Receive buffer, all of it advertised. The application reads at once, so the window never shrinks.
    pub recv_buffer: Bytes,
    /// Unacknowledged and unsent data the endpoint accepts from its application.
    pub send_buffer: Bytes,
    /// The receiver's ACK policy.
    pub delayed_ack: DelayedAck,
    /// Bounds of the retransmission time-out.
    pub rto: RtoBounds,
    /// Duplicate ACKs that mean loss (RFC 5681: 3).
    pub dup_thresh: u32,
    /// One new segment on each of the first two duplicate ACKs (RFC 3042).
    pub limited_transmit: bool,
    /// Of several partial ACKs only the first restarts the retransmission timer (RFC 6582 §3.2 step 3, "Impatient").
    pub impatient: bool,
    /// The window grows only while the sender uses it (RFC 7661's aim, by Linux's rule; algorithms.md §7.5).
    pub cwnd_validation: bool,
    /// The window shrinks after silence (RFC 5681 §4.1).
    pub idle_restart: bool,
    /// SYN or SYN-ACK retransmissions before giving up.
    pub syn_retries: u32,
    /// How long the side that closed first remembers the connection (RFC 9293: 2 MSL).
    pub time_wait: Span,
    /// Loss detection and repair.
    pub recovery: RecoveryKind,
    /// The congestion control and its parameters.
    pub cc: Choice,
}

impl TcpConfig {
    /// The settings of a profile, with the congestion control in its form for that profile.
    pub fn of_profile(profile: Profile, cc: Choice) -> TcpConfig {
        let rfc = TcpConfig::rfc(cc);
        let ms = Span::from_millis;
        match profile {
            Profile::Rfc => rfc,
            Profile::Linux => TcpConfig {
                // An Ethernet frame less the headers and the 12 bytes of the timestamp option.
                mss: Bytes(1448),
                initial_window: initial_window(profile, Bytes(1448)),
                delayed_ack: DelayedAck { segments: 2, timeout: ms(40) },
                rto: RtoBounds { min: ms(200), max: ms(120_000), ..rfc.rto },
                impatient: false,
                ..rfc
            },
        }
    }

    fn rfc(cc: Choice) -> TcpConfig {
        let mss = Bytes(1460);
        TcpConfig {
            mss,
            initial_window: initial_window(Profile::Rfc, mss),
            initial_ssthresh: Bytes::MAX,
            recv_buffer: Bytes(1 << 30),
            send_buffer: Bytes::MAX,
            delayed_ack: DelayedAck { segments: 2, timeout: Span::from_millis(200) },
            rto: RtoBounds {
                initial: Span::from_millis(1000),
                min: Span::from_millis(1000),
                max: Span::from_millis(60_000),
                granularity: Span::from_millis(1),
            },
            dup_thresh: 3,
            limited_transmit: true,
            impatient: true,
            cwnd_validation: true,
            idle_restart: true,
            syn_retries: 6,
            time_wait: Span::from_millis(60_000),
            recovery: cc.recovery().unwrap_or(RecoveryKind::NewReno),
            cc,
        }
    }
}

/// cwnd after the handshake.
pub fn initial_window(profile: Profile, mss: Bytes) -> Bytes {
    match profile {
        // RFC 6928 §2: min(10 MSS, max(2 MSS, 14600 B))
        Profile::Rfc => (mss * 10).min((mss * 2).max(Bytes(14_600))),
        Profile::Linux => mss * 10,
    }
}
