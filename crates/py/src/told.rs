//! What an algorithm in Python is told: `tcp::cc`'s structures as frozen objects. Sizes are in bytes, times in seconds; what
//! is absent is None, and no limit is infinity, so that it can be compared.

use pyo3::prelude::*;
use tcp::cc;
use tcp::units::{Bytes, Rate, Span, Time};

/// How things stand; the same for every method.
#[pyclass(frozen, get_all, module = "tonopah._core")]
pub(crate) struct View {
    /// The time.
    now_s: f64,
    /// Largest payload of a segment.
    mss_bytes: u64,
    /// `open`, `disorder`, `cwr`, `recovery` or `loss`.
    state: &'static str,
    /// Oldest unacknowledged sequence number.
    snd_una: u64,
    /// Next sequence number to send.
    snd_nxt: u64,
    /// FlightSize (RFC 5681): sent, not cumulatively acknowledged.
    flight_bytes: u64,
    /// Estimated to be in the network (RFC 6675).
    pipe_bytes: u64,
    /// The receiver's window.
    rwnd_bytes: u64,
    /// Smoothed RTT, once there is a sample.
    srtt_s: Option<f64>,
    /// RTT variation.
    rttvar_s: f64,
    /// Least RTT seen.
    min_rtt_s: Option<f64>,
    /// Retransmission time-out in force.
    rto_s: f64,
    /// Considered lost, sent again or not.
    lost_bytes: u64,
    /// Retransmissions believed in the network.
    retransmitted_bytes: u64,
    /// Everything ever marked lost; a segment counts each time.
    lost_total_bytes: u64,
    /// Reported or presumed to have arrived, since the start.
    delivered_bytes: u64,
    /// Of `delivered_bytes`, what the network marked.
    delivered_ce_bytes: u64,
    /// Packet-timed rounds since the start.
    round: u64,
    /// This ACK began a round.
    round_start: bool,
    /// The window, not the application or the receiver, holds the sender back.
    cwnd_limited: bool,
    /// The application, not the network, sets the pace.
    app_limited: bool,
    /// The connection wants windows to shrink after silence.
    slow_start_after_idle: bool,
    /// Classic growth is allowed.
    may_grow: bool,
}

/// What one ACK did.
#[pyclass(frozen, get_all, module = "tonopah._core")]
pub(crate) struct Ack {
    /// Bytes that it reports for the first time, cumulatively or selectively.
    acked_bytes: u64,
    /// The same in segments.
    acked_segments: u32,
    /// Segments that it acknowledges cumulatively, whether reported before or not.
    cumulative_segments: u32,
    /// Newly marked lost on it.
    lost_bytes: u64,
    /// Its count among duplicate ACKs; 0 if it is none.
    duplicate: u32,
    /// It advanced `snd_una`, but not to the recovery point.
    partial: bool,
    /// RTT of the segment sent last that it covers; None if one of them was sent twice.
    rtt_s: Option<f64>,
    /// RTT of the segment sent first that it covers: with the receiver's delay.
    rtt_oldest_s: Option<f64>,
    /// Time from the sender to the receiver, up to a constant, by timestamps.
    one_way_s: Option<f64>,
    /// Flight before it.
    prior_flight_bytes: u64,
    /// Pipe before it.
    prior_pipe_bytes: u64,
    /// It echoes congestion.
    echo: bool,
    /// Of the reported bytes, those that the network marked.
    ce_bytes: u64,
    /// Delivery rate, a `RateSample`, if it reported anything.
    rate: Option<RateSample>,
}

/// A sample of the delivery rate.
#[pyclass(frozen, get_all, module = "tonopah._core")]
#[derive(Clone)]
pub(crate) struct RateSample {
    /// Delivered over the interval; None when the interval is shorter than the least RTT and so tells nothing.
    rate_bps: Option<u64>,
    /// Delivered between the transmission of the newest reported segment and now.
    delivered_bytes: u64,
    /// Delivered in all when that segment was sent.
    prior_delivered_bytes: u64,
    /// The longer of the time to send and the time to report.
    interval_s: f64,
    /// When the newest reported segment was sent.
    sent_at_s: f64,
    /// Pipe with it at that time.
    tx_in_flight_bytes: u64,
    /// Marked lost since.
    lost_bytes: u64,
    /// The application set the pace at some time in the interval.
    app_limited: bool,
}

