//! Segments as Python objects: read from any object with the fields of `tonopah.Segment`, returned as a dictionary of them.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use sim::ScenarioError;
use tcp::units::Bytes;
use tcp::{Ecn, EcnBytes, Flags, Sack, Segment, SeqNo, SeqRange, SynOptions, Timestamps};

use crate::failure::Failure;

/// Letters of the flags in the order of tcpdump.
const FLAGS: [(char, Flags); 8] = [
    ('S', Flags::SYN),
    ('F', Flags::FIN),
    ('R', Flags::RST),
    ('P', Flags::PSH),
    ('E', Flags::ECE),
    ('W', Flags::CWR),
    ('e', Flags::AE),
    ('.', Flags::ACK),
];
const ECN: [(&str, Ecn); 4] = [("not_ect", Ecn::NotEct), ("ect1", Ecn::Ect1), ("ect0", Ecn::Ect0), ("ce", Ecn::Ce)];
/// Maximum sequence number; sequence numbers do not wrap.
const MAX_SEQ: i64 = 1 << 60;
const MAX_LEN: i64 = 65_535;
const MAX_U32: i64 = u32::MAX as i64;

/// The error for an invalid field: its value, and what is allowed.
pub(crate) fn wrong(py: Python<'_>, field: &str, value: &Bound<'_, PyAny>, allowed: &str) -> PyErr {
    let shown = value.repr().map_or_else(|_| "this value".to_owned(), |text| text.to_string());
    let error = ScenarioError::new(field, format!("{shown} is not allowed")).with_hint(allowed);
    Failure::Scenario(error).to_py(py)
}

/// A whole number from 0 to `most`.
pub(crate) fn whole(value: &Bound<'_, PyAny>, field: &str, most: i64) -> PyResult<u64> {
    let number = value.extract::<i64>().ok().filter(|number| (0..=most).contains(number));
    let allowed = || wrong(value.py(), field, value, &format!("a whole number from 0 to {most}"));
    number.map(i64::unsigned_abs).ok_or_else(allowed)
}

/// A field of the segment, with its path for errors.
fn field<'py>(segment: &Bound<'py, PyAny>, name: &str) -> PyResult<(Bound<'py, PyAny>, String)> {
    let path = format!("segment.{name}");
    let value = segment.getattr(name).map_err(|_| {
        let hint = "a tonopah.Segment, such as Segment(seq=1, ack=1, flags=\".\")";
        wrong(segment.py(), "segment", segment, hint)
    })?;
    Ok((value, path))
}

fn number(segment: &Bound<'_, PyAny>, name: &str, most: i64) -> PyResult<u64> {
    let (value, path) = field(segment, name)?;
    whole(&value, &path, most)
}

/// A field that may be absent.
fn optional<'py>(segment: &Bound<'py, PyAny>, name: &str) -> PyResult<Option<(Bound<'py, PyAny>, String)>> {
    Ok(Some(field(segment, name)?).filter(|(value, _)| !value.is_none()))
}

