//! Series of links and nodes, and of the paths between them.

use tcp::units::{Span, Time};

use super::Series;
use crate::host::flow::Flow;
use crate::ids::{FlowId, NodeId};
use crate::metrics::LinkMetrics;
use crate::mobility::Point;
use crate::network::Network;
use crate::qdisc::QueueSample;

impl Series {
    /// Samples the queues; a link whose queue was never used is excluded: its value is 0 throughout.
    pub(super) fn sample_queues(&mut self, now: Time, network: &Network, index: usize) {
        for (id, link) in network.links.iter().enumerate() {
            self.has_queued[id] |= link.metrics.max_queue > 0;
            if self.has_queued[id] {
                self.columns[index].push(now, id, link.queue_bytes().as_f64());
            }
        }
    }

    pub(super) fn sample_waits(&mut self, now: Time, network: &Network, index: usize) {
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

    pub(super) fn sample_counts(&mut self, now: Time, network: &Network, index: usize, count: fn(&LinkMetrics) -> u64) {
        for (id, link) in network.links.iter().enumerate() {
            let count = count(&link.metrics);
            if self.replace_total(index, id, count) != count {
                self.columns[index].push(now, id, count as f64);
            }
        }
    }

    pub(super) fn sample_capacity(&mut self, now: Time, network: &mut Network, index: usize) {
        for (id, link) in network.links.iter_mut().enumerate() {
            if let Some(rate) = link.service.as_mut().and_then(|service| service.sample(now, self.interval())) {
                self.columns[index].push(now, id, rate);
            }
        }
    }

    /// Samples what the disciplines of queues show, of those that have it.
    pub(super) fn sample_disciplines(
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

    pub(super) fn sample_energy(&mut self, now: Time, network: &mut Network, index: usize) {
        for id in 0..network.nodes.len() {
            if let Some(meter) = network.meter(NodeId(id as u32), now) {
                self.columns[index].push(now, id, meter.total());
            }
        }
    }

    pub(super) fn sample_airtime(&mut self, now: Time, network: &Network, index: usize) {
        let interval = self.interval().as_nanos() as f64;
        for id in 0..network.nodes.len() {
            let Some(counts) = network.radio_counters(NodeId(id as u32)) else { continue };
            let total = (counts.airtime + counts.addressed_airtime).as_nanos();
            // The counters begin again when the measurement interval does.
            let last = self.replace_total(index, id, total);
            let grown = if total < last { total } else { total - last };
            self.columns[index].push(now, id, grown as f64 / interval);
        }
    }

    pub(super) fn sample_positions(&mut self, now: Time, network: &mut Network, index: usize, axis: fn(Point) -> f64) {
        for id in 0..network.nodes.len() {
            if let Some(position) = network.position(NodeId(id as u32), now) {
                self.push_change(index, now, id, axis(position));
            }
        }
    }

    pub(super) fn sample_route_hops(&mut self, now: Time, network: &Network, flows: &[Flow], index: usize) {
        for (id, flow) in flows.iter().enumerate() {
            let hops = network.route_hops(now, flow.source, flow.sink, FlowId(id as u32).sink());
            self.columns[index].push(now, id, hops.map_or(f64::NAN, f64::from));
        }
    }

    pub(super) fn sample_path_delay(&mut self, now: Time, network: &Network, flows: &[Flow], index: usize) {
        for (id, flow) in flows.iter().enumerate() {
            let delay = network.path_delay(now, flow.source, flow.sink, FlowId(id as u32).sink());
            self.columns[index].push(now, id, delay.map_or(f64::NAN, Span::as_secs_f64));
        }
    }
}
