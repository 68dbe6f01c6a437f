//! The part of the schema that describes 802.15.4.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How datagrams are put into frames of 127 B.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EncapDef {
    /// IPv6 with compressed headers (RFC 6282) and fragments (RFC 4944), up to 1280 B.
    Sixlowpan,
    /// IPv4 as it is, as in ns-2. What does not fit into one frame is dropped, and counted as `too_long`.
    RawIpv4,
}

/// The length of the addresses in frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AddressLength {
    /// 16 bits: 11 B of MAC around what a frame carries.
    Short,
    /// 64 bits: 23 B.
    Long,
}

/// Settings of 802.15.4 without beacons; what is left out comes from the radio's profile.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LrwpanDef {
    /// How datagrams are put into frames: `raw_ipv4` in ns2, `sixlowpan` otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encap: Option<EncapDef>,
    /// Addresses in frames; `short` unless given. Without effect in ns2, whose frames have 7 B of MAC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub addresses: Option<AddressLength>,
    /// Frames to one station are acknowledged and repeated; true unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acks: Option<bool>,
    /// A sender leaves 192 us after a short frame and 640 us after one of more than 18 B; false in ns2, true otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spaces: Option<bool>,
    /// The first backoff is drawn from 0 to 2^min_be - 1 periods of 320 us; 3 unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_be: Option<u32>,
    /// The exponent grows with each busy assessment, up to this; 5 unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_be: Option<u32>,
    /// After so many busy assessments another one gives the frame up; 4 unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_backoffs: Option<u32>,
    /// A frame without an answer is sent again so often; 3 unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<u32>,
}
