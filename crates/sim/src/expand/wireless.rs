//! The shapes of networks of radios: placements, cells, channels.

use tcp::rng::Rng;

use super::shapes::{BACKBONE, count, filled, link};
use super::{MOST, Shape};
use crate::channel::shortest;
use crate::mobility::{Point, Track};
use crate::radio::build;
use crate::radio::frame::StationId;
use crate::radio::hearing::Hearing;
use crate::routing;
use crate::scenario::{
    AccessPointsDef, Adhoc, Area, ChannelDef, Infrastructure, NodeDef, PlacementDef, RadioDef, Role, RoutingDef,
    Scenario, ScenarioError, join,
};
use tcp::units::Time;

/// Channels keep a list of neighbours for every station; more would not fit.
const MOST_STATIONS: u64 = 10_000;
/// Placements drawn in search of a connected one (networks.md §10.5).
const MOST_DRAWS: u32 = 10_000;

fn station(name: String, role: Role, at: Point) -> NodeDef {
    NodeDef { name, role, x: Some(at.x), y: Some(at.y), z: Some(at.z) }
}

pub(super) fn adhoc(a: &Adhoc, seed: u64) -> Result<Shape, ScenarioError> {
    let nodes = count("network.nodes", a.nodes, 2, MOST_STATIONS)?;
    let flows = count("network.flows", a.flows, 0, MOST)?;
    let radio = build::filled(&a.radio, "network.radio")?;
    check_area(&a.area)?;
    let places = place(a, nodes, &radio, seed)?;
    let name = |i: u64| format!("n{i}");
    let stations: Vec<String> = (0..nodes).map(name).collect();
    let mut shape = Shape::default();
    shape.nodes = places.iter().zip(&stations).map(|(at, name)| station(name.clone(), Role::Station, *at)).collect();
    for i in 0..flows {
        let mut ends = Rng::stream(seed, &format!("traffic/{i}/ends"));
        let from = ends.below(nodes);
        let to = (from + 1 + ends.below(nodes - 1)) % nodes;
        shape.pairs.push((name(from), name(to)));
    }
    let routing = routing::build::filled(&a.routing, radio.profile, "network.routing")?;
    shape.channels = vec![ChannelDef { stations, radio, routing, gateway: None }];
    Ok(shape)
}

fn check_area(area: &Area) -> Result<(), ScenarioError> {
    for (field, side, least) in [("x", area.x, 1e-3), ("y", area.y, 1e-3), ("z", area.z, 0.0)] {
        if !(least..=1e7).contains(&side.0) {
            let path = join("network.area", field);
            return Err(ScenarioError::new(path, format!("{side} is not a side from {least}m to 10000km")));
        }
    }
    Ok(())
}

fn place(a: &Adhoc, nodes: u64, radio: &RadioDef, seed: u64) -> Result<Vec<Point>, ScenarioError> {
    let path = "network.placement";
    match &a.placement {
        PlacementDef::Uniform(uniform) => {
            let mut draws = Rng::stream(seed, "placement");
            for _ in 0..MOST_DRAWS {
                let places = scatter(&a.area, nodes, &mut draws);
                if !uniform.connected || is_connected(&places, radio) {
                    return Ok(places);
                }
            }
            let message = format!("none of {MOST_DRAWS} placements of {nodes} stations was connected");
            let hint = "more stations, a smaller area or a longer range; or connected = false";
            Err(ScenarioError::new(join(path, "connected"), message).with_hint(hint))
        }
        PlacementDef::Grid(grid) => {
            let columns = count(&join(path, "columns"), grid.columns, 1, MOST_STATIONS)?;
            let at = |i: u64| Point {
                x: (i % columns) as f64 * grid.spacing.0,
                y: (i / columns) as f64 * grid.spacing.0,
                z: 0.0,
            };
            inside((0..nodes).map(at).collect(), &a.area, &join(path, "spacing"))
        }
        PlacementDef::List(list) => {
            let path = join(path, "positions");
            if list.positions.len() as u64 != nodes {
                let message = format!("{} positions for {nodes} stations", list.positions.len());
                return Err(ScenarioError::new(path, message));
            }
            let mut places = Vec::with_capacity(list.positions.len());
            for (index, position) in list.positions.iter().enumerate() {
                let (x, y, z) = match position[..] {
                    [x, y] => (x, y, 0.0),
                    [x, y, z] => (x, y, z),
                    _ => {
                        return Err(ScenarioError::new(
                            format!("{path}[{index}]"),
                            "a position is [x, y] or [x, y, z]",
                        ));
                    }
                };
                places.push(Point { x, y, z });
            }
            inside(places, &a.area, &path)
        }
    }
}

fn scatter(area: &Area, nodes: u64, draws: &mut Rng) -> Vec<Point> {
    let mut point =
        || Point { x: draws.uniform() * area.x.0, y: draws.uniform() * area.y.0, z: draws.uniform() * area.z.0 };
    (0..nodes).map(|_| point()).collect()
}

