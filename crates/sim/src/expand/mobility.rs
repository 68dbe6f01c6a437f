//! Mobility: its defaults, and what is refused.

use tcp::units::Span;

use super::placement::{check_area, field_of};
use crate::mobility::Point;
use crate::scenario::{
    Area, GaussMarkovDef, MobilityDef, NodeDef, RandomWaypointDef, Scenario, ScenarioError, SetdestDef, Speed,
    WaypointsDef, join,
};

/// Faster than any vehicle; a limit at which arithmetic is still exact.
const MAX_SPEED: f64 = 10_000.0;

fn fail<T>(path: &str, field: &str, message: impl Into<String>) -> Result<T, ScenarioError> {
    Err(ScenarioError::new(join(path, field), message))
}

/// The mobility with nothing left to a default; `area` is the field of the network, if it has one.
pub(super) fn with_defaults(def: &MobilityDef, area: Option<&Area>, path: &str) -> Result<MobilityDef, ScenarioError> {
    Ok(match def {
        MobilityDef::Fixed(fixed) => MobilityDef::Fixed(*fixed),
        MobilityDef::RandomWaypoint(def) => MobilityDef::RandomWaypoint(random_waypoint(def, area, path)?),
        MobilityDef::GaussMarkov(def) => MobilityDef::GaussMarkov(gauss_markov(def, area, path)?),
        MobilityDef::Waypoints(way) => {
            check_waypoints(way, area, path)?;
            def.clone()
        }
        MobilityDef::Setdest(setdest) => MobilityDef::Setdest(followed(setdest, area, path)?),
    })
}

fn field(own: Option<Area>, area: Option<&Area>, path: &str) -> Result<Option<Area>, ScenarioError> {
    let Some(field) = own.or(area.copied()) else {
        return fail(path, "field", "missing key `field`: a graph has no field of its own");
    };
    check_area(&field, &join(path, "field"))?;
    Ok(Some(field))
}

fn check_speed(speed: Speed, path: &str, field: &str) -> Result<(), ScenarioError> {
    if speed.0 <= MAX_SPEED {
        Ok(())
    } else {
        fail(path, field, format!("{speed} is not a speed up to {MAX_SPEED}m/s"))
    }
}

fn random_waypoint(
    def: &RandomWaypointDef,
    area: Option<&Area>,
    path: &str,
) -> Result<RandomWaypointDef, ScenarioError> {
    let field = field(def.field, area, path)?;
    if let Some(speed) = def.speed {
        check_speed(speed, path, "speed")?;
        if speed.0 < 1e-6 {
            let error = ScenarioError::new(join(path, "speed"), format!("{speed} is not a speed above 0m/s"));
            return Err(error.with_hint("stations that stay: mobility.kind = \"fixed\""));
        }
        for (name, bound) in [("speed_min", def.speed_min), ("speed_max", def.speed_max)] {
            if bound.is_some_and(|bound| bound != speed) {
                return fail(path, name, "has no effect beside `speed`, which is the speed of every leg".to_owned());
            }
        }
        return Ok(RandomWaypointDef { speed_min: Some(speed), speed_max: Some(speed), field, ..*def });
    }
    let slowest = def.speed_min.unwrap_or(Speed(0.3));
    let fastest = def.speed_max.unwrap_or(Speed(0.7));
    check_speed(fastest, path, "speed_max")?;
    if slowest.0 < 1e-6 {
        let error = ScenarioError::new(join(path, "speed_min"), format!("{slowest} is not a speed above 0m/s"));
        return Err(error.with_hint("with 0 the mean speed sinks for as long as the run lasts; such as \"1m/s\""));
    }
    if slowest > fastest {
        return fail(path, "speed_min", format!("{slowest} is above speed_max ({fastest})"));
    }
    Ok(RandomWaypointDef { speed_min: Some(slowest), speed_max: Some(fastest), field, ..*def })
}

fn gauss_markov(def: &GaussMarkovDef, area: Option<&Area>, path: &str) -> Result<GaussMarkovDef, ScenarioError> {
    check_speed(def.speed, path, "speed")?;
    if def.interval < Span::from_millis(1) {
        return fail(path, "interval", format!("{} is not a step of 1ms or more", def.interval));
    }
    if !(0.0..=1.0).contains(&def.alpha) {
        return fail(path, "alpha", format!("{} is not a memory from 0 to 1", def.alpha));
    }
    let field = field(def.field, area, path)?;
    let flat = field.is_none_or(|field| field.z.0 == 0.0);
    let pitch_noise = def.pitch_noise.unwrap_or(if flat { 0.0 } else { 1.0 });
    let noises =
        [("speed_noise", def.speed_noise), ("direction_noise", def.direction_noise), ("pitch_noise", pitch_noise)];
    for (name, noise) in noises {
        if !(0.0..=MAX_SPEED).contains(&noise) {
            return fail(path, name, format!("{noise} is not a standard deviation from 0 to {MAX_SPEED}"));
        }
    }
    Ok(GaussMarkovDef { field, pitch_noise: Some(pitch_noise), ..*def })
}

