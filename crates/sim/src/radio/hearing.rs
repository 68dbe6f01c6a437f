//! Who hears a station, how strongly and how late: power and delay as they are when a frame begins.

use tcp::units::{Span, Time};

use super::build::Radio;
use super::propagation::Propagation;
use crate::ids::StationId;
use crate::mobility::{Point, Track};
use crate::radio::neighbours::Whereabouts;

#[cfg(test)]
mod tests;

/// A station that hears a frame.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Hearer {
    pub(crate) station: StationId,
    /// Received power in watts.
    pub(crate) power: f64,
    /// Propagation.
    pub(crate) delay: Span,
}

/// Who hears whom.
#[derive(Clone, Debug)]
pub(crate) struct Hearing {
    /// By sender, if nothing moves.
    fixed: Option<Vec<Vec<Hearer>>>,
    whereabouts: Whereabouts,
    pub(crate) propagation: Option<Propagation>,
    /// Watts.
    floor: f64,
    /// Metres per second.
    light: f64,
}

impl Hearing {
    /// Stations on their tracks.
    pub(crate) fn new(radio: &Radio, tracks: Vec<Track>) -> Hearing {
        Hearing::over(radio.propagation, radio.floor, radio.light, tracks)
    }

    /// The same, signals below `floor` watts left out; `light` in metres per second.
    pub(crate) fn over(propagation: Propagation, floor: f64, light: f64, tracks: Vec<Track>) -> Hearing {
        // A little more than where power has fallen to the floor, so that rounding leaves nobody out.
        let reach = propagation.reach(floor) * 1.001;
        let moves = tracks.iter().any(|track| !track.is_fixed());
        let mut hearing = Hearing {
            fixed: None,
            whereabouts: Whereabouts::new(tracks, reach),
            propagation: Some(propagation),
            floor,
            light,
        };
        if !moves {
            let lists = (0..hearing.stations() as u32).map(|from| {
                let mut list = Vec::new();
                hearing.look(StationId(from), Time::ZERO, &mut list);
                list
            });
            hearing.fixed = Some(lists.collect::<Vec<_>>());
        }
        hearing
    }

    /// A given relation.
    #[cfg(test)]
    pub(crate) fn given(lists: Vec<Vec<Hearer>>) -> Hearing {
        let tracks = vec![Track::Fixed(Point::default()); lists.len()];
        let whereabouts = Whereabouts::new(tracks, 0.0);
        Hearing { fixed: Some(lists), whereabouts, propagation: None, floor: 0.0, light: 1.0 }
    }

    pub(crate) fn stations(&self) -> usize {
        self.whereabouts.tracks.len()
    }

    /// The ways of the stations.
    pub(crate) fn tracks(&self) -> &[Track] {
        &self.whereabouts.tracks
    }

    /// Where a station is; asked with times that never go back.
    pub(crate) fn place(&mut self, station: StationId, now: Time) -> Point {
        self.whereabouts.tracks[station.index()].at(now)
    }

    /// True if some station moves.
    pub(crate) fn moves(&self) -> bool {
        self.fixed.is_none()
    }

    /// Those that hear a frame which `from` begins to send at `now`.
    pub(crate) fn of(&mut self, from: StationId, now: Time, hearers: &mut Vec<Hearer>) {
        hearers.clear();
        match &self.fixed {
            Some(lists) => hearers.extend_from_slice(&lists[from.index()]),
            None => self.look(from, now, hearers),
        }
    }

    fn look(&mut self, from: StationId, now: Time, hearers: &mut Vec<Hearer>) {
        let Some(propagation) = self.propagation else { return };
        let (floor, light) = (self.floor, self.light);
        self.whereabouts.near(from, now, |near| {
            let power = propagation.received(near.distance);
            if power >= floor {
                hearers.push(Hearer { station: near.station, power, delay: nearest(near.distance / light * 1e9) });
            }
        });
    }
}

/// So many nanoseconds, at least 0, to the nearest whole one; without the call that rounding costs on older processors.
fn nearest(nanos: f64) -> Span {
    let whole = nanos as u64;
    Span::from_nanos(whole + u64::from(nanos - whole as f64 >= 0.5))
}
