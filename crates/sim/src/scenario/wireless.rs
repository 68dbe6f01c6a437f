//! The part of the schema that describes networks of radios: where stations are, and which kinds of network there are.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::area::Area;
use super::link::LinkOptions;
use super::mobility::MobilityDef;
use super::quantity::Metres;
use super::radio::{BeaconsDef, RadioDef, RoutingDef};
use super::tagged::tagged_enum;

/// Stations of one channel that pass packets on for one another.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Adhoc {
    /// Stations.
    pub nodes: u64,
    /// Flows to make from `traffic`.
    pub flows: u64,
    /// Between which stations: random pairs unless given.
    pub pattern: FlowPattern,
    /// Draw their ends from the largest set of stations that reach one another at the start, by way of others.
    pub connected_pairs: bool,
    /// The field.
    pub area: Area,
    /// Where stations are at first.
    pub placement: PlacementDef,
    /// How stations move from there.
    pub mobility: MobilityDef,
    /// How single stations move instead, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub own_mobility: BTreeMap<String, MobilityDef>,
    /// The radio of every station.
    pub radio: RadioDef,
    /// How packets find their way.
    pub routing: RoutingDef,
}

impl Default for Adhoc {
    fn default() -> Adhoc {
        Adhoc {
            nodes: 40,
            flows: 20,
            pattern: FlowPattern::Pairs,
            connected_pairs: false,
            area: Area::default(),
            placement: PlacementDef::default(),
            mobility: MobilityDef::default(),
            own_mobility: BTreeMap::new(),
            radio: RadioDef::default(),
            routing: RoutingDef::default(),
        }
    }
}

/// Between which stations flows go.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FlowPattern {
    /// Random pairs of distinct stations.
    #[default]
    Pairs,
    /// From one random station to the others in random order, all over again if there are more flows.
    OneSource,
    /// To one random station from the others in random order, all over again if there are more flows.
    OneSink,
}

/// Cells around access points, each on a channel of its own, joined by wire.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Infrastructure {
    /// Access points, in a row.
    pub cells: u64,
    /// Stations around each.
    pub stations_per_cell: u64,
    /// Stations and access points together, instead of `stations_per_cell`: the stations are spread evenly over the cells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u64>,
    /// Flows to make from `traffic`: from a station of the first half of the cells to one of the second half.
    pub flows: u64,
    /// Stations are placed uniformly up to this far from their access point.
    pub radius: Metres,
    /// Scales `radius`: the coverage area of an access point in multiples. Whether the radio reaches that far is up to it.
    pub coverage: f64,
    /// All cells share one channel and disturb one another. Stations that move between cells need this: they have one radio,
    /// which stays on its channel.
    pub same_channel: bool,
    /// Distance of neighbouring access points.
    pub spacing: Metres,
    /// How stations move, by default in the box around all cells.
    pub mobility: MobilityDef,
    /// How single stations move instead, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub own_mobility: BTreeMap<String, MobilityDef>,
    /// What is modelled of beacons and of joining an access point.
    pub beacons: BeaconsDef,
    /// The radio of every station and access point.
    pub radio: RadioDef,
    /// Links between neighbouring access points. Default: 5 Mbps, 2 ms, queue of 100 packets.
    pub backbone: LinkOptions,
}

impl Default for Infrastructure {
    fn default() -> Infrastructure {
        Infrastructure {
            cells: 2,
            stations_per_cell: 10,
            nodes: None,
            flows: 10,
            radius: Metres(20.0),
            coverage: 1.0,
            same_channel: false,
            spacing: Metres(100.0),
            mobility: MobilityDef::default(),
            own_mobility: BTreeMap::new(),
            beacons: BeaconsDef::None,
            radio: RadioDef::default(),
            backbone: LinkOptions::default(),
        }
    }
}

tagged_enum! {
    /// Where stations are at first.
    #[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
    pub enum PlacementDef ("a placement") {
        /// Anywhere in the field with the same chance.
        "uniform" => Uniform(UniformDef),
        /// In rows and columns.
        "grid" => Grid(GridDef),
        /// Anywhere in a disc around the middle of the field, with the same chance.
        "disc" => Disc(DiscDef),
        /// Anywhere, but not too near to one another.
        "poisson_disk" => PoissonDisk(PoissonDiskDef),
        /// One after another, each anywhere in reach of one before: always connected, but clustered and not uniform.
        "grow" => Grow(GrowDef),
        /// One by one.
        "list" => List(ListedDef),
    }
}

impl Default for PlacementDef {
    fn default() -> PlacementDef {
        PlacementDef::Uniform(UniformDef::default())
    }
}

/// Uniform placement.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct UniformDef {
    /// Draw anew until every station reaches every other, by way of others.
    pub connected: bool,
}

/// A grid, row by row from the origin.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GridDef {
    /// Stations in a row.
    pub columns: u64,
    /// Distance of neighbours.
    pub spacing: Metres,
}

/// A disc.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiscDef {
    /// Its radius; the disc must lie in the field.
    pub radius: Metres,
}

/// Uniform draws, of which those too near to an earlier one are dropped.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PoissonDiskDef {
    /// Least distance of two stations.
    pub distance: Metres,
}

/// Uniform draws, of which those out of reach of every earlier one are dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GrowDef {}

/// Given places.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListedDef {
    /// x, y and, if the field has height, z of each station, in metres.
    pub positions: Vec<Vec<f64>>,
}
