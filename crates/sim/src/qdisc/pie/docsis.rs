//! PIE in cable modems (RFC 8034, Appendix A).

use tcp::rng::Rng;
use tcp::units::{Bytes, Span};

use super::{ACCUMULATED, Control, Regulated};
use crate::qdisc::fifo::Limit;
use crate::scenario::PieDef;

/// RFC 8034, Appendix A.1.2: LATENCY_LOW and LATENCY_HIGH in seconds, MIN_PKTSIZE, BURST_RESET_TIMEOUT.
const LATENCY_LOW: f64 = 0.005;
const LATENCY_HIGH: f64 = 0.2;
const MIN_PACKET: f64 = 64.0;
const BURST_RESET: Span = Span::from_millis(1000);

/// Where the controller is between bursts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Burst {
    /// The queue has not been a third of its limit: no decisions.
    None,
    /// Decisions, with no drop yet; so many updates found the queue calm.
    Began { calm: u64 },
    /// The first drop has given an allowance.
    Protecting,
}

impl Regulated {
    /// RFC 8034, Appendix A.2, `drop_early`, where no allowance is left.
    pub(super) fn docsis_decides_to_drop(&mut self, def: &PieDef, size: Bytes, rng: &mut Rng) -> bool {
        if self.control.p == 0.0 {
            self.accumulated = 0.0;
        }
        if self.control.burst == Burst::None {
            let third = match Limit::from(def.limit) {
                Limit::Packets(limit) => self.waiting.packets() >= limit / 3,
                Limit::Bytes(limit) => self.waiting.bytes() >= limit / 3,
                Limit::Unlimited => true,
            };
            if !third {
                return false;
            }
            self.control.burst = Burst::Began { calm: 0 };
        }
        let p = (self.control.p * size.as_f64() / def.mean_packet().as_f64()).min(ACCUMULATED.0);
        if self.spares(def) {
            self.accumulated += p;
            return false;
        }
        let drops = self.draws(def, p, rng);
        if drops && matches!(self.control.burst, Burst::Began { .. }) {
            self.control.burst = Burst::Protecting;
            self.control.burst_allowance = def.max_burst;
        }
        drops
    }
}

/// RFC 8034, Appendix A.2: large probabilities move in large steps.
pub(super) fn divisor_above_a_tenth(p: f64) -> f64 {
    match p {
        p if p < 1.0 => 0.5,
        p if p < 10.0 => 0.125,
        _ => 0.03125,
    }
}

impl Control {
    /// RFC 8034, Appendix A.2, `calculate_drop_prob`. The probability is that of a packet of `mean_packet`: smaller ones may need
    /// more than 1.
    pub(super) fn docsis_update(&mut self, def: &PieDef, delay: f64) {
        if self.burst_allowance > Span::ZERO {
            self.p = 0.0;
        } else {
            self.p += self.change(def, delay);
            if delay < LATENCY_LOW && self.delay < LATENCY_LOW {
                self.p *= 0.98;
            } else if delay > LATENCY_HIGH {
                self.p += 0.02;
            }
            self.p = self.p.clamp(0.0, ACCUMULATED.0 * def.mean_packet().as_f64() / MIN_PACKET);
        }
        self.burst_allowance = self.burst_allowance.saturating_sub(def.update);
        let half = def.target.as_secs_f64() / 2.0;
        let calm_now = delay < half && self.delay < half && self.p == 0.0 && self.burst_allowance == Span::ZERO;
        self.burst = match self.burst {
            Burst::Protecting if calm_now => Burst::Began { calm: 0 },
            Burst::Began { calm } if calm_now && def.update * (calm + 1) > BURST_RESET => Burst::None,
            Burst::Began { calm } => Burst::Began { calm: if calm_now { calm + 1 } else { 0 } },
            other => other,
        };
        self.delay = delay;
    }
}
