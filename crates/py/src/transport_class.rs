//! Whole transports as Python hands them over: the address of a library's struct and its description become a `sim::foreign::ForeignKind`.

use std::net::SocketAddrV4;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::Value as Json;
use sim::foreign::{ForeignKind, ForeignOption, ForeignRole, ForeignSetup};
use tcp::units::{Bytes, Time};

use crate::class::leak;
use crate::failure::guarded;
use crate::transport::{self, Library};
use crate::transport_host;

/// A transport in a shared library: the address of its struct, 0 if it is not open here, and its description in JSON text.
#[pyclass(frozen, module = "tonopah._core")]
pub(crate) struct Transport {
    pub(crate) kind: &'static ForeignKind,
    library: Library,
    /// The description passed to the constructor.
    #[pyo3(get)]
    description: String,
}

#[pymethods]
impl Transport {
    /// The memory is never freed: create one for each library, which stays open.
    #[new]
    fn new(address: usize, description: String) -> PyResult<Transport> {
        let said: Json = serde_json::from_str(&description).map_err(|e| PyValueError::new_err(e.to_string()))?;
        let text = |value: &Json, key: &str| value[key].as_str().unwrap_or_default().to_owned();
        let words =
            |list: &Json| list.as_array().into_iter().flatten().filter_map(Json::as_str).map(str::to_owned).collect();
        let option = |option: &Json| ForeignOption {
            name: text(option, "name"),
            standard: option["default"].as_f64().unwrap_or_default(),
            min: option["min"].as_f64().unwrap_or(f64::NEG_INFINITY),
            max: option["max"].as_f64().unwrap_or(f64::INFINITY),
            unit: text(option, "unit"),
            words: words(&option["words"]),
        };
        let name = text(&said, "name");
        let library = Library { name: leak(name.rsplit('/').next().unwrap_or_default()), address };
        let kind = Box::leak(Box::new(ForeignKind {
            name,
            title: text(&said, "title"),
            protocol: said["protocol"].as_u64().unwrap_or_default() as u8,
            max_streams: said["max_streams"].as_u64().unwrap_or_default() as u32,
            options: said["options"].as_array().into_iter().flatten().map(option).collect(),
            create: Box::new(move |setup, options| library.create(setup, options)),
        }));
        Ok(Transport { kind, library, description })
    }

    /// Makes an end of each role with the standard options, and destroys it; raises what is wrong.
    fn probe(&self, py: Python<'_>) -> PyResult<()> {
        let options: Vec<f64> = self.kind.options.iter().map(|option| option.standard).collect();
        let tried = guarded(|| {
            for role in [ForeignRole::Client, ForeignRole::Server] {
                let socket = |last| SocketAddrV4::new([10, 0, 0, last].into(), 5000 + u16::from(last));
                let (now, mtu, place, label) = (Time::ZERO, Bytes(1500), "the trial".to_owned(), "trial".to_owned());
                let setup = ForeignSetup { now, seed: 1, role, mtu, local: socket(1), remote: socket(2), place, label };
                drop(self.library.create(&setup, &options));
            }
            Ok(())
        });
        tried.map_err(|failure| failure.to_py(py))
    }
}

/// Adds the class and the functions to the module.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("CALLS", transport::CALLS.to_vec())?;
    module.add("CALLS_PAGE_BYTES", transport::PAGE_BYTES)?;
    module.add_class::<Transport>()?;
    module.add_function(wrap_pyfunction!(transport::watch_calls, module)?)?;
    module.add_function(wrap_pyfunction!(transport_host::log_transports, module)?)
}
