//! Terminals on the ground: which satellite serves them when.

use tcp::rng::Rng;
use tcp::units::{Span, Time};

use super::shell::Shell;
use crate::orbit::{Body, distance};
use crate::scenario::{Constellation, GslPolicy, TerminalDef};

/// A terminal, and its satellites over a run.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Terminal {
    pub(crate) name: String,
    pub(crate) body: Body,
    /// In order of time; the first entry is at time 0, `None` means that no satellite is in view.
    pub(crate) handovers: Vec<Handover>,
}

/// From `at` on a terminal is served by `satellite`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Handover {
    pub(crate) at: Time,
    pub(crate) satellite: Option<usize>,
}

/// How a terminal selects its satellite.
struct Selection<'a> {
    shell: &'a Shell,
    policy: GslPolicy,
    sin_mask: f64,
    interval: Span,
}

impl Terminal {
    /// The terminals of a constellation with nothing left to a default, until `end`.
    pub(crate) fn all(def: &Constellation, shell: &Shell, end: Time, seed: u64) -> Vec<Terminal> {
        def.terminals.iter().map(|terminal| Terminal::new(terminal, def, shell, end, seed)).collect()
    }

    fn new(terminal: &TerminalDef, def: &Constellation, shell: &Shell, end: Time, seed: u64) -> Terminal {
        let TerminalDef::Place(place) = terminal else {
            unreachable!("cities are looked up when defaults are filled in")
        };
        let body = Body::ground(&shell.earth, place.lat_deg.to_radians(), place.lon_deg.to_radians())
            .ahead(def.start_at.expect("filled"));
        let interval = def.handover_interval.expect("filled");
        let selection = Selection {
            shell,
            policy: def.gsl_policy.expect("filled"),
            sin_mask: libm::sin(def.elevation_deg.expect("filled").to_radians()),
            interval,
        };
        let mut rng = Rng::stream(seed, &format!("terminal/{}/handoff", place.name));
        let jitter = def.handover_jitter.expect("filled").as_secs_f64();
        let mut handovers: Vec<Handover> = Vec::new();
        let (mut now, mut serving) = (Time::ZERO, None);
        while now <= end {
            let selected = selection.select(&body, serving, now.as_secs_f64());
            if selected != serving || handovers.is_empty() {
                handovers.push(Handover { at: now, satellite: selected });
                serving = selected;
            }
            let shift = if jitter > 0.0 { jitter * (2.0 * rng.uniform() - 1.0) } else { 0.0 };
            now = now + Span::from_secs_f64(interval.as_secs_f64() + shift);
        }
        Terminal { name: place.name.clone(), body, handovers }
    }

    /// The satellite that serves it at a time.
    pub(crate) fn satellite(&self, now: Time) -> Option<usize> {
        let later = self.handovers.partition_point(|handover| handover.at <= now);
        self.handovers[..later].last().and_then(|handover| handover.satellite)
    }
}

impl Selection<'_> {
    fn select(&self, ground: &Body, serving: Option<usize>, t_s: f64) -> Option<usize> {
        let in_view = |satellite: &usize| self.sin_elevation(ground, *satellite, t_s) > self.sin_mask;
        if self.policy != GslPolicy::Highest
            && let Some(kept) = serving.filter(in_view)
        {
            return Some(kept);
        }
        if self.policy == GslPolicy::NextOfPlane
            && let Some(next) = serving.map(|lost| self.behind(lost)).filter(in_view)
        {
            return Some(next);
        }
        let heights =
            (0..self.shell.bodies.len()).map(|satellite| (self.sin_elevation(ground, satellite, t_s), satellite));
        let visible = heights.filter(|(sin, _)| *sin > self.sin_mask).map(|(sin, satellite)| {
            let stays = if self.policy == GslPolicy::LongestRemaining {
                self.checks_in_view(ground, satellite, t_s)
            } else {
                0
            };
            (stays, sin, satellite)
        });
        visible.max_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))).map(|(_, _, satellite)| satellite)
    }

    fn sin_elevation(&self, ground: &Body, satellite: usize, t_s: f64) -> f64 {
        let slant = distance(&ground.at(t_s), &self.shell.bodies[satellite].at(t_s));
        self.shell.earth.sin_elevation(self.shell.radius_km, slant)
    }

    /// The next satellite of the same plane.
    fn behind(&self, satellite: usize) -> usize {
        let n = self.shell.per_plane;
        satellite / n * n + (satellite % n + n - 1) % n
    }

    /// At how many checks from now on it stays in view, up to a quarter of a turn: no pass of a low orbit is longer.
    fn checks_in_view(&self, ground: &Body, satellite: usize, t_s: f64) -> u64 {
        let step = self.interval.as_secs_f64();
        let most = (self.shell.period_s.min(24_000.0) / 4.0 / step) as u64;
        let stays = |check: &u64| self.sin_elevation(ground, satellite, t_s + *check as f64 * step) > self.sin_mask;
        (1..=most).take_while(stays).count() as u64
    }
}
