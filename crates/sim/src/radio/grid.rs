//! A grid over the positions of stations some time ago. The maximum speed bounds how far they have moved since, so a
//! search radius enlarged by that distance finds every station within reach.

use tcp::units::Time;

use super::legs::Legs;
use crate::mobility::Point;

/// Maximum number of rows, and of columns.
const MAX_CELLS: f64 = 256.0;
/// The grid is rebuilt when stations may have moved by this fraction of the reach.
const DRIFT: f64 = 0.125;
/// Speeds up to this multiple of the present maximum do not invalidate the grid.
const HEADROOM: f64 = 1.25;
/// Fraction of the area below which searching cells is faster than scanning all stations.
const WORTHWHILE: f64 = 0.125;
/// Metres; larger than any rounding error.
const SLACK: f64 = 1e-3;

/// Stations by cell.
#[derive(Clone, Debug, Default)]
pub(super) struct Grid {
    /// By station, its position when the grid was built; empty if the grid is invalid.
    positions: Vec<Point>,
    built_at: Time,
    /// Upper bound of all speeds since then, metres per second.
    top_speed: f64,
    corner: Point,
    /// Size of a cell.
    width: f64,
    depth: f64,
    columns: usize,
    rows: usize,
    is_worthwhile: bool,
    /// The stations of cell c are members[starts[c]..starts[c + 1]], in order.
    starts: Vec<u32>,
    members: Vec<u32>,
}

impl Grid {
    /// Upper bound of the distance that a station has moved since the grid was built, metres.
    fn drift(&self, now: Time) -> f64 {
        self.top_speed * now.since(self.built_at).as_secs_f64() + SLACK
    }

    /// Handles a new leg of a station: a speed above the bound or a jump invalidates the grid.
    pub(super) fn on_new_leg(&mut self, legs: &Legs, index: usize, now: Time) {
        let Some(position) = self.positions.get(index) else { return };
        if legs.speed(index) > self.top_speed || position.distance(legs.at(index, now)) > self.drift(now) {
            self.positions.clear();
        }
    }

    /// Rebuilds the grid if it is invalid or too old.
    pub(super) fn refresh(&mut self, legs: &Legs, reach: f64, now: Time) {
        if self.positions.is_empty() || self.drift(now) > SLACK + DRIFT * reach {
            self.build(legs, reach, now);
        }
    }

    fn build(&mut self, legs: &Legs, reach: f64, now: Time) {
        self.positions.clear();
        self.positions.extend((0..legs.stations()).map(|index| legs.at(index, now)));
        self.built_at = now;
        self.top_speed = HEADROOM * (0..legs.stations()).map(|index| legs.speed(index)).fold(0.0, f64::max);
        let extremes = |axis: fn(&Point) -> f64| {
            let values = self.positions.iter().map(axis);
            (values.clone().fold(f64::INFINITY, f64::min), values.fold(f64::NEG_INFINITY, f64::max))
        };
        let ((left, right), (front, back)) = (extremes(|p| p.x), extremes(|p| p.y));
        let cells = |side: f64| (side / (reach / 2.0)).ceil().clamp(1.0, MAX_CELLS);
        let (columns, rows) = (cells(right - left), cells(back - front));
        self.corner = Point { x: left, y: front, z: 0.0 };
        self.width = ((right - left) / columns).max(SLACK);
        self.depth = ((back - front) / rows).max(SLACK);
        (self.columns, self.rows) = (columns as usize, rows as usize);
        let examined = (2.0 * reach + self.width) * (2.0 * reach + self.depth);
        self.is_worthwhile = examined < WORTHWHILE * (right - left) * (back - front);
        self.sort_into_cells();
    }

    /// Counting sort of the stations by cell.
    fn sort_into_cells(&mut self) {
        self.starts.clear();
        self.starts.resize(self.columns * self.rows + 1, 0);
        for position in &self.positions {
            let cell = self.cell(position);
            self.starts[cell + 1] += 1;
        }
        for cell in 1..self.starts.len() {
            self.starts[cell] += self.starts[cell - 1];
        }
        self.members.clear();
        self.members.resize(self.positions.len(), 0);
        // In reverse order of stations, each cell fills from its end.
        for (index, position) in self.positions.iter().enumerate().rev() {
            let cell = self.cell(position);
            self.starts[cell + 1] -= 1;
            self.members[self.starts[cell + 1] as usize] = index as u32;
        }
        // Each entry has become the start of its own cell; the first is 0 already.
        self.starts.remove(0);
        self.starts.push(self.positions.len() as u32);
    }

    fn column(&self, x: f64) -> usize {
        (((x - self.corner.x) / self.width) as usize).min(self.columns - 1)
    }

    fn row(&self, y: f64) -> usize {
        (((y - self.corner.y) / self.depth) as usize).min(self.rows - 1)
    }

    fn cell(&self, position: &Point) -> usize {
        self.row(position.y) * self.columns + self.column(position.x)
    }

    /// True if a search of the grid is faster than a scan of all stations.
    pub(super) fn is_worthwhile(&self) -> bool {
        self.is_worthwhile
    }

    /// Calls `visit` with every station that may be within reach of `here` at `now`.
    pub(super) fn each_candidate(&self, here: Point, reach: f64, now: Time, mut visit: impl FnMut(u32)) {
        let radius = reach + self.drift(now);
        for row in self.row(here.y - radius)..=self.row(here.y + radius) {
            let cells = row * self.columns;
            let first = self.starts[cells + self.column(here.x - radius)];
            let last = self.starts[cells + self.column(here.x + radius) + 1];
            self.members[first as usize..last as usize].iter().for_each(|index| visit(*index));
        }
    }
}
