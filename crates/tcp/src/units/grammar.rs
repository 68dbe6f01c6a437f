//! The one grammar of quantities in text: `<number><unit>`, with the units in a table for each kind.
//!
//! A number has an optional sign, digits with `_` between them, a decimal point and an exponent; spaces around it and before
//! the unit are allowed. A bare number is refused, since its unit would be a guess.

use std::fmt;
use std::str::FromStr;

use schemars::{Schema, json_schema};
use serde::{Deserializer, de};

/// Why a text is not a quantity; says what is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseQuantityError(pub String);

impl fmt::Display for ParseQuantityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ParseQuantityError {}

/// A unit, and how a number in it becomes one in the base unit of its kind.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Unit {
    /// As written.
    pub name: &'static str,
    scale: Scale,
    /// Whether values are printed in it.
    printed: bool,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Scale {
    /// Base units in one of this.
    Linear(f64),
    /// Decibels above this many base units.
    Decibel(f64),
}

impl Unit {
    /// A unit of `scale` base units, in which values are also printed.
    pub const fn new(name: &'static str, scale: f64) -> Unit {
        Unit { name, scale: Scale::Linear(scale), printed: true }
    }

    /// A unit of `scale` base units that is read and never printed.
    pub const fn read_only(name: &'static str, scale: f64) -> Unit {
        Unit { name, scale: Scale::Linear(scale), printed: false }
    }

    /// Decibels above `reference` base units; read and never printed.
    pub const fn decibel(name: &'static str, reference: f64) -> Unit {
        Unit { name, scale: Scale::Decibel(reference), printed: false }
    }

    /// A number of this unit in base units.
    fn to_base(self, number: f64) -> f64 {
        match self.scale {
            Scale::Linear(factor) => number * factor,
            Scale::Decibel(reference) => reference * libm::pow(10.0, number / 10.0),
        }
    }

    /// How many whole base units it is, if values are printed in it.
    fn whole(self) -> Option<u64> {
        match self.scale {
            Scale::Linear(factor) if self.printed => Some(factor as u64),
            _ => None,
        }
    }
}

/// Which numbers a kind of quantity has, in base units.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Domain {
    /// Whole numbers of at least zero; others are rounded to nearest.
    Rounded,
    /// Whole numbers above zero; others are rounded to nearest.
    RoundedPositive,
    /// Whole numbers of at least zero, written as such.
    Counted,
    /// All finite numbers.
    Real,
    /// Numbers of at least zero.
    NonNegative,
    /// Numbers above zero.
    Positive,
}

/// A kind of quantity: its units and the numbers that it has.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct QuantityKind {
    /// Its name, for who chooses among kinds.
    pub name: &'static str,
    /// What errors call it, with its article.
    pub noun: &'static str,
    /// A value, for errors and the schema.
    pub example: &'static str,
    /// Its units, the largest first.
    pub units: &'static [Unit],
    /// The numbers allowed.
    pub domain: Domain,
    /// Base units in the SI unit: 1e9 for durations, whose base is the nanosecond.
    pub base_per_si: f64,
}

impl QuantityKind {
    /// Number and unit of a text, before they are multiplied.
    ///
    /// # Errors
    ///
    /// What is not a number, or has none of this kind's units.
    pub fn split(&self, text: &str) -> Result<(f64, Unit), ParseQuantityError> {
        let (number, name) = split(text);
        let Some(unit) = self.units.iter().find(|unit| unit.name == name) else {
            return Err(self.error(
                text,
                &if name.is_empty() { "the unit is missing".into() } else { format!("unknown unit {name:?}") },
            ));
        };
        if number.is_empty() {
            return Err(self.error(text, "the number is missing"));
        }
        match number.replace('_', "").parse::<f64>() {
            Ok(value) => Ok((value, *unit)),
            Err(_) => Err(self.error(text, &format!("{number:?} is not a number"))),
        }
    }

