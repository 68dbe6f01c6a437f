//! The summary of a flow.

use std::collections::BTreeMap;

use serde::Serialize;
use tcp::Limit;
use tcp::units::{Span, Time};

use super::distributions::{Distributions, distributions_of};
use super::measures::Measures;
use crate::foreign::ForeignStats;
use crate::host::app::conversation::AppSummary;
use crate::host::flow::Flow;
use crate::ids::{FlowId, NodeId};
use crate::metrics::ratio;
use crate::metrics::{IntervalMetrics, OrderCounts, ReverseData};
use crate::scenario::{CcChoice, DistributionName, Scenario};
use crate::world::ListedFlow;

/// A flow.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct FlowSummary {
    /// Its index; of a flow of a workload its serial number, which goes on after these.
    pub flow: u32,
    /// Source node.
    pub from: String,
    /// Sink node.
    pub to: String,
    /// Congestion control; of a whole transport its title and the words of its options; absent for UDP.
    pub cc: Option<String>,
    /// Its profile.
    pub cc_profile: Option<String>,
    /// Application.
    pub app: &'static str,
    /// `tcp`, `udp`, or `native`: a whole transport in a library.
    pub transport: &'static str,
    /// When it started.
    pub start_s: f64,
    /// The part of the measurement interval in which it lived: from its start to its completion, its stop, or the end of the run.
    pub lifetime_s: f64,
    /// Metrics.
    #[serde(flatten)]
    pub measures: Measures,
    /// Data packets queued or in flight at the end.
    pub in_flight_packets: u64,
    /// Smoothed RTT at the end.
    pub srtt_s: Option<f64>,
    /// Minimum RTT.
    pub min_rtt_s: Option<f64>,
    /// Time-weighted mean of cwnd since the connection was established or the warm-up ended.
    pub cwnd_mean_bytes: Option<f64>,
    /// Retransmission timeouts, over the whole run.
    pub rto_count: Option<u64>,
    /// Fast recovery episodes, over the whole run.
    pub recovery_count: Option<u64>,
    /// Reductions undone, since what they were for had not been lost, over the whole run.
    pub undone_count: Option<u64>,
    /// Ends whose window has jumped to what an earlier connection had left, or to what was given (`tcp.start`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resumed: Option<u64>,
    /// Bytes sent in a jump before any of them was acknowledged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jump_bytes: Option<u64>,
    /// Jumps that congestion has ended by a safe retreat.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retreats: Option<u64>,
    /// Retransmissions that brought the sink nothing new, over the whole run.
    pub needless_retransmissions: Option<u64>,
    /// Shares of the time that each limit has kept the source from sending more; absent for UDP.
    #[serde(flatten)]
    pub limits: Option<LimitShares>,
    /// Start to the end of the handshake.
    pub connected_s: Option<f64>,
    /// Flow completion time: start to the last byte.
    pub completion_s: Option<f64>,
    /// How long it had lasted when the run or its application ended, of a flow with an end that it did not reach.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfinished_s: Option<f64>,
    /// Hops on the shortest path at the start; absent without a path, and in a network without radio.
    pub hops: Option<u32>,
    /// Share of the instants, one in every second of the run, at which there was a path; absent without radio.
    pub path_share: Option<f64>,
    /// The flow of the scenario whose application has opened this connection besides its first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection_of: Option<u32>,
    /// What `record.distributions` asks for, as far as it has values.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub distributions: Distributions,
    /// What the application measured.
    #[serde(flatten)]
    pub application: Option<Box<AppSummary>>,
    /// Data from its sink to its source; absent without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reverse: Option<Box<ReverseSummary>>,
    /// Copies of its data packets that links made; absent without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicated_packets: Option<u64>,
    /// Bytes that an optimistic receiver has acknowledged and that had not come when later ones did; over the whole run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undelivered_bytes: Option<u64>,
    /// What only whole transports have.
    #[serde(flatten)]
    pub native: Option<Box<NativeSummary>>,
    /// Order of its data packets; absent where links keep it.
    #[serde(flatten)]
    pub order: Option<Box<OrderSummary>>,
    /// What a workload knows of it; absent for flows that the scenario lists or generates.
    #[serde(flatten)]
    pub transfer: Option<Box<WorkloadFlowSummary>>,
}

