//! The topology of cells around access points in a row.

use tcp::rng::Rng;

use super::graph::{FlowEnds, LinkDefaults, Shorthand, Topology, count, link, link_with_defaults, station};
use super::limits::{MAX_PAIRS, MAX_STATIONS};
use super::stations::{check_access_points, fill_mobility, set_moving};
use crate::mobility::Point;
use crate::radio::build;
use crate::scenario::{
    AccessPointsDef, Adhoc, Area, ChannelDef, Graph, Infrastructure, Metres, MobilityDef, Network, NodeDef, RadioDef,
    Role, RoutingDef, ScenarioError, join,
};

/// The link of an access point to the wired network.
const BACKBONE: LinkDefaults = LinkDefaults { mbps: 5, delay_us: 2_000, queue_packets: 100 };

/// An access point and its stations.
struct Cell {
    access_point: String,
    stations: Vec<String>,
}

/// How far from their access point stations are placed.
fn radius(i: &Infrastructure) -> f64 {
    i.radius.0 * i.coverage
}

/// The box around all cells.
fn area(i: &Infrastructure) -> Area {
    let depth = 2.0 * radius(i);
    let width = depth + (i.cells.max(1) - 1) as f64 * i.spacing.0;
    Area { x: Metres(width), y: Metres(depth), ..Area::default() }
}

/// The stations as an ad hoc network would have them.
fn field_of(i: &Infrastructure) -> Adhoc {
    let (mobility, own_mobility) = (i.mobility.clone(), i.own_mobility.clone());
    Adhoc { area: area(i), mobility, own_mobility, ..Adhoc::default() }
}

fn check_lengths(i: &Infrastructure) -> Result<(), ScenarioError> {
    for (field, length) in [("radius", i.radius), ("spacing", i.spacing)] {
        if !(length.0 > 0.0 && length.0 <= 1e6) {
            let message = format!("{length} is not above 0m and up to 1000km");
            return Err(ScenarioError::new(join("network", field), message));
        }
    }
    if !(0.01..=100.0).contains(&i.coverage) {
        let message = format!("{} is not a multiple from 0.01 to 100", i.coverage);
        return Err(ScenarioError::new("network.coverage", message));
    }
    let moves = i.mobility != MobilityDef::default() || !i.own_mobility.is_empty();
    if moves && i.cells > 1 && !i.same_channel {
        let message = "mobile stations would leave the channel of their access point, the only one that they receive";
        let hint = "same_channel = true, or cells = 1";
        return Err(ScenarioError::new("network.same_channel", message).with_hint(hint));
    }
    Ok(())
}

/// Stations of each cell: as many everywhere, or with `nodes` the first cells get the rest.
fn sizes(i: &Infrastructure) -> Result<Vec<u64>, ScenarioError> {
    let cells = count("network.cells", i.cells, 1, 1000)?;
    let Some(nodes) = i.nodes else {
        let per_cell = count("network.stations_per_cell", i.stations_per_cell, 1, MAX_STATIONS)?;
        return Ok(vec![per_cell; cells as usize]);
    };
    if nodes < 2 * cells {
        let message = format!("{nodes} nodes leave an access point without stations; at least {}", 2 * cells);
        return Err(ScenarioError::new("network.nodes", message));
    }
    let stations = count("network.nodes", nodes, 2, cells * MAX_STATIONS)? - cells;
    Ok((0..cells).map(|cell| stations / cells + u64::from(cell < stations % cells)).collect())
}

/// All stations of a cell reach their access point, and so may reach one another: refuses more than would fit.
fn check_crowd(sizes: &[u64]) -> Result<(), ScenarioError> {
    let pairs: u64 = sizes.iter().map(|size| size * size / 2).sum();
    if sizes.iter().sum::<u64>() <= MAX_STATIONS && pairs <= MAX_PAIRS {
        return Ok(());
    }
    let message = format!("more than {MAX_STATIONS} stations, or more than {MAX_PAIRS} pairs in their cells");
    Err(ScenarioError::new("network.stations_per_cell", message).with_hint("fewer cells or stations"))
}

