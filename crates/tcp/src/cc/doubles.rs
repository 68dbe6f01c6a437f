//! The signals as code receives them that is neither ours nor Python's objects (a library, a compiled class, JavaScript): each a double,
//! in this order. Sizes are in bytes, times in seconds, a truth value is 0 or 1, an absent value is NaN, no limit is infinity, and a state
//! or cause is its place in [`WORDS`]. Part of the interface of `tonopah.h`: who changes it raises its version.

use super::signals;
use crate::units::{Bytes, Rate, Span};

/// States and causes, by names that differ.
pub const WORDS: [&str; 13] = [
    "open",
    "disorder",
    "cwr",
    "recovery",
    "loss",
    "dup_ack",
    "sack",
    "rack",
    "tlp",
    "head_timeout",
    "ecn",
    "algorithm",
    "timeout",
];

/// Kinds of events; `start` has neither signal nor view, and only answers.
pub const KINDS: [&str; 9] =
    ["start", "on_ack", "on_congestion", "on_recovery_end", "on_undo", "on_sent", "on_lost", "on_idle", "on_timer"];

/// A place in [`KINDS`].
pub const START: usize = 0;
/// A place in [`KINDS`].
pub const ON_ACK: usize = 1;
/// A place in [`KINDS`].
pub const ON_CONGESTION: usize = 2;
/// A place in [`KINDS`].
pub const ON_RECOVERY_END: usize = 3;
/// A place in [`KINDS`].
pub const ON_UNDO: usize = 4;
/// A place in [`KINDS`].
pub const ON_SENT: usize = 5;
/// A place in [`KINDS`].
pub const ON_LOST: usize = 6;
/// A place in [`KINDS`].
pub const ON_IDLE: usize = 7;
/// A place in [`KINDS`].
pub const ON_TIMER: usize = 8;

/// Fields of [`view`].
pub const VIEW: [&str; 23] = [
    "now_s",
    "mss_bytes",
    "state",
    "snd_una",
    "snd_nxt",
    "flight_bytes",
    "pipe_bytes",
    "rwnd_bytes",
    "srtt_s",
    "rttvar_s",
    "min_rtt_s",
    "rto_s",
    "lost_bytes",
    "retransmitted_bytes",
    "lost_total_bytes",
    "delivered_bytes",
    "delivered_ce_bytes",
    "round",
    "round_start",
    "cwnd_limited",
    "app_limited",
    "slow_start_after_idle",
    "may_grow",
];

/// Fields of [`ack`]; those of `rate` follow as `rate.…`, all absent if there is no sample.
pub const ACK: [&str; 21] = [
    "acked_bytes",
    "acked_segments",
    "cumulative_segments",
    "lost_bytes",
    "duplicate",
    "partial",
    "rtt_s",
    "rtt_oldest_s",
    "one_way_s",
    "prior_flight_bytes",
    "prior_pipe_bytes",
    "echo",
    "ce_bytes",
    "rate.rate_bps",
    "rate.delivered_bytes",
    "rate.prior_delivered_bytes",
    "rate.interval_s",
    "rate.sent_at_s",
    "rate.tx_in_flight_bytes",
    "rate.lost_bytes",
    "rate.app_limited",
];

/// Fields of [`congestion`]; `again` is since version 3.
pub const CONGESTION: [&str; 8] = [
    "cause",
    "state_before",
    "flight_bytes",
    "first",
    "loss_window_bytes",
    "head_sent_at_s",
    "head_transmissions",
    "again",
];

/// Fields of [`sent`].
pub const SENT: [&str; 5] = ["now_s", "seq", "len_bytes", "pipe_bytes", "retransmission"];

/// Fields of [`lost`].
pub const LOST: [&str; 4] = ["len_bytes", "sent_at_s", "tx_in_flight_bytes", "lost_since_bytes"];

fn flag(flag: bool) -> f64 {
    f64::from(u8::from(flag))
}

fn span(span: Option<Span>) -> f64 {
    span.map_or(f64::NAN, Span::as_secs_f64)
}

