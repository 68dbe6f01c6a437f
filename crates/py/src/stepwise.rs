//! A run that its caller drives: in steps, with the series that have come since the last step.

use std::sync::Mutex;

use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyDict;
use sim::{Excerpt, Limits, Scenario, Simulation, Sink};
use tcp::units::{Span, Time};

use crate::algorithm::{self, Algorithms};
use crate::failure::{self, Failure, guarded};
use crate::job::{Given, named, to_dict};
use crate::watching;

/// A run under way.
struct Run {
    simulation: Simulation,
    limits: Limits,
    world_bytes: u64,
}

/// A run in steps; gone when it has ended or failed.
#[pyclass(frozen, module = "tonopah._core")]
pub(crate) struct Stepwise(Mutex<Option<Run>>);

fn time(seconds: f64) -> Time {
    Time::ZERO + Span::from_secs_f64(seconds)
}

impl Run {
    fn advance(&mut self, until: Time, events: u64) -> Result<bool, Failure> {
        let over = guarded(|| Ok(self.simulation.advance_until(until, events)))?;
        self.limits
            .exceeded(&self.simulation, self.world_bytes)
            .map_or(Ok(over), |message| Err(Failure::Limit(message)))
    }
}

#[pymethods]
impl Stepwise {
    /// A run of a scenario (JSON text) that has not begun. `excerpt` asks for packet events: from and to which second, and how
    /// many at most.
    #[new]
    #[pyo3(signature = (scenario, seed = 1, algorithms = None, max_events = None, max_memory = None, excerpt = None))]
    fn new(
        py: Python<'_>,
        scenario: &str,
        seed: u64,
        algorithms: Algorithms,
        max_events: Option<u64>,
        max_memory: Option<u64>,
        excerpt: Option<(f64, f64, usize)>,
    ) -> PyResult<Stepwise> {
        let further = algorithm::further(algorithms);
        let limits = Limits { events: max_events, memory_bytes: max_memory };
        let sink =
            excerpt.map(|(from, until, most)| Box::new(Excerpt::new(time(from), time(until), most)) as Box<dyn Sink>);
        let made = py.detach(|| {
            guarded(|| {
                let scenario = Scenario::from_json(scenario)?.with(&further);
                failure::admit(limits, &scenario, seed)?;
                let simulation = match sink {
                    Some(sink) => Simulation::with_sink(&scenario, seed, sink)?,
                    None => Simulation::new(&scenario, seed)?,
                };
                Ok(Run { world_bytes: simulation.world_bytes(), simulation, limits })
            })
        });
        Ok(Stepwise(Mutex::new(Some(made.map_err(|e| e.to_py(py))?))))
    }

    /// Runs until the clock has reached `until_s`, at most `events` events; true when the run is over.
    fn advance(&self, py: Python<'_>, until_s: f64, events: u64) -> PyResult<bool> {
        let mut held = self.0.lock_py_attached(py).expect("no step panics with the lock");
        let Some(run) = held.as_mut() else { return Ok(true) };
        let step = py.detach(|| run.advance(time(until_s), events));
        step.map_err(|failure| {
            // What a broken invariant leaves behind is not to be used.
            *held = None;
            failure.to_py(py)
        })
    }

    /// The simulated time in seconds; none when the run has ended.
    #[getter]
    fn now_s(&self, py: Python<'_>) -> Option<f64> {
        let held = self.0.lock_py_attached(py).expect("no step panics with the lock");
        held.as_ref().map(|run| run.simulation.now().as_secs_f64())
    }

    /// The samples of series since the last call, as `run` gives them.
    fn series<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut held = self.0.lock_py_attached(py).expect("no step panics with the lock");
        to_dict(py, held.as_mut().map_or_else(Vec::new, |run| named(run.simulation.take_series())))
    }

    /// Ends the run: its summary, the samples that were not taken and the packet events, as `trace` gives them as JSON. The
    /// summary of a run that is not over is that of a shorter one. None if it has ended before.
    fn finish(&self, py: Python<'_>) -> PyResult<Option<(String, Py<PyDict>, String)>> {
        let taken = self.0.lock_py_attached(py).expect("no step panics with the lock").take();
        let Some(Run { simulation, .. }) = taken else { return Ok(None) };
        let given = py.detach(|| guarded(|| Ok(Given::from(simulation.finish())))).map_err(|e| e.to_py(py))?;
        watching::watched(py, given).map(Some)
    }
}
