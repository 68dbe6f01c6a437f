//! The shapes of networks of radios: placements, cells, channels.

use tcp::rng::Rng;

use super::placement::{Placed, place};
use super::shapes::{BACKBONE, count, filled, link};
use super::{MOST_FLOWS, Shape, mobility};
use crate::connectivity::{Components, in_reach};
use crate::mobility::{Point, Track};
use crate::radio::build;
use crate::radio::propagation::Reach;
use crate::routing;
use crate::scenario::{
    AccessPointsDef, Adhoc, Area, ChannelDef, Infrastructure, MobilityDef, NodeDef, PlacementDef, RandomWaypointDef,
    Role, RoutingDef, Scenario, ScenarioError, join,
};
use tcp::units::Time;

/// Channels keep a list of neighbours for every station; more would not fit.
pub(super) const MOST_STATIONS: u64 = 10_000;
/// That many pairs in reach of one another take seconds and a gigabyte.
const MOST_PAIRS: u64 = 2_000_000;

fn station(name: String, role: Role, at: Point) -> NodeDef {
    NodeDef { name, role, x: Some(at.x), y: Some(at.y), z: Some(at.z), mobility: None }
}

pub(super) fn adhoc(a: &Adhoc, seed: u64) -> Result<Shape, ScenarioError> {
    let nodes = count("network.nodes", a.nodes, 2, MOST_STATIONS)?;
    let flows = count("network.flows", a.flows, 0, MOST_FLOWS)?;
    let radio = build::filled(&a.radio, "network.radio")?;
    check_area(&a.area, "network.area")?;
    let reach = build::build(&radio).reach();
    let Placed { places, draws } = place(a, nodes, &reach, seed)?;
    check_density(&places, reach.range(), "network.nodes")?;
    let name = |i: u64| format!("n{i}");
    let stations: Vec<String> = (0..nodes).map(name).collect();
    let mut shape = Shape { placement_draws: draws, ..Shape::default() };
    shape.nodes = places.iter().zip(&stations).map(|(at, name)| station(name.clone(), Role::Station, *at)).collect();
    set_moving(a, &mut shape.nodes)?;
    let ends = if a.connected_pairs { largest_component(&shape.nodes, &reach, seed)? } else { (0..nodes).collect() };
    for i in 0..flows {
        let mut draws = Rng::stream(seed, &format!("traffic/{i}/ends"));
        let among = ends.len() as u64;
        let from = draws.below(among);
        let to = (from + 1 + draws.below(among - 1)) % among;
        shape.pairs.push((name(ends[from as usize]), name(ends[to as usize])));
    }
    let routing = routing::build::filled(&a.routing, radio.profile, "network.routing")?;
    shape.channels = vec![ChannelDef { stations, radio, routing, gateway: None }];
    Ok(shape)
}

/// The mobilities of an ad hoc network with nothing left to a default.
pub(super) fn fill_mobility(a: &mut Adhoc) -> Result<(), ScenarioError> {
    a.mobility = mobility::filled(&a.mobility, Some(&a.area), "network.mobility")?;
    for (name, own) in &mut a.own_mobility {
        *own = mobility::filled(own, Some(&a.area), &format!("network.own_mobility.{name}"))?;
    }
    Ok(())
}

/// Refuses a crowd that would not fit into memory.
fn check_density(places: &[Point], range: f64, path: &str) -> Result<(), ScenarioError> {
    let mut sorted = places.to_vec();
    sorted.sort_by(|a, b| a.x.total_cmp(&b.x));
    let mut pairs = 0;
    for (index, here) in sorted.iter().enumerate() {
        let beside = sorted[index + 1..].iter().take_while(|there| there.x - here.x <= range);
        pairs += beside.filter(|there| here.distance(**there) <= range).count() as u64;
        if pairs > MOST_PAIRS {
            let error = ScenarioError::new(path, format!("more than {MOST_PAIRS} pairs of stations reach one another"));
            return Err(error.with_hint("fewer stations, a larger area or a shorter range"));
        }
    }
    Ok(())
}

/// Gives every station its mobility.
fn set_moving(a: &Adhoc, nodes: &mut [NodeDef]) -> Result<(), ScenarioError> {
    let steady = matches!(a.mobility, MobilityDef::RandomWaypoint(RandomWaypointDef { steady: true, .. }));
    if steady && a.placement != PlacementDef::default() {
        let message = "stations that move from the beginning do not start where network.placement puts them";
        return Err(ScenarioError::new("network.mobility.steady", message).with_hint("leave network.placement out"));
    }
    if let Some(name) = a.own_mobility.keys().find(|name| nodes.iter().all(|node| node.name != **name)) {
        let error = ScenarioError::new(format!("network.own_mobility.{name}"), format!("unknown node {name:?}"));
        return Err(error.with_hint(format!("nodes: n0 to n{}", nodes.len() - 1)));
    }
    let mut a = a.clone();
    fill_mobility(&mut a)?;
    for node in nodes {
        let (def, path) = match a.own_mobility.get(&node.name) {
            Some(own) => (own, format!("network.own_mobility.{}", node.name)),
            None => (&a.mobility, "network.mobility".into()),
        };
        mobility::check_start(def, Track::start(node), &path)?;
        node.mobility = Some(def).filter(|def| !matches!(def, MobilityDef::Fixed(_))).cloned();
    }
    Ok(())
}

/// The stations of the largest set that reach one another at the start.
fn largest_component(nodes: &[NodeDef], reach: &Reach, seed: u64) -> Result<Vec<u64>, ScenarioError> {
    let places: Vec<Point> = nodes.iter().map(|node| Track::of(node, seed).at(Time::ZERO)).collect();
    let largest = Components::new(&in_reach(&places, reach)).largest();
    if largest.len() < 2 {
        let error = ScenarioError::new("network.connected_pairs", "no station reaches another");
        return Err(error.with_hint("more stations, a smaller area or a longer range"));
    }
    Ok(largest.into_iter().map(|station| station as u64).collect())
}

pub(super) fn check_area(area: &Area, path: &str) -> Result<(), ScenarioError> {
    for (field, side, least) in [("x", area.x, 1e-3), ("y", area.y, 1e-3), ("z", area.z, 0.0)] {
        if !(least..=1e7).contains(&side.0) {
            let message = format!("{side} is not a side from {least}m to 10000km");
            return Err(ScenarioError::new(join(path, field), message));
        }
    }
    Ok(())
}

pub(super) fn infrastructure(i: &Infrastructure, seed: u64) -> Result<Shape, ScenarioError> {
    let cells = count("network.cells", i.cells, 1, 1000)?;
    let per_cell = count("network.stations_per_cell", i.stations_per_cell, 1, MOST_STATIONS)?;
    count("network.stations_per_cell", cells * per_cell, 1, MOST_STATIONS)?;
    // All stations of a cell reach their access point, and so may reach one another.
    if per_cell * per_cell / 2 * cells > MOST_PAIRS {
        let message = format!("{per_cell} stations around each of {cells} access points are too many pairs");
        return Err(ScenarioError::new("network.stations_per_cell", message));
    }
    let flows = count("network.flows", i.flows, 0, MOST_FLOWS)?;
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
