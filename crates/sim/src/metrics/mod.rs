//! Canonical metrics, counted during the run, without a trace.
//! Tallies cover the whole run and prove that packets are conserved; everything else covers the measurement interval, which
//! begins when the warm-up ends.

mod delay;
mod direction;
mod gauge;
mod histogram;
mod join;
mod link;
mod node;
mod order;
mod product_limit;
mod waits;

use tcp::units::{Bytes, Span, Time};

pub(crate) use delay::{Delays, RttSamples};
pub(crate) use direction::{Direction, ReverseData};
pub(crate) use gauge::Gauge;
pub(crate) use histogram::Distribution;
pub(crate) use link::{LinkMetrics, Waited};
pub(crate) use node::NodeMetrics;
pub(crate) use order::{OrderCounts, OrderMetrics};
pub(crate) use product_limit::ProductLimit;
pub(crate) use waits::Waits;

use crate::ids::EndpointId;
use crate::packet::{DropReason, Packet, PacketHeader};

/// Packets of the whole run: sent + duplicated = delivered + dropped + in flight.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) sent: u64,
    pub(crate) delivered: u64,
    pub(crate) dropped: u64,
    /// Copies that links made.
    pub(crate) duplicated: u64,
}

impl Tally {
    /// Packets that exist.
    pub(crate) fn in_flight(&self) -> u64 {
        self.sent + self.duplicated - self.delivered - self.dropped
    }
}

/// Metrics of a flow in the measurement interval. A cache line for each direction, one for what each data packet counts, two
/// for its delay, then the rest: between two packets of a flow come those of all others.
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct IntervalMetrics {
    /// From the source, data and control.
    pub(crate) forward: Direction,
    /// From the sink.
    pub(crate) reverse: Direction,
    /// Data packets.
    pub(crate) sent: u64,
    pub(crate) retransmitted: u64,
    pub(crate) received: u64,
    /// Received after one that was sent later.
    pub(crate) reordered: u64,
    /// Payload of first transmissions.
    pub(crate) unique_sent_bytes: Bytes,
    /// Payload received, duplicates included.
    pub(crate) received_bytes: Bytes,
    /// Payload read in order by the application.
    pub(crate) delivered_bytes: Bytes,
    /// Payload the application offered.
    pub(crate) offered_bytes: Bytes,
    /// Last transmission of a data packet to its reception.
    pub(crate) delays: Delays,
    /// Data packets by [`DropReason`]; absent before the first.
    drops: Option<Box<[u64; DropReason::ALL.len()]>>,
    /// Marked CE by a queue.
    pub(crate) marked: u64,
    /// Application write to in-order read; absent before the first, which an endless transfer never has.
    pub(crate) app_delays: Option<Box<Delays>>,
    /// RTT samples of the sender; absent before the first.
    pub(crate) rtts: Option<Box<RttSamples>>,
    /// Copies of data packets that links made.
    pub(crate) duplicated: u64,
    /// Data from the sink; absent before the first, which most flows never have.
    pub(crate) reverse_data: Option<Box<ReverseData>>,
}

/// Metrics of a flow.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct FlowMetrics {
    pub(crate) tally: Tally,
    /// Payload sent by the source over the whole run, retransmissions included.
    pub(crate) total_sent_bytes: Bytes,
    /// Payload received over the whole run; series take differences.
    pub(crate) total_received_bytes: Bytes,
    /// Payload dropped less payload that links have copied, over the whole run: what is sent and neither received nor this is on its way.
    total_gone_bytes: i64,
    /// Latest sending time of the data packets received so far.
    newest: Time,
    pub(crate) interval: IntervalMetrics,
}

impl FlowMetrics {
    pub(crate) fn on_sent(&mut self, now: Time, header: &PacketHeader, payload: Bytes) {
        self.tally.sent += 1;
        let direction = self.interval.direction(header.to);
        direction.sent += 1;
        direction.first_sent.get_or_insert(now);
        if payload == Bytes::ZERO {
            return;
        }
        if header.to.is_source() {
            self.interval.reverse_data().on_sent(header.retransmission);
        } else {
            self.interval.sent += 1;
            self.total_sent_bytes += payload;
            if header.retransmission {
                self.interval.retransmitted += 1;
            } else {
                self.interval.unique_sent_bytes += payload;
            }
        }
    }

