//! The part of the schema that says what to record over time.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use tcp::units::Span;

use super::parse::{carried, read};
use super::text::Every;

/// What to record over time.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RecordDef {
    /// Series to record.
    pub series: Vec<SeriesName>,
    /// Sampling interval, or `"change"` to record windows and RTT at each change.
    pub every: Every,
    /// Width of the bins of `sending_rate`, `throughput` and `goodput`, and sampling interval of `queue`, when `every = "change"`.
    pub bin: Span,
    /// Variables that the algorithms of listed flows show of themselves: `"all"`, or an array of their names
    /// (`tonopah algorithms NAME`). They become series `cc.NAME`, of a value whenever one has changed at a time of `every`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub internals: Option<RecordedInternals>,
    /// How long the packets of each listed flow waited in the queue of each link: `waits` of the links of the summary.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub waits: bool,
    /// Distributions of what each flow measured of every packet, ACK or message, for its entry in the summary; studies draw them as
    /// figures of kind `cdf`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub distributions: Vec<DistributionName>,
    /// Which flows of workloads the summary lists one by one, of those that count: `"all"`, `"none"`, or a random sample of so many.
    /// Default: all up to 10 000 flows, a sample of 1000 of more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flows: Option<RecordedFlows>,
}

/// Which flows of workloads are listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RecordedFlows {
    /// All.
    All,
    /// None.
    None,
    /// A random sample.
    #[serde(untagged)]
    Sample(SampleDef),
}

/// A random sample.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SampleDef {
    /// Number of flows.
    pub sample: u32,
}

impl<'de> Deserialize<'de> for RecordedFlows {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<RecordedFlows, D::Error> {
        let value = Value::deserialize(d)?;
        match value.as_str() {
            Some("all") => Ok(RecordedFlows::All),
            Some("none") => Ok(RecordedFlows::None),
            _ if value.is_object() => {
                read(value).map(RecordedFlows::Sample).map_err(|error| D::Error::custom(carried(&error)))
            }
            _ => {
                let message = format!("{value} is not \"all\", \"none\" or a table such as {{ sample = 1000 }}");
                Err(D::Error::custom(message))
            }
        }
    }
}

impl Default for RecordDef {
    fn default() -> RecordDef {
        RecordDef {
            series: Vec::new(),
            every: Every::Span(Span::from_millis(10)),
            bin: Span::from_millis(100),
            internals: None,
            waits: false,
            distributions: Vec::new(),
            flows: None,
        }
    }
}

/// A distribution that a summary can hold.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DistributionName {
    /// Network delay of data packets: last transmission to reception (RFC 7679).
    Delay,
    /// Delay of messages of an application: write to in-order read.
    AppDelay,
    /// Round-trip time samples of the sender: that of the newest segment of each acknowledgment.
    Rtt,
}

/// Which variables of algorithms are recorded.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RecordedInternals {
    /// All.
    All,
    /// Those with these names.
    #[serde(untagged)]
    Named(Vec<String>),
}

impl<'de> Deserialize<'de> for RecordedInternals {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<RecordedInternals, D::Error> {
        let value = Value::deserialize(d)?;
        let names = value.as_array().map(|names| names.iter().map(|name| name.as_str().map(str::to_owned)).collect());
        match (value.as_str(), names) {
            (Some("all"), _) => Ok(RecordedInternals::All),
            (_, Some(Some(names))) => Ok(RecordedInternals::Named(names)),
            _ => Err(D::Error::custom(format!("{value} is not \"all\" or an array of names"))),
        }
    }
}

