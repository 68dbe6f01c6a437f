//! The legs that stations travel on, one column per quantity, so that the distances to all of them are computed several
//! at a time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tcp::units::Time;

use crate::mobility::{Leg, Point, seconds};

/// The current leg of every station, by column.
#[derive(Clone, Debug, Default)]
pub(super) struct Legs {
    /// Start of the leg in nanoseconds.
    from: Vec<f64>,
    start: [Vec<f64>; 3],
    velocity: [Vec<f64>; 3],
    /// When legs end, the earliest first, so that only those that have ended are visited.
    ends: BinaryHeap<Reverse<(Time, u32)>>,
}

impl Legs {
    /// Legs that are all to be set at time zero.
    pub(super) fn new(stations: usize) -> Legs {
        let column = || vec![0.0; stations];
        Legs {
            from: column(),
            start: [column(), column(), column()],
            velocity: [column(), column(), column()],
            ends: (0..stations as u32).map(|index| Reverse((Time::ZERO, index))).collect(),
        }
    }

    /// A station whose leg has ended by `now`, and whose next leg is to be set.
    pub(super) fn pop_ended(&mut self, now: Time) -> Option<usize> {
        let Reverse((end, index)) = self.ends.peek().copied()?;
        if end > now {
            return None;
        }
        self.ends.pop();
        Some(index as usize)
    }

    pub(super) fn set(&mut self, index: usize, leg: &Leg) {
        self.from[index] = leg.from.as_nanos() as f64;
        let axes = |p: Point| [p.x, p.y, p.z];
        for (axis, (start, velocity)) in axes(leg.start).into_iter().zip(axes(leg.velocity)).enumerate() {
            self.start[axis][index] = start;
            self.velocity[axis][index] = velocity;
        }
        self.ends.push(Reverse((leg.until, index as u32)));
    }

    pub(super) fn stations(&self) -> usize {
        self.from.len()
    }

    /// Position of a station on its leg.
    pub(super) fn at(&self, index: usize, now: Time) -> Point {
        let past = seconds(self.from[index], now.as_nanos() as f64);
        let [x, y, z] = [0, 1, 2].map(|axis| self.start[axis][index] + self.velocity[axis][index] * past);
        Point { x, y, z }
    }

    /// Metres per second.
    pub(super) fn speed(&self, index: usize) -> f64 {
        let [x, y, z] = [0, 1, 2].map(|axis| self.velocity[axis][index]);
        Point { x, y, z }.length()
    }

    /// Square of the distance from `here` to a station.
    pub(super) fn square_distance(&self, here: Point, index: usize, now: Time) -> f64 {
        square_distance(here, self.at(index, now))
    }

    /// Squares of the distances from `here` to all stations. The loop has no branch, so that it is vectorized.
    pub(super) fn square_distances(&self, here: Point, now: Time, squares: &mut [f64]) {
        let Legs { from, start: [x, y, z], velocity: [vx, vy, vz], .. } = self;
        let now = now.as_nanos() as f64;
        for (index, square) in squares.iter_mut().enumerate() {
            let past = seconds(from[index], now);
            let there = Point {
                x: x[index] + vx[index] * past,
                y: y[index] + vy[index] * past,
                z: z[index] + vz[index] * past,
            };
            *square = square_distance(here, there);
        }
    }
}

fn square_distance(a: Point, b: Point) -> f64 {
    let (x, y, z) = (b.x - a.x, b.y - a.y, b.z - a.z);
    x * x + y * y + z * z
}
