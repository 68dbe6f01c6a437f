//! PIE (RFC 8033): a controller of the queueing delay sets the probability with which arrivals are dropped.

mod docsis;

use tcp::rng::Rng;
use tcp::units::{Bytes, Span, Time};

use super::context::QueueContext;
use super::fifo::{Fifo, Limit, QueuedPacket};
use super::report::QueueSample;
use crate::packet::DropReason;
use crate::scenario::{DelayEstimator, PieDef, PieRules};
use docsis::Burst;

/// RFC 8033 §5.4: with derandomisation the sum of the probabilities since the last drop below which nothing is dropped,
/// and above which everything is.
const ACCUMULATED: (f64, f64) = (0.85, 8.5);

/// A PIE queue.
#[derive(Debug)]
pub(crate) struct Pie {
    limit: Limit,
    def: PieDef,
    pub(super) one: Regulated,
    rng: Rng,
}

/// A queue under a controller; FQ-PIE has many.
#[derive(Debug)]
pub(super) struct Regulated {
    control: Control,
    /// Sum of the drop probabilities since the last drop.
    accumulated: f64,
    next_update: Time,
    /// Sojourn time of the last packet that left; zero if it left the queue empty.
    last_sojourn: Span,
    departures: Departures,
    pub(super) waiting: Fifo,
}

/// The state of the controller (RFC 8033 §4.2).
#[derive(Clone, Copy, PartialEq, Debug)]
struct Control {
    p: f64,
    /// Queueing delay at the last update, seconds.
    delay: f64,
    burst_allowance: Span,
    /// With the rules of DOCSIS.
    burst: Burst,
}

/// The measured departure rate (RFC 8033 §5.3).
#[derive(Clone, Copy, Debug, Default)]
struct Departures {
    /// Start of the current measurement.
    since: Option<Time>,
    bytes: u64,
    /// Seconds in which the threshold's bytes leave; zero until measured.
    average: f64,
}

impl Pie {
    /// An empty queue.
    pub(super) fn new(def: &PieDef, rng: Rng) -> Pie {
        let def = def.with_defaults();
        Pie { limit: def.limit.into(), one: Regulated::new(&def), def, rng }
    }

    #[inline(never)]
    pub(super) fn enqueue(&mut self, ctx: &mut QueueContext<'_>, arrival: QueuedPacket) -> Result<(), DropReason> {
        let full = self.limit.refuses(&self.one.waiting, &arrival);
        self.one.admit(&self.def, full, ctx, &arrival, &mut self.rng)?;
        self.one.waiting.push(arrival);
        Ok(())
    }

    #[inline(never)]
    pub(super) fn dequeue(&mut self, ctx: &mut QueueContext<'_>) -> Option<QueuedPacket> {
        self.one.pop(&self.def, ctx)
    }

    /// What series show of it now.
    pub(super) fn sample(&mut self, now: Time) -> QueueSample {
        self.one.catch_up(&self.def, now);
        QueueSample { p: Some(self.one.control.p), ..QueueSample::default() }
    }
}

impl Regulated {
    /// An empty queue. All that begin at one time are updated at the same instants.
    pub(super) fn new(def: &PieDef) -> Regulated {
        Regulated {
            control: Control::new(def),
            accumulated: 0.0,
            next_update: Time::ZERO + def.update,
            last_sojourn: Span::ZERO,
            departures: Departures::default(),
            waiting: Fifo::default(),
        }
    }

    /// Refuses or marks an arrival by what waits before it; `full` says that there is no room.
    #[inline]
    pub(super) fn admit(
        &mut self,
        def: &PieDef,
        full: bool,
        ctx: &mut QueueContext<'_>,
        arrival: &QueuedPacket,
        rng: &mut Rng,
    ) -> Result<(), DropReason> {
        self.catch_up(def, ctx.now());
        if full {
            self.accumulated = 0.0;
            return Err(DropReason::Queue);
        }
        if self.control.burst_allowance == Span::ZERO && self.decides_to_drop(def, arrival.size, rng) {
            // RFC 8033 §5.1: beyond the threshold even ECN-capable packets are dropped.
            let may_mark = def.ecn && self.control.p <= def.mark_p;
            if !(may_mark && ctx.mark(arrival)) {
                return Err(DropReason::Aqm);
            }
        }
        Ok(())
    }

    /// The packet at the head leaves through the transmitter.
    #[inline]
    pub(super) fn pop(&mut self, def: &PieDef, ctx: &mut QueueContext<'_>) -> Option<QueuedPacket> {
        self.catch_up(def, ctx.now());
        let before = self.waiting.bytes().0;
        let next = self.waiting.pop()?;
        let left_some = self.waiting.packets() > 0;
        self.last_sojourn = if left_some { ctx.sojourn(&next) } else { Span::ZERO };
        self.departures.on_departure(ctx.now(), before, next.size.0, def.departure_threshold.0);
        Some(next)
    }

    /// Removes the packets for which `wanted` is true, without a measurement: they do not leave through the transmitter.
    pub(super) fn take(&mut self, wanted: &dyn Fn(&QueuedPacket) -> bool) -> Vec<QueuedPacket> {
        let taken = self.waiting.take(wanted);
        if self.waiting.packets() == 0 && !taken.is_empty() {
            self.last_sojourn = Span::ZERO;
        }
        taken
    }

