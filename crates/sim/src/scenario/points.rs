//! Rates over time: a list of points; of a file with many rows text, which is shown as the SHA-256 of the file.

use std::fmt;
use std::ops::Deref;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tcp::units::{Rate, Span};

/// A rate that may be 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RateOrZero(pub Option<Rate>);

impl RateOrZero {
    /// Bits per second.
    pub fn as_bps(self) -> u64 {
        self.0.map_or(0, Rate::as_bps)
    }
}

impl Serialize for RateOrZero {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Some(rate) => rate.serialize(s),
            None => s.serialize_str("0bps"),
        }
    }
}

impl<'de> Deserialize<'de> for RateOrZero {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<RateOrZero, D::Error> {
        let value = serde_json::Value::deserialize(d)?;
        let number = value.as_str().and_then(|text| text.trim().strip_suffix("bps")).map(str::trim);
        if number.is_some_and(|number| number.trim_end_matches(['k', 'M', 'G']).trim().parse() == Ok(0.0)) {
            return Ok(RateOrZero(None));
        }
        Rate::deserialize(value).map(|rate| RateOrZero(Some(rate))).map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for RateOrZero {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "RateOrZero".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Rate::json_schema(generator)
    }
}

/// Times, and the rates from then on.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Points {
    /// `sha256:` and the digest of the file that they come from, if they were written as text: then pairs of nanoseconds and bit/s.
    digest: Option<String>,
    rows: Vec<(Span, RateOrZero)>,
}

impl Deref for Points {
    type Target = [(Span, RateOrZero)];

    fn deref(&self) -> &Self::Target {
        &self.rows
    }
}

impl Points {
    fn from_text(text: &str) -> Result<Points, String> {
        let mut words = text.split_ascii_whitespace().peekable();
        let digest = words.next_if(|word| word.starts_with("sha256:")).map(str::to_owned);
        let mut number = || {
            let word = words.next()?;
            let shown: String = word.chars().take(20).collect();
            Some(word.parse::<u64>().map_err(|_| format!("{shown:?} is not a whole number")))
        };
        let mut rows = Vec::new();
        while let Some(at) = number() {
            let bps = number().ok_or("a time without a rate")??;
            rows.push((Span::from_nanos(at?), RateOrZero(Rate::from_bps(bps))));
        }
        Ok(Points { digest, rows })
    }
}

impl Serialize for Points {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match &self.digest {
            Some(digest) => digest.serialize(s),
            None => self.rows.serialize(s),
        }
    }
}

struct TextOrList;

impl<'de> Visitor<'de> for TextOrList {
    type Value = Points;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of times and rates, such as [[\"0s\", \"1Mbps\"]]")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Points, E> {
        Points::from_text(text).map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Points, A::Error> {
        Ok(Points { digest: None, rows: Vec::deserialize(SeqAccessDeserializer::new(list))? })
    }
}

impl<'de> Deserialize<'de> for Points {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Points, D::Error> {
        d.deserialize_any(TextOrList)
    }
}

impl JsonSchema for Points {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Points".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Vec::<(Span, RateOrZero)>::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_lists_are_the_same_points_and_text_is_shown_by_its_digest() {
        let list: Points = serde_json::from_str(r#"[["0s", "1Mbps"], ["1ms", "0bps"]]"#).unwrap();
        let text: Points = serde_json::from_str(r#""sha256:ab 0 1000000 1000000 0""#).unwrap();
        assert_eq!(*list, *text);
        assert_eq!(serde_json::to_string(&text).unwrap(), r#""sha256:ab""#);
        assert_eq!(serde_json::to_string(&list).unwrap(), r#"[["0s","1Mbps"],["1ms","0bps"]]"#);
        for wrong in [r#""0""#, r#""0 x""#, r#""-1 5""#, "5"] {
            assert!(serde_json::from_str::<Points>(wrong).is_err(), "{wrong}");
        }
    }
}
