//! The numbers of a run: per flow, link, node and network, each with its unit in its name. What was not measured is
//! absent, never 0.

use serde::Serialize;
use tcp::units::{Span, Time};

use crate::event::FlowId;
use crate::flow::{Flow, Transport};
use crate::metrics::report_defs::{NetSim, StudentNs2, StudentNs3, ratio};
use crate::metrics::{FlowWindow, jain};
use crate::packet::DropReason;
use crate::scenario::{AppDef, FlowDef, Scenario, TransportDef};
use crate::simulation::Simulation;

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
}

impl Drops {
    fn of(counts: [u64; DropReason::ALL.len()]) -> Drops {
        let [queue, loss, link_down, no_route] = counts;
        Drops { queue, loss, link_down, no_route }
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

impl Measures {
    fn of(window: &FlowWindow, measured: Span, offered: bool) -> Measures {
        let per_second = |bytes: tcp::units::Bytes| 8.0 * bytes.as_f64() / measured.as_secs_f64();
        let delays = &window.delays;
        Measures {
            goodput_bps: per_second(window.delivered_bytes),
            throughput_bps: per_second(window.received_bytes),
            offered_bps: offered.then(|| per_second(window.offered_bytes)),
            sent_packets: window.sent,
            received_packets: window.received,
            dropped_packets: window.dropped(),
            retransmitted_packets: window.retransmitted,
            ack_packets: window.reverse.sent,
            drops: Drops::of(window.drops),
            delivery_ratio: ratio(window.received as f64, window.sent as f64),
            loss_ratio: ratio(window.dropped() as f64, window.sent as f64),
            segment_delivery_ratio: ratio(window.delivered_bytes.as_f64(), window.unique_sent_bytes.as_f64()),
            delivered_bytes: window.delivered_bytes.0,
            delay_s: delays.mean_s(),
            delay_min_s: delays.min_s(),
            delay_max_s: delays.max_s(),
            delay_p50_s: delays.quantile_s(0.50),
            delay_p95_s: delays.quantile_s(0.95),
            delay_p99_s: delays.quantile_s(0.99),
            app_delay_s: window.app_delays.mean_s(),
            app_delay_p95_s: window.app_delays.quantile_s(0.95),
            jitter_s: delays.jitter_s(),
            jitter_rfc3550_s: delays.jitter_rfc3550_s(),
            student_ns2: StudentNs2::of(window),
            student_ns3: StudentNs3::of(window),
            netsim: NetSim::of(window, measured),
        }
    }
}

/// Sums a run up and checks its books.
pub(crate) fn of(run: &mut Simulation) -> Summary {
    let measured = run.measured();
    let conservation = balance(run);
    let in_flight = data_in_flight(run);
    let now = run.core.now;
    let links: Vec<LinkSummary> = (0..run.network.links.len()).map(|i| link_summary(run, i, measured)).collect();
    let mut flows = Vec::with_capacity(run.hosts.flows.len());
    for (index, flow) in run.hosts.flows.iter_mut().enumerate() {
        let window = &run.core.flows[index].window;
        flows.push(flow_summary(
            &run.graph.flow[index],
            flow,
            window,
            FlowId(index as u32),
            now,
            measured,
            in_flight[index],
        ));
    }
    let nodes = run.graph.node.iter().zip(&run.network.nodes).map(|(def, metrics)| NodeSummary {
        node: def.name.clone(),
        sent_packets: metrics.sent,
        received_packets: metrics.received,
        forwarded_packets: metrics.forwarded,
        dropped_packets: metrics.no_route,
    });
    Summary {
        engine: env!("CARGO_PKG_VERSION"),
        seed: run.seed,
        duration_s: now.as_secs_f64(),
        window_s: [run.resolved.warmup.as_secs_f64(), now.as_secs_f64()],
        events: run.core.events,
        network: network_summary(run, &flows, &links, measured),
        nodes: nodes.collect(),
        flows,
        links,
        conservation,
        resolved: run.resolved.clone(),
    }
}

fn flow_summary(
    def: &FlowDef,
    flow: &mut Flow,
    window: &FlowWindow,
    id: FlowId,
    now: Time,
    measured: Span,
    in_flight_packets: u64,
) -> FlowSummary {
    let start = Time::ZERO + def.start;
    let snapshot = flow.snapshot();
    let totals = match &flow.transport {
        Transport::Tcp(sides) => sides[0].connection.totals(),
        Transport::Udp => Default::default(),
    };
    let (app, transport) = app_names(&def.app);
    let cc = def.tcp.cc.as_ref().filter(|_| transport == "tcp");
    FlowSummary {
        flow: id.0,
        from: def.from.clone(),
        to: def.to.clone(),
        cc: cc.map(|cc| cc.name.clone()),
        cc_profile: cc.and_then(|cc| cc.profile.clone()),
        app,
        transport,
        start_s: def.start.as_secs_f64(),
        measures: Measures::of(window, measured, flow.app.write().is_some()),
        in_flight_packets,
        srtt_s: snapshot.and_then(|s| s.srtt).map(Span::as_secs_f64),
        min_rtt_s: snapshot.and_then(|s| s.min_rtt).map(Span::as_secs_f64),
        cwnd_mean_bytes: flow.window_area.mean(now),
        rto_count: totals.timeouts,
        recovery_count: totals.recoveries,
        connected_s: flow.connected_at.map(|at| at.since(start).as_secs_f64()),
        completion_s: flow.completion(start).map(Span::as_secs_f64),
    }
}

fn app_names(app: &AppDef) -> (&'static str, &'static str) {
    let name = |transport| if transport == TransportDef::Udp { "udp" } else { "tcp" };
    match app {
        AppDef::Bulk(_) => ("bulk", "tcp"),
        AppDef::Cbr(cbr) => ("cbr", name(cbr.transport)),
        AppDef::OnOff(on_off) => ("on_off", name(on_off.transport)),
    }
}

fn link_summary(run: &mut Simulation, index: usize, measured: Span) -> LinkSummary {
    let now = run.core.now;
    let link = &mut run.network.links[index];
    let queue_mean_packets = link.metrics.mean_queue(now, measured);
    let metrics = &link.metrics;
    let name = |node: crate::event::NodeId| run.graph.node[node.index()].name.clone();
    LinkSummary {
        link: index as u32,
        from: name(link.from),
        to: name(link.to),
        rate_bps: link.rate.as_bps(),
        utilisation: (metrics.busy.as_secs_f64() / measured.as_secs_f64()).min(1.0),
        sent_packets: metrics.transmitted,
        sent_bytes: metrics.transmitted_bytes.0,
        dropped_packets: metrics.dropped(),
        drops: Drops::of(metrics.drops),
        queue_mean_packets,
        queue_max_packets: metrics.max_queue,
        queue_mean_s: ratio(metrics.waited.as_secs_f64(), metrics.transmitted as f64),
        in_flight_packets: link.holds(),
    }
}

fn network_summary(run: &Simulation, flows: &[FlowSummary], links: &[LinkSummary], measured: Span) -> NetworkSummary {
    let mut all = FlowWindow::default();
    run.core.flows.iter().for_each(|flow| all.merge(&flow.window));
    let goodputs: Vec<f64> = flows.iter().map(|f| f.measures.goodput_bps).collect();
    let srtts: Vec<f64> = flows.iter().filter_map(|f| f.srtt_s).collect();
    NetworkSummary {
        flows: flows.len() as u64,
        flows_without_delivery: flows.iter().filter(|f| f.measures.delivered_bytes == 0).count() as u64,
        measures: Measures::of(&all, measured, run.hosts.flows.iter().all(|flow| flow.app.write().is_some())),
        jain: jain(&goodputs),
        goodput_min_bps: goodputs.iter().copied().fold(f64::INFINITY, f64::min),
        goodput_max_bps: goodputs.iter().copied().fold(0.0, f64::max),
        srtt_s: ratio(srtts.iter().sum(), srtts.len() as f64),
        rto_count: flows.iter().map(|f| f.rto_count).sum(),
        recovery_count: flows.iter().map(|f| f.recovery_count).sum(),
        utilisation_max: links.iter().map(|l| l.utilisation).fold(0.0, f64::max),
    }
}

/// Data packets of each flow that exist now.
fn data_in_flight(run: &Simulation) -> Vec<u64> {
    let mut counts = vec![0; run.hosts.flows.len()];
    for packet in run.core.packets.iter().filter(|p| p.has_data() && !p.to.is_source()) {
        counts[packet.to.flow().index()] += 1;
    }
    counts
}

/// Checks that every packet is accounted for. What is in flight is counted where it is, not by subtraction.
fn balance(run: &Simulation) -> Conservation {
    let mut alive = vec![0; run.core.flows.len()];
    run.core.packets.iter().for_each(|packet| alive[packet.to.flow().index()] += 1);
    let mut sum = Conservation::default();
    for (index, flow) in run.core.flows.iter().enumerate() {
        let (tally, in_flight) = (flow.tally, alive[index]);
        assert!(
            tally.sent == tally.delivered + tally.dropped + in_flight,
            "flow {index} lost count of its packets (seed {}): {tally:?}, {in_flight} in flight",
            run.seed
        );
        sum.sent += tally.sent;
        sum.delivered += tally.delivered;
        sum.dropped += tally.dropped;
        sum.in_flight += in_flight;
    }
    let mut on_links = 0;
    for (index, link) in run.network.links.iter().enumerate() {
        let metrics = &link.metrics;
        assert!(
            metrics.offered == metrics.delivered + metrics.dropped() + link.holds(),
            "link {index} lost count of its packets (seed {}): {metrics:?}, {} held",
            run.seed,
            link.holds()
        );
        on_links += link.holds();
    }
    assert!(on_links == sum.in_flight, "{on_links} packets on links, {} in flight (seed {})", sum.in_flight, run.seed);
    sum
}
