//! The part of the schema that describes the energy consumption of radios.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantity::{Consumption, Energy};

/// Profile of the consumption.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EnergyProfile {
    /// ns-2.35: sending 0.66 W, receiving 0.395 W, idle 0 W. Every signal at or above the carrier-sense threshold
    /// counts as received, whatever its destination.
    Ns2,
    /// ns-3's Wi-Fi radio at 3 V: sending 1.14 W, receiving 0.939 W, idle and sensing 0.819 W. A frame counts as received
    /// while the receiver is locked on it.
    Ns3,
    /// The data sheet of the CC2420 at 0 dBm and 3 V: sending 52.2 mW, receiving 56.4 mW, idle 1.278 mW. A frame
    /// counts as received while the receiver is locked on it.
    Cc2420,
}

/// Energy consumption of a radio; a key left out takes the value of the profile. Stations do not sleep.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EnergyDef {
    /// Implementation to follow. Default: `ns2` with a radio of profile `ns2`, `cc2420` with 802.15.4, `ns3` otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<EnergyProfile>,
    /// Power while transmitting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tx: Option<Consumption>,
    /// Power while receiving.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rx: Option<Consumption>,
    /// Power otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle: Option<Consumption>,
    /// Initial energy of every station; a station without energy neither sends nor receives, without notice to others. Default:
    /// unlimited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial: Option<Energy>,
}
