//! The part of the schema that describes nodes and links.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use tcp::units::{Bytes, Rate, Span};

use super::mobility::MobilityDef;
use super::parse::{read, tagged};
use super::queue::Queue;
use super::wired_cum_wireless::WiredCumWireless;
use super::wireless::{Adhoc, Area, Infrastructure};
use crate::scenario::constellation::Constellation;

/// The shape of the network. All but `graph` are shorthands, which `tonopah check FILE --expand` prints as a graph.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Network {
    /// Pairs of hosts that share one link: left0…, r0, r1, right0….
    Dumbbell(Dumbbell),
    /// Sources and sinks around one gateway: src0…, gateway, sink0….
    Star(Star),
    /// Routers in a row, switches on each router, PCs on each switch: r0…, sw0…, pc0….
    Lan(Lan),
    /// A random connected network of routers, each with a host: n0….
    RandomWired(RandomWired),
    /// Stations of one channel that pass packets on for one another: n0….
    Adhoc(Adhoc),
    /// Cells around access points, joined by wire: ap0…, sta0….
    Infrastructure(Infrastructure),
    /// Hosts on a wired core, and stations that reach it by way of base stations: r0…, w0…, bs0…, sta0….
    WiredCumWireless(Box<WiredCumWireless>),
    /// Satellites on circular orbits and terminals on the ground.
    Constellation(Box<Constellation>),
    /// Nodes and links one by one, in `node` and `link`.
    Graph(Graph),
}

impl<'de> Deserialize<'de> for Network {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Network, D::Error> {
        tagged(
            d,
            "a network",
            &[
                ("dumbbell", |v| read(v).map(Network::Dumbbell)),
                ("star", |v| read(v).map(Network::Star)),
                ("lan", |v| read(v).map(Network::Lan)),
                ("random_wired", |v| read(v).map(Network::RandomWired)),
                ("adhoc", |v| read(v).map(Network::Adhoc)),
                ("infrastructure", |v| read(v).map(Network::Infrastructure)),
                ("wired_cum_wireless", |v| read(v).map(|network| Network::WiredCumWireless(Box::new(network)))),
                ("constellation", |v| read(v).map(|constellation| Network::Constellation(Box::new(constellation)))),
                ("graph", |v| read(v).map(Network::Graph)),
            ],
        )
    }
}

/// Pairs of hosts that share one link.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Dumbbell {
    /// Hosts on each side.
    pub pairs: u64,
    /// Flows to make from `traffic`; flow i goes from left i to right i, modulo the pairs.
    pub flows: u64,
    /// Links of the hosts. Default: 1 Gbps, 1 ms, queue of 1000 packets.
    pub access: LinkOptions,
    /// The shared link, from r0 to r1. Default: 10 Mbps, 10 ms, queue of 100 packets.
    pub bottleneck: LinkOptions,
}

impl Default for Dumbbell {
    fn default() -> Dumbbell {
        Dumbbell { pairs: 1, flows: 0, access: LinkOptions::default(), bottleneck: LinkOptions::default() }
    }
}

/// Sources and sinks around one gateway.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Star {
    /// Sources and sinks together, half of each; the gateway is not counted.
    pub nodes: u64,
    /// Flows to make from `traffic`; flow i goes from source i to sink i, modulo their numbers.
    pub flows: u64,
    /// Links from the sources to the gateway. Default: 2 Mbps, 0.01 ms, queue of 100 packets.
    pub source: LinkOptions,
    /// Links from the gateway to the sinks. Default: 10 Mbps, 45 ms, queue of 100 packets.
    pub sink: LinkOptions,
}

impl Default for Star {
    fn default() -> Star {
        Star { nodes: 40, flows: 20, source: LinkOptions::default(), sink: LinkOptions::default() }
    }
}

/// Routers, switches and PCs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Lan {
    /// Routers in a row.
    pub routers: u64,
    /// Switches on each router.
    pub switches_per_router: u64,
    /// PCs on each switch.
    pub pcs_per_switch: u64,
    /// Flows to make from `traffic`; flow i goes from a PC of the first half to the PC as far into the second half.
    pub flows: u64,
    /// Links of the PCs, and between switch and router. Default: 30 Mbps, 5 us, queue of 100 packets.
    pub access: LinkOptions,
    /// Links between routers. Default: 100 Mbps, 5 us, queue of 100 packets.
    pub core: LinkOptions,
}

impl Default for Lan {
    fn default() -> Lan {
        Lan {
            routers: 2,
            switches_per_router: 1,
            pcs_per_switch: 6,
            flows: 0,
            access: LinkOptions::default(),
            core: LinkOptions::default(),
        }
    }
}

/// A random connected network: a random tree, and random further links up to the mean degree.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RandomWired {
    /// Nodes; each forwards and may send and receive.
    pub nodes: u64,
    /// Flows to make from `traffic`, between random pairs of distinct nodes.
    pub flows: u64,
    /// Mean number of links at a node; at least what a tree needs.
    pub degree: f64,
    /// Every link. Default: 2 Mbps, 10 ms, queue of 50 packets.
    pub links: LinkOptions,
}

