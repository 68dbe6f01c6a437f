//! Series of senders: what an ACK can change.

use tcp::Snapshot;
use tcp::cc::State;
use tcp::units::{Bytes, Rate, Span, Time};

use crate::foreign::ForeignStats;
use crate::host::flow::Flow;
use crate::metrics::FlowMetrics;
use crate::scenario::SeriesName;

/// Series that an ACK can change.
pub(super) const SENDER_SERIES: [SeriesName; 18] = [
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
    SeriesName::Rttvar,
    SeriesName::MinRtt,
    SeriesName::PacingRate,
    SeriesName::DeliveryRate,
    SeriesName::Timeouts,
    SeriesName::Limit,
    SeriesName::WireFlight,
];

/// What the sender of a flow says of itself, and the network of its packets.
pub(super) struct Sender<'a> {
    flow: &'a Flow,
    snapshot: Option<Snapshot>,
    told: Option<ForeignStats>,
    wire_flight: Bytes,
}

impl Sender<'_> {
    /// That of a flow; `None` before it has one, and of datagrams.
    pub(super) fn of<'a>(now: Time, flow: &'a Flow, metrics: &FlowMetrics) -> Option<Sender<'a>> {
        let (snapshot, told) = (flow.snapshot(), flow.foreign().map(|foreign| foreign.stats(now)));
        let known = snapshot.is_some() || told.is_some();
        known.then(|| Sender { flow, snapshot, told, wire_flight: metrics.wire_flight() })
    }

    /// The value of a series; NaN where it does not know, `None` where there is no such thing.
    pub(super) fn value(&self, name: SeriesName) -> Option<f64> {
        match (name, &self.snapshot, &self.told) {
            (SeriesName::WireFlight, ..) => Some(self.wire_flight.as_f64()),
            (name, Some(snapshot), _) => Some(sender_value(name, self.flow, snapshot)),
            (name, None, Some(told)) => foreign_value(name, self.flow, told),
            (_, None, None) => None,
        }
    }
}

/// What a whole transport says, and what its application has read.
fn foreign_value(name: SeriesName, flow: &Flow, stats: &ForeignStats) -> Option<f64> {
    Some(match name {
        SeriesName::Cwnd => stats.cwnd_bytes,
        SeriesName::Ssthresh => stats.ssthresh_bytes,
        SeriesName::Srtt => stats.srtt_s,
        SeriesName::Rtt => stats.latest_rtt_s,
        SeriesName::State => stats.state,
        SeriesName::Pipe => stats.in_flight_bytes,
        SeriesName::Rttvar => stats.rttvar_s,
        SeriesName::MinRtt => stats.min_rtt_s,
        SeriesName::PacingRate => stats.pacing_rate_bps,
        SeriesName::Timeouts => stats.pto_count,
        SeriesName::Acked => flow.read as f64,
        _ => return None,
    })
}

fn sender_value(name: SeriesName, flow: &Flow, snapshot: &Snapshot) -> f64 {
    let bytes = |b: Bytes| if b == Bytes::MAX { f64::NAN } else { b.as_f64() };
    let span = |s: Option<Span>| s.map_or(f64::NAN, Span::as_secs_f64);
    let rate = |r: Option<Rate>| r.map_or(f64::NAN, |r| r.as_bps() as f64);
    match name {
        SeriesName::Cwnd => bytes(snapshot.window.cwnd),
        SeriesName::Ssthresh => bytes(snapshot.window.ssthresh),
        SeriesName::SendWindow => bytes(snapshot.send_window),
        SeriesName::Srtt => span(snapshot.srtt),
        SeriesName::Rtt => span(snapshot.latest_rtt),
        SeriesName::State => number_of(snapshot.state),
        SeriesName::Retransmits => flow.totals().retransmitted_segments as f64,
        SeriesName::Pipe => bytes(snapshot.pipe),
        SeriesName::Outstanding => snapshot.flight.0.saturating_sub(snapshot.sacked.0) as f64,
        SeriesName::Rto => snapshot.rto.as_secs_f64(),
        // snd_una less the SYN.
        SeriesName::Acked => flow.highest_sent.saturating_sub(snapshot.flight.0 + 1) as f64,
        SeriesName::Rttvar => snapshot.rttvar.as_secs_f64(),
        SeriesName::MinRtt => span(snapshot.min_rtt),
        SeriesName::PacingRate => rate(snapshot.pacing_rate),
        SeriesName::DeliveryRate => rate(snapshot.delivery_rate),
        SeriesName::Timeouts => f64::from(snapshot.timeouts_in_a_row),
        SeriesName::Limit => snapshot.limit.map_or(f64::NAN, |limit| f64::from(limit as u8)),
        _ => unreachable!("not a sender's series"),
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