/// A flow over a whole transport that is not ours.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct NativeSummary {
    /// Start to the end of the handshake, as the end sees it that connects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handshake_s: Option<f64>,
    /// Packets that the source has taken for lost.
    pub declared_lost_packets: Option<u64>,
    /// Of these, how many more than were dropped.
    pub needless_lost_packets: Option<u64>,
    /// Datagrams too big for the first link.
    pub too_big_packets: u64,
    /// 0: the connection lives; 1: an end has closed it; 2: it has failed.
    pub transport_closed: u64,
    /// The code with which it has failed.
    pub close_code: Option<u32>,
}

impl NativeSummary {
    fn of(flow: &Flow, dropped: u64, [start, now]: [Time; 2]) -> Option<Box<NativeSummary>> {
        let foreign = flow.foreign()?;
        let (declared, code) = (foreign.declared_lost(now), foreign.close_code());
        Some(Box::new(NativeSummary {
            handshake_s: flow.connected_at.map(|at| at.since(start).as_secs_f64()),
            declared_lost_packets: declared,
            needless_lost_packets: declared.map(|declared| declared.saturating_sub(dropped)),
            too_big_packets: foreign.counts.too_big,
            transport_closed: code.map_or(0, |code| if code == 0 { 1 } else { 2 }),
            close_code: code.filter(|code| *code > 0),
        }))
    }
}

/// What kept the source from sending more, as shares of the time from the handshake, or the end of the warm-up, until all was
/// acknowledged; they add up to 1.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct LimitShares {
    /// There was nothing more to send.
    pub app_limited_ratio: f64,
    /// The congestion window was full.
    pub cwnd_limited_ratio: f64,
    /// The receiver's window was full.
    pub rwnd_limited_ratio: f64,
    /// The next segment waited for its time.
    pub pacing_limited_ratio: f64,
    /// Losses were being repaired.
    pub recovery_limited_ratio: f64,
}

impl LimitShares {
    fn of(held: [Span; Limit::COUNT]) -> Option<LimitShares> {
        let [app, cwnd, rwnd, pacing, recovery] = held.map(Span::as_secs_f64);
        let of_all = |part| ratio(part, app + cwnd + rwnd + pacing + recovery);
        Some(LimitShares {
            app_limited_ratio: of_all(app)?,
            cwnd_limited_ratio: of_all(cwnd)?,
            rwnd_limited_ratio: of_all(rwnd)?,
            pacing_limited_ratio: of_all(pacing)?,
            recovery_limited_ratio: of_all(recovery)?,
        })
    }
}

/// What the summary of a flow says besides if a workload has made it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct WorkloadFlowSummary {
    /// The workload.
    pub workload: String,
    /// Bytes to transfer.
    pub size_bytes: u64,
    /// Size class.
    pub class: String,
    /// Flow completion time: arrival to the last byte read in order; absent if it had none.
    pub fct_s: Option<f64>,
    /// What it would be alone; absent without a path over links alone.
    pub ideal_fct_s: Option<f64>,
    /// Completion time divided by the ideal one.
    pub slowdown: Option<f64>,
    /// Arrival to the end of the handshake.
    pub handshake_s: Option<f64>,
    /// Arrival to the first byte read.
    pub first_byte_s: Option<f64>,
}

