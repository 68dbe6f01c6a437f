//! A token bucket filter: a shaper, which holds the packets of an inner discipline until the bucket has their tokens.

use tcp::rng::Rng;
use tcp::units::{Bytes, Rate, Span, Time};

use super::autorate::Autorate;
use super::context::QueueContext;
use super::fifo::QueuedPacket;
use super::shaping::{RateChanges, Wakes};
use super::token_bucket::TokenBucket;
use super::{Dequeued, Qdisc};
use crate::ids::FlowId;
use crate::packet::DropReason;
use crate::scenario::{Overhead, TbfDef};

/// A shaper and the discipline inside it.
#[derive(Debug)]
pub(crate) struct Tbf {
    sustained: TokenBucket,
    peak: Option<TokenBucket>,
    /// No bucket ever holds the tokens of a larger packet.
    largest: Bytes,
    /// A bucket that is not overdrawn lets a packet of any size start, which the discipline inside chooses only then.
    debt: bool,
    overhead: Overhead,
    wakes: Wakes,
    changes: RateChanges,
    autorate: Option<Box<Autorate>>,
    pub(super) inner: Qdisc,
}

impl Tbf {
    /// An empty shaper. The discipline inside sees a transmitter of the shaper's rate.
    pub(super) fn new(def: &TbfDef, line: Rate, delay: Span, rng: Rng) -> Tbf {
        let def = def.with_defaults();
        let burst = def.burst.expect("filled in from the rate");
        let peak = def.peak.zip(def.peak_burst);
        Tbf {
            sustained: TokenBucket::new(def.rate, burst),
            peak: peak.map(|(rate, burst)| TokenBucket::new(rate, burst)),
            largest: if def.debt { Bytes(u64::MAX) } else { peak.map_or(burst, |(_, most)| burst.min(most)) },
            debt: def.debt,
            overhead: def.overhead,
            wakes: Wakes::new(def.wake),
            changes: RateChanges::new(def.changes.iter().map(|change| (change.at, change.rate))),
            autorate: def.autorate.as_ref().map(|own| Box::new(Autorate::new(own, def.rate))),
            inner: Qdisc::inside(&def.queue, line.min(def.rate), delay, rng),
        }
    }

    #[inline(never)]
    pub(super) fn enqueue(&mut self, ctx: &mut QueueContext<'_>, arrival: QueuedPacket) -> Result<(), DropReason> {
        if ctx.on_line(&self.overhead, &arrival) > self.largest {
            return Err(DropReason::TooLong);
        }
        self.inner.enqueue(ctx, arrival)
    }

    /// The packet that may start now, still in the queue; it never overtakes one that may not.
    pub(super) fn peek(&mut self, ctx: &mut QueueContext<'_>) -> Dequeued {
        while let Some((at, rate)) = self.changes.next_due(ctx.now()) {
            self.sustained.set_rate(at, rate);
        }
        if let Some(answer) = self.wakes.asleep(ctx.now(), self.inner.packets()) {
            return answer;
        }
        if let Some(at) = self.overdrawn_until(ctx.now()) {
            return if self.inner.packets() == 0 { Dequeued::Empty } else { self.wait(at) };
        }
        let answer = self.inner.peek(ctx);
        let Dequeued::Ready(head) = answer else { return answer };
        let needed = if self.debt { Bytes::ZERO } else { ctx.on_line(&self.overhead, &head) };
        let at = self.ready_at(ctx.now(), needed);
        if at > ctx.now() { self.wait(at) } else { answer }
    }

    fn wait(&mut self, at: Time) -> Dequeued {
        self.wakes.sleep(self.changes.bound(at))
    }

    /// When the debt that a packet left is paid, if it is not.
    fn overdrawn_until(&mut self, now: Time) -> Option<Time> {
        Some(self.ready_at(now, Bytes::ZERO)).filter(|at| self.debt && *at > now)
    }

    fn ready_at(&mut self, now: Time, size: Bytes) -> Time {
        let peak = self.peak.as_mut().map_or(now, |peak| peak.ready_at(now, size));
        self.sustained.ready_at(now, size).max(peak)
    }

    /// A flow has measured a delay.
    pub(super) fn on_delay(&mut self, now: Time, flow: FlowId, delay: Span) {
        if let Some(rate) = self.autorate.as_mut().and_then(|control| control.on_delay(now, flow, delay)) {
            self.sustained.set_rate(now, rate);
        }
        self.inner.on_delay(now, flow, delay);
    }

    #[inline(never)]
    pub(super) fn dequeue(&mut self, ctx: &mut QueueContext<'_>) -> Dequeued {
        let answer = self.peek(ctx);
        let Dequeued::Ready(head) = answer else { return answer };
        let size = ctx.on_line(&self.overhead, &head);
        self.autorate.iter_mut().for_each(|control| control.on_sent(ctx.now(), size));
        for bucket in [Some(&mut self.sustained), self.peak.as_mut()].into_iter().flatten() {
            bucket.overdraw(ctx.now(), size);
        }
        let next = self.inner.dequeue(ctx);
        debug_assert!(matches!(next, Dequeued::Ready(next) if next.packet == head.packet), "it was looked at");
        next
    }
}

#[cfg(test)]
mod tests;
