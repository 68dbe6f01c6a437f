//! The controller of DualPI2: proportional to the distance from the target, and to the trend (RFC 9332 §2.4, Appendix A.1).

use tcp::units::{Span, Time};

use super::counts::Counts;

/// The controller and its state.
#[derive(Debug)]
pub(super) struct Control {
    target: f64,
    update: Span,
    /// Gains per update, of the deviation from the target and of the trend, Hz.
    gains: [f64; 2],
    max_p: f64,
    /// The probability p', of which those of both queues are made.
    pub(super) p: f64,
    /// The delay at the last update, seconds.
    before: f64,
    /// Time of the next update.
    next: Time,
}

impl Control {
    pub(super) fn new(target: Span, update: Span, gains: [f64; 2], max_p: f64) -> Control {
        let target = target.as_secs_f64();
        Control { target, update, gains, max_p, p: 0.0, before: 0.0, next: Time::ZERO + update }
    }

    /// Carries out the updates up to `now`, during which the packet that waited longest was one of `oldest`, or none.
    pub(super) fn catch_up(&mut self, now: Time, oldest: Option<Time>, counts: &mut Counts, coupling: f64) {
        while self.next <= now {
            let idle = oldest.is_none() && self.p == 0.0 && self.before == 0.0;
            // At rest all further updates change nothing.
            let count = if idle { now.since(self.next).as_nanos() / self.update.as_nanos() + 1 } else { 1 };
            if !idle {
                self.step(oldest.map_or(0.0, |since| self.next.since(since).as_secs_f64()));
            }
            counts.on_updates(count, self.p, if coupling * self.p > 1.0 { self.update } else { Span::ZERO });
            self.next = self.next + self.update * count;
        }
    }

    /// One update, by the delay now in seconds.
    pub(super) fn step(&mut self, delay: f64) {
        let [alpha, beta] = self.gains;
        let p = self.p + alpha * (delay - self.target) + beta * (delay - self.before);
        self.p = p.clamp(0.0, self.max_p);
        self.before = delay;
    }
}