impl Default for RandomWired {
    fn default() -> RandomWired {
        RandomWired { nodes: 40, flows: 20, degree: 3.0, links: LinkOptions::default() }
    }
}

/// Nodes and links are listed in `node` and `link`.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Graph {
    /// The field that stations are in, for pictures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub area: Option<Area>,
}

/// A node of a graph.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeDef {
    /// Its name; unique.
    pub name: String,
    /// What it is, for pictures.
    #[serde(default)]
    pub role: Role,
    /// Where it is drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<f64>,
    /// Where it is drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y: Option<f64>,
    /// Its height; with a radio, `x`, `y` and `z` are metres.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub z: Option<f64>,
    /// How it moves from there, if it has a radio; not at all unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mobility: Option<MobilityDef>,
}

/// What a node is, for pictures; every node forwards what is not for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// An end system.
    #[default]
    Host,
    /// A router.
    Router,
    /// The centre of a star.
    Gateway,
    /// A radio that may move.
    Station,
    /// A radio that a cell is built around.
    AccessPoint,
    /// A radio that joins stations to a wired core.
    BaseStation,
    /// A store-and-forward switch: one queue per port, no latency of its own.
    Switch,
    /// A satellite.
    Satellite,
}

/// A duplex link of a graph: two independent simplex links.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkDef {
    /// One end; `loss` acts on what travels from here.
    pub from: String,
    /// The other end.
    pub to: String,
    /// Rate of each direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Propagation delay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Span>,
    /// Queue of each direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<Queue>,
    /// Loss by the medium, from `from` to `to` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossModel>,
    /// Framing bytes per packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overhead: Option<Bytes>,
    /// What is different from `to` to `from`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverse: Option<Box<LinkOptions>>,
    /// Changes over time, of both directions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<LinkChangeAt>,
}

/// Properties of a duplex link; what is left out takes the default named where the link is used.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LinkOptions {
    /// Rate of each direction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Propagation delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Span>,
    /// Queue of each direction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<Queue>,
    /// Loss by the medium, in the forward direction only: towards the second router, the sinks, the later node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossModel>,
    /// Framing bytes per packet: 0 as in ns-2 unless given, 2 for PPP, 38 for Ethernet on the wire.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overhead: Option<Bytes>,
    /// What is different in the other direction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reverse: Option<Box<LinkOptions>>,
    /// Changes over time, of both directions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<LinkChangeAt>,
}

/// A change of a link at an instant.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkChangeAt {
    /// When.
    pub at: Span,
    /// Up or down. What waits or travels on a link that goes down is lost; routes follow at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub up: Option<bool>,
    /// New rate, from the next transmission on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// New propagation delay; packets stay in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Span>,
}

/// Loss by the medium.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LossModel {
    /// Nothing is lost.
    None(NoLoss),
    /// Each packet is lost with probability p, at the receiving end.
    Packet(PacketLoss),
    /// Each bit is in error with probability ber; one error loses the packet.
    Bit(BitLoss),
    /// Two states with a loss probability each, stepped per packet.
    GilbertElliott(GilbertElliottLoss),
    /// The listed data-bearing packets, counted as they enter the link, retransmissions too.
    Nth(NthLoss),
}

impl<'de> Deserialize<'de> for LossModel {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<LossModel, D::Error> {
        tagged(
            d,
            "a loss model",
            &[
                ("none", |v| read(v).map(LossModel::None)),
                ("packet", |v| read(v).map(LossModel::Packet)),
                ("bit", |v| read(v).map(LossModel::Bit)),
                ("gilbert_elliott", |v| read(v).map(LossModel::GilbertElliott)),
                ("nth", |v| read(v).map(LossModel::Nth)),
            ],
        )
    }
}

/// Nothing is lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoLoss {}

/// Independent loss of packets.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PacketLoss {
    /// Probability that a packet is lost, 0 to 1.
    pub p: f64,
}

/// Independent errors of bits.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BitLoss {
    /// Bit error rate, 0 to 1; a packet of L bytes is lost with probability 1 - (1 - ber)^(8 L).
    pub ber: f64,
}

/// Bursty loss (Gilbert 1960, Elliott 1963).
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GilbertElliottLoss {
    /// Probability per packet of leaving the good state.
    pub good_to_bad: f64,
    /// Probability per packet of leaving the bad state.
    pub bad_to_good: f64,
    /// Loss probability in the good state.
    #[serde(default)]
    pub loss_good: f64,
    /// Loss probability in the bad state.
    #[serde(default = "certain")]
    pub loss_bad: f64,
}

fn certain() -> f64 {
    1.0
}

/// Scripted loss.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NthLoss {
    /// 0-based numbers of data-bearing packets.
    pub data_packets: Vec<u64>,
}
