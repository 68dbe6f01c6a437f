//! Series of senders: what an ACK can change.

use tcp::Snapshot;
use tcp::cc::State;
use tcp::units::{Bytes, Span};

use crate::host::flow::Flow;
use crate::scenario::SeriesName;

/// Series that an ACK can change.
pub(super) const SENDER_SERIES: [SeriesName; 11] = [
    SeriesName::Cwnd,
    SeriesName::Ssthresh,
    SeriesName::SendWindow,
    SeriesName::Srtt,
    SeriesName::Rtt,
    SeriesName::State,
    SeriesName::Retransmits,
    SeriesName::Pipe,
    SeriesName::Outstanding,
    SeriesName::Rto,
    SeriesName::Acked,
];

pub(super) fn sender_value(name: SeriesName, flow: &Flow, snapshot: &Snapshot) -> f64 {
    let bytes = |b: Bytes| if b == Bytes::MAX { f64::NAN } else { b.as_f64() };
    match name {
        SeriesName::Cwnd => bytes(snapshot.window.cwnd),
        SeriesName::Ssthresh => bytes(snapshot.window.ssthresh),
        SeriesName::SendWindow => bytes(snapshot.send_window),
        SeriesName::Srtt => snapshot.srtt.map_or(f64::NAN, Span::as_secs_f64),
        SeriesName::Rtt => snapshot.latest_rtt.map_or(f64::NAN, Span::as_secs_f64),
        SeriesName::State => number_of(snapshot.state),
        SeriesName::Retransmits => flow.totals().retransmitted_segments as f64,
        SeriesName::Pipe => bytes(snapshot.pipe),
        SeriesName::Outstanding => snapshot.flight.0.saturating_sub(snapshot.sacked.0) as f64,
        SeriesName::Rto => snapshot.rto.as_secs_f64(),
        // snd_una less the SYN.
        SeriesName::Acked => flow.highest_sent.saturating_sub(snapshot.flight.0 + 1) as f64,
        SeriesName::Queue
        | SeriesName::QueueDelay
        | SeriesName::SendingRate
        | SeriesName::Throughput
        | SeriesName::Goodput
        | SeriesName::Energy
        | SeriesName::Airtime
        | SeriesName::PositionX
        | SeriesName::PositionY
        | SeriesName::PositionZ
        | SeriesName::RouteHops
        | SeriesName::PathDelay
        | SeriesName::Capacity
        | SeriesName::AqmP
        | SeriesName::AqmPL
        | SeriesName::QueueL
        | SeriesName::QueueC
        | SeriesName::Drops
        | SeriesName::Marks
        | SeriesName::Alive
        | SeriesName::Arrivals
        | SeriesName::Offered
        | SeriesName::Carried
        | SeriesName::Buffer
        | SeriesName::Level => unreachable!("not a sender's series"),
    }
}

/// As in Linux's `tcp_info.tcpi_ca_state`; 2 is CWR.
fn number_of(state: State) -> f64 {
    match state {
        State::Open => 0.0,
        State::Disorder => 1.0,
        State::Cwr => 2.0,
        State::Recovery => 3.0,
        State::Loss => 4.0,
    }
}
