//! The part of the schema that describes radio: channels, physical layers, propagation, routing among stations.

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use tcp::units::{Bytes, Rate, Span};

use super::energy::EnergyDef;
use super::lrwpan::LrwpanDef;
use super::quantity::{Frequency, Metres, Power};
use super::tagged::tagged_enum;

/// A channel: stations that share the medium. Two channels do not disturb one another.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChannelDef {
    /// Names of the nodes with a radio on it; a node has one radio at most.
    pub stations: Vec<String>,
    /// The radio of every station.
    #[serde(default)]
    pub radio: RadioDef,
    /// How packets find their way among the stations.
    #[serde(default)]
    pub routing: RoutingDef,
    /// The station through which the rest of the network is reached, if any; or a list of several, each for its domain, the
    /// stations nearest to it at the start. With `shortest` routing it is the nearest by hops, whenever paths are found.
    #[serde(default, deserialize_with = "one_or_more", skip_serializing_if = "Vec::is_empty")]
    pub gateway: Vec<String>,
}

/// A name, or several.
fn one_or_more<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<String>, D::Error> {
    let wrong = |value: &Value| D::Error::custom(format!("{value} is neither a name nor a list of names"));
    match Value::deserialize(d)? {
        Value::Null => Ok(Vec::new()),
        Value::String(name) => Ok(vec![name]),
        Value::Array(names) => {
            names.iter().map(|name| name.as_str().map(Into::into).ok_or_else(|| wrong(name))).collect()
        }
        value => Err(wrong(&value)),
    }
}

/// Which model of 802.11 to follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RadioProfile {
    /// The standard, reception by the ratio of signal to interference.
    #[default]
    Std,
    /// ns-2.35 with its departures: 1 Mb/s, RTS before every frame, two-ray ground, thresholds and capture.
    Ns2,
    /// ns-3: log-distance propagation, its thresholds and its models of bit errors, its queue of 500 packets and 500 ms.
    Ns3,
}

/// The standard: a generation of 802.11, or 802.15.4.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Standard {
    /// DSSS at 2.4 GHz, 1 and 2 Mb/s.
    Dsss,
    /// 802.11b: 1 to 11 Mb/s.
    B,
    /// 802.11a: OFDM at 5 GHz, 6 to 54 Mb/s.
    A,
    /// 802.11g: OFDM at 2.4 GHz.
    G,
    /// 802.15.4 at 2.4 GHz: 250 kb/s, frames of 127 B, unslotted CSMA/CA. Settings of its own are in `lrwpan`.
    #[serde(rename = "802.15.4")]
    Lrwpan,
}

/// Length of the DSSS preamble.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Preamble {
    /// 192 us.
    Long,
    /// 96 us.
    Short,
}

/// How the rate of data frames is found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RateControlDef {
    /// Always `data_rate`.
    Fixed,
    /// By neighbour, from the lowest rate: up after ten successes or fifteen frames, down after two failures, or one right
    /// after a rise.
    Arf,
}

/// A radio; what is left out comes from the profile.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RadioDef {
    /// The model to follow; `std` unless given.
    pub profile: RadioProfile,
    /// The standard: `b` in std, `dsss` in ns2, `a` in ns3. With `802.15.4` the rates, RTS and the retries of 802.11 do not
    /// apply, and the profile is `std` or `ns2`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standard: Option<Standard>,
    /// Rate of data frames to one station; the highest of the standard in std, 1 Mbps in ns2, 6 Mbps in ns3. With `arf`
    /// the highest that is tried, unless given that of the standard.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_rate: Option<Rate>,
    /// How a station finds the rate of data frames to a neighbour; `fixed` unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_control: Option<RateControlDef>,
    /// Rate of RTS, CTS and ACK; the highest basic rate up to the data rate unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_rate: Option<Rate>,
    /// Rate of broadcasts; the lowest of the standard unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub basic_rate: Option<Rate>,
    /// Preamble of DSSS frames; long unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preamble: Option<Preamble>,
    /// Frames above this size, MAC header included, ask first with RTS. 0 B in ns2, off otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rts_threshold: Option<Bytes>,
    /// Attempts of RTS and of frames up to the RTS threshold; 7 unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub short_retries: Option<u32>,
    /// Attempts of longer frames; 4 unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub long_retries: Option<u32>,
    /// Packets that wait at a station; 50 in std and ns2, 500 in ns3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_limit: Option<u32>,
    /// What waited longer is dropped; 500 ms in ns3, never otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_lifetime: Option<Span>,
    /// How power falls with distance: two-ray ground in ns2, log-distance otherwise. With 802.15.4 in std 46.6777 dB are lost
    /// on the first metre, so that 0 dBm reach 41 m.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub propagation: Option<PropagationDef>,
    /// Nothing is heard beyond this distance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_range: Option<Metres>,
    /// Transmission power; 20 dBm in std, 0.28183815 W in ns2, 16.0206 dBm in ns3; 0 dBm in std with 802.15.4.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power: Option<Power>,
    /// Carrier frequency; 914 MHz in ns2, 2412 MHz or 5150 MHz otherwise; 2405 MHz in std with 802.15.4.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency: Option<Frequency>,
    /// Scales the reach: signals are as strong at this multiple of the distance. Carrier sense reaches farther too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range_multiplier: Option<f64>,
    /// What the radio consumes; not modelled unless given. `{}` takes the profile's powers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub energy: Option<EnergyDef>,
    /// How stations learn the addresses of neighbours: `ns2` in ns2, `none` otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arp: Option<ArpDef>,
    /// What only 802.15.4 has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lrwpan: Option<LrwpanDef>,
}

