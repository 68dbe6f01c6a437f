//! A class in Python that makes algorithms: its objects, what they observe, and the errors that end a run.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::Mutex;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tcp::cc::{self, ParamValues, Value};
use tcp::units::Time;

use crate::answers::Answers;
use crate::exception::AlgorithmException;
use crate::signals;

/// A class that makes algorithms.
pub(crate) struct Class {
    pub(crate) name: &'static str,
    pub(crate) class: Py<PyAny>,
    /// Its objects keep the two rules of `cc::CongestionControl::is_strict`.
    pub(crate) strict: bool,
    /// The names that its objects have observed; the engine requires `'static` names.
    pub(crate) observed: Mutex<BTreeMap<String, &'static str>>,
}

impl Class {
    pub(crate) fn raise(&self, method: &'static str, at: Time, error: PyErr) -> ! {
        resume_unwind(Box::new(AlgorithmException { algorithm: self.name, method, at, error }))
    }

    /// Refuses a timer that has been.
    pub(crate) fn check_past(&self, answers: &Answers, now: Time) {
        if let Some(at) = answers.next_timer.filter(|at| *at < now) {
            self.raise("next_timer", now, PyValueError::new_err(format!("{at} is in the past")));
        }
    }

    /// Refuses a timer that would expire again at once.
    pub(crate) fn check_timer(&self, answers: &Answers, now: Time) {
        if let Some(at) = answers.next_timer.filter(|at| *at <= now) {
            let error = PyValueError::new_err(format!("{at} after on_timer at that time: time would stand still"));
            self.raise("next_timer", now, error);
        }
    }

    pub(crate) fn create<'py>(
        &self,
        py: Python<'py>,
        values: &ParamValues,
        setup: &cc::Setup,
    ) -> PyResult<Bound<'py, PyAny>> {
        let params = PyDict::new(py);
        for (name, value) in values.iter() {
            match value {
                Value::Number(number) => params.set_item(name, number)?,
                Value::Flag(flag) => params.set_item(name, flag)?,
            }
        }
        self.class.bind(py).call((signals::Setup::from(setup),), Some(&params))
    }
}

/// Text that is never freed.
pub(crate) fn leak(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}
