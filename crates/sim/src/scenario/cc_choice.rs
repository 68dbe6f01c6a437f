//! The part of the schema that names a congestion control.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tcp::cc::{Algorithm, CcConfig, Value};
use tcp::settings::ProfileName;

use crate::foreign::ForeignKind;

use super::error::{ScenarioError, join};
use super::near::did_you_mean;
use super::renamed;

/// What is not part of the engine, by the name that a scenario writes.
#[derive(Clone, Debug, Default)]
pub struct Further {
    /// Algorithms that are not listed in `tcp`.
    pub algorithms: BTreeMap<String, &'static Algorithm>,
    /// Whole transports.
    pub transports: BTreeMap<String, &'static ForeignKind>,
}

/// A choice of congestion control: `"cubic"`, or `{ name = "cubic", profile = "linux", beta = 0.7 }`.
#[derive(Clone, PartialEq, Debug)]
pub struct CcChoice {
    /// The algorithm. With a colon it is a class in Python, FILE:CLASS, written under `python`; a file FILE.so holds machine
    /// code and is written under `native`.
    pub name: String,
    /// Its profile. Default: the one of the connection's profile if it exists, otherwise the first of the algorithm; that of a
    /// branch of the kernel (`bbr3` `linux`) is asked for by name.
    pub profile: Option<String>,
    /// Parameters that differ from the profile.
    pub params: BTreeMap<String, Value>,
    /// The algorithm itself, if it is not one of the list.
    given: Option<&'static Algorithm>,
}

impl CcChoice {
    /// The algorithm of that name with nothing changed.
    pub fn named(name: &str) -> CcChoice {
        CcChoice { name: name.to_owned(), profile: None, params: BTreeMap::new(), given: None }
    }

