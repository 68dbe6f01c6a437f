//! The part of the schema that describes applications which talk: their ends answer each other.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use tcp::units::{Bytes, Span};

use super::page_preset::PagePreset;
use super::period::PeriodDef;
use super::tagged::tagged_enum;

/// A transfer of a known size.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TransferDef {
    /// Bytes of the transfer. With `direction = { kind = "both", … }` the sizes stand there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes>,
    /// Who connects, and who sends.
    #[serde(default)]
    pub direction: DirectionDef,
    /// The request that `direction = "down"` begins with.
    #[serde(default = "request_size")]
    pub request: Bytes,
}

tagged_enum! {
    /// Who connects, and who sends.
    #[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
    pub enum DirectionDef ("a direction", text: direction_of, such as "down") {
        /// `from` connects and sends.
        "up" => Up(NoKeysDef),
        /// `to` connects and sends a request; `from` sends.
        "down" => Down(NoKeysDef),
        /// `from` connects; both send on the two halves of the connection.
        "both" => Both(BothDef),
    }
}

impl Default for DirectionDef {
    fn default() -> DirectionDef {
        DirectionDef::Up(NoKeysDef {})
    }
}

/// Nothing to set.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoKeysDef {}

/// Data on both halves of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BothDef {
    /// Bytes that `from` sends. Default: `size`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub up: Option<Bytes>,
    /// Bytes that `to` sends. Default: `size`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub down: Option<Bytes>,
}

fn direction_of(text: &str) -> Result<DirectionDef, String> {
    match text {
        "up" => Ok(DirectionDef::Up(NoKeysDef {})),
        "down" => Ok(DirectionDef::Down(NoKeysDef {})),
        "both" => Ok(DirectionDef::Both(BothDef::default())),
        _ => Err(format!("{text:?} is not a direction; it is \"up\", \"down\" or \"both\"")),
    }
}

/// Requests and their answers, one after the other, over connections that stay open. `to` is the client, `from` the server.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RequestResponseDef {
    /// How many requests.
    pub requests: u32,
    /// Size of a request.
    pub request: Bytes,
    /// Size of an answer.
    pub response: Bytes,
    /// Sizes of the answers in turn, in place of `response`: after the last the first again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub responses: Vec<Bytes>,
    /// What of a request its application writes first, one size for each write; the rest follows in a write of its own. Default: all
    /// in one write. Nagle's rule holds back a second write that is not a full segment until the first is acknowledged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub request_writes: Vec<Bytes>,
    /// The same of an answer: a head, then the body.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub response_writes: Vec<Bytes>,
    /// How long the client waits between an answer and the next request. Default: not at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub think: Option<PeriodDef>,
    /// How long the server works on an answer. Default: not at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_time: Option<PeriodDef>,
    /// Requests on a connection, before the client closes it and opens another.
    pub per_connection: PerConnection,
}

impl Default for RequestResponseDef {
    fn default() -> RequestResponseDef {
        RequestResponseDef {
            requests: 10,
            request: request_size(),
            response: Bytes(30_000),
            responses: Vec::new(),
            request_writes: Vec::new(),
            response_writes: Vec::new(),
            think: None,
            server_time: None,
            per_connection: PerConnection::All,
        }
    }
}

/// Size of a request, where the scenario does not say another.
fn request_size() -> Bytes {
    Bytes(400)
}

/// Requests on a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PerConnection {
    /// All of them.
    All,
    /// So many.
    Requests(u32),
}

impl Serialize for PerConnection {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            PerConnection::All => s.serialize_str("all"),
            PerConnection::Requests(number) => s.serialize_u32(*number),
        }
    }
}

