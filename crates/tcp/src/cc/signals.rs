//! The signals that the sender passes to an algorithm: its state, ACKs, transmissions, losses, congestion.

use crate::seq::SeqNo;
use crate::units::{Bytes, Rate, Span, Time};

/// The sender's congestion state (Linux's names).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum State {
    /// No sign of loss or congestion.
    #[default]
    Open,
    /// Duplicate ACKs or SACKs, fewer than signal loss.
    Disorder,
    /// cwnd reduction after an ECN echo, a tail loss that the probe repaired, or at the algorithm's request; nothing is
    /// retransmitted.
    Cwr,
    /// Fast recovery.
    Recovery,
    /// After a time-out (or Tahoe's third duplicate ACK): slow start with retransmissions.
    Loss,
}

impl State {
    /// True while cwnd is being reduced and must not grow.
    pub fn in_cwnd_reduction(self) -> bool {
        matches!(self, State::Cwr | State::Recovery)
    }
}

/// The sender's variables, passed to every method.
#[derive(Clone, Copy, Debug, Default)]
pub struct View {
    /// Current time.
    pub now: Time,
    /// Largest payload of a segment.
    pub mss: Bytes,
    /// The sender's congestion state.
    pub state: State,
    /// SND.UNA: oldest unacknowledged sequence number.
    pub snd_una: SeqNo,
    /// SND.NXT: next sequence number to send.
    pub snd_nxt: SeqNo,
    /// FlightSize (RFC 5681): sent and not cumulatively acknowledged.
    pub flight: Bytes,
    /// Estimate of the data in the network (RFC 6675 pipe).
    pub pipe: Bytes,
    /// Receive window advertised by the peer.
    pub rwnd: Bytes,
    /// SRTT, once there is a sample.
    pub srtt: Option<Span>,
    /// RTTVAR.
    pub rttvar: Span,
    /// Minimum RTT so far.
    pub min_rtt: Option<Span>,
    /// Current retransmission time-out.
    pub rto: Span,
    /// Outstanding data marked lost, retransmitted or not.
    pub lost: Bytes,
    /// Retransmissions in the network.
    pub retransmitted: Bytes,
    /// Total marked lost since the start; a segment counts each time.
    pub lost_total: Bytes,
    /// Total delivered since the start, acknowledged cumulatively or selectively.
    pub delivered: Bytes,
    /// The part of `delivered` that was CE-marked.
    pub delivered_ce: Bytes,
    /// Packet-timed rounds since the start.
    pub round: u64,
    /// This ACK began a round.
    pub round_start: bool,
    /// cwnd, rather than the application or the receiver, limits the sender (Linux's rule).
    pub cwnd_limited: bool,
    /// The application limits the sender: the data in the network does not fill cwnd.
    pub app_limited: bool,
    /// Pacing releases nothing before this time.
    pub paced_until: Time,
    /// cwnd is to shrink after an idle period.
    pub slow_start_after_idle: bool,
    /// Classic growth is allowed: no reduction is in progress and, with cwnd validation, cwnd limits the sender.
    pub may_grow: bool,
}

/// What one ACK acknowledged and reported.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ack {
    /// Newly delivered bytes, acknowledged cumulatively or selectively. Without SACK: bytes cumulatively acknowledged that
    /// were in the network; data marked lost by a time-out that turns out to have arrived earlier is excluded, since it
    /// says nothing about the path now.
    pub acked: Bytes,
    /// `acked` in segments.
    pub acked_segments: u32,
    /// Segments acknowledged cumulatively, whether SACKed before or not.
    pub cumulative_segments: u32,
    /// Bytes newly marked lost on this ACK.
    pub lost: Bytes,
    /// Number of this duplicate ACK in its series; 0 if it is not a duplicate.
    pub duplicate: u32,
    /// Partial ACK: it advanced `snd_una`, but not to the recovery point.
    pub partial: bool,
    /// RTT of the segments it acknowledges; absent if one of them was retransmitted (Karn).
    pub rtt: Option<RttSample>,
    /// Age of the timestamp that it echoes, whatever it acknowledges; few agents give it, and not of duplicates.
    pub echoed: Option<Span>,
    /// One-way delay from sender to receiver up to a constant, by timestamps: to a millisecond, including the ACK delay.
    pub one_way: Option<Span>,
    /// FlightSize before the ACK.
    pub prior_flight: Bytes,
    /// Pipe before the ACK.
    pub prior_pipe: Bytes,
    /// ECN echo: the ACK reports congestion.
    pub echo: bool,
    /// The part of `acked` that was CE-marked.
    pub ce: Bytes,
    /// Delivery-rate sample, if anything was newly delivered.
    pub rate: Option<RateSample>,
}

/// RTTs of the segments that one ACK acknowledges.
#[derive(Clone, Copy, Debug)]
pub struct RttSample {
    /// Of the segment sent last: excludes the ACK delay.
    pub latest: Span,
    /// Of the segment sent first: includes the ACK delay.
    pub oldest: Span,
}

