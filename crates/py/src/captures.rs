//! Captures of other programs: bytes of a file in, packets of a connection out as tuples in the order of `CapturedPacket`.

use captures::{Frame, Packet, Reader, Wanted, Wrong};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyTuple;
use sim::ScenarioError;

use crate::failure::Failure;

/// What is noted of a connection: turn, turns, data in bytes, segments with data, first and last time in nanoseconds.
type Noted = (u32, u32, u64, u64, i64, i64);

/// Reads a capture part by part; keeps the packets of the connection `wanted`, a number and a time in nanoseconds.
#[pyclass]
pub(crate) struct CaptureReader(Reader);

#[pymethods]
impl CaptureReader {
    #[new]
    #[pyo3(signature = (wanted = None))]
    fn new(wanted: Option<(usize, i64)>) -> CaptureReader {
        CaptureReader(Reader::new(wanted.map(|(number, until_ns)| Wanted { number, until_ns })))
    }

    /// Reads a part of the file and returns the packets of it that were wanted.
    fn feed<'py>(&mut self, py: Python<'py>, part: &[u8]) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let found = py.detach(|| self.0.feed(part)).map_err(|wrong| error(py, wrong))?;
        rows(py, &found)
    }

    /// Returns where the file ended too early, after its last part.
    fn end(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.0.end().map_err(|wrong| error(py, wrong))
    }

    /// The earliest time among the segments of the last part that had some.
    fn least_ns(&self) -> i64 {
        self.0.least_ns()
    }

    fn connections(&self) -> Vec<Noted> {
        let noted = self
            .0
            .connections()
            .map(|(one, turns)| (one.turn, turns, one.data_bytes, one.segments, one.first_ns, one.last_ns));
        noted.collect()
    }

    /// Frames that gave no segment, or not a whole one, by the reason.
    fn skipped(&self) -> Vec<(String, u64)> {
        self.0.skipped().iter().map(|(why, count)| (why.to_string(), *count)).collect()
    }

    /// Segments of those connections that are too many.
    fn left_out(&self) -> u64 {
        self.0.left_out()
    }
}

/// The packets of the first connection of frames: each has a time in nanoseconds, a link type, a size and the bytes captured of it.
#[pyfunction]
fn captured_packets(py: Python<'_>, frames: Vec<(i64, u16, u32, PyBackedBytes)>) -> PyResult<Vec<Bound<'_, PyTuple>>> {
    let frames = frames.iter().map(|(t_ns, link, size, bytes)| Frame { t_ns: *t_ns, link: *link, size: *size, bytes });
    rows(py, &captures::packets_of(frames))
}

fn error(py: Python<'_>, wrong: Wrong) -> PyErr {
    let error = ScenarioError::new("", wrong.text);
    Failure::Scenario(wrong.hint.into_iter().fold(error, ScenarioError::with_hint)).to_py(py)
}

/// Packets of one connection.
fn rows<'py>(py: Python<'py>, packets: &[Packet]) -> PyResult<Vec<Bound<'py, PyTuple>>> {
    let Some(first) = packets.first() else { return Ok(Vec::new()) };
    let [low, high] = [false, true].map(|high| first.ends.named(high).into_bound_py_any(py));
    let (ends, none) = ([low?, high?], PyTuple::empty(py));
    packets.iter().map(|packet| row(py, packet, &ends, &none)).collect()
}

fn row<'py>(
    py: Python<'py>,
    packet: &Packet,
    ends: &[Bound<'py, PyAny>; 2],
    none: &Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyTuple>> {
    let (from, to) = (usize::from(packet.from_high), usize::from(!packet.from_high));
    let options = &packet.options;
    let sack = if options.sack.is_empty() { none.clone() } else { PyTuple::new(py, &options.sack)? };
    PyTuple::new(
        py,
        [
            packet.t_ns.into_bound_py_any(py)?,
            ends[from].clone(),
            ends[to].clone(),
            packet.seq.into_bound_py_any(py)?,
            packet.ack.into_bound_py_any(py)?,
            packet.flags.into_bound_py_any(py)?,
            packet.length.into_bound_py_any(py)?,
            packet.size.into_bound_py_any(py)?,
            options.mss.into_bound_py_any(py)?,
            sack.into_any(),
            packet.window.into_bound_py_any(py)?,
            packet.ident.into_bound_py_any(py)?,
            packet.ecn.into_bound_py_any(py)?,
            options.scale.into_bound_py_any(py)?,
            options.stamp.into_bound_py_any(py)?,
        ],
    )
}

/// Adds the class and the function to the module.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<CaptureReader>()?;
    module.add_function(wrap_pyfunction!(captured_packets, module)?)
}
