//! The part of the schema that describes voice, calls and streaming.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcp::units::{Bytes, Rate, Span};

use super::datagrams::DatagramEcn;
use super::dscp::Dscp;
use super::tagged::tagged_enum;

/// A telephone call over UDP, one way: 50 packets a second, judged by the E-model (ITU-T G.107).
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct VoiceDef {
    /// What encodes the voice.
    pub codec: Codec,
    /// Network delay after which a packet is played out; one that takes longer is lost to the ear.
    pub playout: Playout,
    /// ECN field of datagrams. Default: `off`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<DatagramEcn>,
    /// Differentiated services code point of datagrams; the same as `dscp` of the flow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dscp: Option<Dscp>,
}

impl VoiceDef {
    /// Encoded voice in a packet.
    pub fn payload(&self) -> Bytes {
        match self.codec {
            Codec::G711 | Codec::G711Plain => Bytes(160),
            Codec::G729a => Bytes(20),
        }
    }

    /// Payload of a datagram: the voice and the header of RTP (RFC 3550 §5.1).
    pub fn datagram_size(&self) -> Bytes {
        self.payload() + Bytes(12)
    }
}

/// What encodes voice (ITU-T G.113 appendix I).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Codec {
    /// G.711 with packet loss concealment: 160 B each 20 ms, 80 kb/s with the headers of RTP, UDP and IP.
    #[default]
    G711,
    /// G.711 without concealment.
    G711Plain,
    /// G.729A: 20 B each 20 ms.
    G729a,
}

tagged_enum! {
    /// When packets of voice are played out.
    #[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
    pub enum Playout ("a playout", text: playout_of, such as "60ms") {
        /// Whatever delay gives the best rating of the call, found after the run.
        "auto" => Auto(AutoPlayout),
        /// This long after it was sent.
        "fixed" => Fixed(FixedPlayout),
    }
}

/// The delay with the best rating.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AutoPlayout {}

/// A fixed delay.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixedPlayout {
    /// From sending to playing.
    pub delay: Span,
}

impl Default for Playout {
    fn default() -> Playout {
        Playout::Auto(AutoPlayout {})
    }
}

fn playout_of(text: &str) -> Result<Playout, String> {
    if text == "auto" {
        return Ok(Playout::default());
    }
    let delay = text.parse().map_err(|error| format!("{error}, or \"auto\""))?;
    Ok(Playout::Fixed(FixedPlayout { delay }))
}

/// Streaming of video over HTTP: chunks of a few seconds at one of several rates. `to` is the player, `from` the server.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct VideoDef {
    /// Rates of the video, ascending. Default: 300, 750, 1200, 1850, 2850 and 4300 kb/s (Mao et al. 2017).
    pub ladder: Vec<Rate>,
    /// Length of a chunk.
    pub chunk: Span,
    /// Number of chunks.
    pub chunks: u32,
    /// Video that the player holds at most.
    pub buffer: Span,
    /// How the player chooses the rate of a chunk.
    pub rule: VideoRule,
    /// Level of the first chunk; 0 is the lowest.
    pub start: u32,
    /// Size of a request.
    pub request: Bytes,
}

impl Default for VideoDef {
    fn default() -> VideoDef {
        let kbps = [300, 750, 1200, 1850, 2850, 4300];
        VideoDef {
            ladder: kbps.into_iter().filter_map(|kbps| Rate::from_bps(1000 * kbps)).collect(),
            chunk: Span::from_millis(4_000),
            chunks: 48,
            buffer: Span::from_millis(60_000),
            rule: VideoRule::Buffer(BufferRule::default()),
            start: 1,
            request: Bytes(400),
        }
    }
}

tagged_enum! {
    /// How a player chooses the rate of a chunk.
    #[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
    pub enum VideoRule ("a rule", text: rule_of, such as "buffer") {
        /// By the video in the buffer: the lowest rate below the reservoir, the highest above reservoir and cushion, between
        /// them in equal steps (Huang et al. 2014).
        "buffer" => Buffer(BufferRule),
        /// By the harmonic mean of the throughput of the last chunks.
        "throughput" => Throughput(ThroughputRule),
        /// Always the same.
        "fixed" => Fixed(FixedRule),
    }
}

