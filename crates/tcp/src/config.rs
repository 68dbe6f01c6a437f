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
        let Profile::Rfc = profile;
        let mss = Bytes(1460);
        TcpConfig {
            mss,
            // RFC 6928 §2: min(10 MSS, max(2 MSS, 14600)).
            initial_window: initial_window_rfc6928(mss),
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
            cwnd_validation: true,
            idle_restart: true,
            syn_retries: 6,
            time_wait: Span::from_millis(60_000),
            recovery: cc.recovery().unwrap_or(RecoveryKind::NewReno),
            cc,
        }
    }
}

/// RFC 6928 §2: min(10 MSS, max(2 MSS, 14600 B)).
pub fn initial_window_rfc6928(mss: Bytes) -> Bytes {
    (mss * 10).min((mss * 2).max(Bytes(14_600)))
}