    /// Reads a text as a number of base units.
    ///
    /// # Errors
    ///
    /// What is not a number with one of the units, or a number that this kind does not have.
    pub fn parse(&self, text: &str) -> Result<f64, ParseQuantityError> {
        let (number, unit) = self.split(text)?;
        let exact = unit.to_base(number);
        let value = match self.domain {
            Domain::Rounded | Domain::RoundedPositive => libm::round(exact),
            Domain::Counted if exact != libm::round(exact) => return Err(self.error(text, "it must be a whole number")),
            _ => exact,
        };
        // 2^63 keeps every sum of two whole quantities representable.
        let limit = match self.domain {
            Domain::Rounded | Domain::RoundedPositive | Domain::Counted => 9.2e18,
            Domain::Real | Domain::NonNegative | Domain::Positive => f64::INFINITY,
        };
        match self.domain {
            Domain::RoundedPositive | Domain::Positive if value <= 0.0 => {
                Err(self.error(text, "it must be above zero"))
            }
            Domain::Rounded | Domain::Counted | Domain::NonNegative if number < 0.0 => {
                Err(self.error(text, "it must not be below zero"))
            }
            _ if value.abs() >= limit => Err(self.error(text, "it is too large")),
            _ => Ok(value),
        }
    }

    /// Reads a text as a whole number of base units.
    ///
    /// # Errors
    ///
    /// As [`QuantityKind::parse`].
    pub fn parse_whole(&self, text: &str) -> Result<u64, ParseQuantityError> {
        self.parse(text).map(|value| value as u64)
    }

    /// Reads a text as a number in SI units.
    ///
    /// # Errors
    ///
    /// As [`QuantityKind::parse`].
    pub fn parse_si(&self, text: &str) -> Result<f64, ParseQuantityError> {
        self.parse(text).map(|value| value / self.base_per_si)
    }

    /// Prints a whole `value` in the largest unit that divides it.
    pub fn format(&self, value: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let printed = || self.units.iter().filter_map(|unit| unit.whole().map(|scale| (unit.name, scale)));
        let exact = printed().find(|(_, scale)| value >= *scale && value.is_multiple_of(*scale));
        let (name, scale) = exact.or_else(|| printed().next_back()).unwrap_or(("", 1));
        write!(f, "{}{name}", value / scale)
    }

    /// What the schema says of it: "a rate with unit Gbps, Mbps, kbps or bps".
    pub fn description(&self) -> String {
        let names: Vec<&str> = self.units.iter().map(|unit| unit.name).collect();
        match names.split_last() {
            Some((last, [])) => format!("{} with unit {last}", self.noun),
            Some((last, others)) => format!("{} with unit {} or {last}", self.noun, others.join(", ")),
            None => self.noun.to_owned(),
        }
    }

    fn error(&self, text: &str, why: &str) -> ParseQuantityError {
        let names: Vec<&str> = self.units.iter().map(|unit| unit.name).collect();
        ParseQuantityError(format!(
            "{text:?} is not {}: {why}; write a number and a unit such as {:?} (units: {})",
            self.noun,
            self.example,
            names.join(", ")
        ))
    }
}

/// The number at the start of a text, and the unit after it; either may be empty.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let mantissa = text.find(|c| !matches!(c, '0'..='9' | '.' | '_' | '+' | '-')).unwrap_or(text.len());
    let end = mantissa + exponent_length(&text[mantissa..]);
    (&text[..end], text[end..].trim_start())
}

/// Length of an exponent such as `e-3`; zero if the text begins with something else.
fn exponent_length(text: &str) -> usize {
    let Some(digits) = text.strip_prefix(['e', 'E']) else { return 0 };
    let digits = digits.strip_prefix(['+', '-']).unwrap_or(digits);
    let rest = digits.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() == digits.len() { 0 } else { text.len() - rest.len() }
}

