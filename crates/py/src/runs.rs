//! Runs as Python asks for them: one, one on several threads, many at once.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use sim::Limits;
use sim::scenario::Further;

use crate::algorithm::{self, Algorithms};
use crate::failure::Failure;
use crate::job::{Job, Series, to_dict};
use crate::running::Stopper;
use crate::summary::{RunSummary, to_json};

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
    let further = Further::default();
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
                    let job = Job { scenario, seed: *seed, further: &Further::default(), limits };
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

/// Adds the functions to the module.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(run, module)?)?;
    module.add_function(wrap_pyfunction!(run_on_threads, module)?)?;
    module.add_function(wrap_pyfunction!(run_many, module)?)
}
