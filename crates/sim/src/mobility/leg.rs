//! Positions, the field, and motion at constant velocity.

use tcp::rng::Rng;
use tcp::units::{Span, Time};

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
    pub(super) fn to(self, other: Point) -> Point {
        Point { x: other.x - self.x, y: other.y - self.y, z: other.z - self.z }
    }

    /// `start` displaced by `factor` times this displacement.
    pub(super) fn times_from(self, factor: f64, start: Point) -> Point {
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
    pub(super) fn clamp(&self, p: Point) -> Point {
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
    pub(super) fn rest(from: Time, until: Time, position: Point) -> Leg {
        Leg { from, until, start: position, end: position, velocity: Point::default() }
    }

    /// From one position to another in a given time.
    pub(super) fn between(from: Time, until: Time, start: Point, end: Point) -> Leg {
        let rate = if until > from { 1.0 / until.since(from).as_secs_f64() } else { 0.0 };
        Leg { from, until, start, end, velocity: start.to(end).times_from(rate, Point::default()) }
    }

    /// From one position to another at `speed` metres per second.
    pub(super) fn at_speed(from: Time, start: Point, end: Point, speed: f64) -> Leg {
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
    pub(super) fn cut(self, until: Time) -> Leg {
        if until >= self.until { self } else { Leg { until, end: self.at(until), ..self } }
    }
}

/// The end of time: a node rests from its last leg on.
pub(super) const NEVER: Time = Time::from_nanos(u64::MAX);

/// The time `seconds` after `from`; never, if that is longer than any run.
pub(super) fn after(from: Time, seconds: f64) -> Time {
    if seconds < 1e10 { from + Span::from_nanos((seconds * 1e9).round() as u64) } else { NEVER }
}
