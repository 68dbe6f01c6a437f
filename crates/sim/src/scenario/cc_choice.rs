//! The part of the schema that names a congestion control.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tcp::cc::{Choice, Value};
use tcp::config::Profile;

use super::parse::{ScenarioError, join};

/// A choice of congestion control: `"cubic"`, or `{ name = "cubic", profile = "linux", beta = 0.7 }`.
#[derive(Clone, PartialEq, Debug)]
pub struct CcChoice {
    /// The algorithm.
    pub name: String,
    /// Its historical form; that of the connection's profile if it has one, else the first it lists, unless given.
    pub profile: Option<String>,
    /// Parameters that differ from the profile.
    pub params: BTreeMap<String, Value>,
}

impl CcChoice {
    /// The algorithm of that name with nothing changed.
    pub fn named(name: &str) -> CcChoice {
        CcChoice { name: name.to_owned(), profile: None, params: BTreeMap::new() }
    }

    /// Looks the choice up; the error's path starts at `path`.
    pub(super) fn resolve(&self, path: &str, connection: Profile) -> Result<Choice, ScenarioError> {
        // A connection in the form of a stack takes the algorithm in its form for that stack, if it has one.
        let own = tcp::cc::find(&self.name).and_then(|a| a.profile(connection.of_algorithms())).map(|p| p.name);
        let profile = self.profile.as_deref().or(own);
        let params: Vec<(String, Value)> = self.params.iter().map(|(k, v)| (k.clone(), *v)).collect();
        Choice::new(&self.name, profile, &params).map_err(|e| {
            let field =
                if e.field == "name" && self.params.is_empty() && self.profile.is_none() { "" } else { &e.field };
            ScenarioError::new(join(path, field), e.message)
        })
    }

    pub(super) fn of(choice: &Choice) -> CcChoice {
        CcChoice {
            name: choice.algorithm.name.to_owned(),
            profile: Some(choice.profile.to_owned()),
            params: choice.values.iter().map(|(k, v)| (k.to_owned(), v)).collect(),
        }
    }
}

impl<'de> Deserialize<'de> for CcChoice {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<CcChoice, D::Error> {
        use serde_json::Value as Json;
        let wrong =
            |what: &str| D::Error::custom(format!("{what}; write \"cubic\" or {{ name = \"cubic\", beta = 0.7 }}"));
        let table = match Json::deserialize(d)? {
            Json::String(name) => return Ok(CcChoice::named(&name)),
            Json::Object(table) => table,
            other => return Err(wrong(&format!("{other} is not a congestion control"))),
        };
        let mut choice = CcChoice::named("");
        for (key, value) in table {
            match (key.as_str(), value) {
                ("name", Json::String(name)) => choice.name = name,
                ("profile", Json::String(profile)) => choice.profile = Some(profile),
                (_, Json::Number(number)) => {
                    choice.params.insert(key, Value::Number(number.as_f64().unwrap_or(f64::NAN)));
                }
                (_, Json::Bool(flag)) => {
                    choice.params.insert(key, Value::Flag(flag));
                }
                (_, other) => return Err(wrong(&format!("{key} = {other} is not a number, true or false"))),
            }
        }
        if choice.name.is_empty() { Err(wrong("missing key `name`")) } else { Ok(choice) }
    }
}

impl Serialize for CcChoice {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        if self.profile.is_none() && self.params.is_empty() {
            return s.serialize_str(&self.name);
        }
        let mut map = s.serialize_map(None)?;
        map.serialize_entry("name", &self.name)?;
        if let Some(profile) = &self.profile {
            map.serialize_entry("profile", profile)?;
        }
        for (key, value) in &self.params {
            match value {
                Value::Number(x) => map.serialize_entry(key, x)?,
                Value::Flag(x) => map.serialize_entry(key, x)?,
            }
        }
        map.end()
    }
}

impl JsonSchema for CcChoice {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "CongestionControl".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "an algorithm: \"cubic\", or { name = \"cubic\", profile = \"linux\", beta = 0.7 }; `tonopah algorithms` lists names, profiles and parameters",
            "anyOf": [
                {"type": "string"},
                {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "profile": {"type": "string"}},
                 "additionalProperties": {"type": ["number", "boolean"]}}
            ]
        })
    }
}
