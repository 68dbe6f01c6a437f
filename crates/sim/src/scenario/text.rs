//! Values with more than one kind of unit, and their text forms.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tcp::units::{Bytes, Rate, Span};

/// An amount of data: packets (`"33p"`), bytes (`"64kB"`) or `"unlimited"`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Amount {
    /// So many packets (segments, for a window).
    Packets(u64),
    /// So many bytes.
    Bytes(Bytes),
    /// Any.
    Unlimited,
}

/// A rate of an application: packets (`"200pps"`) or bits (`"1Mbps"`).
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum PacketRate {
    /// Packets per second.
    Packets(f64),
    /// Payload bits per second.
    Bits(Rate),
}

/// How often a series is sampled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Every {
    /// At this distance.
    Span(Span),
    /// At each change.
    Change,
}

impl FromStr for Amount {
    type Err = String;
    fn from_str(text: &str) -> Result<Amount, String> {
        if text == "unlimited" {
            return Ok(Amount::Unlimited);
        }
        if let Some(number) = text.strip_suffix('p') {
            let wrong = |_| format!("{text:?} is not a number of packets; write such as \"33p\"");
            return number.trim().parse().map(Amount::Packets).map_err(wrong);
        }
        text.parse().map(Amount::Bytes).map_err(|e| format!("{e}, packets such as \"33p\", or \"unlimited\""))
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Amount::Packets(n) => write!(f, "{n}p"),
            Amount::Bytes(bytes) => write!(f, "{bytes}"),
            Amount::Unlimited => f.write_str("unlimited"),
        }
    }
}

impl FromStr for PacketRate {
    type Err = String;
    fn from_str(text: &str) -> Result<PacketRate, String> {
        let Some(number) = text.strip_suffix("pps") else {
            return text
                .parse()
                .map(PacketRate::Bits)
                .map_err(|e| format!("{e}, or packets per second such as \"200pps\""));
        };
        match number.trim().parse::<f64>() {
            Ok(rate) if rate > 0.0 && rate <= 1e9 => Ok(PacketRate::Packets(rate)),
            _ => {
                Err(format!("{text:?} is not a packet rate; write a number above 0 and up to 1e9, such as \"200pps\""))
            }
        }
    }
}

impl fmt::Display for PacketRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PacketRate::Packets(rate) => write!(f, "{rate}pps"),
            PacketRate::Bits(rate) => write!(f, "{rate}"),
        }
    }
}

impl FromStr for Every {
    type Err = String;
    fn from_str(text: &str) -> Result<Every, String> {
        if text == "change" {
            return Ok(Every::Change);
        }
        match text.parse::<Span>() {
            Ok(span) if span > Span::ZERO => Ok(Every::Span(span)),
            Ok(_) => Err("a sampling distance must be above zero".into()),
            Err(e) => Err(format!("{e}, or \"change\"")),
        }
    }
}

impl fmt::Display for Every {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Every::Span(span) => write!(f, "{span}"),
            Every::Change => f.write_str("change"),
        }
    }
}

/// Reads a text with a unit; anything else is refused with an example.
pub(super) fn from_text<'de, D: Deserializer<'de>, T: FromStr<Err = String>>(
    d: D,
    example: &str,
) -> Result<T, D::Error> {
    match serde_json::Value::deserialize(d)? {
        serde_json::Value::String(text) => text.parse().map_err(D::Error::custom),
        other => Err(D::Error::custom(format!("{other} is not a text with a unit such as {example:?}"))),
    }
}

pub(super) fn text_schema(description: &str, example: &str) -> Schema {
    json_schema!({"type": "string", "description": description, "examples": [example]})
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Amount, D::Error> {
        from_text(d, "33p")
    }
}

impl<'de> Deserialize<'de> for PacketRate {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<PacketRate, D::Error> {
        from_text(d, "200pps")
    }
}

impl<'de> Deserialize<'de> for Every {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Every, D::Error> {
        from_text(d, "10ms")
    }
}

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl Serialize for PacketRate {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl Serialize for Every {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl JsonSchema for Amount {
    fn schema_name() -> Cow<'static, str> {
        "Amount".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        text_schema("packets such as \"33p\", a size such as \"64kB\", or \"unlimited\"", "33p")
    }
}

impl JsonSchema for PacketRate {
    fn schema_name() -> Cow<'static, str> {
        "PacketRate".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        text_schema("packets per second such as \"200pps\", or payload bits such as \"1Mbps\"", "200pps")
    }
}

impl JsonSchema for Every {
    fn schema_name() -> Cow<'static, str> {
        "Every".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        text_schema("a time such as \"10ms\", or \"change\"", "10ms")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_and_printed_back() {
        for text in ["33p", "64kB", "unlimited"] {
            assert_eq!(text.parse::<Amount>().unwrap().to_string(), text);
        }
        for text in ["200pps", "2.5pps", "1Mbps"] {
            assert_eq!(text.parse::<PacketRate>().unwrap().to_string(), text);
        }
        for text in ["10ms", "change"] {
            assert_eq!(text.parse::<Every>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn wrong_texts_are_refused() {
        assert!("-3p".parse::<Amount>().unwrap_err().contains("33p"));
        assert!("many".parse::<Amount>().unwrap_err().contains("unlimited"));
        assert!("0pps".parse::<PacketRate>().unwrap_err().contains("above 0"));
        assert!("0ms".parse::<Every>().unwrap_err().contains("above zero"));
    }
}
