//! The part of the schema that describes the measurement of responsiveness under load.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// Responsiveness under working conditions (draft-ietf-ippm-responsiveness): connections that load the path, and small exchanges
/// that are timed, on connections of their own and on those of the load. Its result is in round trips per minute.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ResponsivenessDef {
    /// Connections that load the path in the end; one more begins every 5 s.
    pub flows: u32,
    /// Which way the load goes.
    pub direction: LoadDirection,
    /// Pairs of exchanges per second, from the first second on: one on a new connection, one on a connection of the load. Fewer if
    /// they would take more than 5 % of what the load achieves.
    pub probes: ProbeRate,
}

impl Default for ResponsivenessDef {
    fn default() -> ResponsivenessDef {
        ResponsivenessDef { flows: 16, direction: LoadDirection::Down, probes: ProbeRate(10.0) }
    }
}

/// Which way the load goes, and who connects.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LoadDirection {
    /// `to` is the client and connects; `from` sends.
    Down,
    /// `from` is the client, connects and sends.
    Up,
    /// `from` is the client; both send on each connection.
    Both,
}

/// Probes per second, written like `"10Hz"`: above 0 and up to 100.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ProbeRate(pub f64);

impl Serialize for ProbeRate {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(&format_args!("{}Hz", self.0))
    }
}

impl<'de> Deserialize<'de> for ProbeRate {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<ProbeRate, D::Error> {
        let value = Value::deserialize(d)?;
        let number = value.as_str().and_then(|text| text.trim().strip_suffix("Hz")?.trim_end().parse::<f64>().ok());
        match number {
            Some(rate) if rate > 0.0 && rate <= 100.0 => Ok(ProbeRate(rate)),
            _ => Err(D::Error::custom(format!(
                "{value} is not a rate of probes such as \"10Hz\", above 0Hz and up to 100Hz"
            ))),
        }
    }
}

impl JsonSchema for ProbeRate {
    fn schema_name() -> Cow<'static, str> {
        "ProbeRate".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "description": "Probes per second, such as \"10Hz\", up to 100Hz."})
    }
}
