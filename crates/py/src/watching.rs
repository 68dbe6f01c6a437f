//! Runs whose packets are watched: event logs, fingerprints, samples of transmissions, captures.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sim::scenario::Further;
use sim::{Capture, CapturePoint, HashLog, JsonLog, Limits, Scenario, Simulation, Sink, TextLog, Transmissions};

use crate::algorithm::{self, Algorithms};
use crate::failure::guarded;
use crate::job::{Given, Job, to_dict};
use crate::running::Stopper;
use crate::summary::to_json;

/// Runs a scenario (JSON text) and returns its packet events, one line each: as text to read, or as JSON.
#[pyfunction]
#[pyo3(signature = (scenario, seed = 1, algorithms = None, *, json = false))]
fn trace(py: Python<'_>, scenario: &str, seed: u64, algorithms: Algorithms, json: bool) -> PyResult<String> {
    let further = algorithm::further(algorithms);
    let job = Job { scenario, seed, further: &further, limits: Limits::default() };
    let sink: Box<dyn Sink> = if json { Box::<JsonLog>::default() } else { Box::<TextLog>::default() };
    let given = py.detach(|| job.run(Some(sink), Stopper::Signals)).map_err(|e| e.to_py(py))?;
    Ok(given.trace)
}

/// Runs a scenario (JSON text) and returns the fingerprint of its packet events, which is the same on every machine.
#[pyfunction]
#[pyo3(signature = (scenario, seed = 1))]
fn fingerprint(py: Python<'_>, scenario: &str, seed: u64) -> PyResult<String> {
    let job = Job { scenario, seed, further: &Further::default(), limits: Limits::default() };
    let given = py.detach(|| job.run(Some(Box::<HashLog>::default()), Stopper::Signals)).map_err(|e| e.to_py(py))?;
    Ok(given.trace)
}

/// Runs a scenario (JSON text) like `run`, and gives besides a sample of at most `most` transmissions as CSV text.
#[pyfunction]
#[pyo3(signature = (scenario, seed = 1, most = 20_000, algorithms = None))]
fn transmissions(
    py: Python<'_>,
    scenario: &str,
    seed: u64,
    most: usize,
    algorithms: Algorithms,
) -> PyResult<(String, Py<PyDict>, String)> {
    let further = algorithm::further(algorithms);
    let job = Job { scenario, seed, further: &further, limits: Limits::default() };
    let sink = Box::new(Transmissions::new(most));
    let given = py.detach(|| job.run(Some(sink), Stopper::Signals)).map_err(|e| e.to_py(py))?;
    watched(py, given)
}

/// Runs a scenario (JSON text) like `run`, and gives besides the headers of every packet or frame that a capture at `hosts`,
/// `links` or `channels` would hold, as CSV text.
#[pyfunction]
#[pyo3(signature = (scenario, seed = 1, algorithms = None, *, at = "hosts"))]
fn capture(
    py: Python<'_>,
    scenario: &str,
    seed: u64,
    algorithms: Algorithms,
    at: &str,
) -> PyResult<(String, Py<PyDict>, String)> {
    let further = algorithm::further(algorithms);
    let point = CapturePoint::named(at).ok_or_else(|| PyValueError::new_err(format!("nothing is captured at {at}")))?;
    let given = py.detach(|| {
        let simulation = || Simulation::new(&Scenario::from_json(scenario)?.with(&further), seed);
        let capture = guarded(|| Ok(Capture::new(point, &simulation()?)?))?;
        let job = Job { scenario, seed, further: &further, limits: Limits::default() };
        job.run(Some(Box::new(capture)), Stopper::Signals)
    });
    watched(py, given.map_err(|e| e.to_py(py))?)
}

/// Summary, series and what the sink wrote.
pub(crate) fn watched(py: Python<'_>, given: Given) -> PyResult<(String, Py<PyDict>, String)> {
    Ok((to_json(&given.summary), to_dict(py, given.series)?.unbind(), given.trace))
}

/// Adds the functions to the module.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(trace, module)?)?;
    module.add_function(wrap_pyfunction!(fingerprint, module)?)?;
    module.add_function(wrap_pyfunction!(transmissions, module)?)?;
    module.add_function(wrap_pyfunction!(capture, module)?)
}
