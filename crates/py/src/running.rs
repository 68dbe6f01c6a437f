//! A run with limits of events and memory that can be interrupted.

use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;
use sim::{Limits, Outcome, Simulation};

use crate::failure::Failure;

/// Number of events between two checks of limits and interrupts: some hundredths of a second.
pub(crate) const STEP: u64 = 1 << 16;

/// A check of memory goes over all flows: there are at least so many events for each of them between two.
const EVENTS_PER_FLOW: u64 = 4;

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

/// A run under way.
pub(crate) struct Running<'a> {
    simulation: Simulation,
    limits: Limits,
    stopper: Stopper<'a>,
    world_bytes: u64,
    has_ended: bool,
}

impl Running<'_> {
    /// A run that has not begun.
    pub(crate) fn new(simulation: Simulation, limits: Limits, stopper: Stopper<'_>) -> Running<'_> {
        let world_bytes = limits.memory_bytes.map_or(0, |_| simulation.world_bytes());
        Running { simulation, limits, stopper, world_bytes, has_ended: false }
    }

    pub(crate) fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// Goes on until so many events have been handled, or a limit is exceeded, or it is stopped; true if the run has ended.
    pub(crate) fn advance_to(&mut self, events: u64) -> Result<bool, Failure> {
        let Running { simulation, limits, stopper, world_bytes, has_ended } = self;
        // More flows take more events to hold much more than before.
        let longest = limits.memory_bytes.map_or(STEP, |_| STEP.max(EVENTS_PER_FLOW * simulation.flows() as u64));
        let most = limits.events.map_or(events, |most| most.min(events));
        while !*has_ended && simulation.events() < events {
            *has_ended = simulation.advance(most.saturating_sub(simulation.events()).clamp(1, longest));
            if *has_ended {
                return simulation.exceeded().map_or(Ok(true), |message| Err(Failure::Limit(message.to_owned())));
            }
            if let Some(message) = limits.exceeded(simulation, *world_bytes) {
                return Err(Failure::Limit(message));
            }
            stopper.check()?;
        }
        Ok(*has_ended)
    }

    /// Runs to the end.
    pub(crate) fn finish(mut self) -> Result<Outcome, Failure> {
        self.advance_to(u64::MAX)?;
        Ok(self.simulation.finish())
    }
}

/// Runs to the end, or to a limit, or until stopped.
pub(crate) fn run(simulation: Simulation, limits: Limits, stopper: Stopper<'_>) -> Result<Outcome, Failure> {
    Running::new(simulation, limits, stopper).finish()
}
