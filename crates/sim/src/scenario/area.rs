//! The part of the schema that describes the field of wireless networks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantity::Metres;

/// A field: from the origin to these sides.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Area {
    /// Width.
    pub x: Metres,
    /// Depth.
    pub y: Metres,
    /// Height; 0 m is flat.
    pub z: Metres,
}

impl Default for Area {
    fn default() -> Area {
        Area { x: Metres(500.0), y: Metres(500.0), z: Metres(0.0) }
    }
}
