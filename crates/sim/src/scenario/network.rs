//! The part of the schema that says which kinds of network there are, and the nodes of a graph.

use super::access::{Access, Home, Multihomed};
use super::area::Area;
use super::constellation::Constellation;
use super::link::LinkOptions;
use super::mobility::MobilityDef;
use super::paths::PathRouting;
use super::shapes::{FatTree, LeafSpine, ParkingLot};
use super::shared_buffer::SharedBufferDef;
use super::tagged::tagged_enum;
use super::wired_cum_wireless::WiredCumWireless;
use super::wireless::{Adhoc, Infrastructure};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

tagged_enum! {
    /// The topology of the network. All but `graph` are shorthands, which `tonopah check FILE --expand` prints as a graph.
    #[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
    pub enum Network ("a network") {
        /// Pairs of hosts that share one link: left0…, r0, r1, right0….
        "dumbbell" => Dumbbell(Dumbbell),
        /// Sources and sinks around one gateway: src0…, gateway, sink0….
        "star" => Star(Star),
        /// Routers in a row, switches on each router, PCs on each switch: r0…, sw0…, pc0….
        "lan" => Lan(Lan),
        /// Routers in a row, with flows over all links between them and over one each: r0…, long_src0…, cross0_src0….
        "parking_lot" => ParkingLot(Box<ParkingLot>),
        /// Leaf switches with hosts, each joined to every spine switch: h0…, leaf0…, spine0….
        "leaf_spine" => LeafSpine(Box<LeafSpine>),
        /// Three tiers of switches with k ports: h0…, edge0_0…, agg0_0…, core0….
        "fat_tree" => FatTree(Box<FatTree>),
        /// Servers behind one core, and homes with a line each: srv0…, core, isp0…, gw0…, home0_0….
        "access" => Access(Box<Access>),
        /// One home, with a shaper if it has one: srv0…, core, isp0, modem0, gw0, home0_0….
        "home" => Home(Box<Home>),
        /// A client with several lines: s0…, m, path0…, c.
        "multihomed" => Multihomed(Box<Multihomed>),
        /// A random connected network of routers, each with a host: n0….
        "random_wired" => RandomWired(RandomWired),
        /// Stations of one channel that forward packets for one another: n0….
        "adhoc" => Adhoc(Adhoc),
        /// Cells around access points that wires connect: ap0…, sta0….
        "infrastructure" => Infrastructure(Infrastructure),
        /// Hosts on a wired core, and stations that reach it by way of base stations: r0…, w0…, bs0…, sta0….
        "wired_cum_wireless" => WiredCumWireless(Box<WiredCumWireless>),
        /// Satellites on circular orbits and terminals on the ground.
        "constellation" => Constellation(Box<Constellation>),
        /// Nodes and links one by one, in `node` and `link`.
        "graph" => Graph(Graph),
    }
}

/// Pairs of hosts that share one link.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Dumbbell {
    /// Hosts on each side.
    pub pairs: u64,
    /// Flows to generate from `traffic`; flow i goes from left i to right i, modulo the pairs.
    pub flows: u64,
    /// Links of the hosts. Default: 1 Gbps, 1 ms, queue of 1000 packets.
    pub access: LinkOptions,
    /// The shared link, from r0 to r1. Default: 10 Mbps, 10 ms, queue of 100 packets.
    pub bottleneck: LinkOptions,
    /// Memory that the ports of its two routers, each its own, share. Default: none, each queue has its own limit; with
    /// it queues that are not given have no other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_buffer: Option<SharedBufferDef>,
    /// Which path a packet takes. Default: `single`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routing: Option<PathRouting>,
}

impl Default for Dumbbell {
    fn default() -> Dumbbell {
        let (access, bottleneck) = (LinkOptions::default(), LinkOptions::default());
        Dumbbell { pairs: 1, flows: 0, access, bottleneck, shared_buffer: None, routing: None }
    }
}

/// Sources and sinks around one gateway.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Star {
    /// Sources and sinks together, half of each; the gateway is not counted.
    pub nodes: u64,
    /// Flows to generate from `traffic`; flow i goes from source i to sink i, modulo their numbers.
    pub flows: u64,
    /// Links from the sources to the gateway. Default: 2 Mbps, 0.01 ms, queue of 100 packets.
    pub source: LinkOptions,
    /// Links from the gateway to the sinks. Default: 10 Mbps, 45 ms, queue of 100 packets.
    pub sink: LinkOptions,
    /// Memory that the ports of its gateway share. Default: none, each queue has its own limit; with
    /// it queues that are not given have no other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_buffer: Option<SharedBufferDef>,
    /// Which path a packet takes. Default: `single`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routing: Option<PathRouting>,
}

impl Default for Star {
    fn default() -> Star {
        let (source, sink) = (LinkOptions::default(), LinkOptions::default());
        Star { nodes: 40, flows: 20, source, sink, shared_buffer: None, routing: None }
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
    /// Flows to generate from `traffic`; flow i goes from a PC of the first half to the PC as far into the second half.
    pub flows: u64,
    /// Links of the PCs, and between switch and router. Default: 30 Mbps, 5 us, queue of 100 packets.
    pub access: LinkOptions,
    /// Links between routers. Default: 100 Mbps, 5 us, queue of 100 packets.
    pub core: LinkOptions,
    /// Which path a packet takes. Default: `single`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routing: Option<PathRouting>,
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
            routing: None,
        }
    }
}

