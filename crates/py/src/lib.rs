//! The only crate that knows Python. It decides nothing: text in, text and arrays out, the GIL released meanwhile.

mod agent;
mod algorithm;
mod captures;
mod checking;
mod class;
#[cfg(target_os = "linux")]
mod emulation;
mod endpoint;
mod exception;
mod failure;
mod floating;
mod job;
mod native;
mod object;
mod quantity;
mod running;
mod runs;
mod segment;
mod signals;
mod stepwise;
mod summary;
mod threads;
mod transport;
mod transport_class;
mod transport_host;
mod transport_layout;
mod watching;

use mimalloc::MiMalloc;
use pyo3::prelude::*;
use sim::Scenario;

/// It places what flows and links hold on huge pages, where the system lets a process have these.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// The congestion-control algorithms with parameters and profiles, as JSON text.
#[pyfunction]
fn algorithms() -> String {
    sim::algorithms().to_string()
}

/// The JSON schema of a scenario, as text.
#[pyfunction]
fn schema() -> String {
    Scenario::schema().to_string()
}

/// Version of the engine.
#[pyfunction]
fn engine_version() -> &'static str {
    sim::VERSION
}

/// Hash of the engine's sources. Results of one build are identical bit by bit; results of different builds are not mixed.
#[pyfunction]
fn engine_build() -> &'static str {
    env!("TONOPAH_ENGINE_BUILD")
}

/// How the build was optimised: `profile-guided`, or the Cargo profile. The bits of results do not depend on it.
#[pyfunction]
fn build_profile() -> &'static str {
    env!("TONOPAH_BUILD_PROFILE")
}

/// Worlds may take the memory that this machine has, where Python knows it.
fn allow_memory(py: Python<'_>) -> PyResult<()> {
    let of = |name| py.import("os")?.call_method1("sysconf", (name,))?.extract::<u64>();
    sim::allow_worlds(of("SC_PAGE_SIZE")?.saturating_mul(of("SC_PHYS_PAGES")?));
    Ok(())
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    // Not every system has `sysconf`.
    let _ = allow_memory(module.py());
    failure::add(module)?;
    module.add_class::<summary::RunSummary>()?;
    module.add_class::<algorithm::Algorithm>()?;
    signals::add(module)?;
    native::add(module)?;
    transport_class::add(module)?;
    agent::add(module)?;
    module.add_class::<endpoint::Endpoint>()?;
    module.add_class::<stepwise::Stepwise>()?;
    #[cfg(target_os = "linux")]
    module.add_class::<emulation::Emulation>()?;
    quantity::add(module)?;
    module.add_function(wrap_pyfunction!(segment::check_segment, module)?)?;
    runs::add(module)?;
    checking::add(module)?;
    watching::add(module)?;
    captures::add(module)?;
    module.add_function(wrap_pyfunction!(algorithms, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(engine_build, module)?)?;
    module.add_function(wrap_pyfunction!(build_profile, module)?)?;
    module.add_function(wrap_pyfunction!(engine_version, module)?)
}
