//! Terminals on the ground: which satellite serves them when.

use tcp::rng::Rng;
use tcp::units::{Span, Time};

use super::handover::Handover;
use super::shell::Shell;
use super::together::Together;
use crate::orbit::{Body, distance};
use crate::scenario::{Constellation, FlowDef, GslPolicy, PlaceDef, TerminalDef};

/// A terminal, and its satellites over a run.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Terminal {
    pub(crate) name: String,
    pub(crate) body: Body,
    /// In order of time; the first entry is at time 0.
    pub(crate) handovers: Vec<Handover>,
}

/// How a terminal selects its satellite.
struct Selection<'a> {
    shell: &'a Shell,
    policy: GslPolicy,
    sin_mask: f64,
    interval: Span,
}

impl Terminal {
    /// The terminals of a constellation with nothing left to a default, until `end`; `flows` run between them.
    pub(crate) fn all(
        def: &Constellation,
        shell: &Shell,
        (end, seed): (Time, u64),
        flows: &[FlowDef],
    ) -> Vec<Terminal> {
        let places: Vec<&PlaceDef> = def.terminals.iter().map(place_of).collect();
        let ground = |place: &&PlaceDef| {
            Body::ground(&shell.earth, place.lat_deg.to_radians(), place.lon_deg.to_radians())
                .ahead(def.start_at.expect("filled"))
        };
        let bodies: Vec<Body> = places.iter().map(ground).collect();
        let named = |place: &PlaceDef, body: Body, handovers| Terminal { name: place.name.clone(), body, handovers };
        if def.gsl_policy != Some(GslPolicy::Together) {
            let alone = |(place, body): (&&PlaceDef, &Body)| {
                named(place, *body, Terminal::handovers_alone(&place.name, body, (def, shell), end, seed))
            };
            return places.iter().zip(&bodies).map(alone).collect();
        }
        let index = |name: &String| places.iter().position(|place| place.name == *name);
        let ends = |flow: &FlowDef| Some([index(&flow.from)?, index(&flow.to)?]);
        let mut pairs: Vec<[usize; 2]> = Vec::new();
        for [a, b] in flows.iter().filter_map(ends) {
            if !pairs.contains(&[a, b]) && !pairs.contains(&[b, a]) {
                pairs.push([a, b]);
            }
        }
        let together = Together {
            shell,
            bodies: &bodies,
            is_gateway: places.iter().map(|place| def.gateways.contains(&place.name)).collect(),
            pairs: &pairs,
            sin_mask: libm::sin(def.elevation_deg.expect("filled").to_radians()),
        };
        let all = places.iter().zip(&bodies).zip(together.handovers(def, end));
        all.map(|((place, body), handovers)| named(place, *body, handovers)).collect()
    }

    /// The handovers of a terminal that chooses by itself.
    fn handovers_alone(
        name: &str,
        body: &Body,
        (def, shell): (&Constellation, &Shell),
        end: Time,
        seed: u64,
    ) -> Vec<Handover> {
        let interval = def.handover_interval.expect("filled");
        let selection = Selection {
            shell,
            policy: def.gsl_policy.expect("filled"),
            sin_mask: libm::sin(def.elevation_deg.expect("filled").to_radians()),
            interval,
        };
        let mut rng = Rng::stream(seed, &format!("terminal/{name}/handoff"));
        let jitter = def.handover_jitter.expect("filled").as_secs_f64();
        let mut handovers: Vec<Handover> = Vec::new();
        let (mut now, mut serving) = (Time::ZERO, None);
        while now <= end {
            let satellites = if selection.policy == GslPolicy::LeastDelay {
                selection.in_view(body, now.as_secs_f64()).map(|(_, satellite)| satellite).collect()
            } else {
                serving = selection.select(body, serving, now.as_secs_f64());
                serving.into_iter().collect()
            };
            Handover::append(&mut handovers, now, satellites, def.handover_outage.expect("filled"));
            let shift = if jitter > 0.0 { jitter * (2.0 * rng.uniform() - 1.0) } else { 0.0 };
            now = now + Span::from_secs_f64(interval.as_secs_f64() + shift);
        }
        handovers
    }

    /// The satellites that are assigned to it at a time, whether or not the outage of the handover is over.
    pub(crate) fn assigned(&self, now: Time) -> &[usize] {
        let later = self.handovers.partition_point(|handover| handover.at <= now);
        let is_outage = self.handovers[..later].last().is_some_and(|last| last.is_outage);
        let index = if is_outage { Some(later) } else { later.checked_sub(1) };
        index.and_then(|index| self.handovers.get(index)).map_or(&[], |handover| &handover.satellites)
    }

    /// The satellites that serve it at a time.
    pub(crate) fn satellites(&self, now: Time) -> &[usize] {
        let later = self.handovers.partition_point(|handover| handover.at <= now);
        self.handovers[..later].last().map_or(&[], |handover| &handover.satellites)
    }
}

fn place_of(terminal: &TerminalDef) -> &PlaceDef {
    match terminal {
        TerminalDef::Place(place) => place,
        TerminalDef::City(_) => unreachable!("cities are looked up when defaults are filled in"),
    }
}

impl Selection<'_> {
    fn select(&self, ground: &Body, serving: Option<usize>, t_s: f64) -> Option<usize> {
        let is_in_view = |satellite: &usize| self.sin_elevation(ground, *satellite, t_s) > self.sin_mask;
        if self.policy != GslPolicy::Highest
            && let Some(kept) = serving.filter(is_in_view)
        {
            return Some(kept);
        }
        if self.policy == GslPolicy::NextOfPlane
            && let Some(next) = serving.map(|lost| self.behind(lost)).filter(is_in_view)
        {
            return Some(next);
        }
        let visible = self.in_view(ground, t_s).map(|(sin, satellite)| {
            let stays = if self.policy == GslPolicy::LongestRemaining {
                self.checks_in_view(ground, satellite, t_s)
            } else {
                0
            };
            (stays, sin, satellite)
        });
        visible.max_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))).map(|(_, _, satellite)| satellite)
    }

    /// The satellites in view, each behind the sine of its elevation.
    fn in_view(&self, ground: &Body, t_s: f64) -> impl Iterator<Item = (f64, usize)> {
        let all = 0..self.shell.bodies.len();
        all.map(move |satellite| (self.sin_elevation(ground, satellite, t_s), satellite))
            .filter(|(sin, _)| *sin > self.sin_mask)
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
