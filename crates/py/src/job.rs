//! A run of a scenario that was read from text, and what it gave.

use std::borrow::Cow;

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sim::scenario::{Further, SeriesName};
use sim::{Column, Limits, Outcome, Scenario, Simulation, Sink, Summary};

use crate::failure::{self, Failure, guarded};
use crate::running::{self, Stopper};
use crate::threads;

/// Series by name.
pub(crate) type Series = Vec<(Cow<'static, str>, Column)>;

/// The results of a run.
pub(crate) struct Given {
    pub(crate) summary: Summary,
    pub(crate) series: Series,
    pub(crate) trace: String,
}

impl From<Outcome> for Given {
    fn from(Outcome { summary, series, trace }: Outcome) -> Given {
        Given { summary, series: named(series), trace: trace.unwrap_or_default() }
    }
}

/// Series by their names in a scenario.
pub(crate) fn named(series: Vec<(SeriesName, Column)>) -> Series {
    series.into_iter().map(|(name, column)| (name.name(), column)).collect()
}

/// One run of a scenario (JSON text).
pub(crate) struct Job<'a> {
    pub(crate) scenario: &'a str,
    pub(crate) seed: u64,
    pub(crate) further: &'a Further,
    pub(crate) limits: Limits,
}

impl Job<'_> {
    /// Runs it, watched by `sink` if there is one.
    pub(crate) fn run(&self, sink: Option<Box<dyn Sink>>, stopper: Stopper<'_>) -> Result<Given, Failure> {
        self.admitted(|scenario| {
            let simulation = match sink {
                Some(sink) => Simulation::with_sink(scenario, self.seed, sink)?,
                None => Simulation::new(scenario, self.seed)?,
            };
            Ok(Given::from(running::run(simulation, self.limits, stopper)?))
        })
    }

    /// Runs it on at most so many threads; with why it ran on one only, if it was to run on several.
    pub(crate) fn run_on(&self, threads: usize, stopper: Stopper<'_>) -> Result<(Given, Option<String>), Failure> {
        self.admitted(|scenario| {
            let (outcome, undivided) = threads::run(scenario, self.seed, threads, self.limits, stopper)?;
            Ok((Given::from(outcome), undivided))
        })
    }

    /// Runs it on as many of `threads` as make it end sooner.
    pub(crate) fn run_soonest(&self, threads: usize, stopper: Stopper<'_>) -> Result<Given, Failure> {
        self.admitted(|scenario| {
            Ok(Given::from(threads::run_soonest(scenario, self.seed, threads, self.limits, stopper)?))
        })
    }

    /// Does the work for a scenario that can be read and fits.
    fn admitted<T>(&self, work: impl FnOnce(&Scenario) -> Result<T, Failure>) -> Result<T, Failure> {
        guarded(|| {
            let scenario = Scenario::from_json(self.scenario)?.with(self.further);
            failure::admit(self.limits, &scenario, self.seed)?;
            work(&scenario)
        })
        .map_err(|failure| match failure {
            Failure::Bug(message) => Failure::Bug(format!("{message} [seed {}]", self.seed)),
            other => other,
        })
    }
}

/// Series as Python sees them: `{name: {"t_s", "id", "value"}}` of arrays; `word` too, a list, where values stand for words.
pub(crate) fn to_dict(py: Python<'_>, series: Series) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    for (name, column) in series {
        let columns = PyDict::new(py);
        columns.set_item("t_s", PyArray1::from_vec(py, column.t_s))?;
        columns.set_item("id", PyArray1::from_vec(py, column.id))?;
        columns.set_item("value", PyArray1::from_vec(py, column.value))?;
        if !column.words.is_empty() {
            columns.set_item("word", column.words)?;
        }
        dict.set_item(name, columns)?;
    }
    Ok(dict)
}