/// An episode of congestion begins.
#[pyclass(frozen, get_all, module = "tonopah._core")]
pub(crate) struct Congestion {
    /// `dup_ack`, `sack`, `rack`, `tlp`, `head_timeout`, `ecn` or `timeout`.
    cause: &'static str,
    /// The sender's state when it came.
    state_before: &'static str,
    /// FlightSize without what limited transmit added (RFC 5681 section 3.2 step 2).
    flight_bytes: u64,
    /// The first reduction of this episode; if not, ssthresh is to be left alone.
    first: bool,
    /// What a timed-out sender starts from: one segment, and what is still believed in the network.
    loss_window_bytes: u64,
    /// When the oldest outstanding segment was last sent; None if nothing is outstanding.
    head_sent_at_s: Option<f64>,
    /// How often it was sent; 0 if nothing is outstanding.
    head_transmissions: u32,
}

/// A segment that leaves.
#[pyclass(frozen, get_all, module = "tonopah._core")]
pub(crate) struct Sent {
    /// The time.
    now_s: f64,
    /// Sequence number of its first byte.
    seq: u64,
    /// Its payload.
    len_bytes: u64,
    /// Pipe with it.
    pipe_bytes: u64,
    /// It was sent before.
    retransmission: bool,
}

/// A segment that is believed lost.
#[pyclass(frozen, get_all, module = "tonopah._core")]
pub(crate) struct Lost {
    /// Its payload.
    len_bytes: u64,
    /// When it was last sent.
    sent_at_s: f64,
    /// Pipe with it when it was sent.
    tx_in_flight_bytes: u64,
    /// Marked lost between its transmission and now, itself included.
    lost_since_bytes: u64,
}

/// What is known when the handshake is done; the first argument of the class.
#[pyclass(frozen, get_all, module = "tonopah._core")]
pub(crate) struct Setup {
    /// The time.
    now_s: f64,
    /// Largest payload of a segment.
    mss_bytes: u64,
    /// cwnd to start from.
    initial_window_bytes: u64,
    /// ssthresh to start from; infinity means "not set".
    initial_ssthresh_bytes: Limit,
    /// RTT of the handshake; None if its SYN was sent twice.
    handshake_rtt_s: Option<f64>,
    /// The connection paces even if its algorithm asks for no rate.
    paced: bool,
    /// A number of its own for each connection, for random draws.
    seed: u64,
}

/// Bytes, or infinity.
#[derive(Clone, Copy, IntoPyObject)]
pub(crate) enum Limit {
    Bytes(u64),
    None(f64),
}

impl From<Bytes> for Limit {
    fn from(bytes: Bytes) -> Limit {
        if bytes == Bytes::MAX { Limit::None(f64::INFINITY) } else { Limit::Bytes(bytes.0) }
    }
}

fn state(state: cc::State) -> &'static str {
    match state {
        cc::State::Open => "open",
        cc::State::Disorder => "disorder",
        cc::State::Cwr => "cwr",
        cc::State::Recovery => "recovery",
        cc::State::Loss => "loss",
    }
}

fn cause(cause: cc::Cause) -> &'static str {
    match cause {
        cc::Cause::DupAck => "dup_ack",
        cc::Cause::Sack => "sack",
        cc::Cause::Rack => "rack",
        cc::Cause::Tlp => "tlp",
        cc::Cause::HeadTimeout => "head_timeout",
        cc::Cause::Algorithm => "algorithm",
        cc::Cause::Ecn => "ecn",
        cc::Cause::Timeout => "timeout",
    }
}

