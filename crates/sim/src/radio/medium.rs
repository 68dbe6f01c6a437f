//! The shared medium: which stations a transmission reaches, at what power and after what delay, as of its start.

use tcp::units::{Span, Time};

use super::propagation::Propagation;
use crate::ids::StationId;
use crate::mobility::{Point, Track};
use crate::radio::neighbours::NeighbourIndex;

#[cfg(test)]
mod tests;

/// A station that a transmission reaches.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Listener {
    pub(crate) station: StationId,
    /// Received power in watts.
    pub(crate) power: f64,
    /// Propagation delay.
    pub(crate) delay: Span,
}

/// The medium of a channel.
#[derive(Clone, Debug)]
pub(crate) struct Medium {
    /// By transmitter, if no station moves.
    fixed: Option<Vec<Vec<Listener>>>,
    index: NeighbourIndex,
    pub(crate) propagation: Option<Propagation>,
    /// Watts below which signals are ignored.
    floor: f64,
    /// Metres per second.
    speed_of_light: f64,
}

impl Medium {
    /// The medium of stations on these tracks. Signals below `floor` watts are ignored; `speed_of_light` in metres per
    /// second.
    pub(crate) fn new(propagation: Propagation, floor: f64, speed_of_light: f64, tracks: Vec<Track>) -> Medium {
        // A little more than the distance at which power equals the floor, so that rounding excludes no station.
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

    /// Memory that the lists of listeners take.
    pub(crate) fn held_bytes(&self) -> u64 {
        self.fixed.iter().flatten().map(|list| list.capacity() * size_of::<Listener>()).sum::<usize>() as u64
    }

    /// A medium with given listeners.
    #[cfg(test)]
    pub(crate) fn given(lists: Vec<Vec<Listener>>) -> Medium {
        let tracks = vec![Track::Fixed(Point::default()); lists.len()];
        let index = NeighbourIndex::new(tracks, 0.0);
        Medium { fixed: Some(lists), index, propagation: None, floor: 0.0, speed_of_light: 1.0 }
    }

    pub(crate) fn stations(&self) -> usize {
        self.index.tracks.len()
    }

    /// Tracks of the stations.
    pub(crate) fn tracks(&self) -> &[Track] {
        &self.index.tracks
    }

    /// Position of a station; `now` must not decrease from call to call.
    pub(crate) fn position(&mut self, station: StationId, now: Time) -> Point {
        self.index.tracks[station.index()].at(now)
    }

    /// True if any station moves.
    pub(crate) fn is_mobile(&self) -> bool {
        self.fixed.is_none()
    }

    /// Collects the listeners of a transmission of `from` that starts at `now`.
    pub(crate) fn listeners_of(&mut self, from: StationId, now: Time, listeners: &mut Vec<Listener>) {
        listeners.clear();
        match &self.fixed {
            Some(lists) => listeners.extend_from_slice(&lists[from.index()]),
            None => self.find_listeners(from, now, listeners),
        }
    }

    /// Power of a transmission of `from` at another station, 0 out of reach; `listeners` is a buffer.
    pub(super) fn power_between(
        &mut self,
        from: StationId,
        at: StationId,
        now: Time,
        listeners: &mut Vec<Listener>,
    ) -> f64 {
        self.listeners_of(from, now, listeners);
        listeners.iter().find(|listener| listener.station == at).map_or(0.0, |listener| listener.power)
    }

    /// Stations that a transmission of `from` at `now` reaches with at least `min` watts.
    pub(crate) fn neighbours(&mut self, from: StationId, now: Time, min: f64) -> Vec<StationId> {
        let mut listeners = Vec::new();
        self.listeners_of(from, now, &mut listeners);
        listeners.iter().filter(|listener| listener.power >= min).map(|listener| listener.station).collect()
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
                    delay: rounded(near.distance / speed_of_light * 1e9),
                });
            }
        });
    }
}

/// Non-negative nanoseconds, rounded; `f64::round` is a function call on older processors.
fn rounded(nanos: f64) -> Span {
    let whole = nanos as u64;
    Span::from_nanos(whole + u64::from(nanos - whole as f64 >= 0.5))
}
