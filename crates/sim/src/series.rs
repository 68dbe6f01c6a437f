//! Time series, recorded only on request: columns of times, ids and values.

use tcp::Snapshot;
use tcp::cc::State;
use tcp::units::{Bytes, Span, Time};

use crate::engine::context::Context;
use crate::host::Hosts;
use crate::host::flow::Flow;
use crate::ids::{FlowId, NodeId};
use crate::metrics::{LinkMetrics, Waited};
use crate::mobility::Point;
use crate::network::Network;
use crate::qdisc::QueueSample;
use crate::scenario::{Every, RecordDef, SeriesName};
use crate::workload::Workloads;

/// A series: parallel columns.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Column {
    /// Time in seconds.
    pub t_s: Vec<f64>,
    /// Flow; link for queues; node for energy and positions; workload.
    pub id: Vec<u32>,
    /// Value: bytes, seconds, bits per second, or a number.
    pub value: Vec<f64>,
}

impl Column {
    fn push(&mut self, now: Time, id: usize, value: f64) {
        self.t_s.push(now.as_secs_f64());
        self.id.push(id as u32);
        self.value.push(value);
    }
}

/// The series that a run records.
#[derive(Debug)]
pub(crate) struct Series {
    wanted: Vec<SeriesName>,
    every: Every,
    bin: Span,
    columns: Vec<Column>,
    /// The last value by series and flow, to record changes only.
    last: Vec<Vec<f64>>,
    received: Vec<Bytes>,
    read: Vec<u64>,
    /// By series and workload: what it has counted until the last sample.
    totals: Vec<Vec<u64>>,
    has_queued: Vec<bool>,
    /// By link: what had waited at the last sample.
    waited: Vec<Waited>,
    /// By series and link: the last count.
    counts: Vec<Vec<u64>>,
    /// Time of the next sample.
    next: Option<Time>,
    /// Senders are sampled after every input.
    on_flow_change: bool,
    /// By series and node: the last position.
    positions: Vec<Vec<f64>>,
}

/// Series that an ACK can change.
const SENDER_SERIES: [SeriesName; 10] = [
    SeriesName::Cwnd,
    SeriesName::Ssthresh,
    SeriesName::SendWindow,
    SeriesName::Srtt,
    SeriesName::Rtt,
    SeriesName::State,
    SeriesName::Retransmits,
    SeriesName::Pipe,
    SeriesName::Rto,
    SeriesName::Acked,
];

impl Series {
    pub(crate) fn new(record: &RecordDef, flows: usize, network: &Network) -> Series {
        let mut wanted = record.series.clone();
        wanted.sort_unstable();
        wanted.dedup();
        let mut series = Series {
            columns: vec![Column::default(); wanted.len()],
            last: vec![vec![f64::NEG_INFINITY; flows]; wanted.len()],
            counts: vec![vec![0; network.links.len()]; wanted.len()],
            positions: vec![vec![f64::NAN; network.nodes.len()]; wanted.len()],
            totals: vec![Vec::new(); wanted.len()],
            wanted,
            every: record.every,
            bin: record.bin,
            received: vec![Bytes::ZERO; flows],
            read: vec![0; flows],
            has_queued: vec![false; network.links.len()],
            waited: vec![Waited::default(); network.links.len()],
            next: None,
            on_flow_change: false,
        };
        series.on_flow_change =
            series.every == Every::Change && series.wanted.iter().any(|name| SENDER_SERIES.contains(name));
        series.next = series.first_sample();
        series
    }

    /// Time of the next sample, if there is one.
    pub(crate) fn next_sample(&self) -> Option<Time> {
        self.next
    }

    /// Memory that the columns take.
    pub(crate) fn held_bytes(&self) -> u64 {
        let entry = 2 * size_of::<f64>() + size_of::<u32>();
        self.columns.iter().map(|column| (column.t_s.len() * entry) as u64).sum()
    }

    /// Time between two samples.
    fn interval(&self) -> Span {
        match self.every {
            Every::Span(span) => span,
            Every::Change => self.bin,
        }
    }

    /// Time of the first sample, if there is one.
    fn first_sample(&self) -> Option<Time> {
        let by_change_only = self.every == Every::Change && self.wanted.iter().all(|name| SENDER_SERIES.contains(name));
        (!self.wanted.is_empty() && !by_change_only).then(|| Time::ZERO + self.interval())
    }

    /// True if senders are sampled after every input.
    pub(crate) fn samples_flow_changes(&self) -> bool {
        self.on_flow_change
    }

