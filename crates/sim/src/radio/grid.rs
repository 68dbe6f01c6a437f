//! A grid over the stations of a channel as they were some time ago. None has gone farther since than the greatest speed
//! allows, so that much more than the reach holds every station in reach.

use tcp::units::Time;

use super::legs::Legs;
use crate::mobility::Point;

/// Rows and columns at most.
const MAX_CELLS: f64 = 256.0;
/// The grid is laid anew when stations may have gone this share of the reach.
const DRIFT: f64 = 0.125;
/// Speeds are expected up to this multiple of the greatest one now.
const HEADROOM: f64 = 1.25;
/// Share of the field within which looking cell by cell beats a straight pass over all.
const WORTHWHILE: f64 = 0.125;
/// Metres that rounding cannot make up.
const SLACK: f64 = 1e-3;

/// Stations by cell.
#[derive(Clone, Debug, Default)]
pub(super) struct Grid {
    /// By station, where it was when the grid was laid; empty before.
    laid: Vec<Point>,
    laid_at: Time,
    /// Metres per second that no station has exceeded since.
    top_speed: f64,
    corner: Point,
    /// Sides of a cell.
    width: f64,
    depth: f64,
    columns: usize,
    rows: usize,
    pays: bool,
    /// The stations of cell c are members[starts[c]..starts[c + 1]], in order.
    starts: Vec<u32>,
    members: Vec<u32>,
}

impl Grid {
    /// Metres that a station may have gone since the grid was laid.
    fn drift(&self, now: Time) -> f64 {
        self.top_speed * now.since(self.laid_at).as_secs_f64() + SLACK
    }

    /// A station is on a new leg: one that is too fast, or that has jumped, makes the grid void.
    pub(super) fn on_new_leg(&mut self, legs: &Legs, index: usize, now: Time) {
        let Some(laid) = self.laid.get(index) else { return };
        if legs.speed(index) > self.top_speed || laid.distance(legs.at(index, now)) > self.drift(now) {
            self.laid.clear();
        }
    }

    /// Lays the grid anew if it is void or too old.
    pub(super) fn keep_fresh(&mut self, legs: &Legs, reach: f64, now: Time) {
        if self.laid.is_empty() || self.drift(now) > SLACK + DRIFT * reach {
            self.lay(legs, reach, now);
        }
    }

    fn lay(&mut self, legs: &Legs, reach: f64, now: Time) {
        self.laid.clear();
        self.laid.extend((0..legs.stations()).map(|index| legs.at(index, now)));
        self.laid_at = now;
        self.top_speed = HEADROOM * (0..legs.stations()).map(|index| legs.speed(index)).fold(0.0, f64::max);
        let extremes = |axis: fn(&Point) -> f64| {
            let positions = self.laid.iter().map(axis);
            (positions.clone().fold(f64::INFINITY, f64::min), positions.fold(f64::NEG_INFINITY, f64::max))
        };
        let ((left, right), (front, back)) = (extremes(|p| p.x), extremes(|p| p.y));
        let cells = |side: f64| (side / (reach / 2.0)).ceil().clamp(1.0, MAX_CELLS);
        let (columns, rows) = (cells(right - left), cells(back - front));
        self.corner = Point { x: left, y: front, z: 0.0 };
        self.width = ((right - left) / columns).max(SLACK);
        self.depth = ((back - front) / rows).max(SLACK);
        (self.columns, self.rows) = (columns as usize, rows as usize);
        let examined = (2.0 * reach + self.width) * (2.0 * reach + self.depth);
        self.pays = examined < WORTHWHILE * (right - left) * (back - front);
        self.sort_in();
    }

    /// Counting sort of the stations by cell.
    fn sort_in(&mut self) {
        self.starts.clear();
        self.starts.resize(self.columns * self.rows + 1, 0);
        for position in &self.laid {
            let cell = self.cell(position);
            self.starts[cell + 1] += 1;
        }
        for cell in 1..self.starts.len() {
            self.starts[cell] += self.starts[cell - 1];
        }
        self.members.clear();
        self.members.resize(self.laid.len(), 0);
        // From the last station down, each cell fills from its end.
        for (index, position) in self.laid.iter().enumerate().rev() {
            let cell = self.cell(position);
            self.starts[cell + 1] -= 1;
            self.members[self.starts[cell + 1] as usize] = index as u32;
        }
        // Each entry has become the start of its own cell; the first is 0 already.
        self.starts.remove(0);
        self.starts.push(self.laid.len() as u32);
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

    /// True if a look at the surroundings spares most of the stations.
    pub(super) fn pays(&self) -> bool {
        self.pays
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