impl<'de> Deserialize<'de> for PerConnection {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<PerConnection, D::Error> {
        let value = Value::deserialize(d)?;
        let number = value.as_u64().and_then(|number| u32::try_from(number).ok()).filter(|number| *number > 0);
        match number {
            Some(number) => Ok(PerConnection::Requests(number)),
            None if value == "all" => Ok(PerConnection::All),
            None => Err(D::Error::custom(format!("{value} is not a number of requests from 1, or \"all\""))),
        }
    }
}

impl JsonSchema for PerConnection {
    fn schema_name() -> Cow<'static, str> {
        "PerConnection".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let (number, all) = (json_schema!({"type": "integer", "minimum": 1}), json_schema!({"const": "all"}));
        json_schema!({"anyOf": [number, all], "description": "A number of requests, or \"all\"."})
    }
}

/// Partition and aggregate: `to`, the aggregator, asks all servers at once, and again when the last answer has come.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct IncastDef {
    /// Number of servers: the first of the nodes that `from` names, which may have a `*`. Default: all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub servers: Option<u32>,
    /// Bytes of all answers of a round together. Default, without `each`: 1 MB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<Bytes>,
    /// Bytes of each answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub each: Option<Bytes>,
    /// Size of a request.
    pub request: Bytes,
    /// Number of rounds.
    pub rounds: u32,
    /// Each request of a round leaves later by a uniform random time up to this.
    pub jitter: Span,
    /// Time between the last answer of a round and the next round.
    pub gap: Span,
}

impl Default for IncastDef {
    fn default() -> IncastDef {
        IncastDef {
            servers: None,
            total: None,
            each: None,
            request: request_size(),
            rounds: 1000,
            jitter: Span::ZERO,
            gap: Span::ZERO,
        }
    }
}

/// A page of the web: a document, and the objects that it names. `to` is the browser, `from` the server.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PageDef {
    /// What stands for the keys that are left out: `"web2010"`, `"web2024"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<PagePreset>,
    /// Objects besides the document. Default: 70 (HTTP Archive 2024: 71 requests in the median of desktop pages).
    pub objects: u32,
    /// Size of each object. Default: lognormal with sigma 1.5, scaled so that they have a mean of 37.46 kB (HTTP Archive 2024:
    /// 2652 kB for the whole page).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_size: Option<Bytes>,
    /// Size of the whole page, by which the objects are scaled; a document that is larger is cut. Default: what follows from
    /// the other keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes>,
    /// Size of the document.
    pub html: Bytes,
    /// Size of a request.
    pub request: Bytes,
    /// Names that objects are spread over by turns, the document on the first: each is looked up and has connections of its own. All
    /// are at `from`.
    pub hosts: u32,
    /// Connections that the browser opens at most to each host, with `protocol = "h1"`.
    pub connections: u32,
    /// Time to look up the name of a host, before its first connection.
    pub dns: Span,
    /// Round trips of the handshake of TLS on each connection: 1 for TLS 1.3 (RFC 8446), 2 for TLS 1.2 (RFC 5246).
    pub tls: u32,
    /// How long the server works on each answer. Default: not at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_time: Option<PeriodDef>,
    /// Levels: the document names the objects of the first, these those of the next, each known when all of the level before
    /// are there. All levels have equally many.
    pub depth: u32,
    /// Time between the last object of a level and the requests for the next.
    pub parse: Span,
    /// How objects are fetched.
    pub protocol: PageProtocol,
}

impl Default for PageDef {
    fn default() -> PageDef {
        PageDef {
            preset: None,
            objects: 70,
            object_size: None,
            size: None,
            html: Bytes(30_000),
            request: request_size(),
            hosts: 1,
            connections: 6,
            dns: Span::ZERO,
            tls: 0,
            server_time: None,
            depth: 2,
            parse: Span::ZERO,
            protocol: PageProtocol::H1,
        }
    }
}

/// How a browser fetches objects.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PageProtocol {
    /// HTTP/1.1: one after the other on each of several connections.
    #[default]
    H1,
    /// HTTP/2: all at once on one connection, in frames of 16 kB by turns.
    H2,
}