/// Reads a value from its text; anything but a text is refused with `example`.
///
/// # Errors
///
/// What is not a text, or not one of `T`.
pub fn from_text<'de, D: Deserializer<'de>, T: FromStr<Err: fmt::Display>>(d: D, example: &str) -> Result<T, D::Error> {
    struct Text<'e>(&'e str);
    impl de::Visitor<'_> for Text<'_> {
        type Value = String;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "a text with a unit such as {:?}", self.0)
        }
        fn visit_str<E>(self, text: &str) -> Result<String, E> {
            Ok(text.to_owned())
        }
    }
    d.deserialize_any(Text(example))?.parse().map_err(de::Error::custom)
}

/// Schema of a value that is written as text.
pub fn text_schema(description: &str, example: &str) -> Schema {
    json_schema!({"type": "string", "description": description, "examples": [example]})
}

/// Implements `Deserialize`, `Serialize` and `JsonSchema` by way of `FromStr` and `Display`. (A function cannot: the traits are
/// foreign, so one implementation for all types of one trait is refused.)
#[macro_export]
macro_rules! text_quantity {
    ($($name:ty, $schema:literal, $example:expr, $description:expr;)*) => {$(
        impl<'de> ::serde::Deserialize<'de> for $name {
            fn deserialize<D: ::serde::Deserializer<'de>>(d: D) -> Result<$name, D::Error> {
                $crate::units::from_text(d, $example)
            }
        }
        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.collect_str(self)
            }
        }
        impl ::schemars::JsonSchema for $name {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                $schema.into()
            }
            fn json_schema(_: &mut ::schemars::SchemaGenerator) -> ::schemars::Schema {
                $crate::units::text_schema(&$description, $example)
            }
        }
    )*};
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTH: QuantityKind = QuantityKind {
        name: "length",
        noun: "a distance",
        example: "250m",
        units: &[Unit::new("km", 1e3), Unit::new("m", 1.0), Unit::decibel("dBm", 1e-3)],
        domain: Domain::Real,
        base_per_si: 1.0,
    };

    #[test]
    fn numbers_have_signs_points_underscores_and_exponents() {
        for (text, value) in
            [("1.5km", 1500.0), (" -2 m ", -2.0), ("+1_000m", 1000.0), ("1e3m", 1000.0), ("2.5E-1km", 250.0)]
        {
            assert_eq!(LENGTH.parse(text), Ok(value), "{text}");
        }
        assert_eq!(LENGTH.parse("10dBm"), Ok(0.01));
        assert_eq!(LENGTH.split("1.5km").map(|(number, unit)| (number, unit.name)), Ok((1.5, "km")));
    }

    #[test]
    fn what_is_not_a_quantity_is_refused() {
        for (text, why) in [
            ("250", "the unit is missing"),
            ("m", "the number is missing"),
            ("2 miles", "unknown unit \"miles\""),
            ("1.2.3m", "is not a number"),
            ("1-2m", "is not a number"),
            ("2em", "unknown unit \"em\""),
            ("nanm", "unknown unit"),
            ("1e999m", "too large"),
            ("", "the unit is missing"),
        ] {
            let error = LENGTH.parse(text).unwrap_err().to_string();
            assert!(error.contains(why) && error.contains("(units: km, m, dBm)"), "{error}");
        }
    }

    #[test]
    fn a_kind_has_the_numbers_of_its_domain() {
        let of = |domain| QuantityKind { domain, ..LENGTH };
        assert!(of(Domain::Positive).parse("0m").unwrap_err().0.contains("above zero"));
        assert!(of(Domain::RoundedPositive).parse("0.4m").unwrap_err().0.contains("above zero"));
        assert!(of(Domain::NonNegative).parse("-1m").unwrap_err().0.contains("below zero"));
        assert!(of(Domain::Counted).parse("1.5m").unwrap_err().0.contains("whole number"));
        assert_eq!(of(Domain::Rounded).parse("1.5m"), Ok(2.0));
        assert!(of(Domain::Rounded).parse("1e19m").unwrap_err().0.contains("too large"));
    }

    #[test]
    fn the_schema_names_the_units() {
        assert_eq!(LENGTH.description(), "a distance with unit km, m or dBm");
    }
}
