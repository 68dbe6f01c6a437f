//! Settings of one endpoint, and the profiles: named sets of settings in their historical form.
//!
//! Every field has one reader. A run records all of them, resolved.

use crate::cc::{CcConfig, StartConfig};
use crate::compat::Agent;
mod profiles;

use crate::settings::{
    CwndReductionKind, CwndValidation, DelayedAck, EcnMode, EcnOption, Headers, Misbehaviour, OpeningKind,
    ReceiverControl, RecoveryKind, RtoBounds, RttAlgorithm,
};
use crate::units::{Bytes, Span};

/// Settings of one endpoint. Every size is in bytes of payload.
#[derive(Clone, PartialEq, Debug)]
pub struct TcpConfig {
    /// Largest payload of a segment. With timestamps 12 bytes more are offered in the SYN, for data if the peer refuses them.
    pub mss: Bytes,
    /// cwnd after the handshake (RFC 6928).
    pub initial_window: Bytes,
    /// ssthresh after the handshake; [`Bytes::MAX`] means "not set".
    pub initial_ssthresh: Bytes,
    /// How slow start grows and ends, instead of the algorithm's own way.
    pub start: Option<StartConfig>,
    /// cwnd grows no more once it has reached this (Linux's snd_cwnd_clamp); [`Bytes::MAX`]: it always may.
    pub cwnd_clamp: Bytes,
    /// Receive buffer: upper bound of the advertised window.
    pub recv_buffer: Bytes,
    /// Initial receive window; each segment opens it by two, up to the buffer (Linux's rcv_ssthresh).
    /// [`Bytes::MAX`]: open from the start.
    pub initial_recv_window: Bytes,
    /// The buffer starts small and grows to twice what the application reads in an RTT (Linux's tcp_moderate_rcvbuf).
    pub recv_autotune: bool,
    /// What bounds the window that it announces besides the buffer.
    pub receiver_control: Option<ReceiverControl>,
    /// Data is read as soon as it arrives in order; otherwise by [`crate::Connection::read`].
    pub auto_read: bool,
    /// With `auto_read`: the application reads all that there is, and then not again for this long; 0: whenever something arrives.
    pub read_interval: Span,
    /// Send buffer: unacknowledged and unsent data accepted from the application.
    pub send_buffer: Bytes,
    /// An application that found the send buffer full writes again once a third of it is free (Linux, `sk_stream_is_writeable`), not as soon
    /// as anything is.
    pub writes_by_thirds: bool,
    /// The receiver's ACK policy.
    pub delayed_ack: DelayedAck,
    /// Bounds of the retransmission time-out.
    pub rto: RtoBounds,
    /// The RTT estimator behind it.
    pub rtt_estimator: RttAlgorithm,
    /// Offer SACK (RFC 2018) with DSACK (RFC 2883).
    pub sack: bool,
    /// Offer timestamps (RFC 7323).
    pub timestamps: bool,
    /// Offer window scaling (RFC 7323); without it no window exceeds 65535 B.
    pub window_scale: bool,
    /// Explicit congestion notification.
    pub ecn: EcnMode,
    /// Which segments carry AccECN's option.
    pub ecn_option: EcnOption,
    /// With mode `dctcp` SYN, SYN-ACK and pure ACKs are ECN-capable too (Linux: `tcp_ca_needs_ecn`).
    pub ecn_of_control: bool,
    /// DupThresh: duplicate ACKs, or segments SACKed beyond a gap, that signal loss (RFC 5681, RFC 6675: 3).
    pub dup_thresh: u32,
    /// One new segment on each of the first two duplicate ACKs (RFC 3042).
    pub limited_transmit: bool,
    /// Of several partial ACKs only the first restarts the retransmission timer (RFC 6582 §3.2 step 3, "Impatient").
    pub impatient: bool,
    /// Probe for a lost tail before the time-out (RFC 8985 §7). Needs RACK and SACK.
    pub tlp: bool,
    /// F-RTO: detect spurious time-outs by the ACKs that follow them (RFC 5682). Needs RACK.
    pub frto: bool,
    /// Undo a reduction that timestamps (RFC 3522) or DSACK (RFC 3708) show to be spurious. Needs RACK.
    pub undo: bool,
    /// Nagle's algorithm: hold back a small segment while data is outstanding (RFC 1122 §4.2.3.4, with Minshall's
    /// modification).
    pub nagle: bool,
    /// Pace at 2 cwnd/srtt in slow start, then 1.2 cwnd/srtt (Linux with internal pacing).
    pub pacing: bool,
    /// Whether the window of a sender grows that does not fill it.
    pub cwnd_validation: CwndValidation,
    /// Segments sent in one burst form TSO packets, whose last segment has PSH (Linux); not with recovery by duplicate ACKs.
    pub tso_psh: bool,
    /// Such a packet waits up to a millisecond for an ACK that makes it larger (Linux); with `tso_psh`.
    pub tso_defer: bool,
    /// Such a packet takes what it lacks from the next buffer of unsent data (Linux since 6.10); with `tso_psh`.
    pub tso_fill: bool,
    /// cwnd shrinks after an idle period (RFC 5681 §4.1).
    pub slow_start_after_idle: bool,
    /// SYN or SYN-ACK retransmissions before giving up.
    pub syn_retries: u32,
    /// After so many time-outs of a SYN the next is as long as the first; they do not count as retries
    /// (tcp_syn_linear_timeouts of Linux since 6.5).
    pub syn_linear_timeouts: u32,
    /// How a connection opens.
    pub opening: OpeningKind,
    /// R2 (RFC 9293 §3.8.3): a connection is given up after the time that so many retransmissions take, and after so many
    /// probes of a closed window that nothing answers; 0: never.
    pub retries2: u32,
    /// User time-out (RFC 9293 §3.8.3), from the first retransmission or probe on; 0: none.
    pub user_timeout: Span,
    /// Open by SYN and SYN-ACK. Without, both ends are established from the first segment on and know each other's settings.
    pub handshake: bool,
    /// The sender is an agent of another simulator; otherwise one of the house.
    pub agent: Option<Agent>,
    /// Length of TIME-WAIT (RFC 9293: 2 MSL).
    pub time_wait: Span,
    /// Loss detection and repair.
    pub recovery: RecoveryKind,
    /// How cwnd comes down to ssthresh.
    pub cwnd_reduction: CwndReductionKind,
    /// What the receiver does against the rules, if anything.
    pub misbehaviour: Option<Misbehaviour>,
    /// The congestion control and its parameters.
    pub cc: CcConfig,
    /// Seed of an algorithm's random numbers.
    pub seed: u64,
}

impl TcpConfig {
    /// Every write is filled up to a multiple of this.
    pub fn write_unit(&self) -> Bytes {
        if self.agent.is_some_and(|agent| agent.whole_segments) { self.mss } else { Bytes(1) }
    }

    /// A window that is configured, of a connection whose segments hold `mss`: another size keeps its number of segments.
    pub(crate) fn in_segments_of(&self, mss: Bytes, window: Bytes) -> Bytes {
        if mss == self.mss { window } else { mss * (window.0 / self.mss.0).max(1) }
    }

    /// What headers add to the length of a packet.
    pub fn headers(&self) -> Headers {
        self.agent.map_or(Headers::Options, |agent| agent.headers)
    }
}
