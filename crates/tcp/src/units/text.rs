//! Text forms of the quantities: reading, printing, and what a scenario's schema says of them.

use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Bytes, NANOS_PER_SECOND, Rate, Span, Time};

const TIME_UNITS: &[(&str, u64)] = &[("s", NANOS_PER_SECOND), ("ms", 1_000_000), ("us", 1_000), ("ns", 1)];
const RATE_UNITS: &[(&str, u64)] = &[("Gbps", 1_000_000_000), ("Mbps", 1_000_000), ("kbps", 1_000), ("bps", 1)];
const BYTE_UNITS: &[(&str, u64)] = &[
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
    ("B", 1),
];

/// Why a text is not a quantity; says what is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseQuantityError(String);

impl fmt::Display for ParseQuantityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ParseQuantityError {}

/// Reads `<number><unit>` as a whole number of the smallest unit, rounded to nearest.
///
/// `what` and `example` name the quantity in the error.
pub fn parse_quantity(text: &str, units: &[(&str, u64)], what: &str, example: &str) -> Result<u64, ParseQuantityError> {
    let fail = |why: String| {
        let names: Vec<&str> = units.iter().map(|(name, _)| *name).collect();
        Err(ParseQuantityError(format!(
            "{text:?} is not {what}: {why}; write a number and a unit such as {example:?} (units: {})",
            names.join(", ")
        )))
    };
    let trimmed = text.trim();
    let split = trimmed.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(trimmed.len());
    let (number, unit) = (trimmed[..split].trim_end(), &trimmed[split..]);
    let Some((_, scale)) = units.iter().find(|(name, _)| *name == unit) else {
        return fail(if unit.is_empty() { "the unit is missing".into() } else { format!("unknown unit {unit:?}") });
    };
    if number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit() || b == b'.' || b == b'_') {
        return fail(format!("{number:?} is not a number of at least zero"));
    }
    let Ok(value) = number.replace('_', "").parse::<f64>() else {
        return fail(format!("{number:?} is not a number"));
    };
    let scaled = libm::round(value * *scale as f64);
    // 2^63 keeps every sum of two quantities representable.
    if scaled >= 9.2e18 { fail("it is too large".into()) } else { Ok(scaled as u64) }
}

/// Prints `value` in the largest of `units` that divides it.
pub fn format_quantity(value: u64, units: &[(&str, u64)], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let exact = units.iter().find(|(_, scale)| value >= *scale && value.is_multiple_of(*scale));
    let (name, scale) = exact.or(if value == 0 { units.first() } else { units.last() }).copied().unwrap_or(("", 1));
    write!(f, "{}{name}", value / scale)
}

impl FromStr for Span {
    type Err = ParseQuantityError;
    fn from_str(text: &str) -> Result<Span, ParseQuantityError> {
        parse_quantity(text, TIME_UNITS, "a time", "20ms").map(Span)
    }
}

impl FromStr for Rate {
    type Err = ParseQuantityError;
    fn from_str(text: &str) -> Result<Rate, ParseQuantityError> {
        let bits = parse_quantity(text, RATE_UNITS, "a rate", "10Mbps")?;
        Rate::from_bps(bits).ok_or_else(|| ParseQuantityError(format!("{text:?} is not a rate: it must be above zero")))
    }
}

impl FromStr for Bytes {
    type Err = ParseQuantityError;
    fn from_str(text: &str) -> Result<Bytes, ParseQuantityError> {
        parse_quantity(text, BYTE_UNITS, "a size", "1460B").map(Bytes)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:09}", self.0 / NANOS_PER_SECOND, self.0 % NANOS_PER_SECOND)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        format_quantity(self.0, TIME_UNITS, f)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Decimal units only: a byte count reads as what is on the wire.
        match self.0 {
            0 => f.write_str("0B"),
            bytes => format_quantity(bytes, &[("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000), ("B", 1)], f),
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        format_quantity(self.0, RATE_UNITS, f)
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}s")
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}B", self.0)
    }
}

impl fmt::Debug for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Reads a quantity from its text form; a bare number is refused, since its unit would be a guess.
fn from_text<'de, D: Deserializer<'de>, T: FromStr<Err = ParseQuantityError>>(
    d: D,
    example: &str,
) -> Result<T, D::Error> {
    struct Text<'e>(&'e str);
    impl serde::de::Visitor<'_> for Text<'_> {
        type Value = String;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "a text with a unit such as {:?}", self.0)
        }
        fn visit_str<E>(self, text: &str) -> Result<String, E> {
            Ok(text.to_owned())
        }
    }
    d.deserialize_any(Text(example))?.parse().map_err(D::Error::custom)
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Span, D::Error> {
        from_text(d, "20ms")
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Bytes, D::Error> {
        from_text(d, "1460B")
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Rate, D::Error> {
        from_text(d, "10Mbps")
    }
}

impl JsonSchema for Span {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Time".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "description": "a time with unit s, ms, us or ns", "examples": ["20ms"]})
    }
}

impl JsonSchema for Bytes {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Size".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "description": "a size with unit B, kB, MB, GB, KiB, MiB or GiB", "examples": ["1460B"]})
    }
}

impl JsonSchema for Rate {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Rate".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "description": "a rate above zero with unit bps, kbps, Mbps or Gbps", "examples": ["10Mbps"]})
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}
