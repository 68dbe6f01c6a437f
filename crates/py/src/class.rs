//! A class in Python that makes algorithms: its objects, what they observe, and the errors that end a run.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::Mutex;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tcp::cc::answers::Refused;
use tcp::cc::{self, ParamValues, Value};
use tcp::units::Time;

use crate::exception::AlgorithmException;
use crate::signals;

/// Variables that an algorithm may show, and letters of a name.
const MOST_NAMES: usize = 64;
const LONGEST_NAME: usize = 40;

/// A class that makes algorithms.
pub(crate) struct Class {
    pub(crate) name: &'static str,
    pub(crate) class: Py<PyAny>,
    /// Its objects keep the two rules of `cc::CongestionControl::is_strict`.
    pub(crate) strict: bool,
    /// Attributes that are shown, where it has no `observe`, and the words of `state`.
    pub(crate) shown: Vec<&'static str>,
    pub(crate) states: &'static [&'static str],
    /// The names that its objects have observed; the engine requires `'static` names.
    pub(crate) observed: Mutex<BTreeMap<String, &'static str>>,
}

impl Class {
    pub(crate) fn raise(&self, method: &'static str, at: Time, error: PyErr) -> ! {
        resume_unwind(Box::new(AlgorithmException { algorithm: self.name, method, at, error, is_whole: false }))
    }

    /// Ends the run over an answer that cannot be.
    pub(crate) fn accept<T>(&self, answer: Result<T, Refused>, at: Time) -> T {
        answer.unwrap_or_else(|Refused { answer, text }| self.raise(answer, at, PyValueError::new_err(text)))
    }

    /// A name that is kept for ever, once.
    pub(crate) fn intern(&self, name: &str) -> &'static str {
        let mut names = self.observed.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        names.entry(name.to_owned()).or_insert_with(|| leak(name))
    }

    /// True if a name that was not seen before is one name too many, or none: 64 identifiers of up to 40 letters are allowed.
    pub(crate) fn observed_too_many(&self, name: &str) -> bool {
        let names = self.observed.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let good = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(plain);
        !names.contains_key(name) && (names.len() >= MOST_NAMES || !good || name.len() > LONGEST_NAME)
    }

    /// Ends the run over a value that `observe` cannot show.
    pub(crate) fn refuse_observed(&self, at: Time, text: String) -> ! {
        self.raise("observe", at, PyValueError::new_err(text))
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
