//! The part of the schema that describes stations that reach a wired core by way of base stations.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::area::Area;
use super::link::LinkOptions;
use super::mobility::MobilityDef;
use super::radio::{RadioDef, RoutingDef};
use super::wireless::PlacementDef;

/// Hosts on a wired core, and stations that reach it by way of base stations (networks.md C1). All radios share one channel.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WiredCumWireless {
    /// Wired hosts and stations together; routers and base stations are not counted.
    pub nodes: u64,
    /// The share of them that is wired, rounded; at least one node of each sort.
    pub wired_share: f64,
    /// Flows to make from `traffic`, each between a random host and a random station.
    pub flows: u64,
    /// Which way their data goes.
    pub direction: Direction,
    /// Routers of the core, in a row; hosts and base stations are joined to them in turn.
    pub routers: u64,
    /// Base stations, in rows that divide the field evenly; one is in the middle.
    pub base_stations: u64,
    /// The field of the stations.
    pub area: Area,
    /// Where stations are at first.
    pub placement: PlacementDef,
    /// How stations move from there.
    pub mobility: MobilityDef,
    /// How single stations move instead, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub own_mobility: BTreeMap<String, MobilityDef>,
    /// The radio of every station and base station.
    pub radio: RadioDef,
    /// How packets find their way by radio. `access_points`: each station belongs to a base station in reach and talks to it
    /// alone. Any other: stations pass packets on for one another; base stations are gateways, each for its domain, the
    /// stations nearest to it.
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

/// Which way the data of flows between hosts and stations goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// From hosts to stations and from stations to hosts in turn, beginning with a host.
    #[default]
    Both,
    /// From hosts to stations.
    ToStations,
    /// From stations to hosts.
    ToHosts,
}
