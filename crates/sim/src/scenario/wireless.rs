//! The part of the schema that describes wireless networks: their kinds, and the placement of stations.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::area::Area;
use super::link::LinkOptions;
use super::mobility::MobilityDef;
use super::quantity::Metres;
use super::radio::RadioDef;
use super::routing::{BeaconsDef, HandoffDef, RoutingDef};
use super::tagged::tagged_enum;

/// Stations of one channel that forward packets for one another.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Adhoc {
    /// Stations.
    pub nodes: u64,
    /// Flows to generate from `traffic`.
    pub flows: u64,
    /// Sources and sinks of the flows. Default: random pairs.
    pub pattern: FlowPattern,
    /// Select sources and sinks from the largest set of stations that are connected at the start, over one or more hops.
    pub connected_pairs: bool,
    /// The field.
    pub area: Area,
    /// Initial placement of stations.
    pub placement: PlacementDef,
    /// Mobility of the stations.
    pub mobility: MobilityDef,
    /// Mobility of single stations instead, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub own_mobility: BTreeMap<String, MobilityDef>,
    /// The radio of every station.
    pub radio: RadioDef,
    /// Routing.
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

/// Sources and sinks of flows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FlowPattern {
    /// Random pairs of distinct stations.
    #[default]
    Pairs,
    /// From one random station to the others in random order, repeated if there are more flows.
    OneSource,
    /// From one random station, to another that is drawn anew for each flow: one may come twice before all have come once.
    OneSourceRandom,
    /// To one random station from the others in random order, repeated if there are more flows.
    OneSink,
}

/// Cells around access points that wires connect, each on its own channel.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Infrastructure {
    /// Access points, in a row.
    pub cells: u64,
    /// Stations of each cell.
    pub stations_per_cell: u64,
    /// Stations and access points together, instead of `stations_per_cell`; the stations are spread evenly over the cells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u64>,
    /// Flows to generate from `traffic`: from a station of the first half of the cells to one of the second half.
    pub flows: u64,
    /// Stations are placed uniformly up to this far from their access point.
    pub radius: Metres,
    /// Factor of `radius`, for the coverage area of an access point; it does not change the range of the radio.
    pub coverage: f64,
    /// All cells share one channel and interfere with one another. Stations that move between cells need this: they have one
    /// radio, which stays on its channel.
    pub same_channel: bool,
    /// Distance of neighbouring access points.
    pub spacing: Metres,
    /// Mobility of the stations. Default field: the box around all cells.
    pub mobility: MobilityDef,
    /// Mobility of single stations instead, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub own_mobility: BTreeMap<String, MobilityDef>,
    /// Model of beacons and of (re)association.
    pub beacons: BeaconsDef,
    /// How a station that moves changes its access point.
    #[serde(skip_serializing_if = "HandoffDef::is_default")]
    pub handoff: HandoffDef,
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
            handoff: HandoffDef::default(),
            radio: RadioDef::default(),
            backbone: LinkOptions::default(),
        }
    }
}

tagged_enum! {
    /// Initial placement of stations.
    #[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
    pub enum PlacementDef ("a placement") {
        /// Uniformly at random in the field.
        "uniform" => Uniform(UniformDef),
        /// In rows and columns.
        "grid" => Grid(GridDef),
        /// In a row along x.
        "line" => Line(LineDef),
        /// Uniformly at random in a disc around the centre of the field.
        "disc" => Disc(DiscDef),
        /// Uniformly at random with a minimum distance.
        "poisson_disk" => PoissonDisk(PoissonDiskDef),
        /// One after another, each at random within range of an earlier one: always connected, but clustered and not uniform.
        "grow" => Grow(GrowDef),
        /// Listed positions.
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
    /// Repeat until all stations are connected, over one or more hops.
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

/// A row from the origin.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LineDef {
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

/// Uniform random positions; those too near to an earlier one are rejected.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PoissonDiskDef {
    /// Minimum distance of two stations.
    pub distance: Metres,
}

/// Uniform random positions; those out of range of every earlier one are rejected.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GrowDef {}

/// Listed positions.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListedDef {
    /// x, y and, if the field has height, z of each station, in metres.
    pub positions: Vec<Vec<f64>>,
}
