//! The part of the schema that describes satellites.

use schemars::{JsonSchema, Schema, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use tcp::units::Span;

use super::link::LinkOptions;
use super::parse::{MARK, read};
use super::tagged::tagged_enum;

/// Satellites on circular orbits, with links between them, and terminals on the ground. A key left out takes the value
/// of the preset; docs/satellite.md has the presets.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Constellation {
    /// What the other keys start from.
    pub preset: SpacePreset,
    /// `ns2` repeats ns-2.35: its constants of the Earth, its choice of satellites at random times, its latitude limit,
    /// and what it does to packets that wait at a hand-over.
    pub profile: SpaceProfile,
    /// Who sends and receives, besides `nodes`: names of cities, or tables with name, lat_deg and lon_deg.
    pub terminals: Vec<TerminalDef>,
    /// So many terminals more, n0, n1 and so on, each at a place drawn with the seed; a larger number keeps the places of a
    /// smaller one.
    pub nodes: u64,
    /// Where they are. Default: on land from 60° south to 60° north.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<GroundDef>,
    /// Flows to make from `traffic`; flow i goes from a terminal of the first half to the one as far into the second half,
    /// or, if there are `nodes`, between two terminals drawn with the seed.
    pub flows: u64,
    /// How the planes lie.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<Pattern>,
    /// Planes. Presets: iridium 6, starlink 72, geo 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planes: Option<u64>,
    /// Satellites in each plane. Presets: iridium 11, starlink 22, geo 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub satellites: Option<u64>,
    /// Height above the ground, km. Presets: iridium 780, starlink 550, geo 35786.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub altitude_km: Option<f64>,
    /// Inclination of the planes, degrees. Presets: iridium 86.4, starlink 53, geo 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inclination_deg: Option<f64>,
    /// Longitude over which the first plane crosses the equator northwards at time 0, degrees; for a geostationary satellite
    /// its own longitude. Default: 0, for geo -30.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_deg: Option<f64>,
    /// From one plane's node to the next, degrees. Default: 360 / planes; for a star 31.6 with six planes, else 180 / planes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_spacing_deg: Option<f64>,
    /// How far the satellites of a plane are ahead, degrees. In a star it is every second plane, by half the distance of
    /// its satellites unless given; in a delta it is each plane against the one before, by 360 F / (planes × satellites)
    /// with F = 17 for starlink and 1 else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase_deg: Option<f64>,
    /// Least elevation at which a terminal uses a satellite, degrees. Presets: iridium 8.2, starlink 25, geo 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elevation_deg: Option<f64>,
    /// Links between planes are off while one of their ends is beyond this latitude, degrees. Default: 90, which is never;
    /// for iridium 70, and 60 in profile `ns2`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latitude_limit_deg: Option<f64>,
    /// In a star, links across the seam, where the first and the last plane run against each other. Default: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seam: Option<bool>,
    /// A link across the seam is off while its ends are closer than this in longitude, degrees. Default: 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seam_longitude_deg: Option<f64>,
    /// Which satellite a terminal takes. Default: `longest_remaining`; for starlink `highest`; in profile `ns2` `ns2`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gsl_policy: Option<GslPolicy>,
    /// How often a terminal looks at its satellite. Default: 10 s, for starlink 15 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handover_interval: Option<Span>,
    /// Each look comes up to so much earlier or later, at random. Default: 0 s; in profile `ns2` half of the interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handover_jitter: Option<Span>,
    /// Packets that wait for a link which is taken down take the new route; otherwise they are lost. Those on their way
    /// arrive. Default: true; in profile `ns2` false, as measured there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handover_requeue: Option<bool>,
    /// The terminals of a satellite share its downlink, one queue and one transmitter; otherwise each has its own there.
    /// Default: false; in profile `ns2` true, where a satellite has one interface to the ground.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_downlink: Option<bool>,
    /// How often links between satellites are looked at. Default: 10 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub isl_interval: Option<Span>,
    /// Routes are found again at every change of a link, and this often. Default: 1 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route_interval: Option<Span>,
    /// How long the constellation has been running when the run starts: another time of its day. Default: 0 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_at: Option<Span>,
    /// From terminals to satellites; no delay, reverse or changes. Presets: 1.5 Mbps, starlink 20 Mbps, geo 2 Mbps; queue of
    /// 50 packets.
    pub uplink: LinkOptions,
    /// From a satellite to a terminal. Presets: 1.5 Mbps, starlink
    /// 100 Mbps, geo 2 Mbps; queue of 50 packets.
    pub downlink: LinkOptions,
    /// Between satellites, each direction. Presets: 25 Mbps, starlink 10 Gbps; queue of 50 packets, starlink 1000.
    pub isl: LinkOptions,
}

