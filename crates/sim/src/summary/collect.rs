//! From counters to the summary.

use tcp::units::{Bytes, Span, Time};

use super::{
    ChannelSummary, ConnectivitySummary, Conservation, Drops, FlowSummary, LinkSummary, Measures, NetworkEnergy,
    NetworkRadio, NetworkSummary, NodeSummary, SpaceSummary, Summary, TerminalSummary, radio,
};
use crate::constellation::Terminal;
use crate::host::flow::{Flow, Transport};
use crate::ids::{FlowId, NodeId};
use crate::link::Link;
use crate::metrics::report_defs::{FlowMonitor, NetSim, Ns2Awk, ratio};
use crate::metrics::{Delays, IntervalMetrics, jain};
use crate::scenario::{AppDef, Scenario, TransportDef};
use crate::wireless::WirelessSubnet;
use crate::world::World;

impl Measures {
    fn of(interval: &IntervalMetrics, measured: Span, offered: bool) -> Measures {
        let per_second = |bytes: Bytes| 8.0 * bytes.as_f64() / measured.as_secs_f64();
        let delays = &interval.delays;
        Measures {
            goodput_bps: per_second(interval.delivered_bytes),
            throughput_bps: per_second(interval.received_bytes),
            offered_bps: offered.then(|| per_second(interval.offered_bytes)),
            sent_packets: interval.sent,
            received_packets: interval.received,
            dropped_packets: interval.dropped(),
            retransmitted_packets: interval.retransmitted,
            ack_packets: interval.reverse.sent,
            drops: Drops::of(interval.drops),
            marked_packets: interval.marked,
            reordered_packets: interval.reordered,
            delivery_ratio: ratio(interval.received as f64, interval.sent as f64),
            loss_ratio: ratio(interval.dropped() as f64, interval.sent as f64),
            segment_delivery_ratio: ratio(interval.delivered_bytes.as_f64(), interval.unique_sent_bytes.as_f64()),
            delivered_bytes: interval.delivered_bytes.0,
            delay_s: delays.mean_s(),
            delay_min_s: delays.min_s(),
            delay_max_s: delays.max_s(),
            delay_p50_s: delays.quantile_s(0.50),
            delay_p95_s: delays.quantile_s(0.95),
            delay_p99_s: delays.quantile_s(0.99),
            app_delay_s: interval.app_delay(Delays::mean_s),
            app_delay_p95_s: interval.app_delay(|delays| delays.quantile_s(0.95)),
            jitter_s: delays.jitter_s(),
            jitter_rfc3550_s: delays.jitter_rfc3550_s(),
            ns2_awk: Ns2Awk::of(interval),
            flowmonitor: FlowMonitor::of(interval),
            netsim: NetSim::of(interval, measured),
        }
    }
}

/// Summarizes a run whose invariants have been checked.
pub(crate) fn of(world: &mut World) -> Summary {
    let measured = world.measured();
    let conservation = conservation(world);
    let in_flight = data_in_flight(world);
    let now = world.ctx.now;
    // Of the thousands of links of a constellation only those that were used.
    let shown = |world: &World, i: usize| world.constellation.is_none() || world.network.links[i].metrics.offered > 0;
    let listed: Vec<usize> = (0..world.network.links.len()).filter(|i| shown(world, *i)).collect();
    let links: Vec<LinkSummary> = listed.into_iter().map(|i| link_summary(world, i, measured)).collect();
    let mut flows = Vec::with_capacity(world.hosts.flows.len());
    for (index, flow) in world.hosts.flows.iter_mut().enumerate() {
        let interval = &world.ctx.flows[index].interval;
        flows.push(flow_summary(&world.graph, flow, interval, FlowId(index as u32), now, measured, in_flight[index]));
    }
    let connectivity = connect(world, &mut flows);
    let nodes = radio::nodes(world, now);
    Summary {
        engine: env!("CARGO_PKG_VERSION"),
        seed: world.seed,
        duration_s: now.as_secs_f64(),
        window_s: [world.resolved.warmup.as_secs_f64(), now.as_secs_f64()],
        events: world.ctx.events,
        network: NetworkSummary { connectivity, ..network_summary(world, &flows, &links, &nodes, measured) },
        channels: world.network.channels.iter().enumerate().map(|(i, c)| channel_summary(i, c, measured)).collect(),
        nodes,
        flows,
        links,
        space: world.constellation.as_ref().map(|dynamics| space_summary(&dynamics.terminals, now)),
        conservation,
        resolved: world.resolved.clone(),
    }
}

