//! The satellites of a constellation, and which of them have a link at a time.

use std::f64::consts::TAU;

use crate::orbit::{Body, Earth, Point, distance};
use crate::scenario::{Constellation, Pattern};

/// A ray closer to the ground than this is cut off by the atmosphere, km.
const ATMOSPHERE_KM: f64 = 150.0;

/// Two satellites that have a link between them, always or at times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Pair {
    pub(crate) a: usize,
    pub(crate) b: usize,
    kind: PairKind,
}

/// When a link is up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PairKind {
    /// Whenever the line of sight clears the Earth.
    Fixed,
    /// Between neighbouring planes: also while both are below the latitude limit.
    Crossing,
    /// Across the seam, where planes run against each other: also while `b` is the nearest of its plane to `a`.
    Seam,
}

/// The satellites and the rules of their links.
#[derive(Clone, Debug)]
pub(crate) struct Shell {
    pub(crate) earth: Earth,
    pub(crate) bodies: Vec<Body>,
    /// Distance of the satellites from the Earth's centre, km.
    pub(crate) radius_km: f64,
    pub(crate) period_s: f64,
    /// Satellites in each plane; satellite k of plane p is number p × this + k.
    pub(crate) per_plane: usize,
    pub(crate) pairs: Vec<Pair>,
    /// |z| of a satellite at the latitude limit.
    crossing_z: f64,
    /// Least difference in longitude of a link across the seam, radians.
    seam_longitude: f64,
    planes: usize,
}

impl Shell {
    /// The shell of a constellation with nothing left to a default.
    pub(crate) fn of(def: &Constellation) -> Shell {
        let earth = Earth::of(def.profile);
        let altitude = def.altitude_km.expect("filled");
        let radius_km = earth.radius_km + altitude;
        let pattern = def.pattern.expect("filled");
        // A geostationary satellite is one whose period is the day, to the last digit.
        let period_s = if pattern == Pattern::Geo { earth.sidereal_day_s } else { earth.period_s(altitude) };
        let (planes, per_plane) = (def.planes.expect("filled") as usize, def.satellites.expect("filled") as usize);
        let angle = |value: Option<f64>| value.expect("filled").to_radians();
        let mut bodies = Vec::with_capacity(planes * per_plane);
        for p in 0..planes {
            let node = angle(def.node_deg) + p as f64 * angle(def.node_spacing_deg);
            let shift = match pattern {
                Pattern::Star => (p % 2) as f64 * angle(def.phase_deg),
                Pattern::Delta | Pattern::Geo => p as f64 * angle(def.phase_deg),
            };
            for k in 0..per_plane {
                let argument = shift + TAU * k as f64 / per_plane as f64;
                let body = Body::satellite(radius_km, period_s, angle(def.inclination_deg), node, argument);
                bodies.push(body.ahead(def.start_at.expect("filled")));
            }
        }
        let limit = angle(def.latitude_limit_deg);
        Shell {
            earth,
            bodies,
            radius_km,
            period_s,
            per_plane,
            pairs: pairs(def, planes, per_plane),
            crossing_z: radius_km * libm::sin(limit),
            seam_longitude: angle(def.seam_longitude_deg),
            planes,
        }
    }

    /// Where all satellites are.
    pub(crate) fn at(&self, t_s: f64) -> Vec<Point> {
        self.bodies.iter().map(|body| body.at(t_s)).collect()
    }

    /// Which pairs have a link when the satellites are at `places`.
    pub(crate) fn up(&self, places: &[Point]) -> Vec<bool> {
        self.pairs.iter().map(|pair| self.is_up(pair, places)).collect()
    }

    fn is_up(&self, pair: &Pair, places: &[Point]) -> bool {
        let (a, b) = (&places[pair.a], &places[pair.b]);
        let low = |p: &Point| p[2].abs() <= self.crossing_z;
        let allowed = match pair.kind {
            PairKind::Fixed => true,
            PairKind::Crossing => low(a) && low(b),
            PairKind::Seam => {
                low(a) && low(b) && self.longitudes_apart(a, b) && self.nearest_of_last_plane(a, places) == pair.b
            }
        };
        allowed && self.clears_the_earth(a, b)
    }

    /// True if the line between two satellites stays above the atmosphere.
    fn clears_the_earth(&self, a: &Point, b: &Point) -> bool {
        let (half, lowest) = (distance(a, b) / 2.0, self.earth.radius_km + ATMOSPHERE_KM);
        self.radius_km * self.radius_km - half * half >= lowest * lowest
    }

    fn longitudes_apart(&self, a: &Point, b: &Point) -> bool {
        let apart = libm::atan2(a[0] * b[1] - a[1] * b[0], a[0] * b[0] + a[1] * b[1]);
        apart.abs() >= self.seam_longitude
    }

