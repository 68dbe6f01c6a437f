//! The only crate that knows Python. It decides nothing: text in, text and arrays out, the GIL released meanwhile.

mod agent;
mod algorithm;
mod answers;
mod class;
mod endpoint;
mod exception;
mod native;
mod native_signals;
mod object;
mod quantity;
mod running;
mod segment;
mod signals;
mod stepwise;
mod summary;
mod threads;
mod watching;

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use numpy::PyArray1;
use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sim::scenario::{Further, SeriesName};
use sim::{Column, Outcome, Scenario, Simulation, Sink, Summary};
use tcp::units::Span;

use exception::AlgorithmException;
use running::{Limits, Stopper};
use summary::{RunSummary, to_json};

create_exception!(
    tonopah._core,
    ScenarioError,
    PyValueError,
    "Wrong input: `path` names the field, `message` says what is allowed."
);

create_exception!(tonopah._core, LimitError, PyRuntimeError, "A run took more events or memory than it may.");

create_exception!(
    tonopah._core,
    EngineError,
    PyRuntimeError,
    "A defect of the engine: a broken invariant. Scenario and seed show it again."
);

/// Why a run has no outcome.
enum Failure {
    /// Invalid input.
    Scenario(sim::ScenarioError),
    /// An algorithm in Python raised.
    Algorithm(AlgorithmException),
    /// A defect of the engine: a broken invariant.
    Bug(String),
    /// More events or memory than allowed.
    Limit(String),
    /// A signal arrived; its handler raised.
    Interrupted(PyErr),
    /// Another run was interrupted, and no caller waits for this one.
    GivenUp,
}

/// Algorithms in Python by the name that a scenario writes.
type Algorithms = Option<BTreeMap<String, Py<algorithm::Algorithm>>>;

/// Series by name.
type Series = Vec<(&'static str, Column)>;

impl Failure {
    /// The payload of an unwinding: an algorithm's exception, or a broken invariant with its message.
    fn of(panic: Box<dyn Any + Send>) -> Failure {
        let sentence = |panic: Box<dyn Any + Send>| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message").to_owned()
        };
        AlgorithmException::of(panic).map_or_else(|panic| Failure::Bug(sentence(panic)), Failure::Algorithm)
    }

    fn to_py(&self, py: Python<'_>) -> PyErr {
        match self {
            Failure::Bug(message) => EngineError::new_err(format!("internal error, please report it: {message}")),
            Failure::Limit(message) => LimitError::new_err(message.clone()),
            Failure::Interrupted(error) => error.clone_ref(py),
            Failure::GivenUp => PyKeyboardInterrupt::new_err("the run was given up"),
            Failure::Algorithm(raised) => raised.to_py(py),
            Failure::Scenario(error) => {
                let raised = ScenarioError::new_err(error.to_string());
                let value = raised.value(py);
                let set = value
                    .setattr("path", &error.path)
                    .and_then(|()| value.setattr("message", &error.message))
                    .and_then(|()| value.setattr("hint", &error.hint));
                set.err().unwrap_or(raised)
            }
        }
    }
}

impl From<sim::ScenarioError> for Failure {
    fn from(error: sim::ScenarioError) -> Failure {
        Failure::Scenario(error)
    }
}

/// Runs `work`; a broken invariant becomes an error with its message.
fn guarded<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(Failure::of(panic)))
}

/// The results of a run.
struct Given {
    summary: Summary,
    series: Series,
    trace: String,
}

impl From<Outcome> for Given {
    fn from(Outcome { summary, series, trace }: Outcome) -> Given {
        Given { summary, series: named(series), trace: trace.unwrap_or_default() }
    }
}

/// Series by their names in a scenario.
fn named(series: Vec<(SeriesName, Column)>) -> Series {
    series.into_iter().map(|(name, column)| (name.name(), column)).collect()
}

/// One run of a scenario (JSON text).
struct Job<'a> {
    scenario: &'a str,
    seed: u64,
    further: &'a Further,
    limits: Limits,
}

impl Job<'_> {
    fn run(&self, sink: Option<Box<dyn Sink>>, stopper: Stopper<'_>) -> Result<Given, Failure> {
        self.admitted(|scenario| {
            let simulation = match sink {
                Some(sink) => Simulation::with_sink(scenario, self.seed, sink)?,
                None => Simulation::new(scenario, self.seed)?,
            };
            Ok(Given::from(running::run(simulation, self.limits, stopper)?))
        })
    }

    /// Runs it on at most so many threads; with why it ran on one only, if it was to run on several.
    fn run_on(&self, threads: usize, stopper: Stopper<'_>) -> Result<(Given, Option<String>), Failure> {
        self.admitted(|scenario| {
            let (outcome, undivided) = threads::run(scenario, self.seed, threads, self.limits, stopper)?;
            Ok((Given::from(outcome), undivided))
        })
    }

    /// Runs it on as many of `threads` as make it end sooner.
    fn run_soonest(&self, threads: usize, stopper: Stopper<'_>) -> Result<Given, Failure> {
        self.admitted(|scenario| {
            Ok(Given::from(threads::run_soonest(scenario, self.seed, threads, self.limits, stopper)?))
        })
    }

    /// Does the work for a scenario that can be read and fits.
    fn admitted<T>(&self, work: impl FnOnce(&Scenario) -> Result<T, Failure>) -> Result<T, Failure> {
        guarded(|| {
            let scenario = Scenario::from_json(self.scenario)?.with(self.further);
            self.limits.admit(&scenario, self.seed)?;
            work(&scenario)
        })
        .map_err(|failure| match failure {
            Failure::Bug(message) => Failure::Bug(format!("{message} [seed {}]", self.seed)),
            other => other,
        })
    }
}

