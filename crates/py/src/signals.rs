//! The signals that an algorithm in Python receives: `tcp::cc`'s structures as frozen objects. Sizes are in bytes, times in
//! seconds; an absent value is None, and no limit is infinity, so that it can be compared.

use pyo3::prelude::*;
use tcp::cc;
use tcp::units::{Bytes, Rate, Span, Time};

/// The sender's variables, passed to every method.
#[pyclass(frozen, get_all, module = "tonopah._core")]
pub(crate) struct View {
    /// Current time.
    now_s: f64,
    /// Largest payload of a segment.
    mss_bytes: u64,
    /// `open`, `disorder`, `cwr`, `recovery` or `loss`.
    state: &'static str,
    /// SND.UNA: oldest unacknowledged sequence number.
    snd_una: u64,
    /// SND.NXT: next sequence number to send.
    snd_nxt: u64,
    /// FlightSize (RFC 5681): sent and not cumulatively acknowledged.
    flight_bytes: u64,
    /// Estimate of the data in the network (RFC 6675 pipe).
    pipe_bytes: u64,
    /// Receive window advertised by the peer.
    rwnd_bytes: u64,
    /// SRTT, once there is a sample.
    srtt_s: Option<f64>,
    /// RTTVAR.
    rttvar_s: f64,
    /// Minimum RTT so far.
    min_rtt_s: Option<f64>,
    /// Current retransmission time-out.
    rto_s: f64,
    /// Outstanding data marked lost, retransmitted or not.
    lost_bytes: u64,
    /// Retransmissions in the network.
    retransmitted_bytes: u64,
    /// Total marked lost since the start; a segment counts each time.
    lost_total_bytes: u64,
    /// Total delivered since the start, acknowledged cumulatively or selectively.
    delivered_bytes: u64,
    /// The part of `delivered_bytes` that was CE-marked.
    delivered_ce_bytes: u64,
    /// Packet-timed rounds since the start.
    round: u64,
    /// This ACK began a round.
    round_start: bool,
    /// cwnd, rather than the application or the receiver, limits the sender.
    cwnd_limited: bool,
    /// The application limits the sender.
    app_limited: bool,
    /// cwnd is to shrink after an idle period.
    slow_start_after_idle: bool,
    /// Classic growth is allowed: no reduction is in progress and, with cwnd validation, cwnd limits the sender.
    may_grow: bool,
}

/// What one ACK acknowledged and reported.
#[pyclass(frozen, get_all, module = "tonopah._core")]
pub(crate) struct Ack {
    /// Newly delivered bytes, acknowledged cumulatively or selectively.
    acked_bytes: u64,
    /// The same in segments.
    acked_segments: u32,
    /// Segments acknowledged cumulatively, whether SACKed before or not.
    cumulative_segments: u32,
    /// Bytes newly marked lost on this ACK.
    lost_bytes: u64,
    /// Number of this duplicate ACK in its series; 0 if it is not a duplicate.
    duplicate: u32,
    /// Partial ACK: it advanced `snd_una`, but not to the recovery point.
    partial: bool,
    /// RTT of the last-sent segment that it acknowledges; None if one of them was retransmitted (Karn).
    rtt_s: Option<f64>,
    /// RTT of the first-sent segment that it acknowledges: includes the ACK delay.
    rtt_oldest_s: Option<f64>,
    /// One-way delay from sender to receiver up to a constant, by timestamps.
    one_way_s: Option<f64>,
    /// FlightSize before the ACK.
    prior_flight_bytes: u64,
    /// Pipe before the ACK.
    prior_pipe_bytes: u64,
    /// ECN echo: the ACK reports congestion.
    echo: bool,
    /// The part of `acked_bytes` that was CE-marked.
    ce_bytes: u64,
    /// Delivery-rate sample, if anything was newly delivered.
    rate: Option<RateSample>,
}

