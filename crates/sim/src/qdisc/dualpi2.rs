//! DualPI2 (RFC 9332; Linux's sch_dualpi2): a queue L for scalable flows and a queue C for classic ones before one transmitter,
//! coupled so that both kinds get about the same rate.

mod control;
mod counts;
mod scheduler;

use std::collections::VecDeque;

use tcp::Ecn;
use tcp::rng::Rng;
use tcp::units::{Bytes, Rate, Span, Time};

use super::context::QueueContext;
use super::fifo::{Fifo, Limit, QueuedPacket};
use super::report::{QueueReport, QueueSample};
use crate::packet::DropReason;
use crate::scenario::{ControlledDelay, Draws, DropAt, DualPi2Classify, DualPi2Def, LowAqm, Overload};

use control::Control;
use counts::Counts;
use scheduler::{Heads, Scheduler};

/// RFC 9332, Appendix A.1: the limit is what the line carries in this time.
const LIMIT_OF_RFC: Span = Span::from_millis(250);

/// A full datagram of Ethernet.
const MTU: Bytes = Bytes(1500);

/// One of the two queues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Class {
    Low,
    Classic,
}

/// What becomes of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Decision {
    Pass,
    Mark(MarkedBy),
    Drop,
}

/// What decided to mark a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum MarkedBy {
    /// The AQM of L itself.
    Native,
    /// The probability of the controller.
    Controller,
}

/// The coupled queues.
#[derive(Debug)]
pub(crate) struct DualPi2 {
    limit: Limit,
    /// What has to fit into a limit in bytes, whatever the size of the arrival: the largest packet so far.
    mtu: Bytes,
    classify: DualPi2Classify,
    low_aqm: LowAqm,
    min_backlog: Bytes,
    overload: Overload,
    drop_at: DropAt,
    delay: ControlledDelay,
    coupling: f64,
    control: Control,
    scheduler: Scheduler,
    chance: Chance,
    low: Fifo,
    /// For each packet of `low`, how many others it found there.
    found: VecDeque<u64>,
    classic: Fifo,
    /// A packet that a discipline around this one has looked at: the drops before it have happened, nothing overtakes it. It
    /// counts as queued.
    peeked: Option<(Class, QueuedPacket)>,
    counts: Counts,
}

impl DualPi2 {
    /// Empty queues before a transmitter of this rate.
    pub(super) fn new(def: &DualPi2Def, rate: Rate, rng: Rng) -> DualPi2 {
        let def = def.with_defaults();
        let filled = "filled in from the profile";
        let coupling = def.coupling.expect(filled);
        let overload = def.overload.expect(filled);
        let carried = (u128::from(rate.as_bps()) * u128::from(LIMIT_OF_RFC.as_nanos()) / 8_000_000_000) as u64;
        let max_p = if overload == Overload::Mark { f64::min(1.0, 1.0 / coupling) } else { 1.0 };
        let gains = [def.alpha.expect(filled), def.beta.expect(filled)];
        DualPi2 {
            limit: def.limit.map_or(Limit::Bytes(Bytes(carried).max(MTU)), Limit::from),
            mtu: MTU,
            classify: def.classify.expect(filled),
            low_aqm: def.l_aqm.expect(filled),
            min_backlog: def.min_backlog.expect(filled),
            overload,
            drop_at: def.drop_at.expect(filled),
            delay: def.delay.expect(filled),
            coupling,
            control: Control::new(def.target.expect(filled), def.update.expect(filled), gains, max_p),
            scheduler: Scheduler::new(&def.scheduler.expect(filled)),
            chance: Chance::new(def.draws.expect(filled), rng),
            low: Fifo::default(),
            found: VecDeque::new(),
            classic: Fifo::default(),
            peeked: None,
            counts: Counts::default(),
        }
    }

    #[inline(never)]
    pub(super) fn enqueue(&mut self, ctx: &mut QueueContext<'_>, arrival: QueuedPacket) -> Result<(), DropReason> {
        self.catch_up(ctx.now());
        let class = self.class_of(ctx.packet(&arrival).ecn());
        // RFC 9332, Appendix A.1, dualpi2_enqueue: an MTU has to fit, or small packets would find room where large ones do not.
        self.mtu = self.mtu.max(arrival.size);
        if self.limit.is_exceeded(self.packets() + 1, self.bytes() + self.mtu) {
            self.counts.on_overflow(class);
            return Err(DropReason::Queue);
        }
        if self.packets() == 0 {
            self.scheduler.reset();
        }
        let found = self.low.packets() + u64::from(matches!(self.peeked, Some((Class::Low, _))));
        if self.drop_at == DropAt::Enqueue {
            let waited = self.age_of(class, ctx.now()).unwrap_or(Span::ZERO);
            let decision = self.decide(class, waited, found);
            if !self.carry_out(ctx, class, &arrival, decision) {
                return Err(DropReason::Aqm);
            }
        }
        match class {
            Class::Low => {
                self.low.push(arrival);
                self.found.push_back(found);
            }
            Class::Classic => self.classic.push(arrival),
        }
        Ok(())
    }

