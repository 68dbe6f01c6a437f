//! The numbers of a run: per flow, link, node and network, each with its unit in its name. What was not measured is
//! absent, never 0.

mod collect;

use serde::Serialize;

use crate::metrics::report_defs::{NetSim, StudentNs2, StudentNs3};
use crate::packet::DropReason;
use crate::scenario::Scenario;

pub(crate) use collect::of;

/// All numbers of a run.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Summary {
    /// Version of the engine.
    pub engine: &'static str,
    /// Seed of the run.
    pub seed: u64,
    /// Simulated time.
    pub duration_s: f64,
    /// The measured part: begin and end.
    pub window_s: [f64; 2],
    /// Events handled.
    pub events: u64,
    /// Per flow, in the order of the scenario.
    pub flows: Vec<FlowSummary>,
    /// Per simplex link.
    pub links: Vec<LinkSummary>,
    /// Per node.
    pub nodes: Vec<NodeSummary>,
    /// What satellites did; only for a constellation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub space: Option<SpaceSummary>,
    /// Over all flows.
    pub network: NetworkSummary,
    /// The proof that no packet was made or lost by the simulator.
    pub conservation: Conservation,
    /// Every parameter.
    pub resolved: Scenario,
}

/// Packets of the whole run: sent = delivered + dropped + in flight, checked per flow and per link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Conservation {
    /// Handed to the network.
    pub sent: u64,
    /// Taken by their destination.
    pub delivered: u64,
    /// Given up.
    pub dropped: u64,
    /// Waiting or travelling when the run ended.
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
    /// The queue's discipline dropped them to keep the queue short.
    pub aqm: u64,
}

impl Drops {
    fn of(counts: [u64; DropReason::ALL.len()]) -> Drops {
        let [queue, loss, link_down, no_route, aqm] = counts;
        Drops { queue, loss, link_down, no_route, aqm }
    }
}

/// What is measured of a flow, and of all flows together.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Measures {
    /// New in-order payload read by the application, per second of the measured part.
    pub goodput_bps: f64,
    /// All payload received by the transport, duplicates included.
    pub throughput_bps: f64,
    /// What the application wrote; absent for a transfer without end.
    pub offered_bps: Option<f64>,
    /// Data packets handed to the network, retransmissions included.
    pub sent_packets: u64,
    /// Data packets received, duplicates included.
    pub received_packets: u64,
    /// Data packets dropped.
    pub dropped_packets: u64,
    /// Data packets sent again.
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
    /// Least network delay.
    pub delay_min_s: Option<f64>,
    /// Greatest network delay.
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
    pub student_ns2: StudentNs2,
    /// As ns-3's FlowMonitor computes it.
    pub student_ns3: StudentNs3,
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
    /// Data packets waiting or travelling at the end.
    pub in_flight_packets: u64,
    /// Smoothed RTT at the end.
    pub srtt_s: Option<f64>,
    /// Least RTT.
    pub min_rtt_s: Option<f64>,
    /// Time-weighted mean of cwnd since the connection was made or the warm-up ended.
    pub cwnd_mean_bytes: Option<f64>,
    /// Retransmission time-outs, over the whole run.
    pub rto_count: u64,
    /// Episodes of fast retransmit, over the whole run.
    pub recovery_count: u64,
    /// Start to the end of the handshake.
    pub connected_s: Option<f64>,
    /// Start to the last byte, for a flow that ended.
    pub completion_s: Option<f64>,
}

/// A simplex link.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LinkSummary {
    /// Its index.
    pub link: u32,
    /// Where it begins.
    pub from: String,
    /// Where it ends.
    pub to: String,
    /// Rate at the end of the run.
    pub rate_bps: u64,
    /// Share of the measured part in which it transmitted.
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
    /// Time-weighted mean of packets waiting.
    pub queue_mean_packets: f64,
    /// Most packets waiting.
    pub queue_max_packets: u64,
    /// Mean wait of a transmitted packet.
    pub queue_mean_s: Option<f64>,
    /// Packets waiting or travelling at the end.
    pub in_flight_packets: u64,
}

/// A node.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct NodeSummary {
    /// Its name.
    pub node: String,
    /// Packets its transports sent, over the whole run.
    pub sent_packets: u64,
    /// Packets it took.
    pub received_packets: u64,
    /// Packets it passed on.
    pub forwarded_packets: u64,
    /// Packets for which it had no route.
    pub dropped_packets: u64,
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
    /// Changes of its satellite, over the whole run; losing the last one in view counts, and so does finding one again.
    pub handovers: u64,
    /// When they were.
    pub handover_times_s: Vec<f64>,
    /// Part of the whole run without a satellite, seconds.
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
    /// Least goodput of a flow.
    pub goodput_min_bps: f64,
    /// Greatest goodput of a flow.
    pub goodput_max_bps: f64,
    /// Mean of the flows' smoothed RTT at the end.
    pub srtt_s: Option<f64>,
    /// Time-outs of all flows.
    pub rto_count: u64,
    /// Fast retransmits of all flows.
    pub recovery_count: u64,
    /// Utilisation of the busiest link.
    pub utilisation_max: f64,
}
