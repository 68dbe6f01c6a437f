//! Rates that are constant between instants. A packet under way goes on at the new rate: it ends when the integral of the rate
//! reaches its bits. Integrals are in bit-nanoseconds per second, exact.

use std::collections::VecDeque;

use tcp::rng::Rng;
use tcp::units::{Bytes, Rate, Span, Time};

use super::slots::Slots;
use crate::link::draw::Draw;
use crate::scenario::{OnOffService, Phase, RateTraceService};

/// No packet ends later: the longest run is over long before.
const NEVER: Time = Time::from_nanos(1 << 61);

/// Nor one that takes so many steps: their number is bounded by memory.
const MOST_STEPS: usize = 1 << 20;

/// From an instant on the transmitter has this rate; 0 is a pause.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Step {
    pub(super) since: Time,
    pub(super) bps: u64,
}

/// Steps one after the other, the first at time 0.
#[derive(Debug)]
pub(super) enum Steps {
    Table { points: Vec<Step>, period: Option<Span>, round: u64, index: usize },
    OnOff { on: Draw, off: Draw, bps: u64, rng: Rng, next_is_on: bool, at: Time },
    Slots { slots: Box<Slots>, outage: Span, ends_outage: Option<Step> },
}

impl Steps {
    pub(super) fn table(def: &RateTraceService) -> Steps {
        let points = def.points.as_deref().unwrap_or_default();
        let points = points.iter().map(|(at, rate)| Step { since: Time::ZERO + *at, bps: rate.as_bps() }).collect();
        let period = def.period().filter(|_| def.repeats);
        Steps::Table { points, period, round: 0, index: 0 }
    }

    pub(super) fn on_off(def: &OnOffService, rate: Rate, rng: Rng) -> Steps {
        let (on, off) = (Draw::of_period(&def.on), Draw::of_period(&def.off));
        Steps::OnOff { on, off, bps: rate.as_bps(), rng, next_is_on: def.first == Phase::On, at: Time::ZERO }
    }

    pub(super) fn slots(slots: Slots) -> Steps {
        Steps::Slots { outage: slots.outage, slots: Box::new(slots), ends_outage: None }
    }

    /// The next one; nothing if the last stays.
    fn next(&mut self) -> Option<Step> {
        match self {
            Steps::Table { points, period, round, index } => {
                if *index == points.len() {
                    period.as_ref()?;
                    (*round, *index) = (*round + 1, 0);
                }
                let point = points.get(*index)?;
                *index += 1;
                let shift = period.map_or(Span::ZERO, |period| period.saturating_mul(*round));
                Some(Step { since: point.since + shift, ..*point })
            }
            Steps::OnOff { on, off, bps, rng, next_is_on, at } => {
                let step = Step { since: *at, bps: if *next_is_on { *bps } else { 0 } };
                let length = if *next_is_on { on.sample(rng) } else { off.sample(rng) };
                // At least a nanosecond, so that time goes on.
                *at = *at + length.max(Span::from_nanos(1));
                *next_is_on = !*next_is_on;
                Some(step)
            }
            Steps::Slots { slots, outage, ends_outage } => {
                if let Some(step) = ends_outage.take() {
                    return Some(step);
                }
                let slot = slots.next();
                let step = Step { since: slot.since, bps: slot.bps };
                if *outage == Span::ZERO || slot.is_partial {
                    return Some(step);
                }
                *ends_outage = Some(Step { since: step.since + *outage, ..step });
                Some(Step { bps: 0, ..step })
            }
        }
    }
}

/// A rate over time, from an instant on that never decreases.
#[derive(Debug)]
pub(super) struct Varying {
    steps: Steps,
    /// The step of now, and those that were looked at beyond it.
    ahead: VecDeque<Step>,
    /// Integral from time 0 to `counted_to`.
    counted: u128,
    counted_to: Time,
}

impl Varying {
    pub(super) fn new(mut steps: Steps) -> Varying {
        let ahead = steps.next().into_iter().collect();
        Varying { steps, ahead, counted: 0, counted_to: Time::ZERO }
    }

    /// The step at `index` after that of now.
    fn step(&mut self, index: usize) -> Option<Step> {
        while self.ahead.len() <= index {
            self.ahead.push_back(self.steps.next()?);
        }
        Some(self.ahead[index])
    }

    /// Counts what was offered up to `now`, and forgets the steps that are over.
    fn advance_to(&mut self, now: Time) {
        while let Some(next) = self.step(1).filter(|next| next.since <= now) {
            self.count_to(next.since);
            self.ahead.pop_front();
        }
        self.count_to(now);
    }

    fn count_to(&mut self, at: Time) {
        if let Some(step) = self.ahead.front().filter(|_| at > self.counted_to) {
            self.counted += u128::from(step.bps) * u128::from(at.since(self.counted_to).as_nanos());
            self.counted_to = at;
        }
    }

    /// The rate now, and when it changes.
    pub(super) fn now(&mut self, now: Time) -> (u64, Time) {
        self.advance_to(now);
        let ends = self.step(1).map_or(NEVER, |next| next.since);
        (self.ahead.front().map_or(0, |step| step.bps), ends)
    }

    /// When a packet of `size` ends that begins now.
    pub(super) fn finish(&mut self, now: Time, size: Bytes) -> Time {
        self.advance_to(now);
        let mut left = u128::from(size.0) * 8_000_000_000;
        let (mut at, mut index) = (now, 0);
        while at < NEVER && index < MOST_STEPS {
            let Some(step) = self.step(index) else { return NEVER };
            let bps = u128::from(step.bps);
            let ends = self.step(index + 1).map_or(NEVER, |next| next.since);
            let offered = bps * u128::from(ends.since(at).as_nanos());
            if offered >= left && bps > 0 {
                return at + Span::from_nanos(left.div_ceil(bps) as u64);
            }
            left -= offered;
            (at, index) = (ends, index + 1);
        }
        NEVER
    }

    /// Bytes offered from time 0 to `now`.
    pub(super) fn offered(&mut self, now: Time) -> f64 {
        self.advance_to(now);
        self.counted as f64 / 8e9
    }
}
