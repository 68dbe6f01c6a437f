//! A list of points in time, as traces of mahimahi have it.

use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Whole numbers of milliseconds: written inline, or those of a file, which are shown as the SHA-256 of the file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Times {
    /// `sha256:` and the digest of the file that they come from.
    pub digest: Option<String>,
    /// The numbers.
    pub millis: Vec<u32>,
}

impl FromStr for Times {
    type Err = String;

    fn from_str(text: &str) -> Result<Times, String> {
        let mut words = text.split_ascii_whitespace().peekable();
        let digest = words.next_if(|word| word.starts_with("sha256:")).map(str::to_owned);
        let number = |word: &str| {
            let shown: String = word.chars().take(20).collect();
            word.parse().map_err(|_| format!("{shown:?} is not a whole number of milliseconds up to {}", u32::MAX))
        };
        Ok(Times { digest, millis: words.map(number).collect::<Result<_, _>>()? })
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(digest) = &self.digest {
            return f.write_str(digest);
        }
        for (index, time) in self.millis.iter().enumerate() {
            write!(f, "{}{time}", if index > 0 { " " } else { "" })?;
        }
        Ok(())
    }
}

impl Serialize for Times {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Times {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Times, D::Error> {
        String::deserialize(d)?.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Times {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Times".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "description": "Whole numbers of milliseconds, such as \"0 1 1 5\"."})
    }
}
