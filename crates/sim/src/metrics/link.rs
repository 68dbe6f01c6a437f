//! Metrics of a simplex link.

use tcp::units::{Bytes, Span, Time};

use super::histogram::Histogram;
use super::ratio;
use crate::packet::DropReason;

/// Metrics of a simplex link. `offered`, `delivered`, `drops` and `marks` cover the whole run, the rest the measurement
/// interval. Hot fields first; see `Link`.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct LinkMetrics {
    pub(crate) offered: u64,
    pub(crate) delivered: u64,
    pub(crate) transmitted: u64,
    pub(crate) transmitted_bytes: Bytes,
    pub(crate) busy: Span,
    /// Sum of the waiting times of transmitted packets.
    pub(crate) waited: Span,
    pub(crate) max_queue: u64,
    pub(crate) max_queue_bytes: Bytes,
    /// The waiting times of those that waited; absent before the first.
    waits: Option<Box<Histogram>>,
    queue_length: u64,
    queue_since: Time,
    /// Integral of the queue length over time, packet-nanoseconds.
    queue_area: i128,
    /// Packets that its queue marked CE.
    pub(crate) marks: u64,
    /// Packets dropped by [`DropReason`]; absent before the first, which few links ever have.
    drops: Option<Box<[u64; DropReason::ALL.len()]>>,
}

