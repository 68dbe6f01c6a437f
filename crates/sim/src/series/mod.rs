//! Time series, recorded only on request: columns of times, ids and values.

mod internals;
mod network;
mod sender;

use tcp::units::{Bytes, Span, Time};

use self::internals::Internals;
use self::sender::{SENDER_SERIES, Sender};

use crate::engine::context::Context;
use crate::host::Hosts;
use crate::host::flow::Flow;
use crate::ids::FlowId;
use crate::metrics::{FlowMetrics, LinkMetrics, Waited};
use crate::network::Network;
use crate::scenario::{Every, RecordDef, ScenarioError, SeriesName};
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
    /// Of the variable `state` of algorithms: the word for each value, empty where it has none.
    pub words: Vec<&'static str>,
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
    /// Places of those that an input to a sender can change.
    of_senders: Vec<usize>,
    every: Every,
    bin: Span,
    columns: Vec<Column>,
    /// Flows that the scenario lists; those of workloads come and go.
    flows: usize,
    /// By series and owner: the last value, to record changes only.
    last: Vec<Vec<f64>>,
    /// By series and owner: what had been counted at the last sample.
    totals: Vec<Vec<u64>>,
    has_queued: Vec<bool>,
    /// By link: what had waited at the last sample.
    waited: Vec<Waited>,
    /// Time of the next sample.
    next: Option<Time>,
    /// Senders are sampled after every input.
    on_flow_change: bool,
    /// What is recorded of algorithms, if anything.
    internals: Option<Internals>,
}

const BITS_PER_BYTE: f64 = 8.0;

impl Series {
    /// The series of `flows`, which the scenario lists.
    pub(crate) fn new(record: &RecordDef, flows: &[Flow], network: &Network) -> Result<Series, ScenarioError> {
        let mut wanted = record.series.clone();
        wanted.sort_unstable();
        wanted.dedup();
        let internals = Internals::of(record.internals.as_ref(), flows, wanted.len())?;
        let of_senders = (0..wanted.len()).filter(|index| SENDER_SERIES.contains(&wanted[*index])).collect();
        wanted.extend(internals.iter().flat_map(Internals::names));
        let mut series = Series {
            columns: vec![Column::default(); wanted.len()],
            last: vec![Vec::new(); wanted.len()],
            totals: vec![Vec::new(); wanted.len()],
            wanted,
            of_senders,
            internals,
            every: record.every,
            bin: record.bin,
            flows: flows.len(),
            has_queued: vec![false; network.links.len()],
            waited: vec![Waited::default(); network.links.len()],
            next: None,
            on_flow_change: false,
        };
        series.on_flow_change =
            series.every == Every::Change && (series.internals.is_some() || !series.of_senders.is_empty());
        series.next = series.first_sample();
        Ok(series)
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
        let by_change_only = self.every == Every::Change && self.wanted.iter().all(is_of_sender);
        let any = !self.wanted.is_empty() || self.internals.is_some();
        (any && !by_change_only).then(|| Time::ZERO + self.interval())
    }