/// A sample of the delivery rate.
#[pyclass(frozen, get_all, module = "tonopah._core")]
#[derive(Clone)]
pub(crate) struct RateSample {
    /// Delivery rate over the interval; None if the interval is shorter than the minimum RTT and thus not valid.
    rate_bps: Option<u64>,
    /// Bytes delivered between the transmission of the newest delivered segment and now.
    delivered_bytes: u64,
    /// Total delivered when that segment was sent.
    prior_delivered_bytes: u64,
    /// The longer of the send interval and the ACK interval.
    interval_s: f64,
    /// When the newest delivered segment was sent.
    sent_at_s: f64,
    /// Pipe including it at that time.
    tx_in_flight_bytes: u64,
    /// Bytes marked lost since.
    lost_bytes: u64,
    /// The sender was application-limited at some time in the interval.
    app_limited: bool,
}

/// A congestion episode begins.
#[pyclass(frozen, get_all, module = "tonopah._core")]
pub(crate) struct Congestion {
    /// `dup_ack`, `sack`, `rack`, `tlp`, `head_timeout`, `ecn`, `algorithm` or `timeout`.
    cause: &'static str,
    /// The sender's state before it.
    state_before: &'static str,
    /// FlightSize without the segments of limited transmit (RFC 5681 section 3.2 step 2).
    flight_bytes: u64,
    /// First reduction of this episode; otherwise ssthresh must not change, unless `again`.
    first: bool,
    /// Loss window: one segment, after a time-out plus the data still in the network.
    loss_window_bytes: u64,
    /// When the oldest outstanding segment was last sent; None if nothing is outstanding.
    head_sent_at_s: Option<f64>,
    /// Number of its transmissions; 0 if nothing is outstanding.
    head_transmissions: u32,
    /// A retransmission was lost: ssthresh is to come down once more (RFC 5681 section 4.3); for a `strict` algorithm alone.
    again: bool,
}

/// A segment is sent.
#[pyclass(frozen, get_all, module = "tonopah._core")]
pub(crate) struct Sent {
    /// Current time.
    now_s: f64,
    /// Sequence number of its first byte.
    seq: u64,
    /// Payload bytes.
    len_bytes: u64,
    /// Pipe including it.
    pipe_bytes: u64,
    /// It is a retransmission.
    retransmission: bool,
}

/// A segment is marked lost.
#[pyclass(frozen, get_all, module = "tonopah._core")]
pub(crate) struct Lost {
    /// Payload bytes.
    len_bytes: u64,
    /// When it was last sent.
    sent_at_s: f64,
    /// Pipe including it when it was sent.
    tx_in_flight_bytes: u64,
    /// Bytes marked lost between its transmission and now, including it.
    lost_since_bytes: u64,
}

/// What is known when the handshake is complete; the first argument of the class.
#[pyclass(frozen, get_all, module = "tonopah._core")]
pub(crate) struct Setup {
    /// Current time.
    now_s: f64,
    /// Largest payload of a segment.
    mss_bytes: u64,
    /// Initial cwnd.
    initial_window_bytes: u64,
    /// Initial ssthresh; infinity means "not set".
    initial_ssthresh_bytes: Limit,
    /// RTT of the handshake; None if the SYN was retransmitted.
    handshake_rtt_s: Option<f64>,
    /// The connection paces even without a rate from its algorithm.
    paced: bool,
    /// Seed for random numbers, different for each connection.
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

impl From<&cc::View> for View {
    fn from(view: &cc::View) -> View {
        View {
            now_s: view.now.as_secs_f64(),
            mss_bytes: view.mss.0,
            state: state(view.state),
            snd_una: view.snd_una.0,
            snd_nxt: view.snd_nxt.0,
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
            cause: event.cause.name(),
            state_before: state(event.state_before),
            flight_bytes: event.flight.0,
            first: event.first,
            loss_window_bytes: event.loss_window.0,
            head_sent_at_s: event.head.map(|head| head.sent_at.as_secs_f64()),
            head_transmissions: event.head.map_or(0, |head| head.transmissions),
            again: event.again,
        }
    }
}

impl From<&cc::Sent> for Sent {
    fn from(sent: &cc::Sent) -> Sent {
        Sent {
            now_s: sent.now.as_secs_f64(),
            seq: sent.seq.0,
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

/// Adds the signals that an algorithm in Python receives.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Setup>()?;
    module.add_class::<View>()?;
    module.add_class::<Ack>()?;
    module.add_class::<RateSample>()?;
    module.add_class::<Congestion>()?;
    module.add_class::<Sent>()?;
    module.add_class::<Lost>()
}
