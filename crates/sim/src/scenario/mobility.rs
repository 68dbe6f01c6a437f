//! The part of the schema that describes how nodes move.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcp::units::Span;

use super::area::Area;
use super::quantity::Speed;
use super::tagged::tagged_enum;

tagged_enum! {
    /// Mobility of a node. Positions are exact at every time; no node moves in steps.
    #[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
    pub enum MobilityDef ("a mobility") {
        /// Stationary.
        "fixed" => Fixed(FixedDef),
        /// Pause, move straight to a random point of the field, pause again.
        "random_waypoint" => RandomWaypoint(RandomWaypointDef),
        /// Speed, direction and pitch with memory (ns-3's model, three-dimensional).
        "gauss_markov" => GaussMarkov(GaussMarkovDef),
        /// From waypoint to waypoint, each at a given time.
        "waypoints" => Waypoints(WaypointsDef),
        /// `setdest` commands as in the movement files of ns-2.
        "setdest" => Setdest(SetdestDef),
    }
}

impl Default for MobilityDef {
    fn default() -> MobilityDef {
        MobilityDef::Fixed(FixedDef {})
    }
}

/// A stationary node.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixedDef {}

/// Random waypoint.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RandomWaypointDef {
    /// Speed of every leg, instead of a range from `speed_min` to `speed_max`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed: Option<Speed>,
    /// Minimum speed; above 0 m/s, or the mean speed would decay throughout the run. Default: 0.3m/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed_min: Option<Speed>,
    /// Maximum speed; the speed of each leg is uniform in between. Default: 0.7m/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed_max: Option<Speed>,
    /// Pause at each point, including the first.
    pub pause: Span,
    /// Start in steady state instead of at the placement: with the stationary distribution of positions, speeds and pauses.
    pub steady: bool,
    /// The field. Default: that of the network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<Area>,
}

impl Default for RandomWaypointDef {
    fn default() -> RandomWaypointDef {
        RandomWaypointDef {
            speed: None,
            speed_min: None,
            speed_max: None,
            pause: Span::from_millis(2000),
            steady: false,
            field: None,
        }
    }
}

/// Gauss-Markov. A node is reflected at the border of the field.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GaussMarkovDef {
    /// Length of a step.
    pub interval: Span,
    /// Memory from 0 (none) to 1 (straight lines, ns-3's default).
    pub alpha: f64,
    /// Mean speed. The mean direction of each node is random, the mean pitch is 0.
    pub speed: Speed,
    /// Standard deviation of the noise of speed, m/s.
    pub speed_noise: f64,
    /// Standard deviation of the noise of direction, rad.
    pub direction_noise: f64,
    /// Standard deviation of the noise of pitch, rad. Default: 1, in a flat field 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pitch_noise: Option<f64>,
    /// The field. Default: that of the network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<Area>,
}

impl Default for GaussMarkovDef {
    fn default() -> GaussMarkovDef {
        GaussMarkovDef {
            interval: Span::from_millis(1000),
            alpha: 0.85,
            speed: Speed(5.0),
            speed_noise: 1.0,
            direction_noise: 1.0,
            pitch_noise: None,
            field: None,
        }
    }
}

/// A track through given points.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WaypointsDef {
    /// In the order of time; the node stays at the last one.
    pub points: Vec<Waypoint>,
}

/// A point and the time at which the node is there.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Waypoint {
    /// Time of arrival.
    pub at: Span,
    /// Metres.
    pub x: f64,
    /// Metres.
    pub y: f64,
    /// Height in metres. Default: that of the point before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub z: Option<f64>,
    /// Stay at the point before and jump here, instead of moving straight.
    #[serde(default)]
    pub jump: bool,
}

/// Movement as in ns-2.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SetdestDef {
    /// A movement file, its name relative to the scenario's; as `network.mobility` of an `adhoc` network only. Its positions
    /// become the placement, and its commands `network.own_mobility`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Commands in the order of time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub orders: Vec<SetdestOrder>,
}

/// Move straight to a point and stay there; a later command overrides. A command to leave the field is ignored, as in ns-2.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetdestOrder {
    /// Time of departure.
    pub at: Span,
    /// Metres.
    pub x: f64,
    /// Metres.
    pub y: f64,
    /// Speed.
    pub speed: Speed,
}
