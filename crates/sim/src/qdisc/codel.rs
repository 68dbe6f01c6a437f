//! CoDel (RFC 8289): drops when every packet of an interval has waited longer than the target.

use tcp::Ecn;
use tcp::units::{Bytes, Span, Time};

use super::context::QueueContext;
use super::fifo::{Fifo, Limit, QueuedPacket};
use crate::packet::DropReason;
use crate::scenario::{CeSelector, CodelDef, InverseSqrt};

/// The settings of the control law.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) target: Span,
    pub(super) interval: Span,
    /// Nothing is dropped from a queue of at most this size (RFC 8289 §5.4).
    pub(super) mtu: Bytes,
    pub(super) ecn: bool,
    /// A packet that waited longer is marked, whatever the control law says.
    pub(super) ce_threshold: Option<Span>,
    /// If it is one of these.
    pub(super) ce_threshold_selector: Option<CeSelector>,
    pub(super) inverse_sqrt: InverseSqrt,
}

/// The control law's state; FQ-CoDel has one for each of its queues.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Control {
    /// When the sojourn time will have been above target for an interval; `None` while it is below.
    first_above: Option<Time>,
    dropping: bool,
    /// Drops since the dropping state was entered.
    count: u64,
    /// `count` when it was entered.
    last_count: u64,
    drop_next: Time,
    /// Newton's approximation of 1 / sqrt(count); unused if it is computed exactly.
    inverse_root: f64,
}

/// A CoDel queue.
#[derive(Debug)]
pub(crate) struct Codel {
    limit: Limit,
    settings: Settings,
    control: Control,
    waiting: Fifo,
    /// A packet that a discipline around this one has looked at: the drops before it have happened, nothing overtakes it. It
    /// counts as queued.
    peeked: Option<QueuedPacket>,
}

impl Codel {
    /// An empty queue.
    pub(super) fn new(def: &CodelDef) -> Codel {
        let (settings, control) = (Settings::of(def), Control::default());
        Codel { limit: def.limit.into(), settings, control, waiting: Fifo::default(), peeked: None }
    }

    #[inline(never)]
    pub(super) fn enqueue(&mut self, arrival: QueuedPacket) -> Result<(), DropReason> {
        if self.limit.is_exceeded(self.packets() + 1, self.bytes() + arrival.size) {
            return Err(DropReason::Queue);
        }
        self.waiting.push(arrival);
        Ok(())
    }

    #[inline(never)]
    pub(super) fn dequeue(&mut self, ctx: &mut QueueContext<'_>) -> Option<QueuedPacket> {
        if self.peeked.is_some() {
            return self.peeked.take();
        }
        self.control.dequeue(&self.settings, &mut self.waiting, Bytes::ZERO, ctx)
    }

    /// What `dequeue` will return, after the drops that come first.
    pub(super) fn peek(&mut self, ctx: &mut QueueContext<'_>) -> Option<QueuedPacket> {
        self.peeked = self.dequeue(ctx);
        self.peeked
    }

    /// Removes the packets for which `wanted` is true, without the control law.
    pub(super) fn take(&mut self, wanted: &dyn Fn(&QueuedPacket) -> bool) -> Vec<QueuedPacket> {
        let mut taken: Vec<QueuedPacket> = self.peeked.take_if(|head| wanted(head)).into_iter().collect();
        taken.extend(self.waiting.take(wanted));
        taken
    }

    pub(super) fn packets(&self) -> u64 {
        self.waiting.packets() + u64::from(self.peeked.is_some())
    }

    pub(super) fn bytes(&self) -> Bytes {
        self.peeked.map_or(Bytes::ZERO, |head| head.size) + self.waiting.bytes()
    }
}

impl Settings {
    fn selects(&self, ctx: &QueueContext<'_>, packet: &QueuedPacket) -> bool {
        match self.ce_threshold_selector {
            None => true,
            Some(CeSelector::Ect1) => ctx.packet(packet).ecn() == Ecn::Ect1,
            Some(CeSelector::Dscp(dscp)) => ctx.dscp(packet) == dscp,
        }
    }

