//! The engine's grammar of quantities, so that Python needs none of its own.

use std::collections::BTreeMap;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sim::scenario;

/// Reads a text such as "20ms" as a quantity of a kind (see `units`), in SI units.
#[pyfunction]
fn parse_quantity(text: &str, kind: &str) -> PyResult<f64> {
    scenario::parse_quantity(text, kind).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Number, unit and kind of a text such as "20ms"; None if it is not a number with a unit.
#[pyfunction]
fn split_quantity(text: &str) -> Option<(f64, &'static str, &'static str)> {
    scenario::split_quantity(text).map(|written| (written.number, written.unit, written.kind))
}

/// Kinds of quantities, each with its units.
#[pyfunction]
fn units() -> BTreeMap<&'static str, Vec<&'static str>> {
    scenario::KINDS.iter().map(|kind| (kind.name, kind.units.iter().map(|unit| unit.name).collect())).collect()
}

/// Adds the functions to the module.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(parse_quantity, module)?)?;
    module.add_function(wrap_pyfunction!(split_quantity, module)?)?;
    module.add_function(wrap_pyfunction!(units, module)?)
}
