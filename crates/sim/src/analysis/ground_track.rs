//! A constellation without packets: handovers, paths and their delay over time, ground tracks.

use serde::Serialize;
use tcp::units::{Span, Time};

use crate::constellation::routes::{IslGraph, NextHop, length};
use crate::constellation::shell::Shell;
use crate::constellation::terminal::Terminal;
use crate::expand::{graph_of, resolve};
use crate::orbit::{Point, distance};
use crate::scenario::{Constellation, Network, Scenario, ScenarioError, TerminalDef};

/// Ground tracks of a constellation at an instant, its handovers, and its paths over time.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct GroundTracks {
    /// The instant, from the start of the run.
    pub at_s: f64,
    /// Terminals, in the order of the scenario.
    pub terminals: Vec<TrackedTerminal>,
    /// Satellites at that instant: name, latitude and longitude.
    pub satellites: Vec<(String, f64, f64)>,
    /// Tracks of the satellites that serve then.
    pub tracks: Vec<GroundTrack>,
    /// The paths of the flows at that instant.
    pub current: Vec<CurrentPath>,
    /// The paths of the flows over time.
    pub paths: Vec<PathSeries>,
}

/// A terminal.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TrackedTerminal {
    /// Its name.
    pub name: String,
    /// Latitude.
    pub lat_deg: f64,
    /// Longitude.
    pub lon_deg: f64,
    /// Handovers: time and new satellite, `null` if none is in view.
    pub handovers: Vec<(f64, Option<String>)>,
}

/// Positions of a satellite over one orbital period from the instant on.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct GroundTrack {
    /// Its name.
    pub satellite: String,
    /// Latitudes.
    pub lat_deg: Vec<f64>,
    /// Longitudes.
    pub lon_deg: Vec<f64>,
}

/// A path at the instant.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CurrentPath {
    /// Source.
    pub from: String,
    /// Sink.
    pub to: String,
    /// Names of its nodes; empty if there is no path.
    pub nodes: Vec<String>,
    /// Propagation delay one way.
    pub delay_s: Option<f64>,
}

/// A path over time.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PathSeries {
    /// Source.
    pub from: String,
    /// Sink.
    pub to: String,
    /// Times from the start of the run.
    pub t_s: Vec<f64>,
    /// Propagation delay one way; `null` while there is no path.
    pub delay_s: Vec<Option<f64>>,
    /// Links of the path.
    pub hops: Vec<u32>,
}

/// Satellites of a path from the one that serves the source to the one that serves the sink.
struct Path {
    satellites: Vec<usize>,
    delay_s: f64,
}

struct Observer<'a> {
    shell: &'a Shell,
    terminals: &'a [Terminal],
    isl_interval: Span,
}

/// Ground tracks of a scenario's constellation at the instant `at`, and its paths from time 0 to `until` every `step`.
///
/// # Errors
///
/// What [`resolve`] refuses, a network that is not a constellation, or a step that gives too many points.
pub fn ground_tracks(
    scenario: &Scenario,
    seed: u64,
    at: Span,
    until: Span,
    step: Span,
) -> Result<GroundTracks, ScenarioError> {
    let resolved = resolve(scenario)?;
    let seed = resolved.vary.seed(seed);
    let graph = graph_of(&resolved, seed)?.graph;
    let Network::Constellation(def) = &graph.network else {
        return Err(ScenarioError::new("network.kind", "only \"constellation\" has satellites"));
    };
    if step == Span::ZERO || until.as_nanos() / step.as_nanos() > 1_000_000 {
        return Err(ScenarioError::new("", format!("a step of {step} is not from {until} / 1000000 up")));
    }
    let shell = Shell::of(def);
    let terminals = Terminal::all(def, &shell, (Time::ZERO + at.max(until), seed), &graph.flow);
    let observer = Observer { shell: &shell, terminals: &terminals, isl_interval: def.isl_interval.expect("filled") };
    let index = |name: &str| {
        let unknown = || ScenarioError::new("flow", format!("{name:?} is not a terminal"));
        terminals.iter().position(|terminal| terminal.name == name).ok_or_else(unknown)
    };
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for flow in &graph.flow {
        let pair = (index(&flow.from)?, index(&flow.to)?);
        if !pairs.contains(&pair) {
            pairs.push(pair);
        }
    }
    let now = Time::ZERO + at;
    Ok(GroundTracks {
        at_s: at.as_secs_f64(),
        terminals: terminals.iter().zip(&def.terminals).map(|(t, def)| observer.terminal(t, def)).collect(),
        satellites: observer.satellites(def, at),
        tracks: observer.tracks(def, at),
        current: pairs.iter().map(|pair| observer.current(*pair, now)).collect(),
        paths: observer.over_time(&pairs, until, step),
    })
}