    #[inline(never)]
    pub(super) fn dequeue(&mut self, ctx: &mut QueueContext<'_>) -> Option<QueuedPacket> {
        self.catch_up(ctx.now());
        let (class, next) = match self.peeked.take() {
            Some(looked_at) => looked_at,
            None => self.choose(ctx)?,
        };
        self.counts.of(class).on_departure(next.size, ctx.sojourn(&next));
        Some(next)
    }

    /// What `dequeue` will return, after the drops that come first.
    pub(super) fn peek(&mut self, ctx: &mut QueueContext<'_>) -> Option<QueuedPacket> {
        if self.peeked.is_none() {
            self.catch_up(ctx.now());
            self.peeked = self.choose(ctx);
        }
        self.peeked.map(|(_, head)| head)
    }

    /// Takes the next packet out of its queue, after those that are dropped.
    fn choose(&mut self, ctx: &mut QueueContext<'_>) -> Option<(Class, QueuedPacket)> {
        loop {
            let since = |queue: &Fifo| queue.front().map(|head| head.since);
            let heads = Heads { low: since(&self.low), classic: since(&self.classic) };
            let class = self.scheduler.class(ctx.now(), heads)?;
            let (next, found) = match class {
                Class::Low => (self.low.pop()?, self.found.pop_front()?),
                Class::Classic => (self.classic.pop()?, 0),
            };
            let waited = ctx.sojourn(&next);
            if self.drop_at == DropAt::Dequeue {
                let decision = self.decide(class, waited, found);
                if !self.carry_out(ctx, class, &next, decision) {
                    ctx.drop(&next, DropReason::Aqm);
                    continue;
                }
            }
            if class == Class::Low && self.exceeds_step(waited, found) {
                let decision = Decision::Mark(MarkedBy::Native);
                if !self.carry_out(ctx, class, &next, decision) {
                    ctx.drop(&next, DropReason::Aqm);
                    continue;
                }
            }
            if heads.low.is_some() && heads.classic.is_some() {
                self.scheduler.charge(class, next.size);
            }
            return Some((class, next));
        }
    }

    fn class_of(&self, ecn: Ecn) -> Class {
        match ecn {
            Ecn::Ect1 | Ecn::Ce => Class::Low,
            Ecn::Ect0 if self.classify == DualPi2Classify::AnyEct => Class::Low,
            Ecn::Ect0 | Ecn::NotEct => Class::Classic,
        }
    }

    /// The decision of the controller, and of a ramp, about a packet that is not among those waiting.
    fn decide(&mut self, class: Class, waited: Span, found: u64) -> Decision {
        if self.bytes() < self.min_backlog {
            return Decision::Pass;
        }
        let p = self.control.p;
        let coupled = self.coupling * p;
        let overloaded = coupled > 1.0;
        match class {
            Class::Classic if !self.chance.squared(class, p) => Decision::Pass,
            Class::Classic if overloaded => Decision::Drop,
            Class::Classic => Decision::Mark(MarkedBy::Controller),
            Class::Low if overloaded => {
                let drops = self.overload == Overload::Drop && self.chance.squared(class, p);
                if drops { Decision::Drop } else { Decision::Mark(MarkedBy::Controller) }
            }
            Class::Low => {
                let native = self.ramp(waited, found);
                let by = if native > coupled { MarkedBy::Native } else { MarkedBy::Controller };
                if self.chance.once(class, native.max(coupled)) { Decision::Mark(by) } else { Decision::Pass }
            }
        }
    }

    /// Marks a packet or not; false if it has to be dropped, which is counted.
    fn carry_out(
        &mut self,
        ctx: &mut QueueContext<'_>,
        class: Class,
        packet: &QueuedPacket,
        decision: Decision,
    ) -> bool {
        let was_marked = ctx.packet(packet).ecn() == Ecn::Ce;
        match decision {
            Decision::Pass => return true,
            Decision::Mark(by) if ctx.mark(packet) => {
                if !was_marked {
                    self.counts.on_mark(class, by);
                }
                return true;
            }
            Decision::Mark(_) | Decision::Drop => self.counts.on_aqm_drop(class),
        }
        false
    }

    /// RFC 9332, Appendix A.1: the probability of the ramp for a packet that waited so long.
    fn ramp(&self, waited: Span, found: u64) -> f64 {
        let LowAqm::Ramp(ramp) = &self.low_aqm else { return 0.0 };
        if found < ramp.min_packets.unwrap_or(0) {
            return 0.0;
        }
        (waited.saturating_sub(ramp.min).as_secs_f64() / ramp.range.as_secs_f64()).min(1.0)
    }