impl Shorthand for Infrastructure {
    fn flows(&self) -> u64 {
        self.flows
    }

    fn complete(&mut self) -> Result<(), ScenarioError> {
        check_lengths(self)?;
        let mut field = field_of(self);
        fill_mobility(&mut field)?;
        (self.mobility, self.own_mobility) = (field.mobility, field.own_mobility);
        self.radio = build::with_defaults(&self.radio, "network.radio")?;
        check_access_points(&self.radio, "network.radio")?;
        self.backbone = link_with_defaults(&self.backbone, "network.backbone", &BACKBONE)?;
        Ok(())
    }

    fn topology(&self, seed: u64) -> Result<Topology, ScenarioError> {
        let sizes = sizes(self)?;
        check_crowd(&sizes)?;
        let mut rng = Rng::stream(seed, "placement");
        let mut topology = Topology {
            network: Network::Graph(Graph { area: Some(area(self)), routing: None }),
            ..Topology::default()
        };
        let mut cells = Vec::new();
        let mut first = 0;
        for (index, size) in sizes.iter().enumerate() {
            if index > 0 {
                topology.links.push(link(&format!("ap{}", index - 1), &format!("ap{index}"), &self.backbone));
            }
            let nodes = cell(self, index, first..first + size, &mut rng);
            let mut names = nodes.iter().map(|node| node.name.clone());
            let access_point = names.next().expect("a cell has an access point");
            cells.push(Cell { access_point, stations: names.collect() });
            topology.nodes.extend(nodes);
            first += size;
        }
        set_moving(&field_of(self), &mut topology.nodes)?;
        topology.channels = channels(self, cells);
        let (all, half) = (first, first.div_ceil(2));
        let ends = |flow: u64| {
            FlowEnds::new(format!("sta{}", flow % half), format!("sta{}", half + flow % (all - half).max(1)))
        };
        if self.flows > 0 && all < 2 {
            return Err(ScenarioError::new("network.flows", "one station has no other to send to"));
        }
        topology.flow_ends = (0..self.flows).map(ends).collect();
        Ok(topology)
    }
}

/// An access point and its stations in their places.
fn cell(i: &Infrastructure, index: usize, numbers: std::ops::Range<u64>, rng: &mut Rng) -> Vec<NodeDef> {
    let centre = Point { x: radius(i) + index as f64 * i.spacing.0, y: radius(i), z: 0.0 };
    let mut random_station = |number: u64| {
        // Uniform in the disc: the square root of a uniform draw is the radius.
        let (radius, angle) = (radius(i) * rng.uniform().sqrt(), std::f64::consts::TAU * rng.uniform());
        let at = Point { x: centre.x + radius * libm::cos(angle), y: centre.y + radius * libm::sin(angle), z: 0.0 };
        station(format!("sta{number}"), Role::Station, at)
    };
    let access_point = station(format!("ap{index}"), Role::AccessPoint, centre);
    std::iter::once(access_point).chain(numbers.map(&mut random_station)).collect()
}

fn channels(i: &Infrastructure, cells: Vec<Cell>) -> Vec<ChannelDef> {
    let channel = |stations: Vec<String>, access_points: Vec<String>| ChannelDef {
        stations,
        radio: RadioDef::clone(&i.radio),
        routing: RoutingDef::AccessPoints(AccessPointsDef {
            stations: access_points,
            beacons: i.beacons,
            handoff: i.handoff,
        }),
        gateway: Vec::new(),
    };
    let members = |cell: &Cell| [std::slice::from_ref(&cell.access_point), &cell.stations].concat();
    if i.same_channel {
        let stations = cells.iter().flat_map(members).collect();
        return vec![channel(stations, cells.into_iter().map(|cell| cell.access_point).collect())];
    }
    cells.iter().map(|cell| channel(members(cell), vec![cell.access_point.clone()])).collect()
}