impl From<&cc::View> for View {
    fn from(view: &cc::View) -> View {
        View {
            now_s: view.now.as_secs_f64(),
            mss_bytes: view.mss.0,
            state: state(view.state),
            snd_una: view.snd_una,
            snd_nxt: view.snd_nxt,
            flight_bytes: view.flight.0,
            pipe_bytes: view.pipe.0,
            rwnd_bytes: view.rwnd.0,
            srtt_s: view.srtt.map(Span::as_secs_f64),
            rttvar_s: view.rttvar.as_secs_f64(),
            min_rtt_s: view.min_rtt.map(Span::as_secs_f64),
            rto_s: view.rto.as_secs_f64(),
            lost_bytes: view.lost.0,
            retransmitted_bytes: view.retransmitted.0,
            lost_total_bytes: view.lost_total.0,
            delivered_bytes: view.delivered.0,
            delivered_ce_bytes: view.delivered_ce.0,
            round: view.round,
            round_start: view.round_start,
            cwnd_limited: view.cwnd_limited,
            app_limited: view.app_limited,
            slow_start_after_idle: view.slow_start_after_idle,
            may_grow: view.may_grow,
        }
    }
}

impl From<&cc::Ack> for Ack {
    fn from(ack: &cc::Ack) -> Ack {
        Ack {
            acked_bytes: ack.acked.0,
            acked_segments: ack.acked_segments,
            cumulative_segments: ack.cumulative_segments,
            lost_bytes: ack.lost.0,
            duplicate: ack.duplicate,
            partial: ack.partial,
            rtt_s: ack.rtt.map(|rtt| rtt.latest.as_secs_f64()),
            rtt_oldest_s: ack.rtt.map(|rtt| rtt.oldest.as_secs_f64()),
            one_way_s: ack.one_way.map(Span::as_secs_f64),
            prior_flight_bytes: ack.prior_flight.0,
            prior_pipe_bytes: ack.prior_pipe.0,
            echo: ack.echo,
            ce_bytes: ack.ce.0,
            rate: ack.rate.as_ref().map(RateSample::from),
        }
    }
}

impl From<&cc::RateSample> for RateSample {
    fn from(rate: &cc::RateSample) -> RateSample {
        RateSample {
            rate_bps: rate.rate.map(Rate::as_bps),
            delivered_bytes: rate.delivered.0,
            prior_delivered_bytes: rate.prior_delivered.0,
            interval_s: rate.interval.as_secs_f64(),
            sent_at_s: rate.sent_at.as_secs_f64(),
            tx_in_flight_bytes: rate.tx_in_flight.0,
            lost_bytes: rate.lost.0,
            app_limited: rate.app_limited,
        }
    }
}

impl From<&cc::Congestion> for Congestion {
    fn from(event: &cc::Congestion) -> Congestion {
        Congestion {
            cause: cause(event.cause),
            state_before: state(event.state_before),
            flight_bytes: event.flight.0,
            first: event.first,
            loss_window_bytes: event.loss_window.0,
            head_sent_at_s: event.head.map(|head| head.sent_at.as_secs_f64()),
            head_transmissions: event.head.map_or(0, |head| head.transmissions),
        }
    }
}

impl From<&cc::Sent> for Sent {
    fn from(sent: &cc::Sent) -> Sent {
        Sent {
            now_s: sent.now.as_secs_f64(),
            seq: sent.seq,
            len_bytes: sent.bytes.0,
            pipe_bytes: sent.pipe.0,
            retransmission: sent.retransmission,
        }
    }
}

impl From<&cc::Lost> for Lost {
    fn from(lost: &cc::Lost) -> Lost {
        Lost {
            len_bytes: lost.bytes.0,
            sent_at_s: Time::as_secs_f64(lost.sent_at),
            tx_in_flight_bytes: lost.tx_in_flight.0,
            lost_since_bytes: lost.lost_since.0,
        }
    }
}

impl From<&cc::Setup> for Setup {
    fn from(setup: &cc::Setup) -> Setup {
        Setup {
            now_s: setup.now.as_secs_f64(),
            mss_bytes: setup.mss.0,
            initial_window_bytes: setup.initial_window.0,
            initial_ssthresh_bytes: setup.initial_ssthresh.into(),
            handshake_rtt_s: setup.handshake_rtt.map(Span::as_secs_f64),
            paced: setup.paced,
            seed: setup.seed,
        }
    }
}