impl Observer<'_> {
    fn name(&self, satellite: usize) -> String {
        format!("sat{}.{}", satellite / self.shell.per_plane, satellite % self.shell.per_plane)
    }

    fn terminal(&self, terminal: &Terminal, def: &TerminalDef) -> TrackedTerminal {
        let TerminalDef::Place(place) = def else { unreachable!("cities are looked up when defaults are filled in") };
        let handover =
            |h: &crate::constellation::Handover| (h.at.as_secs_f64(), h.satellites.first().map(|s| self.name(*s)));
        TrackedTerminal {
            name: terminal.name.clone(),
            lat_deg: place.lat_deg,
            lon_deg: place.lon_deg,
            handovers: terminal.handovers.iter().filter(|handover| !handover.is_outage).map(handover).collect(),
        }
    }

    /// Latitude and longitude, degrees, of the point below a place at a time of the constellation's own clock.
    fn below(&self, place: &Point, clock_s: f64) -> (f64, f64) {
        let day = self.shell.earth.sidereal_day_s;
        let east = libm::atan2(place[1], place[0]).to_degrees() - 360.0 * (clock_s / day);
        let turns = libm::floor((east + 180.0) / 360.0);
        (libm::asin(place[2] / distance(place, &[0.0; 3])).to_degrees(), east - 360.0 * turns)
    }

    fn satellites(&self, def: &Constellation, at: Span) -> Vec<(String, f64, f64)> {
        let clock = at.as_secs_f64() + def.start_at.expect("filled").as_secs_f64();
        let places = self.shell.at(at.as_secs_f64());
        let under = places.iter().map(|place| self.below(place, clock)).enumerate();
        under.map(|(satellite, (lat, lon))| (self.name(satellite), lat, lon)).collect()
    }

    fn tracks(&self, def: &Constellation, at: Span) -> Vec<GroundTrack> {
        let mut serving: Vec<usize> =
            self.terminals.iter().flat_map(|t| t.assigned(Time::ZERO + at).iter().copied()).collect();
        serving.sort_unstable();
        serving.dedup();
        let ahead = def.start_at.expect("filled").as_secs_f64();
        let times: Vec<f64> =
            (0..=180).map(|i| at.as_secs_f64() + self.shell.period_s * f64::from(i) / 180.0).collect();
        let track = |satellite: usize| {
            let under = times.iter().map(|t| self.below(&self.shell.bodies[satellite].at(*t), t + ahead));
            let (lat_deg, lon_deg) = under.unzip();
            GroundTrack { satellite: self.name(satellite), lat_deg, lon_deg }
        };
        serving.into_iter().map(track).collect()
    }

    /// The links between satellites at a time, as of their last update.
    fn isls(&self, now: Time, places: &[Point]) -> IslGraph {
        let interval = self.isl_interval.as_nanos();
        let updated = Time::from_nanos(now.as_nanos() / interval * interval);
        let up =
            if updated == now { self.shell.up(places) } else { self.shell.up(&self.shell.at(updated.as_secs_f64())) };
        IslGraph::new(self.shell, &up, places)
    }

    fn path(&self, isls: &IslGraph, places: &[Point], (from, to): (usize, usize), now: Time) -> Option<Path> {
        let [a, b] = [from, to].map(|terminal| &self.terminals[terminal]);
        let [here, there] = [a, b].map(|terminal| terminal.body.at(now.as_secs_f64()));
        let tails: Vec<_> = b.assigned(now).iter().map(|last| (*last, length(&places[*last], &there))).collect();
        let paths = isls.shortest_paths(&tails);
        let all = a.assigned(now).iter();
        let all = all.filter_map(|first| Some((paths[*first]?.length + length(&places[*first], &here), *first)));
        let (micrometres, first) = all.min()?;
        let mut satellites = vec![first];
        while let Some(NextHop { satellite: next, .. }) = paths[*satellites.last()?]?.next {
            satellites.push(next);
        }
        Some(Path { satellites, delay_s: micrometres as f64 / 1e9 / self.shell.earth.light_km_s })
    }

    fn current(&self, pair: (usize, usize), now: Time) -> CurrentPath {
        let places = self.shell.at(now.as_secs_f64());
        let path = self.path(&self.isls(now, &places), &places, pair, now);
        let [from, to] = [pair.0, pair.1].map(|terminal| self.terminals[terminal].name.clone());
        let nodes = path.as_ref().map_or(Vec::new(), |path| {
            let between = path.satellites.iter().map(|satellite| self.name(*satellite));
            [from.clone()].into_iter().chain(between).chain([to.clone()]).collect()
        });
        CurrentPath { from, to, nodes, delay_s: path.map(|path| path.delay_s) }
    }

    fn over_time(&self, pairs: &[(usize, usize)], until: Span, step: Span) -> Vec<PathSeries> {
        let empty = |pair: &(usize, usize)| PathSeries {
            from: self.terminals[pair.0].name.clone(),
            to: self.terminals[pair.1].name.clone(),
            t_s: Vec::new(),
            delay_s: Vec::new(),
            hops: Vec::new(),
        };
        let mut series: Vec<PathSeries> = pairs.iter().map(empty).collect();
        for i in 0..until.as_nanos().div_ceil(step.as_nanos()) {
            let now = Time::from_nanos(i * step.as_nanos());
            let places = self.shell.at(now.as_secs_f64());
            let isls = self.isls(now, &places);
            for (pair, series) in pairs.iter().zip(&mut series) {
                let path = self.path(&isls, &places, *pair, now);
                series.t_s.push(now.as_secs_f64());
                series.hops.push(path.as_ref().map_or(0, |path| path.satellites.len() as u32 + 1));
                series.delay_s.push(path.map(|path| path.delay_s));
            }
        }
        series
    }
}