/// A series.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SeriesName {
    /// Congestion window of the algorithm, bytes, per flow.
    Cwnd,
    /// Slow-start threshold, bytes, per flow; NaN while it is not set.
    Ssthresh,
    /// Send window in effect: cwnd, or the window of loss recovery during an episode, bytes, per flow.
    SendWindow,
    /// Smoothed round-trip time, seconds, per flow.
    Srtt,
    /// Newest round-trip time sample, seconds, per flow.
    Rtt,
    /// Queue length in bytes, per link, for links whose queue was ever non-empty.
    Queue,
    /// Mean queueing delay of the packets whose transmission began since the last sample, seconds, per link; no value where none
    /// did.
    QueueDelay,
    /// Payload sent per bin, retransmissions included, bits per second, per flow.
    SendingRate,
    /// Payload received per bin, bits per second, per flow.
    Throughput,
    /// Payload read in order per bin, bits per second, per flow.
    Goodput,
    /// State of the sender, per flow: 0 Open, 1 Disorder, 2 CWR, 3 Recovery, 4 Loss (as in Linux).
    State,
    /// Retransmitted segments so far, per flow.
    Retransmits,
    /// Bytes estimated to be in the network (RFC 6675), per flow.
    Pipe,
    /// Bytes sent and acknowledged neither cumulatively nor selectively (FlightSize less what is SACKed), per flow.
    Outstanding,
    /// Retransmission time-out in effect, seconds, per flow.
    Rto,
    /// Payload acknowledged so far, bytes, per flow; of a whole transport what the sink has read.
    Acked,
    /// Energy consumed since the run began, joules, per node with a radio whose energy is modelled.
    Energy,
    /// Share of the time since the last sample in which frames to or from a node were on the air, per node with a radio.
    Airtime,
    /// Position along x, metres, per node with a radio; once for a station that does not move.
    PositionX,
    /// Position along y.
    PositionY,
    /// Position along z.
    PositionZ,
    /// Hops of the current path from source to sink, by radio and over links, per flow; NaN while there is none.
    RouteHops,
    /// Propagation delay of the current path over links from source to sink, seconds, per flow; NaN while there is none.
    PathDelay,
    /// Rate that the service of a link offered per bin, bits per second, per link whose service is not a constant rate.
    Capacity,
    /// Probability of the controller of a queue, per link: p' of DualPI2, the drop probability of PIE.
    AqmP,
    /// Probability of a mark in the low-latency queue of DualPI2, per link: the larger of coupling and ramp, 1 at most.
    AqmPL,
    /// Bytes in the low-latency queue of DualPI2, per link.
    QueueL,
    /// Bytes in the classic queue of DualPI2, per link.
    QueueC,
    /// Packets dropped so far, per link, when that has changed.
    Drops,
    /// Packets marked CE by the queue so far, per link, when that has changed.
    Marks,
    /// Flows that have arrived and whose data is not yet delivered, per workload.
    Alive,
    /// Flows that arrived per bin, per second, per workload.
    Arrivals,
    /// Bytes of the flows that arrived per bin, bits per second, per workload.
    Offered,
    /// Bytes read in order per bin, bits per second, per workload.
    Carried,
    /// Video in the buffer of the player, seconds, per flow of `video`.
    Buffer,
    /// Level of the chunk asked for last, per flow of `video`; 0 is the lowest rate.
    Level,
    /// Throughput of each chunk as the player measured it, bits per second, at its arrival, per flow of `video`.
    ChunkRate,
    /// Level of each chunk, at its arrival, per flow of `video`; 0 is the lowest rate.
    ChunkLevel,
    /// Variation of the round-trip time, seconds, per flow.
    Rttvar,
    /// Minimum round-trip time so far, seconds, per flow.
    MinRtt,
    /// Rate at which the sender paces, bits per second, per flow; NaN while it does not.
    PacingRate,
    /// Newest sample of the delivery rate (draft-ietf-ccwg-bbr section 4.5), bits per second, per flow.
    DeliveryRate,
    /// Retransmission time-outs in a row, per flow.
    Timeouts,
    /// Payload of packets sent by the source that have neither arrived nor been dropped, bytes, per flow: what the network knows.
    WireFlight,
    /// What keeps the sender from sending more, per flow: 0 application, 1 congestion window, 2 receive window, 3 pacing, 4 recovery
    /// of losses; NaN when all of it is over.
    Limit,
    /// A variable of an algorithm: [`RecordDef::internals`].
    #[serde(skip)]
    Internal(Variable),
}