    pub(super) fn of(def: &CodelDef) -> Settings {
        let CodelDef { target, interval, mtu, ecn, ce_threshold, ce_threshold_selector, inverse_sqrt, .. } = *def;
        Settings { target, interval, mtu, ecn, ce_threshold, ce_threshold_selector, inverse_sqrt }
    }
}

impl Control {
    /// The next packet to send, after those that are dropped; `beside` waits in other queues that the guard counts too.
    pub(super) fn dequeue(
        &mut self,
        settings: &Settings,
        waiting: &mut Fifo,
        beside: Bytes,
        ctx: &mut QueueContext<'_>,
    ) -> Option<QueuedPacket> {
        let next = self.decide(settings, waiting, beside, ctx)?;
        let over = settings.ce_threshold.is_some_and(|threshold| ctx.sojourn(&next) > threshold);
        if over && settings.selects(ctx, &next) {
            ctx.mark(&next);
        }
        Some(next)
    }

    /// RFC 8289 §5.5, `dequeue`.
    fn decide(
        &mut self,
        settings: &Settings,
        waiting: &mut Fifo,
        beside: Bytes,
        ctx: &mut QueueContext<'_>,
    ) -> Option<QueuedPacket> {
        let now = ctx.now();
        let (mut next, mut ok_to_drop) = self.pop(settings, waiting, beside, ctx);
        if self.dropping {
            self.dropping = ok_to_drop;
            while self.dropping && now >= self.drop_next {
                let head = next?;
                self.count_to(self.count + 1);
                if settings.ecn && ctx.mark(&head) {
                    self.drop_next = self.after(self.drop_next, settings);
                    return Some(head);
                }
                ctx.drop(&head, DropReason::Aqm);
                (next, ok_to_drop) = self.pop(settings, waiting, beside, ctx);
                self.dropping = ok_to_drop;
                if ok_to_drop {
                    self.drop_next = self.after(self.drop_next, settings);
                }
            }
        } else if ok_to_drop {
            let head = next?;
            if !(settings.ecn && ctx.mark(&head)) {
                ctx.drop(&head, DropReason::Aqm);
                next = self.pop(settings, waiting, beside, ctx).0;
            }
            self.enter(now, settings);
        }
        next
    }

    /// RFC 8289 §5.4, `dodequeue`: the head, and whether the sojourn time has been above target for an interval.
    fn pop(
        &mut self,
        settings: &Settings,
        waiting: &mut Fifo,
        beside: Bytes,
        ctx: &QueueContext<'_>,
    ) -> (Option<QueuedPacket>, bool) {
        let next = waiting.pop();
        let long =
            next.is_some_and(|head| ctx.sojourn(&head) >= settings.target && waiting.bytes() + beside > settings.mtu);
        if !long {
            self.first_above = None;
            return (next, false);
        }
        let first_above = *self.first_above.get_or_insert(ctx.now() + settings.interval);
        (next, ctx.now() >= first_above)
    }

    /// Enters the dropping state, at the drop rate of the last time if that was recent.
    fn enter(&mut self, now: Time, settings: &Settings) {
        self.dropping = true;
        let delta = self.count.saturating_sub(self.last_count);
        let recently = now.since(self.drop_next) < settings.interval * 16;
        self.count_to(if delta > 1 && recently { delta } else { 1 });
        self.last_count = self.count;
        self.drop_next = self.after(now, settings);
    }

    /// A new count, and with it one step of Newton's method: that is all that Linux does for a count.
    fn count_to(&mut self, count: u64) {
        self.count = count;
        let squared = count as f64 * self.inverse_root * self.inverse_root;
        self.inverse_root = if count == 1 {
            1.0
        } else if squared < 3.0 {
            self.inverse_root / 2.0 * (3.0 - squared)
        } else {
            // Beyond, the method does not converge.
            1.0 / libm::sqrt(count as f64)
        };
    }

    /// The control law: t + interval / sqrt(count).
    fn after(&self, t: Time, settings: &Settings) -> Time {
        let interval = settings.interval.as_secs_f64();
        t + Span::from_secs_f64(match settings.inverse_sqrt {
            InverseSqrt::Exact => interval / libm::sqrt(self.count as f64),
            InverseSqrt::Newton => interval * self.inverse_root,
        })
    }
}

#[cfg(test)]
mod tests;