fn to_dict(py: Python<'_>, series: Series) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    for (name, column) in series {
        let columns = PyDict::new(py);
        columns.set_item("t_s", PyArray1::from_vec(py, column.t_s))?;
        columns.set_item("id", PyArray1::from_vec(py, column.id))?;
        columns.set_item("value", PyArray1::from_vec(py, column.value))?;
        dict.set_item(name, columns)?;
    }
    Ok(dict)
}

/// Runs a scenario (JSON text): its summary, and its series as `{name: {"t_s", "id", "value"}}` of arrays. `algorithms` are
/// those in Python that it names. More than `max_events` events or about `max_memory` bytes raise `LimitError`.
#[pyfunction]
#[pyo3(signature = (scenario, seed = 1, algorithms = None, max_events = None, max_memory = None))]
fn run(
    py: Python<'_>,
    scenario: &str,
    seed: u64,
    algorithms: Algorithms,
    max_events: Option<u64>,
    max_memory: Option<u64>,
) -> PyResult<(RunSummary, Py<PyDict>)> {
    let further = algorithm::further(algorithms);
    let job =
        Job { scenario, seed, further: &further, limits: Limits { events: max_events, memory_bytes: max_memory } };
    let given = py.detach(|| job.run(None, Stopper::Signals)).map_err(|e| e.to_py(py))?;
    Ok((RunSummary(given.summary), to_dict(py, given.series)?.unbind()))
}

/// Runs a scenario (JSON text) like `run` without algorithms in Python, on at most so many `threads`: the bits are the same. Gives
/// besides why it ran on one thread only, if it did and was to run on several.
#[pyfunction]
#[pyo3(signature = (scenario, seed, threads, max_events = None, max_memory = None))]
fn run_on_threads(
    py: Python<'_>,
    scenario: &str,
    seed: u64,
    threads: usize,
    max_events: Option<u64>,
    max_memory: Option<u64>,
) -> PyResult<(RunSummary, Py<PyDict>, Option<String>)> {
    let further = Further::new();
    let job =
        Job { scenario, seed, further: &further, limits: Limits { events: max_events, memory_bytes: max_memory } };
    let (given, undivided) = py.detach(|| job.run_on(threads.max(1), Stopper::Signals)).map_err(|e| e.to_py(py))?;
    Ok((RunSummary(given.summary), to_dict(py, given.series)?.unbind(), undivided))
}

/// Runs many (scenario, seed) on `threads` threads, each within the limits of `run`; fewer runs than threads share the cores
/// where they end sooner so. `on_done(index, summary_or_error, series_or_none)` is called here as each ends, in any order; if it returns False, or an interrupt is pending, no further
/// run is started; those under way end, or with a second interrupt are given up.
#[pyfunction]
#[pyo3(signature = (jobs, threads, on_done, max_events = None, max_memory = None))]
fn run_many(
    py: Python<'_>,
    jobs: Vec<(String, u64)>,
    threads: usize,
    on_done: Py<PyAny>,
    max_events: Option<u64>,
    max_memory: Option<u64>,
) -> PyResult<()> {
    let (next, stop, give_up) = (AtomicUsize::new(0), AtomicBool::new(false), AtomicBool::new(false));
    let limits = Limits { events: max_events, memory_bytes: max_memory };
    // Threads of one run wait for each other, so that each needs a core.
    let cores = std::thread::available_parallelism().map_or(1, usize::from).min(threads);
    let each = (cores / jobs.len().max(1)).max(1);
    let threads = threads.clamp(1, jobs.len().max(1));
    // Bounded: where the disk is slower than the engine, runs wait for it and not in memory.
    let (sender, receiver) = mpsc::sync_channel(2 * threads);
    let receiver = Mutex::new(receiver);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (sender, jobs, next, stop, give_up) = (sender.clone(), &jobs, &next, &stop, &give_up);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some((scenario, seed)) = jobs.get(index) else { break };
                    let job = Job { scenario, seed: *seed, further: &Further::new(), limits };
                    let given = job.run_soonest(each, Stopper::Flag(give_up));
                    let written = given.map(|given| (to_json(&given.summary), given.series));
                    if sender.send((index, written)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut result = Ok(());
        loop {
            let wait = Duration::from_millis(100);
            let message = py.detach(|| receiver.lock().expect("one thread receives").recv_timeout(wait));
            if let Err(signal) = py.check_signals() {
                // Who was stopping already is in a hurry now.
                give_up.fetch_or(stop.load(Ordering::Relaxed), Ordering::Relaxed);
                result = result.and(Err(signal));
            }
            stop.fetch_or(result.is_err(), Ordering::Relaxed);
            match message {
                Ok((_, Err(Failure::GivenUp))) | Err(RecvTimeoutError::Timeout) => {}
                Ok((index, outcome)) => {
                    let wants_more = report(py, &on_done, index, outcome);
                    stop.fetch_or(!wants_more.as_ref().is_ok_and(|more| *more), Ordering::Relaxed);
                    result = result.and(wants_more.map(|_| ()));
                }
                Err(RecvTimeoutError::Disconnected) => return result,
            }
        }
    })
}