/// A random connected network: a random tree, and random further links up to the mean degree.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RandomWired {
    /// Nodes; each forwards and may send and receive.
    pub nodes: u64,
    /// Flows to generate from `traffic`, between random pairs of distinct nodes.
    pub flows: u64,
    /// Mean number of links at a node; at least what a tree needs.
    pub degree: f64,
    /// All links. Default: 2 Mbps, 10 ms, queue of 50 packets.
    pub links: LinkOptions,
    /// Which path a packet takes. Default: `single`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routing: Option<PathRouting>,
}

impl Default for RandomWired {
    fn default() -> RandomWired {
        RandomWired { nodes: 40, flows: 20, degree: 3.0, links: LinkOptions::default(), routing: None }
    }
}

/// Nodes and links are listed in `node` and `link`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Graph {
    /// The field that stations are in, for pictures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub area: Option<Area>,
    /// Which path a packet over links takes. Default: `single`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub routing: Option<PathRouting>,
}

impl Network {
    /// Which path a packet takes, if the scenario says it; of kinds that have links alone.
    pub fn routing(&self) -> Option<&PathRouting> {
        match self {
            Network::Dumbbell(network) => network.routing.as_ref(),
            Network::Star(network) => network.routing.as_ref(),
            Network::Lan(network) => network.routing.as_ref(),
            Network::ParkingLot(network) => network.routing.as_ref(),
            Network::LeafSpine(network) => network.routing.as_ref(),
            Network::FatTree(network) => network.routing.as_ref(),
            Network::Access(network) => network.routing.as_ref(),
            Network::Home(network) => network.routing.as_ref(),
            Network::Multihomed(network) => network.routing.as_ref(),
            Network::RandomWired(network) => network.routing.as_ref(),
            Network::Graph(network) => network.routing.as_ref(),
            Network::Adhoc(_)
            | Network::Infrastructure(_)
            | Network::WiredCumWireless(_)
            | Network::Constellation(_) => None,
        }
    }

    /// The memory that the ports of each of its nodes which forward share; of a graph nodes have it.
    pub fn shared_buffer(&self) -> Option<&SharedBufferDef> {
        match self {
            Network::Dumbbell(network) => network.shared_buffer.as_ref(),
            Network::Star(network) => network.shared_buffer.as_ref(),
            Network::LeafSpine(network) => network.shared_buffer.as_ref(),
            Network::FatTree(network) => network.shared_buffer.as_ref(),
            _ => None,
        }
    }

    /// Its kinds of links, each with its place in the scenario; those of a graph stand beside it, in `link`.
    pub fn links(&self) -> Vec<(String, &LinkOptions)> {
        let mut links: Vec<(String, &LinkOptions)> = Vec::new();
        let named: Vec<(&str, &LinkOptions)> = match self {
            Network::Dumbbell(network) => vec![("access", &network.access), ("bottleneck", &network.bottleneck)],
            Network::Star(network) => vec![("source", &network.source), ("sink", &network.sink)],
            Network::Lan(network) => vec![("access", &network.access), ("core", &network.core)],
            Network::ParkingLot(network) => vec![("access", &network.access), ("link", &network.link)],
            Network::LeafSpine(network) => vec![("host_link", &network.host_link), ("fabric", &network.fabric)],
            Network::FatTree(network) => vec![("link", &network.link)],
            Network::Access(network) => {
                let lines = network.lines.iter().enumerate();
                links.extend(lines.map(|(i, line)| (format!("network.lines[{i}].link"), &line.link)));
                vec![("server", &network.server), ("core", &network.core), ("lan", &network.lan)]
            }
            Network::Home(network) => {
                let Home { link, server, core, lan, .. } = &**network;
                vec![("link", link), ("server", server), ("core", core), ("lan", lan)]
            }
            Network::Multihomed(network) => {
                let paths = network.paths.iter().enumerate();
                links.extend(paths.map(|(i, path)| (format!("network.paths[{i}]"), path)));
                vec![("server", &network.server)]
            }
            Network::RandomWired(network) => vec![("links", &network.links)],
            Network::Infrastructure(network) => vec![("backbone", &network.backbone)],
            Network::WiredCumWireless(network) => vec![("access", &network.access), ("core", &network.core)],
            Network::Constellation(network) => {
                vec![("uplink", &network.uplink), ("downlink", &network.downlink), ("isl", &network.isl)]
            }
            Network::Adhoc(_) | Network::Graph(_) => Vec::new(),
        };
        links.extend(named.into_iter().map(|(name, options)| (format!("network.{name}"), options)));
        links
    }
}

/// A node of a graph.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeDef {
    /// Its name; unique.
    pub name: String,
    /// Role, for pictures.
    #[serde(default)]
    pub role: Role,
    /// Position; metres for a node with a radio, otherwise only for pictures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<f64>,
    /// Position; metres for a node with a radio, otherwise only for pictures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y: Option<f64>,
    /// Height, metres.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub z: Option<f64>,
    /// Mobility of a node with a radio. Default: fixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mobility: Option<MobilityDef>,
    /// Memory that its ports share. Default: none, each queue has its own limit; with it queues that are not given have no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_buffer: Option<SharedBufferDef>,
}

/// Role of a node, for pictures; every node forwards packets to other destinations.
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
    /// A node with a radio that may move.
    Station,
    /// The access point of a cell.
    AccessPoint,
    /// A base station, which connects stations to a wired core.
    BaseStation,
    /// A store-and-forward switch: one queue per port, no latency of its own.
    Switch,
    /// A satellite.
    Satellite,
}
