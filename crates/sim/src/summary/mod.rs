//! The summary of a run: numbers per flow, link, node and network, each with its unit in its name. What was not measured
//! is absent, never 0.

mod collect;
mod radio;

use serde::Serialize;

use crate::metrics::report_defs::{FlowMonitor, NetSim, Ns2Awk};
use crate::packet::DropReason;
use crate::scenario::Scenario;

pub(crate) use collect::of;
pub use radio::{NetworkEnergy, NetworkRadio};

/// All numbers of a run.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Summary {
    /// Version of the engine.
    pub engine: &'static str,
    /// Seed of the run.
    pub seed: u64,
    /// Simulated duration.
    pub duration_s: f64,
    /// The measurement interval: begin and end.
    pub window_s: [f64; 2],
    /// Events handled.
    pub events: u64,
    /// Per flow, in the order of the scenario.
    pub flows: Vec<FlowSummary>,
    /// Per simplex link.
    pub links: Vec<LinkSummary>,
    /// Per wireless channel.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub channels: Vec<ChannelSummary>,
    /// Per node.
    pub nodes: Vec<NodeSummary>,
    /// Handovers; only of a constellation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub space: Option<SpaceSummary>,
    /// Over all flows.
    pub network: NetworkSummary,
    /// Packet conservation.
    pub conservation: Conservation,
    /// The scenario with every default filled in.
    pub resolved: Scenario,
}

/// Packets of the whole run: sent = delivered + dropped + in flight, checked per flow and per link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Conservation {
    /// Sent by transports.
    pub sent: u64,
    /// Received by their destination.
    pub delivered: u64,
    /// Dropped.
    pub dropped: u64,
    /// Queued or in flight at the end.
    pub in_flight: u64,
}

/// Data packets dropped, by reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Drops {
    /// The queue was full.
    pub queue: u64,
    /// The medium lost them.
    pub loss: u64,
    /// The link was down.
    pub link_down: u64,
    /// No route.
    pub no_route: u64,
    /// Active queue management dropped them.
    pub aqm: u64,
    /// The MAC reached its retry limit.
    pub retry: u64,
    /// Their lifetime in the queue of a station expired.
    pub expired: u64,
    /// Their TTL expired.
    pub ttl: u64,
    /// They waited for a route: too long, or with too many others.
    pub route_wait: u64,
    /// They waited for address resolution of the next hop.
    pub arp: u64,
    /// They waited at an access point for a station that has joined another.
    pub reassociation: u64,
    /// Channel access failure: every CCA found the medium busy (IEEE 802.15.4).
    pub access: u64,
    /// They did not fit into a frame, or into the fragments that the link allows.
    pub too_long: u64,
    /// Their reassembly timed out.
    pub reassembly: u64,
}

impl Drops {
    fn of(counts: [u64; DropReason::ALL.len()]) -> Drops {
        let [queue, loss, link_down, no_route, aqm, retry, expired, ttl, route_wait, arp, rest @ ..] = counts;
        let [reassociation, access, too_long, reassembly] = rest;
        Drops {
            queue,
            loss,
            link_down,
            no_route,
            aqm,
            retry,
            expired,
            ttl,
            route_wait,
            arp,
            reassociation,
            access,
            too_long,
            reassembly,
        }
    }
}

/// Metrics of a flow, and of all flows together.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Measures {
    /// New in-order payload read by the application, per second of the measurement interval.
    pub goodput_bps: f64,
    /// All payload received by the transport, duplicates included.
    pub throughput_bps: f64,
    /// What the application wrote; absent for an endless transfer.
    pub offered_bps: Option<f64>,
    /// Data packets sent, retransmissions included.
    pub sent_packets: u64,
    /// Data packets received, duplicates included.
    pub received_packets: u64,
    /// Data packets dropped.
    pub dropped_packets: u64,
    /// Data packets retransmitted.
    pub retransmitted_packets: u64,
    /// Packets from the sinks: acknowledgments and handshakes.
    pub ack_packets: u64,
    /// Data packets dropped, by reason.
    pub drops: Drops,
    /// Data packets that a queue marked CE.
    pub marked_packets: u64,
    /// Data packets that the network delivered after one that was sent later.
    pub reordered_packets: u64,
    /// Received / sent data packets.
    pub delivery_ratio: Option<f64>,
    /// Dropped / sent data packets.
    pub loss_ratio: Option<f64>,
    /// Payload delivered in order / payload sent for the first time.
    pub segment_delivery_ratio: Option<f64>,
    /// Payload delivered in order.
    pub delivered_bytes: u64,
    /// Network delay of data packets: last transmission to reception. Mean.
    pub delay_s: Option<f64>,
    /// Minimum network delay.
    pub delay_min_s: Option<f64>,
    /// Maximum network delay.
    pub delay_max_s: Option<f64>,
    /// Median network delay.
    pub delay_p50_s: Option<f64>,
    /// 95th percentile of the network delay.
    pub delay_p95_s: Option<f64>,
    /// 99th percentile of the network delay.
    pub delay_p99_s: Option<f64>,
    /// Application delay of messages: write to in-order read. Mean.
    pub app_delay_s: Option<f64>,
    /// 95th percentile of the application delay.
    pub app_delay_p95_s: Option<f64>,
    /// Mean absolute difference of consecutive network delays.
    pub jitter_s: Option<f64>,
    /// Interarrival jitter (RFC 3550).
    pub jitter_rfc3550_s: Option<f64>,
    /// As ns-2 students' scripts compute it.
    pub ns2_awk: Ns2Awk,
    /// As ns-3's FlowMonitor computes it.
    pub flowmonitor: FlowMonitor,
    /// As NetSim computes it.
    pub netsim: NetSim,
}