/// Numbers in a tuple of this length, each up to `most`.
fn tuple<const N: usize>(value: &Bound<'_, PyAny>, path: &str, most: i64) -> PyResult<[u64; N]> {
    let items: Vec<Bound<'_, PyAny>> = value.extract().unwrap_or_default();
    let items: [Bound<'_, PyAny>; N] =
        items.try_into().map_err(|_| wrong(value.py(), path, value, &format!("{N} whole numbers")))?;
    let mut numbers = [0; N];
    for (number, item) in numbers.iter_mut().zip(&items) {
        *number = whole(item, path, most)?;
    }
    Ok(numbers)
}

fn flags(segment: &Bound<'_, PyAny>) -> PyResult<Flags> {
    let (value, path) = field(segment, "flags")?;
    let text: String = value.extract().unwrap_or_else(|_| "?".to_owned());
    let mut flags = Flags::default();
    for letter in text.chars() {
        let known = FLAGS.iter().find(|(known, _)| *known == letter);
        let allowed = "letters S (SYN), F (FIN), R (RST), P (PSH), E (ECE), W (CWR), e (AE), . (ACK), such as \"S.\"";
        flags = flags.with(known.ok_or_else(|| wrong(value.py(), &path, &value, allowed))?.1);
    }
    Ok(flags)
}

fn ecn(segment: &Bound<'_, PyAny>) -> PyResult<Ecn> {
    let (value, path) = field(segment, "ecn")?;
    let text: String = value.extract().unwrap_or_default();
    let known = ECN.iter().find(|(name, _)| *name == text).map(|(_, ecn)| *ecn);
    known.ok_or_else(|| wrong(value.py(), &path, &value, "\"not_ect\", \"ect0\", \"ect1\" or \"ce\""))
}

fn sack(segment: &Bound<'_, PyAny>) -> PyResult<Sack> {
    let (value, path) = field(segment, "sack")?;
    let allowed = || wrong(value.py(), &path, &value, "at most four blocks (start, end)");
    let blocks: Vec<Bound<'_, PyAny>> = value.extract().map_err(|_| allowed())?;
    let mut sack = Sack::default();
    for block in &blocks {
        let [start, end] = tuple(block, &path, MAX_SEQ)?;
        if !sack.push(SeqRange::new(SeqNo(start), SeqNo(end))) {
            return Err(allowed());
        }
    }
    Ok(sack)
}

fn syn_options(segment: &Bound<'_, PyAny>) -> PyResult<Option<SynOptions>> {
    let window_scale = match optional(segment, "window_scale")? {
        Some((value, path)) => Some(whole(&value, &path, 14)? as u8),
        None => None,
    };
    let (permitted, path) = field(segment, "sack_permitted")?;
    let sack_permitted: bool =
        permitted.extract().map_err(|_| wrong(permitted.py(), &path, &permitted, "True or False"))?;
    let Some((value, path)) = optional(segment, "mss_bytes")? else {
        let alone = window_scale.is_some() || sack_permitted;
        let (none, path) = field(segment, "mss_bytes")?;
        let allowed = "the MSS, which comes with window_scale and sack_permitted";
        return if alone { Err(wrong(none.py(), &path, &none, allowed)) } else { Ok(None) };
    };
    Ok(Some(SynOptions { mss: whole(&value, &path, MAX_LEN)? as u32, window_scale, sack_permitted }))
}

/// Reads a segment; errors name its field.
pub(crate) fn read(segment: &Bound<'_, PyAny>) -> PyResult<Segment> {
    let timestamps = match optional(segment, "timestamps_ms")? {
        Some((value, path)) => {
            let [value, echo] = tuple(&value, &path, MAX_U32)?;
            Some(Timestamps { value: value as u32, echo: echo as u32 })
        }
        None => None,
    };
    let ecn_bytes = match optional(segment, "ecn_bytes")? {
        Some((value, path)) => {
            let [ect0, ce, ect1] = tuple(&value, &path, MAX_U32)?;
            Some(EcnBytes { ect0: ect0 as u32, ce: ce as u32, ect1: ect1 as u32 })
        }
        None => None,
    };
    Ok(Segment {
        seq: SeqNo(number(segment, "seq", MAX_SEQ)?),
        ack: SeqNo(number(segment, "ack", MAX_SEQ)?),
        len: number(segment, "len_bytes", MAX_LEN)? as u32,
        flags: flags(segment)?,
        ecn: ecn(segment)?,
        window: Bytes(number(segment, "window_bytes", MAX_SEQ)?),
        timestamps,
        sack: sack(segment)?,
        syn: syn_options(segment)?,
        ecn_bytes,
    })
}

/// The fields of a segment, as `tonopah.Segment` takes them.
pub(crate) fn write<'py>(py: Python<'py>, segment: &Segment) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    let set = FLAGS.iter().filter(|(_, flag)| segment.flags.contains(*flag));
    let ecn = ECN.iter().find(|(_, ecn)| *ecn == segment.ecn).map_or("", |(name, _)| name);
    fields.set_item("seq", segment.seq.0)?;
    fields.set_item("ack", segment.ack.0)?;
    fields.set_item("len_bytes", segment.len)?;
    fields.set_item("flags", set.map(|(letter, _)| letter).collect::<String>())?;
    fields.set_item("window_bytes", segment.window.0)?;
    let blocks = segment.sack.blocks().map(|block| (block.start.0, block.end.0));
    fields.set_item("sack", pyo3::types::PyTuple::new(py, blocks)?)?;
    fields.set_item("timestamps_ms", segment.timestamps.map(|t| (t.value, t.echo)))?;
    fields.set_item("ecn", ecn)?;
    fields.set_item("ecn_bytes", segment.ecn_bytes.map(|e| (e.ect0, e.ce, e.ect1)))?;
    fields.set_item("mss_bytes", segment.syn.map(|syn| syn.mss))?;
    fields.set_item("window_scale", segment.syn.and_then(|syn| syn.window_scale))?;
    fields.set_item("sack_permitted", segment.syn.is_some_and(|syn| syn.sack_permitted))?;
    Ok(fields)
}

/// Refuses a segment that cannot be read, with the field and what is allowed.
#[pyfunction]
pub(crate) fn check_segment(segment: &Bound<'_, PyAny>) -> PyResult<()> {
    read(segment).map(|_| ())
}
