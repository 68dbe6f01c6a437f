//! Mobility: positions of nodes as functions of time, evaluated on demand. No event moves a node.

mod gauss_markov;
mod given;
mod random_waypoint;
#[cfg(test)]
mod tests;

use tcp::rng::Rng;
use tcp::units::{Span, Time};

use crate::scenario::{MobilityDef, NodeDef, Speed};
use gauss_markov::GaussMarkov;
use random_waypoint::RandomWaypoint;

/// A position in metres, or a displacement.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) z: f64,
}

impl Point {
    /// Distance in metres.
    pub(crate) fn distance(self, other: Point) -> f64 {
        self.to(other).length()
    }

    /// Displacement from here to there.
    fn to(self, other: Point) -> Point {
        Point { x: other.x - self.x, y: other.y - self.y, z: other.z - self.z }
    }

    /// `start` displaced by `factor` times this displacement.
    fn times_from(self, factor: f64, start: Point) -> Point {
        Point { x: start.x + self.x * factor, y: start.y + self.y * factor, z: start.z + self.z * factor }
    }

    /// Length of a displacement.
    pub(crate) fn length(self) -> f64 {
        (self.x * self.x + self.y * self.y + self.z * self.z).sqrt()
    }
}

/// The box that nodes move in.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Field {
    pub(crate) low: Point,
    pub(crate) high: Point,
}

impl Field {
    /// From the origin to `high`.
    pub(crate) fn up_to(high: Point) -> Field {
        Field { low: Point::default(), high }
    }

    pub(crate) fn contains(&self, p: Point) -> bool {
        let within = |p: f64, low: f64, high: f64| (low..=high).contains(&p);
        within(p.x, self.low.x, self.high.x)
            && within(p.y, self.low.y, self.high.y)
            && within(p.z, self.low.z, self.high.z)
    }

    /// The nearest position inside.
    fn clamp(&self, p: Point) -> Point {
        let Field { low, high } = self;
        Point { x: p.x.clamp(low.x, high.x), y: p.y.clamp(low.y, high.y), z: p.z.clamp(low.z, high.z) }
    }

    /// A uniformly distributed position.
    pub(crate) fn random_position(&self, rng: &mut Rng) -> Point {
        let mut between = |low: f64, high: f64| low + (high - low) * rng.uniform();
        Point {
            x: between(self.low.x, self.high.x),
            y: between(self.low.y, self.high.y),
            z: between(self.low.z, self.high.z),
        }
    }
}

/// Motion at constant velocity during an interval of time, or a rest.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Leg {
    pub(crate) from: Time,
    pub(crate) until: Time,
    pub(crate) start: Point,
    /// Its exact end.
    pub(crate) end: Point,
    /// Metres per second along each axis.
    pub(crate) velocity: Point,
}

/// Seconds from one instant to another, both as nanoseconds.
pub(crate) fn seconds(from: f64, to: f64) -> f64 {
    (to - from) * 1e-9
}

impl Leg {
    /// A rest at `position` until `until`.
    fn rest(from: Time, until: Time, position: Point) -> Leg {
        Leg { from, until, start: position, end: position, velocity: Point::default() }
    }

    /// From one position to another in a given time.
    fn between(from: Time, until: Time, start: Point, end: Point) -> Leg {
        let rate = if until > from { 1.0 / until.since(from).as_secs_f64() } else { 0.0 };
        Leg { from, until, start, end, velocity: start.to(end).times_from(rate, Point::default()) }
    }

    /// From one position to another at `speed` metres per second.
    fn at_speed(from: Time, start: Point, end: Point, speed: f64) -> Leg {
        let displacement = start.to(end);
        let length = displacement.length();
        if length == 0.0 {
            return Leg::rest(from, from, start);
        }
        let velocity = displacement.times_from(speed / length, Point::default());
        Leg { from, until: after(from, length / speed), start, end, velocity }
    }

    /// Position at an instant of the leg.
    pub(crate) fn at(&self, now: Time) -> Point {
        if now >= self.until {
            return self.end;
        }
        self.velocity.times_from(seconds(self.from.as_nanos() as f64, now.as_nanos() as f64), self.start)
    }

    /// The leg truncated at `until`.
    fn cut(self, until: Time) -> Leg {
        if until >= self.until { self } else { Leg { until, end: self.at(until), ..self } }
    }
}

/// The end of time: a node rests from its last leg on.
const NEVER: Time = Time::from_nanos(u64::MAX);

/// The time `seconds` after `from`; never, if that is longer than any run.
fn after(from: Time, seconds: f64) -> Time {
    if seconds < 1e10 { from + Span::from_nanos((seconds * 1e9).round() as u64) } else { NEVER }
}

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
                let [min, max] = [def.speed_min, def.speed_max].map(|Speed(speed)| speed);
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