/// A sample of the delivery rate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RateSample {
    /// Delivery rate over the interval; absent if the interval is shorter than the minimum RTT and thus not valid.
    pub rate: Option<Rate>,
    /// Bytes delivered between the transmission of the newest delivered segment and now.
    pub delivered: Bytes,
    /// Total delivered when that segment was sent.
    pub prior_delivered: Bytes,
    /// The longer of the send interval and the ACK interval.
    pub interval: Span,
    /// When the newest delivered segment was sent.
    pub sent_at: Time,
    /// Pipe including it at that time.
    pub tx_in_flight: Bytes,
    /// Bytes marked lost since.
    pub lost: Bytes,
    /// The sender was application-limited at some time in the interval.
    pub app_limited: bool,
}

/// A segment is sent.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// Current time.
    pub now: Time,
    /// Sequence number of its first byte.
    pub seq: SeqNo,
    /// Payload bytes.
    pub bytes: Bytes,
    /// Pipe including it.
    pub pipe: Bytes,
    /// It is a retransmission.
    pub retransmission: bool,
}

impl Ack {
    /// Whether it carries information: the acknowledgment field of data segments to an endpoint that sends nothing does not.
    pub fn says_something(&self) -> bool {
        self.prior_flight != Bytes::ZERO || self.acked != Bytes::ZERO || self.echo
    }
}

/// A segment is marked lost.
#[derive(Clone, Copy, Debug)]
pub struct Lost {
    /// Sequence number of its first byte.
    pub seq: SeqNo,
    /// Payload bytes.
    pub bytes: Bytes,
    /// When it was last sent.
    pub sent_at: Time,
    /// Pipe including it when it was sent.
    pub tx_in_flight: Bytes,
    /// Bytes marked lost between its transmission and now, including it.
    pub lost_since: Bytes,
    /// The sender was application-limited when it was sent.
    pub app_limited: bool,
}

/// The oldest outstanding segment.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    /// When it was last sent.
    pub sent_at: Time,
    /// Number of transmissions.
    pub transmissions: u32,
}

/// The cause of a congestion episode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// Duplicate ACKs (RFC 5681 §3.2).
    DupAck,
    /// SACK blocks beyond a gap (RFC 6675).
    Sack,
    /// Delivery of a segment sent sufficiently later (RFC 8985).
    Rack,
    /// A tail loss that the loss probe repaired (RFC 8985 §7.4).
    Tlp,
    /// The oldest segment exceeds the algorithm's own time-out (Vegas).
    HeadTimeout,
    /// An ECN echo (RFC 3168).
    Ecn,
    /// A request of the algorithm ([`super::CongestionControl::wants_reduction`]).
    Algorithm,
    /// Expiry of the retransmission timer (RFC 6298).
    Timeout,
}

impl Cause {
    /// As algorithms in Python and logs have it.
    pub fn name(self) -> &'static str {
        match self {
            Cause::DupAck => "dup_ack",
            Cause::Sack => "sack",
            Cause::Rack => "rack",
            Cause::Tlp => "tlp",
            Cause::HeadTimeout => "head_timeout",
            Cause::Ecn => "ecn",
            Cause::Algorithm => "algorithm",
            Cause::Timeout => "timeout",
        }
    }
}

/// A congestion episode begins.
#[derive(Clone, Copy, Debug)]
pub struct Congestion {
    /// Its cause.
    pub cause: Cause,
    /// The sender's state before it.
    pub state_before: State,
    /// FlightSize without the segments of limited transmit (RFC 5681 §3.2 step 2).
    pub flight: Bytes,
    /// First reduction of this episode; otherwise ssthresh must not change, unless it is to be reduced `again`.
    pub first: bool,
    /// A second indication of congestion: a retransmission was lost (RFC 5681 §4.3), for an algorithm that
    /// [`super::CongestionControl::is_strict`], or a segment after a mark ([`Congestion::after_mark`]), for one that
    /// [`super::CongestionControl::spares_marks`].
    pub again: bool,
    /// Loss window (RFC 5681 §3.1): one segment, after a time-out plus the data still in the network.
    pub loss_window: Bytes,
    /// The oldest segment, if any is outstanding.
    pub head: Option<Head>,
}

impl Congestion {
    /// A loss in the round trip of a mark, for which the window has been reduced already.
    pub fn after_mark(&self) -> bool {
        self.again && self.state_before == State::Cwr
    }
}

/// What a connection leaves to the next one of its pair of nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Saved {
    /// The window: saved_cwnd.
    pub cwnd: Bytes,
    /// The minimum RTT: saved_rtt.
    pub rtt: Span,
}

/// What has become of a window that was saved.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Resumption {
    /// The window has jumped.
    pub resumed: bool,
    /// Bytes that were sent before any of them was acknowledged.
    pub jump_bytes: Bytes,
    /// Congestion has ended it.
    pub retreated: bool,
    /// Nothing more will come of it.
    pub over: bool,
}
