//! The part of the schema that says how the transmitter of a link serves its queue.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcp::units::{Bytes, Rate, Span};

use super::effects::DelayDef;
use super::period::{ConstantDef, PeriodDef};
use super::points::{Points, RateOrZero};
use super::tagged::tagged_enum;
use super::times::Times;

tagged_enum! {
    /// How the transmitter of a link serves its queue.
    #[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
    pub enum ServiceDef ("a service") {
        /// At the rate of the link.
        "rate" => Rate(RateService),
        /// At the instants of a trace, each an opportunity to deliver some bytes (mahimahi).
        "trace" => Trace(TraceService),
        /// At opportunities with exponential distances.
        "poisson" => Poisson(PoissonService),
        /// At a rate that is constant between given times; a packet under way goes on at the new rate.
        "rate_trace" => RateTrace(RateTraceService),
        /// At a peak rate while tokens last, then at a sustained rate.
        "boost" => Boost(BoostService),
        /// At the rate of the link in periods of service, between which it stands still.
        "on_off" => OnOff(OnOffService),
        /// In bursts of packets that arrive together, each after a wait for access (802.11 A-MPDU).
        "aggregate" => Aggregate(AggregateService),
        /// In grants, each asked for some time before (DOCSIS upstream).
        "request_grant" => RequestGrant(RequestGrantService),
        /// In time slots that each draw a rate and a delay (Starlink).
        "slots" => Slots(SlotsService),
    }
}

/// At the rate of the link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateService {}

/// At the instants of a trace. What nobody uses of an opportunity is lost; a packet leaves at the opportunity that brings its last
/// byte, and several may leave at one.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceService {
    /// File with a time in milliseconds on each line, relative to the scenario; also compressed (`.gz`). It stands for `times`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The times of the opportunities in milliseconds, not decreasing, separated by blanks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<Times>,
    /// Profile of `opportunity` and of the link's `overhead`.
    #[serde(default)]
    pub profile: TraceProfile,
    /// Bytes of an opportunity. `mahimahi`: 1504, `std`: 1500.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opportunity: Option<Bytes>,
    /// The trace begins again when its last time is over; otherwise there is no service after it.
    #[serde(default = "yes", rename = "loop")]
    pub repeats: bool,
    /// When the trace begins.
    #[serde(default)]
    pub offset: Span,
    /// Rate that the queue and the base RTT are computed for. Default: the mean of the trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nominal_rate: Option<Rate>,
}

/// Profile of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TraceProfile {
    /// Opportunities of 1504 bytes, and 4 bytes of overhead for each packet: those of mahimahi's TUN device.
    #[default]
    Mahimahi,
    /// Opportunities of 1500 bytes, no overhead.
    Std,
}

impl TraceProfile {
    /// Bytes of an opportunity.
    pub fn opportunity(self) -> Bytes {
        match self {
            TraceProfile::Mahimahi => Bytes(1504),
            TraceProfile::Std => Bytes(1500),
        }
    }

    /// Bytes that a packet has more on the link.
    pub fn overhead(self) -> Bytes {
        match self {
            TraceProfile::Mahimahi => Bytes(4),
            TraceProfile::Std => Bytes::ZERO,
        }
    }
}

/// At opportunities of 1504 bytes with exponential distances.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PoissonService {
    /// Mean rate.
    pub rate: Rate,
    /// Bytes of an opportunity.
    #[serde(default = "mahimahi_opportunity")]
    pub opportunity: Bytes,
}

/// At a rate that is constant between given times.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateTraceService {
    /// CSV file with the columns `t_s` and `rate_bps`, or those of `columns`, relative to the scenario; also compressed (`.gz`). It
    /// stands for `points`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Columns of the file with other names or units, or with a delay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<Box<TraceColumns>>,
    /// SHA-256 of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Times, increasing from 0, and the rates from then on; `"0bps"` is a pause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points: Option<Points>,
    /// The list begins again after its last point, which lasts as long as the one before it; otherwise its rate stays.
    #[serde(default, rename = "loop")]
    pub repeats: bool,
    /// Rate that the queue and the base RTT are computed for. Default: the mean over the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nominal_rate: Option<Rate>,
}

/// Columns of a file of rates.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceColumns {
    /// Name of the column of times; the first is the beginning.
    pub time: String,
    /// Name of that of rates.
    pub rate: String,
    /// Name of a column of one-way delays, which become `changes` of the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<String>,
    /// `"s"`, `"ms"`, `"us"` or `"ns"`. Default: `"s"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_unit: Option<String>,
    /// `"bps"`, `"kbps"`, `"Mbps"`, `"Gbps"`, `"Bps"`, `"kBps"` or `"MBps"`. Default: `"bps"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_unit: Option<String>,
    /// As `time_unit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_unit: Option<String>,
}

/// At a peak rate while tokens last. A packet is sent at one rate.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoostService {
    /// Rate of a packet for which there are tokens when its transmission begins.
    pub peak: Rate,
    /// Rate of the others, and at which the tokens grow.
    pub sustained: Rate,
    /// Most tokens, and their number at the start.
    pub bucket: Bytes,
}

/// At the rate of the link in periods of service, between which it stands still.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnOffService {
    /// Length of the periods of service.
    pub on: PeriodDef,
    /// Length of the pauses.
    pub off: PeriodDef,
    /// What the run begins with.
    #[serde(default)]
    pub first: Phase,
    /// What a pause does to packets.
    #[serde(default)]
    pub while_off: WhileOff,
}

/// Service or pause.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Service.
    #[default]
    On,
    /// A pause.
    Off,
}

