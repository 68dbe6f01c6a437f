//! The part of the schema that describes a wired core with base stations and their stations.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::area::Area;
use super::link::LinkOptions;
use super::mobility::MobilityDef;
use super::radio::RadioDef;
use super::routing::RoutingDef;
use super::wireless::PlacementDef;

/// Hosts on a wired core, and stations that reach it through base stations. All radios share one channel.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WiredCumWireless {
    /// Wired hosts and stations together; routers and base stations are not counted.
    pub nodes: u64,
    /// Share of wired hosts, rounded; at least one node of each sort.
    pub wired_share: f64,
    /// Flows to generate from `traffic`, each between a random host and a random station.
    pub flows: u64,
    /// Direction of their data.
    pub direction: Direction,
    /// Routers of the core, in a row; hosts and base stations are connected to them in turn.
    pub routers: u64,
    /// Base stations, in rows that divide the field evenly; one is in the middle.
    pub base_stations: u64,
    /// The field of the stations.
    pub area: Area,
    /// Initial placement of stations.
    pub placement: PlacementDef,
    /// Mobility of the stations.
    pub mobility: MobilityDef,
    /// Mobility of single stations instead, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub own_mobility: BTreeMap<String, MobilityDef>,
    /// The radio of every station and base station.
    pub radio: RadioDef,
    /// Routing by radio. `access_points`: each station is associated with a base station in range, and exchanges frames with it
    /// alone. Any other: stations forward packets for one another; base stations are gateways, each for its domain, the stations
    /// nearest to it.
    pub routing: RoutingDef,
    /// Links of the hosts. Default: 5 Mbps, 2 ms, queue of 50 packets, as in the examples of ns-2.
    pub access: LinkOptions,
    /// Links between routers, and from routers to base stations. Default: 5 Mbps, 2 ms, queue of 50 packets.
    pub core: LinkOptions,
}

impl Default for WiredCumWireless {
    fn default() -> WiredCumWireless {
        WiredCumWireless {
            nodes: 40,
            wired_share: 0.5,
            flows: 20,
            direction: Direction::Both,
            routers: 1,
            base_stations: 1,
            area: Area::default(),
            placement: PlacementDef::default(),
            mobility: MobilityDef::default(),
            own_mobility: BTreeMap::new(),
            radio: RadioDef::default(),
            routing: RoutingDef::default(),
            access: LinkOptions::default(),
            core: LinkOptions::default(),
        }
    }
}

/// Direction of the data of flows between hosts and stations.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Alternately from a host to a station and from a station to a host.
    #[default]
    Both,
    /// From hosts to stations.
    ToStations,
    /// From stations to hosts.
    ToHosts,
}