impl LinkMetrics {
    #[inline]
    pub(crate) fn on_transmission(&mut self, size: Bytes, transmission: Span, waited: Span) {
        self.transmitted += 1;
        self.transmitted_bytes += size;
        self.busy += transmission;
        if waited > Span::ZERO {
            self.waited += waited;
            match &mut self.waits {
                Some(waits) => waits.add(waited.as_nanos(), 1),
                None => self.first_wait(waited),
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn first_wait(&mut self, waited: Span) {
        self.waits.get_or_insert_default().add(waited.as_nanos(), 1);
    }

    /// Uncounts a transmission that was counted in advance and does not begin before the end of the run.
    pub(crate) fn uncount(&mut self, size: Bytes, transmission: Span, waited: Span) {
        self.transmitted -= 1;
        self.transmitted_bytes -= size;
        self.busy = self.busy.saturating_sub(transmission);
        self.waited = self.waited.saturating_sub(waited);
        if let Some(waits) = self.waits.as_mut().filter(|_| waited > Span::ZERO) {
            waits.remove(waited.as_nanos());
        }
    }

    /// Mean waiting time of transmitted packets.
    pub(crate) fn mean_wait_s(&self) -> Option<f64> {
        ratio(self.waited.as_secs_f64(), self.transmitted as f64)
    }

    /// A quantile of the waiting times of transmitted packets, exact to 1 %; the greatest for 1.
    pub(crate) fn wait_quantile_s(&self, q: f64) -> Option<f64> {
        let counted = self.waits.as_ref().map_or(0, |waits| waits.total());
        let at_once = self.transmitted - counted;
        let rank = libm::ceil(q * self.transmitted as f64) as u64;
        match &self.waits {
            Some(waits) if rank > at_once => waits.ranked(rank - at_once).map(|nanos| nanos / 1e9),
            _ => (self.transmitted > 0).then_some(0.0),
        }
    }

    /// Corrects the integral of the queue length, which is the sum of the waiting times of packets: the time that those queued
    /// at the end have waited is added, the time before the measurement interval subtracted.
    pub(crate) fn correct_area(&mut self, still: Span, before: Span) {
        self.queue_area += i128::from(still.as_nanos()) - i128::from(before.as_nanos());
    }

    /// A packet was enqueued; `length` and `bytes` include it.
    pub(crate) fn queue_grew(&mut self, now: Time, length: u64, bytes: Bytes) {
        self.set_queue_length(now, length);
        self.max_queue = self.max_queue.max(length);
        self.max_queue_bytes = self.max_queue_bytes.max(bytes);
    }

    /// Packets have left the queue; `length` remain.
    pub(crate) fn queue_shrank(&mut self, now: Time, length: u64) {
        self.set_queue_length(now, length);
    }

    fn set_queue_length(&mut self, now: Time, length: u64) {
        self.queue_area += i128::from(self.queue_length) * i128::from(now.since(self.queue_since).as_nanos());
        self.queue_length = length;
        self.queue_since = now;
    }

    /// Time-weighted mean queue length over the `measured` time, which ends now.
    pub(crate) fn mean_queue(&mut self, now: Time, measured: Span) -> f64 {
        self.set_queue_length(now, self.queue_length);
        if measured == Span::ZERO { 0.0 } else { self.queue_area as f64 / measured.as_nanos() as f64 }
    }

    /// The measurement interval begins.
    pub(crate) fn on_warmup_end(&mut self, now: Time, bytes: Bytes) {
        *self = LinkMetrics {
            offered: self.offered,
            delivered: self.delivered,
            drops: self.drops.take(),
            marks: self.marks,
            queue_length: self.queue_length,
            max_queue: self.queue_length,
            max_queue_bytes: bytes,
            queue_since: now,
            ..LinkMetrics::default()
        };
    }

    /// A packet was dropped.
    #[cold]
    #[inline(never)]
    pub(crate) fn on_dropped(&mut self, reason: DropReason) {
        self.drops.get_or_insert_default()[reason as usize] += 1;
    }

    /// Adds what was counted at the far end alone: packets that arrived or were lost there.
    pub(crate) fn join(&mut self, far: &LinkMetrics) {
        self.delivered += far.delivered;
        if let Some(theirs) = &far.drops {
            let mine = self.drops.get_or_insert_default();
            mine.iter_mut().zip(theirs.iter()).for_each(|(mine, theirs)| *mine += theirs);
        }
    }

    /// Packets dropped, by reason.
    pub(crate) fn drops(&self) -> [u64; DropReason::ALL.len()] {
        self.drops.as_deref().copied().unwrap_or_default()
    }

    /// Packets dropped on this link.
    pub(crate) fn dropped(&self) -> u64 {
        self.drops.as_deref().map_or(0, |drops| drops.iter().sum())
    }
}

/// Transmissions that have begun, and the sum of their waiting times.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Waited {
    pub(crate) packets: u64,
    pub(crate) sum: Span,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_queue_is_weighted_by_time() {
        let at = |ms: u64| Time::ZERO + Span::from_millis(ms);
        let mut link = LinkMetrics::default();
        link.queue_grew(at(10), 1, Bytes(1000));
        link.queue_grew(at(20), 2, Bytes(2500));
        link.queue_shrank(at(40), 1);
        // 10 ms at 1, 20 ms at 2, 60 ms at 1, of 100 ms
        assert!((link.mean_queue(at(100), Span::from_millis(100)) - 1.1).abs() < 1e-12);
        assert_eq!((link.max_queue, link.max_queue_bytes), (2, Bytes(2500)));
    }

    #[test]
    fn quantiles_count_packets_that_did_not_wait() {
        let mut link = LinkMetrics::default();
        assert_eq!(link.wait_quantile_s(0.5), None);
        let transmit = |link: &mut LinkMetrics, ms| {
            link.on_transmission(Bytes(1000), Span::from_millis(1), Span::from_millis(ms));
        };
        (0..60).for_each(|_| transmit(&mut link, 0));
        (1..=40).for_each(|ms| transmit(&mut link, ms));
        assert_eq!(link.wait_quantile_s(0.5), Some(0.0));
        for (q, ms) in [(0.61, 1.0), (0.8, 20.0), (0.99, 39.0), (1.0, 40.0)] {
            let measured = 1e3 * link.wait_quantile_s(q).unwrap();
            assert!((measured - ms).abs() < 0.01 * ms, "{q}: {measured}");
        }
        link.uncount(Bytes(1000), Span::from_millis(1), Span::from_millis(40));
        assert!(link.wait_quantile_s(1.0).unwrap() < 0.0395);
    }
}
