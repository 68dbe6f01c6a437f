//! What is counted of the flows of a workload that arrive in the measurement interval, by size class.

use tcp::units::{Bytes, Span, Time};

use super::Slot;
use crate::host::flow::Flow;
use crate::metrics::Distribution;

/// Slowdowns are counted in millionths.
pub(crate) const SLOWDOWN_UNIT: f64 = 1e6;

/// What is counted of flows.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClassCounts {
    pub(crate) started: u64,
    pub(crate) bytes: u64,
    /// Flows that TCP gave up.
    pub(crate) aborted: u64,
    /// In nanoseconds.
    pub(crate) fct: Distribution,
    /// In millionths; of flows whose path leads over links.
    pub(crate) slowdown: Distribution,
    /// Sums over finished flows: of goodputs in bit/s, and of times in nanoseconds.
    goodput_sum: u128,
    handshake_sum: u128,
    first_byte_sum: u128,
}

/// A flow that has finished.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finished {
    pub(crate) size: Bytes,
    pub(crate) fct: Span,
    pub(crate) ideal: Option<Span>,
    pub(crate) handshake: Span,
    pub(crate) first_byte: Span,
}

impl Finished {
    /// Completion time divided by what it would be alone.
    pub(crate) fn slowdown(&self) -> Option<f64> {
        slowdown(self.fct, self.ideal?)
    }
}

/// Completion time divided by the ideal one, if that is longer than nothing.
pub(crate) fn slowdown(fct: Span, ideal: Span) -> Option<f64> {
    (ideal > Span::ZERO).then(|| fct.as_nanos() as f64 / ideal.as_nanos() as f64)
}

impl ClassCounts {
    pub(super) fn on_finish(&mut self, flow: &Finished) {
        let nanos = flow.fct.as_nanos();
        self.fct.add(nanos);
        if let Some(slowdown) = flow.slowdown() {
            self.slowdown.add(libm::round(slowdown * SLOWDOWN_UNIT) as u64);
        }
        self.goodput_sum += u128::from(flow.size.0) * 8_000_000_000 / u128::from(nanos.max(1));
        self.handshake_sum += u128::from(flow.handshake.as_nanos());
        self.first_byte_sum += u128::from(flow.first_byte.as_nanos());
    }

    /// Adds another class.
    pub(crate) fn merge(&mut self, other: &ClassCounts) {
        self.started += other.started;
        self.bytes += other.bytes;
        self.aborted += other.aborted;
        self.fct.merge(&other.fct);
        self.slowdown.merge(&other.slowdown);
        self.goodput_sum += other.goodput_sum;
        self.handshake_sum += other.handshake_sum;
        self.first_byte_sum += other.first_byte_sum;
    }

    pub(crate) fn finished(&self) -> u64 {
        self.fct.count()
    }

    pub(crate) fn goodput_mean_bps(&self) -> Option<f64> {
        self.mean(self.goodput_sum)
    }

    pub(crate) fn handshake_mean_s(&self) -> Option<f64> {
        self.mean(self.handshake_sum).map(|nanos| nanos / 1e9)
    }

    pub(crate) fn first_byte_mean_s(&self) -> Option<f64> {
        self.mean(self.first_byte_sum).map(|nanos| nanos / 1e9)
    }

    fn mean(&self, sum: u128) -> Option<f64> {
        let count = self.finished();
        (count > 0).then(|| sum as f64 / count as f64)
    }
}

/// What is known of a flow if it has finished.
pub(crate) fn finished(slot: &Slot, flow: &Flow) -> Option<Finished> {
    let since = |at: Option<Time>| at.map(|at| at.since(slot.start));
    Some(Finished {
        size: slot.size,
        fct: flow.completion(slot.start)?,
        ideal: slot.ideal,
        handshake: since(flow.connected_at).unwrap_or_default(),
        first_byte: since(flow.first_byte_at).unwrap_or_default(),
    })
}
