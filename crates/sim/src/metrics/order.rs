//! Order metrics of data packets by flow (RFC 4737), by the sender's packet number. Only where links can reorder.
//!
//! Copies that links made are not counted (RFC 4737 §3.1 asks for packets without duplicates).

use std::collections::VecDeque;

use tcp::units::{Span, Time};

use super::Delays;
use crate::ids::{FlowId, PacketId};

/// Packets that are remembered; an extent beyond counts as this.
const REMEMBERED: usize = 1024;
/// A copy, or a packet without data.
const UNNUMBERED: u64 = u64::MAX;

/// The numbers of the packets that exist, and the order of each flow.
#[derive(Debug)]
pub(crate) struct OrderMetrics {
    flows: Vec<FlowOrder>,
    /// By packet: its number.
    numbers: Vec<u64>,
}

/// The order of the data packets of a flow.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowOrder {
    /// Data packets sent.
    sent: u64,
    next_expected: u64,
    /// The last packets received: number and time.
    last: VecDeque<(u64, Time)>,
    counts: OrderCounts,
}

/// What is counted in the measurement interval.
#[derive(Clone, Debug, Default)]
pub(crate) struct OrderCounts {
    pub(crate) received: u64,
    pub(crate) reordered: u64,
    /// Reordered so that at least three packets before it all have larger numbers.
    pub(crate) by_three: u64,
    /// By extent.
    extents: Vec<u64>,
    pub(crate) late: Delays,
    /// Runs of packets in order that ended with a reordered one, and their packets.
    pub(crate) runs: u64,
    pub(crate) in_runs: u64,
    run: u64,
}

impl OrderMetrics {
    pub(crate) fn new(flows: usize) -> OrderMetrics {
        OrderMetrics { flows: vec![FlowOrder::default(); flows], numbers: Vec::new() }
    }

    /// A new flow takes this slot.
    pub(crate) fn open(&mut self, flow: FlowId) {
        if self.flows.len() <= flow.index() {
            self.flows.resize_with(flow.index() + 1, FlowOrder::default);
        }
        self.flows[flow.index()] = FlowOrder::default();
    }

    fn number(&mut self, packet: PacketId, number: u64) {
        let slot = packet.0 as usize;
        if self.numbers.len() <= slot {
            self.numbers.resize(slot + 1, UNNUMBERED);
        }
        self.numbers[slot] = number;
    }

    /// A packet is sent; `is_data` if it carries data towards the sink.
    pub(crate) fn on_sent(&mut self, flow: FlowId, packet: PacketId, is_data: bool) {
        let order = &mut self.flows[flow.index()];
        order.sent += u64::from(is_data);
        let number = if is_data { order.sent } else { UNNUMBERED };
        self.number(packet, number);
    }

    /// A link has made a copy.
    pub(crate) fn on_copy(&mut self, copy: PacketId) {
        self.number(copy, UNNUMBERED);
    }

    /// A packet reaches its destination.
    pub(crate) fn on_received(&mut self, now: Time, flow: FlowId, packet: PacketId) {
        let number = self.numbers[packet.0 as usize];
        if number != UNNUMBERED {
            self.flows[flow.index()].on_received(now, number);
        }
    }

    /// The measurement interval begins.
    pub(crate) fn on_warmup_end(&mut self) {
        self.flows.iter_mut().for_each(|flow| flow.counts = OrderCounts::default());
    }

    /// What was counted of a flow.
    pub(crate) fn counts(&self, flow: FlowId) -> &OrderCounts {
        &self.flows[flow.index()].counts
    }
}

impl FlowOrder {
    fn on_received(&mut self, now: Time, number: u64) {
        self.counts.received += 1;
        if number >= self.next_expected {
            self.next_expected = number + 1;
            self.counts.run += 1;
        } else {
            self.on_reordered(now, number);
        }
        if self.last.len() == REMEMBERED {
            self.last.pop_front();
        }
        self.last.push_back((number, now));
    }

    fn on_reordered(&mut self, now: Time, number: u64) {
        let counts = &mut self.counts;
        counts.reordered += 1;
        counts.runs += 1;
        counts.in_runs += std::mem::take(&mut counts.run);
        let before = self.last.iter().rev().take_while(|(other, _)| *other > number).take(3).count();
        counts.by_three += u64::from(before == 3);
        // The earliest of those that arrived before it and were sent after it; of the remembered ones, if it is long ago.
        let first = self.last.iter().position(|(other, _)| *other > number).unwrap_or_default();
        let extent = self.last.len() - first;
        if counts.extents.len() <= extent {
            counts.extents.resize(extent + 1, 0);
        }
        counts.extents[extent] += 1;
        counts.late.add(self.last.get(first).map_or(Span::ZERO, |(_, at)| now.since(*at)));
    }
}

impl OrderCounts {
    /// The extent that the share `q` of reordered packets does not exceed: the nearest rank.
    pub(crate) fn extent(&self, q: f64) -> Option<u64> {
        let rank = (libm::ceil(q * self.reordered as f64) as u64).max(1);
        let mut below = 0;
        let reaches = |(extent, count): (usize, &u64)| {
            below += count;
            (below >= rank).then_some(extent as u64)
        };
        self.extents.iter().enumerate().find_map(reaches)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Receives these numbers, one each millisecond: the extents of the reordered ones, in order of size, and how many are
    /// 3-reordered.
    fn receive(numbers: &[u64]) -> (Vec<usize>, u64) {
        let mut order = FlowOrder::default();
        for (ms, number) in numbers.iter().enumerate() {
            order.on_received(Time::ZERO + Span::from_millis(ms as u64), *number);
        }
        let extents = &order.counts.extents;
        let each = extents.iter().enumerate().flat_map(|(extent, count)| vec![extent; *count as usize]);
        (each.collect(), order.counts.by_three)
    }

    #[test]
    fn extents_of_rfc_4737() {
        assert_eq!(receive(&[1, 2, 3, 7, 8, 9, 10, 4, 5, 6, 11]), (vec![4, 5, 6], 1));
        assert_eq!(receive(&[1, 2, 4, 5, 3, 6]), (vec![2], 0));
        assert_eq!(receive(&[1, 3, 2, 5, 4, 7, 6]), (vec![1, 1, 1], 0));
        assert_eq!(receive(&[1, 2, 3, 5, 9]), (vec![], 0));
    }

    #[test]
    fn quantiles_late_times_and_runs() {
        let mut order = FlowOrder::default();
        for (ms, number) in [1, 2, 3, 7, 8, 9, 10, 4, 5, 6, 11].into_iter().enumerate() {
            order.on_received(Time::ZERO + Span::from_millis(ms as u64), number);
        }
        let counts = &order.counts;
        assert_eq!([0.5, 0.95, 1.0].map(|q| counts.extent(q)), [Some(5), Some(6), Some(6)]);
        assert_eq!((counts.received, counts.reordered, counts.runs, counts.in_runs), (11, 3, 3, 7));
        assert_eq!(OrderCounts::default().extent(0.5), None);
    }

    #[test]
    fn an_extent_beyond_memory_counts_as_its_size() {
        let late: Vec<u64> = (2..3000).chain([1]).collect();
        assert_eq!(receive(&late), (vec![REMEMBERED], 1));
    }
}
