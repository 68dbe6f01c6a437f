//! The summaries of links and wireless channels.

use std::collections::BTreeMap;

use serde::Serialize;
use tcp::units::{Bytes, Span};

use super::measures::Drops;
use crate::engine::context::Context;
use crate::ids::{FlowId, LinkId, NodeId};
use crate::link::service::ServiceReport;
use crate::metrics::{Delays, ratio};
use crate::qdisc::{HostBytes, QueueReport};
use crate::wireless::WirelessSubnet;
use crate::world::World;

/// A simplex link.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LinkSummary {
    /// Its index.
    pub link: u32,
    /// Node at its near end.
    pub from: String,
    /// Node at its far end; `terminals` for a downlink that those of a satellite share.
    pub to: String,
    /// Rate at the end of the run.
    pub rate_bps: u64,
    /// Fraction of the measurement interval in which it transmitted.
    pub utilisation: f64,
    /// Packets transmitted.
    pub sent_packets: u64,
    /// Bytes transmitted, framing included.
    pub sent_bytes: u64,
    /// Packets dropped, over the whole run.
    pub dropped_packets: u64,
    /// Packets dropped, by reason.
    pub drops: Drops,
    /// Packets that its queue marked CE, over the whole run.
    pub marked_packets: u64,
    /// Packets whose ECN field or options it rewrote as they entered, over the whole run; absent where it rewrites nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn_rewritten: Option<u64>,
    /// Time-weighted mean number of packets queued.
    pub queue_mean_packets: f64,
    /// Maximum number of packets queued.
    pub queue_max_packets: u64,
    /// Largest backlog, framing included.
    pub queue_max_bytes: u64,
    /// Mean queueing delay of transmitted packets.
    pub delay_queue_mean_s: Option<f64>,
    /// Its median, exact to 1 %.
    pub delay_queue_p50_s: Option<f64>,
    /// Its 99th percentile, exact to 1 %.
    pub delay_queue_p99_s: Option<f64>,
    /// The greatest, exact to 1 %.
    pub delay_queue_max_s: Option<f64>,
    /// Waiting times of the packets of each listed flow, with `record.waits`; both its directions, where they share the link.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<WaitSummary>,
    /// Packets queued or in flight at the end.
    pub in_flight_packets: u64,
    /// What its queue reports of the queues inside it.
    #[serde(flatten)]
    pub queue: Option<QueueReport>,
    /// Bytes that hosts have sent and received through CAKE; absent with any other queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_share: Option<Box<HostShare>>,
    /// What its service offered; absent at a constant rate.
    #[serde(flatten)]
    pub service: Option<Box<ServiceSummary>>,
    /// Packets that it copied, over the whole run; absent where it cannot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicated_packets: Option<u64>,
    /// Packets that it damaged, over the whole run; absent where it cannot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrupted_packets: Option<u64>,
}

/// Waiting times of the packets of one flow in one queue.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct WaitSummary {
    /// The flow.
    pub flow: u32,
    /// Its packets that were transmitted.
    pub packets: u64,
    /// Mean wait.
    pub wait_mean_s: Option<f64>,
    /// Median.
    pub wait_p50_s: Option<f64>,
    /// 99th percentile, exact to 1 %.
    pub wait_p99_s: Option<f64>,
    /// The longest.
    pub wait_max_s: Option<f64>,
}

fn waits_of(ctx: &Context, link: LinkId) -> Vec<WaitSummary> {
    let all = ctx.waits.iter().flat_map(|waits| waits.of(link));
    let summary = |(flow, delays): (FlowId, &Delays)| WaitSummary {
        flow: flow.0,
        packets: delays.count(),
        wait_mean_s: delays.mean_s(),
        wait_p50_s: delays.quantile_s(0.5),
        wait_p99_s: delays.quantile_s(0.99),
        wait_max_s: delays.max_s(),
    };
    all.map(summary).collect()
}

/// Bytes that left a queue for the transmitter in the measurement interval, framing of the link included, by the names of nodes.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct HostShare {
    /// By the node that sent them.
    pub by_source: BTreeMap<String, u64>,
    /// By the node that they are for.
    pub by_destination: BTreeMap<String, u64>,
}

/// What the service of a link offered in the measurement interval, and what was used.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ServiceSummary {
    /// Mean rate offered.
    pub capacity_bps: f64,
    /// Bytes of the packets served, framing included.
    pub used_bytes: u64,
    /// Opportunities; absent without them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opportunities: Option<u64>,
    /// Bytes of an opportunity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opportunity_bytes: Option<u64>,
    /// Aggregates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bursts: Option<u64>,
    /// Mean number of packets in an aggregate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst_packets_mean: Option<f64>,
    /// Grants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grants: Option<u64>,
    /// Time slots that began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slots: Option<u64>,
}

