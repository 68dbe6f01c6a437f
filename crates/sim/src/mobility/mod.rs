//! Mobility: positions of nodes as functions of time, evaluated on demand. No event moves a node.

mod gauss_markov;
mod given;
mod leg;
mod random_waypoint;
#[cfg(test)]
mod tests;

use tcp::rng::Rng;
use tcp::units::Time;

use crate::scenario::{MobilityDef, NodeDef};
use gauss_markov::GaussMarkov;
use leg::NEVER;
pub(crate) use leg::{Field, Leg, Point, seconds};
use random_waypoint::RandomWaypoint;

/// The trajectory of a node.
#[derive(Clone, Debug)]
pub(crate) enum Track {
    /// A fixed position.
    Fixed(Point),
    /// A moving node.
    Moving(Box<Journey>),
}

/// A moving node: its leg and its model.
#[derive(Clone, Debug)]
pub(crate) struct Journey {
    leg: Leg,
    model: Model,
}

/// Source of the next leg.
#[derive(Clone, Debug)]
enum Model {
    /// Given legs, the next one last.
    Given(Vec<Leg>),
    RandomWaypoint(RandomWaypoint),
    GaussMarkov(GaussMarkov),
}

impl Track {
    /// The trajectory of a node that starts at `position` and moves by `def` within `field`, with a random stream of
    /// its own.
    pub(crate) fn new(def: &MobilityDef, position: Point, field: Field, rng: Rng) -> Track {
        let (leg, model) = match def {
            MobilityDef::Fixed(_) => return Track::Fixed(position),
            MobilityDef::Waypoints(displacement) => given::waypoints(&displacement.points, position),
            MobilityDef::Setdest(setdest) => given::orders(&setdest.orders, position),
            MobilityDef::RandomWaypoint(def) => {
                let [min, max] = [def.speed_min, def.speed_max].map(|speed| speed.expect("resolved").0);
                let (leg, model) = RandomWaypoint::new([min, max], def.pause, field, rng).first(position, def.steady);
                (leg, Model::RandomWaypoint(model))
            }
            MobilityDef::GaussMarkov(def) => {
                let mut model = GaussMarkov::new(def, field, rng);
                (model.step(Time::ZERO, position), Model::GaussMarkov(model))
            }
        };
        Track::Moving(Box::new(Journey { leg, model }))
    }

    /// Motion from `start` without end at a constant velocity, metres per second.
    #[cfg(test)]
    pub(crate) fn straight(start: Point, velocity: Point) -> Track {
        let leg = Leg { from: Time::ZERO, until: NEVER, start, end: start, velocity };
        Track::Moving(Box::new(Journey { leg, model: Model::Given(Vec::new()) }))
    }

    /// The trajectory of a node of an expanded scenario.
    pub(crate) fn of(node: &NodeDef, seed: u64) -> Track {
        let Some(def) = &node.mobility else { return Track::Fixed(Track::start(node)) };
        let area = match def {
            MobilityDef::RandomWaypoint(def) => def.field,
            MobilityDef::GaussMarkov(def) => def.field,
            MobilityDef::Fixed(_) | MobilityDef::Waypoints(_) | MobilityDef::Setdest(_) => None,
        };
        let area = area.unwrap_or_default();
        let field = Field::up_to(Point { x: area.x.0, y: area.y.0, z: area.z.0 });
        Track::new(def, Track::start(node), field, Rng::stream(seed, &format!("node/{}/mobility", node.name)))
    }

    /// Initial position of a node.
    pub(crate) fn start(node: &NodeDef) -> Point {
        let or_0 = |at: Option<f64>| at.unwrap_or(0.0);
        Point { x: or_0(node.x), y: or_0(node.y), z: or_0(node.z) }
    }

    /// Position at `now`, which must not decrease from call to call.
    pub(crate) fn at(&mut self, now: Time) -> Point {
        match self {
            Track::Fixed(point) => *point,
            Track::Moving(journey) => journey.leg_at(now).at(now),
        }
    }

    /// The leg at `now`, which must not decrease from call to call.
    pub(crate) fn leg(&mut self, now: Time) -> Leg {
        match self {
            Track::Fixed(point) => Leg::rest(Time::ZERO, NEVER, *point),
            Track::Moving(journey) => *journey.leg_at(now),
        }
    }

    /// True if it never moves.
    pub(crate) fn is_fixed(&self) -> bool {
        matches!(self, Track::Fixed(_))
    }
}

impl Journey {
    fn leg_at(&mut self, now: Time) -> &Leg {
        while now >= self.leg.until && self.leg.until < NEVER {
            let Leg { until, end, .. } = self.leg;
            self.leg = match &mut self.model {
                Model::Given(legs) => legs.pop().unwrap_or_else(|| Leg::rest(until, NEVER, end)),
                Model::RandomWaypoint(model) => model.next(until, end),
                Model::GaussMarkov(model) => model.step(until, end),
            };
        }
        &self.leg
    }
}
