//! An exception raised by an algorithm in Python: it unwinds through the engine, ends the run and reaches the caller.

use std::any::Any;

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyRuntimeError};
use pyo3::prelude::*;
use tcp::units::Time;

create_exception!(
    tonopah._core,
    AlgorithmError,
    PyRuntimeError,
    "An algorithm in Python raised: `algorithm`, `method` and `time_s` say where, `__cause__` is what it raised."
);

/// What unwinds through the engine: the exception, and where it was raised.
pub(crate) struct AlgorithmException {
    pub(crate) algorithm: &'static str,
    pub(crate) method: &'static str,
    pub(crate) at: Time,
    pub(crate) error: PyErr,
    /// The error is all there is to say: it names library, call and time itself.
    pub(crate) is_whole: bool,
}

impl AlgorithmException {
    /// The payload of an unwinding, if an algorithm raised it.
    pub(crate) fn of(panic: Box<dyn Any + Send>) -> Result<AlgorithmException, Box<dyn Any + Send>> {
        panic.downcast::<AlgorithmException>().map(|raised| *raised)
    }

    /// The exception for the caller. What is not an error of the algorithm, such as an interrupt, is passed on unchanged.
    pub(crate) fn to_py(&self, py: Python<'_>) -> PyErr {
        if !self.error.is_instance_of::<PyException>(py) {
            return self.error.clone_ref(py);
        }
        let AlgorithmException { algorithm, method, at, error, is_whole } = self;
        let time_s = at.as_secs_f64();
        let value = error.value(py);
        let raised = AlgorithmError::new_err(match is_whole {
            true => value.to_string(),
            false => format!("{algorithm}: {method} failed at {time_s} s: {error}"),
        });
        raised.set_cause(py, Some(error.clone_ref(py)));
        let value = raised.value(py);
        let set = value
            .setattr("algorithm", *algorithm)
            .and_then(|()| value.setattr("method", *method))
            .and_then(|()| value.setattr("time_s", time_s));
        set.err().unwrap_or(raised)
    }
}
