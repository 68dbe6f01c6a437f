//! The part of the schema that describes 802.15.4.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use tcp::units::Span;

use super::quantity::Power;

/// Encapsulation of datagrams in frames of 127 B.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EncapDef {
    /// IPv6 with compressed headers (RFC 6282) and fragments (RFC 4944), up to 1280 B.
    Sixlowpan,
    /// Plain IPv4, as in ns-2. A datagram that does not fit into one frame is dropped, and counted as `too_long`.
    RawIpv4,
}

/// The length of the addresses in frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AddressLength {
    /// 16 bits: 11 B of MAC header and trailer.
    Short,
    /// 64 bits: 23 B.
    Long,
}

/// Neighbor Discovery for IPv6 (RFC 4861).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NeighborDiscoveryDef {
    /// Addresses are known in advance; no messages.
    None,
    /// As ns-3.37: duplicate address detection, solicitations of routers and neighbors, unreachability detection. A packet waits
    /// for the address of its next hop, four seconds at most, and two more with it.
    #[serde(rename = "ns3")]
    Hosts,
}

/// Implementation of the MAC and of the receiver to follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LrwpanMacDef {
    /// The standard's.
    Std,
    /// That of ns-2.35 with its faults. The length of a datagram is kept in eight bits; a station that is to send a frame of more
    /// than 127 B stalls for good. A CCA is a sample in its middle: if a broadcast begins between sample and end, the station
    /// stalls until it has acknowledged a frame. Any frame from the addressee makes the retries start again. A receiver heeds
    /// frames for its station alone, of two the stronger. A CCA costs more energy than its time. Only with `raw_ipv4`.
    Ns2,
}

/// What follows a channel access failure: the last CCA that a frame may have was busy as well.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AccessFailureDef {
    /// It counts as one of the attempts, and the frame is tried again up to `max_retries`: the rule of OpenThread
    /// (`SubMac::HandleTransmitDone`) and Contiki-NG (`collision` of csma-output.c).
    Retry,
    /// The datagram is dropped. IEEE 802.15.4-2011 §5.1.1.4 reports the failure to the layer above, which in ns-2 and ns-3 does no more.
    Drop,
}

/// Settings of 802.15.4 without beacons; a key left out takes the value of the radio's profile.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LrwpanDef {
    /// MAC and receiver. Default: `std`, in all profiles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mac: Option<LrwpanMacDef>,
    /// Receiver sensitivity: power from which a frame is readable. Default: -95 dBm in std, -111.98 dBm in ns3, 854.57 nW in ns2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sensitivity: Option<Power>,
    /// CCA threshold: power from which the medium is busy. Default: -77 dBm in std, -96.58 dBm in ns3, 854.57 nW in ns2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cca_threshold: Option<Power>,
    /// Encapsulation of datagrams. Default: `raw_ipv4` in ns2, `sixlowpan` otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encap: Option<EncapDef>,
    /// Addresses in frames. Default: `short`. Without effect in ns2, whose frames have 7 B of MAC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub addresses: Option<AddressLength>,
    /// Unicast frames are acknowledged and retransmitted. Default: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acks: Option<bool>,
    /// Mesh-under: every frame is flooded, and this many hops are left to it after the first (ns-3: 10). Stations are neighbours
    /// at the network layer, whatever their distance; `routing` must be `shortest`. Default: off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mesh_under: Option<u32>,
    /// Neighbor Discovery. Default: `ns3` in ns3, `none` otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub neighbor_discovery: Option<NeighborDiscoveryDef>,
    /// Interframe spacing: 192 us after a short frame, 640 us after one of more than 18 B. Default: false in ns2, true otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spaces: Option<bool>,
    /// macMinBE: the first backoff is uniform from 0 to 2^min_be - 1 periods of 320 us. Default: 3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_be: Option<u32>,
    /// macMaxBE: the exponent grows with each busy CCA up to this. Default: 5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_be: Option<u32>,
    /// macMaxCSMABackoffs: at one more busy CCA than this the access to the channel has failed. Default: 4.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_backoffs: Option<u32>,
    /// What follows a channel access failure. Default: `retry` in std, `drop` in ns2, ns3 and with `mac = "ns2"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access_failure: Option<AccessFailureDef>,
    /// macMaxFrameRetries: further attempts after one that failed, from 0 to 15. Default: 3, that of the standard. Boards differ:
    /// OpenThread has 15 since March 2021 and had 3 before, Contiki-NG 7, the boards of TCPlp 9.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<u32>,
    /// Longest delay before an attempt is repeated, uniform from 0 s: against hidden stations (TCPlp, NSDI 2020: 40 ms). Default: 0 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_delay: Option<Span>,
    /// Time that a board takes to hand a new frame to its radio, before CSMA/CA. With 4.1 ms a full frame takes the 8.2 ms that were
    /// measured on boards of TCPlp. Default: 0 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub board_time: Option<Span>,
}
