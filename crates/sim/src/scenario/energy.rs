//! The part of the schema that describes what radios consume.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantity::{Consumption, Energy};

/// Whose consumption to follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EnergyProfile {
    /// ns-2.35: sending 0.66 W, receiving 0.395 W, idle 0 W. Every signal at or above carrier sense is received, for
    /// whomever it is.
    Ns2,
    /// ns-3's Wi-Fi radio at 3 V: sending 1.14 W, receiving 0.939 W, idle and sensing 0.819 W. What the receiver is
    /// locked on is received.
    Ns3,
    /// The data sheet of the CC2420 at 0 dBm and 3 V: sending 52.2 mW, receiving 56.4 mW, idle 1.278 mW. What the
    /// receiver is locked on is received.
    Cc2420,
}

/// What a radio consumes; what is left out comes from the profile. Stations do not sleep.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EnergyDef {
    /// Whose; `ns2` with a radio of profile `ns2`, `cc2420` with 802.15.4, `ns3` otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<EnergyProfile>,
    /// While it sends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tx: Option<Consumption>,
    /// While it receives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rx: Option<Consumption>,
    /// While it does neither.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle: Option<Consumption>,
    /// What every station has at first; with nothing left it neither sends nor receives, and nobody is told. Without
    /// end unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial: Option<Energy>,
}
