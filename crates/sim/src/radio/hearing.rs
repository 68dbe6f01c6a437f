//! Who hears a station, how strongly and how late (networks.md §15.4): power and delay as they are when a frame begins.

use tcp::units::{Span, Time};

use super::build::Radio;
use super::frame::StationId;
use super::propagation::Propagation;
#[cfg(test)]
use crate::mobility::Point;
use crate::mobility::Track;

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
    pub(crate) tracks: Vec<Track>,
    propagation: Option<Propagation>,
    /// Watts.
    floor: f64,
    /// Metres; nothing above the floor comes from farther away.
    reach: f64,
    /// Metres per second.
    light: f64,
}

impl Hearing {
    /// Stations on their tracks.
    pub(crate) fn new(radio: &Radio, tracks: Vec<Track>) -> Hearing {
        let mut hearing = Hearing {
            fixed: None,
            tracks,
            propagation: Some(radio.propagation),
            floor: radio.floor,
            // A little more, so that rounding leaves nobody out.
            reach: radio.propagation.reach(radio.floor) * 1.001,
            light: radio.light,
        };
        if hearing.tracks.iter().all(Track::is_fixed) {
            let lists = (0..hearing.tracks.len() as u32).map(|from| {
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
        Hearing { fixed: Some(lists), tracks, propagation: None, floor: 0.0, reach: 0.0, light: 1.0 }
    }

    pub(crate) fn stations(&self) -> usize {
        self.tracks.len()
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
        let here = self.tracks[from.index()].at(now);
        for (index, track) in self.tracks.iter_mut().enumerate() {
            let distance = track.at(now).distance(here);
            if index == from.index() || distance > self.reach {
                continue;
            }
            let power = propagation.received(distance);
            if power >= self.floor {
                let delay = Span::from_nanos((distance / self.light * 1e9).round() as u64);
                hearers.push(Hearer { station: StationId(index as u32), power, delay });
            }
        }
    }
}