/// A constellation by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SpacePreset {
    /// 66 satellites in six polar planes at 780 km, with the link rates of ns-2's example.
    #[default]
    Iridium,
    /// 1584 satellites in 72 inclined planes at 550 km; rates are placeholders.
    Starlink,
    /// One geostationary satellite, a relay.
    Geo,
}

/// Whose numbers and habits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SpaceProfile {
    /// Today's constants; nothing is lost for convenience.
    #[default]
    Std,
    /// As ns-2.35.
    Ns2,
}

/// How planes lie to each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// Walker star: planes over half of the equator, neighbours run alike but for the seam.
    Star,
    /// Walker delta: planes all around the equator.
    Delta,
    /// One plane that turns with the Earth.
    Geo,
}

/// Which satellite a terminal takes when it looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GslPolicy {
    /// The same as long as it is in view, then the next of its plane, else the highest.
    Ns2,
    /// The highest at every look.
    Highest,
    /// The same as long as it is in view, then the one that will stay longest.
    LongestRemaining,
}

/// A terminal on the ground.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(transform = with_text_form)]
pub enum TerminalDef {
    /// A city by its name.
    City(String),
    /// A place of one's own.
    Place(PlaceDef),
}

tagged_enum! {
    /// Where terminals are that have no place of their own; every square kilometre has the same chance.
    #[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
    pub enum GroundDef ("a placement") {
        /// On land.
        "land" => Land(LatitudeDef),
        /// Anywhere, at sea too.
        "globe" => Globe(LatitudeDef),
    }
}

impl Default for GroundDef {
    fn default() -> GroundDef {
        GroundDef::Land(LatitudeDef::default())
    }
}

/// A belt around the Earth.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LatitudeDef {
    /// Its southern edge: latitude, degrees.
    pub south_deg: f64,
    /// Its northern edge.
    pub north_deg: f64,
}

impl Default for LatitudeDef {
    fn default() -> LatitudeDef {
        LatitudeDef { south_deg: -60.0, north_deg: 60.0 }
    }
}

/// A place on the ground.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlaceDef {
    /// Its name; unique.
    pub name: String,
    /// Latitude, degrees, north is positive.
    pub lat_deg: f64,
    /// Longitude, degrees, east is positive.
    pub lon_deg: f64,
}

fn with_text_form(schema: &mut Schema) {
    let place = schema.get("anyOf").and_then(|forms| forms.get(1)).cloned();
    let text = json_schema!({"type": "string", "description": "A city by its name, like \"Berkeley\"."}).to_value();
    schema.insert("anyOf".into(), [Some(text), place].into_iter().flatten().collect());
}

impl<'de> Deserialize<'de> for TerminalDef {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<TerminalDef, D::Error> {
        match serde_json::Value::deserialize(d)? {
            serde_json::Value::String(name) => Ok(TerminalDef::City(name)),
            table @ serde_json::Value::Object(_) => read(table)
                .map(TerminalDef::Place)
                .map_err(|e| D::Error::custom(format!("{}{MARK}{}", e.path, e.message))),
            other => Err(D::Error::custom(format!(
                "{other} is not a terminal; write \"Berkeley\" or {{ name = \"ship\", lat_deg = 10, lon_deg = -30 }}"
            ))),
        }
    }
}