    pub(crate) fn on_received(&mut self, now: Time, packet: &Packet) {
        self.tally.delivered += 1;
        let direction = self.interval.direction(packet.to);
        direction.received += 1;
        direction.received_ip_bytes += packet.size;
        direction.last_received = Some(now);
        let payload = packet.payload_bytes();
        if payload == Bytes::ZERO {
            return;
        }
        if packet.to.is_source() {
            self.interval.reverse_data().on_received(now.since(packet.sent_at));
        } else {
            self.interval.received += 1;
            self.interval.reordered += u64::from(packet.sent_at < self.newest);
            self.newest = self.newest.max(packet.sent_at);
            self.interval.received_bytes += payload;
            self.interval.delays.add(now.since(packet.sent_at));
            self.total_received_bytes += payload;
        }
    }

    #[inline(never)]
    pub(crate) fn on_dropped(&mut self, packet: &Packet, reason: DropReason) {
        self.tally.dropped += 1;
        self.interval.direction(packet.to).dropped += 1;
        match (packet.has_data(), packet.to.is_source()) {
            (false, _) => {}
            (true, false) => {
                self.interval.drops.get_or_insert_default()[reason as usize] += 1;
                self.total_gone_bytes += packet.payload_bytes().0 as i64;
            }
            (true, true) => self.interval.reverse_data().dropped += 1,
        }
    }

    #[inline(never)]
    pub(crate) fn on_marked(&mut self, packet: &Packet) {
        match (packet.has_data(), packet.to.is_source()) {
            (false, _) => {}
            (true, false) => self.interval.marked += 1,
            (true, true) => self.interval.reverse_data().marked += 1,
        }
    }

    #[inline(never)]
    pub(crate) fn on_duplicated(&mut self, packet: &Packet) {
        self.tally.duplicated += 1;
        if packet.has_data() && !packet.to.is_source() {
            self.interval.duplicated += 1;
            self.total_gone_bytes -= packet.payload_bytes().0 as i64;
        }
    }

    /// Payload of packets from the source that have neither arrived nor been dropped.
    pub(crate) fn wire_flight(&self) -> Bytes {
        let sent = self.total_sent_bytes.0 as i64 - self.total_gone_bytes;
        Bytes((sent - self.total_received_bytes.0 as i64).max(0) as u64)
    }

    /// Another flow takes this place: its histograms take the memory of those before.
    pub(crate) fn reopen(&mut self) {
        let IntervalMetrics { delays, rtts, .. } = &mut self.interval;
        let (mut delays, mut rtts) = (std::mem::take(delays), rtts.take());
        delays.clear();
        if let Some(rtts) = &mut rtts {
            rtts.clear();
        }
        *self = FlowMetrics {
            interval: IntervalMetrics { delays, rtts, ..IntervalMetrics::default() },
            ..FlowMetrics::default()
        };
    }

    /// The measurement interval begins.
    pub(crate) fn on_warmup_end(&mut self) {
        self.interval = IntervalMetrics::default();
    }
}

impl IntervalMetrics {
    fn direction(&mut self, to: EndpointId) -> &mut Direction {
        if to.is_source() { &mut self.reverse } else { &mut self.forward }
    }

    /// The application at `to` has read bytes.
    pub(crate) fn on_read(&mut self, to: EndpointId, bytes: Bytes) {
        if to.is_source() {
            self.reverse_data().delivered_bytes += bytes;
        } else {
            self.delivered_bytes += bytes;
        }
    }

    /// Counts of the data from the sink, made if it is the first.
    #[cold]
    #[inline(never)]
    pub(crate) fn reverse_data(&mut self) -> &mut ReverseData {
        self.reverse_data.get_or_insert_default()
    }

    /// Data packets dropped, by reason.
    pub(crate) fn drops(&self) -> [u64; DropReason::ALL.len()] {
        self.drops.as_deref().copied().unwrap_or_default()
    }

    /// Data packets dropped, for whatever reason.
    pub(crate) fn dropped(&self) -> u64 {
        self.drops().iter().sum()
    }

    /// Adds another flow's counts.
    pub(crate) fn merge(&mut self, other: &IntervalMetrics) {
        self.forward.merge(&other.forward);
        self.reverse.merge(&other.reverse);
        self.sent += other.sent;
        self.retransmitted += other.retransmitted;
        self.received += other.received;
        if let Some(theirs) = &other.drops {
            let mine = self.drops.get_or_insert_default();
            mine.iter_mut().zip(theirs.iter()).for_each(|(mine, theirs)| *mine += theirs);
        }
        self.marked += other.marked;
        self.duplicated += other.duplicated;
        self.reordered += other.reordered;
        self.unique_sent_bytes += other.unique_sent_bytes;
        self.received_bytes += other.received_bytes;
        self.delivered_bytes += other.delivered_bytes;
        self.offered_bytes += other.offered_bytes;
        self.delays.merge(&other.delays);
        if let Some(theirs) = &other.app_delays {
            self.app_delays.get_or_insert_default().merge(theirs);
        }
        if let Some(theirs) = &other.rtts {
            self.rtts.get_or_insert_default().merge(theirs);
        }
    }

