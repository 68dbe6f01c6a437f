//! Why a run has no outcome, and the exception that Python gets for it.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use sim::{Limits, Scenario};

use crate::exception::{AlgorithmError, AlgorithmException};
use crate::floating;

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
pub(crate) enum Failure {
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

impl Failure {
    /// The payload of an unwinding: an algorithm's exception, or a broken invariant with its message.
    pub(crate) fn of(panic: Box<dyn Any + Send>) -> Failure {
        let sentence = |panic: Box<dyn Any + Send>| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message").to_owned()
        };
        AlgorithmException::of(panic).map_or_else(|panic| Failure::Bug(sentence(panic)), Failure::Algorithm)
    }

    /// The exception for the caller.
    pub(crate) fn to_py(&self, py: Python<'_>) -> PyErr {
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

/// Refuses a world that would not fit, before it is built.
pub(crate) fn admit(limits: Limits, scenario: &Scenario, seed: u64) -> Result<(), Failure> {
    limits.refusal(scenario, seed)?.map_or(Ok(()), |message| Err(Failure::Limit(message)))
}

/// Runs `work`, which computes in the default floating-point environment; a broken invariant becomes an error with its message.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    floating::set_default();
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(Failure::of(panic)))
}

/// Adds the exceptions to the module.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("ScenarioError", module.py().get_type::<ScenarioError>())?;
    module.add("AlgorithmError", module.py().get_type::<AlgorithmError>())?;
    module.add("LimitError", module.py().get_type::<LimitError>())?;
    module.add("EngineError", module.py().get_type::<EngineError>())
}