/// A flow.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct FlowSummary {
    /// Its index.
    pub flow: u32,
    /// Source node.
    pub from: String,
    /// Sink node.
    pub to: String,
    /// Congestion control; absent for UDP.
    pub cc: Option<String>,
    /// Its profile.
    pub cc_profile: Option<String>,
    /// Application.
    pub app: &'static str,
    /// `tcp` or `udp`.
    pub transport: &'static str,
    /// When it started.
    pub start_s: f64,
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
    pub rto_count: u64,
    /// Fast recovery episodes, over the whole run.
    pub recovery_count: u64,
    /// Start to the end of the handshake.
    pub connected_s: Option<f64>,
    /// Flow completion time: start to the last byte.
    pub completion_s: Option<f64>,
    /// Hops on the shortest path at the start; absent without a path, and in a network without radio.
    pub hops: Option<u32>,
    /// Share of the instants, one in every second of the run, at which there was a path; absent without radio.
    pub path_share: Option<f64>,
}

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
    /// The same by reason.
    pub drops: Drops,
    /// Packets that its queue marked CE, over the whole run.
    pub marked_packets: u64,
    /// Time-weighted mean number of packets queued.
    pub queue_mean_packets: f64,
    /// Maximum number of packets queued.
    pub queue_max_packets: u64,
    /// Mean queueing delay of transmitted packets.
    pub queue_mean_s: Option<f64>,
    /// Packets queued or in flight at the end.
    pub in_flight_packets: u64,
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

/// A node.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct NodeSummary {
    /// Its name.
    pub node: String,
    /// Packets its transports sent, over the whole run.
    pub sent_packets: u64,
    /// Packets it received as their destination.
    pub received_packets: u64,
    /// Packets it forwarded.
    pub forwarded_packets: u64,
    /// Packets for which it had no route.
    pub dropped_packets: u64,
    /// Energy that its radio consumed in the measurement interval; absent, as all energy, if that is not modelled.
    pub energy_j: Option<f64>,
    /// Energy for transmission.
    pub energy_tx_j: Option<f64>,
    /// Energy for reception.
    pub energy_rx_j: Option<f64>,
    /// Energy for neither.
    pub energy_idle_j: Option<f64>,
    /// Time at which its energy ran out, if it did.
    pub energy_out_s: Option<f64>,
}

/// A constellation.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SpaceSummary {
    /// By terminal.
    pub terminals: Vec<TerminalSummary>,
}

/// A terminal of a constellation.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TerminalSummary {
    /// Its name.
    pub terminal: String,
    /// Handovers over the whole run; losing the last satellite in view counts as one, and so does finding one again.
    pub handovers: u64,
    /// Times of the handovers.
    pub handover_times_s: Vec<f64>,
    /// Time without a satellite in view, of the whole run.
    pub out_of_view_s: f64,
}

/// All flows together.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct NetworkSummary {
    /// Number of flows.
    pub flows: u64,
    /// Flows of which nothing was delivered.
    pub flows_without_delivery: u64,
    /// Sums, and means weighted by packets.
    #[serde(flatten)]
    pub measures: Measures,
    /// Jain's fairness index of the goodputs.
    pub jain: Option<f64>,
    /// Minimum goodput of a flow.
    pub goodput_min_bps: f64,
    /// Maximum goodput of a flow.
    pub goodput_max_bps: f64,
    /// Mean of the flows' smoothed RTT at the end.
    pub srtt_s: Option<f64>,
    /// Retransmission timeouts of all flows.
    pub rto_count: u64,
    /// Fast recovery episodes of all flows.
    pub recovery_count: u64,
    /// Utilisation of the busiest link.
    pub utilisation_max: f64,
    /// Connectivity; absent without radio.
    #[serde(flatten)]
    pub connectivity: Option<ConnectivitySummary>,
    /// Frames and messages of all radios.
    #[serde(flatten)]
    pub radio: NetworkRadio,
    /// Energy of all radios.
    #[serde(flatten)]
    pub energy: NetworkEnergy,
}

/// Connectivity of a network with radio.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ConnectivitySummary {
    /// Number of connected components at the start; 1 if all nodes reached one another.
    pub components: u64,
    /// Number of nodes in the largest component.
    pub largest_component: u64,
    /// Neighbours of a node at the start. Mean.
    pub mean_degree: f64,
    /// Flows that never had a path.
    pub flows_without_path: u64,
    /// Placements drawn until one was connected, if it had to be: its mean over seeds is 1 / acceptance rate.
    pub placement_draws: Option<u32>,
    /// Mean goodput of the flows that had a path at some instant.
    pub goodput_reachable_bps: Option<f64>,
    /// Their received / sent data packets.
    pub delivery_reachable_ratio: Option<f64>,
    /// Jain's fairness index of their goodputs.
    pub jain_reachable: Option<f64>,
}
