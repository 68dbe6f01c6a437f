//! A congestion control written in Python, as the engine takes it: a class and its description become a `tcp::cc::Algorithm`,
//! whose objects stand behind the trait (`object.rs`). What they raise ends the run and reaches the caller.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Mutex;

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use serde_json::Value as Json;
use sim::scenario::Further;
use tcp::cc::{self, Param, ParamKind, ParamValues, Profile, Requirements, Value};
use tcp::units::{Bytes, Span, Time};

use crate::object::{Class, Object};

create_exception!(
    tonopah._core,
    AlgorithmError,
    PyRuntimeError,
    "An algorithm in Python raised: `algorithm`, `method` and `time_s` say where, `__cause__` is what it raised."
);

/// An algorithm written in Python: a class, and its description as `tonopah.algorithms()` lists it, in JSON text.
#[pyclass(frozen, module = "tonopah._core")]
pub(crate) struct Algorithm {
    algorithm: &'static cc::Algorithm,
    /// The description it was made with.
    #[pyo3(get)]
    description: String,
}

/// What is raised through the engine.
pub(crate) struct Raised {
    pub(crate) algorithm: &'static str,
    pub(crate) method: &'static str,
    pub(crate) at: Time,
    pub(crate) error: PyErr,
}

#[pymethods]
impl Algorithm {
    /// `class_` is called with a `Setup` and its parameters. What it takes is never given back: one for each class.
    #[new]
    fn new(class_: Py<PyAny>, description: String) -> PyResult<Algorithm> {
        let told: Json = serde_json::from_str(&description).map_err(|e| PyValueError::new_err(e.to_string()))?;
        let text = |value: &Json, key: &str| leak(value[key].as_str().unwrap_or_default());
        let name = text(&told, "name");
        let class: &'static Class = Box::leak(Box::new(Class { name, class: class_, observed: Mutex::default() }));
        let requirements = &told["demands"];
        let params = told["params"].as_array().into_iter().flatten().map(|param| Param {
            name: text(param, "name"),
            kind: match &param["default"] {
                Json::Bool(_) => ParamKind::Flag,
                _ => ParamKind::Number {
                    min: param["min"].as_f64().unwrap_or(f64::NEG_INFINITY),
                    max: param["max"].as_f64().unwrap_or(f64::INFINITY),
                },
            },
            default: match &param["default"] {
                Json::Bool(flag) => Value::Flag(*flag),
                number => Value::Number(number.as_f64().unwrap_or_default()),
            },
            unit: text(param, "unit"),
            doc: text(param, "doc"),
            source: text(param, "source"),
        });
        let algorithm = Box::leak(Box::new(cc::Algorithm {
            name,
            title: text(&told, "title"),
            reference: text(&told, "reference"),
            requirements: Requirements {
                owns_window: requirements["owns_window"] == true,
                ecn: serde_json::from_value(requirements["ecn"].clone()).unwrap_or_default(),
                timestamps: requirements["timestamps"] == true,
            },
            params: Vec::leak(params.collect()),
            profiles: &[Profile { name: "default", set: &[], recovery: None }],
            build: Box::leak(Box::new(move |values: &ParamValues, setup: &cc::Setup| {
                Object::build(class, values, setup)
            })),
        }));
        Ok(Algorithm { algorithm, description })
    }

    /// Makes an object with every parameter at its default and asks for its window; raises what is wrong.
    fn probe(&self, py: Python<'_>) -> PyResult<()> {
        let setup = cc::Setup {
            now: Time::ZERO,
            mss: Bytes(1000),
            initial_window: Bytes(10_000),
            initial_ssthresh: Bytes::MAX,
            handshake_rtt: Some(Span::from_millis(100)),
            paced: false,
            seed: 1,
        };
        crate::guarded(|| {
            let choice =
                cc::CcConfig::of(self.algorithm, None, &[]).map_err(|e| sim::ScenarioError::new(e.field, e.message))?;
            choice.build(&setup);
            Ok(())
        })
        .map_err(|failure| failure.to_py(py))
    }
}

/// Text that lives for ever.
pub(crate) fn leak(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

/// The algorithms by the name that the scenario writes.
pub(crate) fn further(algorithms: Option<BTreeMap<String, Py<Algorithm>>>) -> Further {
    algorithms.unwrap_or_default().into_iter().map(|(name, algorithm)| (name, algorithm.get().algorithm)).collect()
}

impl Raised {
    /// What unwound, if it came from an algorithm.
    pub(crate) fn of(panic: Box<dyn Any + Send>) -> Result<Raised, Box<dyn Any + Send>> {
        panic.downcast::<Raised>().map(|raised| *raised)
    }

    /// The exception for the caller. What is no mistake of the algorithm, such as an interrupt, stays what it is.
    pub(crate) fn to_py(&self, py: Python<'_>) -> PyErr {
        if !self.error.is_instance_of::<PyException>(py) {
            return self.error.clone_ref(py);
        }
        let Raised { algorithm, method, at, error } = self;
        let time_s = at.as_secs_f64();
        let raised = AlgorithmError::new_err(format!("{algorithm}: {method} failed at {time_s} s: {error}"));
        raised.set_cause(py, Some(error.clone_ref(py)));
        let value = raised.value(py);
        let set = value
            .setattr("algorithm", *algorithm)
            .and_then(|()| value.setattr("method", *method))
            .and_then(|()| value.setattr("time_s", time_s));
        set.err().unwrap_or(raised)
    }
}