fn host_share(bytes: &HostBytes, name: impl Fn(NodeId) -> String) -> HostShare {
    let named =
        |by_node: &BTreeMap<NodeId, Bytes>| by_node.iter().map(|(node, bytes)| (name(*node), bytes.0)).collect();
    HostShare { by_source: named(&bytes.by_source), by_destination: named(&bytes.by_destination) }
}

fn service_summary(report: &ServiceReport, measured: Span) -> ServiceSummary {
    let counted = |count: u64| (count > 0).then_some(count);
    let ServiceReport { counts, offered, opportunity, slots } = *report;
    ServiceSummary {
        capacity_bps: 8.0 * offered / measured.as_secs_f64(),
        used_bytes: counts.used.0,
        opportunities: opportunity.map(|_| counts.opportunities),
        opportunity_bytes: opportunity.map(|bytes| bytes.0),
        bursts: counted(counts.bursts),
        burst_packets_mean: ratio(counts.burst_packets as f64, counts.bursts as f64),
        grants: counted(counts.grants),
        slots,
    }
}

/// A wireless channel.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ChannelSummary {
    /// Its index.
    pub channel: u32,
    /// Stations on it.
    pub stations: u64,
    /// Messages of routing, address resolution and access points transmitted in the measurement interval, retransmissions
    /// included.
    pub message_count: u64,
    /// Their bytes at the network layer.
    pub message_bytes: u64,
    /// Sum of their airtimes over all stations, as a fraction of that interval.
    pub message_airtime: f64,
}

pub(super) fn link_summary(world: &mut World, index: usize, measured: Span) -> LinkSummary {
    let now = world.ctx.now;
    let link = &mut world.network.links[index];
    let queue_mean_packets = link.metrics.mean_queue(now, measured);
    let report = link.service.as_mut().and_then(|service| service.report(now));
    let queue = link.queue_report(now);
    let effects = link.effects.as_ref();
    let metrics = &link.metrics;
    // The packet that is under way at the end counts as a whole.
    let offered_used = report.as_ref().and_then(|report| ratio(report.counts.used.as_f64(), report.offered));
    let busy = (metrics.busy.as_secs_f64() / measured.as_secs_f64()).min(1.0);
    let name = |node: NodeId| world.graph.node[node.index()].name.clone();
    LinkSummary {
        link: index as u32,
        from: name(link.from),
        to: link.to.map_or_else(|| "terminals".into(), name),
        rate_bps: link.rate.as_bps(),
        // A packet under way counts whole, and may be more than all that was offered.
        utilisation: offered_used.map_or(busy, |used| used.min(1.0)),
        sent_packets: metrics.transmitted,
        sent_bytes: metrics.transmitted_bytes.0,
        dropped_packets: metrics.dropped(),
        drops: Drops::of(metrics.drops()),
        marked_packets: metrics.marks,
        ecn_rewritten: link.marking.as_ref().and_then(|marking| marking.rewritten()),
        queue_mean_packets,
        queue_max_packets: metrics.max_queue,
        queue_max_bytes: metrics.max_queue_bytes.0,
        waits: waits_of(&world.ctx, LinkId(index as u32)),
        delay_queue_mean_s: metrics.mean_wait_s(),
        delay_queue_p50_s: metrics.wait_quantile_s(0.5),
        delay_queue_p99_s: metrics.wait_quantile_s(0.99),
        delay_queue_max_s: metrics.wait_quantile_s(1.0),
        in_flight_packets: link.holds(),
        service: report.map(|report| Box::new(service_summary(&report, measured))),
        duplicated_packets: effects.map(|effects| effects.duplicated),
        corrupted_packets: effects.map(|effects| effects.corrupted),
        host_share: link.host_bytes().map(|bytes| Box::new(host_share(bytes, name))),
        queue,
    }
}

pub(super) fn channel_summary(index: usize, channel: &WirelessSubnet, measured: Span) -> ChannelSummary {
    let counts = channel.stations().map(|station| channel.mac.counters(station));
    let (mut count, mut bytes, mut airtime) = (0, Bytes::ZERO, Span::ZERO);
    for counts in counts {
        count += counts.messages;
        bytes += counts.message_bytes;
        airtime += counts.message_airtime;
    }
    ChannelSummary {
        channel: index as u32,
        stations: channel.nodes.len() as u64,
        message_count: count,
        message_bytes: bytes.0,
        message_airtime: airtime.as_secs_f64() / measured.as_secs_f64(),
    }
}