    fn exceeds_step(&self, waited: Span, found: u64) -> bool {
        matches!(&self.low_aqm, LowAqm::Step(step) if waited > step.threshold && found >= step.min_packets.unwrap_or(0))
    }

    /// When the packet came that has waited longest in a queue.
    fn head_of(&self, class: Class) -> Option<Time> {
        let looked_at = self.peeked.filter(|(of, _)| *of == class).map(|(_, head)| head);
        let queue = if class == Class::Low { &self.low } else { &self.classic };
        looked_at.or(queue.front().copied()).map(|head| head.since)
    }

    fn age_of(&self, class: Class, now: Time) -> Option<Span> {
        self.head_of(class).map(|since| now.since(since))
    }

    /// Carries out the updates of the controller that have become due. The heads change at arrivals and departures only, so
    /// that it is exact to do them late.
    fn catch_up(&mut self, now: Time) {
        let classic = self.head_of(Class::Classic);
        let oldest = match self.delay {
            ControlledDelay::Classic => classic,
            ControlledDelay::Max => classic.into_iter().chain(self.head_of(Class::Low)).min(),
        };
        self.control.catch_up(now, oldest, &mut self.counts, self.coupling);
    }

    /// Removes the packets for which `wanted` is true, without a decision.
    pub(super) fn take(&mut self, wanted: &dyn Fn(&QueuedPacket) -> bool) -> Vec<QueuedPacket> {
        let mut taken: Vec<QueuedPacket> =
            self.peeked.take_if(|(_, head)| wanted(head)).map(|(_, head)| head).into_iter().collect();
        let mut stays = self.low.iter().map(|waiting| !wanted(waiting)).collect::<Vec<_>>().into_iter();
        self.found.retain(|_| stays.next().unwrap_or(false));
        taken.extend(self.low.take(wanted));
        taken.extend(self.classic.take(wanted));
        taken
    }

    /// The measurement interval begins.
    pub(super) fn on_warmup_end(&mut self, now: Time) {
        self.catch_up(now);
        self.counts.on_warmup_end();
    }

    /// What it counted until now.
    pub(super) fn report(&mut self, now: Time) -> QueueReport {
        self.catch_up(now);
        QueueReport::DualPi2(Box::new(self.counts.report()))
    }

    /// Probabilities and backlogs now.
    pub(super) fn sample(&mut self, now: Time) -> QueueSample {
        self.catch_up(now);
        let (p, found) = (self.control.p, self.low.packets().saturating_sub(1));
        let native = self.age_of(Class::Low, now).map_or(0.0, |waited| self.ramp(waited, found));
        let looked_at = |class| self.peeked.filter(|(of, _)| *of == class).map_or(Bytes::ZERO, |(_, head)| head.size);
        QueueSample {
            p: Some(p),
            p_low: Some(native.max(self.coupling * p).min(1.0)),
            low: Some(self.low.bytes() + looked_at(Class::Low)),
            classic: Some(self.classic.bytes() + looked_at(Class::Classic)),
        }
    }

    pub(super) fn packets(&self) -> u64 {
        self.low.packets() + self.classic.packets() + u64::from(self.peeked.is_some())
    }

    pub(super) fn bytes(&self) -> Bytes {
        self.low.bytes() + self.classic.bytes() + self.peeked.map_or(Bytes::ZERO, |(_, head)| head.size)
    }
}

/// How decisions are drawn.
#[derive(Debug)]
enum Chance {
    Random(Rng),
    /// Sums of the probabilities since the last decision, of L and C.
    Recur {
        low: f64,
        classic: f64,
    },
}

impl Chance {
    fn new(draws: Draws, rng: Rng) -> Chance {
        match draws {
            Draws::Random => Chance::Random(rng),
            Draws::Recur => Chance::Recur { low: 0.0, classic: 0.0 },
        }
    }

    /// True with probability `p`.
    fn once(&mut self, class: Class, p: f64) -> bool {
        match self {
            Chance::Random(rng) => rng.chance(p),
            Chance::Recur { low, classic } => {
                let sum = if class == Class::Low { low } else { classic };
                *sum += p;
                let chosen = *sum > 1.0;
                *sum -= f64::from(u8::from(chosen));
                chosen
            }
        }
    }

    /// True with probability p²; two independent draws of p where draws are independent (Linux).
    fn squared(&mut self, class: Class, p: f64) -> bool {
        match self {
            Chance::Random(rng) => rng.chance(p) && rng.chance(p),
            Chance::Recur { .. } => self.once(class, p * p),
        }
    }
}

#[cfg(test)]
mod tests;