    /// A packet from outside has opened a flow.
    pub(crate) fn add_flow(&mut self) {
        self.flows += 1;
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
        let (all_flows, flows, metrics) = (&hosts.flows[..], &hosts.flows[..self.flows], &ctx.flows[..self.flows]);
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
                SeriesName::SendingRate => {
                    let sent = metrics.iter().map(|flow| flow.total_sent_bytes.0);
                    self.sample_rates(ctx.now, index, BITS_PER_BYTE, sent);
                }
                SeriesName::Throughput => {
                    let received = metrics.iter().map(|flow| flow.total_received_bytes.0);
                    self.sample_rates(ctx.now, index, BITS_PER_BYTE, received);
                }
                SeriesName::Goodput => {
                    self.sample_rates(ctx.now, index, BITS_PER_BYTE, flows.iter().map(|flow| flow.read));
                }
                SeriesName::Energy => self.sample_energy(ctx.now, network, index),
                SeriesName::Airtime => self.sample_airtime(ctx.now, network, index),
                SeriesName::PositionX => self.sample_positions(ctx.now, network, index, |position| position.x),
                SeriesName::PositionY => self.sample_positions(ctx.now, network, index, |position| position.y),
                SeriesName::PositionZ => self.sample_positions(ctx.now, network, index, |position| position.z),
                SeriesName::RouteHops => self.sample_route_hops(ctx.now, network, flows, index),
                SeriesName::Alive | SeriesName::Arrivals | SeriesName::Offered | SeriesName::Carried => {
                    self.sample_workloads(ctx.now, workloads, all_flows, index);
                }
                SeriesName::Capacity => self.sample_capacity(ctx.now, network, index),
                SeriesName::PathDelay => self.sample_path_delay(ctx.now, network, flows, index),
                SeriesName::Buffer | SeriesName::Level => self.sample_players(ctx.now, hosts, index),
                SeriesName::ChunkRate | SeriesName::ChunkLevel => self.sample_chunks(hosts, index),
                _ => {}
            }
        }
        if self.every != Every::Change {
            self.sample_senders(ctx.now, flows, metrics);
        }
        self.sample_internals(ctx.now, flows);
        *self.next.insert(ctx.now + self.interval())
    }

    fn sample_senders(&mut self, now: Time, flows: &[Flow], metrics: &[FlowMetrics]) {
        for (id, (flow, metrics)) in flows.iter().zip(metrics).enumerate() {
            let Some(sender) = Sender::of(now, flow, metrics) else { continue };
            for &index in &self.of_senders {
                if let Some(value) = sender.value(self.wanted[index]) {
                    self.columns[index].push(now, id, value);
                }
            }
        }
    }

    fn sample_workloads(&mut self, now: Time, workloads: &Workloads, flows: &[Flow], index: usize) {
        let states = workloads.all.iter().map(|workload| &workload.state);
        match self.wanted[index] {
            SeriesName::Arrivals => self.sample_rates(now, index, 1.0, states.map(|state| state.arrived)),
            SeriesName::Offered => {
                self.sample_rates(now, index, BITS_PER_BYTE, states.map(|state| state.arrived_bytes.0));
            }
            SeriesName::Carried => {
                self.sample_rates(now, index, BITS_PER_BYTE, workloads.read(flows).into_iter());
            }
            _ => {
                for (id, state) in states.enumerate() {
                    self.columns[index].push(now, id, state.alive.value() as f64);
                }
            }
        }
    }

    /// Samples by how much the totals of all owners have grown, times `factor`, per second.
    fn sample_rates(&mut self, now: Time, index: usize, factor: f64, totals: impl Iterator<Item = u64>) {
        let seconds = self.interval().as_secs_f64();
        for (id, total) in totals.enumerate() {
            let grown = total - self.replace_total(index, id, total);
            self.columns[index].push(now, id, factor * grown as f64 / seconds);
        }
    }

    /// Remembers what is counted now; returns what had been counted at the last sample.
    fn replace_total(&mut self, index: usize, id: usize, total: u64) -> u64 {
        std::mem::replace(entry(&mut self.totals[index], id, 0), total)
    }

    /// Records a value if it is another than the last.
    fn push_change(&mut self, index: usize, now: Time, id: usize, value: f64) {
        let last = entry(&mut self.last[index], id, f64::NEG_INFINITY);
        if value.to_bits() != last.to_bits() {
            *last = value;
            self.columns[index].push(now, id, value);
        }
    }

    /// Samples the players that have asked for a chunk.
    fn sample_players(&mut self, now: Time, hosts: &Hosts, index: usize) {
        let of_buffer = self.wanted[index] == SeriesName::Buffer;
        for session in &hosts.sessions {
            if let Some((buffer, level)) = session.conversation.player(now) {
                let value = if of_buffer { buffer.as_secs_f64() } else { level as f64 };
                self.columns[index].push(now, session.flows[0].index(), value);
            }
        }
    }

    /// Takes over the chunks that have arrived at players since the last sample, each at its time.
    fn sample_chunks(&mut self, hosts: &Hosts, index: usize) {
        let of_rate = self.wanted[index] == SeriesName::ChunkRate;
        for session in &hosts.sessions {
            let id = session.flows[0].index();
            let seen = entry(&mut self.totals[index], id, 0);
            for (at, bps, level) in session.conversation.chunks(*seen as usize) {
                *seen += 1;
                self.columns[index].push(at, id, if of_rate { bps } else { level as f64 });
            }
        }
    }

    /// The measurement interval begins: links count anew.
    pub(crate) fn on_warmup_end(&mut self) {
        self.waited.fill(Waited::default());
    }

    /// Records what an input to the sender of a flow has changed.
    pub(crate) fn on_change(&mut self, now: Time, id: FlowId, flow: &Flow, metrics: &FlowMetrics) {
        let Some(sender) = Sender::of(now, flow, metrics) else { return };
        for place in 0..self.of_senders.len() {
            let index = self.of_senders[place];
            if let Some(value) = sender.value(self.wanted[index]) {
                self.push_change(index, now, id.index(), value);
            }
        }
        self.record_internals(now, id.index(), flow);
    }

    /// The samples since the last call, by name.
    pub(crate) fn take(&mut self) -> Vec<(SeriesName, Column)> {
        self.wanted.iter().copied().zip(self.columns.iter_mut().map(std::mem::take)).collect()
    }

    /// The columns by name.
    pub(crate) fn finish(self) -> Vec<(SeriesName, Column)> {
        self.wanted.into_iter().zip(self.columns).collect()
    }

    /// A series more; its place.
    fn add_column(&mut self, name: SeriesName) -> usize {
        self.wanted.push(name);
        self.columns.push(Column::default());
        self.last.push(Vec::new());
        self.totals.push(Vec::new());
        self.wanted.len() - 1
    }
}

/// True for a series that an input to a sender can change.
fn is_of_sender(name: &SeriesName) -> bool {
    SENDER_SERIES.contains(name) || matches!(name, SeriesName::Internal(_))
}

/// The entry of an owner, which begins as `first`.
fn entry<T: Clone>(entries: &mut Vec<T>, id: usize, first: T) -> &mut T {
    if id >= entries.len() {
        entries.resize(id + 1, first);
    }
    &mut entries[id]
}
