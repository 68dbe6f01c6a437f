//! What a discipline is handed with every call: the time, and the books in which drops and marks are written at once.
//!
//! A discipline may drop more than the packet in question, also when it is asked for the next one; written down where
//! they happen, the books of the link balance whatever a discipline does.

use tcp::Ecn;
use tcp::units::{Span, Time};

use super::Waiting;
use crate::engine::context::Context;
use crate::ids::LinkId;
use crate::metrics::LinkMetrics;
use crate::packet::{DropReason, Packet};

/// The books of a link while its queue is at work.
#[derive(Debug)]
pub(crate) struct Ledger<'a> {
    ctx: &'a mut Context,
    metrics: &'a mut LinkMetrics,
    link: LinkId,
    /// The transmitter is, or was, busy until then.
    free_at: Time,
}

impl<'a> Ledger<'a> {
    pub(crate) fn new(ctx: &'a mut Context, metrics: &'a mut LinkMetrics, link: LinkId, free_at: Time) -> Ledger<'a> {
        Ledger { ctx, metrics, link, free_at }
    }

    pub(super) fn now(&self) -> Time {
        self.ctx.now
    }

    /// How long the transmitter has had nothing to do.
    pub(super) fn idle(&self) -> Span {
        self.ctx.now.since(self.free_at)
    }

    pub(super) fn packet(&self, waiting: &Waiting) -> Packet {
        self.ctx.packets.get(waiting.packet)
    }

    /// How long a packet has waited.
    pub(super) fn sojourn(&self, waiting: &Waiting) -> Span {
        self.ctx.now.since(waiting.since)
    }

    /// Gives a packet up.
    pub(super) fn drop(&mut self, gone: &Waiting, reason: DropReason) {
        self.metrics.drops[reason as usize] += 1;
        self.ctx.drop(gone.packet, reason, Some(self.link));
    }

    /// Marks a packet CE; false if its transport does not take marks (RFC 3168 §5).
    #[inline(never)]
    pub(super) fn mark(&mut self, waiting: &Waiting) -> bool {
        match self.packet(waiting).ecn() {
            Ecn::NotEct => return false,
            // Another queue did it: one mark, counted once.
            Ecn::Ce => {}
            Ecn::Ect0 | Ecn::Ect1 => {
                self.metrics.marks += 1;
                self.ctx.mark(waiting.packet, self.link);
            }
        }
        true
    }
}