    /// Carries out the updates that have become due. What they depend on changes at arrivals and departures only, so that
    /// it is exact to do them late.
    fn catch_up(&mut self, def: &PieDef, now: Time) {
        while self.next_update <= now {
            self.next_update = self.next_update + def.update;
            let was = self.control;
            self.control.update(def, self.queueing_delay(def), self.waiting.packets() > 0);
            if self.control == was {
                // A fixed point: all further updates would change nothing.
                let whole = now.since(self.next_update).as_nanos() / def.update.as_nanos();
                self.next_update = self.next_update + def.update * whole;
            }
        }
    }

    /// The delay now, in seconds.
    fn queueing_delay(&self, def: &PieDef) -> f64 {
        match def.estimator {
            DelayEstimator::Timestamps => self.last_sojourn.as_secs_f64(),
            DelayEstimator::DepartureRate => {
                self.waiting.bytes().as_f64() * self.departures.average / def.departure_threshold.as_f64()
            }
        }
    }

    /// RFC 8033 §4.1 and §5.4 about a packet of this size.
    fn decides_to_drop(&mut self, def: &PieDef, size: Bytes, rng: &mut Rng) -> bool {
        if def.rules == Some(PieRules::Docsis) {
            return self.docsis_decides_to_drop(def, size, rng);
        }
        let p = self.control.p;
        if self.spares(def) {
            return false;
        }
        self.draws(def, p, rng)
    }

    /// Nothing is dropped under light load, nor from a queue of two packets; from that of exactly two in Linux.
    fn spares(&self, def: &PieDef) -> bool {
        let Control { p, delay, .. } = self.control;
        let light_load = delay < def.target.as_secs_f64() / 2.0 && p < 0.2;
        let (holds, two) = (self.waiting.bytes(), def.mean_packet() * 2);
        light_load || holds < two || (holds == two && def.rules != Some(PieRules::Linux))
    }

    /// The decision itself, with probability `p`.
    fn draws(&mut self, def: &PieDef, p: f64, rng: &mut Rng) -> bool {
        if def.derandomise != Some(true) {
            return rng.chance(p);
        }
        self.accumulated = if p == 0.0 { 0.0 } else { self.accumulated + p };
        let (never, always) = ACCUMULATED;
        let drop = self.accumulated >= always || (self.accumulated >= never && rng.chance(p));
        if drop {
            self.accumulated = 0.0;
        }
        drop
    }
}

impl Control {
    fn new(def: &PieDef) -> Control {
        let burst_allowance = if def.rules == Some(PieRules::Docsis) { Span::ZERO } else { def.max_burst };
        Control { p: 0.0, delay: 0.0, burst_allowance, burst: Burst::None }
    }

    /// RFC 8033 §4.2, §4.4: the probability from the delay and its trend, and the remaining burst allowance. Packets wait if
    /// `backlog`: then no delay means a short queue to Linux, not an empty one.
    fn update(&mut self, def: &PieDef, delay: f64, backlog: bool) {
        if def.rules == Some(PieRules::Docsis) {
            return self.docsis_update(def, delay);
        }
        let target = def.target.as_secs_f64();
        self.p += self.change(def, delay);
        let linux = def.rules == Some(PieRules::Linux);
        if delay == 0.0 && self.delay == 0.0 && !(linux && backlog) {
            self.p *= if linux { 63.0 / 64.0 } else { 0.98 };
        }
        self.p = self.p.clamp(0.0, 1.0);
        self.burst_allowance = self.burst_allowance.saturating_sub(def.update);
        if self.p == 0.0 && delay < target / 2.0 && self.delay < target / 2.0 {
            self.burst_allowance = def.max_burst;
        }
        self.delay = delay;
    }
}

impl Control {
    /// RFC 8033 §4.2: what a delay and its trend add to the probability, and the step at long delays (Linux, `pie_calculate_probability`).
    fn change(&self, def: &PieDef, delay: f64) -> f64 {
        let change = def.alpha * (delay - def.target.as_secs_f64()) + def.beta * (delay - self.delay);
        let large = if def.rules == Some(PieRules::Docsis) { docsis::divisor_above_a_tenth(self.p) } else { 1.0 };
        let change = change / divisor(self.p).unwrap_or(large);
        let change = if self.p >= 0.1 { f64::min(change, 0.02) } else { change };
        let step = def.step_above.is_some_and(|above| delay > above.as_secs_f64());
        if step { change + 0.02 } else { change }
    }
}

/// Small probabilities, those below a tenth, move in small steps.
fn divisor(p: f64) -> Option<f64> {
    const STEPS: [(f64, f64); 6] =
        [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (1e-1, 2.0)];
    STEPS.iter().find(|(below, _)| p < *below).map(|(_, divisor)| *divisor)
}

impl Departures {
    /// A packet of `size` leaves; `backlog` counts it. A measurement lasts `threshold` bytes and begins when as many wait.
    fn on_departure(&mut self, now: Time, backlog: u64, size: u64, threshold: u64) {
        if self.since.is_none() && backlog >= threshold {
            *self = Departures { since: Some(now), bytes: 0, ..*self };
        }
        let Some(since) = self.since else { return };
        self.bytes += size;
        if self.bytes < threshold {
            return;
        }
        let took = now.since(since).as_secs_f64();
        // RFC 8033 §5.3: weight = DQ_THRESHOLD / 2^16
        let weight = if self.average == 0.0 { 1.0 } else { f64::min(threshold as f64 / 65_536.0, 1.0) };
        self.average += weight * (took - self.average);
        self.since = None;
    }
}

#[cfg(test)]
mod tests;