tagged_enum! {
    /// How power falls with distance.
    #[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
    pub enum PropagationDef ("a propagation model") {
        /// Free space (Friis).
        "friis" => Friis(FriisDef),
        /// Free space up to the crossover, then reflected by the ground.
        "two_ray" => TwoRay(TwoRayDef),
        /// A power of the distance.
        "log_distance" => LogDistance(LogDistanceDef),
        /// Full power up to a distance, nothing beyond.
        "range" => Range(RangeDef),
    }
}

/// Free space.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FriisDef {}

/// Two-ray ground.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TwoRayDef {
    /// Height of the antennas above the nodes.
    pub antenna_height: Metres,
}

impl Default for TwoRayDef {
    fn default() -> TwoRayDef {
        TwoRayDef { antenna_height: Metres(1.5) }
    }
}

/// Log-distance.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LogDistanceDef {
    /// Power of the distance.
    pub exponent: f64,
    /// Loss at 1 m in dB; free space at the carrier frequency unless given (ns-3: 46.6777).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_at_1m_db: Option<f64>,
}

impl Default for LogDistanceDef {
    fn default() -> LogDistanceDef {
        LogDistanceDef { exponent: 3.0, loss_at_1m_db: None }
    }
}

/// A disc.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RangeDef {
    /// Its radius.
    pub distance: Metres,
}

tagged_enum! {
    /// How packets find their way among the stations of a channel.
    #[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
    pub enum RoutingDef ("a routing") {
        /// Shortest paths over the stations in reach, known to all without a message: the clean baseline.
        "shortest" => Shortest(ShortestDef),
        /// Everything goes through access points; a station belongs to the one it hears best at the start, and if it moves, joins
        /// another when it has lost that.
        "access_points" => AccessPoints(AccessPointsDef),
        /// Destination-sequenced distance vector.
        "dsdv" => Dsdv(DsdvDef),
        /// Ad hoc on-demand distance vector (RFC 3561).
        "aodv" => Aodv(AodvDef),
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
    /// With moving stations, how often paths are found anew.
    pub interval: Span,
}

impl Default for ShortestDef {
    fn default() -> ShortestDef {
        ShortestDef { interval: Span::from_millis(1000) }
    }
}

/// Infrastructure.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AccessPointsDef {
    /// The stations that are access points; only for a graph, where it must name one or more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stations: Vec<String>,
    /// What is modelled of beacons, one in 102.4 ms, and of joining an access point.
    #[serde(default)]
    pub beacons: BeaconsDef,
}

/// Beacons of access points. A moving station that misses ten in a row joins the access point that it hears best then; what
/// waits for it at the old one is lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BeaconsDef {
    /// They are not sent; stations know what they would hear, and join at once.
    #[default]
    None,
    /// They are sent, and stations join by two exchanges of short frames.
    Airtime,
}

/// Whose DSDV.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DsdvProfile {
    /// ns-2's state machine with link failures told by the MAC, and UDP and IP headers on its messages.
    #[default]
    Std,
    /// ns-2.35: 20 B of header, no word from the MAC.
    Ns2,
    /// ns-3: changes are advertised at once, settling of 5 s.
    Ns3,
}

/// DSDV; what is left out comes from the profile.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DsdvDef {
    /// Whose; that of the radio unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<DsdvProfile>,
    /// Between two full updates: exactly about so long in ns3, three quarters of it to all of it otherwise. Default: 15 s.
    /// A neighbour that is silent for three intervals is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update_interval: Option<Span>,
    /// First settling time of a route: 5 s in ns3; 6 s otherwise, and news of the route waits for twice as long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settling: Option<Span>,
    /// With several gateways, stations do not listen to updates of other domains; they do in ns2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain_filter: Option<bool>,
}

/// Whose AODV.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AodvProfile {
    /// RFC 3561 with link failures told by the MAC.
    #[default]
    Std,
    /// ns-2.35: a first ring of 5 hops, routes that last 10 s.
    Ns2,
    /// ns-3: the RFC with hellos, and link failures told by the MAC as well.
    Ns3,
}

/// AODV (RFC 3561); what is left out comes from the profile.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AodvDef {
    /// Whose; that of the radio unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<AodvProfile>,
    /// A route that is not used is good for so long: 10 s in ns2, 3 s otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_timeout: Option<Span>,
    /// Every station says each second that it is there; one that is silent for two is gone. Only in ns3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hellos: Option<bool>,
}

/// How a station learns the address of a neighbour.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArpDef {
    /// It knows it.
    #[default]
    None,
    /// As in ns-2: it asks all, holds one packet meanwhile, and never forgets.
    Ns2,
}