fn size(size: Bytes) -> f64 {
    size.0 as f64
}

/// Bytes, or infinity.
pub fn limit(size: Bytes) -> f64 {
    if size == Bytes::MAX { f64::INFINITY } else { size.0 as f64 }
}

fn state(state: signals::State) -> f64 {
    f64::from(match state {
        signals::State::Open => 0u8,
        signals::State::Disorder => 1,
        signals::State::Cwr => 2,
        signals::State::Recovery => 3,
        signals::State::Loss => 4,
    })
}

fn cause(cause: signals::Cause) -> f64 {
    f64::from(match cause {
        signals::Cause::DupAck => 5u8,
        signals::Cause::Sack => 6,
        signals::Cause::Rack => 7,
        signals::Cause::Tlp => 8,
        signals::Cause::HeadTimeout => 9,
        signals::Cause::Ecn => 10,
        signals::Cause::Algorithm => 11,
        signals::Cause::Timeout => 12,
    })
}

/// The sender.
pub fn view(view: &signals::View) -> [f64; VIEW.len()] {
    [
        view.now.as_secs_f64(),
        size(view.mss),
        state(view.state),
        view.snd_una.0 as f64,
        view.snd_nxt.0 as f64,
        size(view.flight),
        size(view.pipe),
        size(view.rwnd),
        span(view.srtt),
        view.rttvar.as_secs_f64(),
        span(view.min_rtt),
        view.rto.as_secs_f64(),
        size(view.lost),
        size(view.retransmitted),
        size(view.lost_total),
        size(view.delivered),
        size(view.delivered_ce),
        view.round as f64,
        flag(view.round_start),
        flag(view.cwnd_limited),
        flag(view.app_limited),
        flag(view.slow_start_after_idle),
        flag(view.may_grow),
    ]
}

/// An ACK.
pub fn ack(ack: &signals::Ack) -> [f64; ACK.len()] {
    let mut fields = [f64::NAN; ACK.len()];
    fields[..13].copy_from_slice(&[
        size(ack.acked),
        f64::from(ack.acked_segments),
        f64::from(ack.cumulative_segments),
        size(ack.lost),
        f64::from(ack.duplicate),
        flag(ack.partial),
        span(ack.rtt.map(|rtt| rtt.latest)),
        span(ack.rtt.map(|rtt| rtt.oldest)),
        span(ack.one_way),
        size(ack.prior_flight),
        size(ack.prior_pipe),
        flag(ack.echo),
        size(ack.ce),
    ]);
    if let Some(rate) = &ack.rate {
        fields[13..].copy_from_slice(&[
            rate.rate.map_or(f64::NAN, |rate| Rate::as_bps(rate) as f64),
            size(rate.delivered),
            size(rate.prior_delivered),
            rate.interval.as_secs_f64(),
            rate.sent_at.as_secs_f64(),
            size(rate.tx_in_flight),
            size(rate.lost),
            flag(rate.app_limited),
        ]);
    }
    fields
}

/// A sign of congestion.
pub fn congestion(event: &signals::Congestion) -> [f64; CONGESTION.len()] {
    [
        cause(event.cause),
        state(event.state_before),
        size(event.flight),
        flag(event.first),
        size(event.loss_window),
        event.head.map_or(f64::NAN, |head| head.sent_at.as_secs_f64()),
        event.head.map_or(0.0, |head| f64::from(head.transmissions)),
        flag(event.again),
    ]
}

/// A segment that is sent.
pub fn sent(sent: &signals::Sent) -> [f64; SENT.len()] {
    [sent.now.as_secs_f64(), sent.seq.0 as f64, size(sent.bytes), size(sent.pipe), flag(sent.retransmission)]
}

/// A segment that is marked lost.
pub fn lost(lost: &signals::Lost) -> [f64; LOST.len()] {
    [size(lost.bytes), lost.sent_at.as_secs_f64(), size(lost.tx_in_flight), size(lost.lost_since)]
}
