//! The part of the schema that describes CAKE.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use tcp::units::{Bytes, Rate, Span};

use super::parse::{carried, read};
use super::shaper::{AutorateDef, RateChangeAt};

/// CAKE (Linux, sch_cake): shaper, tins by DSCP, queues of flows with fairness among hosts, COBALT, a filter of ACKs. It marks
/// ECN-capable packets.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CakeDef {
    /// Rate of the shaper. Default: none, packets leave at the rate of the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// The RTT to be ready for: COBALT's interval.
    pub rtt: Span,
    /// Acceptable standing queueing delay. Default: rtt / 20.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Span>,
    /// Classes of traffic.
    pub tins: Tins,
    /// What the flows and hosts are among which the rate is shared.
    pub isolate: Isolate,
    /// Pure ACKs that later ones replace are dropped.
    pub ack_filter: AckFilterMode,
    /// The shaper stands behind the bottleneck: what is dropped has used its rate.
    pub ingress: bool,
    /// Memory of what may wait, counted as Linux does: a packet with its buffer, 2304 B for one of 1500 B. Default: with a rate the larger of 4 MiB and what it carries in 4 rtt, at most 10 240 packets of
    /// 1514 B.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
    /// What a packet takes on the line that the rate is that of.
    pub overhead: Overhead,
    /// Time between wake-ups of the shaper (a timer, a softirq), while it holds packets back: they leave at its multiples.
    /// Default: exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wake: Option<Span>,
    /// Rates from given times on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<RateChangeAt>,
    /// A controller that sets the rate by delay and load, as cake-autorate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub autorate: Option<Box<AutorateDef>>,
}

impl Default for CakeDef {
    fn default() -> CakeDef {
        CakeDef {
            rate: None,
            rtt: Span::from_millis(100),
            target: None,
            tins: Tins::default(),
            isolate: Isolate::default(),
            ack_filter: AckFilterMode::default(),
            ingress: false,
            memory: None,
            overhead: Overhead::Raw,
            wake: None,
            changes: Vec::new(),
            autorate: None,
        }
    }
}

impl CakeDef {
    /// With the values that the scenario leaves out.
    pub fn with_defaults(&self) -> CakeDef {
        const LEAST: u64 = 4 << 20;
        const MOST: u64 = 10_240 * 1514;
        let shaped = |rate: Rate| LEAST.max((rate.as_bps() as f64 / 8.0 * self.rtt.as_secs_f64() * 4.0) as u64);
        CakeDef {
            target: self.target.or(Some(self.rtt / 20)),
            memory: self.memory.or(Some(Bytes(self.rate.map_or(MOST, shaped).min(MOST)))),
            ..self.clone()
        }
    }
}

/// Classes of traffic by DSCP.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Tins {
    /// One.
    Besteffort,
    /// Bulk (CS1, LE) with a sixteenth of the rate, best effort, voice (EF, VA, CS6, CS7, TOS4) with a quarter.
    #[default]
    Diffserv3,
    /// Bulk, best effort, video (CS2, CS3, AF2x to AF4x, TOS4) with half of the rate, voice (EF, VA, CS4 to CS7) with a quarter.
    Diffserv4,
}

/// What CAKE's flows are, and among which hosts the rate is shared.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Isolate {
    /// One queue.
    None,
    /// A queue for each sending node.
    Src,
    /// A queue for each receiving node.
    Dst,
    /// A queue for each pair of nodes.
    Hosts,
    /// A queue for each direction of a flow.
    Flows,
    /// A queue for each direction of a flow, and equal shares for sending nodes.
    DualSrc,
    /// A queue for each direction of a flow, and equal shares for receiving nodes.
    DualDst,
    /// A queue for each direction of a flow, and equal shares for nodes of both kinds.
    #[default]
    Triple,
}

/// Which ACKs are filtered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AckFilterMode {
    /// None.
    #[default]
    Off,
    /// All but two of those that wait.
    On,
    /// All but one.
    Aggressive,
}

/// What a packet takes on a line.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Overhead {
    /// Its size on the link of the queue.
    Raw,
    /// The size of its IP datagram in a frame.
    Framed(FramingDef),
}

/// The framing of a line.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FramingDef {
    /// Bytes added to an IP datagram, -64 to 256.
    pub bytes: i64,
    /// The least size of a frame, up to 256 B.
    #[serde(default)]
    pub mpu: u64,
    /// Cells.
    #[serde(default)]
    pub framing: Cells,
}

impl FramingDef {
    /// The size on the line of an IP datagram (tc-cake(8)).
    pub fn on_line(&self, size: Bytes) -> Bytes {
        let framed = size.0.saturating_add_signed(self.bytes).max(self.mpu);
        Bytes(match self.framing {
            Cells::None => framed,
            Cells::Atm => framed.div_ceil(48) * 53,
            Cells::Ptm => framed + framed.div_ceil(64),
        })
    }
}

/// How a line cuts frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cells {
    /// It does not.
    #[default]
    None,
    /// Into cells of 48 B, each 53 B on the line.
    Atm,
    /// With one byte more for every 64 of a frame.
    Ptm,
}

/// Keywords of tc-cake(8) with their bytes, least size and cells.
const KEYWORDS: [(&str, i64, u64, Cells); 7] = [
    ("ethernet", 38, 84, Cells::None),
    ("docsis", 18, 64, Cells::None),
    ("bridged_ptm", 22, 0, Cells::Ptm),
    ("pppoe_ptm", 30, 0, Cells::Ptm),
    ("pppoe_vcmux", 32, 0, Cells::Atm),
    ("pppoe_llcsnap", 40, 0, Cells::Atm),
    ("conservative", 48, 0, Cells::Atm),
];

impl Overhead {
    fn from_text(text: &str) -> Result<Overhead, String> {
        let (keyword, vlan) = text.strip_suffix(" ether_vlan").map_or((text, 0), |keyword| (keyword, 4));
        if keyword == "raw" && vlan == 0 {
            return Ok(Overhead::Raw);
        }
        let found = KEYWORDS.iter().find(|(known, ..)| *known == keyword);
        let known = || KEYWORDS.map(|(known, ..)| known).join(", ");
        found
            .map(|(_, bytes, mpu, framing)| {
                Overhead::Framed(FramingDef { bytes: bytes + vlan, mpu: *mpu, framing: *framing })
            })
            .ok_or_else(|| {
                format!("{text:?} is not an overhead; known: raw, {}, each but raw also with \" ether_vlan\"", known())
            })
    }
}

impl<'de> Deserialize<'de> for Overhead {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Overhead, D::Error> {
        match Value::deserialize(d)? {
            Value::String(text) => Overhead::from_text(&text).map_err(D::Error::custom),
            table => read(table).map(Overhead::Framed).map_err(|e| D::Error::custom(carried(&e))),
        }
    }
}

impl Serialize for Overhead {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Overhead::Raw => s.serialize_str("raw"),
            Overhead::Framed(framing) => framing.serialize(s),
        }
    }
}

impl JsonSchema for Overhead {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Overhead".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let framing = generator.subschema_for::<FramingDef>();
        json_schema!({
            "description": "`raw`, the size on the link; a keyword of tc-cake(8): `ethernet`, `docsis`, `bridged_ptm`, `pppoe_ptm`, \
        `pppoe_vcmux`, `pppoe_llcsnap`, `conservative`, each also with ` ether_vlan` behind it; or { bytes = 44, mpu = 84, framing = \"atm\" }",
            "anyOf": [{"type": "string"}, framing],
        })
    }
}
