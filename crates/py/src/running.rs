//! A run with limits of events and memory that can be interrupted.

use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;
use sim::{Outcome, Simulation};

use crate::Failure;

/// Number of events between two checks of limits and interrupts: some hundredths of a second.
const STEP: u64 = 1 << 16;

/// Limits of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limits {
    pub(crate) events: Option<u64>,
    pub(crate) memory_bytes: Option<u64>,
}

impl Limits {
    /// The limit that a run has exceeded, if any.
    fn exceeded(self, run: &Simulation) -> Option<String> {
        let place = || format!("at {} of the simulated time, after {} events", run.now(), run.events());
        if let Some(most) = self.events.filter(|most| run.events() >= *most) {
            return Some(format!("the run was stopped {}: {most} events are its limit", place()));
        }
        let (held, most) = (run.held_bytes(), self.memory_bytes?);
        let mega = |bytes: u64| bytes.div_ceil(1_000_000);
        (held > most).then(|| {
            let limit = mega(most);
            format!("the run was stopped {}: it holds {} MB, its limit is {limit} MB", place(), mega(held))
        })
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
    fn check(self) -> Result<(), Failure> {
        match self {
            Stopper::Signals => Python::attach(|py| py.check_signals()).map_err(Failure::Interrupted),
            Stopper::Flag(flag) if flag.load(Ordering::Relaxed) => Err(Failure::GivenUp),
            Stopper::Flag(_) => Ok(()),
        }
    }
}

/// Runs to the end, or to a limit, or until stopped.
pub(crate) fn run(mut run: Simulation, limits: Limits, stopper: Stopper<'_>) -> Result<Outcome, Failure> {
    loop {
        let step = limits.events.map_or(STEP, |most| most.saturating_sub(run.events()).clamp(1, STEP));
        if run.advance(step) {
            return Ok(run.finish());
        }
        if let Some(message) = limits.exceeded(&run) {
            return Err(Failure::Limit(message));
        }
        stopper.check()?;
    }
}