fn check_order(times: impl Iterator<Item = Span>, path: &str) -> Result<(), ScenarioError> {
    let mut before = Span::ZERO;
    for (index, at) in times.enumerate() {
        if at < before {
            return fail(path, &format!("[{index}].at"), format!("{at} is before the one before it ({before})"));
        }
        before = at;
    }
    Ok(())
}

fn check_waypoints(way: &WaypointsDef, area: Option<&Area>, path: &str) -> Result<(), ScenarioError> {
    let path = join(path, "points");
    check_order(way.points.iter().map(|point| point.at), &path)?;
    let Some(area) = area else { return Ok(()) };
    for (index, point) in way.points.iter().enumerate() {
        let place = Point { x: point.x, y: point.y, z: point.z.unwrap_or(0.0) };
        if !field_of(area).contains(place) {
            let message = format!("({}, {}, {}) is outside the field", place.x, place.y, place.z);
            let hint = format!("network.area is {} x {} x {}", area.x, area.y, area.z);
            return Err(ScenarioError::new(format!("{path}[{index}]"), message).with_hint(hint));
        }
    }
    Ok(())
}

/// The orders that are obeyed: one that leads out of the field is ignored.
fn followed(setdest: &SetdestDef, area: Option<&Area>, path: &str) -> Result<SetdestDef, ScenarioError> {
    if setdest.file.is_some() {
        let error =
            ScenarioError::new(join(path, "file"), "a movement file can only be network.mobility of an adhoc network");
        return Err(error.with_hint("give the orders of a single node in `orders`"));
    }
    check_order(setdest.orders.iter().map(|order| order.at), &join(path, "orders"))?;
    for (index, order) in setdest.orders.iter().enumerate() {
        check_speed(order.speed, &join(path, &format!("orders[{index}]")), "speed")?;
    }
    let obeyed = |x: f64, y: f64| area.is_none_or(|area| field_of(area).contains(Point { x, y, z: 0.0 }));
    let orders = setdest.orders.iter().filter(|order| obeyed(order.x, order.y)).copied().collect();
    Ok(SetdestDef { file: None, orders })
}

/// A node that wanders in a field must start inside.
pub(super) fn check_start(def: &MobilityDef, start: Point, path: &str) -> Result<(), ScenarioError> {
    let field = match def {
        MobilityDef::RandomWaypoint(def) if !def.steady => def.field,
        MobilityDef::GaussMarkov(def) => def.field,
        _ => None,
    };
    let Some(area) = field.filter(|area| !field_of(area).contains(start)) else { return Ok(()) };
    let message = format!("the node starts at ({}, {}, {}), outside this field", start.x, start.y, start.z);
    let hint = format!("it is {} x {} x {} from the origin", area.x, area.y, area.z);
    Err(ScenarioError::new(join(path, "field"), message).with_hint(hint))
}

/// The nodes of a graph with nothing of their mobility left to a default.
pub(super) fn nodes(scenario: &Scenario) -> Result<Vec<NodeDef>, ScenarioError> {
    let fill = |(index, node): (usize, &NodeDef)| {
        let Some(def) = &node.mobility else { return Ok(node.clone()) };
        let path = format!("node[{index}].mobility");
        if !scenario.channel.iter().any(|channel| channel.stations.contains(&node.name)) {
            let error = ScenarioError::new(path, format!("{:?} has no radio; only stations move", node.name));
            return Err(error.with_hint("add it to the stations of a channel"));
        }
        let def = with_defaults(def, None, &path)?;
        let Some((x, y)) = node.x.zip(node.y) else {
            return Err(ScenarioError::new(format!("node[{index}]"), "a node that moves needs x and y to start from"));
        };
        check_start(&def, Point { x, y, z: node.z.unwrap_or(0.0) }, &path)?;
        Ok(NodeDef { mobility: Some(def), ..node.clone() })
    };
    scenario.node.iter().enumerate().map(fill).collect()
}
