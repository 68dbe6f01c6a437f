//! The part of the schema that says which of several paths a packet over links takes.

use schemars::{JsonSchema, Schema, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tcp::units::Span;

use super::tagged::tagged_enum;

tagged_enum! {
    /// Which path a packet takes. All routes have the fewest hops.
    #[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
    pub enum PathRouting ("a routing") {
        /// One path for all: of equally short ones that by the neighbour whose name comes first, numbers in it as numbers.
        "single" => Single(SinglePath),
        /// Equal-cost multipath (RFC 2992): every router spreads what it forwards over all its equally short paths.
        "ecmp" => Ecmp(EcmpDef),
    }
}

/// One path for all.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SinglePath {
    /// Flows with a path of their own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pins: Vec<PinDef>,
}

/// Equal-cost multipath. Of n next hops in the order of their names a packet takes number hash(key XOR salt) mod n.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EcmpDef {
    /// What stays on one path: `"flow"`, each direction of it by itself; `"packet"`, nothing: the paths to a destination take
    /// turns; or `{ kind = "flowlet", gap = "500us" }`, packets without a gap between them.
    pub by: SpreadBy,
    /// Salt of the hash.
    pub salt: Salt,
    /// Flows with a path of their own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pins: Vec<PinDef>,
}

tagged_enum! {
    /// What stays on one of several equal paths.
    #[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
    #[schemars(transform = with_text_form)]
    pub enum SpreadBy ("what stays on one path", text: SpreadBy::from_text, such as "flow") {
        /// A flow, each direction by itself.
        "flow" => Flow(NoKeys),
        /// Nothing: packets to a destination take the paths in turn at each router.
        "packet" => Packet(NoKeys),
        /// A flowlet: packets of a flow that follow each other without a gap.
        "flowlet" => Flowlet(FlowletDef),
    }
}

/// The short form, which serde's attributes cannot describe.
fn with_text_form(schema: &mut Schema) {
    let text = json_schema!({"enum": ["flow", "packet"], "description": "The kind alone."});
    if let Some(serde_json::Value::Array(forms)) = schema.get_mut("oneOf") {
        forms.push(text.to_value());
    }
}

impl SpreadBy {
    fn from_text(text: &str) -> Result<SpreadBy, String> {
        let kind = serde_json::json!({ "kind": text });
        serde_json::from_value(kind).map_err(|error| error.to_string())
    }
}

impl Default for SpreadBy {
    fn default() -> SpreadBy {
        SpreadBy::Flow(NoKeys {})
    }
}

/// Nothing to choose.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoKeys {}

/// Packets of a flow that follow each other without a gap. A router remembers 4096 of them; two with the same hash share a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowletDef {
    /// After a longer pause at a router the path is drawn anew.
    pub gap: Span,
}

/// Salt of the hash.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Salt {
    /// Each router has its own.
    #[default]
    Router,
    /// All have the same. What the first router sends one way the next sends the same way again: paths stay unused
    /// (polarisation).
    Common,
}

/// A flow with a path of its own.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PinDef {
    /// Name of the flow.
    pub flow: String,
    /// Nodes that its packets pass in this order, and its ACKs in the opposite order; in between they take the shortest path.
    pub via: Via,
}

/// A flow takes another path from some time on.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MoveDef {
    /// Time of the move.
    pub at: Span,
    /// Name of the flow. Its connection stays, as in a QUIC migration; TCP sees nothing but another path.
    pub flow: String,
    /// Nodes that it passes from now on.
    pub via: Via,
}

/// Nodes that a path passes, in order; one may be written as a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Via(pub Vec<String>);

impl Serialize for Via {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(s)
    }
}

impl<'de> Deserialize<'de> for Via {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Via, D::Error> {
        match serde_json::Value::deserialize(d)? {
            serde_json::Value::String(one) => Ok(Via(vec![one])),
            value => match serde_json::from_value(value.clone()) {
                Ok(names) => Ok(Via(names)),
                Err(_) => {
                    Err(serde::de::Error::custom(format!("{value} is not the name of a node or an array of names")))
                }
            },
        }
    }
}

impl JsonSchema for Via {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Via".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Names of nodes in order, such as [\"spine0\"]; a text is one name.",
            "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
        })
    }
}

impl PathRouting {
    /// Flows with a path of their own.
    pub fn pins(&self) -> &[PinDef] {
        match self {
            PathRouting::Single(single) => &single.pins,
            PathRouting::Ecmp(ecmp) => &ecmp.pins,
        }
    }
}