/// Data from a sink to its source.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ReverseSummary {
    /// New in-order payload read by the application, per second of the lifetime of the flow.
    pub goodput_bps: f64,
    /// Data packets sent, retransmissions included.
    pub sent_packets: u64,
    /// Data packets received, duplicates included.
    pub received_packets: u64,
    /// Data packets dropped.
    pub dropped_packets: u64,
    /// Data packets retransmitted.
    pub retransmitted_packets: u64,
    /// Data packets that a queue marked CE.
    pub marked_packets: u64,
    /// Payload delivered in order.
    pub delivered_bytes: u64,
    /// Network delay of data packets: last transmission to reception. Mean.
    pub delay_s: Option<f64>,
    /// 95th percentile of the network delay.
    pub delay_p95_s: Option<f64>,
}

impl ReverseSummary {
    fn of(data: &ReverseData, lifetime: Span) -> ReverseSummary {
        ReverseSummary {
            goodput_bps: ratio(8.0 * data.delivered_bytes.as_f64(), lifetime.as_secs_f64()).unwrap_or_default(),
            sent_packets: data.sent,
            received_packets: data.received,
            dropped_packets: data.dropped,
            retransmitted_packets: data.retransmitted,
            marked_packets: data.marked,
            delivered_bytes: data.delivered_bytes.0,
            delay_s: data.delays.mean_s(),
            delay_p95_s: data.delays.quantile_s(0.95),
        }
    }
}

/// Order of data packets (RFC 4737).
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct OrderSummary {
    /// Reordered / received packets (§4.1).
    pub reordered_ratio: Option<f64>,
    /// Reordering extent (§4.2): how many packets arrived before it, from the first that was sent after it. Median.
    pub reorder_extent_p50: Option<u64>,
    /// Its 95th percentile.
    pub reorder_extent_p95: Option<u64>,
    /// Its maximum; 1024 stands for more.
    pub reorder_extent_max: Option<u64>,
    /// Late time (§4.3): since the arrival of that first packet. 95th percentile.
    pub reorder_late_p95_s: Option<f64>,
    /// Received packets before which at least three arrived that were sent later (§5.4): what three duplicate ACKs take for lost.
    pub reorder_3_ratio: Option<f64>,
    /// Mean number of packets in order between two reordered ones (§5.2).
    pub reorder_runs_mean: Option<f64>,
}

pub(super) fn order_summary(counts: &OrderCounts) -> OrderSummary {
    let of_received = |count: u64| ratio(count as f64, counts.received as f64);
    OrderSummary {
        reordered_ratio: of_received(counts.reordered),
        reorder_extent_p50: counts.extent(0.5),
        reorder_extent_p95: counts.extent(0.95),
        reorder_extent_max: counts.extent(1.0),
        reorder_late_p95_s: counts.late.quantile_s(0.95),
        reorder_3_ratio: of_received(counts.by_three),
        reorder_runs_mean: ratio(counts.in_runs as f64, counts.runs as f64),
    }
}

/// What of a flow its own state does not say.
pub(super) struct FlowFacts<'a> {
    pub(super) serial: FlowId,
    pub(super) connection_of: Option<u32>,
    pub(super) from: String,
    pub(super) to: String,
    pub(super) cc: Option<&'a CcChoice>,
    /// What a whole transport is called.
    pub(super) native: Option<String>,
    pub(super) app: &'static str,
    pub(super) transport: &'static str,
    pub(super) start: Time,
    /// The measurement interval, as far as it is over.
    pub(super) window: [Time; 2],
    pub(super) in_flight_packets: u64,
    pub(super) distributions: &'a [DistributionName],
}

