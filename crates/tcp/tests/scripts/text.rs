//! Words of a script: numbers, times, sizes and names.

use std::str::FromStr;

use serde::de::value::Error;
use serde::de::{DeserializeOwned, IntoDeserializer};
use tcp::units::{Bytes, Span};

pub(crate) type Outcome<T = ()> = Result<T, String>;

pub(crate) fn number<T: FromStr>(word: &str) -> Outcome<T> {
    word.parse().map_err(|_| format!("{word:?} is not a number of the right kind"))
}

pub(crate) fn seconds(word: &str) -> Outcome<Span> {
    number(word).map(Span::from_secs_f64)
}

/// `10` is ten segments, `65535B` that many bytes.
pub(crate) fn window(word: &str, mss: Bytes) -> Outcome<Bytes> {
    word.strip_suffix('B').map_or_else(|| Ok(mss * number(word)?), |bytes| number(bytes).map(Bytes))
}

/// A name out of a list, as scenarios write it; the error lists what there is.
pub(crate) fn named<T: DeserializeOwned>(word: &str) -> Outcome<T> {
    let word: serde::de::value::StrDeserializer<'_, Error> = word.into_deserializer();
    T::deserialize(word).map_err(|error| error.to_string())
}