    /// The key that the name is written under. No listed name has a colon or a dot; FILE.js:CLASS is a class of a page.
    fn key(&self) -> &'static str {
        if self.name.contains(':') && !self.name.contains(".js:") {
            "python"
        } else if self.name.ends_with(".so") {
            "native"
        } else {
            "name"
        }
    }

    /// Means the algorithm of `further` that it names, if there is one.
    pub(super) fn give(&mut self, further: &Further) {
        self.given = further.algorithms.get(&self.name).copied();
    }

    /// Looks the choice up; the error's path starts at `path`.
    pub(super) fn resolve(&self, path: &str, connection: ProfileName) -> Result<CcConfig, ScenarioError> {
        // A connection in the form of a stack takes the algorithm in its form for that stack, if it has one.
        let algorithm = self.given.or_else(|| tcp::cc::find(&self.name));
        let own = algorithm.and_then(|a| a.of_stack(connection.of_algorithms())).map(|p| p.name);
        let profile = self.profile.as_deref().or(own);
        let params: Vec<(String, Value)> = self.params.iter().map(|(k, v)| (k.clone(), *v)).collect();
        let chosen = match algorithm {
            Some(algorithm) => CcConfig::of(algorithm, profile, &params),
            None => CcConfig::by_name(&self.name, profile, &params),
        };
        chosen.map_err(|e| {
            let bare = self.params.is_empty() && self.profile.is_none();
            let field = match e.field.as_str() {
                "name" if bare => "",
                "name" => self.key(),
                field => field,
            };
            let unknown = algorithm.is_none() && e.field == "name";
            let hint = did_you_mean(&self.name, tcp::cc::ALGORITHMS.iter().map(|known| known.name)).filter(|_| unknown);
            let old = if field == "profile" { self.profile.as_deref().unwrap_or_default() } else { field };
            let message = renamed::of_algorithm(&self.name, old).unwrap_or(e.message);
            ScenarioError { path: join(path, field), message, hint }
        })
    }

    pub(super) fn of(choice: &CcConfig) -> CcChoice {
        CcChoice {
            name: choice.algorithm.name.to_owned(),
            profile: Some(choice.profile.to_owned()),
            params: choice.values.iter().map(|(k, v)| (k.to_owned(), v)).collect(),
            given: Some(choice.algorithm).filter(|algorithm| tcp::cc::find(algorithm.name).is_none()),
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
                ("name" | "python" | "native", Json::String(_)) if !choice.name.is_empty() => {
                    return Err(wrong("`name`, `python` and `native` exclude each other"));
                }
                ("name" | "python" | "native", Json::String(name)) => choice.name = name,
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
        map.serialize_entry(self.key(), &self.name)?;
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
            "description": "an algorithm: \"cubic\", or { name = \"cubic\", profile = \"linux\", beta = 0.7 }; `tonopah algorithms` lists names, profiles and parameters. \
        One written in Python is { python = \"my_algorithm.py:MyCC\", beta = 0.7 }: a class in a file, whose path starts at the folder of the scenario file, \
        with its parameters (docs/python-algorithm.md). One in C or Rust is { native = \"libmine.so\", beta = 0.7 } (docs/native.md)",
            "anyOf": [
                {"type": "string"},
                {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "profile": {"type": "string"}},
                 "additionalProperties": {"type": ["number", "boolean"]}},
                {"type": "object", "required": ["python"], "properties": {"python": {"type": "string"}, "profile": {"type": "string"}},
                 "additionalProperties": {"type": ["number", "boolean"]}},
                {"type": "object", "required": ["native"], "properties": {"native": {"type": "string"}, "profile": {"type": "string"}},
                 "additionalProperties": {"type": ["number", "boolean"]}}
            ]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Scenario;
    use super::*;

    const STANDING: Algorithm = Algorithm { name: "my.py:Standing", ..*tcp::cc::ALGORITHMS[0] };

    fn flow_with(cc: &str) -> Scenario {
        let text = format!(
            r#"{{"duration": "1s", "network": {{"kind": "dumbbell", "pairs": 1}},
                "flow": [{{"from": "left0", "to": "right0", "cc": {cc}}}]}}"#
        );
        Scenario::from_json(&text).unwrap()
    }

    #[test]
    fn a_class_in_python_is_run_only_if_it_is_given() {
        let scenario = flow_with(r#"{"python": "my.py:Standing", "beta": 0.7}"#);
        let error = crate::expand(&scenario, 1).unwrap_err();
        assert!(error.path == "flow[0].cc.python" && error.message.contains("my.py:Standing"), "{error}");
        let algorithms = BTreeMap::from([("my.py:Standing".to_owned(), &STANDING)]);
        let given = Further { algorithms, ..Further::default() };
        let expanded = crate::expand(&scenario.with(&given), 1).unwrap();
        let text = serde_json::to_string(&expanded.flow[0].tcp.cc).unwrap();
        assert!(text.starts_with(r#"{"python":"my.py:Standing","profile":"rfc","beta":0.7"#), "{text}");
        // The world with everything spelled out is a scenario of its own.
        let again = Scenario::from_json(&serde_json::to_string(&expanded).unwrap()).unwrap();
        assert_eq!(crate::expand(&again.with(&given), 1).unwrap(), expanded);
    }

    #[test]
    fn an_unknown_algorithm_comes_with_the_nearest_ones() {
        for (written, hint) in [
            (r#""CUBIC""#, Some("did you mean cubic?")),
            (r#""bbrv3""#, Some("did you mean bbr3?")),
            (r#"{"name": "bbr2"}"#, Some("did you mean bbr or bbr3?")),
            (r#""sprout""#, None),
            (r#"{"name": "cubic", "betta": 0.7}"#, None),
        ] {
            let error = crate::expand(&flow_with(written), 1).unwrap_err();
            assert_eq!(error.hint.as_deref(), hint, "{error}");
        }
    }

    #[test]
    fn a_choice_has_one_name() {
        let both = r#"{"name": "reno", "python": "my.py:Standing"}"#;
        let error = serde_json::from_str::<CcChoice>(both).unwrap_err().to_string();
        assert!(error.contains("exclude each other"), "{error}");
        assert_eq!(flow_with(r#""my.py:Standing""#).flow[0].cc, Some(CcChoice::named("my.py:Standing")));
        let native = flow_with(r#"{"native": "libmine.so", "beta": 0.7}"#);
        assert_eq!(crate::expand(&native, 1).unwrap_err().path, "flow[0].cc.native");
    }
}