/// What a pause does to packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WhileOff {
    /// They wait; the one under way is finished afterwards.
    #[default]
    Hold,
    /// What waits, is under way or comes is lost (mahimahi's `mm-onoff`); routes do not follow.
    Drop,
}

/// In bursts of packets that arrive together.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AggregateService {
    /// Time from the moment at which packets wait and the medium is free to the first bit: DIFS, mean backoff, PHY header, SIFS and
    /// Block Ack of 802.11.
    pub access: Span,
    /// Added to `access` for each burst, drawn anew. Default: nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<DelayDef>,
    /// Most packets of a burst: the Block Ack window of 802.11n and ac.
    pub packets: u64,
    /// Longest burst at the rate of the link, but one packet always goes.
    pub time: Span,
}

impl Default for AggregateService {
    fn default() -> AggregateService {
        AggregateService { access: Span::from_micros(150), jitter: None, packets: 64, time: Span::from_millis(4) }
    }
}

/// In grants, each asked for some time before.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RequestGrantService {
    /// Length of a map: at its end everything that waits and is not asked for is asked for.
    pub map: Span,
    /// Maps from a request to its grant.
    #[serde(rename = "loop")]
    pub loop_maps: u64,
    /// Rate at which granted bytes are sent. Default: the rate of the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Requests ride on data: several may be outstanding; otherwise one.
    pub rides: bool,
}

impl Default for RequestGrantService {
    fn default() -> RequestGrantService {
        RequestGrantService { map: Span::from_millis(2), loop_maps: 2, rate: None, rides: true }
    }
}

/// In time slots that each draw a rate and a delay, uniformly.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SlotsService {
    /// Length of a slot.
    #[serde(default = "slot_period")]
    pub period: Span,
    /// When the first whole slot begins.
    #[serde(default = "slot_phase")]
    pub phase: Span,
    /// Smallest and largest rate.
    pub rate: [Rate; 2],
    /// Smallest and largest one-way delay, in place of the link's `delay`. Default: that of the link, always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<[Span; 2]>,
    /// Longer delays around the boundaries of slots.
    #[serde(default)]
    pub edge: EdgeDef,
    /// Pause of the transmitter after each boundary.
    #[serde(default)]
    pub outage: Span,
}

/// The parts of a slot in which the delay is longer and jitter counts double.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EdgeDef {
    /// From the beginning of a slot.
    pub after: Span,
    /// Up to the end of a slot.
    pub before: Span,
    /// How much longer the delay is.
    pub extra: Span,
    /// Each slot draws how much longer, from `extra` to this. Default: `extra`, always.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra_to: Option<Span>,
}

fn yes() -> bool {
    true
}

fn mahimahi_opportunity() -> Bytes {
    TraceProfile::Mahimahi.opportunity()
}

fn slot_period() -> Span {
    Span::from_millis(15_000)
}

fn slot_phase() -> Span {
    Span::from_millis(12_000)
}

impl ServiceDef {
    /// The rate that it has in place of the link's, if it has one.
    pub fn own_rate(&self) -> Option<Rate> {
        match self {
            ServiceDef::Trace(trace) => trace.nominal_rate.or_else(|| trace.mean_rate()),
            ServiceDef::Poisson(poisson) => Some(poisson.rate),
            ServiceDef::RateTrace(trace) => trace.nominal_rate.or_else(|| trace.mean_rate()),
            ServiceDef::Boost(boost) => Some(boost.sustained),
            ServiceDef::RequestGrant(grants) => grants.rate,
            ServiceDef::Slots(slots) => Rate::from_bps((slots.rate[0].as_bps() + slots.rate[1].as_bps()) / 2),
            ServiceDef::Rate(_) | ServiceDef::OnOff(_) | ServiceDef::Aggregate(_) => None,
        }
    }
}

impl TraceService {
    /// Bytes of an opportunity.
    pub fn opportunity(&self) -> Bytes {
        self.opportunity.unwrap_or(self.profile.opportunity())
    }

    pub(crate) fn mean_rate(&self) -> Option<Rate> {
        let times = &self.times.as_ref()?.millis;
        let bits = 8 * self.opportunity().0 as u128 * times.len() as u128;
        Rate::from_bps(u64::try_from(bits * 1000 / u128::from(*times.last()?).max(1)).ok()?.max(1))
    }
}

impl RateTraceService {
    /// How long the list lasts: its last point as long as the one before it.
    pub fn period(&self) -> Option<Span> {
        let [.., before, last] = self.points.as_deref()? else { return None };
        Some(last.0 + last.0.saturating_sub(before.0))
    }

    pub(crate) fn mean_rate(&self) -> Option<Rate> {
        let points = self.points.as_deref()?;
        let period = self.period().unwrap_or(Span::from_millis(1));
        let ends = points.iter().skip(1).map(|point| point.0).chain([period]);
        let area = |(point, end): (&(Span, RateOrZero), Span)| {
            u128::from(point.1.as_bps()) * u128::from(end.saturating_sub(point.0).as_nanos())
        };
        let area: u128 = points.iter().zip(ends).map(area).sum();
        Rate::from_bps(u64::try_from(area / u128::from(period.as_nanos()).max(1)).ok()?.max(1))
    }
}

impl PeriodDef {
    /// Its mean.
    pub fn mean(&self) -> Span {
        match self {
            PeriodDef::Constant(ConstantDef { length }) => *length,
            PeriodDef::Exponential(exponential) => exponential.mean,
            PeriodDef::Pareto(pareto) => pareto.mean,
        }
    }
}
