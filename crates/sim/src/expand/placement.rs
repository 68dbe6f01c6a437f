//! Where stations are at first, and placements that must be connected.

use tcp::rng::Rng;

use super::graph::count;
use super::limits::MAX_STATIONS;
use crate::connectivity::{Components, in_range_graph};
use crate::mobility::{Field, Point};
use crate::radio::propagation::RadioRange;
use crate::scenario::{Adhoc, Area, DiscDef, GridDef, ListedDef, PlacementDef, ScenarioError, join};

/// Placements drawn in search of a connected one.
const MAX_PLACEMENTS: u32 = 10_000;
/// Places drawn for one station in search of one that suits.
const MAX_TRIES: u32 = 100_000;

const PATH: &str = "network.placement";

/// Stations in their places.
#[derive(Debug)]
pub(super) struct Placed {
    pub(super) places: Vec<Point>,
    /// Placements drawn until one was connected, if it had to be.
    pub(super) draws: Option<u32>,
}

pub(super) fn field_of(area: &Area) -> Field {
    Field::up_to(Point { x: area.x.0, y: area.y.0, z: area.z.0 })
}

pub(super) fn place(a: &Adhoc, nodes: u64, reach: &RadioRange, seed: u64) -> Result<Placed, ScenarioError> {
    let field = field_of(&a.area);
    let mut rng = Rng::stream(seed, "placement");
    let places = match &a.placement {
        PlacementDef::Uniform(uniform) if uniform.connected => return connected(nodes, &field, reach, &mut rng),
        PlacementDef::Uniform(_) => (0..nodes).map(|_| field.random_position(&mut rng)).collect(),
        PlacementDef::Grid(grid) => in_rows(grid, nodes, a)?,
        PlacementDef::Line(line) => in_rows(&GridDef { columns: nodes, spacing: line.spacing }, nodes, a)?,
        PlacementDef::Disc(disc) => in_disc(disc, nodes, a, &mut rng)?,
        PlacementDef::PoissonDisk(disk) => {
            if disk.distance.0 < 0.0 {
                return Err(ScenarioError::new(
                    join(PATH, "distance"),
                    format!("{} is not 0m or above", disk.distance),
                ));
            }
            let apart = |p: Point, others: &[Point]| others.iter().all(|other| p.distance(*other) >= disk.distance.0);
            one_by_one(nodes, &field, &mut rng, apart).map_err(|found| {
                let message = format!("no room for more than {found} stations {} apart", disk.distance);
                ScenarioError::new(join(PATH, "distance"), message).with_hint("fewer stations, or a larger area")
            })?
        }
        PlacementDef::Grow(_) => {
            let joined = |p: Point, others: &[Point]| others.is_empty() || others.iter().any(|o| reach.in_range(p, *o));
            one_by_one(nodes, &field, &mut rng, joined).map_err(|found| {
                let message = format!("none of {MAX_TRIES} places was in reach of the first {found} stations");
                ScenarioError::new(PATH, message).with_hint("a smaller area or a longer range")
            })?
        }
        PlacementDef::List(list) => listed(list, nodes, a)?,
    };
    Ok(Placed { places, draws: None })
}

/// Uniform given that every station reaches every other: drawn until it is so.
fn connected(nodes: u64, field: &Field, reach: &RadioRange, rng: &mut Rng) -> Result<Placed, ScenarioError> {
    for drawn in 1..=MAX_PLACEMENTS {
        let places: Vec<Point> = (0..nodes).map(|_| field.random_position(rng)).collect();
        if Components::new(&in_range_graph(&places, reach)).sizes.len() == 1 {
            return Ok(Placed { places, draws: Some(drawn) });
        }
    }
    let message = format!("none of {MAX_PLACEMENTS} placements of {nodes} stations was connected");
    let hint =
        "more stations, a smaller area or a longer range; or connected = false, or network.connected_pairs = true";
    Err(ScenarioError::new(join(PATH, "connected"), message).with_hint(hint))
}