fn rule_of(text: &str) -> Result<VideoRule, String> {
    match text {
        "buffer" => Ok(VideoRule::Buffer(BufferRule::default())),
        "throughput" => Ok(VideoRule::Throughput(ThroughputRule::default())),
        _ => Err(format!(
            "{text:?} is not a rule; it is \"buffer\", \"throughput\" or {{ kind = \"fixed\", level = 2 }}"
        )),
    }
}

/// By the video in the buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BufferRule {
    /// Below it the lowest rate is chosen.
    pub reservoir: Span,
    /// How much more there is when the highest is.
    pub cushion: Span,
}

impl Default for BufferRule {
    fn default() -> BufferRule {
        BufferRule { reservoir: Span::from_millis(5_000), cushion: Span::from_millis(10_000) }
    }
}

/// By throughput.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ThroughputRule {
    /// Chunks in the mean.
    pub window: u32,
    /// Share of the throughput that may be used.
    pub safety: f64,
}

impl Default for ThroughputRule {
    fn default() -> ThroughputRule {
        ThroughputRule { window: 5, safety: 0.9 }
    }
}

/// Always the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixedRule {
    /// Level; 0 is the lowest.
    pub level: u32,
}

/// A video call over UDP, one way: frames at a constant pace, reports of the receiver, and a circuit breaker (RFC 8083).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RtcDef {
    /// Rate of the video, headers of RTP included, at first.
    pub rate: Rate,
    /// With `control = "loss"`: lowest rate. Default: a tenth of `rate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_min: Option<Rate>,
    /// With `control = "loss"`: highest rate. Default: four times `rate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_max: Option<Rate>,
    /// Frames a second.
    pub fps: f64,
    /// Distance of key frames.
    pub key_every: Span,
    /// Size of a key frame as a multiple of others.
    pub key_ratio: f64,
    /// Largest payload of a datagram.
    pub packet: Bytes,
    /// The packets of a frame leave spread over the time to the next, instead of at once.
    pub paced: bool,
    /// What adapts the rate.
    pub control: RtcControl,
    /// Distance of the receiver's reports.
    pub report: Span,
    /// A frame that takes longer from its capture to its last packet is late.
    pub deadline: Span,
    /// The circuit breaker of RFC 8083 ends the call when nothing arrives, or congestion persists.
    pub breaker: bool,
    /// ECN field of datagrams. Default: `off`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<DatagramEcn>,
    /// Differentiated services code point of datagrams; the same as `dscp` of the flow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dscp: Option<Dscp>,
}

impl RtcDef {
    const MEGABIT: Rate = Rate::from_bps(1_000_000).expect("above 0");

    /// The least and the greatest rate.
    pub fn bounds(&self) -> [Rate; 2] {
        let times = |bps: u64| Rate::from_bps(bps.max(1)).unwrap_or(self.rate);
        let bps = self.rate.as_bps();
        [self.rate_min.unwrap_or(times(bps / 10)), self.rate_max.unwrap_or(times(bps.saturating_mul(4)))]
    }
}

impl Default for RtcDef {
    fn default() -> RtcDef {
        RtcDef {
            rate: RtcDef::MEGABIT,
            rate_min: None,
            rate_max: None,
            fps: 30.0,
            key_every: Span::from_millis(10_000),
            key_ratio: 3.0,
            packet: Bytes(1200),
            paced: false,
            control: RtcControl::None,
            report: Span::from_millis(1_000),
            deadline: Span::from_millis(150),
            breaker: true,
            ecn: None,
            dscp: None,
        }
    }
}

/// What adapts the rate of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RtcControl {
    /// Nothing.
    #[default]
    None,
    /// The loss that each report says (draft-ietf-rmcat-gcc-02 §6).
    Loss,
}