fn flow_summary(
    graph: &Scenario,
    flow: &mut Flow,
    interval: &IntervalMetrics,
    id: FlowId,
    now: Time,
    measured: Span,
    in_flight_packets: u64,
) -> FlowSummary {
    let def = &graph.flow[id.index()];
    let start = Time::ZERO + def.start;
    let snapshot = flow.snapshot();
    let totals = match &flow.transport {
        Transport::Tcp(sides) => sides[0].connection.totals(),
        Transport::Udp => Default::default(),
    };
    let (app, transport) = app_names(&def.app);
    let cc = def.tcp.cc.as_ref().or(graph.tcp.cc.as_ref()).filter(|_| transport == "tcp");
    FlowSummary {
        flow: id.0,
        from: def.from.clone(),
        to: def.to.clone(),
        cc: cc.map(|cc| cc.name.clone()),
        cc_profile: cc.and_then(|cc| cc.profile.clone()),
        app,
        transport,
        start_s: def.start.as_secs_f64(),
        measures: Measures::of(interval, measured, flow.app.write().is_some()),
        in_flight_packets,
        srtt_s: snapshot.and_then(|s| s.srtt).map(Span::as_secs_f64),
        min_rtt_s: snapshot.and_then(|s| s.min_rtt).map(Span::as_secs_f64),
        cwnd_mean_bytes: flow.cwnd_integral.mean(now),
        rto_count: totals.timeouts,
        recovery_count: totals.recoveries,
        connected_s: flow.connected_at.map(|at| at.since(start).as_secs_f64()),
        completion_s: flow.completion(start).map(Span::as_secs_f64),
        hops: None,
        path_share: None,
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

fn link_summary(world: &mut World, index: usize, measured: Span) -> LinkSummary {
    let now = world.ctx.now;
    let link = &mut world.network.links[index];
    let queue_mean_packets = link.metrics.mean_queue(now, measured);
    let metrics = &link.metrics;
    let name = |node: NodeId| world.graph.node[node.index()].name.clone();
    LinkSummary {
        link: index as u32,
        from: name(link.from),
        to: link.to.map_or_else(|| "terminals".into(), name),
        rate_bps: link.rate.as_bps(),
        utilisation: (metrics.busy.as_secs_f64() / measured.as_secs_f64()).min(1.0),
        sent_packets: metrics.transmitted,
        sent_bytes: metrics.transmitted_bytes.0,
        dropped_packets: metrics.dropped(),
        drops: Drops::of(metrics.drops),
        marked_packets: metrics.marks,
        queue_mean_packets,
        queue_max_packets: metrics.max_queue,
        queue_mean_s: ratio(metrics.waited.as_secs_f64(), metrics.transmitted as f64),
        in_flight_packets: link.holds(),
    }
}

fn space_summary(terminals: &[Terminal], end: Time) -> SpaceSummary {
    let of = |terminal: &Terminal| {
        let over: Vec<_> = terminal.handovers.iter().filter(|handover| handover.at <= end).collect();
        let ends = over.iter().skip(1).map(|next| next.at).chain([end]);
        let lost = over.iter().zip(ends).filter(|(handover, _)| handover.satellite.is_none());
        TerminalSummary {
            terminal: terminal.name.clone(),
            handovers: over.len() as u64 - 1,
            handover_times_s: over.iter().skip(1).map(|handover| handover.at.as_secs_f64()).collect(),
            out_of_view_s: lost.map(|(handover, until)| until.since(handover.at).as_secs_f64()).fold(0.0, |a, b| a + b),
        }
    };
    SpaceSummary { terminals: terminals.iter().map(of).collect() }
}

fn channel_summary(index: usize, channel: &WirelessSubnet, measured: Span) -> ChannelSummary {
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

fn network_summary(
    world: &World,
    flows: &[FlowSummary],
    links: &[LinkSummary],
    nodes: &[NodeSummary],
    measured: Span,
) -> NetworkSummary {
    let mut all = IntervalMetrics::default();
    world.ctx.flows.iter().for_each(|flow| all.merge(&flow.interval));
    let goodputs: Vec<f64> = flows.iter().map(|f| f.measures.goodput_bps).collect();
    let srtts: Vec<f64> = flows.iter().filter_map(|f| f.srtt_s).collect();
    NetworkSummary {
        flows: flows.len() as u64,
        flows_without_delivery: flows.iter().filter(|f| f.measures.delivered_bytes == 0).count() as u64,
        measures: Measures::of(&all, measured, world.hosts.flows.iter().all(|flow| flow.app.write().is_some())),
        jain: jain(&goodputs),
        goodput_min_bps: goodputs.iter().copied().fold(f64::INFINITY, f64::min),
        goodput_max_bps: goodputs.iter().copied().fold(0.0, f64::max),
        srtt_s: ratio(srtts.iter().sum(), srtts.len() as f64),
        rto_count: flows.iter().map(|f| f.rto_count).sum(),
        recovery_count: flows.iter().map(|f| f.recovery_count).sum(),
        utilisation_max: links.iter().map(|l| l.utilisation).fold(0.0, f64::max),
        connectivity: None,
        radio: NetworkRadio::of(&world.network),
        energy: NetworkEnergy::of(nodes, &all),
    }
}

/// Summarizes connectivity, and notes for each flow whether it had a path.
fn connect(world: &mut World, flows: &mut [FlowSummary]) -> Option<ConnectivitySummary> {
    let ends: Vec<(NodeId, NodeId)> = world.hosts.flows.iter().map(|flow| (flow.source, flow.sink)).collect();
    let found = world.reachability.take()?.run(world.ctx.now, &ends);
    for (index, flow) in flows.iter_mut().enumerate() {
        (flow.hops, flow.path_share) = (found.hops[index], Some(found.path_share[index]));
    }
    let reachable = || flows.iter().filter(|flow| flow.path_share > Some(0.0)).map(|flow| &flow.measures);
    let goodputs: Vec<f64> = reachable().map(|measures| measures.goodput_bps).collect();
    let sum = |of: fn(&Measures) -> u64| reachable().map(of).sum::<u64>() as f64;
    Some(ConnectivitySummary {
        components: found.components,
        largest_component: found.largest,
        mean_degree: found.mean_degree,
        flows_without_path: (flows.len() - goodputs.len()) as u64,
        placement_draws: found.placement_draws,
        goodput_reachable_bps: ratio(goodputs.iter().sum(), goodputs.len() as f64),
        delivery_reachable_ratio: ratio(sum(|m| m.received_packets), sum(|m| m.sent_packets)),
        jain_reachable: jain(&goodputs),
    })
}

/// Data packets of each flow that exist now.
fn data_in_flight(world: &World) -> Vec<u64> {
    let mut counts = vec![0; world.hosts.flows.len()];
    for packet in world.ctx.packets.iter().filter(|p| p.has_data() && !p.to.is_source()) {
        counts[packet.to.flow().index()] += 1;
    }
    counts
}

/// Counts the packets of the whole run. Those in flight are counted where they are, not by subtraction.
///
/// # Panics
///
/// If the packets on links and channels are not those that exist.
fn conservation(world: &World) -> Conservation {
    let mut sum = Conservation { in_flight: world.ctx.packets.iter().count() as u64, ..Conservation::default() };
    for flow in &world.ctx.flows {
        sum.sent += flow.tally.sent;
        sum.delivered += flow.tally.delivered;
        sum.dropped += flow.tally.dropped;
    }
    let on_links: u64 = world.network.links.iter().map(Link::holds).sum();
    let held = on_links + world.network.channels.iter().map(WirelessSubnet::holds).sum::<u64>();
    assert!(held == sum.in_flight, "{held} packets on links, {} in flight (seed {})", sum.in_flight, world.seed);
    sum
}
