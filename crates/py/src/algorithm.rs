//! A congestion control written in Python: a class and its description become a `tcp::cc::Algorithm`, whose objects implement
//! the trait (`object.rs`).

use std::collections::BTreeMap;
use std::sync::Mutex;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::Value as Json;
use sim::scenario::Further;
use tcp::cc::{self, Internal, Param, ParamKind, ParamValues, Profile, Requirements, Value};
use tcp::units::{Bytes, Span};

use crate::class::{Class, leak};
use crate::failure::guarded;
use crate::object::Object;
use crate::transport_class::Transport;

/// An algorithm written in Python: a class, and its description as `tonopah.algorithms()` lists it, in JSON text.
#[pyclass(frozen, module = "tonopah._core")]
pub(crate) struct Algorithm {
    algorithm: &'static cc::Algorithm,
    /// The description passed to the constructor.
    #[pyo3(get)]
    description: String,
}

/// What is not part of the engine, by the name that a scenario writes.
pub(crate) type Algorithms = Option<BTreeMap<String, Code>>;

/// Code of the user.
#[derive(FromPyObject)]
pub(crate) enum Code {
    /// An algorithm in Python or in a library.
    Algorithm(Py<Algorithm>),
    /// A whole transport in a library.
    Transport(Py<Transport>),
}

#[pymethods]
impl Algorithm {
    /// `class_` is called with a `Setup` and its parameters. The memory is never freed: create one for each class.
    #[new]
    fn new(class_: Py<PyAny>, description: String) -> PyResult<Algorithm> {
        let described: Json = serde_json::from_str(&description).map_err(|e| PyValueError::new_err(e.to_string()))?;
        let text = |value: &Json, key: &str| leak(value[key].as_str().unwrap_or_default());
        let name = text(&described, "name");
        let listed = described["internals"].as_array();
        let internals: Vec<Internal> =
            listed.into_iter().flatten().map(|shown| Internal::of(text(shown, "name"), text(shown, "doc"))).collect();
        let words = described["states"].as_array().into_iter().flatten().filter_map(Json::as_str);
        let states: &'static [&'static str] = Vec::leak(words.map(leak).collect());
        let class: &'static Class = Box::leak(Box::new(Class {
            name,
            class: class_,
            strict: described["strict"] == true,
            shown: internals.iter().map(|internal| internal.name).collect(),
            states,
            observed: Mutex::default(),
        }));
        let requirements = &described["requirements"];
        let params = described["params"].as_array().into_iter().flatten().map(|param| Param {
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
            title: text(&described, "title"),
            reference: text(&described, "reference"),
            requirements: Requirements {
                owns_window: requirements["owns_window"] == true,
                ecn: serde_json::from_value(requirements["ecn"].clone()).unwrap_or_default(),
                timestamps: requirements["timestamps"] == true,
                // Whether a class draws is known to it alone.
                random: true,
            },
            starts: (described["starts"] == true).then_some(cc::Algorithm::EVERY),
            params: Vec::leak(params.collect()),
            profiles: &[Profile { name: "default", set: &[], recovery: None }],
            internals: if listed.is_some() { Vec::leak(internals) } else { &[Internal::ANY] },
            states,
            build: Box::leak(Box::new(move |values: &ParamValues, setup: &cc::Setup| {
                Object::build(class, values, setup)
            })),
        }));
        Ok(Algorithm { algorithm, description })
    }

    /// Creates an object with default parameters and queries its window; raises what is wrong.
    fn probe(&self, py: Python<'_>) -> PyResult<()> {
        let setup =
            cc::Setup { handshake_rtt: Some(Span::from_millis(100)), ..cc::Setup::plain(Bytes(1000), Bytes(10_000)) };
        guarded(|| {
            let config =
                cc::CcConfig::of(self.algorithm, None, &[]).map_err(|e| sim::ScenarioError::new(e.field, e.message))?;
            config.build(&setup);
            Ok(())
        })
        .map_err(|failure| failure.to_py(py))
    }
}

/// The same for the engine.
pub(crate) fn further(algorithms: Algorithms) -> Further {
    let mut further = Further::default();
    for (name, code) in algorithms.unwrap_or_default() {
        match code {
            Code::Algorithm(algorithm) => drop(further.algorithms.insert(name, algorithm.get().algorithm)),
            Code::Transport(transport) => drop(further.transports.insert(name, transport.get().kind)),
        }
    }
    further
}