/// The name of a variable of an algorithm.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Variable(pub &'static str);

impl SeriesName {
    /// All of them.
    pub const ALL: [SeriesName; 45] = [
        SeriesName::Cwnd,
        SeriesName::Ssthresh,
        SeriesName::SendWindow,
        SeriesName::Srtt,
        SeriesName::Rtt,
        SeriesName::Queue,
        SeriesName::QueueDelay,
        SeriesName::SendingRate,
        SeriesName::Throughput,
        SeriesName::Goodput,
        SeriesName::State,
        SeriesName::Retransmits,
        SeriesName::Pipe,
        SeriesName::Outstanding,
        SeriesName::Rto,
        SeriesName::Acked,
        SeriesName::Energy,
        SeriesName::Airtime,
        SeriesName::PositionX,
        SeriesName::PositionY,
        SeriesName::PositionZ,
        SeriesName::RouteHops,
        SeriesName::PathDelay,
        SeriesName::Capacity,
        SeriesName::AqmP,
        SeriesName::AqmPL,
        SeriesName::QueueL,
        SeriesName::QueueC,
        SeriesName::Drops,
        SeriesName::Marks,
        SeriesName::Alive,
        SeriesName::Arrivals,
        SeriesName::Offered,
        SeriesName::Carried,
        SeriesName::Buffer,
        SeriesName::Level,
        SeriesName::ChunkRate,
        SeriesName::ChunkLevel,
        SeriesName::Rttvar,
        SeriesName::MinRtt,
        SeriesName::PacingRate,
        SeriesName::DeliveryRate,
        SeriesName::Timeouts,
        SeriesName::WireFlight,
        SeriesName::Limit,
    ];

    /// As written in a scenario; of a variable of an algorithm `cc.NAME`.
    pub fn name(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            SeriesName::Internal(Variable(name)) => return Cow::Owned(format!("cc.{name}")),
            SeriesName::Cwnd => "cwnd",
            SeriesName::Ssthresh => "ssthresh",
            SeriesName::SendWindow => "send_window",
            SeriesName::Srtt => "srtt",
            SeriesName::Rtt => "rtt",
            SeriesName::Queue => "queue",
            SeriesName::QueueDelay => "queue_delay",
            SeriesName::SendingRate => "sending_rate",
            SeriesName::Throughput => "throughput",
            SeriesName::Goodput => "goodput",
            SeriesName::State => "state",
            SeriesName::Retransmits => "retransmits",
            SeriesName::Pipe => "pipe",
            SeriesName::Outstanding => "outstanding",
            SeriesName::Rto => "rto",
            SeriesName::Acked => "acked",
            SeriesName::Energy => "energy",
            SeriesName::Airtime => "airtime",
            SeriesName::PositionX => "position_x",
            SeriesName::PositionY => "position_y",
            SeriesName::PositionZ => "position_z",
            SeriesName::RouteHops => "route_hops",
            SeriesName::PathDelay => "path_delay",
            SeriesName::Capacity => "capacity",
            SeriesName::AqmP => "aqm_p",
            SeriesName::AqmPL => "aqm_p_l",
            SeriesName::QueueL => "queue_l",
            SeriesName::QueueC => "queue_c",
            SeriesName::Drops => "drops",
            SeriesName::Marks => "marks",
            SeriesName::Alive => "alive",
            SeriesName::Arrivals => "arrivals",
            SeriesName::Offered => "offered",
            SeriesName::Carried => "carried",
            SeriesName::Buffer => "buffer",
            SeriesName::Level => "level",
            SeriesName::ChunkRate => "chunk_rate",
            SeriesName::ChunkLevel => "chunk_level",
            SeriesName::Rttvar => "rttvar",
            SeriesName::MinRtt => "min_rtt",
            SeriesName::PacingRate => "pacing_rate",
            SeriesName::DeliveryRate => "delivery_rate",
            SeriesName::Timeouts => "timeouts",
            SeriesName::WireFlight => "wire_flight",
            SeriesName::Limit => "limit",
        })
    }
}