    /// A message was read `delay` after it was written.
    pub(crate) fn on_message(&mut self, delay: Span) {
        self.app_delays.get_or_insert_default().add(delay);
    }

    /// The sender has measured an RTT.
    #[inline]
    pub(crate) fn on_rtt(&mut self, rtt: Span) {
        self.rtts.get_or_insert_default().add(rtt);
    }

    /// A statistic of the RTTs.
    pub(crate) fn rtt(&self, of: impl Fn(&RttSamples) -> Option<f64>) -> Option<f64> {
        self.rtts.as_deref().and_then(of)
    }

    /// A statistic of the delays of messages.
    pub(crate) fn app_delay(&self, of: impl Fn(&Delays) -> Option<f64>) -> Option<f64> {
        self.app_delays.as_deref().and_then(of)
    }
}

/// `part / whole`, absent for an empty whole.
pub(crate) fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

/// Jain's index (sum x)^2 / (n sum x^2) (Jain, Chiu, Hawe 1984); absent when nothing was delivered.
pub(crate) fn jain(values: &[f64]) -> Option<f64> {
    let sum: f64 = values.iter().sum();
    let squares: f64 = values.iter().map(|x| x * x).sum();
    (squares > 0.0).then(|| sum * sum / (values.len() as f64 * squares))
}

/// The value that the share `q` of sorted values does not exceed: the nearest rank.
pub(crate) fn nearest_rank(sorted: &[f64], q: f64) -> Option<f64> {
    let rank = libm::ceil(q * sorted.len() as f64) as usize;
    sorted.get(rank.max(1) - 1).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A flow in the place of another measures what it would measure in a new one, histograms of few and of many values alike.
    #[test]
    fn metrics_in_the_place_of_others_are_like_new_ones() {
        let measured = |mut metrics: FlowMetrics, values: u64| {
            for ms in 1..=values {
                metrics.tally.sent += 1;
                metrics.interval.sent += 1;
                metrics.interval.delays.add(Span::from_millis(ms * ms));
                metrics.interval.on_rtt(Span::from_millis(7 * ms));
                metrics.interval.on_message(Span::from_millis(ms));
            }
            metrics
        };
        let said = |metrics: &FlowMetrics| {
            let IntervalMetrics { delays, sent, .. } = &metrics.interval;
            let rtts = [0.1, 0.5, 0.9].map(|q| metrics.interval.rtt(|rtts| rtts.quantile_s(q)));
            let messages = metrics.interval.app_delay(Delays::mean_s);
            let delay = (delays.mean_s(), delays.min_s(), delays.max_s(), delays.quantile_s(0.5), delays.jitter_s());
            (
                metrics.tally,
                *sent,
                delay,
                delays.jitter_rfc3550_s(),
                rtts,
                metrics.interval.rtt(RttSamples::mean_s),
                messages,
            )
        };
        for (before, after) in [(3, 5), (40, 3), (3, 40), (40, 41), (3, 0)] {
            let mut reused = measured(FlowMetrics::default(), before);
            reused.reopen();
            let (reused, new) = (measured(reused, after), measured(FlowMetrics::default(), after));
            assert_eq!(said(&reused), said(&new), "{after} values after {before}");
            let [mut one, mut other] = [IntervalMetrics::default(), IntervalMetrics::default()];
            one.merge(&reused.interval);
            other.merge(&new.interval);
            assert_eq!(one.rtt(|rtts| rtts.quantile_s(0.5)), other.rtt(|rtts| rtts.quantile_s(0.5)));
            assert_eq!(one.delays.quantile_s(0.9), other.delays.quantile_s(0.9));
        }
    }

    #[test]
    fn quantiles_of_few_values_are_values() {
        let values: Vec<f64> = (1..=20).map(f64::from).collect();
        for (q, value) in [(0.0, 1.0), (0.5, 10.0), (0.95, 19.0), (0.99, 20.0), (1.0, 20.0)] {
            assert_eq!(nearest_rank(&values, q), Some(value));
        }
        assert_eq!(nearest_rank(&[], 0.5), None);
    }

    #[test]
    fn the_index_of_jain_is_the_squared_sum_over_n_sums_of_squares() {
        assert!((jain(&[1.0, 2.0, 3.0]).unwrap() - 0.857143).abs() < 1e-6);
        assert_eq!(jain(&[4.0, 0.0, 0.0, 0.0]), Some(0.25));
        assert_eq!(jain(&[0.0, 0.0]), None);
    }
}
