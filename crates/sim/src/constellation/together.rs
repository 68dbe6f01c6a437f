//! Terminals that choose their satellites together with those that they exchange packets with: on one satellite that both see, if there
//! is one, else on two between which the path is shortest. A gateway has antennas for all satellites of its users.
//!
//! Each choice takes another satellite than the one before, if there is one: a terminal of Starlink is assigned to a different
//! satellite every 15 s (Huston, APNIC blog, 2024-05-17).

use tcp::units::Time;

use super::handover::Handover;
use super::routes::{IslGraph, length};
use super::shell::Shell;
use crate::orbit::{Body, Point};
use crate::scenario::Constellation;

/// What is chosen over a run.
pub(super) struct Together<'a> {
    pub(super) shell: &'a Shell,
    pub(super) bodies: &'a [Body],
    pub(super) is_gateway: Vec<bool>,
    /// Terminals at the ends of flows, in the order of the flows.
    pub(super) pairs: &'a [[usize; 2]],
    pub(super) sin_mask: f64,
}

/// The satellites at an instant.
struct Instant<'a> {
    places: &'a [Point],
    grounds: &'a [Point],
    /// By terminal, the satellites in view.
    visible: Vec<Vec<usize>>,
    /// By terminal, those chosen so far.
    chosen: Vec<Vec<usize>>,
}

impl Together<'_> {
    /// By terminal its handovers until `end`: all look for a better satellite at the same instants.
    pub(super) fn handovers(&self, def: &Constellation, end: Time) -> Vec<Vec<Handover>> {
        let (interval, outage) = (def.handover_interval.expect("filled"), def.handover_outage.expect("filled"));
        let mut all: Vec<Vec<Handover>> = vec![Vec::new(); self.bodies.len()];
        let (mut now, mut held) = (Time::ZERO, vec![Vec::new(); self.bodies.len()]);
        while now <= end {
            held = self.choose(now, &held);
            for (handovers, satellites) in all.iter_mut().zip(&held) {
                Handover::append(handovers, now, satellites.clone(), outage);
            }
            now = now + interval;
        }
        all
    }

    /// By terminal, its satellites from `now` on; until then it had `held`.
    fn choose(&self, now: Time, held: &[Vec<usize>]) -> Vec<Vec<usize>> {
        let t_s = now.as_secs_f64();
        let places = self.shell.at(t_s);
        let grounds: Vec<Point> = self.bodies.iter().map(|body| body.at(t_s)).collect();
        let in_view = |ground: &Point, place: &Point| {
            self.shell.earth.sin_elevation(self.shell.radius_km, crate::orbit::distance(ground, place)) > self.sin_mask
        };
        let seen =
            |ground: &Point| (0..places.len()).filter(|satellite| in_view(ground, &places[*satellite])).collect();
        let visible: Vec<Vec<usize>> = grounds.iter().map(seen).collect();
        let chosen = vec![Vec::new(); grounds.len()];
        let mut instant = Instant { places: &places, grounds: &grounds, visible, chosen };
        let isls = IslGraph::new(self.shell, &self.shell.up(&places), &places);
        for [a, b] in self.pairs.iter().filter(|[a, b]| !(self.is_gateway[*a] && self.is_gateway[*b])) {
            let [first, second] = [a, b].map(|terminal| instant.candidates(*terminal, self.is_gateway[*terminal]));
            let is_held = |satellite: &usize| {
                let by = |terminal: usize| instant.chosen[terminal].is_empty() && held[terminal].contains(satellite);
                [*a, *b].into_iter().any(|terminal| !self.is_gateway[terminal] && by(terminal))
            };
            let common: Vec<usize> = first.iter().copied().filter(|satellite| second.contains(satellite)).collect();
            let others: Vec<usize> = common.iter().copied().filter(|satellite| !is_held(satellite)).collect();
            let common = if others.is_empty() { common } else { others };
            let best = instant.bent_pipe([*a, *b], &common).or_else(|| instant.path(&isls, [*a, *b], [first, second]));
            for (terminal, satellite) in [*a, *b].into_iter().zip(best.into_iter().flatten()) {
                if !instant.chosen[terminal].contains(&satellite) {
                    instant.chosen[terminal].push(satellite);
                }
            }
        }
        // Who has nobody to choose with takes the satellite at the highest elevation.
        for (terminal, ground) in grounds.iter().enumerate() {
            if instant.chosen[terminal].is_empty() {
                let near = |satellite: &usize| length(ground, &places[*satellite]);
                instant.chosen[terminal] =
                    instant.visible[terminal].iter().copied().min_by_key(near).into_iter().collect();
            }
        }
        instant.chosen
    }
}

impl Instant<'_> {
    /// Satellites that a terminal may still choose: all in view, or the one that it has.
    fn candidates(&self, terminal: usize, is_gateway: bool) -> &[usize] {
        let chosen = &self.chosen[terminal];
        if is_gateway || chosen.is_empty() { &self.visible[terminal] } else { chosen }
    }

    fn to_ground(&self, terminal: usize, satellite: usize) -> u64 {
        length(&self.grounds[terminal], &self.places[satellite])
    }

    /// One satellite for both, over which the path is shortest.
    fn bent_pipe(&self, [a, b]: [usize; 2], common: &[usize]) -> Option<[usize; 2]> {
        let best = common
            .iter()
            .copied()
            .min_by_key(|satellite| self.to_ground(a, *satellite) + self.to_ground(b, *satellite));
        best.map(|satellite| [satellite, satellite])
    }

    /// Two satellites between which the path is shortest.
    fn path(&self, isls: &IslGraph, [a, b]: [usize; 2], [first, second]: [&[usize]; 2]) -> Option<[usize; 2]> {
        let tails: Vec<(usize, u64)> = second.iter().map(|last| (*last, self.to_ground(b, *last))).collect();
        let paths = isls.shortest_paths(&tails);
        let all = first.iter().filter_map(|from| Some((self.to_ground(a, *from) + paths[*from]?.length, *from)));
        let (_, from) = all.min()?;
        let mut last = from;
        while let Some(next) = paths[last]?.next {
            last = next.satellite;
        }
        Some([from, last])
    }
}
