//! A run with limits of events and memory that can be interrupted.

use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;
use sim::{Outcome, Scenario, Simulation};

use tcp::units::Time;

use crate::Failure;

/// Number of events between two checks of limits and interrupts: some hundredths of a second.
pub(crate) const STEP: u64 = 1 << 16;

/// A check of memory goes over all flows: there are at least so many events for each of them between two.
const EVENTS_PER_FLOW: u64 = 4;

/// Limits of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limits {
    pub(crate) events: Option<u64>,
    pub(crate) memory_bytes: Option<u64>,
}

impl Limits {
    /// Refuses a world that would not fit, before it is built.
    pub(crate) fn admit(self, scenario: &Scenario, seed: u64) -> Result<(), Failure> {
        let Some(most) = self.memory_bytes.filter(|most| *most < sim::LARGEST_WORLD_BYTES) else { return Ok(()) };
        let needed = sim::world_bytes(scenario, seed)?;
        if needed <= most {
            return Ok(());
        }
        let (needs, limit) = (size(needed), size(most));
        let message = format!("the run was not started: its network and flows need {needs}, its limit is {limit}");
        Err(Failure::Limit(message))
    }

    /// The limit that a run has exceeded, if any.
    pub(crate) fn exceeded(self, run: &Simulation, world_bytes: u64) -> Option<String> {
        self.exceeded_at(run.now(), run.events(), || world_bytes + run.held_bytes())
    }

    /// The limit that a run has exceeded which has handled so many events up to now and holds so much memory, if any.
    pub(crate) fn exceeded_at(self, now: Time, events: u64, held_bytes: impl FnOnce() -> u64) -> Option<String> {
        let place = || format!("at {now} of the simulated time, after {events} events");
        if let Some(most) = self.events.filter(|most| events >= *most) {
            return Some(format!("the run was stopped {}: {most} events are its limit", place()));
        }
        let most = self.memory_bytes?;
        let held = held_bytes();
        (held > most).then(|| {
            let limit = size(most);
            format!("the run was stopped {}: it holds {}, its limit is {limit}", place(), size(held))
        })
    }
}

/// Bytes in a unit that leaves a few digits.
pub(crate) fn size(bytes: u64) -> String {
    if bytes < 10_000_000 {
        format!("{} kB", bytes.div_ceil(1_000))
    } else {
        format!("{} MB", bytes.div_ceil(1_000_000))
    }
}

/// What may stop a run early.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stopper<'a> {
    /// A signal to this process; the caller is detached.
    Signals,
    /// Another thread.
    Flag(&'a AtomicBool),
}

impl Stopper<'_> {
    pub(crate) fn check(self) -> Result<(), Failure> {
        match self {
            Stopper::Signals => Python::attach(|py| py.check_signals()).map_err(Failure::Interrupted),
            Stopper::Flag(flag) if flag.load(Ordering::Relaxed) => Err(Failure::GivenUp),
            Stopper::Flag(_) => Ok(()),
        }
    }
}

/// Runs to the end, or to a limit, or until stopped.
pub(crate) fn run(mut run: Simulation, limits: Limits, stopper: Stopper<'_>) -> Result<Outcome, Failure> {
    let world_bytes = limits.memory_bytes.map_or(0, |_| run.world_bytes());
    // More flows take more events to hold much more than before.
    let longest = limits.memory_bytes.map_or(STEP, |_| STEP.max(EVENTS_PER_FLOW * run.flows() as u64));
    loop {
        let step = limits.events.map_or(longest, |most| most.saturating_sub(run.events()).clamp(1, longest));
        if run.advance(step) {
            if let Some(message) = run.exceeded() {
                return Err(Failure::Limit(message.to_owned()));
            }
            return Ok(run.finish());
        }
        if let Some(message) = limits.exceeded(&run, world_bytes) {
            return Err(Failure::Limit(message));
        }
        stopper.check()?;
    }
}
