//! The part of the schema that describes voice and video.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcp::units::{Bytes, Span};

use super::dscp::Dscp;
use super::tagged::tagged_enum;
use super::traffic::DatagramEcn;

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
