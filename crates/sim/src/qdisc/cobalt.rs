//! COBALT (Linux, sch_cake): CoDel's control law, which goes back step by step, and BLUE for flows that do not answer.

mod queue;

pub(crate) use queue::CobaltQueue;
use tcp::rng::Rng;
use tcp::units::{Bytes, Span, Time};

/// A full packet of Ethernet.
pub(super) const MTU: Bytes = Bytes(1514);
/// BLUE's probability is counted in this part of one.
const BLUE_UNIT: u32 = 4096;
/// It grows by so many of them at an overflow, and falls by one when the queue is found empty.
const BLUE_STEP: u32 = 16;

/// The settings of the control law.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) target: Span,
    pub(super) interval: Span,
    /// How long a full packet takes at the rate; nothing is dropped from a queue that holds fewer than four.
    pub(super) mtu_time: Span,
}

/// The state of one queue.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cobalt {
    count: u64,
    dropping: bool,
    /// The next drop, while dropping; else the next step back, and with a count of 0 until when the state is kept.
    drop_next: Time,
    /// BLUE's probability in units of 1 / BLUE_UNIT.
    blue: u32,
    blue_at: Time,
}

impl Cobalt {
    /// Decides about a packet that has waited for `sojourn`: true if it is to be dropped. A signal that is due goes to `mark` first,
    /// which says whether the packet took it. The wait may hold two packets of each of `bulk` other flows.
    pub(super) fn drops(
        &mut self,
        settings: &Settings,
        (now, sojourn): (Time, Span),
        bulk: u64,
        mark: impl FnOnce() -> bool,
        rng: &mut Rng,
    ) -> bool {
        let due = self.is_due(now);
        let over =
            sojourn > settings.target && sojourn > settings.mtu_time * (2 * bulk) && sojourn > settings.mtu_time * 4;
        if over {
            if !self.dropping {
                self.dropping = true;
                self.drop_next = self.after(now, settings);
            }
            self.count = self.count.max(1);
        } else {
            self.dropping = false;
        }
        let mut dropped = false;
        if due && self.dropping {
            dropped = !mark();
            self.count += 1;
            self.drop_next = self.after(self.drop_next, settings);
        } else if due {
            while self.is_due(now) {
                self.step_back(settings);
            }
        }
        dropped |= self.blue > 0 && rng.chance(f64::from(self.blue) / f64::from(BLUE_UNIT));
        if self.count == 0 {
            self.drop_next = now + settings.interval;
        } else if now > self.drop_next && !dropped {
            self.drop_next = now;
        }
        dropped
    }

    /// A packet of the queue was dropped because memory is full.
    pub(super) fn on_overflow(&mut self, settings: &Settings, now: Time) {
        if now.since(self.blue_at) > settings.target {
            self.blue = (self.blue + BLUE_STEP).min(BLUE_UNIT);
            self.blue_at = now;
        }
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    /// The queue was found empty.
    pub(super) fn on_empty(&mut self, settings: &Settings, now: Time) {
        if self.blue > 0 && now.since(self.blue_at) > settings.target {
            self.blue -= 1;
            self.blue_at = now;
        }
        self.dropping = false;
        if self.is_due(now) {
            self.step_back(settings);
        }
    }

    /// True if nothing of the state is worth keeping.
    pub(super) fn is_at_rest(&self, now: Time) -> bool {
        self.blue == 0 && self.count == 0 && now >= self.drop_next
    }

    fn is_due(&self, now: Time) -> bool {
        self.count > 0 && now >= self.drop_next
    }

    fn step_back(&mut self, settings: &Settings) {
        self.count -= 1;
        self.drop_next = self.after(self.drop_next, settings);
    }

    /// The control law: t + interval / sqrt(count), with a count of at least 1.
    fn after(&self, t: Time, settings: &Settings) -> Time {
        let count = self.count.max(1) as f64;
        t + Span::from_secs_f64(settings.interval.as_secs_f64() / libm::sqrt(count))
    }
}

#[cfg(test)]
mod tests;
