//! Where the stations of a channel are, kept so that asking for all those near one of them is cheap:
//! the legs under way in columns, and above some hundreds of stations a grid besides.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tcp::units::Time;

use super::grid::Grid;
use crate::ids::StationId;
use crate::mobility::{Leg, Point, Track, seconds};

/// From so many stations on a grid may be quicker than looking at all of them.
const GRID_FROM: usize = 300;

/// A station nearby.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Near {
    pub(super) station: StationId,
    /// Metres.
    pub(super) distance: f64,
}

/// The legs that stations are on, by column.
#[derive(Clone, Debug, Default)]
pub(super) struct Legs {
    /// Start of the leg in nanoseconds.
    from: Vec<f64>,
    start: [Vec<f64>; 3],
    velocity: [Vec<f64>; 3],
    /// When legs end, the first one first: those that go on need not be looked at.
    ends: BinaryHeap<Reverse<(Time, u32)>>,
}

impl Legs {
    fn set(&mut self, index: usize, leg: &Leg) {
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

    pub(super) fn at(&self, index: usize, now: Time) -> Point {
        let past = seconds(self.from[index], now.as_nanos() as f64);
        let [x, y, z] = [0, 1, 2].map(|axis| self.start[axis][index] + self.velocity[axis][index] * past);
        Point { x, y, z }
    }

    pub(super) fn speed(&self, index: usize) -> f64 {
        let [x, y, z] = [0, 1, 2].map(|axis| self.velocity[axis][index]);
        Point { x, y, z }.length()
    }
}

/// The stations of a channel on their tracks.
#[derive(Clone, Debug)]
pub(super) struct Whereabouts {
    pub(super) tracks: Vec<Track>,
    legs: Legs,
    pub(super) grid: Option<Grid>,
    /// Metres: nobody asks for those farther away.
    reach: f64,
    /// Squares of distances, of all stations and of those found near: buffers.
    squares: Vec<f64>,
    found: Vec<(u32, f64)>,
}

impl Whereabouts {
    pub(super) fn new(tracks: Vec<Track>, reach: f64) -> Whereabouts {
        let stations = tracks.len();
        let column = || vec![0.0; stations];
        let legs = Legs {
            from: column(),
            start: [column(), column(), column()],
            velocity: [column(), column(), column()],
            ends: (0..stations as u32).map(|index| Reverse((Time::ZERO, index))).collect(),
        };
        let grid = (stations >= GRID_FROM).then(Grid::default);
        Whereabouts { tracks, legs, grid, reach, squares: column(), found: Vec::new() }
    }

    /// Brings the legs up to `now`, which never goes back.
    fn follow(&mut self, now: Time) {
        while let Some(Reverse((end, index))) = self.legs.ends.peek().copied()
            && end <= now
        {
            self.legs.ends.pop();
            let index = index as usize;
            self.legs.set(index, &self.tracks[index].leg(now));
            if let Some(grid) = &mut self.grid {
                grid.on_new_leg(&self.legs, index, now);
            }
        }
        if let Some(grid) = &mut self.grid {
            grid.keep_fresh(&self.legs, self.reach, now);
        }
    }

    /// Calls `hear` with every other station within reach of `of` at `now`, in order.
    pub(super) fn near(&mut self, of: StationId, now: Time, mut hear: impl FnMut(Near)) {
        self.follow(now);
        let here = self.legs.at(of.index(), now);
        let reach = self.reach;
        let most = reach * reach * (1.0 + 1e-9);
        let mut look = |index: u32, square: f64| {
            let (station, distance) = (StationId(index), square.sqrt());
            if station != of && distance <= reach {
                hear(Near { station, distance });
            }
        };
        let Some(grid) = self.grid.as_ref().filter(|grid| grid.pays()) else {
            self.scan(here, now);
            let squares = (0..).zip(&self.squares).filter(|(_, square)| **square <= most);
            return squares.for_each(|(index, square)| look(index, *square));
        };
        let (legs, found) = (&self.legs, &mut self.found);
        found.clear();
        grid.each_candidate(here, reach, now, |index| {
            let square = square(here, legs.at(index as usize, now));
            if square <= most {
                found.push((index, square));
            }
        });
        found.sort_unstable_by_key(|(index, _)| *index);
        found.iter().for_each(|(index, square)| look(*index, *square));
    }

    /// How many stations are looked at to find those near one of them.
    #[cfg(test)]
    pub(super) fn looked_at(&mut self, of: StationId, now: Time) -> usize {
        self.follow(now);
        let Some(grid) = self.grid.as_ref().filter(|grid| grid.pays()) else { return self.tracks.len() };
        let mut looked_at = 0;
        grid.each_candidate(self.legs.at(of.index(), now), self.reach, now, |_| looked_at += 1);
        looked_at
    }

    /// Squares of the distances of all stations. No branch: it runs on several at a time.
    fn scan(&mut self, here: Point, now: Time) {
        let Legs { from, start: [x, y, z], velocity: [vx, vy, vz], .. } = &self.legs;
        let now = now.as_nanos() as f64;
        for (index, distance) in self.squares.iter_mut().enumerate() {
            let past = seconds(from[index], now);
            let there = Point {
                x: x[index] + vx[index] * past,
                y: y[index] + vy[index] * past,
                z: z[index] + vz[index] * past,
            };
            *distance = square(here, there);
        }
    }
}

/// The square of a distance.
fn square(a: Point, b: Point) -> f64 {
    let (x, y, z) = (b.x - a.x, b.y - a.y, b.z - a.z);
    x * x + y * y + z * z
}