    /// Takes all samples of this instant; returns the time of the next.
    pub(crate) fn sample(
        &mut self,
        ctx: &Context,
        network: &mut Network,
        hosts: &Hosts,
        workloads: &Workloads,
    ) -> Time {
        // The others come and go.
        let (all_flows, flows) = (&hosts.flows[..], &hosts.flows[..self.received.len()]);
        for index in 0..self.wanted.len() {
            match self.wanted[index] {
                SeriesName::Queue => self.sample_queues(ctx.now, network, index),
                SeriesName::QueueDelay => self.sample_waits(ctx.now, network, index),
                SeriesName::AqmP => self.sample_disciplines(ctx.now, network, index, |sample| sample.p),
                SeriesName::AqmPL => self.sample_disciplines(ctx.now, network, index, |sample| sample.p_low),
                SeriesName::QueueL => {
                    self.sample_disciplines(ctx.now, network, index, |sample| sample.low.map(Bytes::as_f64));
                }
                SeriesName::QueueC => {
                    self.sample_disciplines(ctx.now, network, index, |sample| sample.classic.map(Bytes::as_f64));
                }
                SeriesName::Drops => self.sample_counts(ctx.now, network, index, LinkMetrics::dropped),
                SeriesName::Marks => self.sample_counts(ctx.now, network, index, |metrics| metrics.marks),
                SeriesName::Throughput => self.sample_throughput(ctx, index),
                SeriesName::Goodput => self.sample_goodput(ctx.now, flows, index),
                SeriesName::Energy => self.sample_energy(ctx.now, network, index),
                SeriesName::PositionX => self.sample_positions(ctx.now, network, index, |position| position.x),
                SeriesName::PositionY => self.sample_positions(ctx.now, network, index, |position| position.y),
                SeriesName::PositionZ => self.sample_positions(ctx.now, network, index, |position| position.z),
                SeriesName::RouteHops => self.sample_route_hops(ctx.now, network, flows, index),
                SeriesName::Alive | SeriesName::Arrivals | SeriesName::Offered | SeriesName::Carried => {
                    self.sample_workloads(ctx.now, workloads, all_flows, index);
                }
                SeriesName::Capacity => self.sample_capacity(ctx.now, network, index),
                SeriesName::PathDelay => self.sample_path_delay(ctx.now, network, flows, index),
                SeriesName::Buffer => self.sample_players(ctx.now, hosts, index, |buffer, _| buffer.as_secs_f64()),
                SeriesName::Level => self.sample_players(ctx.now, hosts, index, |_, level| level as f64),
                name if self.every != Every::Change => {
                    for (id, flow) in flows.iter().enumerate() {
                        if let Some(snapshot) = flow.snapshot() {
                            self.columns[index].push(ctx.now, id, sender_value(name, flow, &snapshot));
                        }
                    }
                }
                _ => {}
            }
        }
        let next = ctx.now + self.interval();
        self.next = Some(next);
        next
    }

    /// Samples the queues; a link whose queue was never used is excluded: its value is 0 throughout.
    fn sample_queues(&mut self, now: Time, network: &Network, index: usize) {
        for (id, link) in network.links.iter().enumerate() {
            self.has_queued[id] |= link.metrics.max_queue > 0;
            if self.has_queued[id] {
                self.columns[index].push(now, id, link.queue_bytes().as_f64());
            }
        }
    }

    fn sample_waits(&mut self, now: Time, network: &Network, index: usize) {
        for (id, link) in network.links.iter().enumerate() {
            let waited = link.waited();
            let last = std::mem::replace(&mut self.waited[id], waited);
            let packets = waited.packets - last.packets;
            if packets > 0 {
                let sum = waited.sum.saturating_sub(last.sum);
                self.columns[index].push(now, id, sum.as_secs_f64() / packets as f64);
            }
        }
    }

    fn sample_counts(&mut self, now: Time, network: &Network, index: usize, count: fn(&LinkMetrics) -> u64) {
        for (id, link) in network.links.iter().enumerate() {
            let (count, last) = (count(&link.metrics), &mut self.counts[index][id]);
            if count != *last {
                *last = count;
                self.columns[index].push(now, id, count as f64);
            }
        }
    }

    /// The measurement interval begins: links count anew.
    pub(crate) fn on_warmup_end(&mut self) {
        self.waited.fill(Waited::default());
    }

    fn sample_capacity(&mut self, now: Time, network: &mut Network, index: usize) {
        for (id, link) in network.links.iter_mut().enumerate() {
            if let Some(rate) = link.service.as_mut().and_then(|service| service.sample(now, self.interval())) {
                self.columns[index].push(now, id, rate);
            }
        }
    }

    /// Samples what the disciplines of queues show, of those that have it.
    fn sample_disciplines(
        &mut self,
        now: Time,
        network: &mut Network,
        index: usize,
        value: fn(QueueSample) -> Option<f64>,
    ) {
        for (id, link) in network.links.iter_mut().enumerate() {
            if let Some(value) = value(link.queue_sample(now)) {
                self.columns[index].push(now, id, value);
            }
        }
    }

    fn sample_energy(&mut self, now: Time, network: &mut Network, index: usize) {
        for id in 0..network.nodes.len() {
            if let Some(meter) = network.meter(NodeId(id as u32), now) {
                self.columns[index].push(now, id, meter.total());
            }
        }
    }

