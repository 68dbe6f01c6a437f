//! RED (Floyd, Jacobson 1993) with gentle mode, and Adaptive RED (Floyd, Gummadi, Shenker 2001).

mod choke;

use tcp::rng::Rng;
use tcp::units::{Bytes, Rate, Span, Time};

use super::context::QueueContext;
use super::fifo::{Fifo, Limit, QueuedPacket};
use crate::packet::DropReason;
use crate::scenario::RedDef;
pub(crate) use choke::Choke;

/// A RED queue.
#[derive(Debug)]
pub(crate) struct Red {
    limit: Limit,
    /// Bytes that wait at which arrivals are refused, where they and not the limit decide.
    full_at: Option<f64>,
    /// Weight of the newest queue length in the average.
    weight: f64,
    min: f64,
    max: f64,
    max_p: f64,
    /// Packets of mean size per second that the link carries.
    packets_per_second: f64,
    settings: Settings,
    /// The average queue length, in packets.
    average: f64,
    /// Packets since the last drop or mark, or since the average rose above `min`; of mean size in byte mode.
    count: f64,
    adapted_at: Time,
    rng: Rng,
    pub(super) waiting: Fifo,
}

/// The parameters that stay constant.
#[derive(Debug)]
struct Settings {
    mean_packet: f64,
    gentle: bool,
    wait: bool,
    byte_mode: bool,
    queue_in_bytes: bool,
    ecn: bool,
    hard_drop: bool,
    mark_p: f64,
    adaptive: bool,
    interval: Span,
}

/// The decision about an arrival.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Verdict {
    Pass,
    /// At random.
    Early,
    /// The average is above the last threshold.
    Forced,
}

impl Red {
    /// An empty queue before a transmitter of this rate and delay, from which automatic parameters are derived.
    pub(super) fn new(def: &RedDef, rate: Rate, delay: Span, rng: Rng) -> Red {
        let def = def.with_defaults();
        let given = "filled in from the profile";
        let [mean_packet, _] = def.automatic();
        let packets_per_second = rate.as_bps() as f64 / (8.0 * mean_packet);
        let [min, max] = def.thresholds(rate);
        Red {
            limit: def.limit.expect(given).into(),
            full_at: def.full_at(),
            weight: def.weight.unwrap_or_else(|| automatic_weight(delay.as_secs_f64(), packets_per_second)),
            min,
            max,
            max_p: def.max_p.expect(given),
            packets_per_second,
            settings: Settings {
                mean_packet,
                gentle: def.gentle.expect(given),
                wait: def.wait.expect(given),
                byte_mode: def.byte_mode.expect(given),
                queue_in_bytes: def.queue_in_bytes.expect(given),
                ecn: def.ecn.expect(given),
                hard_drop: def.hard_drop.expect(given),
                mark_p: def.mark_p.expect(given),
                adaptive: def.adaptive.expect(given),
                interval: def.interval.expect(given),
            },
            average: 0.0,
            count: 0.0,
            adapted_at: Time::ZERO,
            rng,
            waiting: Fifo::default(),
        }
    }

    fn is_full(&self, arrival: &QueuedPacket) -> bool {
        match self.full_at {
            Some(limit) => self.waiting.bytes().as_f64() >= limit,
            None => self.limit.refuses(&self.waiting, arrival),
        }
    }

    #[inline(never)]
    pub(super) fn enqueue(&mut self, ctx: &mut QueueContext<'_>, arrival: QueuedPacket) -> Result<(), DropReason> {
        self.observe(ctx.idle());
        if self.settings.adaptive {
            self.adapt(ctx.now());
        }
        let verdict = self.decide(arrival.size);
        if self.is_full(&arrival) {
            self.count = 0.0;
            return Err(DropReason::Queue);
        }
        self.signal(verdict, ctx, &arrival)?;
        self.waiting.push(arrival);
        Ok(())
    }

    /// Drops or marks an arrival, unless it passes. Beyond `mark_p` even ECN-capable packets are dropped (RFC 3168 §7).
    fn signal(&self, verdict: Verdict, ctx: &mut QueueContext<'_>, arrival: &QueuedPacket) -> Result<(), DropReason> {
        let may_mark = self.settings.ecn
            && match verdict {
                Verdict::Forced => !self.settings.hard_drop,
                _ => self.probability() <= self.settings.mark_p,
            };
        if verdict != Verdict::Pass && !(may_mark && ctx.mark(arrival)) {
            return Err(DropReason::Aqm);
        }
        Ok(())
    }

    /// avg = (1 - w)^(m + 1) avg + w q, with m packets that could have been sent while nothing waited.
    fn observe(&mut self, idle: Span) {
        let mut keep = 1.0 - self.weight;
        // Behind a shaper the transmitter may be idle while packets wait.
        if idle > Span::ZERO && self.waiting.packets() == 0 {
            keep = libm::pow(keep, idle.as_secs_f64() * self.packets_per_second + 1.0);
        }
        let length = if self.settings.queue_in_bytes {
            self.waiting.bytes().as_f64() / self.settings.mean_packet
        } else {
            self.waiting.packets() as f64
        };
        self.average = keep * self.average + self.weight * length;
    }

    /// Every interval the greatest probability moves so that the average returns to the middle of the thresholds.
    /// It happens at the first arrival after the interval.
    fn adapt(&mut self, now: Time) {
        if now.since(self.adapted_at) < self.settings.interval {
            return;
        }
        self.adapted_at = now;
        let part = |share: f64| self.min + share * (self.max - self.min);
        if self.average > part(0.6) && self.max_p <= 0.5 {
            self.max_p += f64::min(0.01, self.max_p / 4.0);
        } else if self.average < part(0.4) && self.max_p >= 0.01 {
            self.max_p *= 0.9;
        }
    }

    /// p_b, from the average alone.
    fn probability(&self) -> f64 {
        if self.average < self.min {
            0.0
        } else if self.average < self.max {
            self.max_p * (self.average - self.min) / (self.max - self.min)
        } else if self.settings.gentle && self.average < 2.0 * self.max {
            self.max_p + (1.0 - self.max_p) * (self.average - self.max) / self.max
        } else {
            1.0
        }
    }

    fn decide(&mut self, size: Bytes) -> Verdict {
        let base = self.probability();
        if self.average < self.min {
            self.count = 0.0;
            return Verdict::Pass;
        }
        if base >= 1.0 {
            self.count = 0.0;
            return Verdict::Forced;
        }
        let relative = if self.settings.byte_mode { size.as_f64() / self.settings.mean_packet } else { 1.0 };
        self.count += relative;
        if self.rng.chance(spread(base, self.count, self.settings.wait) * relative) {
            self.count = 0.0;
            return Verdict::Early;
        }
        Verdict::Pass
    }
}

/// p_a: with p_b alone the gaps between drops would be geometric; counting makes them uniform (§4 of the 1993 paper).
fn spread(base: f64, count: f64, wait: bool) -> f64 {
    let expected = count * base;
    match (wait, expected) {
        (true, e) if e < 1.0 => 0.0,
        (true, e) if e < 2.0 => base / (2.0 - e),
        (false, e) if e < 1.0 => base / (1.0 - e),
        _ => 1.0,
    }
}

/// w = 1 - exp(-1 / (10 rtt ptc)), so that the average follows over ten round trips of a guessed RTT.
fn automatic_weight(delay: f64, packets_per_second: f64) -> f64 {
    let rtt = f64::max(0.1, 3.0 * (delay + 1.0 / packets_per_second));
    -libm::expm1(-1.0 / (10.0 * rtt * packets_per_second))
}

#[cfg(test)]
mod tests;