    fn nearest_of_last_plane(&self, a: &Point, places: &[Point]) -> usize {
        let last = (self.planes - 1) * self.per_plane..self.planes * self.per_plane;
        last.min_by(|i, j| distance(a, &places[*i]).total_cmp(&distance(a, &places[*j])))
            .expect("a plane has satellites")
    }
}

/// Every pair that may have a link.
fn pairs(def: &Constellation, planes: usize, n: usize) -> Vec<Pair> {
    let mut pairs = Vec::new();
    let mut add = |a, b, kind| pairs.push(Pair { a, b, kind });
    // A ring; two satellites are one pair, one is none.
    let ring = if n > 2 { n } else { n - 1 };
    for p in 0..planes {
        for k in 0..ring {
            add(p * n + k, p * n + (k + 1) % n, PairKind::Fixed);
        }
    }
    for p in 1..planes {
        for k in 0..n {
            add((p - 1) * n + k, p * n + k, PairKind::Crossing);
        }
    }
    match def.pattern.expect("filled") {
        // The last plane's neighbour is the first, so many satellites further as all shifts add up to.
        Pattern::Delta if planes > 2 => {
            let turned = libm::round(planes as f64 * def.phase_deg.expect("filled") * n as f64 / 360.0) as usize;
            for k in 0..n {
                add((planes - 1) * n + k, (k + turned) % n, PairKind::Crossing);
            }
        }
        Pattern::Star if planes > 2 && def.seam.expect("filled") => {
            for k in 0..n {
                for j in 0..n {
                    add(k, (planes - 1) * n + j, PairKind::Seam);
                }
            }
        }
        _ => {}
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;

    fn shell(changes: &str) -> Shell {
        let text = format!(
            r#"{{"duration": "1s", "network": {{"kind": "constellation", "profile": "ns2", "terminals": ["Paris", "Rome"],
               "flows": 1{changes}}}}}"#
        );
        let graph = crate::expand(&Scenario::from_json(&text).unwrap(), 1).unwrap();
        let crate::scenario::Network::Constellation(def) = &graph.network else { panic!("it stays what it is") };
        Shell::of(def)
    }

    /// Least and greatest length of the links of a kind over ten minutes, and how many are up at most.
    fn lengths(shell: &Shell, kind: PairKind) -> (f64, f64, usize) {
        let (mut least, mut most, mut number) = (f64::INFINITY, 0.0_f64, 0);
        for t in 0..10 {
            let places = shell.at(60.0 * f64::from(t));
            let up = shell.up(&places);
            let open = shell.pairs.iter().zip(up).filter(|(pair, up)| *up && pair.kind == kind);
            let lengths: Vec<f64> = open.map(|(pair, _)| distance(&places[pair.a], &places[pair.b])).collect();
            least = lengths.iter().copied().fold(least, f64::min);
            most = lengths.iter().copied().fold(most, f64::max);
            number = number.max(lengths.len());
        }
        (least, most, number)
    }

    #[test]
    fn links_of_the_polar_constellation_are_as_long_as_their_chords() {
        let shell = shell("");
        let (least, most, number) = lengths(&shell, PairKind::Fixed);
        assert!(
            (least - 4033.3).abs() < 0.05 && (most - 4033.3).abs() < 0.05 && number == 66,
            "{least} {most} {number}"
        );
        let (least, most, number) = lengths(&shell, PairKind::Crossing);
        assert!((least - 2962.0).abs() < 1.0 && (most - 4470.0).abs() < 1.0 && number < 55, "{least} {most} {number}");
        // The line between neighbours passes 6868 km from the centre, above 6528 km.
        assert!(((shell.radius_km.powi(2) - (4033.3_f64 / 2.0).powi(2)).sqrt() - 6868.0).abs() < 0.5);
    }

    #[test]
    fn the_grid_of_the_second_preset_closes() {
        let shell = shell(r#", "preset": "starlink""#);
        assert!((shell.period_s - 5738.8).abs() < 0.05);
        let (least, most, number) = lengths(&shell, PairKind::Fixed);
        assert!((least - 1972.0).abs() < 0.5 && (most - 1972.0).abs() < 0.5 && number == 1584, "{least} {most}");
        let (_, most, number) = lengths(&shell, PairKind::Crossing);
        assert!(most < 1500.0 && number == 1584, "{most} {number}");
    }

    #[test]
    fn few_satellites_of_a_plane_do_not_see_through_the_earth() {
        let geo = |satellites: u64| shell(&format!(r#", "preset": "geo", "satellites": {satellites}"#));
        let up = |shell: &Shell| shell.up(&shell.at(0.0)).iter().filter(|up| **up).count();
        assert_eq!([up(&geo(1)), up(&geo(2)), up(&geo(3))], [0, 0, 3]);
    }
}