/// Reports one result, the text of its summary and its series, to Python; true if the caller wants more.
fn report(
    py: Python<'_>,
    on_done: &Py<PyAny>,
    index: usize,
    outcome: Result<(String, Series), Failure>,
) -> PyResult<bool> {
    let answer = match outcome {
        Ok((summary, series)) => on_done.call1(py, (index, summary, to_dict(py, series)?))?,
        Err(failure) => on_done.call1(py, (index, failure.to_py(py).into_value(py), py.None()))?,
    };
    Ok(answer.extract::<bool>(py).unwrap_or(true))
}

/// Checks a scenario (JSON text): `{"resolved", "graph", "random", "warnings"}` as JSON text. `random` says what is drawn from
/// the seed.
#[pyfunction]
#[pyo3(signature = (scenario, seed = 1, algorithms = None))]
fn check(py: Python<'_>, scenario: &str, seed: u64, algorithms: Algorithms) -> PyResult<String> {
    let checked = guarded(|| {
        let scenario = Scenario::from_json(scenario)?.with(&algorithm::further(algorithms));
        // Building finds what only the whole shows, such as an unreachable destination.
        let built = Simulation::new(&scenario, seed)?;
        let text = |world| serde_json::to_string(world).expect("a scenario is plain data");
        let random = serde_json::json!(built.random_parts());
        let (resolved, graph) = (text(built.resolved()), text(built.graph()));
        let warnings = serde_json::json!(sim::warnings(built.resolved()));
        Ok(format!(r#"{{"resolved":{resolved},"graph":{graph},"random":{random},"warnings":{warnings}}}"#))
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

/// The congestion-control algorithms with parameters and profiles, as JSON text.
#[pyfunction]
fn algorithms() -> String {
    sim::algorithms().to_string()
}

/// The JSON schema of a scenario, as text.
#[pyfunction]
fn schema() -> String {
    Scenario::schema().to_string()
}

/// Version of the engine.
#[pyfunction]
fn engine_version() -> &'static str {
    sim::VERSION
}

/// Hash of the engine's sources. Results of one build are identical bit by bit; results of different builds are not mixed.
#[pyfunction]
fn engine_build() -> &'static str {
    env!("TONOPAH_ENGINE_BUILD")
}

/// How the build was optimised: `profile-guided`, or the Cargo profile. The bits of results do not depend on it.
#[pyfunction]
fn build_profile() -> &'static str {
    env!("TONOPAH_BUILD_PROFILE")
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("ScenarioError", module.py().get_type::<ScenarioError>())?;
    module.add("AlgorithmError", module.py().get_type::<exception::AlgorithmError>())?;
    module.add("LimitError", module.py().get_type::<LimitError>())?;
    module.add("EngineError", module.py().get_type::<EngineError>())?;
    module.add_class::<RunSummary>()?;
    module.add_class::<algorithm::Algorithm>()?;
    signals::add(module)?;
    native::add(module)?;
    agent::add(module)?;
    module.add_class::<endpoint::Endpoint>()?;
    module.add_class::<stepwise::Stepwise>()?;
    quantity::add(module)?;
    module.add_function(wrap_pyfunction!(segment::check_segment, module)?)?;
    module.add_function(wrap_pyfunction!(run, module)?)?;
    module.add_function(wrap_pyfunction!(run_on_threads, module)?)?;
    module.add_function(wrap_pyfunction!(run_many, module)?)?;
    module.add_function(wrap_pyfunction!(check, module)?)?;
    watching::add(module)?;
    module.add_function(wrap_pyfunction!(reach, module)?)?;
    module.add_function(wrap_pyfunction!(ground_tracks, module)?)?;
    module.add_function(wrap_pyfunction!(algorithms, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(engine_build, module)?)?;
    module.add_function(wrap_pyfunction!(build_profile, module)?)?;
    module.add_function(wrap_pyfunction!(engine_version, module)?)
}
