//! What an algorithm is told: how things stand, what an ACK did, what left, what is lost, why there is congestion.

use crate::units::{Bytes, Rate, Span, Time};

/// Where the sender stands (the names are Linux's).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum State {
    /// No sign of trouble.
    #[default]
    Open,
    /// Duplicate ACKs, fewer than mean loss.
    Disorder,
    /// The window is coming down after an ECN echo, a lost tail or by the algorithm's wish; nothing is to be sent again.
    Cwr,
    /// Fast recovery.
    Recovery,
    /// After a time-out (or Tahoe's third duplicate ACK): slow start through what was lost.
    Loss,
}

impl State {
    /// True while the window comes down, so that nothing makes it grow.
    pub fn descends(self) -> bool {
        matches!(self, State::Cwr | State::Recovery)
    }
}

/// How things stand; the same for every method.
#[derive(Clone, Copy, Debug, Default)]
pub struct View {
    /// The time.
    pub now: Time,
    /// Largest payload of a segment.
    pub mss: Bytes,
    /// The sender's state.
    pub state: State,
    /// Oldest unacknowledged sequence number.
    pub snd_una: u64,
    /// Next sequence number to send.
    pub snd_nxt: u64,
    /// FlightSize (RFC 5681): sent, not cumulatively acknowledged.
    pub flight: Bytes,
    /// Estimated to be in the network (RFC 6675).
    pub pipe: Bytes,
    /// The receiver's window.
    pub rwnd: Bytes,
    /// Smoothed RTT, once there is a sample.
    pub srtt: Option<Span>,
    /// RTT variation.
    pub rttvar: Span,
    /// Least RTT seen.
    pub min_rtt: Option<Span>,
    /// Retransmission time-out in force.
    pub rto: Span,
    /// Considered lost, sent again or not.
    pub lost: Bytes,
    /// Retransmissions believed in the network.
    pub retransmitted: Bytes,
    /// Everything ever marked lost; a segment counts each time.
    pub lost_total: Bytes,
    /// Reported or presumed to have arrived, since the start, selectively or cumulatively.
    pub delivered: Bytes,
    /// Of `delivered`, what the network marked.
    pub delivered_ce: Bytes,
    /// Packet-timed rounds since the start.
    pub round: u64,
    /// This ACK began a round.
    pub round_start: bool,
    /// The window, not the application or the receiver, holds the sender back (Linux's rule).
    pub cwnd_limited: bool,
    /// The application, not the network, sets the pace: what is in the network does not fill the window.
    pub app_limited: bool,
    /// Pacing lets nothing leave before.
    pub paced_until: Time,
    /// The connection wants windows to shrink after silence.
    pub slow_start_after_idle: bool,
    /// Classic growth is allowed: the state permits it and, if the connection validates its window, the window is used.
    pub may_grow: bool,
}

/// What one ACK did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ack {
    /// Bytes that it reports for the first time, cumulatively or selectively. Without SACK: bytes cumulatively
    /// acknowledged that were believed in the network; what a time-out had written off and turns out to have arrived
    /// before is left out, for it says nothing of the path now.
    pub acked: Bytes,
    /// The same in segments.
    pub acked_segments: u32,
    /// Segments that it acknowledges cumulatively, whether reported before or not.
    pub cumulative_segments: u32,
    /// Newly marked lost on it.
    pub lost: Bytes,
    /// Its count among duplicate ACKs; 0 if it is none.
    pub duplicate: u32,
    /// It advanced `snd_una`, but not to the recovery point.
    pub partial: bool,
    /// RTT of the segments it covers; absent if one of them was sent twice.
    pub rtt: Option<RttSample>,
    /// Time from the sender to the receiver, up to a constant, by timestamps: to a millisecond, and with the receiver's delay.
    pub one_way: Option<Span>,
    /// Flight before it.
    pub prior_flight: Bytes,
    /// Pipe before it.
    pub prior_pipe: Bytes,
    /// It echoes congestion.
    pub echo: bool,
    /// Of the reported bytes, those that the network marked.
    pub ce: Bytes,
    /// Delivery rate, if it reported anything.
    pub rate: Option<RateSample>,
}

/// Round-trip times of the segments that one ACK covers.
#[derive(Clone, Copy, Debug)]
pub struct RttSample {
    /// Of the segment sent last: without the receiver's delay.
    pub latest: Span,
    /// Of the segment sent first: with the receiver's delay.
    pub oldest: Span,
}

/// A sample of the delivery rate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RateSample {
    /// Delivered over the interval; absent when the interval is shorter than the least RTT and so tells nothing.
    pub rate: Option<Rate>,
    /// Delivered between the transmission of the newest reported segment and now.
    pub delivered: Bytes,
    /// Delivered in all when that segment was sent.
    pub prior_delivered: Bytes,
    /// The longer of the time to send and the time to report.
    pub interval: Span,
    /// When the newest reported segment was sent.
    pub sent_at: Time,
    /// Pipe with it at that time.
    pub tx_in_flight: Bytes,
    /// Marked lost since.
    pub lost: Bytes,
    /// The application, not the network, set the pace at some time in the interval.
    pub app_limited: bool,
}

/// A segment that leaves.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// The time.
    pub now: Time,
    /// Sequence number of its first byte.
    pub seq: u64,
    /// Its payload.
    pub bytes: Bytes,
    /// Pipe with it.
    pub pipe: Bytes,
    /// It was sent before.
    pub retransmission: bool,
}

/// A segment that is believed lost.
#[derive(Clone, Copy, Debug)]
pub struct Lost {
    /// Sequence number of its first byte.
    pub seq: u64,
    /// Its payload.
    pub bytes: Bytes,
    /// When it was last sent.
    pub sent_at: Time,
    /// Pipe with it when it was sent.
    pub tx_in_flight: Bytes,
    /// Marked lost between its transmission and now, itself included.
    pub lost_since: Bytes,
    /// The application, not the network, set the pace when it was sent.
    pub app_limited: bool,
}

/// The oldest segment outstanding.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    /// When it was last sent.
    pub sent_at: Time,
    /// How often it was sent.
    pub transmissions: u32,
}

/// Why the sender believes in congestion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// Duplicate ACKs (RFC 5681 §3.2).
    DupAck,
    /// Reports of data beyond a gap (RFC 6675).
    Sack,
    /// Time since something sent later has arrived (RFC 8985).
    Rack,
    /// The tail was lost and repaired by a probe (RFC 8985 §7.4).
    Tlp,
    /// The oldest segment is older than the algorithm's own time-out (Vegas).
    HeadTimeout,
    /// An ECN echo (RFC 3168).
    Ecn,
    /// The algorithm asked for it ([`super::CongestionControl::wants_reduction`]).
    Algorithm,
    /// The retransmission timer (RFC 6298).
    Timeout,
}

/// An episode of congestion begins.
#[derive(Clone, Copy, Debug)]
pub struct Congestion {
    /// Its sign.
    pub cause: Cause,
    /// The sender's state when it came.
    pub state_before: State,
    /// FlightSize without what limited transmit added (RFC 5681 §3.2 step 2).
    pub flight: Bytes,
    /// The first reduction of this episode; if not, ssthresh is to be left alone.
    pub first: bool,
    /// What a timed-out sender starts from: one segment, and what is still believed in the network.
    pub loss_window: Bytes,
    /// The oldest segment, if any is outstanding.
    pub head: Option<Head>,
}
