//! The part of the schema that describes satellites.

use schemars::{JsonSchema, Schema, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use tcp::units::Span;

use super::link::LinkOptions;
use super::parse::{carried, read};
use super::tagged::tagged_enum;

/// Satellites on circular orbits, with links between them, and terminals on the ground. A key left out takes the value
/// of the preset; docs/satellite.md has the presets.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Constellation {
    /// Set of defaults of the other keys.
    pub preset: ConstellationPreset,
    /// `ns2` repeats ns-2.35: its constants of the Earth, its selection of satellites at random times, its latitude limit,
    /// and its treatment of queued packets at a handover.
    pub profile: ConstellationProfile,
    /// Terminals, besides `nodes`: names of cities, or tables with name, lat_deg and lon_deg.
    pub terminals: Vec<TerminalDef>,
    /// Names of those terminals that are gateways: they have antennas for all satellites that their users use. With `gsl_policy`
    /// `together`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gateways: Vec<String>,
    /// Number of further terminals n0, n1, …, each at a random place; a larger number keeps the places of a smaller one.
    pub nodes: u64,
    /// Placement of `nodes`. Default: on land from 60° south to 60° north.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<GroundDef>,
    /// Flows to generate from `traffic`; flow i goes from a terminal of the first half to the one as far into the second half,
    /// or, if there are `nodes`, between two random terminals.
    pub flows: u64,
    /// Arrangement of the orbital planes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<Pattern>,
    /// Orbital planes. Presets: iridium 6, starlink 72, geo 1.
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
    /// Longitude of the ascending node of the first plane at time 0, degrees; for a geostationary satellite its longitude.
    /// Default: 0, for geo -30.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_deg: Option<f64>,
    /// Spacing of the ascending nodes of neighbouring planes, degrees. Default: 360 / planes; for a star 31.6 with six planes,
    /// otherwise 180 / planes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_spacing_deg: Option<f64>,
    /// Phase offset of the satellites of a plane, degrees. In a star of every second plane; default: half the spacing of its
    /// satellites. In a delta of each plane against the one before; default: 360 F / (planes × satellites), F = 17 for starlink
    /// and 1 otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase_deg: Option<f64>,
    /// Minimum elevation at which a terminal uses a satellite, degrees. Presets: iridium 8.2, starlink 25, geo 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elevation_deg: Option<f64>,
    /// Links between planes are down while one of their ends is beyond this latitude, degrees. Default: 90, which is never;
    /// for iridium 70, and 60 in profile `ns2`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latitude_limit_deg: Option<f64>,
    /// In a star, links across the seam, where the first and the last plane counter-rotate. Default: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seam: Option<bool>,
    /// A link across the seam is down while its ends are closer than this in longitude, degrees. Default: 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seam_longitude_deg: Option<f64>,
    /// Selection of the serving satellite. Default: `longest_remaining`; for starlink `together`; in profile `ns2` `ns2`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gsl_policy: Option<GslPolicy>,
    /// Interval at which a terminal checks its serving satellite. Default: 10 s, for starlink 15 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handover_interval: Option<Span>,
    /// Largest random shift of each check, earlier or later. Default: 0 s; in profile `ns2` half of the interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handover_jitter: Option<Span>,
    /// Time after a handover without a link to the new satellite; what is sent meanwhile is lost. Default: 0 s; for starlink 40 ms, the
    /// middle of the 30 to 50 ms by which round trips grow there (Huston, APNIC blog, 2024-05-17), in profile `ns2` 0 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handover_outage: Option<Span>,
    /// Packets queued for a link that goes down at a handover take the new route; otherwise they are lost. Packets in flight
    /// arrive. Default: true; in profile `ns2` false, as measured there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handover_requeue: Option<bool>,
    /// The terminals of a satellite share its downlink, one queue and one transmitter; otherwise each has a downlink of its own.
    /// Default: false; in profile `ns2` true, where a satellite has one interface to the ground.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_downlink: Option<bool>,
    /// Update interval of the links between satellites. Default: 10 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub isl_interval: Option<Span>,
    /// Interval at which routes are recomputed, besides at every change of a link. Default: 1 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route_interval: Option<Span>,
    /// Time of the constellation at the start of the run. Default: 0 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_at: Option<Span>,
    /// From terminals to satellites; no delay, reverse or changes. Presets: 1.5 Mbps, starlink 20 Mbps, geo 2 Mbps; queue of
    /// 50 packets; jitter of medium access: starlink 0 to 1.33 ms, geo 0 to 26.5 ms; none in profile `ns2`, and where
    /// one of the two has its own.
    pub uplink: LinkOptions,
    /// From a satellite to a terminal. Presets: 1.5 Mbps, starlink 100 Mbps, geo 2 Mbps; queue of 50 packets;
    /// jitter: starlink 0 to 1.33 ms.
    pub downlink: LinkOptions,
    /// Between satellites, each direction. Presets: 25 Mbps, starlink 10 Gbps; queue of 50 packets, starlink 1000.
    pub isl: LinkOptions,
}

/// A constellation by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConstellationPreset {
    /// 66 satellites in six polar planes at 780 km, with the link rates of ns-2's example.
    #[default]
    Iridium,
    /// 1584 satellites in 72 inclined planes at 550 km; rates are placeholders.
    Starlink,
    /// One geostationary satellite, a relay.
    Geo,
}

/// Implementation to follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConstellationProfile {
    /// Constants of WGS 84 and IAU; queued packets are rerouted at a handover.
    #[default]
    Std,
    /// As ns-2.35.
    Ns2,
}

/// Arrangement of orbital planes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// Walker star: ascending nodes over half of the equator; neighbouring planes co-rotate but at the seam.
    Star,
    /// Walker delta: ascending nodes all around the equator.
    Delta,
    /// One geostationary plane.
    Geo,
}

/// Selection of the serving satellite at a check.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GslPolicy {
    /// The serving one while it is in view, then the next of its plane, otherwise the one at the highest elevation.
    #[serde(rename = "ns2")]
    NextOfPlane,
    /// The one at the highest elevation.
    Highest,
    /// With the other end of the first flow: of those that both see, and do not use already, the one over which the path is shortest;
    /// else the two between which it is shortest.
    Together,
    /// The serving one while it is in view, then the one that will stay in view longest.
    LongestRemaining,
    /// None: a terminal has a link to each in view, and every route takes those over which its delay is least, as in Hypatia (Kassing
    /// and others, IMC 2020). A handover is then a change of what is in view.
    LeastDelay,
}

/// A terminal on the ground.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(transform = with_text_form)]
pub enum TerminalDef {
    /// A city by its name.
    City(String),
    /// A named place.
    Place(PlaceDef),
}

tagged_enum! {
    /// Placement of random terminals, uniform by area.
    #[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
    pub enum GroundDef ("a placement") {
        /// On land.
        "land" => Land(LatitudeDef),
        /// On land and at sea.
        "globe" => Globe(LatitudeDef),
    }
}

impl Default for GroundDef {
    fn default() -> GroundDef {
        GroundDef::Land(LatitudeDef::default())
    }
}

/// A belt between two latitudes.
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
            table @ serde_json::Value::Object(_) => {
                read(table).map(TerminalDef::Place).map_err(|e| D::Error::custom(carried(&e)))
            }
            other => Err(D::Error::custom(format!(
                "{other} is not a terminal; write \"Berkeley\" or {{ name = \"ship\", lat_deg = 10, lon_deg = -30 }}"
            ))),
        }
    }
}