    fn sample_positions(&mut self, now: Time, network: &mut Network, index: usize, axis: fn(Point) -> f64) {
        for id in 0..network.nodes.len() {
            let Some(position) = network.position(NodeId(id as u32), now) else { continue };
            let (value, last) = (axis(position), &mut self.positions[index][id]);
            if value != *last {
                *last = value;
                self.columns[index].push(now, id, value);
            }
        }
    }

    fn sample_route_hops(&mut self, now: Time, network: &Network, flows: &[Flow], index: usize) {
        for (id, flow) in flows.iter().enumerate() {
            let hops = network.route_hops(now, flow.source, flow.sink, FlowId(id as u32).sink());
            self.columns[index].push(now, id, hops.map_or(f64::NAN, f64::from));
        }
    }

    fn sample_path_delay(&mut self, now: Time, network: &Network, flows: &[Flow], index: usize) {
        for (id, flow) in flows.iter().enumerate() {
            let delay = network.path_delay(now, flow.source, flow.sink, FlowId(id as u32).sink());
            self.columns[index].push(now, id, delay.map_or(f64::NAN, Span::as_secs_f64));
        }
    }

    fn sample_workloads(&mut self, now: Time, workloads: &Workloads, flows: &[Flow], index: usize) {
        let seconds = self.interval().as_secs_f64();
        let read = if self.wanted[index] == SeriesName::Carried { workloads.read(flows) } else { Vec::new() };
        self.totals[index].resize(workloads.all.len(), 0);
        for (id, workload) in workloads.all.iter().enumerate() {
            let (total, factor) = match self.wanted[index] {
                SeriesName::Arrivals => (workload.state.arrived, 1.0),
                SeriesName::Offered => (workload.state.arrived_bytes.0, 8.0),
                SeriesName::Carried => (read[id], 8.0),
                _ => {
                    self.columns[index].push(now, id, workload.state.alive.value() as f64);
                    continue;
                }
            };
            let before = std::mem::replace(&mut self.totals[index][id], total);
            self.columns[index].push(now, id, factor * (total - before) as f64 / seconds);
        }
    }

    fn sample_throughput(&mut self, ctx: &Context, index: usize) {
        let seconds = self.interval().as_secs_f64();
        for (id, metrics) in ctx.flows.iter().take(self.received.len()).enumerate() {
            let total = metrics.total_received_bytes;
            let bits = 8.0 * (total - self.received[id]).as_f64();
            self.received[id] = total;
            self.columns[index].push(ctx.now, id, bits / seconds);
        }
    }

    fn sample_goodput(&mut self, now: Time, flows: &[Flow], index: usize) {
        let seconds = self.interval().as_secs_f64();
        for (id, flow) in flows.iter().enumerate() {
            let bits = 8.0 * (flow.read - self.read[id]) as f64;
            self.read[id] = flow.read;
            self.columns[index].push(now, id, bits / seconds);
        }
    }

    /// Samples the players that have asked for a chunk.
    fn sample_players(&mut self, now: Time, hosts: &Hosts, index: usize, value: fn(Span, usize) -> f64) {
        for session in &hosts.sessions {
            if let Some((buffer, level)) = session.conversation.player(now) {
                self.columns[index].push(now, session.flows[0].index(), value(buffer, level));
            }
        }
    }

    /// Records what an input to the sender of a flow has changed.
    pub(crate) fn on_change(&mut self, now: Time, id: FlowId, flow: &Flow) {
        let Some(snapshot) = flow.snapshot() else { return };
        for (index, name) in self.wanted.iter().enumerate().filter(|(_, name)| SENDER_SERIES.contains(name)) {
            let value = sender_value(*name, flow, &snapshot);
            let last = &mut self.last[index][id.index()];
            if value.to_bits() != last.to_bits() {
                *last = value;
                self.columns[index].push(now, id.index(), value);
            }
        }
    }

    /// The samples since the last call, by name.
    pub(crate) fn take(&mut self) -> Vec<(SeriesName, Column)> {
        self.wanted.iter().copied().zip(self.columns.iter_mut().map(std::mem::take)).collect()
    }

    /// The columns by name.
    pub(crate) fn finish(self) -> Vec<(SeriesName, Column)> {
        self.wanted.into_iter().zip(self.columns).collect()
    }
}

fn sender_value(name: SeriesName, flow: &Flow, snapshot: &Snapshot) -> f64 {
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
        SeriesName::Rto => snapshot.rto.as_secs_f64(),
        // snd_una less the SYN.
        SeriesName::Acked => flow.highest_sent.saturating_sub(snapshot.flight.0 + 1) as f64,
        SeriesName::Queue
        | SeriesName::QueueDelay
        | SeriesName::Throughput
        | SeriesName::Goodput
        | SeriesName::Energy
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
