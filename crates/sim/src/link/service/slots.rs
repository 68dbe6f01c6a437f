//! Time slots that each draw a rate and a delay, with longer delays around their boundaries (a satellite network that reassigns
//! its beams at fixed seconds).

use tcp::rng::Rng;
use tcp::units::{Span, Time};

use super::Beside;
use crate::scenario::{EdgeDef, SlotsService};

/// A slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) since: Time,
    pub(super) bps: u64,
    /// The one that is under way at time 0.
    pub(super) is_partial: bool,
    delay: Span,
    /// At its edges.
    extra: Span,
}

/// Slots one after the other. Two copies draw the same.
#[derive(Clone, Debug)]
pub(super) struct Slots {
    period: Span,
    phase: Span,
    rates: [u64; 2],
    delays: [Span; 2],
    edge: EdgeDef,
    pub(super) outage: Span,
    rng: Rng,
    /// Number of slots drawn.
    drawn: u64,
    /// The slot of the last question, and the one after it.
    here: Option<[Slot; 2]>,
    pub(super) begun_before: u64,
}

impl Slots {
    pub(super) fn new(def: &SlotsService, rng: Rng) -> Slots {
        Slots {
            period: def.period,
            // The first boundary at or after time 0.
            phase: Span::from_nanos(def.phase.as_nanos() % def.period.as_nanos().max(1)),
            rates: def.rate.map(tcp::units::Rate::as_bps),
            delays: def.delay.unwrap_or_default(),
            edge: def.edge,
            outage: def.outage,
            rng,
            drawn: 0,
            here: None,
            begun_before: 0,
        }
    }

    /// Draws the next slot.
    pub(super) fn next(&mut self) -> Slot {
        let [rate, delay] = [self.rng.uniform(), self.rng.uniform()];
        let between = |[least, most]: [u64; 2], u: f64| least + (u * (most - least) as f64) as u64;
        let is_partial = self.drawn == 0 && self.phase > Span::ZERO;
        // Without a phase the first slot is whole, and there is none before it.
        let number = self.drawn + u64::from(self.phase == Span::ZERO);
        let since = if number == 0 { Span::ZERO } else { self.phase + self.period.saturating_mul(number - 1) };
        self.drawn += 1;
        let delay = Span::from_nanos(between(self.delays.map(Span::as_nanos), delay));
        let EdgeDef { extra, extra_to, .. } = self.edge;
        let mut drawn = |to: Span| between([extra, to].map(Span::as_nanos), self.rng.uniform());
        let extra = extra_to.map_or(extra, |to| Span::from_nanos(drawn(to)));
        Slot { since: Time::ZERO + since, bps: between(self.rates, rate), is_partial, delay, extra }
    }

    /// Boundaries up to `now`.
    pub(super) fn begun(&self, now: Time) -> u64 {
        let since = now.as_nanos().checked_sub(self.phase.as_nanos());
        since.map_or(0, |since| since / self.period.as_nanos() + 1)
    }

    /// What is added for a packet that leaves at `at`, which never decreases from call to call.
    pub(super) fn beside(&mut self, at: Time) -> Beside {
        let mut here = self.here.take().unwrap_or_else(|| [self.next(), self.next()]);
        while here[1].since <= at {
            here = [here[1], self.next()];
        }
        self.here = Some(here);
        let [slot, next] = here;
        let begins = !slot.is_partial && at.since(slot.since) < self.edge.after;
        let is_edge = begins || next.since.since(at) <= self.edge.before && self.edge.before > Span::ZERO;
        match is_edge {
            true => Beside { delay: slot.delay + slot.extra, jitter: 2 },
            false => Beside { delay: slot.delay, jitter: 1 },
        }
    }
}
