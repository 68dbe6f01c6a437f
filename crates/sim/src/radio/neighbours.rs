//! An index over the positions of stations, so that finding all those near one of them is cheap: their legs in columns,
//! and for some hundreds of stations and more a grid.

use tcp::units::Time;

use super::grid::Grid;
use super::legs::Legs;
use crate::ids::StationId;
use crate::mobility::Track;

/// Number of stations from which a grid may be faster than a scan.
const GRID_FROM: usize = 300;

/// A station within reach.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Neighbour {
    pub(super) station: StationId,
    /// Metres.
    pub(super) distance: f64,
}

/// Index over the positions of stations.
#[derive(Clone, Debug)]
pub(super) struct NeighbourIndex {
    pub(super) tracks: Vec<Track>,
    legs: Legs,
    pub(super) grid: Option<Grid>,
    /// Metres within which stations are found.
    reach: f64,
    /// Buffers for squared distances: of all stations, and of those found in the grid.
    squares: Vec<f64>,
    found: Vec<(u32, f64)>,
}

impl NeighbourIndex {
    pub(super) fn new(tracks: Vec<Track>, reach: f64) -> NeighbourIndex {
        let stations = tracks.len();
        let legs = Legs::new(stations);
        let grid = (stations >= GRID_FROM).then(Grid::default);
        NeighbourIndex { tracks, legs, grid, reach, squares: vec![0.0; stations], found: Vec::new() }
    }

    /// Advances the legs to `now`, which must not decrease.
    fn advance_to(&mut self, now: Time) {
        while let Some(index) = self.legs.pop_ended(now) {
            self.legs.set(index, &self.tracks[index].leg(now));
            if let Some(grid) = &mut self.grid {
                grid.on_new_leg(&self.legs, index, now);
            }
        }
        if let Some(grid) = &mut self.grid {
            grid.refresh(&self.legs, self.reach, now);
        }
    }

    /// Calls `visit` with every other station within reach of `of` at `now`, in order.
    pub(super) fn each_within_reach(&mut self, of: StationId, now: Time, mut visit: impl FnMut(Neighbour)) {
        self.advance_to(now);
        let here = self.legs.at(of.index(), now);
        let reach = self.reach;
        let max = reach * reach * (1.0 + 1e-9);
        let mut check = |index: u32, square: f64| {
            let (station, distance) = (StationId(index), square.sqrt());
            if station != of && distance <= reach {
                visit(Neighbour { station, distance });
            }
        };
        let Some(grid) = self.grid.as_ref().filter(|grid| grid.is_worthwhile()) else {
            self.legs.square_distances(here, now, &mut self.squares);
            let squares = (0..).zip(&self.squares).filter(|(_, square)| **square <= max);
            return squares.for_each(|(index, square)| check(index, *square));
        };
        let (legs, found) = (&self.legs, &mut self.found);
        found.clear();
        grid.each_candidate(here, reach, now, |index| {
            let square = legs.square_distance(here, index as usize, now);
            if square <= max {
                found.push((index, square));
            }
        });
        found.sort_unstable_by_key(|(index, _)| *index);
        found.iter().for_each(|(index, square)| check(*index, *square));
    }

    /// Number of stations examined to find those within reach of one.
    #[cfg(test)]
    pub(super) fn examined(&mut self, of: StationId, now: Time) -> usize {
        self.advance_to(now);
        let Some(grid) = self.grid.as_ref().filter(|grid| grid.is_worthwhile()) else { return self.tracks.len() };
        let mut examined = 0;
        grid.each_candidate(self.legs.at(of.index(), now), self.reach, now, |_| examined += 1);
        examined
    }
}