fn inside(places: Vec<Point>, area: &Area, path: &str) -> Result<Vec<Point>, ScenarioError> {
    let within = |p: &Point| {
        (0.0..=area.x.0).contains(&p.x) && (0.0..=area.y.0).contains(&p.y) && (0.0..=area.z.0).contains(&p.z)
    };
    match places.iter().position(|place| !within(place)) {
        None => Ok(places),
        Some(index) => {
            let Point { x, y, z } = places[index];
            let message = format!("station {index} at ({x}, {y}, {z}) is outside the field");
            let hint = format!("network.area is {} x {} x {}", area.x, area.y, area.z);
            Err(ScenarioError::new(path, message).with_hint(hint))
        }
    }
}

/// True if every station reaches every other.
fn is_connected(places: &[Point], radio: &RadioDef) -> bool {
    let radio = build::build(radio);
    let least = radio.rules.least_power();
    let mut hearing = Hearing::new(&radio, places.iter().map(|place| Track::Fixed(*place)).collect());
    let mut heard = Vec::new();
    let neighbours: Vec<Vec<StationId>> = (0..places.len() as u32)
        .map(|from| {
            hearing.of(StationId(from), Time::ZERO, &mut heard);
            heard.iter().filter(|hearer| hearer.power >= least).map(|hearer| hearer.station).collect()
        })
        .collect();
    shortest(&neighbours)
        .iter()
        .enumerate()
        .all(|(from, table)| table.iter().enumerate().all(|(to, next)| from == to || next.is_some()))
}

pub(super) fn infrastructure(i: &Infrastructure, seed: u64) -> Result<Shape, ScenarioError> {
    let cells = count("network.cells", i.cells, 1, 1000)?;
    let per_cell = count("network.stations_per_cell", i.stations_per_cell, 1, MOST_STATIONS)?;
    let flows = count("network.flows", i.flows, 0, MOST)?;
    let radio = build::filled(&i.radio, "network.radio")?;
    let backbone = filled(&i.backbone, "network.backbone", &BACKBONE)?;
    for (field, length) in [("radius", i.radius), ("spacing", i.spacing)] {
        if !(length.0 > 0.0 && length.0 <= 1e6) {
            return Err(ScenarioError::new(
                join("network", field),
                format!("{length} is not above 0m and up to 1000km"),
            ));
        }
    }
    let mut draws = Rng::stream(seed, "placement");
    let mut shape = Shape::default();
    let mut stations_of = Vec::new();
    for cell in 0..cells {
        let centre = Point { x: i.radius.0 + cell as f64 * i.spacing.0, y: i.radius.0, z: 0.0 };
        let access_point = format!("ap{cell}");
        shape.nodes.push(station(access_point.clone(), Role::AccessPoint, centre));
        if cell > 0 {
            shape.links.push(link(&format!("ap{}", cell - 1), &access_point, &backbone));
        }
        let mut stations = vec![access_point.clone()];
        for index in 0..per_cell {
            let name = format!("sta{}", cell * per_cell + index);
            // Uniform in the disc: the square root of a uniform draw is the radius.
            let (radius, angle) = (i.radius.0 * draws.uniform().sqrt(), std::f64::consts::TAU * draws.uniform());
            let at = Point { x: centre.x + radius * libm::cos(angle), y: centre.y + radius * libm::sin(angle), z: 0.0 };
            shape.nodes.push(station(name.clone(), Role::Station, at));
            stations.push(name);
        }
        stations_of.push((access_point, stations));
    }
    let channel = |stations: Vec<String>, access_points: Vec<String>| ChannelDef {
        stations,
        radio: radio.clone(),
        routing: RoutingDef::AccessPoints(AccessPointsDef { stations: access_points }),
        gateway: None,
    };
    if i.same_channel {
        let (points, stations): (Vec<String>, Vec<Vec<String>>) = stations_of.into_iter().unzip();
        shape.channels = vec![channel(stations.concat(), points)];
    } else {
        shape.channels = stations_of.into_iter().map(|(point, stations)| channel(stations, vec![point])).collect();
    }
    let (all, half) = (cells * per_cell, (cells * per_cell).div_ceil(2));
    let pair = |flow: u64| (format!("sta{}", flow % half), format!("sta{}", half + flow % (all - half).max(1)));
    if flows > 0 && all < 2 {
        return Err(ScenarioError::new("network.flows", "one station has nobody to send to"));
    }
    shape.pairs = (0..flows).map(pair).collect();
    Ok(shape)
}

/// The channels of a graph with their radios filled in.
pub(super) fn channels(scenario: &Scenario) -> Result<Vec<ChannelDef>, ScenarioError> {
    let fill = |(index, channel): (usize, &ChannelDef)| {
        let path = format!("channel[{index}]");
        count(&join(&path, "stations"), channel.stations.len() as u64, 2, MOST_STATIONS)?;
        let radio = build::filled(&channel.radio, &join(&path, "radio"))?;
        let routing = routing::build::filled(&channel.routing, radio.profile, &join(&path, "routing"))?;
        Ok(ChannelDef { radio, routing, ..channel.clone() })
    };
    scenario.channel.iter().enumerate().map(fill).collect()
}
