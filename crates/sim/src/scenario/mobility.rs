//! The part of the schema that describes how nodes move.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcp::units::Span;

use super::area::Area;
use super::quantity::Speed;
use super::tagged::tagged_enum;

tagged_enum! {
    /// How a node moves. Places are exact at every instant; nothing moves in steps.
    #[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
    pub enum MobilityDef ("a mobility") {
        /// Not at all.
        "fixed" => Fixed(FixedDef),
        /// Rest, go straight to anywhere in the field, rest again.
        "random_waypoint" => RandomWaypoint(RandomWaypointDef),
        /// Speed, direction and pitch with memory (ns-3's model, three-dimensional).
        "gauss_markov" => GaussMarkov(GaussMarkovDef),
        /// From place to place, each at a given time.
        "waypoints" => Waypoints(WaypointsDef),
        /// Orders as in the movement files of ns-2.
        "setdest" => Setdest(SetdestDef),
    }
}

impl Default for MobilityDef {
    fn default() -> MobilityDef {
        MobilityDef::Fixed(FixedDef {})
    }
}

/// A node that stays where it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixedDef {}

/// Random waypoint.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RandomWaypointDef {
    /// The speed of every way, instead of a range from `speed_min` to `speed_max`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed: Option<Speed>,
    /// Least speed; above 0 m/s, or the mean speed would sink for as long as the run lasts.
    pub speed_min: Speed,
    /// Greatest speed; each way is gone at a speed drawn uniformly in between.
    pub speed_max: Speed,
    /// Rest at each place, the first included.
    pub pause: Span,
    /// Start as after a long time, not at the placement: with the stationary distribution of places, speeds and rests.
    pub steady: bool,
    /// The field; that of the network unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<Area>,
}

impl Default for RandomWaypointDef {
    fn default() -> RandomWaypointDef {
        RandomWaypointDef {
            speed: None,
            speed_min: Speed(0.3),
            speed_max: Speed(0.7),
            pause: Span::from_millis(2000),
            steady: false,
            field: None,
        }
    }
}

/// Gauss-Markov. At the walls of the field a node turns round.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GaussMarkovDef {
    /// Length of a step.
    pub interval: Span,
    /// Memory from 0 (none) to 1 (straight lines, ns-3's default).
    pub alpha: f64,
    /// Mean speed. The mean direction is drawn for each node, the mean pitch is level.
    pub speed: Speed,
    /// Standard deviation of the noise of speed, m/s.
    pub speed_noise: f64,
    /// Standard deviation of the noise of direction, rad.
    pub direction_noise: f64,
    /// Standard deviation of the noise of pitch, rad; 1 unless given, 0 in a flat field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pitch_noise: Option<f64>,
    /// The field; that of the network unless given.
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

/// A way through given places.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WaypointsDef {
    /// In the order of time; after the last one the node rests.
    pub points: Vec<Waypoint>,
}

/// A place and when a node is there.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Waypoint {
    /// When it is there.
    pub at: Span,
    /// Metres.
    pub x: f64,
    /// Metres.
    pub y: f64,
    /// Height in metres; as before unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub z: Option<f64>,
    /// Rest at the place before and be here all at once, instead of going straight.
    #[serde(default)]
    pub jump: bool,
}

/// Movement as ns-2 has it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SetdestDef {
    /// A movement file, its name relative to the scenario's; as `network.mobility` of an `adhoc` network only. Its
    /// places become the placement, and its orders `network.own_mobility`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Orders in the order of time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub orders: Vec<SetdestOrder>,
}

/// Go straight to a place and rest there; a later order overrides. An order to leave the field is ignored, as in ns-2.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetdestOrder {
    /// When the node sets out.
    pub at: Span,
    /// Metres.
    pub x: f64,
    /// Metres.
    pub y: f64,
    /// How fast it goes.
    pub speed: Speed,
}