impl FlowFacts<'_> {
    /// Those of a flow that the expanded scenario lists.
    pub(super) fn listed<'a>(
        graph: &'a Scenario,
        listed: &'a [ListedFlow],
        flow: &Flow,
        id: FlowId,
        window: [Time; 2],
        in_flight_packets: u64,
    ) -> FlowFacts<'a> {
        let ListedFlow { cc, app, transport, start, native } = &listed[flow.owner.index()];
        let is_further = flow.owner != id;
        let name = |node: NodeId| graph.node[node.index()].name.clone();
        FlowFacts {
            serial: id,
            connection_of: is_further.then_some(flow.owner.0),
            from: name(flow.source),
            to: name(flow.sink),
            cc: cc.as_deref().or(graph.tcp.cc.as_ref()).filter(|_| *transport == "tcp" && *app != ListedFlow::PROGRAM),
            native: native.clone(),
            app,
            transport,
            start: flow.opened_at.filter(|_| is_further).unwrap_or(*start),
            window,
            in_flight_packets,
            distributions: &graph.record.distributions,
        }
    }
}

/// The metrics of a flow; a whole transport may not say what it sends again.
fn measures_of(flow: &Flow, interval: &IntervalMetrics, lifetime: Span) -> Measures {
    let measures = Measures::of(interval, lifetime, flow.app.write().is_some());
    match flow.foreign() {
        Some(foreign) if !foreign.counts.tells_retransmissions => Measures { retransmitted_packets: None, ..measures },
        _ => measures,
    }
}

pub(super) fn flow_summary(facts: FlowFacts<'_>, flow: &mut Flow, interval: &IntervalMetrics) -> FlowSummary {
    let FlowFacts {
        serial,
        connection_of,
        from,
        to,
        cc,
        native,
        app,
        transport,
        start,
        window: [warmup, now],
        in_flight_packets,
        distributions,
    } = facts;
    let lifetime = flow.lifetime(start, warmup, now);
    let (snapshot, totals, jumps) = (flow.snapshot(), flow.totals(), flow.resumptions());
    let told = flow.foreign().map(|foreign| foreign.stats(now));
    let known = |of: fn(&ForeignStats) -> f64| told.as_ref().map(of).filter(|value| value.is_finite());
    let of_tcp = |count: u64| told.is_none().then_some(count);
    FlowSummary {
        flow: serial.0,
        from,
        to,
        cc: cc.map(|cc| cc.name.clone()).or(native),
        cc_profile: cc.and_then(|cc| cc.profile.clone()),
        app,
        transport,
        start_s: start.as_secs_f64(),
        lifetime_s: lifetime.as_secs_f64(),
        measures: measures_of(flow, interval, lifetime),
        in_flight_packets,
        srtt_s: snapshot.and_then(|s| s.srtt).map(Span::as_secs_f64).or(known(|told| told.srtt_s)),
        min_rtt_s: snapshot.and_then(|s| s.min_rtt).map(Span::as_secs_f64).or(known(|told| told.min_rtt_s)),
        cwnd_mean_bytes: flow.cwnd_integral.mean(now),
        rto_count: of_tcp(totals.timeouts.into()),
        recovery_count: of_tcp(totals.recoveries.into()),
        undone_count: of_tcp(totals.undone.into()),
        resumed: jumps.map(|[resumed, ..]| resumed),
        jump_bytes: jumps.map(|[_, bytes, _]| bytes),
        retreats: jumps.map(|[.., retreats]| retreats),
        needless_retransmissions: of_tcp(flow.needless),
        limits: flow.limited(now).and_then(LimitShares::of),
        connected_s: flow.connected_at.map(|at| at.since(start).as_secs_f64()),
        completion_s: flow.completion(start).map(Span::as_secs_f64),
        unfinished_s: flow.unfinished(start, now).map(Span::as_secs_f64),
        hops: None,
        path_share: None,
        connection_of,
        distributions: distributions_of(interval, distributions),
        application: None,
        reverse: interval.reverse_data.as_deref().map(|data| Box::new(ReverseSummary::of(data, lifetime))),
        duplicated_packets: (interval.duplicated > 0).then_some(interval.duplicated),
        undelivered_bytes: flow.undelivered().map(|bytes| bytes.0),
        native: NativeSummary::of(flow, interval.dropped(), [start, now]),
        order: None,
        transfer: None,
    }
}
