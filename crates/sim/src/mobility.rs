//! Where nodes are: functions of time, evaluated when asked (networks.md §10.1).

use tcp::units::Time;

/// A place in metres.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) z: f64,
}

impl Point {
    /// Metres between two places.
    pub(crate) fn distance(self, other: Point) -> f64 {
        let (x, y, z) = (self.x - other.x, self.y - other.y, self.z - other.z);
        (x * x + y * y + z * z).sqrt()
    }
}

/// The way of one node.
#[derive(Clone, Debug)]
pub(crate) enum Track {
    /// It stays.
    Fixed(Point),
    /// It moves straight on at so many metres per second along each axis.
    #[cfg(test)]
    Straight { from: Point, velocity: Point },
}

impl Track {
    /// Where the node is at `now`; asked with times that never go back.
    #[cfg_attr(not(test), expect(unused_variables, reason = "only tracks of tests depend on time"))]
    pub(crate) fn at(&mut self, now: Time) -> Point {
        match self {
            Track::Fixed(point) => *point,
            #[cfg(test)]
            Track::Straight { from, velocity } => {
                let secs = now.as_nanos() as f64 / 1e9;
                Point { x: from.x + velocity.x * secs, y: from.y + velocity.y * secs, z: from.z + velocity.z * secs }
            }
        }
    }

    /// True if it never moves.
    pub(crate) fn is_fixed(&self) -> bool {
        matches!(self, Track::Fixed(_))
    }
}
