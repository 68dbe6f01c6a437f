//! What a scenario means, without a run: its network, who reaches whom, where its satellites are.

use pyo3::prelude::*;
use sim::{Limits, Scenario, Simulation};
use tcp::units::Span;

use crate::algorithm::{self, Algorithms};
use crate::failure::{admit, guarded};

/// Checks a scenario (JSON text): `{"resolved", "graph", "random", "warnings", "radio"}` as JSON text. `random` says what is drawn
/// from the seed, `radio` how far radios reach. A world that takes more than about `max_memory` bytes raises `LimitError`.
#[pyfunction]
#[pyo3(signature = (scenario, seed = 1, algorithms = None, max_memory = None))]
fn check(
    py: Python<'_>,
    scenario: &str,
    seed: u64,
    algorithms: Algorithms,
    max_memory: Option<u64>,
) -> PyResult<String> {
    let checked = guarded(|| {
        let scenario = Scenario::from_json(scenario)?.with(&algorithm::further(algorithms));
        admit(Limits { events: None, memory_bytes: max_memory }, &scenario, seed)?;
        // Building finds what only the whole shows, such as an unreachable destination.
        let mut built = Simulation::new(&scenario, seed)?;
        let text = |world| serde_json::to_string(world).expect("a scenario is plain data");
        let random = serde_json::json!(built.random_parts());
        let (resolved, graph) = (text(built.resolved()), text(built.graph()));
        let warnings = serde_json::json!(sim::warnings(&scenario, built.resolved(), built.graph()));
        let radio = serde_json::json!(built.radio_reach());
        Ok(format!(
            r#"{{"resolved":{resolved},"graph":{graph},"random":{random},"warnings":{warnings},"radio":{radio}}}"#
        ))
    });
    checked.map_err(|e| e.to_py(py))
}

/// Who reaches whom by radio when a scenario (JSON text) begins, and shortest paths of its flows, as JSON text.
#[pyfunction]
#[pyo3(signature = (scenario, seed = 1))]
fn reach(py: Python<'_>, scenario: &str, seed: u64) -> PyResult<String> {
    let reach = guarded(|| {
        let scenario = Scenario::from_json(scenario)?;
        Ok(serde_json::json!(Simulation::new(&scenario, seed)?.reach()))
    });
    Ok(reach.map_err(|e| e.to_py(py))?.to_string())
}

/// Ground tracks of the satellites of a scenario (JSON text) at `at_s`, and paths from 0 to `until_s` every `step_s`; JSON text.
#[pyfunction]
#[pyo3(signature = (scenario, seed, at_s, until_s, step_s, algorithms = None))]
fn ground_tracks(
    py: Python<'_>,
    scenario: &str,
    seed: u64,
    at_s: f64,
    until_s: f64,
    step_s: f64,
    algorithms: Algorithms,
) -> PyResult<String> {
    let further = algorithm::further(algorithms);
    let [at, until, step] = [at_s, until_s, step_s].map(Span::from_secs_f64);
    let tracks = py.detach(|| {
        guarded(|| Ok(sim::ground_tracks(&Scenario::from_json(scenario)?.with(&further), seed, at, until, step)?))
    });
    Ok(serde_json::to_string(&tracks.map_err(|e| e.to_py(py))?).expect("ground tracks are plain data"))
}

/// Adds the functions to the module.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(check, module)?)?;
    module.add_function(wrap_pyfunction!(reach, module)?)?;
    module.add_function(wrap_pyfunction!(ground_tracks, module)?)
}