/// Each anywhere that suits those before it; or how many there was a place for.
fn one_by_one(
    nodes: u64,
    field: &Field,
    rng: &mut Rng,
    suits: impl Fn(Point, &[Point]) -> bool,
) -> Result<Vec<Point>, usize> {
    let mut places = Vec::with_capacity(nodes as usize);
    for _ in 0..nodes {
        let place = (0..MAX_TRIES).map(|_| field.random_position(rng)).find(|place| suits(*place, &places));
        places.push(place.ok_or(places.len())?);
    }
    Ok(places)
}

fn in_rows(grid: &GridDef, nodes: u64, a: &Adhoc) -> Result<Vec<Point>, ScenarioError> {
    let columns = count(&join(PATH, "columns"), grid.columns, 1, MAX_STATIONS)?;
    let at =
        |i: u64| Point { x: (i % columns) as f64 * grid.spacing.0, y: (i / columns) as f64 * grid.spacing.0, z: 0.0 };
    inside((0..nodes).map(at).collect(), &a.area, &join(PATH, "spacing"))
}

fn in_disc(disc: &DiscDef, nodes: u64, a: &Adhoc, rng: &mut Rng) -> Result<Vec<Point>, ScenarioError> {
    let (x, y) = (a.area.x.0 / 2.0, a.area.y.0 / 2.0);
    if !(disc.radius.0 >= 0.0 && disc.radius.0 <= x.min(y)) {
        let message = format!("{} is not from 0m to {}m, half of the field", disc.radius, x.min(y));
        return Err(ScenarioError::new(join(PATH, "radius"), message));
    }
    // Uniform in the disc: the square root of a uniform draw is the radius.
    let mut random_position = || {
        let (radius, angle) = (disc.radius.0 * rng.uniform().sqrt(), std::f64::consts::TAU * rng.uniform());
        Point { x: x + radius * libm::cos(angle), y: y + radius * libm::sin(angle), z: 0.0 }
    };
    Ok((0..nodes).map(|_| random_position()).collect())
}

fn listed(list: &ListedDef, nodes: u64, a: &Adhoc) -> Result<Vec<Point>, ScenarioError> {
    let path = join(PATH, "positions");
    if list.positions.len() as u64 != nodes {
        let message = format!("{} positions for {nodes} stations", list.positions.len());
        return Err(ScenarioError::new(path, message));
    }
    let place = |(index, position): (usize, &Vec<f64>)| match position[..] {
        [x, y] => Ok(Point { x, y, z: 0.0 }),
        [x, y, z] => Ok(Point { x, y, z }),
        _ => Err(ScenarioError::new(format!("{path}[{index}]"), "a position is [x, y] or [x, y, z]")),
    };
    inside(list.positions.iter().enumerate().map(place).collect::<Result<_, _>>()?, &a.area, &path)
}

fn inside(places: Vec<Point>, area: &Area, path: &str) -> Result<Vec<Point>, ScenarioError> {
    let field = field_of(area);
    match places.iter().position(|place| !field.contains(*place)) {
        None => Ok(places),
        Some(index) => {
            let Point { x, y, z } = places[index];
            let message = format!("station {index} at ({x}, {y}, {z}) is outside the field");
            let hint = format!("network.area is {} x {} x {}", area.x, area.y, area.z);
            Err(ScenarioError::new(path, message).with_hint(hint))
        }
    }
}

/// Refuses a field without extent, or one larger than the Earth.
pub(super) fn check_area(area: &Area, path: &str) -> Result<(), ScenarioError> {
    for (field, side, min) in [("x", area.x, 1e-3), ("y", area.y, 1e-3), ("z", area.z, 0.0)] {
        if !(min..=1e7).contains(&side.0) {
            let message = format!("{side} is not a side from {min}m to 10000km");
            return Err(ScenarioError::new(join(path, field), message));
        }
    }
    Ok(())
}
