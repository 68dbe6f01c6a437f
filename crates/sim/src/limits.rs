//! What a run may take, and what to say of one that takes more.

use tcp::units::Time;

use crate::expand::{largest_world, size};
use crate::memory::world_bytes;
use crate::scenario::{Scenario, ScenarioError};
use crate::simulation::Simulation;

/// Limits of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Most events that it handles.
    pub events: Option<u64>,
    /// Most memory that it takes.
    pub memory_bytes: Option<u64>,
}

impl Limits {
    /// Why a world would not fit, before it is built.
    ///
    /// # Errors
    ///
    /// As [`Simulation::new`], as far as the topology shows it.
    pub fn refusal(self, scenario: &Scenario, seed: u64) -> Result<Option<String>, ScenarioError> {
        let Some(most) = self.memory_bytes.filter(|most| *most < largest_world()) else { return Ok(None) };
        let needed = world_bytes(scenario, seed)?;
        let (needs, limit) = (size(needed), size(most));
        let message = format!("the run was not started: its network and flows need {needs}, its limit is {limit}");
        Ok((needed > most).then_some(message))
    }

    /// The limit that a run has exceeded, if any.
    pub fn exceeded(self, run: &Simulation, world_bytes: u64) -> Option<String> {
        self.exceeded_at(run.now(), run.events(), || world_bytes + run.held_bytes())
    }

    /// The limit that a run has exceeded which has handled so many events up to now and holds so much memory, if any.
    pub fn exceeded_at(self, now: Time, events: u64, held_bytes: impl FnOnce() -> u64) -> Option<String> {
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
