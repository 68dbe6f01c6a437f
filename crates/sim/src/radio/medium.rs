//! Who hears a station, how strongly and how late: power and delay as they are when a frame begins.

use tcp::units::{Span, Time};

use super::propagation::Propagation;
use crate::ids::StationId;
use crate::mobility::{Point, Track};
use crate::radio::neighbours::NeighbourIndex;

#[cfg(test)]
mod tests;

/// A station that hears a frame.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Listener {
    pub(crate) station: StationId,
    /// Received power in watts.
    pub(crate) power: f64,
    /// Propagation.
    pub(crate) delay: Span,
}

/// Who hears whom.
#[derive(Clone, Debug)]
pub(crate) struct Medium {
    /// By sender, if nothing moves.
    fixed: Option<Vec<Vec<Listener>>>,
    index: NeighbourIndex,
    pub(crate) propagation: Option<Propagation>,
    /// Watts.
    floor: f64,
    /// Metres per second.
    speed_of_light: f64,
}

impl Medium {
    /// The medium of stations on these tracks. Signals below `floor` watts are ignored; `speed_of_light` in metres per second.
    pub(crate) fn new(propagation: Propagation, floor: f64, speed_of_light: f64, tracks: Vec<Track>) -> Medium {
        // A little more than where power has fallen to the floor, so that rounding leaves nobody out.
        let reach = propagation.range_at(floor) * 1.001;
        let moves = tracks.iter().any(|track| !track.is_fixed());
        let mut medium = Medium {
            fixed: None,
            index: NeighbourIndex::new(tracks, reach),
            propagation: Some(propagation),
            floor,
            speed_of_light,
        };
        if !moves {
            let lists = (0..medium.stations() as u32).map(|from| {
                let mut list = Vec::new();
                medium.find_listeners(StationId(from), Time::ZERO, &mut list);
                list
            });
            medium.fixed = Some(lists.collect::<Vec<_>>());
        }
        medium
    }

    /// A given relation.
    #[cfg(test)]
    pub(crate) fn given(lists: Vec<Vec<Listener>>) -> Medium {
        let tracks = vec![Track::Fixed(Point::default()); lists.len()];
        let index = NeighbourIndex::new(tracks, 0.0);
        Medium { fixed: Some(lists), index, propagation: None, floor: 0.0, speed_of_light: 1.0 }
    }

    pub(crate) fn stations(&self) -> usize {
        self.index.tracks.len()
    }

    /// The ways of the stations.
    pub(crate) fn tracks(&self) -> &[Track] {
        &self.index.tracks
    }

    /// Where a station is; asked with times that never go back.
    pub(crate) fn position(&mut self, station: StationId, now: Time) -> Point {
        self.index.tracks[station.index()].at(now)
    }

    /// True if some station moves.
    pub(crate) fn is_mobile(&self) -> bool {
        self.fixed.is_none()
    }

    /// Those that hear a frame which `from` begins to send at `now`.
    pub(crate) fn listeners_of(&mut self, from: StationId, now: Time, listeners: &mut Vec<Listener>) {
        listeners.clear();
        match &self.fixed {
            Some(lists) => listeners.extend_from_slice(&lists[from.index()]),
            None => self.find_listeners(from, now, listeners),
        }
    }

    fn find_listeners(&mut self, from: StationId, now: Time, listeners: &mut Vec<Listener>) {
        let Some(propagation) = self.propagation else { return };
        let (floor, speed_of_light) = (self.floor, self.speed_of_light);
        self.index.each_within_reach(from, now, |near| {
            let power = propagation.rx_power(near.distance);
            if power >= floor {
                listeners.push(Listener {
                    station: near.station,
                    power,
                    delay: nearest(near.distance / speed_of_light * 1e9),
                });
            }
        });
    }
}

/// So many nanoseconds, at least 0, to the nearest whole one; without the call that rounding costs on older processors.
fn nearest(nanos: f64) -> Span {
    let whole = nanos as u64;
    Span::from_nanos(whole + u64::from(nanos - whole as f64 >= 0.5))
}
