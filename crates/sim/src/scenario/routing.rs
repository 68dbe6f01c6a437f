//! The part of the schema that describes routing among stations, and how they find addresses.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcp::units::Span;

use super::quantity::Power;
use super::tagged::tagged_enum;

tagged_enum! {
    /// Routing among the stations of a channel.
    #[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
    pub enum RoutingDef ("a routing") {
        /// Shortest paths by hops over the stations in range, known to all without messages: the ideal baseline.
        "shortest" => Shortest(ShortestDef),
        /// All packets pass through access points; a station is associated with the one of the strongest signal at the start. If
        /// it moves, it reassociates when it has lost that.
        "access_points" => AccessPoints(AccessPointsDef),
        /// Destination-sequenced distance vector.
        "dsdv" => Dsdv(DsdvDef),
        /// Ad hoc on-demand distance vector (RFC 3561).
        "aodv" => Aodv(AodvDef),
        /// Dynamic source routing (RFC 4728): packets carry their paths. Only with 802.11, and not with `aggregation`.
        "dsr" => Dsr(DsrDef),
    }
}

impl Default for RoutingDef {
    fn default() -> RoutingDef {
        RoutingDef::Shortest(ShortestDef::default())
    }
}

/// Shortest paths.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ShortestDef {
    /// Interval at which paths are recomputed, with mobile stations.
    pub interval: Span,
}

impl Default for ShortestDef {
    fn default() -> ShortestDef {
        ShortestDef { interval: Span::from_millis(1000) }
    }
}

/// Infrastructure.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AccessPointsDef {
    /// The stations that are access points; only for a graph, where it must name one or more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stations: Vec<String>,
    /// Model of beacons, one in 102.4 ms, and of (re)association.
    #[serde(default)]
    pub beacons: BeaconsDef,
    /// How a station that moves changes its access point.
    #[serde(default, skip_serializing_if = "HandoffDef::is_default")]
    pub handoff: HandoffDef,
}

/// How a station that moves changes its access point.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HandoffDef {
    /// Beacons missed in a row after which an access point is lost. Default: 10, as in ns-3 (MaxMissedBeacons); Linux has 7
    /// (beacon_loss_count of mac80211).
    pub missed: u32,
    /// Time of a scan, in which nothing is sent to the station and it sends nothing. Default: 0 s. Cards took tens to hundreds of
    /// milliseconds, over 90 % of a hand-off (Mishra, Shin, Arbaugh, CCR 33(2), 2003); Linux takes 60 ms for each channel.
    pub scan: Span,
    /// A station whose access point it hears with less than this power changes to one that is stronger by `roam_margin_db`. Default: never;
    /// iwd roams below -70 dBm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roam_below: Option<Power>,
    /// By how many decibels another access point must be stronger, with `roam_below`. Default: 5 (assumed).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roam_margin_db: Option<f64>,
}

impl Default for HandoffDef {
    fn default() -> HandoffDef {
        HandoffDef { missed: 10, scan: Span::ZERO, roam_below: None, roam_margin_db: None }
    }
}

impl HandoffDef {
    /// True if nothing is said.
    pub fn is_default(&self) -> bool {
        *self == HandoffDef::default()
    }
}

/// Beacons of access points. A mobile station that misses ten in a row (`handoff.missed`) reassociates with the access point of the strongest
/// signal; packets queued for it at the old one are lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BeaconsDef {
    /// Beacons are not sent; stations know which they would receive, and reassociate immediately.
    #[default]
    None,
    /// Beacons are sent, and stations reassociate by two exchanges of short frames.
    Airtime,
}

/// Implementation of DSDV to follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DsdvProfile {
    /// ns-2's state machine with link failures reported by the MAC, and UDP and IP headers on its messages.
    #[default]
    Std,
    /// ns-2.35: 20 B of header, no reports by the MAC.
    Ns2,
    /// ns-3: changes are advertised immediately, settling time of 5 s.
    Ns3,
}

/// DSDV; a key left out takes the value of the profile.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DsdvDef {
    /// Implementation to follow. Default: the radio's profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<DsdvProfile>,
    /// Interval of full updates: almost constant in ns3, random from three quarters of it to all of it otherwise. Default: 15 s.
    /// A neighbour that is silent for three intervals is removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update_interval: Option<Span>,
    /// Initial settling time of a route. Default: 5 s in ns3; 6 s otherwise, where an advertisement waits for twice as long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settling: Option<Span>,
    /// With several gateways, stations ignore updates of other domains. Default: false in ns2, true otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain_filter: Option<bool>,
}

/// Implementation of AODV to follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AodvProfile {
    /// RFC 3561 with link failures reported by the MAC.
    #[default]
    Std,
    /// ns-2.35: a first ring of 5 hops, route lifetime of 10 s.
    Ns2,
    /// ns-3: the RFC with hello messages, and link failures reported by the MAC as well.
    Ns3,
}

/// AODV (RFC 3561); a key left out takes the value of the profile.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AodvDef {
    /// Implementation to follow. Default: the radio's profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<AodvProfile>,
    /// ACTIVE_ROUTE_TIMEOUT: lifetime of an unused route. Default: 10 s in ns2, 3 s otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_timeout: Option<Span>,
    /// Hello messages, one each second; a neighbour that is silent for two is removed. Default: true in ns3, false otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hellos: Option<bool>,
}

/// Implementation of DSR to follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DsrProfile {
    /// RFC 4728: requests are repeated after 0.5, 1, 2 … 10 s.
    #[default]
    Std,
    /// ns-2.35: requests are repeated after 0.5, 2, 8 and 10 s; source routes list both ends.
    Ns2,
}

/// DSR; a key left out takes the value of the profile.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DsrDef {
    /// Implementation to follow. Default: `ns2` with a radio of profile `ns2`, `std` otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<DsrProfile>,
}

/// Address resolution.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArpDef {
    /// Addresses are known in advance; no ARP traffic.
    #[default]
    None,
    /// As in ns-2: a broadcast request, one packet held meanwhile, entries without expiry.
    #[serde(rename = "ns2")]
    Table,
    /// As in ns-3.37: a request waits 0 to 9 ms, is repeated three times a second apart and then not for 100 s; three packets are held,
    /// only replies teach, entries expire after 120 s. With an access point requests go through it.
    #[serde(rename = "ns3")]
    Cache,
}
