//! The part of the schema that describes radio: channels, physical layers, propagation.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use tcp::units::{Bytes, Rate, Span};

use super::energy::EnergyDef;
use super::lrwpan::LrwpanDef;
use super::parse::{carried, read};
use super::quantity::{Frequency, Metres, Power};
use super::routing::{ArpDef, RoutingDef};
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

/// In which order an access point serves its stations.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SchedulerDef {
    /// One queue, first in, first out: a slow station takes airtime from all others (the 802.11 anomaly).
    #[default]
    Fifo,
    /// A queue for each station, with FQ-CoDel inside (8192 packets; target 20 ms, 50 ms below 12 Mb/s), and equal airtime for all that have packets,
    /// by deficits (Høiland-Jørgensen et al., USENIX ATC 2017). `queue_limit` and `queue_lifetime` are for other queues.
    Airtime,
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
    /// Receiver sensitivity of 802.11: power from which a frame is readable, absent interference; one for all rates, or by rate, such as
    /// `{ "11Mbps" = "-82dBm" }`, where the others keep theirs. Default: by rate in std (docs/models.md), 365.2 pW in ns2, -82 dBm in
    /// ns3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sensitivity: Option<SensitivityDef>,
    /// CCA threshold of 802.11: power of all signals from which the medium is busy, besides while a frame is received. Default: -95 dBm
    /// with `dsss` and `b`, -89.966 dBm with OFDM in std, 15.59 pW in ns2, -62 dBm in ns3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cca_threshold: Option<Power>,
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
    /// In which order an access point or a gateway serves its stations. Default: `fifo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<SchedulerDef>,
    /// Rates of unicast data frames to and from single stations, by name, such as `{ far = "6.5Mbps" }`; between two of them the
    /// lower one. Default: `data_rate`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub rates: BTreeMap<String, Rate>,
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

/// Receiver sensitivity.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum SensitivityDef {
    /// Of all rates.
    All(Power),
    /// By rate.
    ByRate(BTreeMap<String, Power>),
}

impl<'de> Deserialize<'de> for SensitivityDef {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<SensitivityDef, D::Error> {
        match Value::deserialize(d)? {
            table @ Value::Object(_) => read(table).map(SensitivityDef::ByRate),
            power => read(power).map(SensitivityDef::All),
        }
        .map_err(|e| D::Error::custom(carried(&e)))
    }
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
