//! Quantities of the simulator as types: time, spans, byte counts and rates.
//!
//! All are unsigned integers, so that equal inputs give equal bits on every machine. A duration is rounded once,
//! when it is made; a transmission time is rounded up. Text forms ("20ms", "10Mbps", "1460B") are what a scenario
//! file holds; `Display` prints the shortest exact one and `FromStr` reads it back.

use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An instant: nanoseconds since the start of the run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(u64);

/// A duration in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(u64);

/// A number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(pub u64);

/// A rate in bits per second, never zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

const NANOS_PER_SECOND: u64 = 1_000_000_000;

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);

    /// The instant `nanos` nanoseconds after the start.
    pub const fn from_nanos(nanos: u64) -> Time {
        Time(nanos)
    }

    /// Nanoseconds since the start.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds since the start.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NANOS_PER_SECOND as f64
    }

    /// How long ago `earlier` was; zero if it lies in the future.
    pub const fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Span = Span(0);

    /// A span of `nanos` nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Span {
        Span(nanos)
    }

    /// A span of `micros` microseconds.
    pub const fn from_micros(micros: u64) -> Span {
        Span(micros * 1_000)
    }

    /// A span of `millis` milliseconds.
    pub const fn from_millis(millis: u64) -> Span {
        Span(millis * 1_000_000)
    }

    /// A span of `secs` seconds, rounded to the nearest nanosecond; negative or undefined values give zero.
    pub fn from_secs_f64(secs: f64) -> Span {
        Span(libm::round(secs * NANOS_PER_SECOND as f64) as u64)
    }

    /// Length in nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Length in whole microseconds, rounded down.
    pub const fn as_micros(self) -> u64 {
        self.0 / 1_000
    }

    /// Length in seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NANOS_PER_SECOND as f64
    }

    /// The absolute difference of two spans.
    pub const fn abs_diff(self, other: Span) -> Span {
        Span(self.0.abs_diff(other.0))
    }

    /// `self - other`, or zero.
    pub const fn saturating_sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }

    /// `self * factor`, or the longest span there is.
    pub const fn saturating_mul(self, factor: u64) -> Span {
        Span(self.0.saturating_mul(factor))
    }
}

impl Bytes {
    /// Nothing.
    pub const ZERO: Bytes = Bytes(0);
    /// More than any window: "not limited".
    pub const MAX: Bytes = Bytes(u64::MAX);

    /// The count as a float.
    pub const fn as_f64(self) -> f64 {
        self.0 as f64
    }

    /// `self - other`, or zero.
    pub const fn saturating_sub(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_sub(other.0))
    }

    /// `self + other`, or [`Bytes::MAX`].
    pub const fn saturating_add(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_add(other.0))
    }

    /// How many whole segments of `mss` bytes.
    pub const fn segments(self, mss: Bytes) -> u64 {
        self.0 / mss.0
    }
}

impl Rate {
    /// `bits` per second; `None` for zero, since no transmission would ever end.
    pub const fn from_bps(bits: u64) -> Option<Rate> {
        if bits == 0 { None } else { Some(Rate(bits)) }
    }

    /// Bits per second.
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// How long `size` bytes occupy the transmitter, rounded up to a nanosecond (networks.md §2).
    pub fn transmission_time(self, size: Bytes) -> Span {
        // 64 bits hold any packet; the wide path keeps the method total.
        if let Some(bit_nanos) = size.0.checked_mul(8 * NANOS_PER_SECOND) {
            return Span(bit_nanos.div_ceil(self.0));
        }
        let bit_nanos = u128::from(size.0) * u128::from(8 * NANOS_PER_SECOND);
        Span(u64::try_from(bit_nanos.div_ceil(u128::from(self.0))).unwrap_or(u64::MAX))
    }
}

impl Add<Span> for Time {
    type Output = Time;
    fn add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Span) {
        *self = *self + other;
    }
}

impl Mul<u64> for Span {
    type Output = Span;
    fn mul(self, factor: u64) -> Span {
        self.saturating_mul(factor)
    }
}

impl Div<u64> for Span {
    type Output = Span;
    fn div(self, divisor: u64) -> Span {
        Span(self.0 / divisor)
    }
}

impl Add for Bytes {
    type Output = Bytes;
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0 + other.0)
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Bytes) {
        self.0 += other.0;
    }
}

impl Sub for Bytes {
    type Output = Bytes;
    fn sub(self, other: Bytes) -> Bytes {
        Bytes(self.0 - other.0)
    }
}

impl SubAssign for Bytes {
    fn sub_assign(&mut self, other: Bytes) {
        self.0 -= other.0;
    }
}

impl Mul<u64> for Bytes {
    type Output = Bytes;
    fn mul(self, factor: u64) -> Bytes {
        Bytes(self.0.saturating_mul(factor))
    }
}

impl Div<u64> for Bytes {
    type Output = Bytes;
    fn div(self, divisor: u64) -> Bytes {
        Bytes(self.0 / divisor)
    }
}

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
        format_quantity(self.0, &[("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000), ("B", 1)], f)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transmission_times_of_networks_3_4() {
        let ten_mbps: Rate = "10Mbps".parse().unwrap();
        assert_eq!(ten_mbps.transmission_time(Bytes(1040)), Span::from_nanos(832_000));
        let gbps: Rate = "1Gbps".parse().unwrap();
        assert_eq!(gbps.transmission_time(Bytes(1500)), Span::from_nanos(12_000));
    }

    #[test]
    fn transmission_time_is_rounded_up() {
        let rate = Rate::from_bps(3).unwrap();
        assert_eq!(rate.transmission_time(Bytes(1)).as_nanos(), 2_666_666_667);
    }

    #[test]
    fn texts_are_read_exactly_and_printed_back() {
        for (text, nanos, printed) in [
            ("20ms", 20_000_000, "20ms"),
            ("0.01ms", 10_000, "10us"),
            ("1.5 s", 1_500_000_000, "1500ms"),
            ("0s", 0, "0s"),
        ] {
            let span: Span = text.parse().unwrap();
            assert_eq!(span.as_nanos(), nanos);
            assert_eq!(span.to_string(), printed);
        }
        assert_eq!("100kB".parse::<Bytes>().unwrap(), Bytes(100_000));
        assert_eq!("64KiB".parse::<Bytes>().unwrap(), Bytes(65_536));
        assert_eq!("2.5Mbps".parse::<Rate>().unwrap().to_string(), "2500kbps");
    }

    #[test]
    fn wrong_texts_are_refused_with_the_allowed_units() {
        for text in ["20", "ms", "-1s", "20 mbps", "1e400s", "", "NaNs", "99999999999999999999s"] {
            let error = text.parse::<Span>().unwrap_err().to_string();
            assert!(error.contains("\"20ms\"") && error.contains("s, ms, us, ns"), "{error}");
        }
        assert!("0bps".parse::<Rate>().unwrap_err().to_string().contains("above zero"));
    }
}
