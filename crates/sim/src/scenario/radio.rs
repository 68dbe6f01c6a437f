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

/// A channel: stations that share the medium. Channels do not interfere with one another.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChannelDef {
    /// Names of the nodes with a radio on this channel; a node has one radio at most.
    pub stations: Vec<String>,
    /// The radio of every station.
    #[serde(default)]
    pub radio: RadioDef,
    /// Routing among the stations.
    #[serde(default)]
    pub routing: RoutingDef,
    /// Gateway to the rest of the network, if any; or a list of several, each for its domain, the stations nearest to it at the
    /// start. With `shortest` routing it is the nearest by hops, whenever paths are computed.
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

/// Implementation of 802.11 or 802.15.4 to follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RadioProfile {
    /// The standard; reception by the signal-to-interference-and-noise ratio (SINR).
    #[default]
    Std,
    /// ns-2.35 with its deviations: 1 Mb/s, RTS before every frame, two-ray ground, thresholds and capture.
    Ns2,
    /// ns-3: log-distance propagation, its thresholds and bit-error models; with 802.11 its queue of 500 packets and 500 ms, with
    /// 802.15.4 6LoWPAN without contexts, and Neighbor Discovery.
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
    /// 802.11n at 5 GHz: HtMcs0 to HtMcs7 (6.5 to 65 Mb/s; one spatial stream, 20 MHz, 800 ns), A-MPDU and block ACKs.
    N,
    /// 802.15.4 at 2.4 GHz: 250 kb/s, frames of 127 B, unslotted CSMA/CA. Further settings are in `lrwpan`.
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

/// Rate control of data frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RateControlDef {
    /// Always `data_rate`.
    Fixed,
    /// Auto rate fallback for each neighbour, from the lowest rate: up after ten successes or fifteen frames, down after two
    /// failures, or one directly after a rise.
    Arf,
    /// Adaptive auto rate fallback, as in ns-3: as `arf`, but each failed rise doubles the successes (to 60 at most) and frames
    /// that the next rise takes, until two failures in a row restore them.
    Aarf,
}

/// A radio; a key left out takes the value of the profile.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RadioDef {
    /// Implementation to follow. Default: `std`.
    pub profile: RadioProfile,
    /// The standard. Default: `b` in std, `dsss` in ns2, `a` in ns3. With `802.15.4` the rates, RTS and the retries of 802.11 do
    /// not apply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standard: Option<Standard>,
    /// Rate of unicast data frames. Default: the highest of the standard in std, 1 Mbps in ns2, the lowest in ns3. With `arf` and
    /// `aarf` the highest rate that is tried; default: that of the standard.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_rate: Option<Rate>,
    /// Rate control of data frames. Default: `fixed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_control: Option<RateControlDef>,
    /// Rate of RTS, CTS and ACK. Default: the highest basic rate up to the data rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_rate: Option<Rate>,
    /// Rate of broadcasts. Default: the lowest of the standard.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub basic_rate: Option<Rate>,
    /// Preamble of DSSS frames. Default: long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preamble: Option<Preamble>,
    /// RTS threshold: frames above this size, MAC header included, are preceded by RTS/CTS. Default: 0 B in ns2, off otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rts_threshold: Option<Bytes>,
    /// Short retry limit: attempts of RTS and of frames up to the RTS threshold. Default: 7.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub short_retries: Option<u32>,
    /// Long retry limit: attempts of longer frames. Default: 4.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub long_retries: Option<u32>,
    /// Limit of the interface queue, packets. Default: 50 in std and ns2, 500 in ns3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_limit: Option<u32>,
    /// Lifetime of a packet in the queue, and with standard `n` until it is acknowledged. Default: 500 ms in ns3, 512 ms with
    /// standard `n`, unlimited otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_lifetime: Option<Span>,
    /// Propagation model. Default: two-ray ground in ns2, log-distance otherwise. With 802.15.4 its loss at 1 m is 46.6777 dB, so
    /// that 0 dBm reaches 41 m.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub propagation: Option<PropagationDef>,
    /// Signals are not received beyond this distance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_range: Option<Metres>,
    /// Transmission power. Default: 20 dBm in std, 0.28183815 W in ns2, 16.0206 dBm in ns3; with 802.15.4 0 dBm in std and ns3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power: Option<Power>,
    /// Carrier frequency. Default: 914 MHz in ns2, 2412 MHz or 5150 MHz otherwise; with 802.15.4 2405 MHz in std and ns3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency: Option<Frequency>,
    /// Probability that a frame is in error before the MAC sees it, from 0 to 1: drawn at every station that decodes the frame,
    /// whatever its type and addressee. Such a frame has occupied the receiver; it is not answered, and EIFS follows. Default: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame_error: Option<f64>,
    /// 802.11n: MPDUs for one neighbour are transmitted together, up to 64, 65535 B and 5.484 ms, and acknowledged by a block ACK;
    /// without it each has its own ACK. Default: true with standard `n`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aggregation: Option<bool>,
    /// Factor of the range: signals are as strong at this multiple of the distance. It applies to carrier sense as well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range_multiplier: Option<f64>,
    /// Energy consumption. Default: not modelled. `{}` takes the profile's powers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub energy: Option<EnergyDef>,
    /// Address resolution. Default: `ns2` in ns2, `none` otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arp: Option<ArpDef>,
    /// Settings of 802.15.4.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lrwpan: Option<LrwpanDef>,
}

tagged_enum! {
    /// Propagation model.
    #[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
    pub enum PropagationDef ("a propagation model") {
        /// Free space (Friis).
        "friis" => Friis(FriisDef),
        /// Free space up to the crossover distance, two-ray ground reflection beyond.
        "two_ray" => TwoRay(TwoRayDef),
        /// Log-distance path loss.
        "log_distance" => LogDistance(LogDistanceDef),
        /// Full power up to a distance, no signal beyond.
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

impl TwoRayDef {
    pub(crate) const DEFAULT: TwoRayDef = TwoRayDef { antenna_height: Metres(1.5) };
}

impl Default for TwoRayDef {
    fn default() -> TwoRayDef {
        TwoRayDef::DEFAULT
    }
}

/// Log-distance.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LogDistanceDef {
    /// Path-loss exponent.
    pub exponent: f64,
    /// Path loss at 1 m, dB. Default: that of free space at the carrier frequency (ns-3: 46.6777).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_at_1m_db: Option<f64>,
}

impl LogDistanceDef {
    pub(crate) const DEFAULT: LogDistanceDef = LogDistanceDef { exponent: 3.0, loss_at_1m_db: None };
}

impl Default for LogDistanceDef {
    fn default() -> LogDistanceDef {
        LogDistanceDef::DEFAULT
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
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AccessPointsDef {
    /// The stations that are access points; only for a graph, where it must name one or more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stations: Vec<String>,
    /// Model of beacons, one in 102.4 ms, and of (re)association.
    #[serde(default)]
    pub beacons: BeaconsDef,
}

/// Beacons of access points. A mobile station that misses ten in a row reassociates with the access point of the strongest
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
